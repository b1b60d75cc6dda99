//! What others have as a bare number, what bare numbers are of, and handlers of signals: the things here that take
//! `unsafe`.

#![expect(
    unsafe_code,
    reason = "the trait hands over a number, and promises that it is an owned descriptor; others are only looked at; what a \
              handler may do is its own promise; what is called before `main` sets one static"
)]

#[cfg(target_os = "linux")]
pub(crate) mod groups;
pub(crate) mod signals;

use crate::descriptor::{foreign, given_back};
use crate::{TcpSocket, UnixSocket};
#[cfg(target_os = "linux")]
use socket2::SockRef;
use std::io;
use std::net::TcpStream;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd as _;
#[cfg(target_os = "linux")]
use std::os::fd::BorrowedFd;
use std::os::fd::{AsFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};

/// Looks at whatever is open under this number.
#[cfg(target_os = "linux")]
pub(crate) fn with_socket<R>(fd: RawFd, look: impl FnOnce(&SockRef<'_>) -> Option<R>) -> Option<R> {
    if fd < 0 {
        return None;
    }
    // SAFETY: nothing is done with it but to ask the kernel, which says so if nothing is open under the number (any
    // more), or no socket; and whatever is open goes on being its owner's.
    let borrowed = unsafe { BorrowedFd::borrow_raw(fd) };
    look(&SockRef::from(&borrowed))
}

/// A program may connect by the kernel before it uses anything of this crate, so it is looked who does so from the
/// beginning of the process on.
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = {
    extern "C" fn begin() {
        crate::gate::watch();
    }
    begin
};

/// What one waits for at a socket of the kernel's.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy)]
pub(crate) enum For {
    Reading,
    Writing,
}

/// Blocks until one can go on at this socket.
#[cfg(target_os = "linux")]
pub(crate) fn wait_for(fd: BorrowedFd<'_>, what: For) {
    let events = match what {
        For::Reading => libc::POLLIN,
        For::Writing => libc::POLLOUT,
    };
    poll(fd, events, -1);
}

/// Whether something can be written within so long, or the attempt to connect has failed.
#[cfg(target_os = "linux")]
pub(crate) fn is_writable_within(fd: BorrowedFd<'_>, time: std::time::Duration) -> bool {
    let milliseconds = libc::c_int::try_from(time.as_millis()).unwrap_or(libc::c_int::MAX);
    poll(fd, libc::POLLOUT, milliseconds)
}

/// Whether something can be read or accepted at once.
#[cfg(target_os = "linux")]
pub(crate) fn is_readable(fd: BorrowedFd<'_>) -> bool {
    poll(fd, libc::POLLIN, 0)
}

#[cfg(target_os = "linux")]
fn poll(fd: BorrowedFd<'_>, events: libc::c_short, milliseconds: libc::c_int) -> bool {
    let mut asked = libc::pollfd {
        fd: fd.as_raw_fd(),
        events,
        revents: 0,
    };
    // SAFETY: there is one.
    unsafe { libc::poll(&raw mut asked, 1, milliseconds) > 0 }
}

impl FromRawFd for TcpSocket {
    /// As [`from_std_stream`](TcpSocket::from_std_stream): clients that know no better way make their
    /// sockets like this.
    ///
    /// # Safety
    /// It is the descriptor of a TCP socket that is open, and whose owner the caller is.
    unsafe fn from_raw_fd(fd: RawFd) -> TcpSocket {
        // SAFETY: the caller says so.
        let stream = unsafe { TcpStream::from_raw_fd(fd) };
        TcpSocket::from_std_stream(stream)
    }
}

impl FromRawFd for UnixSocket {
    /// Brings back what [`into_raw_fd`](IntoRawFd::into_raw_fd) has made.
    ///
    /// # Panics
    /// For a socket of the kernel's own: there is no way to say so.
    ///
    /// # Safety
    /// It is the descriptor of a socket that is open, and whose owner the caller is.
    unsafe fn from_raw_fd(fd: RawFd) -> UnixSocket {
        // SAFETY: the caller says so.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        let own = |fd: OwnedFd| -> io::Result<UnixSocket> {
            match given_back::<UnixSocket>(fd.as_fd())? {
                Some(own) => Ok(own.with_descriptor(fd)),
                None => foreign("socket", "take only what into_raw_fd has made"),
            }
        };
        own(fd).unwrap_or_else(|error| panic!("no socket of the world's: {error}"))
    }
}

macro_rules! hands_out {
    ($($Socket:ty),*) => {$(
        impl IntoRawFd for $Socket {
            /// Hands out the descriptor, and keeps the socket until it comes back.
            ///
            /// # Differences from tokio
            /// Closing the descriptor does not close the simulated socket.
            ///
            /// # Panics
            /// Outside a world, and when there is no descriptor left: there is no way to say so.
            fn into_raw_fd(self) -> RawFd {
                let lent = self.lent();
                let fd = lent.unwrap_or_else(|error| panic!("no descriptor for a socket: {error}"));
                fd.into_raw_fd()
            }
        }
    )*};
}

hands_out!(TcpSocket, UnixSocket);
