//! Errors as Linux gives them: with their number, so that kind and text are the real ones.

use cct_executor::shim::has_numbered_errors;
use std::io::{self, ErrorKind};

/// An error number of Linux.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Errno(i32);

impl Errno {
    pub(crate) const EPERM: Errno = Errno(1);
    pub(crate) const ENOENT: Errno = Errno(2);
    pub(crate) const EIO: Errno = Errno(5);
    pub(crate) const EBADF: Errno = Errno(9);
    pub(crate) const EAGAIN: Errno = Errno(11);
    pub(crate) const EACCES: Errno = Errno(13);
    pub(crate) const EBUSY: Errno = Errno(16);
    pub(crate) const EEXIST: Errno = Errno(17);
    #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
    pub(crate) const ENODEV: Errno = Errno(19);
    pub(crate) const ENOTDIR: Errno = Errno(20);
    pub(crate) const EISDIR: Errno = Errno(21);
    pub(crate) const EINVAL: Errno = Errno(22);
    pub(crate) const EFBIG: Errno = Errno(27);
    pub(crate) const ENOSPC: Errno = Errno(28);
    pub(crate) const EPIPE: Errno = Errno(32);
    pub(crate) const ENAMETOOLONG: Errno = Errno(36);
    pub(crate) const ENOTEMPTY: Errno = Errno(39);
    pub(crate) const ELOOP: Errno = Errno(40);
    pub(crate) const EDESTADDRREQ: Errno = Errno(89);
    pub(crate) const EPROTOTYPE: Errno = Errno(91);
    pub(crate) const EADDRINUSE: Errno = Errno(98);
    pub(crate) const EADDRNOTAVAIL: Errno = Errno(99);
    pub(crate) const EMSGSIZE: Errno = Errno(90);
    pub(crate) const ENOPROTOOPT: Errno = Errno(92);
    pub(crate) const EOPNOTSUPP: Errno = Errno(95);
    pub(crate) const EAFNOSUPPORT: Errno = Errno(97);
    pub(crate) const ENETUNREACH: Errno = Errno(101);
    pub(crate) const ECONNRESET: Errno = Errno(104);
    pub(crate) const ENOTCONN: Errno = Errno(107);
    pub(crate) const ETIMEDOUT: Errno = Errno(110);
    pub(crate) const ECONNREFUSED: Errno = Errno(111);
    pub(crate) const EHOSTUNREACH: Errno = Errno(113);
}

impl Errno {
    fn kind(self) -> ErrorKind {
        match self {
            Errno::EACCES => ErrorKind::PermissionDenied,
            Errno::EADDRINUSE => ErrorKind::AddrInUse,
            Errno::EADDRNOTAVAIL => ErrorKind::AddrNotAvailable,
            Errno::ENOENT => ErrorKind::NotFound,
            _ => ErrorKind::Other,
        }
    }
}

impl From<Errno> for io::Error {
    fn from(errno: Errno) -> io::Error {
        io::Error::from_raw_os_error(errno.0)
    }
}

/// The error of this kind that a socket gives. Where the numbers are not those of Linux, the kind
/// alone.
pub(crate) fn of_socket(kind: ErrorKind) -> io::Error {
    let errno = match kind {
        ErrorKind::BrokenPipe => Errno::EPIPE,
        ErrorKind::ConnectionReset => Errno::ECONNRESET,
        ErrorKind::NotConnected => Errno::ENOTCONN,
        ErrorKind::TimedOut => Errno::ETIMEDOUT,
        ErrorKind::ConnectionRefused => Errno::ECONNREFUSED,
        _ => return kind.into(),
    };
    if cfg!(target_os = "linux") {
        errno.into()
    } else {
        kind.into()
    }
}

/// An error that programs for tokio know by its number, and that tells others what is wrong.
pub(crate) fn telling(errno: Errno, text: impl FnOnce() -> String) -> io::Error {
    let numbered = io::Error::from_raw_os_error(errno.0);
    match cfg!(target_os = "linux") && has_numbered_errors() {
        true => numbered,
        false => io::Error::new(errno.kind(), text()),
    }
}

/// The same error as a number, for those who get nothing else.
pub(crate) fn numbered(error: io::Error) -> io::Error {
    let errno = match error.kind() {
        _ if error.raw_os_error().is_some() => return error,
        ErrorKind::HostUnreachable => Errno::EHOSTUNREACH,
        ErrorKind::PermissionDenied => Errno::EACCES,
        _ => Errno::EIO,
    };
    errno.into()
}
