//! Pipes inside a program.
//!
//! # Differences from tokio
//! A pipe holds as much as a Unix stream does, which it is. Pipes with names are files of the machine, at
//! whose other end is another process: opening one fails with the kind `Unsupported`, and so does handing
//! out the descriptor of an end.

use super::UnixStream;
use crate::io::{AsyncRead, AsyncWrite, Interest, ReadBuf, Ready};
use bytes::BufMut;
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A new pipe.
///
/// # Errors
/// As [`UnixStream::pair`].
#[track_caller]
pub fn pipe() -> io::Result<(Sender, Receiver)> {
    let (sender, receiver) = UnixStream::pair()?;
    Ok((Sender(sender), Receiver(receiver)))
}

fn of_the_machine<T>(what: impl std::fmt::Display) -> io::Result<T> {
    cct_net::machine::was_asked_for(&what);
    let text = format!(
        "cct: {what} is not supported: the other end of a pipe of the machine is outside of a \
         deterministic world. Use `pipe::pipe()` or `UnixStream::pair()`"
    );
    Err(io::Error::new(io::ErrorKind::Unsupported, text))
}

/// How a pipe with a name is to be opened, which fails.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    unchecked: bool,
}

impl OpenOptions {
    /// Nothing is set.
    pub fn new() -> OpenOptions {
        OpenOptions::default()
    }

    /// Whether it is opened to read and to write.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn read_write(&mut self, _value: bool) -> &mut OpenOptions {
        self
    }

    /// Whether nobody looks if it is a pipe.
    pub fn unchecked(&mut self, value: bool) -> &mut OpenOptions {
        self.unchecked = value;
        self
    }

    /// Fails.
    ///
    /// # Errors
    /// `Unsupported` for a pipe, and those of tokio for what is none.
    pub fn open_receiver<P: AsRef<Path>>(&self, path: P) -> io::Result<Receiver> {
        self.open(path.as_ref())
    }

    /// Fails.
    ///
    /// # Errors
    /// `Unsupported` for a pipe, and those of tokio for what is none.
    pub fn open_sender<P: AsRef<Path>>(&self, path: P) -> io::Result<Sender> {
        self.open(path.as_ref())
    }

    fn open<T>(&self, path: &Path) -> io::Result<T> {
        let is_pipe = std::fs::metadata(path)?.file_type().is_fifo();
        if !self.unchecked && !is_pipe {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a pipe"));
        }
        of_the_machine(format_args!("to open the pipe {}", path.display()))
    }
}

/// The end of a pipe that is written.
#[derive(Debug)]
pub struct Sender(UnixStream);

/// The end of a pipe that is read.
#[derive(Debug)]
pub struct Receiver(UnixStream);

macro_rules! ends {
    ($($End:ident)*) => {$(
        impl $End {
            /// Fails.
            ///
            /// # Errors
            /// `Unsupported` for a pipe, and `InvalidInput` for what is none.
            pub fn from_file(file: File) -> io::Result<$End> {
                if !file.metadata()?.file_type().is_fifo() {
                    return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a pipe"));
                }
                of_the_machine("a pipe from a file")
            }

            /// Fails.
            ///
            /// # Errors
            /// `Unsupported`, always.
            pub fn from_file_unchecked(_file: File) -> io::Result<$End> {
                of_the_machine("a pipe from a file")
            }

            /// Fails.
            ///
            /// # Errors
            /// As for [`from_file`](Self::from_file).
            pub fn from_owned_fd(owned_fd: OwnedFd) -> io::Result<$End> {
                $End::from_file(owned_fd.into())
            }

            /// Fails.
            ///
            /// # Errors
            /// `Unsupported`, always.
            pub fn from_owned_fd_unchecked(_owned_fd: OwnedFd) -> io::Result<$End> {
                of_the_machine("a pipe from a descriptor")
            }

            /// Fails.
            ///
            /// # Errors
            /// `Unsupported`, always.
            pub fn into_blocking_fd(self) -> io::Result<OwnedFd> {
                of_the_machine("the descriptor of a pipe")
            }

            /// Fails.
            ///
            /// # Errors
            /// `Unsupported`, always.
            pub fn into_nonblocking_fd(self) -> io::Result<OwnedFd> {
                of_the_machine("the descriptor of a pipe")
            }

            /// As [`UnixStream::ready`](cct_net::UnixStream::ready).
            ///
            /// # Errors
            /// As there.
            #[track_caller]
            pub fn ready(&self, interest: Interest) -> impl Future<Output = io::Result<Ready>> {
                self.0.ready(interest)
            }
        }

        impl AsFd for $End {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.0.as_fd()
            }
        }

        impl AsRawFd for $End {
            fn as_raw_fd(&self) -> RawFd {
                self.0.as_raw_fd()
            }
        }
    )*};
}

ends!(Sender Receiver);

impl Sender {
    /// Waits until something can be written.
    ///
    /// # Errors
    /// As for [`UnixStream::writable`](cct_net::UnixStream::writable).
    #[track_caller]
    pub fn writable(&self) -> impl Future<Output = io::Result<()>> {
        self.0.writable()
    }

    /// Waits until something can be written.
    ///
    /// # Errors
    /// As for [`writable`](Self::writable).
    #[track_caller]
    pub fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.poll_write_ready(cx)
    }

    /// Writes what there is room for.
    ///
    /// # Errors
    /// `WouldBlock` when there is none, `BrokenPipe` when nobody will read it.
    #[track_caller]
    pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
        self.0.try_write(buf)
    }

    /// As [`try_write`](Self::try_write), from several buffers.
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn try_write_vectored(&self, buf: &[IoSlice<'_>]) -> io::Result<usize> {
        self.0.try_write_vectored(buf)
    }

    /// Does something with the descriptor if it is ready.
    ///
    /// # Errors
    /// As for [`UnixStream::try_io`](cct_net::UnixStream::try_io).
    #[track_caller]
    pub fn try_io<R>(&self, f: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        self.0.try_io(Interest::WRITABLE, f)
    }
}

impl Receiver {
    /// Waits until something can be read.
    ///
    /// # Errors
    /// As for [`UnixStream::readable`](cct_net::UnixStream::readable).
    #[track_caller]
    pub fn readable(&self) -> impl Future<Output = io::Result<()>> {
        self.0.readable()
    }

    /// Waits until something can be read.
    ///
    /// # Errors
    /// As for [`readable`](Self::readable).
    #[track_caller]
    pub fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.poll_read_ready(cx)
    }

    /// Reads what is there.
    ///
    /// # Errors
    /// `WouldBlock` when nothing is.
    #[track_caller]
    pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.try_read(buf)
    }

    /// As [`try_read`](Self::try_read), into several buffers.
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn try_read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.0.try_read_vectored(bufs)
    }

    /// As [`try_read`](Self::try_read), behind what is in the buffer.
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn try_read_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize> {
        self.0.try_read_buf(buf)
    }

    /// Does something with the descriptor if it is ready.
    ///
    /// # Errors
    /// As for [`UnixStream::try_io`](cct_net::UnixStream::try_io).
    #[track_caller]
    pub fn try_io<R>(&self, f: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        self.0.try_io(Interest::READABLE, f)
    }
}

impl AsyncWrite for Sender {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Does nothing, as in tokio: the receiver sees the end when the sender is dropped.
    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Receiver {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}
