//! Sockets.

use super::inner::{Datagram, Inner};
use crate::dns::{ToSocketAddrs, each};
use crate::errno::of_socket;
use crate::host::hosts;
use crate::host::ports::Share;
use crate::io::{Interest, Ready};
use crate::stream::waiters::{Wait, waiting};
use cct_executor::node::current;
use cct_executor::shim::{Access, OpKind};
use cct_executor::task::coop;
use std::fmt;
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

pub(super) type Site = &'static Location<'static>;

/// A UDP socket.
///
/// # Differences from tokio
/// No file descriptors, no devices. `poll_*` methods take a slice and return how many bytes they
/// filled. As there, tasks need not know in the poll that has bound it that it can be written to:
/// [`try_send`](UdpSocket::try_send) may be `WouldBlock` then, and `send` waits.
pub struct UdpSocket {
    pub(super) inner: Arc<Inner>,
    /// The number of its binding.
    id: u64,
}

/// Copies what fits of a datagram.
fn fill(buf: &mut [u8], datagram: &Datagram) -> usize {
    let count = buf.len().min(datagram.data.len());
    buf[..count].copy_from_slice(&datagram.data[..count]);
    count
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
            let inner = Inner::new(addr, node, &hosts, site);
            let (port, id) = hosts.state.with(|state| {
                let host = state.host(node);
                if !addr.ip().is_multicast() {
                    host.check_bind(addr.ip())?;
                }
                host.udp.bind(addr, Share::default(), Some(inner.clone()))
            })?;
            inner.state.with(|state| state.local.set_port(port));
            Ok(UdpSocket { inner, id })
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
    /// `HostUnreachable` when no node has the address.
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
        Ok(self.inner.state.with(|state| state.local))
    }

    /// The address it is connected to.
    ///
    /// # Errors
    /// `NotConnected`.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        let peer = self.inner.state.with(|state| state.peer);
        let peer = peer.map(|peer| self.inner.shown(peer));
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

    fn poll_out(
        &self,
        cx: &mut Context<'_>,
        (buf, to): (&[u8], Option<SocketAddr>),
        wait: Wait<'_>,
        site: Site,
    ) -> Poll<io::Result<usize>> {
        let resource = &self.inner.resource;
        ready!(resource.point(OpKind::Send, Access::Write, site));
        let budget = ready!(coop::poll_proceed(cx));
        ready!(self.inner.poll_may_send(cx, wait, site))?;
        budget.made_progress();
        Poll::Ready(self.inner.send(buf, to, site))
    }

    /// Sends a datagram to the address it is connected to.
    ///
    /// # Scheduling points
    /// One before sending.
    ///
    /// # Cancel safety
    /// Safe: a future that was dropped before completion has sent nothing.
    ///
    /// # Errors
    /// `NotConnected`; `ConnectionRefused` when nobody got an earlier datagram.
    ///
    /// # Differences from tokio
    /// Linux has no kind for a socket that is not connected here (`EDESTADDRREQ`).
    #[track_caller]
    pub fn send(&self, buf: &[u8]) -> impl Future<Output = io::Result<usize>> {
        let site = Location::caller();
        waiting(move |cx, wait| self.poll_out(cx, (buf, None), wait, site))
    }

    /// As [`send`](Self::send), for hand-written futures.
    ///
    /// # Scheduling points
    /// One before sending.
    ///
    /// # Errors
    /// As for [`send`](Self::send).
    #[track_caller]
    pub fn poll_send(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_out(cx, (buf, None), Wait::Poll, Location::caller())
    }

    /// As [`send`](Self::send), at once.
    ///
    /// # Scheduling points
    /// One before sending, at granularity `sync`.
    ///
    /// # Errors
    /// `WouldBlock` in the poll that has bound it; as for [`send`](Self::send).
    #[track_caller]
    pub fn try_send(&self, buf: &[u8]) -> io::Result<usize> {
        self.try_out(buf, None, Location::caller())
    }

    fn try_out(&self, buf: &[u8], to: Option<SocketAddr>, site: Site) -> io::Result<usize> {
        let resource = &self.inner.resource;
        resource.sync_point(OpKind::Send, Access::Write, site);
        match self.inner.may_send() {
            true => self.inner.send(buf, to, site),
            false => would_block(),
        }
    }

    /// Sends a datagram to the first of the addresses.
    ///
    /// # Scheduling points
    /// One before sending, and one when a name is looked up.
    ///
    /// # Cancel safety
    /// Safe: a future that was dropped before completion has sent nothing.
    ///
    /// # Errors
    /// `HostUnreachable` when no node has the address, `PermissionDenied` for a broadcast that was
    /// not allowed.
    #[track_caller]
    pub fn send_to<A: ToSocketAddrs>(
        &self,
        buf: &[u8],
        addr: A,
    ) -> impl Future<Output = io::Result<usize>> {
        let site = Location::caller();
        let query = addr.query();
        async move {
            each(query, site, |addr| {
                waiting(move |cx, wait| self.poll_out(cx, (buf, Some(addr)), wait, site))
            })
            .await
        }
    }

    /// As [`send_to`](Self::send_to), for hand-written futures.
    ///
    /// # Scheduling points
    /// One before sending.
    ///
    /// # Errors
    /// As for [`send_to`](Self::send_to).
    #[track_caller]
    pub fn poll_send_to(
        &self,
        cx: &mut Context<'_>,
        buf: &[u8],
        target: SocketAddr,
    ) -> Poll<io::Result<usize>> {
        self.poll_out(cx, (buf, Some(target)), Wait::Poll, Location::caller())
    }

    /// As [`send_to`](Self::send_to), at once.
    ///
    /// # Scheduling points
    /// One before sending, at granularity `sync`.
    ///
    /// # Errors
    /// `WouldBlock` in the poll that has bound it; as for [`send_to`](Self::send_to).
    #[track_caller]
    pub fn try_send_to(&self, buf: &[u8], target: SocketAddr) -> io::Result<usize> {
        self.try_out(buf, Some(target), Location::caller())
    }

    fn poll_in(
        &self,
        cx: &mut Context<'_>,
        (buf, keep): (&mut [u8], bool),
        wait: Wait<'_>,
        site: Site,
    ) -> Poll<io::Result<(usize, SocketAddr)>> {
        let datagram = ready!(self.inner.poll_next(cx, keep, wait, site))?;
        let from = self.inner.shown(datagram.from);
        Poll::Ready(Ok((fill(buf, &datagram), from)))
    }

    fn try_in(&self, buf: &mut [u8], keep: bool, site: Site) -> io::Result<(usize, SocketAddr)> {
        let resource = &self.inner.resource;
        resource.sync_point(OpKind::Recv, Access::Write, site);
        let datagram = self
            .inner
            .next(keep, Interest::READABLE)
            .unwrap_or_else(would_block)?;
        Ok((fill(buf, &datagram), self.inner.shown(datagram.from)))
    }

    /// Receives a datagram. What does not fit in the buffer is lost.
    ///
    /// # Scheduling points
    /// One before looking for one.
    ///
    /// # Cancel safety
    /// Safe: no datagram is lost.
    ///
    /// # Errors
    /// `ConnectionRefused` when nobody got what was sent to the address it is connected to.
    #[track_caller]
    pub fn recv(&self, buf: &mut [u8]) -> impl Future<Output = io::Result<usize>> {
        let from = self.recv_from(buf);
        async move { from.await.map(|(count, _)| count) }
    }

    /// As [`recv`](Self::recv), for hand-written futures: of several tasks the last one that
    /// polled is woken.
    ///
    /// # Scheduling points
    /// One before looking for a datagram.
    ///
    /// # Errors
    /// As for [`recv`](Self::recv).
    #[track_caller]
    pub fn poll_recv(&self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        self.poll_recv_from(cx, buf).map_ok(|(count, _)| count)
    }

    /// As [`recv`](Self::recv), at once.
    ///
    /// # Scheduling points
    /// One before receiving, at granularity `sync`.
    ///
    /// # Errors
    /// `WouldBlock`, and as for [`recv`](Self::recv).
    #[track_caller]
    pub fn try_recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        Ok(self.try_in(buf, false, Location::caller())?.0)
    }

    /// As [`recv`](Self::recv), and says who sent it.
    ///
    /// # Scheduling points
    /// One before looking for a datagram.
    ///
    /// # Cancel safety
    /// Safe: no datagram is lost.
    ///
    /// # Errors
    /// As for [`recv`](Self::recv).
    #[track_caller]
    pub fn recv_from(
        &self,
        buf: &mut [u8],
    ) -> impl Future<Output = io::Result<(usize, SocketAddr)>> {
        let site = Location::caller();
        waiting(move |cx, wait| self.poll_in(cx, (buf, false), wait, site))
    }

    /// As [`recv_from`](Self::recv_from), for hand-written futures: of several tasks the last one
    /// that polled is woken.
    ///
    /// # Scheduling points
    /// One before looking for a datagram.
    ///
    /// # Errors
    /// As for [`recv_from`](Self::recv_from).
    #[track_caller]
    pub fn poll_recv_from(
        &self,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<(usize, SocketAddr)>> {
        self.poll_in(cx, (buf, false), Wait::Poll, Location::caller())
    }

    /// As [`recv_from`](Self::recv_from), at once.
    ///
    /// # Scheduling points
    /// One before receiving, at granularity `sync`.
    ///
    /// # Errors
    /// `WouldBlock`, and as for [`recv`](Self::recv).
    #[track_caller]
    pub fn try_recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.try_in(buf, false, Location::caller())
    }

    /// As [`recv_from`](Self::recv_from), but the datagram stays.
    ///
    /// # Scheduling points
    /// One before looking for a datagram.
    ///
    /// # Cancel safety
    /// Safe: nothing is lost.
    ///
    /// # Errors
    /// As for [`recv`](Self::recv).
    #[track_caller]
    pub fn peek_from(
        &self,
        buf: &mut [u8],
    ) -> impl Future<Output = io::Result<(usize, SocketAddr)>> {
        let site = Location::caller();
        waiting(move |cx, wait| self.poll_in(cx, (buf, true), wait, site))
    }

    /// As [`recv`](Self::recv), but the datagram stays.
    ///
    /// # Scheduling points
    /// One before looking for a datagram.
    ///
    /// # Cancel safety
    /// Safe: nothing is lost.
    ///
    /// # Errors
    /// As for [`recv`](Self::recv).
    #[track_caller]
    pub fn peek(&self, buf: &mut [u8]) -> impl Future<Output = io::Result<usize>> {
        let from = self.peek_from(buf);
        async move { from.await.map(|(count, _)| count) }
    }

    /// As [`peek`](Self::peek), for hand-written futures: of several tasks the last one that polled is
    /// woken.
    ///
    /// # Scheduling points
    /// One before looking for a datagram.
    ///
    /// # Errors
    /// As for [`peek`](Self::peek).
    #[track_caller]
    pub fn poll_peek(&self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        self.poll_peek_from(cx, buf).map_ok(|(count, _)| count)
    }

    /// As [`peek_from`](Self::peek_from), for hand-written futures: of several tasks the last one
    /// that polled is woken.
    ///
    /// # Scheduling points
    /// One before looking for a datagram.
    ///
    /// # Errors
    /// As for [`peek_from`](Self::peek_from).
    #[track_caller]
    pub fn poll_peek_from(
        &self,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<(usize, SocketAddr)>> {
        self.poll_in(cx, (buf, true), Wait::Poll, Location::caller())
    }

    /// As [`peek_from`](Self::peek_from), at once.
    ///
    /// # Scheduling points
    /// One before receiving, at granularity `sync`.
    ///
    /// # Errors
    /// `WouldBlock`, and as for [`recv`](Self::recv).
    #[track_caller]
    pub fn try_peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.try_in(buf, true, Location::caller())
    }

    /// As [`peek`](Self::peek), at once.
    ///
    /// # Scheduling points
    /// One before receiving, at granularity `sync`.
    ///
    /// # Errors
    /// `WouldBlock`, and as for [`recv`](Self::recv).
    #[track_caller]
    pub fn try_peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        Ok(self.try_in(buf, true, Location::caller())?.0)
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
