//! Where the record of a key is: open addressing over record numbers.
//!
//! 1. A slot has 32 bits: the number of a record plus 1, and above it as many bits of the key's hash
//!    as are left. So a search looks at a record only if it is very likely the right one.
//! 2. At most three quarters of the slots are used, and of many at least a half, so that a record
//!    costs at most 8 bytes. A small table grows faster, as that is cheaper.

/// An odd number without structure.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
const SLOTS_MIN: usize = 64;
/// Tables of fewer slots grow to four times their size.
const SLOTS_MANY: usize = 1 << 14;

#[derive(Clone, Debug)]
pub(super) struct Index {
    slots: Vec<u32>,
    used: usize,
    /// Bits of a slot that hold the number.
    bits: u32,
}

/// Where a key that was not found would be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vacant {
    at: usize,
    mark: u32,
}

/// To how many slots a table grows.
fn more(slots: usize) -> usize {
    if slots < SLOTS_MANY {
        4 * slots
    } else {
        slots + slots / 2
    }
}

#[inline]
fn hash(key: u64) -> u64 {
    key.wrapping_mul(MULTIPLIER)
}

impl Index {
    pub(super) fn new() -> Index {
        Index::with_slots(SLOTS_MIN)
    }

    fn with_slots(slots: usize) -> Index {
        Index {
            slots: vec![0; slots],
            used: 0,
            bits: usize::BITS - slots.leading_zeros(),
        }
    }

    #[inline]
    fn start(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.slots.len() as u128) >> 64) as usize
    }

    /// The bits of the hash that go with the number.
    #[inline]
    fn mark(&self, hash: u64) -> u32 {
        ((hash >> 16) as u32) << self.bits
    }

    /// The record of a key, or the slot where it would be. `is` tells whether a record has the key.
    #[inline]
    pub(super) fn search(&self, key: u64, is: impl Fn(u32) -> bool) -> Result<u32, Vacant> {
        let hash = hash(key);
        let mark = self.mark(hash);
        let mut at = self.start(hash);
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return Err(Vacant { at, mark });
            }
            let number = slot.wrapping_sub(mark);
            if number >> self.bits == 0 && is(number - 1) {
                return Ok(number - 1);
            }
            at += 1;
            if at == self.slots.len() {
                at = 0;
            }
        }
    }

    /// Whether the next key needs more slots.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        (self.used + 1) * 4 > self.slots.len() * 3
    }

    /// Puts in a key that was not found, there. Nothing may have been put in since.
    #[inline]
    pub(super) fn fill(&mut self, vacant: Vacant, number: u32) {
        self.slots[vacant.at] = vacant.mark | (number + 1);
        self.used += 1;
    }

    /// Puts in a key that is not there.
    #[inline]
    pub(super) fn insert(&mut self, key: u64, number: u32) {
        if let Err(vacant) = self.search(key, |_| false) {
            self.fill(vacant, number);
        }
    }

    /// Starts over with all these keys, numbered from 0, and more slots if they need them.
    pub(super) fn rebuild(&mut self, keys: impl ExactSizeIterator<Item = u64>) {
        let mut slots = self.slots.len();
        while (keys.len() + 1) * 4 > slots * 3 {
            slots = more(slots);
        }
        *self = Index::with_slots(slots);
        (0..)
            .zip(keys)
            .for_each(|(number, key)| self.insert(key, number));
    }

    /// Bytes, if there were one key more.
    pub(super) fn bytes(&self) -> usize {
        let slots = self.slots.len();
        let slots = if self.is_full() { more(slots) } else { slots };
        slots * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys without any mixing, and keys that differ in their high bits only.
    #[test]
    fn keys_are_found_and_others_are_not() {
        for shift in [0, 7, 32, 48] {
            let keys: Vec<u64> = (0..10_000).map(|i| i << shift).collect();
            let mut index = Index::new();
            for (number, &key) in (0..).zip(&keys) {
                if index.is_full() {
                    index.rebuild(keys[..number as usize].iter().copied());
                }
                index.insert(key, number);
            }
            for (number, &key) in (0..).zip(&keys) {
                assert_eq!(
                    index.search(key, |n| keys[n as usize] == key).ok(),
                    Some(number)
                );
            }
            assert_eq!(
                index
                    .search(u64::MAX, |n| keys[n as usize] == u64::MAX)
                    .ok(),
                None
            );
            assert!(index.bytes() <= 8 * keys.len());
        }
    }
}
