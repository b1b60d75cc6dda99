//! Calls that send and receive whole messages, one or several.

use super::control::{tell, wishes};
use super::{count, fails, names, number, patience, receive, send_parts, vectors};
use crate::symbols::Hidden;
use crate::system::{Moved, Sending};
use libc::{c_int, c_long, c_uint, c_void, iovec, mmsghdr, msghdr, ssize_t, timespec};
use std::borrow::Cow;
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

/// The buffers of a message.
///
/// # Safety
/// As for `sendmsg`.
unsafe fn buffers<'a>(message: &msghdr) -> &'a [iovec] {
    if message.msg_iov.is_null() || message.msg_iovlen == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts(message.msg_iov, message.msg_iovlen) }
}

/// Whether they may be taken for slices, which are nowhere null, as those of C are that are empty.
fn are_slices(buffers: &[iovec]) -> bool {
    buffers.iter().all(|part| !part.iov_base.is_null())
}

/// What is to be sent. `IoSlice` and `IoSliceMut` are as C's are on Unix, says the standard library.
///
/// # Safety
/// As for `sendmsg`.
unsafe fn parts<'a>(message: &msghdr) -> Cow<'a, [IoSlice<'a>]> {
    // SAFETY: the caller's promise, and the two types are the same.
    unsafe {
        let all = buffers(message);
        if are_slices(all) {
            return Cow::Borrowed(slice::from_raw_parts(all.as_ptr().cast(), all.len()));
        }
        let some = all.iter().filter(|part| !part.iov_base.is_null());
        let data = some.map(|part| slice::from_raw_parts(part.iov_base.cast(), part.iov_len));
        data.map(IoSlice::new).collect()
    }
}

/// Receives into what the message has room for. Also returns how much that is.
///
/// # Safety
/// As for `recvmsg`.
unsafe fn received_into(
    socket: (c_int, u64),
    message: &msghdr,
    flags: c_int,
) -> Option<(Result<Moved, ()>, usize)> {
    // SAFETY: the caller's promise, and the two types are the same.
    let received = unsafe {
        let all = buffers(message);
        if are_slices(all) {
            let into = message.msg_iov.cast::<IoSliceMut<'_>>();
            let into = match all {
                [] => &mut [],
                _ => slice::from_raw_parts_mut(into, all.len()),
            };
            receive(socket, into, flags)
        } else {
            let some = all.iter().filter(|part| !part.iov_base.is_null());
            let into = some.map(|part| (part.iov_base.cast::<u8>(), part.iov_len));
            let into = into.map(|(base, room)| slice::from_raw_parts_mut(base, room));
            let mut into: Vec<IoSliceMut<'_>> = into.map(IoSliceMut::new).collect();
            receive(socket, &mut into, flags)
        }
    };
    // SAFETY: the caller's promise.
    let room = unsafe { buffers(message) }.iter();
    let room = room.map(|part| part.iov_len).sum();
    Some((received?, room))
}

/// # Safety
/// As the C library's.
pub(super) unsafe fn sent(fd: c_int, message: *const msghdr, flags: c_int) -> Option<ssize_t> {
    let socket = number(fd)?;
    // SAFETY: the caller's promise.
    unsafe {
        let message = message.as_ref()?;
        let to = names::read(message.msg_name.cast(), message.msg_namelen)?;
        let wishes = wishes(message);
        if wishes.descriptors {
            return fails(socket, libc::EOPNOTSUPP).map(|_| -1);
        }
        let sending = Sending {
            parts: &parts(message),
            to,
            from: wishes.from,
            pieces: wishes.pieces,
            patience: patience::of(fd, flags, libc::SO_SNDTIMEO),
        };
        let sent = send_parts((fd, socket), sending, flags)?;
        Some(sent.map_or(-1, |sent| count(sent.bytes)))
    }
}

/// # Safety
/// As the C library's.
pub(super) unsafe fn received(fd: c_int, message: *mut msghdr, flags: c_int) -> Option<ssize_t> {
    let socket = number(fd)?;
    // SAFETY: the caller's promise.
    unsafe {
        let message = message.as_mut()?;
        let (received, room) = received_into((fd, socket), message, flags)?;
        let Ok(received) = received else {
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
            _ => return vectors::called(number, [fd.into(), a, b, c, 0, 0]),
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
