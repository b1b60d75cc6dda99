//! Calls that send and receive whole messages, one or several.

use super::control::{tell, wishes};
use super::{count, names, number, receive, send_parts};
use crate::symbols::Hidden;
use crate::system::Sending;
use libc::{c_int, c_long, c_uint, c_void, iovec, mmsghdr, msghdr, ssize_t, timespec};
use std::io::{IoSlice, IoSliceMut};
use std::mem::transmute;
use std::slice;

type SendMessage = unsafe extern "C" fn(c_int, *const msghdr, c_int) -> ssize_t;
type ReceiveMessage = unsafe extern "C" fn(c_int, *mut msghdr, c_int) -> ssize_t;
type SendSeveral = unsafe extern "C" fn(c_int, *mut mmsghdr, c_uint, c_int) -> c_int;
type ReceiveSeveral =
    unsafe extern "C" fn(c_int, *mut mmsghdr, c_uint, c_int, *mut timespec) -> c_int;

pub(super) fn keep() {
    let symbols = (
        sendmsg as SendMessage,
        recvmsg as ReceiveMessage,
        sendmmsg as SendSeveral,
        recvmmsg as ReceiveSeveral,
    );
    std::hint::black_box(symbols);
}

/// The buffers of a message. `IoSlice` and `IoSliceMut` are as C's are on Unix, says the standard library.
///
/// # Safety
/// As for `sendmsg`.
unsafe fn buffers<'a>(message: &msghdr) -> &'a mut [iovec] {
    if message.msg_iov.is_null() || message.msg_iovlen == 0 {
        return &mut [];
    }
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts_mut(message.msg_iov, message.msg_iovlen) }
}

/// # Safety
/// As the C library's.
unsafe fn sent(fd: c_int, message: *const msghdr, flags: c_int) -> Option<ssize_t> {
    let socket = number(fd)?;
    // SAFETY: the caller's promise.
    unsafe {
        let message = message.as_ref()?;
        let to = names::read(message.msg_name.cast(), message.msg_namelen)?;
        let wishes = wishes(message);
        let parts = &*(buffers(message) as *mut [iovec] as *const [IoSlice<'_>]);
        let sending = Sending {
            parts,
            to,
            from: wishes.from,
            pieces: wishes.pieces,
        };
        let sent = send_parts(socket, sending, flags)?;
        Some(sent.map_or(-1, |sent| count(sent.bytes)))
    }
}

/// # Safety
/// As the C library's.
unsafe fn received(fd: c_int, message: *mut msghdr, flags: c_int) -> Option<ssize_t> {
    let socket = number(fd)?;
    // SAFETY: the caller's promise.
    unsafe {
        let message = message.as_mut()?;
        let into = &mut *(buffers(message) as *mut [iovec] as *mut [IoSliceMut<'_>]);
        let room = into.iter().map(|part| part.len()).sum();
        let Ok(received) = receive(socket, into, flags)? else {
            return Some(-1);
        };
        match received.address {
            Some(address) => {
                let length = &raw mut message.msg_namelen;
                names::write(address, message.msg_name.cast(), length);
            }
            None => message.msg_namelen = 0,
        }
        message.msg_flags = 0;
        if received.bytes > room {
            message.msg_flags |= libc::MSG_TRUNC;
        }
        tell(fd, message, received.to);
        let whole = flags & libc::MSG_TRUNC != 0;
        let bytes = if whole {
            received.bytes
        } else {
            received.bytes.min(room)
        };
        Some(count(bytes))
    }
}

/// The system call of this number, if it is one of these.
///
/// # Safety
/// As the C library's.
pub(super) unsafe fn called(number: c_long, [fd, a, b, c, ..]: [c_long; 6]) -> Option<c_long> {
    let fd = fd as c_int;
    // SAFETY: the caller's promise.
    unsafe {
        Some(match number {
            libc::SYS_sendmsg => sent(fd, a as *const msghdr, b as c_int)? as c_long,
            libc::SYS_recvmsg => received(fd, a as *mut msghdr, b as c_int)? as c_long,
            libc::SYS_sendmmsg => {
                let one = |fd, message: *mut msghdr, flags| sent(fd, message, flags);
                let call = (fd, c as c_int);
                c_long::from(each(a as *mut mmsghdr, b as c_uint, one, call)?)
            }
            libc::SYS_recvmmsg => {
                let call = (fd, c as c_int);
                c_long::from(each(a as *mut mmsghdr, b as c_uint, received, call)?)
            }
            _ => return None,
        })
    }
}

/// Each of the messages, as long as all is well. Says what the call for one of them would if that is the first.
///
/// # Safety
/// There are so many, each as for `one`.
unsafe fn each(
    messages: *mut mmsghdr,
    most: c_uint,
    one: unsafe fn(c_int, *mut msghdr, c_int) -> Option<ssize_t>,
    (fd, flags): (c_int, c_int),
) -> Option<c_int> {
    number(fd)?;
    let mut well: c_int = 0;
    for at in 0..most.min(libc::UIO_MAXIOV as c_uint) {
        // SAFETY: the caller's promise.
        let moved = unsafe {
            let message = messages.add(at as usize);
            let Some(moved) = one(fd, &raw mut (*message).msg_hdr, flags) else {
                return (well > 0).then_some(well);
            };
            if let Ok(moved) = c_uint::try_from(moved) {
                (*message).msg_len = moved;
            }
            moved
        };
        if moved < 0 {
            return Some(if well == 0 { -1 } else { well });
        }
        well += 1;
    }
    Some(well)
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
    static HIDDEN: Hidden = Hidden::new(b"sendmsg\0");
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe {
        if let Some(result) = sent(fd, message, flags) {
            return result;
        }
        let Some(hidden) = HIDDEN.found() else {
            return -1;
        };
        transmute::<*mut c_void, SendMessage>(hidden)(fd, message, flags)
    }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
    static HIDDEN: Hidden = Hidden::new(b"recvmsg\0");
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe {
        if let Some(result) = received(fd, message, flags) {
            return result;
        }
        let Some(hidden) = HIDDEN.found() else {
            return -1;
        };
        transmute::<*mut c_void, ReceiveMessage>(hidden)(fd, message, flags)
    }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn sendmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    most: c_uint,
    flags: c_int,
) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"sendmmsg\0");
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe {
        let one = |fd, message: *mut msghdr, flags| sent(fd, message, flags);
        if let Some(result) = each(messages, most, one, (fd, flags)) {
            return result;
        }
        let Some(hidden) = HIDDEN.found() else {
            return -1;
        };
        transmute::<*mut c_void, SendSeveral>(hidden)(fd, messages, most, flags)
    }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn recvmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    most: c_uint,
    flags: c_int,
    limit: *mut timespec,
) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"recvmmsg\0");
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe {
        if let Some(result) = each(messages, most, received, (fd, flags)) {
            return result;
        }
        let Some(hidden) = HIDDEN.found() else {
            return -1;
        };
        transmute::<*mut c_void, ReceiveSeveral>(hidden)(fd, messages, most, flags, limit)
    }
}
