//! The bytes themselves, and what a thread knows of them.
//!
//! All state is in thread-locals without destructors, so that it can be asked for at any moment of a
//! thread's life.

use std::cell::Cell;

/// Draws of so many bytes or more share a count.
const LENGTHS: usize = 65;

thread_local! {
    static SEED: Cell<Option<u64>> = const { Cell::new(None) };
    static DRAWN: Cell<bool> = const { Cell::new(false) };
    /// How often so many bytes were drawn by this seed.
    static COUNTS: [Cell<u32>; LENGTHS] = const { [const { Cell::new(0) }; LENGTHS] };
}

pub(crate) fn begin(seed: u64) {
    SEED.set(Some(seed));
    COUNTS.with(|counts| counts.iter().for_each(|count| count.set(0)));
}

pub(crate) fn end() {
    SEED.set(None);
}

/// Where this thread's count lies.
#[allow(dead_code, reason = "nobody looks where nothing is interposed")]
pub(crate) fn address() -> usize {
    COUNTS.with(|counts| std::ptr::from_ref(counts).expose_provenance())
}

/// Where this thread's count lies, counted from `begin`.
#[allow(dead_code, reason = "nobody looks where nothing is interposed")]
pub(crate) fn places(begin: usize) -> std::ops::Range<usize> {
    let from = address().wrapping_sub(begin);
    from..from.wrapping_add(size_of::<[Cell<u32>; LENGTHS]>())
}

pub(crate) fn drawn() -> bool {
    DRAWN.get()
}

/// Fills the bytes, if this thread's derive from a seed. Returns whether they do.
#[allow(dead_code, reason = "nobody draws where nothing is interposed")]
pub(crate) fn fill(bytes: &mut [u8]) -> bool {
    if bytes.is_empty() {
        // Who asks for nothing wants to know whether the function exists.
        return SEED.get().is_some();
    }
    DRAWN.set(true);
    let Some(seed) = SEED.get() else {
        return false;
    };
    let length = bytes.len().min(LENGTHS - 1);
    let count = COUNTS.with(|counts| counts[length].replace(counts[length].get().wrapping_add(1)));
    derive(seed, (length as u64) << 32 | u64::from(count), bytes);
    true
}

/// The bytes of this number that derive from a seed.
pub(crate) fn derive(seed: u64, number: u64, bytes: &mut [u8]) {
    let mut state = mixed(seed ^ mixed(number));
    for chunk in bytes.chunks_mut(8) {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        chunk.copy_from_slice(&mixed(state).to_le_bytes()[..chunk.len()]);
    }
}

/// The output function of SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
/// Generators", OOPSLA 2014).
fn mixed(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::{begin, end, fill};

    fn draw<const N: usize>() -> Option<[u8; N]> {
        let mut bytes = [0; N];
        fill(&mut bytes).then_some(bytes)
    }

    #[test]
    fn a_seed_gives_the_same_bytes_again() {
        begin(7);
        let first = (draw::<16>(), draw::<16>(), draw::<100>());
        begin(7);
        assert_eq!((draw::<16>(), draw::<16>(), draw::<100>()), first);
        assert_ne!(first.0, first.1);
        begin(8);
        assert_ne!(draw::<16>(), first.0);
        end();
        assert_eq!(draw::<16>(), None);
    }

    #[test]
    fn a_draw_changes_nothing_for_other_lengths() {
        begin(7);
        let alone = draw::<16>();
        begin(7);
        draw::<32>();
        assert_eq!(draw::<16>(), alone);
        end();
    }

    #[test]
    fn threads_have_streams_of_their_own() {
        begin(7);
        let there = std::thread::scope(|scope| scope.spawn(draw::<16>).join());
        assert_eq!(there.expect("the thread only draws"), None);
        assert!(draw::<16>().is_some());
        end();
    }
}
