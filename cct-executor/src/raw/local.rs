//! Values of this thread, reached without a call.
//!
//! Does not: reach values that have a destructor.

use std::ptr;
use std::thread::LocalKey;

/// As [`LocalKey::with`], but inlined for certain: where the compiler decides, whether a hot operation
/// pays for two calls depends on what else is in the program.
#[inline(always)]
pub(crate) fn with<T, R>(key: &'static LocalKey<T>, f: impl FnOnce(&T) -> R) -> R {
    const { assert!(!std::mem::needs_drop::<T>()) };
    let value = key.with(ptr::from_ref);
    // SAFETY: without a destructor a thread's value lives as long as the thread, and so longer than
    // this call.
    f(unsafe { &*value })
}
