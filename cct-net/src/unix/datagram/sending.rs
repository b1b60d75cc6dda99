//! Sending.

use super::{Site, UnixDatagram, would_block};
use crate::io::Interest;
use crate::stream::waiters::{Wait, waiting};
use crate::unix::inner::Inner;
use cct_executor::shim::{Access, OpKind};
use cct_executor::task::coop;
use std::io;
use std::panic::Location;
use std::path::Path;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

impl UnixDatagram {
    pub(in crate::unix) fn poll_push(
        &self,
        cx: &mut Context<'_>,
        to: &Arc<Inner>,
        data: &[u8],
        (wait, site): (Wait<'_>, Site),
    ) -> Poll<io::Result<usize>> {
        ready!(to.resource.point(OpKind::Send, Access::Write, site));
        let budget = ready!(coop::poll_proceed(cx));
        match self.inner.send(to, data) {
            Some(sent) => {
                budget.made_progress();
                Poll::Ready(sent)
            }
            None => {
                self.inner.wait(cx, Interest::WRITABLE, wait);
                wait.blocked(&to.resource, OpKind::Send, site);
                Poll::Pending
            }
        }
    }

    /// Sends a datagram to the socket it is connected to, waiting for room there.
    ///
    /// # Scheduling points
    /// One before sending.
    ///
    /// # Cancel safety
    /// Safe: a future that was dropped before completion has sent nothing.
    ///
    /// # Errors
    /// `NotConnected`, `ConnectionRefused` when the other socket was closed, `BrokenPipe` after
    /// [`shutdown`](Self::shutdown).
    #[track_caller]
    pub fn send(&self, buf: &[u8]) -> impl Future<Output = io::Result<usize>> {
        let site = Location::caller();
        waiting(move |cx, wait| self.poll_out(cx, buf, wait, site))
    }

    fn poll_out(
        &self,
        cx: &mut Context<'_>,
        buf: &[u8],
        wait: Wait<'_>,
        site: Site,
    ) -> Poll<io::Result<usize>> {
        match self.inner.peer() {
            Ok(peer) => self.poll_push(cx, &peer, buf, (wait, site)),
            Err(error) => Poll::Ready(Err(error)),
        }
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
        self.poll_out(cx, buf, Wait::Poll, Location::caller())
    }

    /// As [`send`](Self::send), at once.
    ///
    /// # Scheduling points
    /// One before sending, at granularity `sync`.
    ///
    /// # Errors
    /// `WouldBlock` when there is no room, and as for [`send`](Self::send).
    #[track_caller]
    pub fn try_send(&self, buf: &[u8]) -> io::Result<usize> {
        self.inner.check_room()?;
        self.try_push(&self.inner.peer()?, buf, Location::caller())
    }

    fn try_push(&self, to: &Arc<Inner>, buf: &[u8], site: Site) -> io::Result<usize> {
        to.resource.sync_point(OpKind::Send, Access::Write, site);
        self.inner.send(to, buf).unwrap_or_else(would_block)
    }

    /// Sends a datagram to the socket at a path, waiting for room there.
    ///
    /// # Scheduling points
    /// One before sending.
    ///
    /// # Cancel safety
    /// Safe: a future that was dropped before completion has sent nothing.
    ///
    /// # Errors
    /// `NotFound`, and as for [`send`](Self::send).
    #[track_caller]
    pub fn send_to<P: AsRef<Path>>(
        &self,
        buf: &[u8],
        target: P,
    ) -> impl Future<Output = io::Result<usize>> {
        let site = Location::caller();
        async move {
            self.inner.check_open()?;
            let to = self.find(target.as_ref())?;
            waiting(|cx, wait| self.poll_push(cx, &to, buf, (wait, site))).await
        }
    }

    /// As [`send_to`](Self::send_to), at once.
    ///
    /// # Scheduling points
    /// One before sending, at granularity `sync`.
    ///
    /// # Errors
    /// `WouldBlock` when there is no room, and as for [`send_to`](Self::send_to).
    #[track_caller]
    pub fn try_send_to<P: AsRef<Path>>(&self, buf: &[u8], target: P) -> io::Result<usize> {
        self.inner.check_room()?;
        self.inner.check_open()?;
        self.try_push(&self.find(target.as_ref())?, buf, Location::caller())
    }
}
