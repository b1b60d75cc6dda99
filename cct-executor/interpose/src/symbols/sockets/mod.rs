//! Sockets that are none of the machine's, whose descriptors are.
//!
//! Other calls that send or receive (`read`, `write`, `splice`...) reach the machine's.

mod beyond;
mod connect;
mod control;
mod ends;
mod messages;
mod names;
mod options;
mod patience;
mod vectors;

pub(super) use beyond::enter_if_it_listens;
pub(crate) use beyond::{accepts_itself, accepts_no_longer};
pub(crate) use connect::on_connect;

use super::machine::{send_a_part, wait_for};
use super::{Hidden, set_errno};
use crate::system::{self, Moved, OnSocket, Sending};
use libc::{c_int, c_long, c_short, c_void, size_t, sockaddr, socklen_t, ssize_t};
use std::io::{IoSlice, IoSliceMut};
use std::mem::{MaybeUninit, transmute};
use std::ptr;
use std::time::Duration;

type Send = unsafe extern "C" fn(c_int, *const c_void, size_t, c_int) -> ssize_t;
type SendTo = unsafe extern "C" fn(
    c_int,
    *const c_void,
    size_t,
    c_int,
    *const sockaddr,
    socklen_t,
) -> ssize_t;
type Receive = unsafe extern "C" fn(c_int, *mut c_void, size_t, c_int) -> ssize_t;
type ReceiveFrom = unsafe extern "C" fn(
    c_int,
    *mut c_void,
    size_t,
    c_int,
    *mut sockaddr,
    *mut socklen_t,
) -> ssize_t;

/// The system call of this number, if it is one that is made for sockets that are none of the machine's.
///
/// # Safety
/// As the C library's.
pub(super) unsafe fn called(number: c_long, arguments: [c_long; 6]) -> Option<c_long> {
    let [fd, data, length, flags, address, address_length] = arguments;
    let (fd, length, flags) = (fd as c_int, length as size_t, flags as c_int);
    // SAFETY: the caller's promise.
    unsafe {
        let moved = match number {
            libc::SYS_sendto => {
                let to = (address as *const sockaddr, address_length as socklen_t);
                sent(fd, (data as *const c_void, length), flags, to)
            }
            libc::SYS_recvfrom => {
                let from = (address as *mut sockaddr, address_length as *mut socklen_t);
                received(fd, (data as *mut c_void, length), flags, from)
            }
            libc::SYS_shutdown => return ends::shut_down(fd, data as c_int).map(c_long::from),
            libc::SYS_connect => {
                let (name, length) = (data as *const sockaddr, length as socklen_t);
                return Some(c_long::from(connect::connect(fd, name, length)));
            }
            _ => return messages::called(number, arguments),
        };
        moved.map(|moved| moved as c_long)
    }
}

/// What is empty may be null in C.
const EMPTY: *const c_void = ptr::NonNull::<u8>::dangling().as_ptr().cast_const().cast();

pub(super) fn keep() {
    let symbols = (
        send as Send,
        sendto as SendTo,
        recv as Receive,
        recvfrom as ReceiveFrom,
    );
    std::hint::black_box(symbols);
    beyond::keep();
    connect::keep();
    ends::keep();
    messages::keep();
    vectors::keep();
}

/// The number of the inode of a thread's socket, if the thread has anything in the place of the system.
fn number(fd: c_int) -> Option<u64> {
    system::get()?;
    let mut found = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the buffer has room for it, and is looked at only where it was filled.
    let found = unsafe {
        if libc::fstat(fd, found.as_mut_ptr()) != 0 {
            return None;
        }
        found.assume_init()
    };
    (found.st_mode & libc::S_IFMT == libc::S_IFSOCK).then_some(found.st_ino)
}

/// Does it, if the socket is none of the machine's.
fn done(socket: u64, what: OnSocket<'_>) -> Option<Result<Moved, ()>> {
    let done = (system::get()?.socket)(socket, what)?;
    Some(done.map_err(|error| set_errno(error.raw_os_error().unwrap_or(libc::EIO))))
}

fn count(bytes: usize) -> ssize_t {
    ssize_t::try_from(bytes).unwrap_or(ssize_t::MAX)
}

/// Receives something.
fn receive<'a>(
    (fd, socket): (c_int, u64),
    into: &'a mut [IoSliceMut<'a>],
    flags: c_int,
) -> Option<Result<Moved, ()>> {
    if let Some(error) = refused(flags) {
        return fails(socket, error);
    }
    let patience = patience::of(fd, flags, libc::SO_RCVTIMEO);
    let received = OnSocket::Receive {
        into,
        peek: flags & libc::MSG_PEEK != 0,
        patience,
    };
    done(socket, received).or_else(|| would_block(fd, libc::POLLIN, patience))
}

/// Sends something.
fn send_parts(
    (fd, socket): (c_int, u64),
    sending: Sending<'_>,
    flags: c_int,
) -> Option<Result<Moved, ()>> {
    if let Some(error) = refused(flags & libc::MSG_OOB) {
        return fails(socket, error);
    }
    let patience = sending.patience;
    done(socket, OnSocket::Send(sending)).or_else(|| would_block(fd, libc::POLLOUT, patience))
}

/// Waits for a socket of the machine's. Says that there is nothing for the machine to do if that was for too long.
fn would_block(fd: c_int, events: c_short, patience: Duration) -> Option<Result<Moved, ()>> {
    if wait_for(fd, events, patience) {
        return None;
    }
    set_errno(libc::EAGAIN);
    Some(Err(()))
}

