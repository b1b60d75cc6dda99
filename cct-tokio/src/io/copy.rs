//! `copy` and its kind. tokio's own spend no budget, as no runtime of its own runs the task; a loop over
//! streams that are always ready would not give way.

use super::{AsyncBufRead, AsyncRead, AsyncWrite, ReadBuf};
use cct_executor::task::coop;
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// How much is read at once, unless somebody says otherwise.
const BUFFER: usize = 8 * 1024;

/// Copies all that a reader has to a writer, and flushes that. Returns how much that was.
///
/// # Cancel safety
/// What was read and not written is lost.
///
/// # Errors
/// Those of the reader and the writer; `WriteZero` when the writer takes nothing.
pub async fn copy<'a, R, W>(reader: &'a mut R, writer: &'a mut W) -> io::Result<u64>
where
    R: AsyncRead + Unpin + ?Sized,
    W: AsyncWrite + Unpin + ?Sized,
{
    let mut passage = Passage::new(BUFFER);
    poll_fn(|cx| passage.poll_copy(cx, Pin::new(&mut *reader), Pin::new(&mut *writer))).await
}

/// As [`copy`], from a reader with a buffer of its own.
///
/// # Cancel safety
/// Nothing is lost, but how much was copied.
///
/// # Errors
/// As for [`copy`].
pub async fn copy_buf<'a, R, W>(reader: &'a mut R, writer: &'a mut W) -> io::Result<u64>
where
    R: AsyncBufRead + Unpin + ?Sized,
    W: AsyncWrite + Unpin + ?Sized,
{
    let (mut count, mut unflushed) = (0, false);
    poll_fn(|cx| {
        let budget = ready!(coop::poll_proceed(cx));
        loop {
            let (mut reader, mut writer) = (Pin::new(&mut *reader), Pin::new(&mut *writer));
            let bytes = match reader.as_mut().poll_fill_buf(cx) {
                Poll::Pending => {
                    if unflushed {
                        ready!(writer.as_mut().poll_flush(cx))?;
                        unflushed = false;
                    }
                    return Poll::Pending;
                }
                Poll::Ready(Err(error)) if error.kind() == ErrorKind::Interrupted => continue,
                Poll::Ready(bytes) => {
                    budget.made_progress();
                    bytes?
                }
            };
            if bytes.is_empty() {
                ready!(writer.as_mut().poll_flush(cx))?;
                return Poll::Ready(Ok(count));
            }
            match ready!(writer.as_mut().poll_write(cx, bytes)) {
                Ok(0) => return Poll::Ready(Err(ErrorKind::WriteZero.into())),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                written => {
                    let written = written?;
                    count += written as u64;
                    unflushed = true;
                    reader.consume(written);
                }
            }
        }
    })
    .await
}

/// Copies both ways between two streams, until both have ended. Each is shut down when nothing more comes
/// from the other. Returns how much went from `a` to `b`, and back.
///
/// # Cancel safety
/// What was read and not written is lost.
///
/// # Errors
/// The first one of either stream.
pub async fn copy_bidirectional<A, B>(a: &mut A, b: &mut B) -> io::Result<(u64, u64)>
where
    A: AsyncRead + AsyncWrite + Unpin + ?Sized,
    B: AsyncRead + AsyncWrite + Unpin + ?Sized,
{
    both_ways(a, b, (BUFFER, BUFFER)).await
}

/// As [`copy_bidirectional`], with buffers of these sizes.
///
/// # Cancel safety
/// As there.
///
/// # Errors
/// As there.
///
/// # Panics
/// For a size of 0.
pub async fn copy_bidirectional_with_sizes<A, B>(
    a: &mut A,
    b: &mut B,
    a_to_b_buf_size: usize,
    b_to_a_buf_size: usize,
) -> io::Result<(u64, u64)>
where
    A: AsyncRead + AsyncWrite + Unpin + ?Sized,
    B: AsyncRead + AsyncWrite + Unpin + ?Sized,
{
    assert!(
        a_to_b_buf_size > 0,
        "`a_to_b_buf_size` must be greater than 0"
    );
    assert!(
        b_to_a_buf_size > 0,
        "`b_to_a_buf_size` must be greater than 0"
    );
    both_ways(a, b, (a_to_b_buf_size, b_to_a_buf_size)).await
}

async fn both_ways<A, B>(a: &mut A, b: &mut B, sizes: (usize, usize)) -> io::Result<(u64, u64)>
where
    A: AsyncRead + AsyncWrite + Unpin + ?Sized,
    B: AsyncRead + AsyncWrite + Unpin + ?Sized,
{
    let mut there = Direction::Open(Passage::new(sizes.0));
    let mut back = Direction::Open(Passage::new(sizes.1));
    poll_fn(|cx| {
        let there = there.poll(cx, Pin::new(&mut *a), Pin::new(&mut *b))?;
        let back = back.poll(cx, Pin::new(&mut *b), Pin::new(&mut *a))?;
        match (there, back) {
            (Poll::Ready(there), Poll::Ready(back)) => Poll::Ready(Ok((there, back))),
            _ => Poll::Pending,
        }
    })
    .await
}

