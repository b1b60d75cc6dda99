//! Open files: what is shared by a file and its clones, and the system calls on it.

use super::content::SECTOR;
use super::disks::Drive;
use super::faults::DiskFault;
use super::journal::Ino;
use super::tree::{Kind, SIZE_MAX, Tree};
use crate::errno::Errno;
use cct_executor::shim::{self, Resource, Shared};
use std::io::{self, SeekFrom};
use std::panic::Location;
use std::sync::Arc;

/// What a file was opened for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Mode {
    pub(super) read: bool,
    pub(super) write: bool,
    pub(super) append: bool,
}

/// An open file, with the position that all its clones share.
pub(super) struct Handle {
    pub(super) drive: Drive,
    pub(super) ino: Ino,
    pub(super) mode: Mode,
    pub(super) resource: Arc<Resource>,
    pub(super) identity: u64,
    pub(super) site: &'static Location<'static>,
    position: Shared<u64>,
}

impl Handle {
    pub(super) fn open(
        drive: &Drive,
        ino: Ino,
        mode: Mode,
        site: &'static Location<'static>,
    ) -> io::Result<Handle> {
        let (resource, identity) = drive.with(|disk| {
            let inode = disk.tree.inode(ino);
            inode.handles += 1;
            (inode.resource.clone(), inode.identity)
        })?;
        Ok(Handle {
            drive: drive.clone(),
            ino,
            mode,
            resource,
            identity,
            site,
            position: Shared::new(0),
        })
    }

    fn tree<R>(&self, f: impl FnOnce(&mut Tree) -> Result<R, Errno>) -> io::Result<R> {
        self.drive.tree(|tree| {
            let result = f(tree);
            tree.inode(self.ino).publish();
            result
        })
    }

