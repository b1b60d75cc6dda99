//! UDP, see [`cct_net::udp`].

use super::around::{around, converts, shows};
use super::datagrams::receives;
use cct_net::ToSocketAddrs;
use std::io;
use std::net::SocketAddr;

around! {
    /// A socket of datagrams, see [`cct_net::UdpSocket`].
    UdpSocket, cct_net::UdpSocket
}
converts!(UdpSocket, std::net::UdpSocket);
receives!(UdpSocket, SocketAddr, [poll_recv poll_peek], [poll_recv_from poll_peek_from]);

impl UdpSocket {
    /// See [`cct_net::UdpSocket::bind`].
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(addr: A) -> impl Future<Output = io::Result<UdpSocket>> {
        let bound = cct_net::UdpSocket::bind(addr);
        async move { bound.await.map(UdpSocket) }
    }
}
