//! Receiving and peeking.

use super::{Site, UdpSocket, would_block};
use crate::io::Interest;
use crate::stream::waiters::{Wait, waiting};
use crate::udp::inner::Datagram;
use cct_executor::shim::{Access, OpKind};
use std::io;
use std::net::SocketAddr;
use std::panic::Location;
use std::task::{Context, Poll, ready};

/// Copies what fits of a datagram.
fn fill(buf: &mut [u8], datagram: &Datagram) -> usize {
    let count = buf.len().min(datagram.data.len());
    buf[..count].copy_from_slice(&datagram.data[..count]);
    count
}

impl UdpSocket {
    fn poll_in(
        &self,
        cx: &mut Context<'_>,
        (buf, keep): (&mut [u8], bool),
        wait: Wait<'_>,
        site: Site,
    ) -> Poll<io::Result<(usize, SocketAddr)>> {
        let datagram = ready!(self.inner.poll_next(cx, keep, wait, site))?;
        let from = self.inner.told(datagram.from);
        Poll::Ready(Ok((fill(buf, &datagram), from)))
    }

    fn try_in(&self, buf: &mut [u8], keep: bool, site: Site) -> io::Result<(usize, SocketAddr)> {
        let resource = &self.inner.resource;
        resource.sync_point(OpKind::Recv, Access::Write, site);
        let datagram = self
            .inner
            .next(keep, Interest::READABLE)
            .unwrap_or_else(would_block)?;
        Ok((fill(buf, &datagram), self.inner.told(datagram.from)))
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
}
