//! Sockets that are not yet anything in particular.

use super::inner::Inner;
use super::registry::Bound;
use super::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use crate::descriptor::{self, Descriptor, inherits};
use crate::errno::Errno;
use crate::host::hosts;
use cct_executor::node::current;
use cct_executor::shim::{OpKind, Shared};
use std::fmt;
use std::io;
use std::panic::Location;
use std::path::Path;
use std::sync::Arc;

/// A Unix socket that becomes a [`UnixListener`], a [`UnixStream`] or a [`UnixDatagram`]: one that is bound
/// before it connects, or has a backlog of its own.
///
/// # Differences from tokio
/// Its file descriptor is good for setting options that have no effect. A path with a byte that is 0, and is not the first, is refused, as by the other sockets,
/// where Linux takes what comes before it.
pub struct UnixSocket {
    kind: Kind,
    pub(super) descriptor: Descriptor,
}

enum Kind {
    Stream(Shared<Name>),
    Datagram(Arc<Inner>),
}

/// What a stream socket is bound to. Nobody can connect to it while it does not listen.
#[derive(Default)]
struct Name {
    addr: SocketAddr,
    /// The path's entry knows the socket by this.
    token: Arc<()>,
}

inherits!(UnixStream, UnixListener, UnixDatagram);

impl UnixSocket {
    /// A socket for datagrams.
    ///
    /// # Errors
    /// Outside a world.
    #[track_caller]
    pub fn new_datagram() -> io::Result<UnixSocket> {
        let hosts = Arc::downgrade(&hosts()?);
        let inner = Inner::new(SocketAddr::default(), hosts, Location::caller());
        Ok(UnixSocket {
            kind: Kind::Datagram(inner),
            descriptor: Descriptor::new(descriptor::Kind::UnixDatagram),
        })
    }

    /// A socket for connections.
    ///
    /// # Errors
    /// Outside a world.
    pub fn new_stream() -> io::Result<UnixSocket> {
        hosts()?;
        Ok(UnixSocket {
            kind: Kind::Stream(Shared::new(Name::default())),
            descriptor: Descriptor::new(descriptor::Kind::UnixStream),
        })
    }

    /// Binds it to a path.
    ///
    /// # Scheduling points
    /// One before binding, at granularity `sync`.
    ///
    /// # Errors
    /// `AddrInUse` when the path is taken, EINVAL when the socket is bound already.
    #[track_caller]
    pub fn bind(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let (path, hosts) = (path.as_ref(), hosts()?);
        hosts.sync_point(OpKind::Init, Location::caller());
        let (addr, bound) = match &self.kind {
            Kind::Stream(name) => name.with(|name| {
                (
                    name.addr.clone(),
                    Bound::NotYet(Arc::downgrade(&name.token)),
                )
            }),
            Kind::Datagram(inner) => {
                let addr = inner.state.with(|state| state.name.clone());
                (addr, Bound::Datagram(Arc::downgrade(inner)))
            }
        };
        hosts.state.with(|state| {
            let paths = &mut state.host(current()).unix;
            paths.check_free(path)?;
            match addr.is_unnamed() {
                true => paths.bind(path, bound),
                false => Err(Errno::EINVAL.into()),
            }
        })?;
        let addr = SocketAddr::of(path);
        match &self.kind {
            Kind::Stream(name) => name.with(|name| name.addr = addr),
            Kind::Datagram(inner) => inner.state.with(|state| state.name = addr),
        }
        Ok(())
    }

    /// Listens. As on Linux one more than `backlog` may wait to be accepted.
    ///
    /// # Errors
    /// EINVAL when it is not bound; when it is for datagrams.
    #[track_caller]
    pub fn listen(self, backlog: u32) -> io::Result<UnixListener> {
        let site = Location::caller();
        let (name, mut descriptor) = self.stream("listen cannot be called on a datagram socket")?;
        if name.addr.is_unnamed() {
            return Err(Errno::EINVAL.into());
        }
        let mut listener = UnixListener::at_bound(&name.addr, &name.token, backlog, site)?;
        listener.inherit(&mut descriptor);
        Ok(listener)
    }

    /// Connects to the socket that listens at a path of the same node, which sees the path that this one is
    /// bound to.
    ///
    /// # Scheduling points
    /// One before connecting.
    ///
    /// # Cancel safety
    /// As for [`UnixStream::connect`].
    ///
    /// # Errors
    /// As for [`UnixStream::connect`]; when it is for datagrams.
    #[track_caller]
    pub fn connect(self, path: impl AsRef<Path>) -> impl Future<Output = io::Result<UnixStream>> {
        let site = Location::caller();
        async move {
            let (name, mut descriptor) =
                self.stream("connect cannot be called on a datagram socket")?;
            let mut stream = UnixStream::connect_from(name.addr.clone(), path, site).await?;
            stream.inherit(&mut descriptor);
            Ok(stream)
        }
    }

    /// The socket, for datagrams.
    ///
    /// # Errors
    /// When it is for connections.
    pub fn datagram(self) -> io::Result<UnixDatagram> {
        match self.kind {
            Kind::Datagram(inner) => {
                let mut socket = UnixDatagram::registered(inner);
                socket.inherit(&mut { self.descriptor });
                Ok(socket)
            }
            Kind::Stream(_) => Err(io::Error::other(
                "datagram cannot be called on a stream socket",
            )),
        }
    }

    fn stream(self, otherwise: &'static str) -> io::Result<(Name, Descriptor)> {
        match self.kind {
            Kind::Stream(name) => Ok((name.with(std::mem::take), self.descriptor)),
            Kind::Datagram(_) => Err(io::Error::other(otherwise)),
        }
    }
}

// As in tokio: a panic leaves nothing half done behind a socket.
impl std::panic::UnwindSafe for UnixSocket {}
impl std::panic::RefUnwindSafe for UnixSocket {}

impl fmt::Debug for UnixSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, addr) = match &self.kind {
            Kind::Stream(name) => ("stream", name.with(|name| name.addr.clone())),
            Kind::Datagram(inner) => ("datagram", inner.state.with(|state| state.name.clone())),
        };
        f.debug_struct("UnixSocket")
            .field("kind", &kind)
            .field("addr", &addr)
            .finish()
    }
}
