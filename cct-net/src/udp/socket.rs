//! Sockets.

mod receiving;
mod sending;

use super::inner::Inner;
use crate::descriptor::{Descriptor, Kind};
use crate::dns::{ToSocketAddrs, each};
use crate::errno::of_socket;
use crate::host::ports::Share;
use crate::host::{Hosts, hosts};
use crate::io::{Interest, Ready};
use crate::stream::waiters::{Wait, waiting};
use cct_executor::node::current;
use cct_executor::shim::{Access, OpKind};
use std::fmt;
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll};

pub(super) type Site = &'static Location<'static>;

/// A UDP socket.
///
/// # Differences from tokio
/// No devices to bind to. Options that are set by its file descriptor have no effect; what is sent and received by it
/// goes through the world on Linux with the GNU C library, without times to live and services. `poll_*` methods take a
/// slice and return how many bytes they filled. As there, tasks need not know in the poll that has bound it
/// that it can be written to: [`try_send`](UdpSocket::try_send) may be `WouldBlock` then, and `send` waits.
pub struct UdpSocket {
    pub(super) inner: Arc<Inner>,
    /// The number of its binding.
    pub(super) id: u64,
    #[cfg_attr(not(unix), expect(dead_code, reason = "there are none"))]
    pub(super) descriptor: Descriptor,
}

pub(super) fn would_block<T>() -> io::Result<T> {
    Err(ErrorKind::WouldBlock.into())
}

impl UdpSocket {
    /// Binds the first of the addresses that can be bound. Port 0 asks for a free one.
    ///
    /// # Scheduling points
    /// One before each attempt, and one when a name is looked up.
    ///
    /// # Cancel safety
    /// Safe: dropping the future binds nothing.
    ///
    /// # Errors
    /// `AddrInUse`, and `AddrNotAvailable` when the address is not one of the node's.
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(addr: A) -> impl Future<Output = io::Result<UdpSocket>> {
        let site = Location::caller();
        each(addr.query(), site, move |addr| async move {
            let hosts = hosts()?;
            poll_fn(|_| hosts.point(OpKind::Init, Access::Write, site)).await;
            let node = current();
            hosts
                .state
                .with(|state| state.nobody_receives_as(node, addr))?;
            UdpSocket::at(addr, Share::default(), &hosts, site)
        })
    }

    pub(super) fn at(
        addr: SocketAddr,
        share: Share,
        hosts: &Arc<Hosts>,
        site: Site,
    ) -> io::Result<UdpSocket> {
        let node = current();
        let inner = Inner::new(addr, node, hosts, site);
        let (port, id) = hosts.state.with(|state| {
            let host = match addr.ip().is_multicast() {
                true => state.host(node),
                false => state.host_at(node, addr.ip())?,
            };
            host.udp.bind(addr, share, Some(inner.clone()))
        })?;
        inner.state.with(|state| state.local.set_port(port));
        Ok(UdpSocket {
            descriptor: Descriptor::new(Kind::Udp { v6: inner.v6 }),
            inner,
            id,
        })
    }

    /// Makes an address the one that [`send`](Self::send) sends to and that alone is received from.
    ///
    /// # Scheduling points
    /// One when a name is looked up.
    ///
    /// # Cancel safety
    /// It has the address, or is as before.
    ///
    /// # Errors
    /// `HostUnreachable` when no node has the address; where [the machine](crate::machine::presume) is asked, what it says of
    /// the address: most often it has a way there.
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(&self, addr: A) -> impl Future<Output = io::Result<()>> {
        let site = Location::caller();
        let query = addr.query();
        async move {
            each(query, site, |addr| {
                std::future::ready(self.inner.set_peer(addr, self.id))
            })
            .await
        }
    }

    /// The address it is bound to.
    ///
    /// # Errors
    /// None.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.inner.outside(self.inner.local()))
    }

    /// The address it is connected to.
    ///
    /// # Errors
    /// `NotConnected`.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        let peer = self.inner.peer().map(|peer| self.inner.told(peer));
        peer.ok_or_else(|| of_socket(ErrorKind::NotConnected))
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
    /// When the scenario that the socket belongs to is over.
    #[track_caller]
    pub fn ready(&self, interest: Interest) -> impl Future<Output = io::Result<Ready>> {
        let site = Location::caller();
        waiting(move |cx, wait| self.inner.poll_ready(cx, interest, wait, site))
    }

    /// Waits until there is a datagram. As in tokio it is at once so again until an operation has
    /// found none, and errors are another matter: [`ready`](Self::ready) waits for them, and the
    /// futures that receive.
    ///
    /// # Scheduling points
    /// One before looking.
    ///
    /// # Cancel safety
    /// Safe: nothing is lost.
    ///
    /// # Errors
    /// As for [`ready`](Self::ready).
    #[track_caller]
    pub fn readable(&self) -> impl Future<Output = io::Result<()>> {
        let ready = self.ready(Interest::READABLE);
        async move { ready.await.map(drop) }
    }

    /// Waits until something can be sent, which is so once the poll that has bound it is over.
    ///
    /// # Scheduling points
    /// One.
    ///
    /// # Cancel safety
    /// Safe: nothing is lost.
    ///
    /// # Errors
    /// As for [`ready`](Self::ready).
    #[track_caller]
    pub fn writable(&self) -> impl Future<Output = io::Result<()>> {
        let ready = self.ready(Interest::WRITABLE);
        async move { ready.await.map(drop) }
    }

    /// As [`readable`](Self::readable), for hand-written futures: of several tasks the last one
    /// that polled is woken.
    ///
    /// # Scheduling points
    /// One before looking.
    ///
    /// # Errors
    /// As for [`readable`](Self::readable).
    #[track_caller]
    pub fn poll_recv_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let site = Location::caller();
        let ready = self
            .inner
            .poll_ready(cx, Interest::READABLE, Wait::Poll, site);
        ready.map_ok(drop)
    }

    /// As [`writable`](Self::writable), for hand-written futures.
    ///
    /// # Scheduling points
    /// One.
    ///
    /// # Errors
    /// As for [`writable`](Self::writable).
    #[track_caller]
    pub fn poll_send_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let site = Location::caller();
        let ready = self
            .inner
            .poll_ready(cx, Interest::WRITABLE, Wait::Poll, site);
        ready.map_ok(drop)
    }

    /// Runs `f`, which uses this socket, if the socket is ready for some of `interest`.
    ///
    /// # Errors
    /// `WouldBlock` when it is not ready, or asked for several at once, as in tokio; what `f` returns.
    pub fn try_io<R>(
        &self,
        interest: Interest,
        f: impl FnOnce() -> io::Result<R>,
    ) -> io::Result<R> {
        interest.check_single()?;
        self.inner.try_io(interest, f)
    }

    /// Takes the error of an earlier datagram, if nobody was told yet.
    ///
    /// # Errors
    /// None.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        Ok(self.inner.take_error())
    }
}

impl Drop for UdpSocket {
    fn drop(&mut self) {
        let Some(hosts) = self.inner.hosts.upgrade() else {
            return;
        };
        let port = self.inner.state.with(|state| state.local.port());
        let node = self.inner.node;
        let freed = hosts
            .state
            .with(|state| state.host(node).udp.release(port, self.id));
        drop(freed);
    }
}

// As in tokio: a panic leaves nothing half done behind a socket.
impl std::panic::UnwindSafe for UdpSocket {}
impl std::panic::RefUnwindSafe for UdpSocket {}

impl fmt::Debug for UdpSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UdpSocket")
            .field("addr", &self.inner.state.with(|state| state.local))
            .finish()
    }
}
