//! What others have as a bare number, and what bare numbers are of: the one thing here that takes `unsafe`.

#![expect(
    unsafe_code,
    reason = "the trait hands over a number, and promises that it is an owned descriptor; others are only looked at"
)]

use crate::TcpSocket;
#[cfg(target_os = "linux")]
use socket2::SockRef;
use std::net::TcpStream;
#[cfg(target_os = "linux")]
use std::os::fd::BorrowedFd;
use std::os::fd::{FromRawFd, RawFd};

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