    /// Reads once, from the position on.
    pub(super) fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let at = self.position.with(|position| *position);
        let available = self.available(at, buffer.len())?;
        if available > 0 && self.drive.meets(DiskFault::ReadError)? {
            return Err(Errno::EIO.into());
        }
        if available > 0 && self.drive.meets(DiskFault::BitRot)? {
            let offset = shim::choose(available as u32, "which byte rots");
            let bit = shim::choose(8, "which bit rots");
            self.tree(|tree| {
                tree.content(self.ino)?.rot(at + u64::from(offset), bit);
                Ok(())
            })?;
        }
        let short = self.drive.settings()?.short_reads;
        let wanted = if short {
            shortened(available, "how much a read yields")
        } else {
            available
        };
        let count = self.tree(|tree| {
            let bytes = tree.content(self.ino)?.read(at, wanted);
            let count = bytes.len();
            buffer[..count].copy_from_slice(bytes);
            if !buffer.is_empty() {
                tree.was_read(self.ino);
            }
            Ok(count)
        })?;
        self.position.with(|position| *position = at + count as u64);
        Ok(count)
    }

    /// How many bytes there are to read.
    fn available(&self, at: u64, count: usize) -> io::Result<usize> {
        if !self.mode.read {
            self.drive.with(|_| ())?;
            return Err(Errno::EBADF.into());
        }
        self.tree(|tree| Ok(tree.content(self.ino)?.read(at, count).len()))
    }

    /// Reads from the position to the end.
    pub(super) fn read_to_end(&self, into: &mut Vec<u8>) -> io::Result<usize> {
        let start = into.len();
        loop {
            let at = self.position.with(|position| *position);
            let left = self.tree(|tree| Ok(tree.content(self.ino)?.len().saturating_sub(at)))?;
            let before = into.len();
            into.resize(before + (left as usize).max(1), 0);
            let read = self.read(&mut into[before..]);
            into.truncate(before + *read.as_ref().unwrap_or(&0));
            if read? == 0 {
                return Ok(into.len() - start);
            }
        }
    }

    /// Writes everything, at the position or at the end.
    pub(super) fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        self.drive.with(|_| ())?;
        if bytes.is_empty() {
            return Ok(());
        }
        if !self.mode.write {
            return Err(Errno::EBADF.into());
        }
        let position = self.position.with(|position| *position);
        let at = self.tree(|tree| {
            let end = tree.content(self.ino)?.len();
            Ok(if self.mode.append { end } else { position })
        })?;
        let (count, error) = self.writable(at, bytes.len())?;
        self.tree(|tree| {
            let seq = tree.next_seq();
            tree.content(self.ino)?.write(seq, at, &bytes[..count]);
            tree.modified(self.ino);
            Ok(())
        })?;
        self.position.with(|position| *position = at + count as u64);
        error.map_or(Ok(()), |error| Err(error.into()))
    }

    /// How many of the bytes can be written, and why not all.
    fn writable(&self, at: u64, count: usize) -> io::Result<(usize, Option<Errno>)> {
        if self.drive.meets(DiskFault::NoSpace)? {
            return Ok((0, Some(Errno::ENOSPC)));
        }
        if self.drive.meets(DiskFault::WriteError)? {
            let sectors = (at % SECTOR + count as u64).div_ceil(SECTOR);
            let written = shim::choose(sectors as u32, "how many sectors were written");
            let bytes = (u64::from(written) * SECTOR).saturating_sub(at % SECTOR);
            return Ok((bytes as usize, Some(Errno::EIO)));
        }
        let limit = SIZE_MAX.saturating_sub(at);
        let room = self.room(at)?;
        Ok(match count as u64 {
            count if count > room.min(limit) => {
                let why = if room < limit {
                    Errno::ENOSPC
                } else {
                    Errno::EFBIG
                };
                (room.min(limit) as usize, Some(why))
            }
            _ => (count, None),
        })
    }

    /// How many bytes can be written at a place before the disk is full.
    fn room(&self, at: u64) -> io::Result<u64> {
        let Some(capacity) = self.drive.settings()?.capacity else {
            return Ok(u64::MAX);
        };
        self.tree(|tree| {
            let len = tree.content(self.ino)?.len();
            let end = len + capacity.saturating_sub(tree.used());
            Ok(end.saturating_sub(at))
        })
    }

    pub(super) fn set_len(&self, size: u64) -> io::Result<()> {
        if !self.mode.write {
            self.drive.with(|_| ())?;
            return Err(Errno::EINVAL.into());
        }
        let len = self.tree(|tree| Ok(tree.content(self.ino)?.len()))?;
        if i64::try_from(size).is_err() {
            return Err(Errno::EINVAL.into());
        }
        if size > SIZE_MAX {
            return Err(Errno::EFBIG.into());
        }
        if size > len && self.room(0)? < size {
            return Err(Errno::ENOSPC.into());
        }
        self.tree(|tree| {
            let seq = tree.next_seq();
            let content = tree.content(self.ino)?;
            if size != content.len() {
                content.set_len(seq, size);
            }
            tree.modified(self.ino);
            Ok(())
        })
    }

    pub(super) fn seek(&self, to: SeekFrom) -> io::Result<u64> {
        let len = self.drive.with(|disk| disk.tree.inode(self.ino).len())?;
        self.position.with(|position| {
            let target = match to {
                SeekFrom::Start(at) => i128::from(at),
                SeekFrom::End(by) => i128::from(len) + i128::from(by),
                SeekFrom::Current(by) => i128::from(*position) + i128::from(by),
            };
            if target < 0 || target > i128::from(i64::MAX) {
                return Err(Errno::EINVAL.into());
            }
            *position = target as u64;
            Ok(*position)
        })
    }

    /// Takes back reads, of so many bytes below 0.
    pub(super) fn go_back(&self, by: i64) -> io::Result<()> {
        match by {
            0 => Ok(()),
            by => self.seek(SeekFrom::Current(by)).map(drop),
        }
    }

    /// A flush that was begun at `mark` is done now. Nothing else may run meanwhile.
    pub(super) fn sync(&self, mark: u64, all: bool) -> io::Result<()> {
        sync(&self.drive, self.ino, mark, all)
    }

    pub(super) fn mark(&self) -> io::Result<u64> {
        self.drive.with(|disk| disk.tree.seq)
    }
}

/// Flushes a file or a directory, as far as it was changed up to `mark`.
pub(super) fn sync(drive: &Drive, ino: Ino, mark: u64, all: bool) -> io::Result<()> {
    if drive.meets(DiskFault::LostSync)? {
        return Ok(());
    }
    if !drive.meets(DiskFault::SyncError)? {
        return drive.with(|disk| disk.tree.sync(ino, mark, all));
    }
    if shim::choose(2, "whether a failed flush drops what it was to write") == 1 {
        drive.apart(|tree, chooser| {
            if let Some(inode) = tree.inodes.get_mut(&ino) {
                if let Kind::File(content) = &mut inode.kind {
                    content.drop_dirty(mark, chooser);
                }
                inode.publish();
            }
        })?;
    }
    Err(Errno::EIO.into())
}

/// All of it, half of it, or one.
pub(super) fn shortened(count: usize, label: &'static str) -> usize {
    if count < 2 {
        return count;
    }
    match shim::choose(3, label) {
        0 => count,
        1 => count / 2,
        _ => 1,
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let _: io::Result<()> = self.drive.with(|disk| disk.tree.close(self.ino));
    }
}
