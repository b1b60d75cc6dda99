//! Pipes: inside a program, and in a test that is run once those of the machine.
//!
//! # Differences from tokio
//! While a test is explored a pipe is a Unix stream, and holds as much; and pipes with names are refused, at whose other
//! end is another process: opening one fails with the kind `Unsupported`, and so does handing out the descriptor of an
//! end. A test that fails for this is run once instead, on Linux and with `cargo cct test`, as one in which threads take part
//! (see [`runtime`](cct_executor::runtime)): there all pipes are the machine's.

mod end;

use crate::io::{AsyncRead, AsyncWrite, Interest, ReadBuf, Ready};
use crate::raw::descriptors;
use bytes::BufMut;
use end::{End, ask_for, both};
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A new pipe.
///
/// # Errors
/// As [`UnixStream::pair`](super::UnixStream::pair); those of the system.
#[track_caller]
pub fn pipe() -> io::Result<(Sender, Receiver)> {
    let [sender, receiver] = both()?;
    Ok((Sender(sender), Receiver(receiver)))
}

/// How a pipe with a name is opened.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    read_write: bool,
    unchecked: bool,
}

impl OpenOptions {
    /// Nothing is set.
    pub fn new() -> OpenOptions {
        OpenOptions::default()
    }

    /// Whether it is opened to read and to write: so it has its other end always.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn read_write(&mut self, value: bool) -> &mut OpenOptions {
        self.read_write = value;
        self
    }

    /// Whether nobody looks if it is a pipe.
    pub fn unchecked(&mut self, value: bool) -> &mut OpenOptions {
        self.unchecked = value;
        self
    }

    /// Opens it to read.
    ///
    /// # Errors
    /// `Unsupported` for a pipe while the test is explored, `InvalidInput` for what is none; those of the system.
    pub fn open_receiver<P: AsRef<Path>>(&self, path: P) -> io::Result<Receiver> {
        let mut options = File::options();
        options.read(true).write(self.read_write);
        self.open(path.as_ref(), &mut options).map(Receiver)
    }

    /// Opens it to write.
    ///
    /// # Errors
    /// As for [`open_receiver`](Self::open_receiver); that of `ENXIO` if nobody has it open to read.
    pub fn open_sender<P: AsRef<Path>>(&self, path: P) -> io::Result<Sender> {
        let mut options = File::options();
        options.read(self.read_write).write(true);
        self.open(path.as_ref(), &mut options).map(Sender)
    }

    fn open(&self, path: &Path, options: &mut std::fs::OpenOptions) -> io::Result<End> {
        let is_pipe = std::fs::metadata(path)?.file_type().is_fifo();
        if !self.unchecked && !is_pipe {
            return Err(not_a_pipe());
        }
        ask_for(format_args!("to open the pipe {}", path.display()))?;
        End::of_file(options.custom_flags(libc::O_NONBLOCK).open(path)?)
    }
}

fn not_a_pipe() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "not a pipe")
}

/// The file, as one that does not block, if it is a pipe which is open for that.
fn checked(file: File, to_write: bool) -> io::Result<End> {
    if !file.metadata()?.file_type().is_fifo() {
        return Err(not_a_pipe());
    }
    if !descriptors::is_open_to(file.as_fd(), to_write)? {
        let mode = if to_write { "O_WRONLY" } else { "O_RDONLY" };
        let text = format!("not in {mode} or O_RDWR access mode");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    ask_for("a pipe from a file")?;
    descriptors::set_nonblocking(file.as_fd(), true)?;
    End::of_file(file)
}

/// The end of a pipe that is written.
#[derive(Debug)]
pub struct Sender(End);

/// The end of a pipe that is read.
#[derive(Debug)]
pub struct Receiver(End);

macro_rules! ends {
    ($($End:ident $to_write:literal)*) => {$(
        impl $End {
            /// That of a pipe of the machine, which does not block from now on.
            ///
            /// # Errors
            /// `Unsupported` for a pipe while the test is explored, `InvalidInput` for what is none, or is not open for that;
            /// those of the system.
            pub fn from_file(file: File) -> io::Result<$End> {
                checked(file, $to_write).map($End)
            }

            /// As [`from_file`](Self::from_file), of a file that does not block, of which nothing is asked.
            ///
            /// # Errors
            /// `Unsupported` while the test is explored; those of the system.
            pub fn from_file_unchecked(file: File) -> io::Result<$End> {
                ask_for("a pipe from a file")?;
                End::of_file(file).map($End)
            }

            /// As [`from_file`](Self::from_file), of a descriptor.
            ///
            /// # Errors
            /// As there.
            pub fn from_owned_fd(owned_fd: OwnedFd) -> io::Result<$End> {
                $End::from_file(owned_fd.into())
            }

            /// As [`from_file_unchecked`](Self::from_file_unchecked), of a descriptor.
            ///
            /// # Errors
            /// As there.
            pub fn from_owned_fd_unchecked(owned_fd: OwnedFd) -> io::Result<$End> {
                $End::from_file_unchecked(owned_fd.into())
            }

            /// Its descriptor, with which one blocks.
            ///
            /// # Errors
            /// `Unsupported` while the test is explored; those of the system.
            pub fn into_blocking_fd(self) -> io::Result<OwnedFd> {
                self.0.into_fd(true)
            }

            /// Its descriptor, with which one does not block.
            ///
            /// # Errors
            /// As for [`into_blocking_fd`](Self::into_blocking_fd).
            pub fn into_nonblocking_fd(self) -> io::Result<OwnedFd> {
                self.0.into_fd(false)
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
                self.0.as_fd().as_raw_fd()
            }
        }
    )*};
}

ends!(Sender true Receiver false);

impl Sender {
    /// Waits until something can be written.
    ///
    /// # Errors
    /// As for [`UnixStream::writable`](cct_net::UnixStream::writable).
    #[track_caller]
    pub fn writable(&self) -> impl Future<Output = io::Result<()>> {
        let ready = self.0.ready(Interest::WRITABLE);
        async move { ready.await.map(drop) }
    }

    /// Waits until something can be written.
    ///
    /// # Errors
    /// As for [`writable`](Self::writable).
    #[track_caller]
    pub fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.poll_ready(cx, Interest::WRITABLE)
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
        let ready = self.0.ready(Interest::READABLE);
        async move { ready.await.map(drop) }
    }

    /// Waits until something can be read.
    ///
    /// # Errors
    /// As for [`readable`](Self::readable).
    #[track_caller]
    pub fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.poll_ready(cx, Interest::READABLE)
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
        self.0.poll_write(cx, &[IoSlice::new(buf)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.0.poll_write(cx, bufs)
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
        self.0.poll_read(cx, buf)
    }
}
