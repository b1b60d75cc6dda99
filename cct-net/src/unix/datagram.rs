//! Datagram sockets.

mod receiving;
mod sending;

use super::SocketAddr;
use super::inner::Inner;
use super::registry::{Bound, check_path};
use crate::descriptor::{Descriptor, Kind};
use crate::errno::of_socket;
use crate::host::hosts;
use crate::io::{Interest, Ready};
use crate::stream::waiters::{Wait, waiting};
use cct_executor::node::current;
use cct_executor::shim::{Access, OpKind};
use std::fmt;
use std::io::{self, ErrorKind};
use std::net::Shutdown;
use std::panic::Location;
use std::path::Path;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

pub(super) type Site = &'static Location<'static>;

/// A Unix datagram socket. Nothing is lost or overtaken: with 11 datagrams waiting at the receiver,
/// senders wait.
///
/// # Differences from tokio
/// No abstract names. Its file descriptor is good for setting options that have no effect. `poll_*` methods take a slice and return
/// how many bytes they filled. A future of `send_to` waits for the socket that the path leads to
/// when it is first polled.
pub struct UnixDatagram {
    pub(super) inner: Arc<Inner>,
    #[cfg_attr(not(unix), expect(dead_code, reason = "there are none"))]
    pub(super) descriptor: Descriptor,
}

pub(super) fn would_block<T>() -> io::Result<T> {
    Err(ErrorKind::WouldBlock.into())
}

impl UnixDatagram {
    /// A socket bound to a path.
    ///
    /// # Scheduling points
    /// One before binding, at granularity `sync`.
    ///
    /// # Errors
    /// `AddrInUse` when the path is taken, `InvalidInput` when it is too long for an address.
    #[track_caller]
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<UnixDatagram> {
        let (path, site) = (path.as_ref(), Location::caller());
        check_path(path)?;
        let hosts = hosts()?;
        hosts.sync_point(OpKind::Init, site);
        let inner = Inner::new(SocketAddr::of(path), Arc::downgrade(&hosts), site);
        let bound = Bound::Datagram(Arc::downgrade(&inner));
        hosts
            .state
            .with(|state| state.host(current()).unix.bind(path, bound))?;
        Ok(UnixDatagram::of(inner))
    }

    /// The runtime learns of the socket now.
    fn of(inner: Arc<Inner>) -> UnixDatagram {
        UnixDatagram {
            inner,
            descriptor: Descriptor::new(Kind::UnixDatagram),
        }
    }

    pub(super) fn registered(inner: Arc<Inner>) -> UnixDatagram {
        inner.look_anew();
        UnixDatagram::of(inner)
    }

    /// A socket without a name.
    ///
    /// # Errors
    /// Outside a world.
    #[track_caller]
    pub fn unbound() -> io::Result<UnixDatagram> {
        let hosts = Arc::downgrade(&hosts()?);
        let inner = Inner::new(SocketAddr::default(), hosts, Location::caller());
        Ok(UnixDatagram::of(inner))
    }

    /// Two sockets without names, connected to each other.
    ///
    /// # Errors
    /// Outside a world.
    #[track_caller]
    pub fn pair() -> io::Result<(UnixDatagram, UnixDatagram)> {
        let (one, two) = (UnixDatagram::unbound()?, UnixDatagram::unbound()?);
        for (end, other) in [(&one, &two), (&two, &one)] {
            end.inner.suppose_room();
            end.inner.connect(&other.inner);
        }
        Ok((one, two))
    }

    /// Makes the socket at a path the one that [`send`](Self::send) sends to, and that alone may send to
    /// this one. As on Linux, what it has not received is lost if it was connected to another before.
    ///
    /// # Errors
    /// `NotFound`, and `ConnectionRefused` when the socket there was closed.
    pub fn connect<P: AsRef<Path>>(&self, path: P) -> io::Result<()> {
        let peer = self.find(path.as_ref())?;
        self.inner.may_send_to(&peer)?;
        self.inner.connect(&peer);
        Ok(())
    }

    pub(super) fn find(&self, path: &Path) -> io::Result<Arc<Inner>> {
        check_path(path)?;
        let over = || io::Error::other("the scenario that this socket belongs to is over");
        let hosts = self.inner.hosts.upgrade().ok_or_else(over)?;
        hosts
            .state
            .with(|state| state.host(current()).unix.datagram(path))
    }

    /// Waits until the socket is ready for some of `interest`, and says for what.
    ///
    /// # Scheduling points
    /// One before looking.
    ///
    /// # Cancel safety
    /// Safe: nothing is lost.
    ///
    /// # Errors
    /// None.
    #[track_caller]
    pub fn ready(&self, interest: Interest) -> impl Future<Output = io::Result<Ready>> {
        let site = Location::caller();
        waiting(move |cx, wait| self.poll_ready(cx, interest, wait, site))
    }

