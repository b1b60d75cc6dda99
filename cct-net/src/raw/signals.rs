//! Signals that really come to the process.

use std::collections::BTreeSet;
use std::ffi::c_int;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// By number.
static CAME: [AtomicU64; 65] = [const { AtomicU64::new(0) }; 65];

fn came_of(number: c_int) -> Option<&'static AtomicU64> {
    CAME.get(usize::try_from(number).ok()?)
}

/// Signals of this number are counted from now on, and no longer do what they do by default.
///
/// # Errors
/// Those of installing a handler.
pub(crate) fn count(number: c_int) -> io::Result<()> {
    static COUNTED: Mutex<BTreeSet<c_int>> = Mutex::new(BTreeSet::new());
    let mut counted = COUNTED.lock().unwrap_or_else(PoisonError::into_inner);
    if let (Some(came), false) = (came_of(number), counted.contains(&number)) {
        let note = move || {
            came.fetch_add(1, Ordering::Relaxed);
        };
        // SAFETY: all that the handler does is to change an atomic number.
        unsafe { signal_hook_registry::register(number, note)? };
        counted.insert(number);
    }
    Ok(())
}

/// How many have come since they are counted.
pub(crate) fn came(number: c_int) -> u64 {
    came_of(number).map_or(0, |came| came.load(Ordering::Relaxed))
}
