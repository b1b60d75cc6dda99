//! Known states: a set of 64-bit keys in bounded memory.
//!
//! 1. A key stands for a state at a decision: the engine's fingerprint, and the values drawn. A
//!    value that was drawn is a variable of its task, which the fingerprint does not see. Where the
//!    program observes its state itself, only values drawn in the present step count, because it
//!    had no moment yet to observe what follows from them.
//! 2. A full set forgets nothing and takes nothing in.

use crate::words::fingerprint::mix2;
use crate::words::{ActionKey, EnabledSet, Fingerprint, Pick};

/// A set of states, and the values drawn on the way to the present one.
#[derive(Clone, Debug)]
pub(super) struct StateCache {
    /// Open addressing, at most three quarters full; 0 is a free slot.
    slots: Vec<u64>,
    len: usize,
    slots_max: usize,
    full: bool,
    /// Hash over the values that each task has drawn, by [`ActionKey::index`]; 0 for none.
    drawn: Vec<u64>,
    /// Sum over all tasks.
    drawn_sum: u64,
    /// Hash over the values drawn since the last decision on who is next.
    drawn_now: u64,
}

impl StateCache {
    /// An empty set of at most so many bytes.
    pub(super) fn new(bytes: usize) -> Self {
        // The largest power of two that fits.
        let slots_max = 1 << (bytes / size_of::<u64>()).max(16).ilog2();
        StateCache {
            slots: vec![0; slots_max.min(1024)],
            len: 0,
            slots_max,
            full: false,
            drawn: Vec::new(),
            drawn_sum: 0,
            drawn_now: 0,
        }
    }

    /// A new iteration.
    pub(super) fn begin(&mut self) {
        self.drawn.clear();
        (self.drawn_sum, self.drawn_now) = (0, 0);
    }

    /// Takes a state in. Returns whether it is new, or no place was left.
    pub(super) fn add(
        &mut self,
        state: Fingerprint,
        observed: bool,
        enabled: &EnabledSet<'_>,
    ) -> bool {
        let drawn = match (observed, enabled) {
            (false, EnabledSet::Values(_)) => mix2(self.drawn_sum, self.drawn_now),
            (false, EnabledSet::Actions(_)) => self.drawn_sum,
            (true, EnabledSet::Values(_)) => self.drawn_now,
            (true, EnabledSet::Actions(_)) => 0,
        };
        let what = match enabled {
            EnabledSet::Actions(_) => 1,
            EnabledSet::Values(_) => enabled.len() as u64,
        };
        self.insert(mix2(state.0, mix2(what, drawn)).max(1))
    }

    /// A decision was taken while this task ran.
    pub(super) fn picked(
        &mut self,
        enabled: &EnabledSet<'_>,
        pick: Pick,
        running: Option<ActionKey>,
    ) {
        if let EnabledSet::Actions(_) = enabled {
            self.drawn_now = enabled.id(pick).0;
            return;
        }
        let id = enabled.id(pick).0;
        self.drawn_now = mix2(self.drawn_now, id);
        let task = running.map_or(0, ActionKey::index);
        if task >= self.drawn.len() {
            self.drawn.resize(task + 1, 0);
        }
        let drawn = &mut self.drawn[task];
        let before = std::mem::replace(drawn, mix2(*drawn, id));
        self.drawn_sum = self.drawn_sum.wrapping_sub(before).wrapping_add(*drawn);
    }

    fn insert(&mut self, key: u64) -> bool {
        let mut slot = self.slot(key);
        if self.slots[slot] == key {
            return false;
        }
        if 4 * (self.len + 1) > 3 * self.slots.len() {
            if self.slots.len() >= self.slots_max {
                self.full = true;
                return true;
            }
            self.grow();
            slot = self.slot(key);
        }
        self.slots[slot] = key;
        self.len += 1;
        true
    }

    /// Where a key is, or would be.
    fn slot(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = key as usize & mask;
        while ![0, key].contains(&self.slots[slot]) {
            slot = (slot + 1) & mask;
        }
        slot
    }

    #[cold]
    fn grow(&mut self) {
        let twice = vec![0; 2 * self.slots.len()];
        for key in std::mem::replace(&mut self.slots, twice) {
            if key != 0 {
                let slot = self.slot(key);
                self.slots[slot] = key;
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_full(&self) -> bool {
        self.full
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::fingerprint::mix;

    #[test]
    fn it_is_a_set() {
        let mut cache = StateCache::new(1 << 20);
        for i in 0..50_000 {
            assert!(cache.insert(mix(i) | 1));
        }
        for i in 0..50_000 {
            assert!(!cache.insert(mix(i) | 1));
        }
        assert_eq!(cache.len(), 50_000);
        assert!(!cache.is_full());
    }

    #[test]
    fn a_full_set_keeps_what_it_has() {
        let mut cache = StateCache::new(1024 * 8);
        for i in 0..2000 {
            cache.insert(mix(i) | 1);
        }
        assert!(cache.is_full());
        assert_eq!(cache.len(), 768);
        assert!((0..768).all(|i| !cache.insert(mix(i) | 1)));
        assert!((768..2000).all(|i| cache.insert(mix(i) | 1)));
    }
}
