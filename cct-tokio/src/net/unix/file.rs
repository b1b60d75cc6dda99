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

/// What worlds have bound, by path.
static CLAIMS: Mutex<BTreeMap<PathBuf, Claim>> = Mutex::new(BTreeMap::new());

/// What a disk knows a file by.
type Id = (u64, u64);

/// A path that worlds have bound.
#[derive(Default)]
struct Claim {
    worlds: usize,
    /// Several had it at the same time, since one has it.
    shared: bool,
    /// The files that were made there and are not removed yet, as far as is known.
    made: Vec<Id>,
}

/// A world's share of a file.
struct Share {
    path: PathBuf,
    /// None if it was gone at once.
    id: Option<Id>,
}

/// Makes the file of what has just been bound to a path, which is free again if that is not possible.
pub(super) fn make(path: &Path) -> io::Result<()> {
    let made = Share::of(path).and_then(|share| keep_file(path, Box::new(share)));
    if made.is_err() {
        let _ = unlink(path);
    }
    made
}

fn claims() -> MutexGuard<'static, BTreeMap<PathBuf, Claim>> {
    CLAIMS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn id(file: io::Result<Metadata>) -> Option<Id> {
    file.ok().map(|file| (file.dev(), file.ino()))
}

impl Share {
    fn of(path: &Path) -> io::Result<Share> {
        let full = absolute(path)?;
        let mut claims = claims();
        let there = id(fs::symlink_metadata(&full));
        let is_ours = |id: &Id| {
            claims
                .get(&full)
                .is_some_and(|claim| claim.made.contains(id))
        };
        let id = match there.filter(is_ours) {
            Some(id) => Some(id),
            None => {
                // Its kind is not to be seen on the disk, and this one makes nobody believe that it listens.
                drop(UnixDatagram::bind(path)?);
                id(fs::symlink_metadata(&full)) // unless another world has removed it already
            }
        };
        let claim = claims.entry(full.clone()).or_default();
        claim.worlds += 1;
        claim.shared |= claim.worlds > 1;
        claim.made.extend(id.filter(|id| !claim.made.contains(id)));
        Ok(Share { path: full, id })
    }
}

impl SocketFile for Share {
    fn is_in_place(&self) -> bool {
        self.id.is_some() && id(fs::symlink_metadata(&self.path)) == self.id
    }

    fn is_shared(&self) -> bool {
        claims().get(&self.path).is_some_and(|claim| claim.shared)
    }

    fn is_at(&self, path: &Path) -> bool {
        self.id.is_some() && id(fs::metadata(path)) == self.id
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut claims = claims();
        let Some(claim) = claims.get_mut(&self.path) else {
            return;
        };
        claim.worlds -= 1;
        if claim.worlds == 0 {
            let there = id(fs::symlink_metadata(&self.path));
            if there.is_some_and(|id| claim.made.contains(&id)) {
                let _ = fs::remove_file(&self.path);
            }
            claims.remove(&self.path);
        }
    }
}
