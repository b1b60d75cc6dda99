//! Receiving.

use super::{Site, UnixDatagram, would_block};
use crate::io::Interest;
use crate::stream::waiters::{Wait, waiting};
use crate::unix::SocketAddr;
use bytes::Bytes;
use cct_executor::shim::{Access, OpKind};
use cct_executor::task::coop;
use std::io;
use std::panic::Location;
use std::task::{Context, Poll, ready};

fn fill(buf: &mut [u8], data: &[u8]) -> usize {
    let count = buf.len().min(data.len());
    buf[..count].copy_from_slice(&data[..count]);
    count
}

impl UnixDatagram {
    fn poll_in(
        &self,
        cx: &mut Context<'_>,
        buf: &mut [u8],
        (wait, site): (Wait<'_>, Site),
    ) -> Poll<io::Result<(usize, SocketAddr)>> {
        let (from, data) = ready!(self.poll_next(cx, wait, site))?;
        Poll::Ready(Ok((fill(buf, &data), from)))
    }

    /// The next datagram.
    pub(in crate::unix) fn poll_next(
        &self,
        cx: &mut Context<'_>,
        wait: Wait<'_>,
        site: Site,
    ) -> Poll<io::Result<(SocketAddr, Bytes)>> {
        let inner = &self.inner;
        ready!(inner.resource.point(OpKind::Recv, Access::Write, site));
        let budget = ready!(coop::poll_proceed(cx));
        if let Some(datagram) = inner.receive() {
            budget.made_progress();
            return Poll::Ready(datagram);
        }
        inner.wait(cx, Interest::READABLE, wait);
        wait.blocked(&inner.resource, OpKind::Recv, site);
        Poll::Pending
    }

    pub(in crate::unix) fn try_next(&self, site: Site) -> io::Result<(SocketAddr, Bytes)> {
        let inner = &self.inner;
        inner.resource.sync_point(OpKind::Recv, Access::Write, site);
        inner.receive().unwrap_or_else(would_block)
    }

    fn try_in(&self, buf: &mut [u8], site: Site) -> io::Result<(usize, SocketAddr)> {
        let (from, data) = self.try_next(site)?;
        Ok((fill(buf, &data), from))
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
    /// None.
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
    /// `WouldBlock` when there is none.
    #[track_caller]
    pub fn try_recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        Ok(self.try_in(buf, Location::caller())?.0)
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
    /// None.
    #[track_caller]
    pub fn recv_from(
        &self,
        buf: &mut [u8],
    ) -> impl Future<Output = io::Result<(usize, SocketAddr)>> {
        let site = Location::caller();
        waiting(move |cx, wait| self.poll_in(cx, buf, (wait, site)))
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
        self.poll_in(cx, buf, (Wait::Poll, Location::caller()))
    }

    /// As [`recv_from`](Self::recv_from), at once.
    ///
    /// # Scheduling points
    /// One before receiving, at granularity `sync`.
    ///
    /// # Errors
    /// `WouldBlock` when there is none.
    #[track_caller]
    pub fn try_recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.try_in(buf, Location::caller())
    }
}
