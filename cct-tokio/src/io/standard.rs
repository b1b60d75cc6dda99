//! The streams that every process has.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it is what the program under test prints, and only these are captured"
)]

use super::output::{Output, Printer};
use super::{AsyncRead, AsyncWrite, ReadBuf};
use std::io::{self, Write as _};
use std::pin::Pin;
use std::task::{Context, Poll};
#[cfg(unix)]
use {
    crate::io::Interest,
    crate::raw::descriptors,
    cct_executor::shim::{MachineWait, machine_is_open, wait_for_machine},
    std::fs::File,
    std::io::Read as _,
    std::os::fd::AsFd as _,
};

/// The process's output, see [`stdout`].
#[derive(Debug)]
pub struct Stdout {
    std: io::Stdout,
    output: Output,
}

/// The process's output for errors, see [`stderr`].
#[derive(Debug)]
pub struct Stderr {
    std: io::Stderr,
    output: Output,
}

/// The process's input, see [`stdin`].
#[derive(Debug)]
pub struct Stdin {
    std: io::Stdin,
    /// Until there is something.
    #[cfg(unix)]
    wait: Option<MachineWait>,
}

/// The process's output. It is printed as by `print!`, which the test harness captures.
#[track_caller]
pub fn stdout() -> Stdout {
    Stdout {
        std: io::stdout(),
        output: Output::new(Printer {
            print: |text| print!("{text}"),
            flush: || io::stdout().flush(),
        }),
    }
}

/// The process's output for errors. It is printed as by `eprint!`, which the test harness captures.
#[track_caller]
pub fn stderr() -> Stderr {
    Stderr {
        std: io::stderr(),
        output: Output::new(Printer {
            print: |text| eprint!("{text}"),
            flush: || io::stderr().flush(),
        }),
    }
}

/// The process's input.
///
/// # Differences from tokio
/// Reading fails: what somebody types is no decision of the world, and would not be there in the next
/// iteration. A test that asks for it is run once, and there it is read, past the buffer of [`std::io::Stdin`].
pub fn stdin() -> Stdin {
    Stdin {
        std: io::stdin(),
        #[cfg(unix)]
        wait: None,
    }
}

#[cfg(unix)]
impl Stdin {
    fn poll_machine(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.wait = None;
        let is_there =
            || !descriptors::readiness(io::stdin().as_fd(), Interest::READABLE).is_empty();
        if !is_there() {
            self.wait = wait_for_machine(cx.waker(), is_there);
            return Poll::Pending;
        }
        // What is in a buffer is none that can be waited for.
        let mut file = File::from(self.std.as_fd().try_clone_to_owned()?);
        let count = file.read(buf.initialize_unfilled())?;
        buf.advance(count);
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Stdin {
    #[cfg_attr(not(unix), expect(unused_mut, unused_variables))]
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        #[cfg(unix)]
        if machine_is_open() {
            return self.poll_machine(cx, buf);
        }
        cct_net::machine::was_asked_for(&"standard input");
        Poll::Ready(Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "cct: standard input cannot be read in a world, whose iterations would each need it anew: \
             give the code under test another `AsyncRead`, such as a slice of bytes or `tokio::io::duplex`",
        )))
    }
}

macro_rules! writes {
    ($($Stream:ty),*) => {$(
        impl AsyncWrite for $Stream {
            fn poll_write(
                mut self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &[u8],
            ) -> Poll<io::Result<usize>> {
                self.output.poll_write(cx, buf)
            }

            fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.output.poll_flush(cx)
            }

            /// Does nothing, as in tokio: the stream is everybody's.
            fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }
        }
    )*};
}

macro_rules! shows {
    ($($Stream:ty),*) => {$(
        #[cfg(unix)]
        impl std::os::fd::AsFd for $Stream {
            fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
                self.std.as_fd()
            }
        }

        #[cfg(unix)]
        impl std::os::fd::AsRawFd for $Stream {
            fn as_raw_fd(&self) -> std::os::fd::RawFd {
                self.std.as_raw_fd()
            }
        }

        #[cfg(windows)]
        impl std::os::windows::io::AsHandle for $Stream {
            fn as_handle(&self) -> std::os::windows::io::BorrowedHandle<'_> {
                self.std.as_handle()
            }
        }

        #[cfg(windows)]
        impl std::os::windows::io::AsRawHandle for $Stream {
            fn as_raw_handle(&self) -> std::os::windows::io::RawHandle {
                self.std.as_raw_handle()
            }
        }
    )*};
}

writes!(Stdout, Stderr);
shows!(Stdin, Stdout, Stderr);
