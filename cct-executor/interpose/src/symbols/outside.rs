//! Random bytes where no world is, in a process that runs a test which is to repeat itself as a whole: the code of a test
//! without an attribute draws before its runtime is built, as for the cases of a property.
//!
//! Who starts the process says so by a variable, as nothing of ours has run when the first byte is drawn.

use crate::stream;
use std::cell::Cell;
use std::ffi::CStr;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// A number, from which they derive.
const VARIABLE: &CStr = c"CCT_OUTSIDE";

/// Whether it is set: not looked at, unset, or set.
static IS_SET: AtomicU8 = AtomicU8::new(UNKNOWN);
static SEED: AtomicU64 = AtomicU64::new(0);
/// How many threads have drawn.
static THREADS: AtomicU64 = AtomicU64::new(0);

const UNKNOWN: u8 = 0;
const UNSET: u8 = 1;
const SET: u8 = 2;

thread_local! {
    /// The number of this thread among those that have drawn, from 1, and how often it has.
    static DRAWN: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

/// Whether the bytes derive from a seed.
pub(super) fn is_given() -> bool {
    match IS_SET.load(Ordering::Acquire) {
        UNKNOWN => look(),
        known => known == SET,
    }
}

/// Allocates nothing, as allocators may draw.
#[cold]
fn look() -> bool {
    // SAFETY: the name ends with a zero byte, and so does what is found.
    let value = unsafe {
        let found = libc::getenv(VARIABLE.as_ptr());
        (!found.is_null()).then(|| CStr::from_ptr(found))
    };
    let seed = value.and_then(|value| value.to_str().ok()?.parse().ok());
    SEED.store(seed.unwrap_or(0), Ordering::Relaxed);
    let known = if seed.is_some() { SET } else { UNSET };
    IS_SET.store(known, Ordering::Release);
    seed.is_some()
}

/// Fills the bytes, if they derive from a seed. Returns whether they do.
pub(super) fn fill(bytes: &mut [u8]) -> bool {
    if !is_given() {
        return false;
    }
    let (mut thread, count) = DRAWN.get();
    if thread == 0 {
        thread = THREADS.fetch_add(1, Ordering::Relaxed) + 1;
    }
    DRAWN.set((thread, count + 1));
    stream::derive(SEED.load(Ordering::Relaxed), thread << 32 ^ count, bytes);
    true
}