/// One direction of two.
enum Direction {
    Open(Passage),
    /// All was copied, so much; the writer is being shut down.
    Ends(u64),
    Over(u64),
}

impl Direction {
    fn poll<R, W>(
        &mut self,
        cx: &mut Context<'_>,
        reader: Pin<&mut R>,
        mut writer: Pin<&mut W>,
    ) -> Poll<io::Result<u64>>
    where
        R: AsyncRead + ?Sized,
        W: AsyncWrite + ?Sized,
    {
        if let Direction::Open(passage) = self {
            *self = Direction::Ends(ready!(passage.poll_copy(cx, reader, writer.as_mut()))?);
        }
        if let Direction::Ends(count) = *self {
            ready!(writer.poll_shutdown(cx))?;
            *self = Direction::Over(count);
        }
        match *self {
            Direction::Over(count) => Poll::Ready(Ok(count)),
            _ => unreachable!("cct bug: a direction that neither ends nor goes on"),
        }
    }
}

/// What is on its way from a reader to a writer.
///
/// Invariant: `written <= filled <= buffer.len()`.
struct Passage {
    buffer: Box<[u8]>,
    written: usize,
    filled: usize,
    reader_ended: bool,
    unflushed: bool,
    count: u64,
}

impl Passage {
    fn new(size: usize) -> Passage {
        Passage {
            buffer: vec![0; size].into(),
            written: 0,
            filled: 0,
            reader_ended: false,
            unflushed: false,
            count: 0,
        }
    }

    fn has_room(&self) -> bool {
        !self.reader_ended && self.filled < self.buffer.len()
    }

    fn poll_fill<R: AsyncRead + ?Sized>(
        &mut self,
        cx: &mut Context<'_>,
        mut reader: Pin<&mut R>,
    ) -> Poll<io::Result<()>> {
        let mut room = ReadBuf::new(&mut self.buffer);
        room.set_filled(self.filled);
        loop {
            match ready!(reader.as_mut().poll_read(cx, &mut room)) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read?,
            }
        }
        let filled = room.filled().len();
        self.reader_ended = filled == self.filled;
        self.filled = filled;
        Poll::Ready(Ok(()))
    }

    /// Writes some of it. A writer that is not ready gets more to write the next time.
    fn poll_write_some<R, W>(
        &mut self,
        cx: &mut Context<'_>,
        reader: Pin<&mut R>,
        mut writer: Pin<&mut W>,
    ) -> Poll<io::Result<usize>>
    where
        R: AsyncRead + ?Sized,
        W: AsyncWrite + ?Sized,
    {
        loop {
            let bytes = &self.buffer[self.written..self.filled];
            match writer.as_mut().poll_write(cx, bytes) {
                Poll::Ready(Err(error)) if error.kind() == ErrorKind::Interrupted => {}
                Poll::Pending if self.has_room() => {
                    ready!(self.poll_fill(cx, reader))?;
                    return Poll::Pending;
                }
                polled => return polled,
            }
        }
    }

    fn poll_copy<R, W>(
        &mut self,
        cx: &mut Context<'_>,
        mut reader: Pin<&mut R>,
        mut writer: Pin<&mut W>,
    ) -> Poll<io::Result<u64>>
    where
        R: AsyncRead + ?Sized,
        W: AsyncWrite + ?Sized,
    {
        let budget = ready!(coop::poll_proceed(cx));
        loop {
            if self.has_room() {
                match self.poll_fill(cx, reader.as_mut()) {
                    Poll::Ready(filled) => {
                        budget.made_progress();
                        filled?;
                    }
                    Poll::Pending if self.written < self.filled => {}
                    Poll::Pending => {
                        if self.unflushed {
                            // The reader may wait for what the writer holds back.
                            ready!(writer.as_mut().poll_flush(cx))?;
                            budget.made_progress();
                            self.unflushed = false;
                        }
                        return Poll::Pending;
                    }
                }
            }
            while self.written < self.filled {
                let some = self.poll_write_some(cx, reader.as_mut(), writer.as_mut());
                let count = ready!(some)?;
                budget.made_progress();
                if count == 0 {
                    let text = "write zero byte into writer";
                    return Poll::Ready(Err(io::Error::new(ErrorKind::WriteZero, text)));
                }
                self.written += count;
                self.count += count as u64;
                self.unflushed = true;
            }
            (self.written, self.filled) = (0, 0);
            if self.reader_ended {
                ready!(writer.as_mut().poll_flush(cx))?;
                budget.made_progress();
                return Poll::Ready(Ok(self.count));
            }
        }
    }
}