/// What is asked for that such a socket does not have: data out of band, and errors that are queued apart.
fn refused(flags: c_int) -> Option<c_int> {
    match flags {
        _ if flags & libc::MSG_ERRQUEUE != 0 => Some(libc::EAGAIN),
        _ if flags & libc::MSG_OOB != 0 => Some(libc::EOPNOTSUPP),
        _ => None,
    }
}

/// Fails, if the socket is none of the machine's.
fn fails(socket: u64, error: c_int) -> Option<Result<Moved, ()>> {
    let _is_ours = done(socket, OnSocket::Local)?;
    set_errno(error);
    Some(Err(()))
}

/// # Safety
/// As the C library's, whose does the same.
#[unsafe(no_mangle)]
unsafe extern "C" fn send(fd: c_int, data: *const c_void, length: size_t, flags: c_int) -> ssize_t {
    // SAFETY: the caller's promise.
    unsafe { sendto(fd, data, length, flags, ptr::null(), 0) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn sendto(
    fd: c_int,
    data: *const c_void,
    length: size_t,
    flags: c_int,
    to: *const sockaddr,
    to_length: socklen_t,
) -> ssize_t {
    static HIDDEN: Hidden = Hidden::new(b"sendto\0");
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe {
        if let Some(result) = sent(fd, (data, length), flags, (to, to_length)) {
            return result;
        }
        let Some(hidden) = HIDDEN.found() else {
            return -1;
        };
        let patience = match system::get() {
            Some(_) => patience::of(fd, flags, libc::SO_SNDTIMEO),
            None => Duration::ZERO,
        };
        send_a_part(fd, patience, |more| {
            let flags = flags | more;
            transmute::<*mut c_void, SendTo>(hidden)(fd, data, length, flags, to, to_length)
        })
    }
}

/// Writes a part to a socket of the machine's, as `write` does.
///
/// # Safety
/// As `write`.
pub(super) unsafe fn written(fd: c_int, data: *const c_void, length: size_t) -> Option<ssize_t> {
    static HIDDEN: Hidden = Hidden::new(b"send\0");
    number(fd)?;
    let patience = patience::of(fd, 0, libc::SO_SNDTIMEO);
    let hidden = HIDDEN.found()?;
    Some(send_a_part(fd, patience, |flags| {
        // SAFETY: the caller's promise, and the type of a function of this name.
        unsafe { transmute::<*mut c_void, Send>(hidden)(fd, data, length, flags) }
    }))
}

/// # Safety
/// As the C library's.
unsafe fn sent(
    fd: c_int,
    (data, length): (*const c_void, size_t),
    flags: c_int,
    (to, to_length): (*const sockaddr, socklen_t),
) -> Option<ssize_t> {
    let socket = number(fd)?;
    let data = if length == 0 { EMPTY } else { data };
    // SAFETY: the caller's promise.
    let (data, to) = unsafe {
        (
            std::slice::from_raw_parts(data.cast::<u8>(), length),
            names::read(to, to_length),
        )
    };
    let sending = Sending {
        parts: &[IoSlice::new(data)],
        to: to?,
        from: None,
        pieces: None,
        patience: patience::of(fd, flags, libc::SO_SNDTIMEO),
    };
    let sent = send_parts((fd, socket), sending, flags)?;
    Some(sent.map_or(-1, |sent| count(sent.bytes)))
}

/// # Safety
/// As the C library's, whose does the same.
#[unsafe(no_mangle)]
unsafe extern "C" fn recv(fd: c_int, into: *mut c_void, length: size_t, flags: c_int) -> ssize_t {
    // SAFETY: the caller's promise.
    unsafe { recvfrom(fd, into, length, flags, ptr::null_mut(), ptr::null_mut()) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn recvfrom(
    fd: c_int,
    into: *mut c_void,
    length: size_t,
    flags: c_int,
    from: *mut sockaddr,
    from_length: *mut socklen_t,
) -> ssize_t {
    static HIDDEN: Hidden = Hidden::new(b"recvfrom\0");
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe {
        if let Some(result) = received(fd, (into, length), flags, (from, from_length)) {
            return result;
        }
        let Some(hidden) = HIDDEN.found() else {
            return -1;
        };
        transmute::<*mut c_void, ReceiveFrom>(hidden)(fd, into, length, flags, from, from_length)
    }
}

/// # Safety
/// As the C library's.
unsafe fn received(
    fd: c_int,
    (into, length): (*mut c_void, size_t),
    flags: c_int,
    (from, from_length): (*mut sockaddr, *mut socklen_t),
) -> Option<ssize_t> {
    let socket = number(fd)?;
    let into = if length == 0 { EMPTY.cast_mut() } else { into };
    // SAFETY: the caller's promise: so many bytes that may be written. They are looked at by nobody.
    let into = unsafe { std::slice::from_raw_parts_mut(into.cast::<u8>(), length) };
    let received = receive((fd, socket), &mut [IoSliceMut::new(into)], flags)?;
    let Ok(received) = received else {
        return Some(-1);
    };
    // SAFETY: the caller's promise.
    unsafe {
        match (received.address, from_length.is_null()) {
            (Some(address), _) => names::write(address, from, from_length),
            (None, false) => from_length.write(0),
            (None, true) => {}
        }
    }
    let whole = flags & libc::MSG_TRUNC != 0;
    Some(count(if whole {
        received.bytes
    } else {
        received.bytes.min(length)
    }))
}
