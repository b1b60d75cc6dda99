//! The files of bound sockets.
//!
//! Owns what stands on the machine's disk for a name that `cct_net` knows: programs set its permissions, wait
//! until it is there, remove it before they bind again, and test that it is gone. It is made by the system, which
//! so says what is wrong with a path. Does not know what is sent.
//!
//! # Invariants
//! 1. Several worlds of this process may bind one path at the same time, as a test has one iteration on each core.
//!    They share the file, and the last one removes it. Without that, iterations would fail for each other.
//! 2. A file that is not the one that was made is never removed.

use cct_net::unix::{SocketFile, keep_file, unlink};
use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf, absolute};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Files that exist, and how many worlds have each.
static MADE: Mutex<BTreeMap<Made, usize>> = Mutex::new(BTreeMap::new());

/// A file, by where it was made and what the disk knows it by.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Made {
    path: PathBuf,
    id: (u64, u64),
}

/// A world's share of a file.
struct Share(Made);

/// Makes the file of what has just been bound to a path, which is free again if that is not possible.
pub(super) fn make(path: &Path) -> io::Result<()> {
    let made = Share::of(path).and_then(|share| keep_file(path, Box::new(share)));
    if made.is_err() {
        let _ = unlink(path);
    }
    made
}

fn made() -> MutexGuard<'static, BTreeMap<Made, usize>> {
    MADE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn id(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

impl Share {
    fn of(path: &Path) -> io::Result<Share> {
        let full = absolute(path)?;
        let mut all = made();
        let others = fs::symlink_metadata(&full).ok().map(|file| Made {
            path: full.clone(),
            id: id(&file),
        });
        let file = match others.filter(|file| all.contains_key(file)) {
            Some(file) => file,
            None => {
                // Its kind is not to be seen on the disk, and this one makes nobody believe that it listens.
                drop(UnixDatagram::bind(path)?);
                let id = id(&fs::symlink_metadata(&full)?);
                Made { path: full, id }
            }
        };
        *all.entry(file.clone()).or_default() += 1;
        Ok(Share(file))
    }
}

impl Made {
    fn is_in_place(&self) -> bool {
        fs::symlink_metadata(&self.path).is_ok_and(|file| id(&file) == self.id)
    }
}

impl SocketFile for Share {
    fn is_in_place(&self) -> bool {
        self.0.is_in_place()
    }

    fn is_at(&self, path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|file| id(&file) == self.0.id)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut all = made();
        let Some(worlds) = all.get_mut(&self.0) else {
            return;
        };
        *worlds -= 1;
        if *worlds == 0 {
            all.remove(&self.0);
            if self.0.is_in_place() {
                let _ = fs::remove_file(&self.0.path);
            }
        }
    }
}
