//! TCP, see [`cct_net::tcp`].

use super::around::{bare, converts, shows};
use super::forward::{forwards, forwards_stream, renames_tos};
use super::halves::halves;
use super::presume_loopback;
use cct_net::ToSocketAddrs;
use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};
use std::time::Duration;

halves!(cct_net::tcp, TcpStream, SocketAddr);

around! {
    /// A connection, see [`cct_net::TcpStream`].
    TcpStream, cct_net::TcpStream
}
reads!(TcpStream);
writes!(TcpStream);
converts!(TcpStream, std::net::TcpStream);
forwards_stream!(TcpStream, cct_net::TcpStream);
forwards! {
    TcpStream, cct_net::TcpStream;
    fn nodelay() -> io::Result<bool>;
    fn set_nodelay(nodelay: bool) -> io::Result<()>;
    fn linger() -> io::Result<Option<Duration>>;
    #[deprecated = "`SO_LINGER` causes the socket to block the thread on drop"]
    fn set_linger(dur: Option<Duration>) -> io::Result<()>;
    fn set_zero_linger() -> io::Result<()>;
    fn ttl() -> io::Result<u32>;
    fn set_ttl(ttl: u32) -> io::Result<()>;
    async fn peek(buf: &mut [u8]) -> io::Result<usize>;
}
#[cfg(any(target_os = "linux", target_os = "android"))]
forwards! {
    TcpStream, cct_net::TcpStream;
    fn quickack() -> io::Result<bool>;
    fn set_quickack(quickack: bool) -> io::Result<()>;
}

impl TcpStream {
    /// See [`cct_net::TcpStream::connect`].
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(addr: A) -> impl Future<Output = io::Result<TcpStream>> {
        presume_loopback();
        let connected = cct_net::TcpStream::connect(addr);
        async move { connected.await.map(TcpStream) }
    }

    /// Waits until something can be read, and copies it without taking it.
    ///
    /// # Errors
    /// As for reading.
    pub fn poll_peek(
        &self,
        cx: &mut Context<'_>,
        buf: &mut crate::io::ReadBuf<'_>,
    ) -> Poll<io::Result<usize>> {
        let peeked = self.0.poll_peek(cx, buf.initialize_unfilled());
        peeked.map_ok(|count| {
            buf.advance(count);
            count
        })
    }
}

impl AsRef<TcpStream> for TcpStream {
    fn as_ref(&self) -> &TcpStream {
        self
    }
}

macro_rules! peeks {
    ($($Half:ty),*) => {$(
        impl $Half {
            /// As [`TcpStream::poll_peek`].
            ///
            /// # Errors
            /// As for reading.
            pub fn poll_peek(
                &self,
                cx: &mut Context<'_>,
                buf: &mut crate::io::ReadBuf<'_>,
            ) -> Poll<io::Result<usize>> {
                AsRef::<TcpStream>::as_ref(self).poll_peek(cx, buf)
            }
        }
    )*};
}
peeks!(ReadHalf<'_>, OwnedReadHalf);
forwards! {
    ReadHalf<'_>, cct_net::tcp::ReadHalf;
    async fn peek(buf: &mut [u8]) -> io::Result<usize>;
}
forwards! {
    OwnedReadHalf, cct_net::tcp::OwnedReadHalf;
    async fn peek(buf: &mut [u8]) -> io::Result<usize>;
}

around! {
    /// Waits for connections, see [`cct_net::TcpListener`].
    TcpListener, cct_net::TcpListener
}
converts!(TcpListener, std::net::TcpListener);
forwards! {
    TcpListener, cct_net::TcpListener;
    fn local_addr() -> io::Result<SocketAddr>;
    fn ttl() -> io::Result<u32>;
    fn set_ttl(ttl: u32) -> io::Result<()>;
}

impl TcpListener {
    /// See [`cct_net::TcpListener::bind`].
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(addr: A) -> impl Future<Output = io::Result<TcpListener>> {
        presume_loopback();
        let bound = cct_net::TcpListener::bind(addr);
        async move { bound.await.map(TcpListener) }
    }

    /// See [`cct_net::TcpListener::accept`].
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn accept(&self) -> impl Future<Output = io::Result<(TcpStream, SocketAddr)>> {
        let accepted = self.0.accept();
        async move {
            accepted
                .await
                .map(|(stream, from)| (TcpStream(stream), from))
        }
    }

    /// See [`cct_net::TcpListener::poll_accept`].
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        let accepted = self.0.poll_accept(cx);
        accepted.map_ok(|(stream, from)| (TcpStream(stream), from))
    }
}

around! {
    /// A socket before it listens or connects, see [`cct_net::TcpSocket`].
    TcpSocket, cct_net::TcpSocket
}
shows!(TcpSocket);
bare!(TcpSocket);
renames_tos!(TcpSocket);
forwards! {
    TcpSocket, cct_net::TcpSocket;
    fn bind(addr: SocketAddr) -> io::Result<()>;
    fn local_addr() -> io::Result<SocketAddr>;
    fn take_error() -> io::Result<Option<io::Error>>;
    fn set_reuseaddr(reuseaddr: bool) -> io::Result<()>;
    fn reuseaddr() -> io::Result<bool>;
    fn set_reuseport(reuseport: bool) -> io::Result<()>;
    fn reuseport() -> io::Result<bool>;
    fn set_keepalive(keepalive: bool) -> io::Result<()>;
    fn keepalive() -> io::Result<bool>;
    fn set_nodelay(nodelay: bool) -> io::Result<()>;
    fn nodelay() -> io::Result<bool>;
    fn set_send_buffer_size(send_buffer_size: u32) -> io::Result<()>;
    fn send_buffer_size() -> io::Result<u32>;
    fn set_recv_buffer_size(recv_buffer_size: u32) -> io::Result<()>;
    fn recv_buffer_size() -> io::Result<u32>;
    fn set_tos_v4(tos_v4: u32) -> io::Result<()>;
    fn tos_v4() -> io::Result<u32>;
    fn set_tclass_v6(tclass_v6: u32) -> io::Result<()>;
    fn tclass_v6() -> io::Result<u32>;
    fn linger() -> io::Result<Option<Duration>>;
    #[deprecated = "`SO_LINGER` causes the socket to block the thread on drop"]
    fn set_linger(dur: Option<Duration>) -> io::Result<()>;
    fn set_zero_linger() -> io::Result<()>;
}

impl TcpSocket {
    /// See [`cct_net::TcpSocket::new_v4`].
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn new_v4() -> io::Result<TcpSocket> {
        presume_loopback();
        cct_net::TcpSocket::new_v4().map(TcpSocket)
    }

    /// See [`cct_net::TcpSocket::new_v6`].
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn new_v6() -> io::Result<TcpSocket> {
        presume_loopback();
        cct_net::TcpSocket::new_v6().map(TcpSocket)
    }

    /// See [`cct_net::TcpSocket::from_std_stream`].
    #[cfg(unix)]
    #[track_caller]
    pub fn from_std_stream(stream: std::net::TcpStream) -> TcpSocket {
        presume_loopback();
        TcpSocket(cct_net::TcpSocket::from_std_stream(stream))
    }

    /// See [`cct_net::TcpSocket::connect`].
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn connect(self, addr: SocketAddr) -> impl Future<Output = io::Result<TcpStream>> {
        let connected = self.0.connect(addr);
        async move { connected.await.map(TcpStream) }
    }

    /// See [`cct_net::TcpSocket::listen`].
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn listen(self, backlog: u32) -> io::Result<TcpListener> {
        self.0.listen(backlog).map(TcpListener)
    }
}
