//! `ReadDir` and `DirEntry`.

use super::disks::Drive;
use super::metadata::{FileType, Metadata};
use super::path_ops::on_path;
use super::tree::{Kind, READ};
use crate::errno::Errno;
use cct_executor::shim::{self, Access, OpKind};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::task::{Context, Poll};

/// What was in a directory.
#[derive(Debug)]
pub struct ReadDir {
    entries: VecDeque<DirEntry>,
}

/// Something in a directory.
#[derive(Debug)]
pub struct DirEntry {
    path: PathBuf,
    name: OsString,
    file_type: FileType,
    ino: u32,
}

impl ReadDir {
    pub(super) fn open(drive: &Drive, path: &Path) -> io::Result<ReadDir> {
        let mut entries: VecDeque<DirEntry> = drive.tree(|tree| {
            let ino = tree.lookup(path)?;
            let Kind::Directory(directory) = &tree.inode(ino).kind else {
                return Err(Errno::ENOTDIR);
            };
            let names = directory.entries.clone();
            tree.may(ino, READ)?;
            tree.was_read(ino);
            let entries = names.into_iter().map(|(name, ino)| DirEntry {
                path: path.join(&name),
                name,
                file_type: FileType::of(tree.inode(ino)),
                ino,
            });
            Ok(entries.collect())
        })?;
        if entries.len() > 1 && shim::choose(2, "order of directory entries") == 1 {
            entries = entries.into_iter().rev().collect();
        }
        Ok(ReadDir { entries })
    }

    /// The next entry.
    ///
    /// # Scheduling points
    /// None: all were read by `read_dir`.
    ///
    /// # Cancel safety
    /// Nothing is lost.
    ///
    /// # Errors
    /// None: `read_dir` had them.
    pub async fn next_entry(&mut self) -> io::Result<Option<DirEntry>> {
        Ok(self.entries.pop_front())
    }

    /// The next entry; always there at once.
    ///
    /// # Scheduling points
    /// None.
    ///
    /// # Errors
    /// None: `read_dir` had them.
    pub fn poll_next_entry(&mut self, _cx: &mut Context<'_>) -> Poll<io::Result<Option<DirEntry>>> {
        Poll::Ready(Ok(self.entries.pop_front()))
    }
}

impl DirEntry {
    /// The path that was read, with the name.
    pub fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// The name.
    pub fn file_name(&self) -> OsString {
        self.name.clone()
    }

    /// A number that no other file of the disk has at the same time.
    pub fn ino(&self) -> u64 {
        u64::from(self.ino)
    }

    /// Whether it was a directory, a file or a symbolic link.
    ///
    /// # Scheduling points
    /// None.
    ///
    /// # Cancel safety
    /// Nothing is lost.
    ///
    /// # Errors
    /// None.
    pub async fn file_type(&self) -> io::Result<FileType> {
        Ok(self.file_type)
    }

    /// What is known of it now; a symbolic link is not followed.
    ///
    /// # Scheduling points
    /// One.
    ///
    /// # Cancel safety
    /// Nothing is lost.
    ///
    /// # Errors
    /// Those of [paths](crate::fs#errors); ENOENT when it is gone.
    #[track_caller]
    pub fn metadata(&self) -> impl Future<Output = io::Result<Metadata>> + Send + use<> {
        let path = self.path.clone();
        let what = (OpKind::Get, Access::Read);
        on_path(what, Location::caller(), move |drive| {
            drive.tree(|tree| {
                let ino = tree.lookup_link(&path)?;
                Ok::<_, Errno>(Metadata::of(tree.inode(ino)))
            })
        })
    }
}
