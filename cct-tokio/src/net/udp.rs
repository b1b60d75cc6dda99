//! UDP, see [`cct_net::udp`].

use super::around::{around, converts, shows};
use super::datagrams::receives;
use super::forward::{forwards, forwards_datagrams, renames_tos};
use cct_net::ToSocketAddrs;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::task::{Context, Poll};

around! {
    /// A socket of datagrams, see [`cct_net::UdpSocket`]. Between sockets of one node they arrive when they are sent,
    /// see [`at_once`](cct_net::udp::Options::at_once).
    UdpSocket, cct_net::UdpSocket
}
converts!(UdpSocket, std::net::UdpSocket);
receives!(UdpSocket, SocketAddr, [poll_recv poll_peek], [poll_recv_from poll_peek_from]);
forwards_datagrams!(UdpSocket, cct_net::UdpSocket, SocketAddr);
renames_tos!(UdpSocket);
forwards! {
    UdpSocket, cct_net::UdpSocket;
    fn poll_send_to(
        cx: &mut Context<'_>,
        buf: &[u8],
        target: SocketAddr
    ) -> Poll<io::Result<usize>>;
    fn try_send_to(buf: &[u8], target: SocketAddr) -> io::Result<usize>;
    fn try_peek(buf: &mut [u8]) -> io::Result<usize>;
    fn try_peek_from(buf: &mut [u8]) -> io::Result<(usize, SocketAddr)>;
    fn try_peek_sender() -> io::Result<SocketAddr>;
    fn poll_peek_sender(cx: &mut Context<'_>) -> Poll<io::Result<SocketAddr>>;
    fn set_broadcast(broadcast: bool) -> io::Result<()>;
    fn broadcast() -> io::Result<bool>;
    fn set_multicast_loop_v4(multicast_loop_v4: bool) -> io::Result<()>;
    fn multicast_loop_v4() -> io::Result<bool>;
    fn set_multicast_loop_v6(multicast_loop_v6: bool) -> io::Result<()>;
    fn multicast_loop_v6() -> io::Result<bool>;
    fn set_multicast_ttl_v4(multicast_ttl_v4: u32) -> io::Result<()>;
    fn multicast_ttl_v4() -> io::Result<u32>;
    fn set_ttl(ttl: u32) -> io::Result<()>;
    fn ttl() -> io::Result<u32>;
    fn set_tos_v4(tos_v4: u32) -> io::Result<()>;
    fn tos_v4() -> io::Result<u32>;
    fn set_tclass_v6(tclass_v6: u32) -> io::Result<()>;
    fn tclass_v6() -> io::Result<u32>;
    fn join_multicast_v4(multiaddr: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()>;
    fn join_multicast_v6(multiaddr: &Ipv6Addr, interface: u32) -> io::Result<()>;
    fn leave_multicast_v4(multiaddr: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()>;
    fn leave_multicast_v6(multiaddr: &Ipv6Addr, interface: u32) -> io::Result<()>;
    async fn connect[A: ToSocketAddrs](addr: A) -> io::Result<()>;
    async fn send_to[A: ToSocketAddrs](buf: &[u8], addr: A) -> io::Result<usize>;
    async fn peek(buf: &mut [u8]) -> io::Result<usize>;
    async fn peek_from(buf: &mut [u8]) -> io::Result<(usize, SocketAddr)>;
    async fn peek_sender() -> io::Result<SocketAddr>;
}

impl UdpSocket {
    /// See [`cct_net::UdpSocket::bind`].
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(addr: A) -> impl Future<Output = io::Result<UdpSocket>> {
        super::presume_loopback();
        let bound = cct_net::UdpSocket::bind(addr);
        async move { bound.await.map(UdpSocket) }
    }
}
