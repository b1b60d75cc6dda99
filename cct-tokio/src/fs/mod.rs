//! `tokio::fs`: the files of the machine.
//!
//! As in tokio, every operation is a closure for the pool of threads that may block: a blocking task of the
//! world, so that when it happens is a choice of the strategy, and what the closure does is done by
//! [`std::fs`]. The files are those of the machine, as suites read fixtures and make temporary directories
//! with `std`, and must not be changed for a test. So
//!
//! - what an iteration leaves on the disk, the next one finds. Tests remove what they make, or make it
//!   under a name of its own, as the crate `tempfile` does;
//! - iterations that run at the same time share the files. `CCT_WORKERS=1` has one run at a time;
//! - the times of files are those of the real clock, and the order of a directory is that of the disk:
//!   programs that decide by them are not deterministic;
//! - a crash of a node loses what it had still to write in the background, and nothing else.
//!
//! Disks in memory, one for each node, that lose at a crash what was not flushed, and fail where a test
//! wants them to, are in [`cct_net::fs`]. Its functions have the same names.
//!
//! # Scheduling points
//! Where a blocking task is spawned and where it ends, for each operation.
//!
//! # Cancel safety
//! What has begun is done, whoever waits for it. Reading, writing and seeking in a [`File`] wait for what
//! was under way before.
//!
//! # Panics
//! Outside a world, as tokio's do outside a runtime.
//!
//! # Errors
//! Those of [`std::fs`].

mod buffer;
mod descriptor;
mod dir_builder;
mod file;
mod file_io;
mod file_times;
mod open_options;
mod paths;
mod read_dir;

pub use dir_builder::DirBuilder;
pub use file::File;
pub use file_times::FileTimes;
pub use open_options::OpenOptions;
#[cfg(unix)]
pub use paths::symlink;
pub use paths::{
    canonicalize, copy, create_dir, create_dir_all, hard_link, metadata, read, read_link,
    read_to_string, remove_dir, remove_dir_all, remove_file, rename, set_permissions,
    symlink_metadata, try_exists, write,
};
#[cfg(windows)]
pub use paths::{symlink_dir, symlink_file};
pub use read_dir::{DirEntry, ReadDir, read_dir};
