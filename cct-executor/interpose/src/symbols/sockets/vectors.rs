//! `readv` and `writev`, as the standard library's streams of bytes use them. On anything but a socket they are the
//! machine's.

use super::messages::{received, sent};
use crate::symbols::Hidden;
use crate::symbols::machine::wait_where_it_blocks;
use crate::symbols::written::wrote;
use libc::{c_int, c_long, c_void, iovec, msghdr, ssize_t};
use std::mem::{transmute, zeroed};

type Vectors = unsafe extern "C" fn(c_int, *const iovec, c_int) -> ssize_t;

pub(super) fn keep() {
    std::hint::black_box((readv as Vectors, writev as Vectors));
}

/// A message of nothing but these buffers.
fn message(parts: *const iovec, count: c_int) -> Option<msghdr> {
    // SAFETY: all zeroes are a value of it.
    let mut message: msghdr = unsafe { zeroed() };
    message.msg_iov = parts.cast_mut();
    message.msg_iovlen = usize::try_from(count).ok()? as _;
    Some(message)
}

/// # Safety
/// As for `readv`.
unsafe fn read(fd: c_int, parts: *const iovec, count: c_int) -> Option<ssize_t> {
    // SAFETY: the caller's promise.
    unsafe { received(fd, &mut message(parts, count)?, 0) }
}

/// # Safety
/// As for `writev`.
unsafe fn write(fd: c_int, parts: *const iovec, count: c_int) -> Option<ssize_t> {
    // SAFETY: the caller's promise.
    unsafe { sent(fd, &message(parts, count)?, 0) }
}

/// The system call of this number, if it is one of these.
///
/// # Safety
/// As the C library's.
pub(super) unsafe fn called(number: c_long, [fd, a, b, ..]: [c_long; 6]) -> Option<c_long> {
    let (fd, parts, count) = (fd as c_int, a as *const iovec, b as c_int);
    // SAFETY: the caller's promise.
    let moved = unsafe {
        match number {
            libc::SYS_readv => read(fd, parts, count)?,
            libc::SYS_writev => write(fd, parts, count)?,
            _ => return None,
        }
    };
    Some(moved as c_long)
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn readv(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t {
    static HIDDEN: Hidden = Hidden::new(b"readv\0");
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe {
        if let Some(result) = read(fd, parts, count) {
            return result;
        }
        let Some(hidden) = HIDDEN.found() else {
            return -1;
        };
        wait_where_it_blocks(fd, libc::POLLIN);
        transmute::<*mut c_void, Vectors>(hidden)(fd, parts, count)
    }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn writev(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t {
    static HIDDEN: Hidden = Hidden::new(b"writev\0");
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe {
        if let Some(result) = write(fd, parts, count) {
            return result;
        }
        let Some(hidden) = HIDDEN.found() else {
            return -1;
        };
        if fd > libc::STDERR_FILENO {
            wait_where_it_blocks(fd, libc::POLLOUT);
        }
        wrote(
            fd,
            transmute::<*mut c_void, Vectors>(hidden)(fd, parts, count),
        )
    }
}
