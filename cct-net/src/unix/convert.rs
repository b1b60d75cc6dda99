//! The standard library's types: there and back.

use super::registry::Paths;
use super::{SocketAddr, UnixDatagram, UnixListener, UnixSocket, UnixStream};
use crate::descriptor::{
    Behind, ByDescriptor, converts, foreign, foreign_stream, give_back, lends, shows, takes,
};
#[cfg(target_os = "linux")]
use crate::gate;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net;
use std::panic::Location;
use std::path::Path;
use std::sync::Arc;

const INSTEAD_OF_A_STREAM: &str =
    "connect with UnixStream::connect or make a pair, or take only what into_std has made";

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
takes!(UnixStream, net::UnixStream);

impl UnixStream {
    fn of_the_kernel(
        stream: net::UnixStream,
        _site: &'static Location<'static>,
    ) -> io::Result<UnixStream> {
        #[cfg(target_os = "linux")]
        return match gate::take_unix(&stream, _site)? {
            Some(own) => Ok(own),
            None => foreign_stream(INSTEAD_OF_A_STREAM),
        };
        #[cfg(not(target_os = "linux"))]
        {
            drop(stream);
            foreign_stream(INSTEAD_OF_A_STREAM)
        }
    }
}

converts!(UnixListener, net::UnixListener);

impl UnixListener {
    /// Brings back what [`into_std`](Self::into_std) has made, or listens in the world where a listener of the kernel's
    /// does, at whose path connections arrive here from now on. The machine keeps its file.
    ///
    /// # Scheduling points
    /// One before listening, at granularity `sync`.
    ///
    /// # Differences from tokio
    /// Connections come from the world alone, where nobody finds the path before this; but in a test that is run once on
    /// Linux, as threads take part: there clients of the kernel's are served, too.
    ///
    /// # Panics
    /// In debug builds, when the listener blocks: as tokio does.
    ///
    /// # Errors
    /// `Unsupported` for one that has no name; `AddrInUse` where the world has a socket there.
    #[track_caller]
    pub fn from_std(listener: net::UnixListener) -> io::Result<UnixListener> {
        let site = Location::caller();
        if let Some(mut own) = give_back::<UnixListener>(listener.as_fd())? {
            own.descriptor.put(listener.into(), None);
            return Ok(own);
        }
        let addr = listener.local_addr()?;
        match SocketAddr::from(addr).as_path() {
            Some(path) => UnixListener::in_place_of(listener, &path, site),
            None => foreign("listener", "listen at a path or an abstract name"),
        }
    }

    /// Listens in the world where the kernel has somebody listen.
    pub(super) fn in_place_of(
        listener: net::UnixListener,
        path: &Path,
        site: &'static Location<'static>,
    ) -> io::Result<UnixListener> {
        let mut own = UnixListener::at(path, site, Paths::adopt)?;
        #[cfg(target_os = "linux")]
        {
            own.gate = gate::serve_path(listener.try_clone()?, path)?;
        }
        own.descriptor.put(listener.into(), None);
        Ok(own)
    }
}

converts!(UnixDatagram, net::UnixDatagram);
takes!(UnixDatagram, net::UnixDatagram);

impl UnixDatagram {
    fn of_the_kernel(
        socket: net::UnixDatagram,
        _: &'static Location<'static>,
    ) -> io::Result<UnixDatagram> {
        drop(socket);
        let instead =
            "make it with UnixDatagram::bind, unbound or pair, or take only what into_std has made";
        foreign("socket", instead)
    }
}
