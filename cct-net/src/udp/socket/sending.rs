//! Sending.

use super::{Site, UdpSocket, would_block};
use crate::dns::{ToSocketAddrs, each};
use crate::stream::waiters::{Wait, waiting};
use cct_executor::shim::{Access, OpKind};
use cct_executor::task::coop;
use std::io;
use std::net::SocketAddr;
use std::panic::Location;
use std::task::{Context, Poll, ready};

impl UdpSocket {
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
}
