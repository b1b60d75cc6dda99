//! Datagrams to the end of buffers that grow, and what hand-written futures need besides.

use super::SocketAddr;
use super::datagram::{UnixDatagram, would_block};
use crate::io::Interest;
use crate::io::spare::append;
use crate::stream::waiters::{Wait, waiting};
use bytes::BufMut;
use std::io::{self, ErrorKind};
use std::panic::Location;
use std::path::Path;
use std::task::{Context, Poll};

impl UnixDatagram {
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
    /// None.
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
    /// None.
    #[track_caller]
    pub fn recv_buf_from<B: BufMut>(
        &self,
        buf: &mut B,
    ) -> impl Future<Output = io::Result<(usize, SocketAddr)>> {
        let site = Location::caller();
        async move {
            let next = waiting(|cx, wait| self.poll_next(cx, wait, site));
            let (from, data) = next.await?;
            Ok((append(buf, &data), from))
        }
    }

    /// As [`recv_buf`](Self::recv_buf), at once.
    ///
    /// # Scheduling points
    /// One before receiving, at granularity `sync`.
    ///
    /// # Errors
    /// `WouldBlock` when there is none.
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
    /// `WouldBlock` when there is none.
    #[track_caller]
    pub fn try_recv_buf_from<B: BufMut>(&self, buf: &mut B) -> io::Result<(usize, SocketAddr)> {
        let (from, data) = self.try_next(Location::caller())?;
        Ok((append(buf, &data), from))
    }

    /// As [`send_to`](Self::send_to), for hand-written futures: of several tasks the last one that
    /// polled is woken.
    ///
    /// # Scheduling points
    /// One before sending.
    ///
    /// # Errors
    /// As for [`send_to`](Self::send_to).
    #[track_caller]
    pub fn poll_send_to<P: AsRef<Path>>(
        &self,
        cx: &mut Context<'_>,
        buf: &[u8],
        target: P,
    ) -> Poll<io::Result<usize>> {
        match self.find(target.as_ref()) {
            Ok(to) => self.poll_push(cx, &to, buf, (Wait::Poll, Location::caller())),
            Err(error) => Poll::Ready(Err(error)),
        }
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
                waiting(|cx, wait| self.poll_ready(cx, interest, wait, site)).await?;
                match self.attempt(interest, &mut f) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    done => return done,
                }
            }
        }
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
        if interest.is_writable() {
            self.inner.perhaps_first_look();
        }
        self.attempt(interest, f)
    }

    fn attempt<R>(&self, interest: Interest, f: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        let told = self.inner.told(interest);
        if told.ready.is_empty() {
            return would_block();
        }
        let done = f();
        if matches!(&done, Err(error) if error.kind() == ErrorKind::WouldBlock) {
            self.inner.disprove(told);
            return Err(ErrorKind::WouldBlock.into()); // as tokio's has no number
        }
        done
    }
}
