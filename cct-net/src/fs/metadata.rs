//! What is known of files.

#![expect(
    clippy::disallowed_types,
    reason = "a type for dates: its values come from the virtual clock"
)]

use super::times::Times;
use super::tree::{Inode, Kind};
use crate::node::wall_clock::SystemTime;
use std::fmt;
use std::io;

/// What is known of a file, a directory or a symbolic link.
///
/// # Differences from tokio
/// Owners and device numbers are not modelled, so they are not there. Times are those of the clock of
/// the disk's node, which [`node::system_time`](crate::node::system_time) shows; the clock stands still
/// while anything runs, so that two changes may have the same time, as on Linux within a few
/// milliseconds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Metadata {
    len: u64,
    file_type: FileType,
    permissions: Permissions,
    links: u32,
    times: Times,
}

/// What something in a directory is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FileType(What);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum What {
    File,
    Directory,
    Symlink,
}

/// Who may do what with a file.
///
/// All files belong to the process that looks at them, which is not that of `root`: of its mode those
/// bits count that are about the owner. On Unix it has the methods of `PermissionsExt`, as std's has.
#[derive(Clone, PartialEq, Eq)]
pub struct Permissions {
    mode: u32,
}

impl Metadata {
    pub(super) fn of(inode: &Inode) -> Metadata {
        Metadata {
            len: inode.len(),
            file_type: FileType::of(inode),
            permissions: Permissions {
                mode: inode.mode | FileType::of(inode).bits(),
            },
            links: inode.links,
            times: inode.times,
        }
    }

    /// When its bytes, or its names, were last changed, unless a program has said otherwise.
    ///
    /// # Errors
    /// None.
    pub fn modified(&self) -> io::Result<SystemTime> {
        Ok(self.times.modified)
    }

    /// When it was last read. A read is noted if there was none since the last change, or for a day.
    /// To follow a symbolic link does not count.
    ///
    /// # Errors
    /// None.
    pub fn accessed(&self) -> io::Result<SystemTime> {
        Ok(self.times.accessed)
    }

    /// When it was made.
    ///
    /// # Errors
    /// None.
    pub fn created(&self) -> io::Result<SystemTime> {
        Ok(self.times.created)
    }

    /// Whether it is a directory, a file or a symbolic link.
    pub fn file_type(&self) -> FileType {
        self.file_type
    }

    /// Whether it is a directory.
    pub fn is_dir(&self) -> bool {
        self.file_type.is_dir()
    }

    /// Whether it is a file.
    pub fn is_file(&self) -> bool {
        self.file_type.is_file()
    }

    /// Whether it is a symbolic link, which only [`symlink_metadata`](super::symlink_metadata) and
    /// [`DirEntry::metadata`](super::DirEntry::metadata) show.
    pub fn is_symlink(&self) -> bool {
        self.file_type.is_symlink()
    }

    /// A file's size in bytes.
    #[expect(clippy::len_without_is_empty, reason = "as in the standard library")]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Who may do what with it.
    pub fn permissions(&self) -> Permissions {
        self.permissions.clone()
    }

    /// How many names it has: of a directory one, whatever is in it, as on some file systems of Linux.
    pub fn nlink(&self) -> u64 {
        u64::from(self.links)
    }
}

impl FileType {
    pub(super) fn of(inode: &Inode) -> FileType {
        FileType(match inode.kind {
            Kind::File(_) => What::File,
            Kind::Directory(_) => What::Directory,
            Kind::Symlink(_) => What::Symlink,
        })
    }

    /// As in a mode.
    fn bits(self) -> u32 {
        match self.0 {
            What::File => 0o100_000,
            What::Directory => 0o040_000,
            What::Symlink => 0o120_000,
        }
    }

    /// Whether it is a directory.
    pub fn is_dir(&self) -> bool {
        self.0 == What::Directory
    }

    /// Whether it is a file.
    pub fn is_file(&self) -> bool {
        self.0 == What::File
    }

    /// Whether it is a symbolic link, which only [`symlink_metadata`](super::symlink_metadata) and
    /// [`read_dir`](super::read_dir) show.
    pub fn is_symlink(&self) -> bool {
        self.0 == What::Symlink
    }
}

impl Permissions {
    pub(super) fn bits(&self) -> u32 {
        self.mode
    }

    /// Whether nobody may open the file for writing.
    pub fn readonly(&self) -> bool {
        self.mode & 0o222 == 0
    }

    /// Changes this value, not the file: see [`set_permissions`](super::set_permissions).
    pub fn set_readonly(&mut self, readonly: bool) {
        if readonly {
            self.mode &= !0o222;
        } else {
            self.mode |= 0o222;
        }
    }
}

#[cfg(unix)]
impl std::os::unix::fs::PermissionsExt for Permissions {
    fn mode(&self) -> u32 {
        self.mode
    }

    fn set_mode(&mut self, mode: u32) {
        self.mode = mode;
    }

    fn from_mode(mode: u32) -> Permissions {
        Permissions { mode }
    }
}

impl fmt::Debug for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Permissions({:#o})", self.mode)
    }
}
