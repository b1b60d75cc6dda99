//! What takes `unsafe` here: what others have as a bare number, and questions to the system for which `std` has no words.

#![cfg_attr(
    any(unix, windows),
    expect(
        unsafe_code,
        reason = "the traits hand over a number, and promise that it is owned and open; the system takes numbers"
    )
)]

#[cfg(unix)]
mod async_fd;
#[cfg(unix)]
pub(crate) mod descriptors;
#[cfg(unix)]
pub(crate) mod process;

use crate::fs::File;
#[cfg(unix)]
use crate::net::{TcpSocket, UnixSocket};

#[cfg(unix)]
impl std::os::fd::FromRawFd for TcpSocket {
    /// See [`cct_net::TcpSocket`]: clients that know no better way make their sockets like this.
    ///
    /// # Safety
    /// It is the descriptor of a TCP socket that is open, and whose owner the caller is.
    #[track_caller]
    unsafe fn from_raw_fd(fd: std::os::fd::RawFd) -> TcpSocket {
        // SAFETY: the caller says so.
        let std = unsafe { std::net::TcpStream::from_raw_fd(fd) };
        TcpSocket::from_std_stream(std)
    }
}

#[cfg(unix)]
impl std::os::fd::FromRawFd for UnixSocket {
    /// See [`cct_net::UnixSocket`].
    ///
    /// # Safety
    /// It is the descriptor of a socket that is open, and whose owner the caller is.
    unsafe fn from_raw_fd(fd: std::os::fd::RawFd) -> UnixSocket {
        // SAFETY: the caller says so.
        UnixSocket::of(unsafe { cct_net::UnixSocket::from_raw_fd(fd) })
    }
}

#[cfg(unix)]
impl std::os::fd::FromRawFd for File {
    /// # Safety
    /// It is the descriptor of a file that is open, and whose owner the caller is.
    #[track_caller]
    unsafe fn from_raw_fd(fd: std::os::fd::RawFd) -> File {
        // SAFETY: the caller says so.
        let std = unsafe { std::fs::File::from_raw_fd(fd) };
        File::from_std(std)
    }
}

#[cfg(windows)]
impl std::os::windows::io::FromRawHandle for File {
    /// # Safety
    /// It is the handle of a file that is open, and whose owner the caller is.
    #[track_caller]
    unsafe fn from_raw_handle(handle: std::os::windows::io::RawHandle) -> File {
        // SAFETY: the caller says so.
        let std = unsafe { std::fs::File::from_raw_handle(handle) };
        File::from_std(std)
    }
}
