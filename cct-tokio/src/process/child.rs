//! A process that was started, and its streams. There is none.

use super::outside_of_the_world;
use crate::io::{AsyncRead, AsyncWrite, ReadBuf};
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::process::{ExitStatus, Output, Stdio};
use std::task::{Context, Poll};

/// A process that was started. There is none: see the [module](super).
#[derive(Debug)]
pub struct Child {
    never: Infallible,
    /// What it reads.
    pub stdin: Option<ChildStdin>,
    /// What it writes.
    pub stdout: Option<ChildStdout>,
    /// What it writes about errors.
    pub stderr: Option<ChildStderr>,
}

impl Child {
    /// Its number.
    pub fn id(&self) -> Option<u32> {
        match self.never {}
    }

    /// Ends it.
    pub fn start_kill(&mut self) -> io::Result<()> {
        match self.never {}
    }

    /// Ends it, and waits until it has ended.
    pub async fn kill(&mut self) -> io::Result<()> {
        match self.never {}
    }

    /// Waits until it has ended.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        match self.never {}
    }

    /// How it ended, if it has.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        match self.never {}
    }

    /// Waits until it has ended, and takes what it has written.
    pub async fn wait_with_output(self) -> io::Result<Output> {
        match self.never {}
    }

    /// The system's handle.
    #[cfg(windows)]
    pub fn raw_handle(&self) -> Option<std::os::windows::io::RawHandle> {
        match self.never {}
    }
}

macro_rules! streams {
    ($($(#[$about:meta])* $Stream:ident;)*) => {$(
        $(#[$about])*
        #[derive(Debug)]
        pub struct $Stream {
            never: Infallible,
        }

        impl $Stream {
            /// Fails.
            ///
            /// # Errors
            /// `Unsupported`, always.
            pub fn from_std(_inner: std::process::$Stream) -> io::Result<$Stream> {
                let what = concat!("`", stringify!($Stream), "::from_std`");
                Err(outside_of_the_world(what))
            }

            /// Its descriptor.
            #[cfg(unix)]
            pub fn into_owned_fd(self) -> io::Result<std::os::fd::OwnedFd> {
                match self.never {}
            }

            /// Its handle.
            #[cfg(windows)]
            pub fn into_owned_handle(self) -> io::Result<std::os::windows::io::OwnedHandle> {
                match self.never {}
            }
        }

        impl TryFrom<$Stream> for Stdio {
            type Error = io::Error;

            fn try_from(stream: $Stream) -> io::Result<Stdio> {
                match stream.never {}
            }
        }

        #[cfg(unix)]
        impl std::os::fd::AsFd for $Stream {
            fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
                match self.never {}
            }
        }

        #[cfg(unix)]
        impl std::os::fd::AsRawFd for $Stream {
            fn as_raw_fd(&self) -> std::os::fd::RawFd {
                match self.never {}
            }
        }

        #[cfg(windows)]
        impl std::os::windows::io::AsHandle for $Stream {
            fn as_handle(&self) -> std::os::windows::io::BorrowedHandle<'_> {
                match self.never {}
            }
        }

        #[cfg(windows)]
        impl std::os::windows::io::AsRawHandle for $Stream {
            fn as_raw_handle(&self) -> std::os::windows::io::RawHandle {
                match self.never {}
            }
        }
    )*};
}

streams! {
    /// What a process reads. There is none: see the [module](super).
    ChildStdin;
    /// What a process writes. There is none: see the [module](super).
    ChildStdout;
    /// What a process writes about errors. There is none: see the [module](super).
    ChildStderr;
}

impl AsyncWrite for ChildStdin {
    fn poll_write(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        _buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.never {}
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.never {}
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.never {}
    }
}

impl AsyncRead for ChildStdout {
    fn poll_read(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        _buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.never {}
    }
}

impl AsyncRead for ChildStderr {
    fn poll_read(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        _buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.never {}
    }
}
