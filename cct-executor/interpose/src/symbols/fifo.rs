//! Opening a FIFO waits until its other side is opened, which may be for a task of the same world to do.
//!
//! A thread of its own waits in the call: no other call tells whether it would.

use super::machine::{is_ready, wait};
use super::threads;
use crate::system::System;
use libc::{c_char, c_int};
use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;

/// The call has not returned.
const PENDING: i64 = i64::MIN;

/// Whether opening it so waits for another side.
///
/// # Safety
/// The path is null, or a C string.
pub(super) unsafe fn has_another_side(folder: c_int, path: *const c_char, flags: c_int) -> bool {
    let is_side = matches!(flags & libc::O_ACCMODE, libc::O_RDONLY | libc::O_WRONLY);
    if !is_side || flags & (libc::O_NONBLOCK | libc::O_PATH) != 0 {
        return false;
    }
    let mut found = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the caller's promise; the buffer has room for it, and is looked at only where it was filled.
    unsafe {
        libc::fstatat(folder, path, found.as_mut_ptr(), 0) == 0
            && found.assume_init().st_mode & libc::S_IFMT == libc::S_IFIFO
    }
}

/// Opens it on another thread, while others of the world go on. `None` if there can be no other.
///
/// # Safety
/// The path is a C string.
pub(super) unsafe fn open(
    system: System,
    folder: c_int,
    path: *const c_char,
    flags: c_int,
) -> Option<c_int> {
    // SAFETY: the caller's promise.
    let path: CString = unsafe { CStr::from_ptr(path) }.to_owned();
    // SAFETY: the call takes numbers; what it returns is nobody's yet.
    let bell = unsafe {
        let bell = libc::eventfd(0, libc::EFD_CLOEXEC);
        (bell >= 0).then(|| Arc::new(OwnedFd::from_raw_fd(bell)))
    }?;
    let outcome = Arc::new(AtomicI64::new(PENDING));
    let (rings, tells) = (bell.clone(), outcome.clone());
    let body = move || {
        let one = 1_u64;
        // SAFETY: the path is a C string, and the number is where it is said to be.
        unsafe {
            let opened = libc::syscall(libc::SYS_openat, folder, path.as_ptr(), flags, 0);
            let opened = match opened {
                -1 => -i64::from(*libc::__errno_location()),
                opened => opened,
            };
            tells.store(opened, Ordering::Release);
            libc::syscall(
                libc::SYS_write,
                rings.as_raw_fd(),
                &raw const one,
                size_of::<u64>(),
            );
        }
    };
    threads::uncounted(|| thread::Builder::new().spawn(body)).ok()?;
    // A signal may end the wait for the bell.
    let returned = || outcome.load(Ordering::Acquire) != PENDING;
    while !wait(system, std::time::Duration::MAX, &mut |within| {
        is_ready(bell.as_raw_fd(), libc::POLLIN, within) && returned()
    }) {}
    let opened = outcome.load(Ordering::Acquire);
    if opened < 0 {
        // SAFETY: it is this thread's.
        unsafe { *libc::__errno_location() = c_int::try_from(-opened).unwrap_or(libc::EIO) };
        return Some(-1);
    }
    c_int::try_from(opened).ok()
}
