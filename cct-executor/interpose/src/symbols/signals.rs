//! Signals that a process sends to itself.
//!
//! Who runs a world is not told of real ones: they would reach all worlds of the process, or end it.
//!
//! 1. What listens within a world installs no handler. One that is there is somebody else's.

use super::Hidden;
use crate::system;
use libc::{c_int, c_void, pid_t};
use std::mem::{MaybeUninit, transmute};
use std::ptr;

pub(super) type Kill = unsafe extern "C" fn(pid_t, c_int) -> c_int;
pub(super) type Raise = unsafe extern "C" fn(c_int) -> c_int;

/// Whether a signal would call a handler, or do nothing.
fn is_handled(number: c_int) -> bool {
    let ignored = [libc::SIGCHLD, libc::SIGCONT, libc::SIGURG, libc::SIGWINCH];
    if ignored.contains(&number) {
        return true;
    }
    let mut now = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: nothing is changed, and there is room for what is told. All zeroes are a value of it.
    unsafe {
        libc::sigaction(number, ptr::null(), now.as_mut_ptr()) != 0
            || now.assume_init().sa_sigaction != libc::SIG_DFL
    }
}

/// Whether a signal waits as long as this thread blocks it, to be read from a descriptor maybe.
fn is_blocked(number: c_int) -> bool {
    let mut now = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: nothing is changed, and there is room for what is told. All zeroes are a value of it.
    unsafe {
        libc::pthread_sigmask(libc::SIG_BLOCK, ptr::null(), now.as_mut_ptr()) == 0
            && libc::sigismember(now.as_ptr(), number) == 1
    }
}

/// Whether the thread does something else with a signal to its own process.
fn is_taken(number: c_int) -> bool {
    // A number of 0 asks whether the process is there.
    let system = system::get().filter(|_| number > 0);
    system.is_some_and(|system| (system.signal)(number, is_handled(number)))
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn kill(process: pid_t, number: c_int) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"kill\0");
    // SAFETY: the call has no arguments.
    let is_own = process == unsafe { libc::getpid() };
    if is_own && is_taken(number) {
        return 0;
    }
    let Some(hidden) = HIDDEN.found() else {
        return -1;
    };
    // SAFETY: the type of a function of this name.
    unsafe { transmute::<*mut c_void, Kill>(hidden)(process, number) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn raise(number: c_int) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"raise\0");
    if !is_blocked(number) && is_taken(number) {
        return 0;
    }
    let Some(hidden) = HIDDEN.found() else {
        return -1;
    };
    // SAFETY: the type of a function of this name.
    unsafe { transmute::<*mut c_void, Raise>(hidden)(number) }
}
