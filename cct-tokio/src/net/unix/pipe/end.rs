//! An end of a pipe: of the world's, or of one of the machine's in a test that is run once.

use super::super::UnixStream;
use crate::io::unix::AsyncFd;
use crate::io::{AsyncRead, AsyncWrite, Interest, ReadBuf, Ready};
use crate::raw::descriptors;
use bytes::BufMut;
use cct_executor::shim::{machine_is_open, machine_is_refused};
use std::fmt::Display;
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

#[derive(Debug)]
pub(super) enum End {
    World(UnixStream),
    Machine(AsyncFd<File>),
}

/// Both ends of a new one: that which is written, and that which is read.
#[track_caller]
pub(super) fn both() -> io::Result<[End; 2]> {
    if machine_is_open() {
        let [written, read] = descriptors::pipe()?.map(|end| End::of_file(File::from(end)));
        return Ok([written?, read?]);
    }
    let (written, read) = UnixStream::pair()?;
    Ok([End::World(written), End::World(read)])
}

/// Fails if pipes of the machine are not to be had here.
pub(super) fn ask_for(what: impl Display) -> io::Result<()> {
    if machine_is_open() {
        return Ok(());
    }
    cct_net::machine::was_asked_for(&what);
    machine_is_refused(&what);
    let text = format!(
        "cct: {what} is not supported: the other end of a pipe of the machine is outside of a \
         deterministic world. Use `pipe::pipe()` or `UnixStream::pair()`"
    );
    Err(io::Error::new(io::ErrorKind::Unsupported, text))
}

impl End {
    /// Whoever has the file has made it one that does not block.
    pub(super) fn of_file(file: File) -> io::Result<End> {
        AsyncFd::new(file).map(End::Machine)
    }

    pub(super) fn into_fd(self, blocking: bool) -> io::Result<OwnedFd> {
        let file = match self {
            End::Machine(fd) => fd.into_inner(),
            End::World(_) => {
                ask_for("the descriptor of a pipe")?;
                let text = "this pipe was made where the test was explored";
                return Err(io::Error::new(io::ErrorKind::Unsupported, text));
            }
        };
        if blocking {
            descriptors::set_nonblocking(file.as_fd(), false)?;
        }
        Ok(file.into())
    }

    #[track_caller]
    pub(super) fn ready(
        &self,
        interest: Interest,
    ) -> impl Future<Output = io::Result<Ready>> + use<'_> {
        // The place of this call is that of the wait.
        let (in_world, watched) = match self {
            End::World(stream) => (Some(stream.ready(interest)), None),
            End::Machine(fd) => (None, Some(fd)),
        };
        async move {
            match (in_world, watched) {
                (Some(ready), _) => ready.await,
                (None, Some(fd)) => Ok(fd.ready(interest).await?.ready()),
                (None, None) => Ok(Ready::EMPTY),
            }
        }
    }

    #[track_caller]
    pub(super) fn poll_ready(
        &self,
        cx: &mut Context<'_>,
        interest: Interest,
    ) -> Poll<io::Result<()>> {
        match (self, interest.is_readable()) {
            (End::World(stream), true) => stream.poll_read_ready(cx),
            (End::World(stream), false) => stream.poll_write_ready(cx),
            (End::Machine(fd), true) => fd.poll_read_ready(cx).map_ok(drop),
            (End::Machine(fd), false) => fd.poll_write_ready(cx).map_ok(drop),
        }
    }

    #[track_caller]
    pub(super) fn try_io<R>(
        &self,
        interest: Interest,
        f: impl FnOnce() -> io::Result<R>,
    ) -> io::Result<R> {
        match self {
            End::World(stream) => stream.try_io(interest, f),
            End::Machine(fd) if descriptors::readiness(fd.as_fd(), interest).is_empty() => {
                Err(io::ErrorKind::WouldBlock.into())
            }
            End::Machine(_) => f(),
        }
    }

    #[track_caller]
    pub(super) fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
        match self {
            End::World(stream) => stream.try_write(buf),
            End::Machine(fd) => fd.get_ref().write(buf),
        }
    }

    #[track_caller]
    pub(super) fn try_write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            End::World(stream) => stream.try_write_vectored(bufs),
            End::Machine(fd) => fd.get_ref().write_vectored(bufs),
        }
    }

    #[track_caller]
    pub(super) fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            End::World(stream) => stream.try_read(buf),
            End::Machine(fd) => fd.get_ref().read(buf),
        }
    }

    #[track_caller]
    pub(super) fn try_read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        match self {
            End::World(stream) => stream.try_read_vectored(bufs),
            End::Machine(fd) => fd.get_ref().read_vectored(bufs),
        }
    }

    #[track_caller]
    pub(super) fn try_read_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize> {
        let fd = match self {
            End::World(stream) => return stream.try_read_buf(buf),
            End::Machine(fd) => fd,
        };
        let mut bytes = vec![0; buf.chunk_mut().len()];
        let count = fd.get_ref().read(&mut bytes)?;
        buf.put_slice(&bytes[..count]);
        Ok(count)
    }

    pub(super) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let fd = match self {
            End::World(stream) => return Pin::new(stream).poll_write_vectored(cx, bufs),
            End::Machine(fd) => fd,
        };
        loop {
            let mut guard = ready!(fd.poll_write_ready(cx))?;
            if let Ok(done) = guard.try_io(|fd| fd.get_ref().write_vectored(bufs)) {
                return Poll::Ready(done);
            }
        }
    }

    pub(super) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let fd = match self {
            End::World(stream) => return Pin::new(stream).poll_read(cx, buf),
            End::Machine(fd) => fd,
        };
        loop {
            let mut guard = ready!(fd.poll_read_ready(cx))?;
            let into = buf.initialize_unfilled();
            if let Ok(done) = guard.try_io(|fd| fd.get_ref().read(into)) {
                return Poll::Ready(done.map(|count| buf.advance(count)));
            }
        }
    }
}

impl AsFd for End {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            End::World(stream) => stream.as_fd(),
            End::Machine(fd) => fd.as_fd(),
        }
    }
}
