//! The standard library's types: there and back.

use super::{UnixDatagram, UnixListener, UnixSocket, UnixStream};
use crate::descriptor::{Behind, ByDescriptor, converts, lends, shows, takes};
use std::os::unix::net;
use std::sync::Arc;

impl Behind for UnixStream {
    fn behind(&self) -> Option<Arc<dyn ByDescriptor>> {
        Some(self.end().shown(None))
    }
}

impl Behind for UnixListener {}
impl Behind for UnixDatagram {}
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
takes!(
    UnixListener,
    net::UnixListener,
    "listener",
    "listen with UnixListener::bind, or take only what into_std has made"
);
converts!(UnixDatagram, net::UnixDatagram);
takes!(
    UnixDatagram,
    net::UnixDatagram,
    "socket",
    "make it with UnixDatagram::bind, unbound or pair, or take only what into_std has made"
);
