//! What is remembered about 64-bit hashes, such as abstract states: a map with a bounded size.
//!
//! 1. Only look-ups, so no order of entries can reach a decision.
//! 2. Nothing is allocated except when the number of entries doubles.
//! 3. When it is full, new keys are refused and counted; known ones stay.

/// A map from hashes to values.
#[derive(Clone, Debug)]
pub(super) struct Memory<V> {
    /// Open addressing; the number of slots is 0 or a power of two. Key 0 marks an empty slot.
    slots: Vec<(u64, V)>,
    len: usize,
    len_max: usize,
    refused: u64,
}

impl<V: Copy + Default> Memory<V> {
    /// An empty map for at most so many entries.
    pub(super) fn new(len_max: usize) -> Self {
        Memory {
            slots: Vec::new(),
            len: 0,
            len_max,
            refused: 0,
        }
    }

    /// The value of a key.
    #[inline]
    pub(super) fn get(&self, key: u64) -> Option<V> {
        if self.slots.is_empty() {
            return None;
        }
        let (found, value) = self.slots[self.slot(key)];
        (found != 0).then_some(value)
    }

    /// The value of a key, to be changed.
    #[inline]
    pub(super) fn get_mut(&mut self, key: u64) -> Option<&mut V> {
        if self.slots.is_empty() {
            return None;
        }
        let slot = self.slot(key);
        let (found, value) = &mut self.slots[slot];
        (*found != 0).then_some(value)
    }

    /// The value of a key, which is new if need be; `None` if it is and there is no room.
    #[inline]
    pub(super) fn entry(&mut self, key: u64) -> Option<&mut V> {
        if self.slots.is_empty() {
            self.grow();
        }
        let mut slot = self.slot(key);
        if self.slots[slot].0 == 0 {
            if self.len == self.len_max {
                self.refused += 1;
                return None;
            }
            // At most three quarters full, so that searches stay short.
            if 4 * (self.len + 1) > 3 * self.slots.len() {
                self.grow();
                slot = self.slot(key);
            }
            self.len += 1;
            self.slots[slot].0 = key.max(1);
        }
        Some(&mut self.slots[slot].1)
    }

    /// How many keys are known.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// How often a new key was refused.
    pub(super) fn refused(&self) -> u64 {
        self.refused
    }

    /// Where a key is, or would be.
    #[inline]
    fn slot(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        // Hashes are sums of digests: their bits are good enough as they are.
        let (key, mut slot) = (key.max(1), key as usize & mask);
        while self.slots[slot].0 != key && self.slots[slot].0 != 0 {
            slot = (slot + 1) & mask;
        }
        slot
    }

    #[cold]
    fn grow(&mut self) {
        let room = (2 * self.slots.len()).max(1024);
        let before = std::mem::replace(&mut self.slots, vec![(0, V::default()); room]);
        for (key, value) in before {
            if key != 0 {
                let slot = self.slot(key);
                self.slots[slot] = (key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::fingerprint::mix;

    #[test]
    fn what_is_put_in_is_found() {
        let mut memory = Memory::new(100_000);
        for key in 0..5000 {
            assert_eq!(memory.get(mix(key)), None);
            *memory.entry(mix(key)).unwrap() = key;
        }
        for key in 0..5000 {
            assert_eq!(memory.get(mix(key)), Some(key));
            *memory.entry(mix(key)).unwrap() += 1;
        }
        assert_eq!(memory.get(mix(7)), Some(8));
        assert_eq!((memory.len(), memory.refused()), (5000, 0));
    }

    #[test]
    fn a_full_memory_keeps_what_it_has() {
        let mut memory = Memory::new(3);
        for key in [5, 6, 5 + 1024, 7] {
            if let Some(value) = memory.entry(key) {
                *value = key;
            }
        }
        assert_eq!(
            [5, 6, 1029, 7].map(|key| memory.get(key)),
            [Some(5), Some(6), Some(1029), None]
        );
        assert_eq!((memory.len(), memory.refused()), (3, 1));
        assert!(memory.entry(6).is_some());
    }
}
