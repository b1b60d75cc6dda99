//! What others have as a bare number: the one thing here that takes `unsafe`.

#![expect(
    unsafe_code,
    reason = "the trait hands over a number, and promises that it is an owned descriptor"
)]

use crate::TcpSocket;
use std::net::TcpStream;
use std::os::fd::{FromRawFd, RawFd};

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
