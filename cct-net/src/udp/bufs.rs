//! Receiving to the end of buffers that grow, and looking at who sends next.

use super::socket::{Site, UdpSocket, would_block};
use crate::io::Interest;
use crate::io::spare::append;
use crate::stream::waiters::{Wait, waiting};
use bytes::BufMut;
use cct_executor::shim::{Access, OpKind};
use std::io;
use std::net::SocketAddr;
use std::panic::Location;
use std::task::{Context, Poll, ready};

impl UdpSocket {
    /// As [`recv`](Self::recv), to the end of a buffer. What is longer than the buffer's present
    /// room is lost.
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
    pub fn recv_buf<B: BufMut>(&self, buf: &mut B) -> impl Future<Output = io::Result<usize>> {
        let from = self.recv_buf_from(buf);
        async move { from.await.map(|(count, _)| count) }
    }

    /// As [`recv_from`](Self::recv_from), to the end of a buffer. What is longer than the buffer's
    /// present room is lost.
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
    pub fn recv_buf_from<B: BufMut>(
        &self,
        buf: &mut B,
    ) -> impl Future<Output = io::Result<(usize, SocketAddr)>> {
        let site = Location::caller();
        async move {
            let next = waiting(|cx, wait| self.inner.poll_next(cx, false, wait, site)).await?;
            Ok((append(buf, &next.data), self.inner.shown(next.from)))
        }
    }

    /// As [`recv_buf`](Self::recv_buf), at once.
    ///
    /// # Scheduling points
    /// One before receiving, at granularity `sync`.
    ///
    /// # Errors
    /// `WouldBlock`, and as for [`recv`](Self::recv).
    #[track_caller]
    pub fn try_recv_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize> {
        Ok(self.try_recv_buf_from(buf)?.0)
    }

    /// As [`recv_buf_from`](Self::recv_buf_from), at once.
    ///
    /// # Scheduling points
    /// One before receiving, at granularity `sync`.
    ///
    /// # Errors
    /// `WouldBlock`, and as for [`recv`](Self::recv).
    #[track_caller]
    pub fn try_recv_buf_from<B: BufMut>(&self, buf: &mut B) -> io::Result<(usize, SocketAddr)> {
        let resource = &self.inner.resource;
        resource.sync_point(OpKind::Recv, Access::Write, Location::caller());
        let next = self
            .inner
            .next(false, Interest::READABLE)
            .unwrap_or_else(would_block)?;
        Ok((append(buf, &next.data), self.inner.shown(next.from)))
    }

    fn poll_sender(
        &self,
        cx: &mut Context<'_>,
        wait: Wait<'_>,
        site: Site,
    ) -> Poll<io::Result<SocketAddr>> {
        let next = ready!(self.inner.poll_next(cx, true, wait, site))?;
        Poll::Ready(Ok(self.inner.shown(next.from)))
    }

    /// Waits for a datagram and says who sent it; the datagram stays.
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
    pub fn peek_sender(&self) -> impl Future<Output = io::Result<SocketAddr>> {
        let site = Location::caller();
        waiting(move |cx, wait| self.poll_sender(cx, wait, site))
    }

    /// Runs `f`, which uses this socket, as soon as the socket is ready for some of `interest`, and again
    /// whenever it says `WouldBlock`.
    ///
    /// # Scheduling points
    /// One before looking, each time.
    ///
    /// # Cancel safety
    /// As good as `f`, which runs to its end or not at all.
    ///
    /// # Errors
    /// As for [`ready`](Self::ready); what `f` returns.
    #[track_caller]
    pub fn async_io<R>(
        &self,
        interest: Interest,
        mut f: impl FnMut() -> io::Result<R>,
    ) -> impl Future<Output = io::Result<R>> {
        let site = Location::caller();
        async move {
            loop {
                waiting(|cx, wait| self.inner.poll_ready(cx, interest, wait, site)).await?;
                match self.inner.try_io(interest, &mut f) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    done => return done,
                }
            }
        }
    }

    /// As [`peek_sender`](Self::peek_sender), for hand-written futures: of several tasks the last
    /// one that polled is woken.
    ///
    /// # Scheduling points
    /// One before looking for a datagram.
    ///
    /// # Errors
    /// As for [`peek_sender`](Self::peek_sender).
    #[track_caller]
    pub fn poll_peek_sender(&self, cx: &mut Context<'_>) -> Poll<io::Result<SocketAddr>> {
        self.poll_sender(cx, Wait::Poll, Location::caller())
    }

    /// As [`peek_sender`](Self::peek_sender), at once.
    ///
    /// # Scheduling points
    /// One before looking, at granularity `sync`.
    ///
    /// # Errors
    /// `WouldBlock`, and as for [`recv`](Self::recv).
    #[track_caller]
    pub fn try_peek_sender(&self) -> io::Result<SocketAddr> {
        Ok(self.try_peek_from(&mut [])?.1)
    }
}
