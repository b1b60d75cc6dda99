//! Streams in memory: tokio's own, with scheduling points and budget around each operation.
//!
//! 1. Each direction is a resource, which both ends know: who reads depends on who writes, and on nobody
//!    else.
//! 2. Budget is spent here. tokio's streams spend none, as no runtime of its own runs the task.

use super::{AsyncRead, AsyncWrite, ReadBuf, ReadHalf, WriteHalf, split};
use cct_executor::shim::{Access, OpKind, Resource, ResourceKind};
use cct_executor::task::coop;
use real_tokio::io as real;
use std::fmt;
use std::io::{self, IoSlice};
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// One direction of a stream, as strategies and reports see it.
#[derive(Clone)]
struct Direction {
    resource: Arc<Resource>,
    /// Where the stream was made: reads and writes come through traits, which do not tell their place.
    site: &'static Location<'static>,
}

impl Direction {
    #[track_caller]
    fn new() -> Direction {
        let site = Location::caller();
        Direction {
            resource: Arc::new(Resource::at(ResourceKind::Pipe, site)),
            site,
        }
    }

    fn poll<T>(
        &self,
        cx: &mut Context<'_>,
        kind: OpKind,
        act: impl FnOnce(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        ready!(self.resource.point(kind, Access::Write, self.site));
        self.resource.called_here();
        let budget = ready!(coop::poll_proceed(cx));
        let done = act(cx);
        match done {
            Poll::Ready(_) => budget.made_progress(),
            Poll::Pending => self.resource.blocked(kind, self.site),
        }
        done
    }

    fn close(&self, kind: OpKind) {
        self.resource.sync_point(kind, Access::Write, self.site);
    }
}

/// One end of a stream in memory with two directions.
///
/// # Scheduling points
/// One before each read and write, and at granularity `sync` one before it is shut down or dropped.
///
/// # Differences from tokio
/// None.
pub struct DuplexStream {
    inner: real::DuplexStream,
    read: Direction,
    write: Direction,
}

/// Two ends that are connected in memory; each direction has room for `max_buf_size` bytes.
///
/// # Panics
/// If that is 0.
#[track_caller]
pub fn duplex(max_buf_size: usize) -> (DuplexStream, DuplexStream) {
    let (one, other) = real::duplex(max_buf_size);
    let (there, back) = (Direction::new(), Direction::new());
    let one = DuplexStream {
        inner: one,
        read: back.clone(),
        write: there.clone(),
    };
    let other = DuplexStream {
        inner: other,
        read: there,
        write: back,
    };
    (one, other)
}

impl Drop for DuplexStream {
    fn drop(&mut self) {
        self.write.close(OpKind::Drop);
    }
}

/// A stream in memory with one direction, both ends in one.
///
/// # Scheduling points
/// One before each read and write, and at granularity `sync` one before it is shut down.
///
/// # Differences from tokio
/// None.
pub struct SimplexStream {
    inner: real::SimplexStream,
    read: Direction,
    write: Direction,
}

/// The two ends of a stream in memory with one direction and room for `max_buf_size` bytes.
///
/// # Panics
/// If that is 0.
#[track_caller]
pub fn simplex(max_buf_size: usize) -> (ReadHalf<SimplexStream>, WriteHalf<SimplexStream>) {
    split(SimplexStream::new_unsplit(max_buf_size))
}

impl SimplexStream {
    /// Both ends of a stream in memory with one direction and room for `max_buf_size` bytes.
    ///
    /// # Panics
    /// If that is 0.
    #[track_caller]
    pub fn new_unsplit(max_buf_size: usize) -> SimplexStream {
        let direction = Direction::new();
        SimplexStream {
            inner: real::SimplexStream::new_unsplit(max_buf_size),
            read: direction.clone(),
            write: direction,
        }
    }
}

macro_rules! streams {
    ($($Stream:ident)*) => {$(
        impl fmt::Debug for $Stream {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.inner.fmt(f)
            }
        }

        impl AsyncRead for $Stream {
            fn poll_read(
                mut self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                let $Stream { inner, read, .. } = &mut *self;
                read.poll(cx, OpKind::Read, |cx| Pin::new(inner).poll_read(cx, buf))
            }
        }

        impl AsyncWrite for $Stream {
            fn poll_write(
                mut self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &[u8],
            ) -> Poll<io::Result<usize>> {
                let $Stream { inner, write, .. } = &mut *self;
                write.poll(cx, OpKind::Write, |cx| Pin::new(inner).poll_write(cx, buf))
            }

            fn poll_write_vectored(
                mut self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                bufs: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                let $Stream { inner, write, .. } = &mut *self;
                write.poll(cx, OpKind::Write, |cx| Pin::new(inner).poll_write_vectored(cx, bufs))
            }

            fn is_write_vectored(&self) -> bool {
                true
            }

            fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                Pin::new(&mut self.inner).poll_flush(cx)
            }

            fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.write.close(OpKind::Close);
                Pin::new(&mut self.inner).poll_shutdown(cx)
            }
        }
    )*};
}
streams!(DuplexStream SimplexStream);
