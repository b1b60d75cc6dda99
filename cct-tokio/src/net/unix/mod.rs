//! Unix sockets, see [`cct_net::unix`].

pub mod pipe;

use crate::net::around::{bare, converts, shows};
use crate::net::datagrams::receives;
use crate::net::forward::{forwards, forwards_datagrams, forwards_stream};
use crate::net::halves::halves;
use crate::net::presume_loopback;
use std::io;
use std::net::Shutdown;
use std::os::unix::net;
use std::path::Path;
use std::task::{Context, Poll};

pub use cct_net::unix::{SocketAddr, UCred, gid_t, pid_t, uid_t};

halves!(cct_net::unix, UnixStream, SocketAddr);

around! {
    /// A connection inside a node, see [`cct_net::UnixStream`].
    UnixStream, cct_net::UnixStream
}
reads!(UnixStream);
writes!(UnixStream);
converts!(UnixStream, net::UnixStream);
forwards_stream!(UnixStream, cct_net::UnixStream);
forwards! {
    UnixStream, cct_net::UnixStream;
    fn peer_cred() -> io::Result<UCred>;
}

impl UnixStream {
    /// See [`cct_net::UnixStream::connect`].
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn connect<P: AsRef<Path>>(path: P) -> impl Future<Output = io::Result<UnixStream>> {
        presume_loopback();
        let connected = cct_net::UnixStream::connect(path);
        async move { connected.await.map(UnixStream) }
    }

    /// See [`cct_net::UnixStream::connect_addr`].
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn connect_addr(addr: &SocketAddr) -> impl Future<Output = io::Result<UnixStream>> {
        presume_loopback();
        let connected = cct_net::UnixStream::connect_addr(addr);
        async move { connected.await.map(UnixStream) }
    }

    /// See [`cct_net::UnixStream::pair`].
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn pair() -> io::Result<(UnixStream, UnixStream)> {
        presume_loopback();
        let (one, other) = cct_net::UnixStream::pair()?;
        Ok((UnixStream(one), UnixStream(other)))
    }
}

impl AsRef<UnixStream> for UnixStream {
    fn as_ref(&self) -> &UnixStream {
        self
    }
}

around! {
    /// Waits for connections inside a node, see [`cct_net::UnixListener`].
    UnixListener, cct_net::UnixListener
}
converts!(UnixListener, net::UnixListener);
forwards! {
    UnixListener, cct_net::UnixListener;
    fn local_addr() -> io::Result<SocketAddr>;
    fn take_error() -> io::Result<Option<io::Error>>;
}

impl UnixListener {
    /// See [`cct_net::UnixListener::bind`].
    ///
    /// # Errors
    /// As there, and as the folder of the path says.
    #[track_caller]
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<UnixListener> {
        has_place(path.as_ref())?;
        cct_net::UnixListener::bind(path).map(UnixListener)
    }

    /// See [`cct_net::UnixListener::bind_addr`].
    ///
    /// # Errors
    /// As there, and as the folder of the path says.
    #[track_caller]
    pub fn bind_addr(addr: &SocketAddr) -> io::Result<UnixListener> {
        addr.as_pathname().map_or(Ok(()), has_place)?;
        cct_net::UnixListener::bind_addr(addr).map(UnixListener)
    }

    /// See [`cct_net::UnixListener::accept`].
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn accept(&self) -> impl Future<Output = io::Result<(UnixStream, SocketAddr)>> {
        let accepted = self.0.accept();
        async move {
            accepted
                .await
                .map(|(stream, from)| (UnixStream(stream), from))
        }
    }

    /// See [`cct_net::UnixListener::poll_accept`].
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(UnixStream, SocketAddr)>> {
        let accepted = self.0.poll_accept(cx);
        accepted.map_ok(|(stream, from)| (UnixStream(stream), from))
    }
}

around! {
    /// A socket before it is one of streams or of datagrams, see [`cct_net::UnixSocket`].
    UnixSocket, cct_net::UnixSocket
}
shows!(UnixSocket);
bare!(UnixSocket);

