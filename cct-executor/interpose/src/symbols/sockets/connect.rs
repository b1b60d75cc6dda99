//! Attempts to connect to listeners that the kernel does not know.

use super::{names, options};
use crate::symbols::{Hidden, set_errno};
use crate::system::{Peer, Toward};
use libc::{c_int, c_void, sockaddr, sockaddr_storage, socklen_t};
use std::mem::{size_of, transmute, zeroed};
use std::sync::OnceLock;

type Connect = unsafe extern "C" fn(c_int, *const sockaddr, socklen_t) -> c_int;

/// Says where to connect instead.
static GUIDE: OnceLock<fn(c_int, Peer<'_>) -> Toward> = OnceLock::new();

pub(crate) fn on_connect(guide: fn(c_int, Peer<'_>) -> Toward) {
    GUIDE.get_or_init(|| guide);
}

pub(super) fn keep() {
    std::hint::black_box(connect as Connect);
}

/// Where to connect, if it is a stream of bytes.
///
/// # Safety
/// As for `connect`.
unsafe fn toward(fd: c_int, name: *const sockaddr, length: socklen_t) -> Toward {
    let Some(guide) = GUIDE.get().filter(|_| is_stream(fd)) else {
        return Toward::There;
    };
    // SAFETY: the caller's promise.
    let (address, path) = unsafe { (names::read(name, length), names::read_path(name, length)) };
    match (address, path) {
        (Some(Some(to)), _) => guide(fd, Peer::Address(to)),
        (_, Some(path)) => guide(fd, Peer::Path(path)),
        _ => Toward::There,
    }
}

fn is_stream(fd: c_int) -> bool {
    options::found(fd, libc::SOL_SOCKET, libc::SO_TYPE) == Some(libc::SOCK_STREAM)
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn connect(
    fd: c_int,
    name: *const sockaddr,
    length: socklen_t,
) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"connect\0");
    let Some(hidden) = HIDDEN.found() else {
        return -1;
    };
    // SAFETY: the caller's promise, and the type of a function of this name. What is written has the room it says.
    unsafe {
        let hidden = transmute::<*mut c_void, Connect>(hidden);
        match toward(fd, name, length) {
            Toward::There => hidden(fd, name, length),
            Toward::Instead(to) => {
                let mut name: sockaddr_storage = zeroed();
                let mut length = size_of::<sockaddr_storage>() as socklen_t;
                let into = (&raw mut name).cast::<sockaddr>();
                names::write(to, into, &mut length);
                hidden(fd, into, length)
            }
            Toward::Nobody => {
                set_errno(libc::ECONNREFUSED);
                -1
            }
            Toward::Elsewhere => {
                set_errno(libc::EINPROGRESS);
                -1
            }
        }
    }
}
