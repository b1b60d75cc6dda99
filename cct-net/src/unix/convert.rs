//! The standard library's types: there and back.

use super::{UnixDatagram, UnixListener, UnixStream};
use crate::descriptor::{converts, takes};
use std::os::unix::net;

converts!(UnixStream, net::UnixStream);
takes!(
    UnixStream,
    net::UnixStream,
    "stream",
    "make it with cct_net::UnixStream, or take only what into_std has made"
);
converts!(UnixListener, net::UnixListener);
takes!(
    UnixListener,
    net::UnixListener,
    "listener",
    "bind cct_net::UnixListener, or take only what into_std has made"
);
converts!(UnixDatagram, net::UnixDatagram);
takes!(
    UnixDatagram,
    net::UnixDatagram,
    "socket",
    "make it with cct_net::UnixDatagram, or take only what into_std has made"
);
