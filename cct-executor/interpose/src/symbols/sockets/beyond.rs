//! Calls on the machine's own sockets that would block the thread.

use crate::symbols::Hidden;
use crate::{clocks_outside, system};
use libc::{c_int, c_short, c_void, pollfd, sockaddr, socklen_t};
use std::mem::transmute;
use std::time::Duration;

type Accept = unsafe extern "C" fn(c_int, *mut sockaddr, *mut socklen_t) -> c_int;
type AcceptWith = unsafe extern "C" fn(c_int, *mut sockaddr, *mut socklen_t, c_int) -> c_int;

pub(super) fn keep() {
    std::hint::black_box((accept as Accept, accept4 as AcceptWith));
}

/// Lets the thread do something else, if it knows what, until the call would not block, or has waited for so long.
pub(super) fn wait(fd: c_int, events: c_short, patience: Duration) {
    let Some(system) = system::get() else {
        return;
    };
    if patience.is_zero() || is_ready(fd, events) {
        return;
    }
    let begin = clocks_outside().monotonic;
    let waited = || clocks_outside().monotonic.saturating_sub(begin);
    (system.join)(&mut || is_ready(fd, events) || waited() >= patience);
}

/// Whether a call would not block: there may be nothing to wait for.
fn is_ready(fd: c_int, events: c_short) -> bool {
    let mut asked = pollfd {
        fd,
        events,
        revents: 0,
    };
    // SAFETY: there is one.
    unsafe { libc::poll(&raw mut asked, 1, 0) != 0 }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn accept(fd: c_int, name: *mut sockaddr, length: *mut socklen_t) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"accept\0");
    before_accepting(fd);
    let Some(hidden) = HIDDEN.found() else {
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
    before_accepting(fd);
    let Some(hidden) = HIDDEN.found() else {
        return -1;
    };
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe { transmute::<*mut c_void, AcceptWith>(hidden)(fd, name, length, flags) }
}

fn before_accepting(fd: c_int) {
    if system::get().is_some() {
        wait(
            fd,
            libc::POLLIN,
            super::patience::of(fd, 0, libc::SO_RCVTIMEO),
        );
    }
}