    pub(super) fn poll_ready(
        &self,
        cx: &mut Context<'_>,
        interest: Interest,
        wait: Wait<'_>,
        site: Site,
    ) -> Poll<io::Result<Ready>> {
        let inner = &self.inner;
        ready!(inner.resource.point(OpKind::Recv, Access::Read, site));
        let budget = ready!(wait.spend(cx));
        let ready = inner.told(interest).ready;
        if wait.was_woken() || !ready.is_empty() {
            if let Some(budget) = budget {
                budget.made_progress();
            }
            return Poll::Ready(Ok(ready));
        }
        inner.wait(cx, interest, wait);
        wait.blocked(&inner.resource, OpKind::Recv, site);
        Poll::Pending
    }

    /// Waits until there is a datagram. As in tokio it is at once so again until an operation has
    /// found none.
    ///
    /// # Scheduling points
    /// One before looking.
    ///
    /// # Cancel safety
    /// Safe: nothing is lost.
    ///
    /// # Errors
    /// None.
    #[track_caller]
    pub fn readable(&self) -> impl Future<Output = io::Result<()>> {
        let ready = self.ready(Interest::READABLE);
        async move { ready.await.map(drop) }
    }

    /// Waits until there is room for a datagram at the socket it is connected to. As in tokio it is
    /// at once so again until an operation has found none.
    ///
    /// # Scheduling points
    /// One before looking.
    ///
    /// # Cancel safety
    /// Safe: nothing is lost.
    ///
    /// # Errors
    /// None.
    #[track_caller]
    pub fn writable(&self) -> impl Future<Output = io::Result<()>> {
        let ready = self.ready(Interest::WRITABLE);
        async move { ready.await.map(drop) }
    }

    /// As [`readable`](Self::readable), for hand-written futures.
    ///
    /// # Scheduling points
    /// One before looking.
    ///
    /// # Errors
    /// As for [`readable`](Self::readable).
    #[track_caller]
    pub fn poll_recv_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_ready(cx, Interest::READABLE, Wait::Poll, Location::caller())
            .map_ok(drop)
    }

    /// As [`writable`](Self::writable), for hand-written futures.
    ///
    /// # Scheduling points
    /// One before looking.
    ///
    /// # Errors
    /// As for [`writable`](Self::writable).
    #[track_caller]
    pub fn poll_send_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_ready(cx, Interest::WRITABLE, Wait::Poll, Location::caller())
            .map_ok(drop)
    }

    /// The address it is bound to.
    ///
    /// # Errors
    /// None.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.inner.state.with(|state| state.name.clone()))
    }

    /// The address of the socket it is connected to.
    ///
    /// # Errors
    /// `NotConnected`.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        let peer = self.inner.state.with(|state| {
            let (_, name) = state.peer.as_ref()?;
            Some(name.clone())
        });
        peer.ok_or_else(|| of_socket(ErrorKind::NotConnected))
    }

    /// Takes the error of the socket, if nobody was told yet: `ConnectionReset` when its peer has found
    /// itself another, and had not received everything.
    ///
    /// # Errors
    /// None.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        Ok(self.inner.take_error())
    }

    /// Ends receiving, sending or both.
    ///
    /// # Differences from tokio
    /// Who receives after the end of receiving waits for ever. There it keeps its thread busy: Linux says
    /// that nothing is there yet, and the runtime that it is worth a try.
    ///
    /// # Errors
    /// None.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.inner.state.with(|state| {
            state.shut_read |= how != Shutdown::Write;
            state.shut_write |= how != Shutdown::Read;
        });
        self.inner.ends();
        Ok(())
    }
}

impl Inner {
    fn connect(self: &Arc<Self>, peer: &Arc<Inner>) {
        let name = peer.state.with(|state| state.name.clone());
        self.set_peer(Some((Arc::downgrade(peer), name)));
    }
}

impl Drop for UnixDatagram {
    fn drop(&mut self) {
        // Tasks that polled it once are not told of what becomes of it.
        let waiters = self.inner.state.with(|state| {
            state.closed = true;
            std::mem::take(&mut state.waiters)
        });
        drop(waiters);
        self.inner.ends();
    }
}

// As in tokio: a panic leaves nothing half done behind a socket.
impl std::panic::UnwindSafe for UnixDatagram {}
impl std::panic::RefUnwindSafe for UnixDatagram {}

impl fmt::Debug for UnixDatagram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.inner.state.with(|state| state.name.clone());
        f.debug_struct("UnixDatagram").field("addr", &name).finish()
    }
}
