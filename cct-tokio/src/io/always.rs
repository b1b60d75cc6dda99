//! What is always ready to read or to write: it costs budget, so that a loop over it gives way.
//!
//! tokio's own spend none, as no runtime of its own runs the task.

use super::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};
use cct_executor::task::coop;
use real_tokio::io as real;
use std::fmt;
use std::io::{self, IoSlice, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

fn spend(cx: &mut Context<'_>) -> Poll<()> {
    ready!(coop::poll_proceed(cx)).made_progress();
    Poll::Ready(())
}

macro_rules! always {
    ($($(#[$about:meta])* $Name:ident $make:ident($($parameter:ident: $Type:ty)?);)*) => {$(
        $(#[$about])*
        pub struct $Name(real::$Name);

        $(#[$about])*
        #[must_use]
        pub fn $make($($parameter: $Type)?) -> $Name {
            $Name(real::$make($($parameter)?))
        }

        impl fmt::Debug for $Name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

always! {
    /// Has nothing to read, and swallows what is written.
    Empty empty();
    /// Is full of one byte.
    Repeat repeat(byte: u8);
    /// Swallows what is written.
    Sink sink();
}

macro_rules! reads {
    ($($Name:ident)*) => {$(
        impl AsyncRead for $Name {
            fn poll_read(
                mut self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                ready!(spend(cx));
                Pin::new(&mut self.0).poll_read(cx, buf)
            }
        }
    )*};
}
reads!(Empty Repeat);

macro_rules! writes {
    ($($Name:ident)*) => {$(
        impl AsyncWrite for $Name {
            fn poll_write(
                mut self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &[u8],
            ) -> Poll<io::Result<usize>> {
                ready!(spend(cx));
                Pin::new(&mut self.0).poll_write(cx, buf)
            }

            fn poll_write_vectored(
                mut self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                bufs: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                ready!(spend(cx));
                Pin::new(&mut self.0).poll_write_vectored(cx, bufs)
            }

            fn is_write_vectored(&self) -> bool {
                self.0.is_write_vectored()
            }

            fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                ready!(spend(cx));
                Pin::new(&mut self.0).poll_flush(cx)
            }

            fn poll_shutdown(
                mut self: Pin<&mut Self>,
                cx: &mut Context<'_>,
            ) -> Poll<io::Result<()>> {
                ready!(spend(cx));
                Pin::new(&mut self.0).poll_shutdown(cx)
            }
        }
    )*};
}
writes!(Empty Sink);

impl AsyncBufRead for Empty {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        ready!(spend(cx));
        Pin::new(&mut self.get_mut().0).poll_fill_buf(cx)
    }

    fn consume(mut self: Pin<&mut Self>, amt: usize) {
        Pin::new(&mut self.0).consume(amt);
    }
}

impl AsyncSeek for Empty {
    fn start_seek(mut self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        Pin::new(&mut self.0).start_seek(position)
    }

    fn poll_complete(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        ready!(spend(cx));
        Pin::new(&mut self.0).poll_complete(cx)
    }
}
