//! What is known of files.

use super::tree::{Inode, Kind};

/// What is known of a file, a directory or a symbolic link.
///
/// # Differences from tokio
/// Times, owners and device numbers are not modelled, so they are not there: nodes have no wall clock.
/// Programs that compare ages of files can keep an `Instant`, or a number that grows, in the file or
/// its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Metadata {
    len: u64,
    file_type: FileType,
    permissions: Permissions,
    links: u32,
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

/// Who may write to a file: its readers cannot be told apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Permissions {
    readonly: bool,
}

impl Metadata {
    pub(super) fn of(inode: &Inode) -> Metadata {
        Metadata {
            len: inode.len(),
            file_type: FileType::of(inode),
            permissions: Permissions {
                readonly: inode.readonly,
            },
            links: inode.links,
        }
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

    /// Who may write to it.
    pub fn permissions(&self) -> Permissions {
        self.permissions.clone()
    }

    /// How many names a file has.
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
    /// Whether nobody may open the file for writing.
    pub fn readonly(&self) -> bool {
        self.readonly
    }

    /// Changes this value, not the file: see [`set_permissions`](super::set_permissions).
    pub fn set_readonly(&mut self, readonly: bool) {
        self.readonly = readonly;
    }
}
