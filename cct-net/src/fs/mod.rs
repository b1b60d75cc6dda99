//! Simulated disks: tokio's `fs`, over a file system in memory for each node, the test itself
//! included.
//!
//! A disk survives the crashes of its node, but not all that was written to it. What is left is the
//! strategy's choice, within these rules, which are those of POSIX for a journaling file system that
//! promises no more than it must:
//!
//! 1. **Data.** What [`File::sync_all`] or [`File::sync_data`] had to flush, and did, is there. What
//!    was written after such a flush began, or without any, is there in part: each sector of 512
//!    bytes holds what it held after one of the writes to it since it was last durable, or before
//!    them, whatever other sectors hold. A write of many sectors is thus torn between them, writes
//!    survive out of order, and part of a file may read as zeros.
//! 2. **Size.** The same goes for the size of a file, independently of its data; each sector that a
//!    write adds is a size of its own. A file that was renamed or made but not flushed may be empty.
//! 3. **Permissions** are durable after `sync_all`, and not after `sync_data`. Until then they are any that
//!    were set since, or those before. Times are durable after `sync_all` too; those that are not are what
//!    they were.
//! 4. **Names.** That a name was made, removed or changed is durable once its directory was flushed:
//!    open the directory as a [`File`] and call `sync_all`. Until then each change may survive or
//!    not, on its own, except that changes of one name survive in order.
//! 5. **Renames** are atomic: after a crash there is the old name or the new one, never both, never
//!    none, and what was replaced is there as long as its name is. A rename between directories is
//!    durable when either is flushed. Moves of directories survive in order.
//! 6. A directory that is not durable takes with it what it holds.
//! 7. A flush takes its time: its end is an action like the arrival of a message, and several may end
//!    in any order. Until then anything may be lost or survive.
//!
//! So it is after a power cut, which a crash is unless it is told otherwise. When the node's process
//! is killed ([`node::kill`](crate::node::kill), [`CrashStyle::Kill`](crate::fabric::CrashStyle)) the
//! host keeps all that was written, durable or not; but what a [`File`] had still to write in the
//! background may never have been. When the process ends of itself
//! ([`ends_with_main`](crate::node::Builder::ends_with_main)) that is written too, as tokio's runtime waits
//! for it.
//!
//! Programs that run see none of this: for them all is as they wrote it, as on any Linux.
//!
//! What goes wrong besides is set with [`set_faults`], or one by one with [`inject`]. Everything but
//! the crash itself is a choice too: short reads, errors, full disks, bits that turn.
//!
//! Paths are those of Unix; relative ones begin at the root, which has a directory `/tmp`. Programs do
//! not run as `root`, and all files are theirs: permissions are checked, owners are not modelled. Times
//! are those of the node's clock ([`node::system_time`](crate::node::system_time)). A future of this
//! module, once polled, is as good as on its way to tokio's thread pool: if it is dropped, what it was
//! to change changes nevertheless, at some later time.
//!
//! # Errors
//!
//! All that take a path may fail as Linux does: ENOENT when something on the way is not there, ENOTDIR
//! when it is no directory, EACCES when the process may not look up names in it, ELOOP after 40 symbolic
//! links, ENAMETOOLONG for names beyond 255 bytes and paths beyond 4095, `InvalidInput` for bytes that
//! are 0. A path that ends in `.`, `..` or `/` names nothing that could be made, removed or renamed: that
//! is EEXIST, EISDIR, EINVAL, ENOTEMPTY or EBUSY, as it is on Linux. Outside a scenario all are
//! `Unsupported`.
//!
//! # Example
//!
//! ```
//! use cct_executor::{Checker, node};
//! use cct_net::fs;
//! use std::time::Duration;
//!
//! let report = Checker::new().iterations(500).run(|| async {
//!     let db = node::node("db").start(|| async {
//!         if !fs::try_exists("/state").await? {
//!             fs::write("/state.new", "7").await?;
//!             // Missing: fs::File::open("/state.new").await?.sync_all().await?;
//!             fs::rename("/state.new", "/state").await?;
//!             fs::File::open("/").await?.sync_all().await?;
//!         }
//!         assert_eq!(fs::read_to_string("/state").await?, "7", "state was lost");
//!         std::io::Result::Ok(())
//!     });
//!     cct_executor::time::sleep(Duration::from_secs(1)).await;
//!     db.restart();
//!     cct_executor::time::sleep(Duration::from_secs(1)).await;
//! });
//! assert!(report.failure().is_some());
//! ```
//!
//! Read next: `content` (rules 1 and 2), `journal` (rules 4 and 5), `tree`, `walk`, `disks`.

mod content;
mod dir_builder;
pub(crate) mod disks;
mod faults;
mod file;
mod file_about;
mod file_io;
mod file_transfer;
mod handle;
mod inspect;
mod journal;
mod log_store;
mod metadata;
mod open_options;
mod operation;
mod path_ops;
mod paths;
mod read_dir;
mod survive;
mod times;
mod tree;
mod walk;

pub use dir_builder::DirBuilder;
pub use disks::{inject, set_faults, set_faults_on};
pub use faults::{DiskFault, DiskFaults};
pub use file::File;
pub use inspect::{Inspected, inspect};
pub use log_store::{Log, LogFlush, LogStore};
pub use metadata::{FileType, Metadata, Permissions};
pub use open_options::OpenOptions;
pub use path_ops::{
    canonicalize, copy, create_dir, create_dir_all, hard_link, metadata, read, read_dir, read_link,
    read_to_string, remove_dir, remove_dir_all, remove_file, rename, set_permissions, symlink,
    symlink_metadata, try_exists, write,
};
pub use read_dir::{DirEntry, ReadDir};
pub use times::FileTimes;
