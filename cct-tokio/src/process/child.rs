//! A process that was started, and its streams.

use super::{Pipe, Running};
use crate::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};
use crate::try_join;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::process::{Command as StdCommand, ExitStatus, Output, Stdio};
use std::task::{Context, Poll};

/// A process that was started: see the [module](super).
#[derive(Debug)]
pub struct Child {
    running: Running,
    /// What it reads.
    pub stdin: Option<ChildStdin>,
    /// What it writes.
    pub stdout: Option<ChildStdout>,
    /// What it writes about errors.
    pub stderr: Option<ChildStderr>,
}

impl Child {
    pub(super) fn start(command: &mut StdCommand, kill_on_drop: bool) -> io::Result<Child> {
        let (running, [stdin, stdout, stderr]) = Running::start(command, kill_on_drop)?;
        Ok(Child {
            running,
            stdin: stdin.map(ChildStdin),
            stdout: stdout.map(ChildStdout),
            stderr: stderr.map(ChildStderr),
        })
    }

    /// Its number, until somebody has seen that it has ended.
    pub fn id(&self) -> Option<u32> {
        self.running.id()
    }

    /// Ends it, if nobody has seen that it has ended.
    ///
    /// # Errors
    /// Those of the system.
    pub fn start_kill(&mut self) -> io::Result<()> {
        self.running.start_kill()
    }

    /// Ends it, and waits until it has ended.
    ///
    /// # Errors
    /// Those of the system.
    pub async fn kill(&mut self) -> io::Result<()> {
        self.start_kill()?;
        self.wait().await.map(drop)
    }

    /// Waits until it has ended. Closes its input first.
    ///
    /// # Cancel safety
    /// Loses nothing but the input.
    ///
    /// # Errors
    /// Those of the system.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        drop(self.stdin.take());
        poll_fn(|cx| self.running.poll_wait(cx)).await
    }

    /// How it ended, if it has.
    ///
    /// # Errors
    /// Those of the system.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.running.try_wait()
    }

    /// Waits until it has ended, and takes what it has written. Closes its input first.
    ///
    /// # Errors
    /// Those of the system.
    pub async fn wait_with_output(mut self) -> io::Result<Output> {
        async fn all(from: &mut Option<impl AsyncRead + Unpin>) -> io::Result<Vec<u8>> {
            let mut bytes = Vec::new();
            if let Some(from) = from {
                from.read_to_end(&mut bytes).await?;
            }
            Ok(bytes)
        }
        let (mut stdout, mut stderr) = (self.stdout.take(), self.stderr.take());
        let (out, err) = (all(&mut stdout), all(&mut stderr));
        let (status, out, err) = try_join!(self.wait(), out, err)?;
        Ok(Output {
            status,
            stdout: out,
            stderr: err,
        })
    }

    /// The system's handle.
    #[cfg(windows)]
    pub fn raw_handle(&self) -> Option<std::os::windows::io::RawHandle> {
        self.running.id().map(|_| std::ptr::null_mut())
    }
}

macro_rules! streams {
    ($($(#[$about:meta])* $Stream:ident;)*) => {$(
        $(#[$about])*
        #[derive(Debug)]
        pub struct $Stream(Pipe);

        impl $Stream {
            /// That of a process of the standard library's.
            ///
            /// # Errors
            /// `Unsupported` while the test is explored; those of the system.
            pub fn from_std(inner: std::process::$Stream) -> io::Result<$Stream> {
                let what = concat!("`", stringify!($Stream), "::from_std`");
                Pipe::of_std(what, inner).map($Stream)
            }

            /// Its descriptor, with which one blocks.
            ///
            /// # Errors
            /// Those of the system.
            #[cfg(unix)]
            pub fn into_owned_fd(self) -> io::Result<std::os::fd::OwnedFd> {
                self.0.into_blocking()
            }

            /// Its handle.
            #[cfg(windows)]
            pub fn into_owned_handle(self) -> io::Result<std::os::windows::io::OwnedHandle> {
                match self.0 {}
            }
        }

        impl TryFrom<$Stream> for Stdio {
            type Error = io::Error;

            fn try_from(stream: $Stream) -> io::Result<Stdio> {
                #[cfg(unix)]
                return stream.0.into_blocking().map(Stdio::from);
                #[cfg(not(unix))]
                match stream.0 {}
            }
        }

        #[cfg(unix)]
        impl std::os::fd::AsFd for $Stream {
            fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
                self.0.fd()
            }
        }

        #[cfg(unix)]
        impl std::os::fd::AsRawFd for $Stream {
            fn as_raw_fd(&self) -> std::os::fd::RawFd {
                std::os::fd::AsRawFd::as_raw_fd(&self.0.fd())
            }
        }

        #[cfg(windows)]
        impl std::os::windows::io::AsHandle for $Stream {
            fn as_handle(&self) -> std::os::windows::io::BorrowedHandle<'_> {
                match self.0 {}
            }
        }

        #[cfg(windows)]
        impl std::os::windows::io::AsRawHandle for $Stream {
            fn as_raw_handle(&self) -> std::os::windows::io::RawHandle {
                match self.0 {}
            }
        }
    )*};
}

streams! {
    /// What a process reads: see the [module](super).
    ChildStdin;
    /// What a process writes: see the [module](super).
    ChildStdout;
    /// What a process writes about errors: see the [module](super).
    ChildStderr;
}

impl AsyncWrite for ChildStdin {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for ChildStdout {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.0.poll_read(cx, buf)
    }
}

impl AsyncRead for ChildStderr {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.0.poll_read(cx, buf)
    }
}
