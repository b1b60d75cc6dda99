//! The standard library's types: there and back.

use super::registry::Paths;
use super::{UnixDatagram, UnixListener, UnixSocket, UnixStream};
use crate::descriptor::{Behind, ByDescriptor, converts, foreign, give_back, lends, shows, takes};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net;
use std::panic::Location;
use std::sync::Arc;

impl Behind for UnixStream {
    fn behind(&self) -> Option<Arc<dyn ByDescriptor>> {
        Some(self.end().shown(None))
    }

    fn came_back(&self) {
        self.end().look_anew();
    }
}

impl Behind for UnixListener {}
impl Behind for UnixDatagram {
    fn came_back(&self) {
        self.inner.look_anew();
    }
}

impl Behind for UnixSocket {}

shows!(UnixSocket);
lends!(UnixSocket);

converts!(UnixStream, net::UnixStream);
takes!(
    UnixStream,
    net::UnixStream,
    "stream",
    "connect with UnixStream::connect or make a pair, or take only what into_std has made"
);
converts!(UnixListener, net::UnixListener);

impl UnixListener {
    /// Brings back what [`into_std`](Self::into_std) has made, or listens in the world where a listener of the kernel's
    /// does, at whose path connections arrive here from now on. The machine keeps its file.
    ///
    /// # Scheduling points
    /// One before listening, at granularity `sync`.
    ///
    /// # Differences from tokio
    /// Connections come from the world alone, where nobody finds the path before this.
    ///
    /// # Panics
    /// In debug builds, when the listener blocks: as tokio does.
    ///
    /// # Errors
    /// `Unsupported` for one that has no path; `AddrInUse` where the world has a socket there.
    #[track_caller]
    pub fn from_std(listener: net::UnixListener) -> io::Result<UnixListener> {
        let site = Location::caller();
        let mut own = match give_back::<UnixListener>(listener.as_fd())? {
            Some(own) => own,
            None => match listener.local_addr()?.as_pathname() {
                Some(path) => UnixListener::at(path, site, Paths::adopt)?,
                None => return foreign("listener", "listen at a path"),
            },
        };
        own.descriptor.put(listener.into(), None);
        Ok(own)
    }
}

converts!(UnixDatagram, net::UnixDatagram);
takes!(
    UnixDatagram,
    net::UnixDatagram,
    "socket",
    "make it with UnixDatagram::bind, unbound or pair, or take only what into_std has made"
);
