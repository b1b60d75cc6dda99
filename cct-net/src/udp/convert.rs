//! The standard library's type: there and back.

use super::UdpSocket;
use crate::descriptor::{converts, takes};

converts!(UdpSocket, std::net::UdpSocket);
takes!(
    UdpSocket,
    std::net::UdpSocket,
    "socket",
    "bind cct_net::UdpSocket, or take only what into_std has made"
);
