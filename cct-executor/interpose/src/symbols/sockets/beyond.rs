//! Who accepts connections by the machine's own sockets.

use super::options;
use crate::symbols::machine::{is_ready, wait_for};
use crate::symbols::{Hidden, set_errno};
use crate::system;
use libc::{c_int, c_void, epoll_event, sockaddr, socklen_t};
use std::mem::transmute;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

type Accept = unsafe extern "C" fn(c_int, *mut sockaddr, *mut socklen_t) -> c_int;
type AcceptWith = unsafe extern "C" fn(c_int, *mut sockaddr, *mut socklen_t, c_int) -> c_int;
type Watch = unsafe extern "C" fn(c_int, c_int, c_int, *mut epoll_event) -> c_int;

/// The cookies of those by which the program accepts. None is 0.
static ACCEPTING: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];
/// How many were ever entered.
static ENTERED: AtomicUsize = AtomicUsize::new(0);

pub(super) fn keep() {
    std::hint::black_box((accept as Accept, accept4 as AcceptWith));
    std::hint::black_box(epoll_ctl as Watch);
}

pub(crate) fn accepts_itself(cookie: u64) -> bool {
    ACCEPTING.iter().any(|one| one.load(Relaxed) == cookie)
}

pub(crate) fn accepts_no_longer(cookie: u64) {
    for one in &ACCEPTING {
        // Another one is there by now, if it fails.
        let _ = one.compare_exchange(cookie, 0, Relaxed, Relaxed);
    }
}

/// The program is about to accept by it.
fn enter(fd: c_int) {
    let cookie = options::found::<u64>(fd, libc::SOL_SOCKET, libc::SO_COOKIE);
    if let Some(cookie) = cookie.filter(|&cookie| !accepts_itself(cookie)) {
        let place = ENTERED.fetch_add(1, Relaxed) % ACCEPTING.len();
        ACCEPTING[place].store(cookie, Relaxed);
    }
}

/// The program waits until somebody connects, if that is what it waits for: it is about to accept then.
pub(in crate::symbols) fn enter_if_it_listens(fd: c_int) {
    if options::is_set(fd, libc::SOL_SOCKET, libc::SO_ACCEPTCONN) {
        enter(fd);
    }
}

/// Returns whether there is, or may be, somebody to accept.
fn is_about_to_accept(fd: c_int) -> bool {
    enter(fd);
    let Some(system) = system::get() else {
        return true;
    };
    let patience = super::patience::of(fd, 0, libc::SO_RCVTIMEO);
    let mut connects = |within| is_ready(fd, libc::POLLIN, within);
    if !patience.is_zero() && !connects(Duration::ZERO) && !(system.accepts)(&mut connects) {
        set_errno(libc::EOPNOTSUPP);
        return false;
    }
    if !wait_for(fd, libc::POLLIN, patience) {
        set_errno(libc::EAGAIN);
        return false;
    }
    true
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn accept(fd: c_int, name: *mut sockaddr, length: *mut socklen_t) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"accept\0");
    let Some(hidden) = HIDDEN.found().filter(|_| is_about_to_accept(fd)) else {
        return -1;
    };
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe { transmute::<*mut c_void, Accept>(hidden)(fd, name, length) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn accept4(
    fd: c_int,
    name: *mut sockaddr,
    length: *mut socklen_t,
    flags: c_int,
) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"accept4\0");
    let Some(hidden) = HIDDEN.found().filter(|_| is_about_to_accept(fd)) else {
        return -1;
    };
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe { transmute::<*mut c_void, AcceptWith>(hidden)(fd, name, length, flags) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_ctl(
    epoll: c_int,
    operation: c_int,
    fd: c_int,
    event: *mut epoll_event,
) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"epoll_ctl\0");
    let Some(hidden) = HIDDEN.found() else {
        return -1;
    };
    if operation == libc::EPOLL_CTL_ADD {
        enter_if_it_listens(fd);
    }
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe { transmute::<*mut c_void, Watch>(hidden)(epoll, operation, fd, event) }
}
