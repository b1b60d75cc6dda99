//! What the machine's sockets are set to.

use libc::{c_int, c_void, socklen_t, timeval};
use std::mem::size_of;
use std::ptr;

/// What the kernel writes for an option.
///
/// # Safety
/// A value whatever its bytes are.
pub(super) unsafe trait Value {
    const NOTHING: Self;
}

// SAFETY: a number.
unsafe impl Value for c_int {
    const NOTHING: Self = 0;
}

// SAFETY: a number.
unsafe impl Value for u64 {
    const NOTHING: Self = 0;
}

// SAFETY: two numbers.
unsafe impl Value for timeval {
    const NOTHING: Self = Self {
        tv_sec: 0,
        tv_usec: 0,
    };
}

/// An option of the socket's, if it is a socket that has it.
pub(super) fn found<T: Value>(fd: c_int, level: c_int, option: c_int) -> Option<T> {
    let mut value = T::NOTHING;
    let mut length = size_of::<T>() as socklen_t;
    let into = ptr::from_mut(&mut value).cast::<c_void>();
    // SAFETY: the buffer is as long as it says, and holds a value whatever is written.
    let found = unsafe { libc::getsockopt(fd, level, option, into, &mut length) };
    (found == 0).then_some(value)
}

pub(super) fn is_set(fd: c_int, level: c_int, option: c_int) -> bool {
    found::<c_int>(fd, level, option).is_some_and(|value| value != 0)
}