/// Whether a socket can be bound at a path, as far as the files say: the machine's and those of the world's sockets.
///
/// # Errors
/// `AddrInUse` if there is a file, and what is wrong with its folder.
fn has_place(path: &Path) -> io::Result<()> {
    // An abstract name has none.
    if path.as_os_str().as_encoded_bytes().first() == Some(&0) {
        return Ok(());
    }
    if path.symlink_metadata().is_ok() {
        return Err(io::Error::from_raw_os_error(libc::EADDRINUSE));
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => return Ok(()),
    };
    match folder.metadata()?.is_dir() {
        true => Ok(()),
        false => Err(io::Error::from_raw_os_error(libc::ENOTDIR)),
    }
}

impl UnixSocket {
    /// See [`cct_net::UnixSocket::bind`].
    ///
    /// # Errors
    /// As there, and as the folder of the path says.
    #[track_caller]
    pub fn bind(&self, path: impl AsRef<Path>) -> io::Result<()> {
        has_place(path.as_ref())?;
        self.0.bind(path)
    }

    pub(crate) const fn of(socket: cct_net::UnixSocket) -> UnixSocket {
        UnixSocket(socket)
    }

    /// See [`cct_net::UnixSocket::new_datagram`].
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn new_datagram() -> io::Result<UnixSocket> {
        cct_net::UnixSocket::new_datagram().map(UnixSocket)
    }

    /// See [`cct_net::UnixSocket::new_stream`].
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn new_stream() -> io::Result<UnixSocket> {
        presume_loopback();
        cct_net::UnixSocket::new_stream().map(UnixSocket)
    }

    /// See [`cct_net::UnixSocket::listen`].
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn listen(self, backlog: u32) -> io::Result<UnixListener> {
        self.0.listen(backlog).map(UnixListener)
    }

    /// See [`cct_net::UnixSocket::connect`].
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn connect(self, path: impl AsRef<Path>) -> impl Future<Output = io::Result<UnixStream>> {
        let connected = self.0.connect(path);
        async move { connected.await.map(UnixStream) }
    }

    /// See [`cct_net::UnixSocket::datagram`].
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn datagram(self) -> io::Result<UnixDatagram> {
        self.0.datagram().map(UnixDatagram)
    }
}

around! {
    /// A socket of datagrams inside a node, see [`cct_net::UnixDatagram`].
    UnixDatagram, cct_net::UnixDatagram
}
converts!(UnixDatagram, net::UnixDatagram);
receives!(UnixDatagram, SocketAddr, [poll_recv], [poll_recv_from]);
forwards_datagrams!(UnixDatagram, cct_net::UnixDatagram, SocketAddr);
forwards! {
    UnixDatagram, cct_net::UnixDatagram;
    fn connect[P: AsRef<Path>](path: P) -> io::Result<()>;
    fn poll_send_to[P: AsRef<Path>](
        cx: &mut Context<'_>,
        buf: &[u8],
        target: P
    ) -> Poll<io::Result<usize>>;
    fn try_send_to[P: AsRef<Path>](buf: &[u8], target: P) -> io::Result<usize>;
    fn shutdown(how: Shutdown) -> io::Result<()>;
    async fn send_to[P: AsRef<Path>](buf: &[u8], target: P) -> io::Result<usize>;
}

impl UnixDatagram {
    /// See [`cct_net::UnixDatagram::bind`].
    ///
    /// # Errors
    /// As there, and as the folder of the path says.
    #[track_caller]
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<UnixDatagram> {
        has_place(path.as_ref())?;
        cct_net::UnixDatagram::bind(path).map(UnixDatagram)
    }

    /// See [`cct_net::UnixDatagram::unbound`].
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn unbound() -> io::Result<UnixDatagram> {
        cct_net::UnixDatagram::unbound().map(UnixDatagram)
    }

    /// See [`cct_net::UnixDatagram::pair`].
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn pair() -> io::Result<(UnixDatagram, UnixDatagram)> {
        let (one, other) = cct_net::UnixDatagram::pair()?;
        Ok((UnixDatagram(one), UnixDatagram(other)))
    }
}
