//! Where on the path of the present iteration a state is.
//!
//! 1. A place is never given back: a state that left the path keeps its old position, so whoever asks
//!    must check that the state is still there.
//! 2. Starting anew takes constant time, and nothing is allocated once the table has grown to the
//!    states of an iteration.

/// Slots of a new table.
const SLOTS_MIN: usize = 64;

/// Positions by key.
#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    /// Open addressing, at most half full.
    slots: Vec<Slot>,
    len: usize,
    /// The present iteration; slots of others are free.
    round: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    key: u64,
    round: u32,
    position: u32,
}

impl Path {
    /// A new iteration.
    pub(super) fn clear(&mut self) {
        self.len = 0;
        if self.round == u32::MAX {
            self.slots.fill(Slot::default());
            self.round = 0;
        }
        self.round += 1;
    }

    /// The position of a state, which is this one unless it has another.
    #[inline]
    pub(super) fn position(&mut self, key: u64, position: u32) -> &mut u32 {
        if 2 * (self.len + 1) > self.slots.len() {
            self.grow();
        }
        let at = self.slot(key);
        if self.slots[at].round != self.round {
            self.len += 1;
            self.slots[at] = Slot {
                key,
                round: self.round,
                position,
            };
        }
        &mut self.slots[at].position
    }

    /// Where a key is, or would be.
    #[inline]
    fn slot(&self, key: u64) -> usize {
        let last = self.slots.len() - 1;
        let mut at = key as usize & last;
        while self.slots[at].round == self.round && self.slots[at].key != key {
            at = (at + 1) & last;
        }
        at
    }

    #[cold]
    fn grow(&mut self) {
        let slots = vec![Slot::default(); (2 * self.slots.len()).max(SLOTS_MIN)];
        self.round = self.round.max(1);
        for slot in std::mem::replace(&mut self.slots, slots) {
            if slot.round == self.round {
                let at = self.slot(slot.key);
                self.slots[at] = slot;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::fingerprint::mix;

    #[test]
    fn each_key_has_the_position_it_was_given_first_or_last() {
        let mut path = Path::default();
        for _ in 0..3 {
            path.clear();
            for n in 0..1000 {
                assert_eq!(*path.position(mix(u64::from(n)), n), n);
            }
            for n in 0..1000 {
                let position = path.position(mix(u64::from(n)), 5000);
                assert_eq!(*position, n);
                *position = n + 1;
                assert_eq!(*path.position(mix(u64::from(n)), 5000), n + 1);
            }
        }
    }
}
