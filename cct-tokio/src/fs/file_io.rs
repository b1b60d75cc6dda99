//! Reading, writing and seeking in a `File`.
//!
//! 1. One operation is under way at a time; it happens whoever waits for it, or nobody.
//! 2. What was read and not taken is given back before the position matters.
//! 3. The error of a write is kept for the next write or flush.

use super::buffer::Buffer;
use super::file::{File, go_back};
use crate::io::{AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};
use crate::pool;
use crate::task::JoinHandle;
use std::future::poll_fn;
use std::io::{self, ErrorKind, IoSlice, Seek, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// What goes on with a file.
#[derive(Default)]
pub(super) struct Inner {
    pub(super) state: State,
    /// The error of a write that nobody was told of.
    failed: Option<ErrorKind>,
    /// Where the last seek led to.
    pub(super) position: u64,
}

pub(super) enum State {
    Idle(Buffer),
    Busy(JoinHandle<(Done, Buffer)>),
}

impl Default for State {
    fn default() -> State {
        State::Idle(Buffer::default())
    }
}

/// What was done.
pub(super) enum Done {
    Read(io::Result<usize>),
    Wrote(io::Result<()>),
    Sought(io::Result<u64>),
}

impl Inner {
    /// Waits for what is under way; `None` if nothing is.
    fn poll_done(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<Done>>> {
        let State::Busy(handle) = &mut self.state else {
            return Poll::Ready(Ok(None));
        };
        let ended = ready!(Pin::new(handle).poll(cx));
        self.state = State::default();
        let (done, buffer) = ended?;
        self.state = State::Idle(buffer);
        Poll::Ready(Ok(Some(done)))
    }

    pub(super) async fn done(&mut self) -> io::Result<Option<Done>> {
        poll_fn(|cx| self.poll_done(cx)).await
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(kind) = self.failed.take() {
            return Poll::Ready(Err(kind.into()));
        }
        Poll::Ready(match ready!(self.poll_done(cx))? {
            Some(Done::Wrote(result)) => result,
            _ => Ok(()),
        })
    }

    /// Waits for what is under way. An error is kept.
    pub(super) async fn settle(&mut self) {
        if let Err(error) = poll_fn(|cx| self.poll_flush(cx)).await {
            self.failed = Some(error.kind());
        }
    }

    /// Notes what somebody else had asked for.
    fn note(&mut self, done: Done) {
        match done {
            Done::Wrote(Err(error)) => self.failed = Some(error.kind()),
            Done::Sought(Ok(position)) => self.position = position,
            _ => {}
        }
    }
}

impl AsyncRead for File {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        dst: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let file = self.get_mut();
        let inner = file.inner.get_mut();
        loop {
            let read = match ready!(inner.poll_done(cx))? {
                Some(Done::Read(result)) => Some(result?),
                Some(other) => {
                    inner.note(other);
                    None
                }
                None => None,
            };
            let mut buffer = inner.take_buffer();
            if read.is_some() || !buffer.is_empty() || dst.remaining() == 0 {
                buffer.pass_to(dst);
                inner.state = State::Idle(buffer);
                return Poll::Ready(Ok(()));
            }
            let std = file.std.clone();
            let limit = dst.remaining().min(file.max_buf_size);
            inner.state = State::Busy(pool::spawn(file.site, "File::read", move || {
                let read = buffer.read_from(&*std, limit);
                (Done::Read(read), buffer)
            }));
        }
    }
}

impl AsyncSeek for File {
    fn start_seek(self: Pin<&mut Self>, to: SeekFrom) -> io::Result<()> {
        let file = self.get_mut();
        let inner = file.inner.get_mut();
        if let State::Busy(_) = inner.state {
            return Err(io::Error::other(
                "other file operation is pending, call poll_complete before start_seek",
            ));
        }
        let mut buffer = inner.take_buffer();
        let (back, to) = with_what_is_left(buffer.give_back(), to);
        let std = file.std.clone();
        inner.state = State::Busy(pool::spawn(file.site, "File::seek", move || {
            let sought = go_back(&std, back).and_then(|()| (&*std).seek(to));
            (Done::Sought(sought), buffer)
        }));
        Ok(())
    }

    fn poll_complete(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        let inner = self.inner.get_mut();
        match ready!(inner.poll_done(cx))? {
            Some(Done::Sought(result)) => {
                inner.position = *result.as_ref().unwrap_or(&inner.position);
                return Poll::Ready(result);
            }
            Some(other) => inner.note(other),
            None => {}
        }
        Poll::Ready(Ok(inner.position))
    }
}

/// Where to seek, and how far to go back before, when this much was read and not taken. Who seeks to an
/// absolute position need not go back.
fn with_what_is_left(back: Option<i64>, to: SeekFrom) -> (Option<i64>, SeekFrom) {
    match (back, to) {
        (Some(back), SeekFrom::Current(by)) => match by.checked_add(back) {
            Some(sum) => (None, SeekFrom::Current(sum)),
            None => (Some(back), to),
        },
        _ => (None, to),
    }
}

impl AsyncWrite for File {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        src: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(src)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let file = self.get_mut();
        let inner = file.inner.get_mut();
        if let Some(kind) = inner.failed.take() {
            return Poll::Ready(Err(kind.into()));
        }
        if let Some(Done::Wrote(result)) = ready!(inner.poll_done(cx))? {
            result?;
        }
        let mut buffer = inner.take_buffer();
        let back = buffer.give_back();
        let count = buffer.fill(bufs, file.max_buf_size);
        let std = file.std.clone();
        let writing = pool::spawn_mandatory(file.site, "File::write", move || {
            let written = go_back(&std, back).and_then(|()| buffer.write_to(&*std));
            (Done::Wrote(written), buffer)
        });
        inner.state = State::Busy(writing.ok_or_else(pool::failed)?);
        Poll::Ready(Ok(count))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner.get_mut().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}
