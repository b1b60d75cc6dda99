//! The standard library's types: there and back, and listeners that were made there.

use super::{SocketFile, UnixDatagram, UnixListener, UnixStream};
use crate::descriptor::{converts, foreign, give_back, takes};
use std::fs::{self, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net;
use std::panic::Location;
use std::path::{Path, PathBuf};

converts!(UnixStream, net::UnixStream);
takes!(
    UnixStream,
    net::UnixStream,
    "stream",
    "make it with cct_net::UnixStream, or take only what into_std has made"
);
converts!(UnixListener, net::UnixListener);
converts!(UnixDatagram, net::UnixDatagram);
takes!(
    UnixDatagram,
    net::UnixDatagram,
    "socket",
    "make it with cct_net::UnixDatagram, or take only what into_std has made"
);

impl UnixListener {
    /// Brings back what [`into_std`](Self::into_std) has made, or listens in the world where a listener of
    /// the kernel's does.
    ///
    /// # Scheduling points
    /// One before listening, at granularity `sync`.
    ///
    /// # Differences from tokio
    /// Connections come from the world alone, from now on. The kernel's file stays where it is.
    ///
    /// # Panics
    /// In debug builds, when the listener blocks: as tokio does.
    ///
    /// # Errors
    /// `Unsupported` for a listener of the kernel's without a path.
    #[track_caller]
    pub fn from_std(listener: net::UnixListener) -> io::Result<UnixListener> {
        if let Some(mut own) = give_back::<UnixListener>(listener.as_fd())? {
            own.descriptor.put(listener.into());
            return Ok(own);
        }
        let addr = listener.local_addr()?;
        let Some(path) = addr.as_pathname() else {
            return foreign(
                "listener",
                "bind a path, as abstract names are not modelled",
            );
        };
        let file = Box::new(KernelsFile::at(path));
        let mut own = UnixListener::in_place_of(path, file, Location::caller())?;
        own.descriptor.put(listener.into());
        Ok(own)
    }
}

/// The file of a socket that the kernel has bound, as it was when the world took that over. It is not the
/// world's, and stays.
struct KernelsFile {
    path: PathBuf,
    id: Option<(u64, u64)>,
}

fn id(file: io::Result<Metadata>) -> Option<(u64, u64)> {
    file.ok().map(|file| (file.dev(), file.ino()))
}

impl KernelsFile {
    fn at(path: &Path) -> KernelsFile {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let id = id(fs::symlink_metadata(&path));
        KernelsFile { path, id }
    }
}

impl SocketFile for KernelsFile {
    fn is_in_place(&self) -> bool {
        self.id.is_some() && id(fs::symlink_metadata(&self.path)) == self.id
    }

    fn is_shared(&self) -> bool {
        false // the kernel would not have bound it
    }

    fn is_at(&self, path: &Path) -> bool {
        self.id.is_some() && id(fs::metadata(path)) == self.id
    }
}
