//! What a thread has in its thread-locals.
//!
//! 1. It is copied byte by byte, for comparisons: what lies behind pointers is not looked at.
//! 2. What changes all the time and means nothing to a program is left out: how often bytes were drawn, and
//!    how many hash maps the standard library has made, and which atomic operations there were.
#![expect(
    clippy::disallowed_types,
    reason = "where the standard library counts its seeds is found out by making some"
)]

use super::{segments, threads};
use crate::{stream, system};
use std::collections::hash_map::RandomState;
use std::ops::Range;
use std::sync::OnceLock;
use std::{ptr, slice, thread};

/// Where the standard library counts hash maps, from the beginning of a thread's variables.
static COUNTER: OnceLock<Range<usize>> = OnceLock::new();

/// Finds out where the standard library counts, on a thread that nobody else uses.
pub(crate) fn learn() {
    COUNTER.get_or_init(|| {
        let outside = system::get();
        system::set(None);
        let watch = || {
            drop(RandomState::new());
            let (mut before, mut after) = (Vec::new(), Vec::new());
            read(&mut before);
            drop(RandomState::new());
            read(&mut after);
            let mut changed = (0..before.len()).filter(|&at| before[at] != after[at]);
            // A counter of 64 bits, whose place is a multiple of its size.
            changed.next().map_or(0..0, |at| at / 8 * 8..at / 8 * 8 + 8)
        };
        let found = threads::uncounted(|| thread::Builder::new().spawn(watch));
        let found = found.map(thread::JoinHandle::join);
        system::set(outside);
        found.map_or(0..0, |joined| joined.unwrap_or(0..0))
    });
}

/// Copies the calling thread's variables of the program. Returns where they begin.
pub(crate) fn copy(into: &mut Vec<u8>) -> usize {
    let begin = read(into);
    let counter = COUNTER.get().cloned().unwrap_or(0..0);
    #[cfg(cct_atomics)]
    let noted = super::atomics::places(begin);
    #[cfg(not(cct_atomics))]
    let noted = 0..0;
    for range in [counter, stream::places(begin), noted] {
        if let Some(bytes) = into.get_mut(range) {
            bytes.fill(0);
        }
    }
    begin
}

fn read(into: &mut Vec<u8>) -> usize {
    into.clear();
    let Some(place) = segments::thread_locals(stream::address()) else {
        return 0;
    };
    let (begin, len) = (place.start, place.len());
    // SAFETY: the loader has made this block for the calling thread, with a value for each byte, and it
    // stays while the thread lives. Nobody writes meanwhile: the thread is here.
    let bytes = unsafe { slice::from_raw_parts(ptr::with_exposed_provenance(begin), len) };
    into.extend_from_slice(bytes);
    begin
}

#[cfg(test)]
mod tests {
    use super::{copy, learn};
    use std::cell::Cell;
    use std::collections::HashMap;

    thread_local! {
        static LOCAL: Cell<u32> = const { Cell::new(0) };
    }

    #[test]
    fn what_a_program_sets_differs_and_what_the_library_counts_does_not() {
        learn();
        let now = || {
            let mut bytes = Vec::new();
            copy(&mut bytes);
            bytes
        };
        let _first: HashMap<u8, u8> = HashMap::new();
        let before = now();
        assert!(!before.is_empty());
        let _second: HashMap<u8, u8> = HashMap::new();
        assert_eq!(now(), before);
        LOCAL.set(1);
        assert_ne!(now(), before);
        LOCAL.set(0);
        assert_eq!(now(), before);
    }
}
