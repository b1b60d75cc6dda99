//! Ends of connections: their addresses, and what is shut down.

use super::{done, names, number};
use crate::symbols::Hidden;
use crate::system::{Moved, OnSocket};
use libc::{c_int, c_void, sockaddr, socklen_t};
use std::mem::transmute;
use std::net::Shutdown;

type Name = unsafe extern "C" fn(c_int, *mut sockaddr, *mut socklen_t) -> c_int;
type ShutDown = unsafe extern "C" fn(c_int, c_int) -> c_int;

pub(super) fn keep() {
    std::hint::black_box((
        getsockname as Name,
        getpeername as Name,
        shutdown as ShutDown,
    ));
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn getsockname(fd: c_int, name: *mut sockaddr, length: *mut socklen_t) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"getsockname\0");
    // SAFETY: the caller's promise.
    unsafe { named(fd, OnSocket::Local, (name, length), &HIDDEN) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn getpeername(fd: c_int, name: *mut sockaddr, length: *mut socklen_t) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"getpeername\0");
    // SAFETY: the caller's promise.
    unsafe { named(fd, OnSocket::Peer, (name, length), &HIDDEN) }
}

/// # Safety
/// As the C library's.
unsafe fn named(
    fd: c_int,
    what: OnSocket<'_>,
    (name, length): (*mut sockaddr, *mut socklen_t),
    hidden: &Hidden,
) -> c_int {
    match number(fd).and_then(|socket| done(socket, what)) {
        Some(Ok(Moved {
            address: Some(address),
            ..
        })) => {
            // SAFETY: the caller's promise.
            unsafe { names::write(address, name, length) };
            0
        }
        Some(_) => -1,
        None => {
            let Some(hidden) = hidden.found() else {
                return -1;
            };
            // SAFETY: the caller's promise, and the type of a function of this name.
            unsafe { transmute::<*mut c_void, Name>(hidden)(fd, name, length) }
        }
    }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn shutdown(fd: c_int, how: c_int) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"shutdown\0");
    if let Some(result) = shut_down(fd, how) {
        return result;
    }
    let Some(hidden) = HIDDEN.found() else {
        return -1;
    };
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe { transmute::<*mut c_void, ShutDown>(hidden)(fd, how) }
}

pub(super) fn shut_down(fd: c_int, how: c_int) -> Option<c_int> {
    let how = match how {
        libc::SHUT_RD => Shutdown::Read,
        libc::SHUT_WR => Shutdown::Write,
        libc::SHUT_RDWR => Shutdown::Both,
        _ => return None,
    };
    let shut = done(number(fd)?, OnSocket::Shutdown(how))?;
    Some(shut.map_or(-1, |_| 0))
}
