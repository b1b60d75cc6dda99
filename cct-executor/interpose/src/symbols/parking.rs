//! The word of memory in which `std` parks this thread.
//!
//! Parking is a wait for a word like any other, and nothing about the call tells it from a wait for a
//! lock: the value that means a parked thread also is that of an `RwLock` which is locked for writing
//! while readers and writers wait. So the thread is parked once, for no time, to see where.

use crate::system::{self, System, Waited};
use std::cell::Cell;
use std::time::Duration;

thread_local! {
    /// Its address, or 0 before it was looked for.
    static ADDRESS: Cell<usize> = const { Cell::new(0) };
}

/// Its address, if this thread looked for it.
pub(super) fn address() -> usize {
    ADDRESS.get()
}

/// Looks for it, unless it is known.
pub(crate) fn find() {
    if ADDRESS.get() != 0 {
        return;
    }
    let outside = system::get();
    system::set(Some(System {
        wait: |word, _| {
            ADDRESS.set(word.address());
            Waited::TimedOut
        },
        wake: |_, _| 0,
        sleep: |_| false,
        clock: |_| Duration::ZERO,
    }));
    park();
    if ADDRESS.get() == 0 {
        // Somebody had unparked the thread beforehand, and counts on it.
        park();
        unpark();
    }
    system::set(outside);
}

fn park() {
    std::thread::park_timeout(Duration::ZERO);
}

#[expect(clippy::disallowed_methods, reason = "it is about parking")]
fn unpark() {
    std::thread::current().unpark();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_for_it_keeps_what_unpark_left() {
        unpark();
        find();
        assert_ne!(address(), 0);
        let before = address();
        // Would hang if the token were lost.
        std::thread::park();
        find();
        assert_eq!(address(), before);
    }
}
