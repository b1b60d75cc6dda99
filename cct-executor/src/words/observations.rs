//! What user code observed, as waypoint predicates read it.
//!
//! 1. An observation is a key, an instance (a node, a replica; 0 where there is only one) and a
//!    value. A later one with the same key and instance replaces it.
//! 2. Instances do not enter the fingerprint: states that differ only in who is who coincide.
//! 3. Putting one in takes the same time however many there are: models observe at every step, for
//!    hundreds of nodes.

use super::fingerprint::{hash_of, mix2};
use std::hash::Hash;

/// One observation.
#[derive(Clone, Copy, Debug)]
struct Entry {
    key: &'static str,
    instance: u64,
    /// Hash of the key.
    key_hash: u64,
    /// Hash of the value.
    value: u64,
    /// What both add to the fingerprint.
    digest: u64,
    number: Option<i64>,
}

/// All observations of the present state.
#[derive(Clone, Debug, Default)]
pub struct Observations {
    entries: Vec<Entry>,
    /// Where each is, plus 1, by [`spread`]; 0 where none is. A power of two, at most half full.
    slots: Vec<u32>,
}

/// The observations of one instance.
#[derive(Clone, Copy, Debug)]
pub struct Instance<'a> {
    all: &'a Observations,
    instance: u64,
}

impl Observations {
    /// Whether some instance's value under the key is this one. Numbers count as `i64`.
    pub fn is(&self, key: &str, value: impl Hash) -> bool {
        self.count(key, value) > 0
    }

    /// How many instances have this value under the key.
    pub fn count(&self, key: &str, value: impl Hash) -> usize {
        let value = hash_of(&value);
        self.of(key).filter(|entry| entry.value == value).count()
    }

    /// The greatest number observed under the key, over all instances.
    pub fn number(&self, key: &str) -> Option<i64> {
        self.numbers(key).max()
    }

    /// The numbers observed under the key, one an instance.
    pub fn numbers<'a>(&'a self, key: &'a str) -> impl Iterator<Item = i64> + 'a {
        self.of(key).filter_map(|entry| entry.number)
    }

    /// All instances, in the order in which they were first observed.
    pub fn instances(&self) -> impl Iterator<Item = Instance<'_>> {
        let entries = self.entries.iter().enumerate();
        entries
            .filter(|(i, entry)| {
                self.entries[..*i]
                    .iter()
                    .all(|earlier| earlier.instance != entry.instance)
            })
            .map(|(_, entry)| Instance {
                all: self,
                instance: entry.instance,
            })
    }

    fn of<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a Entry> + 'a {
        self.entries.iter().filter(move |entry| entry.key == key)
    }

    /// Puts a value in; returns by how much the sum of digests changes.
    pub(crate) fn put(
        &mut self,
        key: &'static str,
        instance: u64,
        value: u64,
        number: Option<i64>,
    ) -> u64 {
        if 2 * (self.entries.len() + 1) > self.slots.len() {
            self.grow();
        }
        let slot = self.slot(key, instance);
        let Some(known) = self.slots[slot].checked_sub(1) else {
            let key_hash = hash_of(key);
            let digest = mix2(key_hash, value);
            self.entries.push(Entry {
                key,
                instance,
                key_hash,
                value,
                digest,
                number,
            });
            self.slots[slot] = self.entries.len() as u32;
            return digest;
        };
        let entry = &mut self.entries[known as usize];
        entry.number = number;
        if entry.value == value {
            return 0;
        }
        entry.value = value;
        let digest = mix2(entry.key_hash, value);
        digest.wrapping_sub(std::mem::replace(&mut entry.digest, digest))
    }

    /// The slot of an observation, or the one where it is to be put. There is a free one.
    #[inline]
    fn slot(&self, key: &str, instance: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = spread(key, instance) as usize & mask;
        loop {
            let Some(known) = self.slots[slot].checked_sub(1) else {
                return slot;
            };
            let entry = &self.entries[known as usize];
            if entry.instance == instance && entry.key == key {
                return slot;
            }
            slot = (slot + 1) & mask;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let slots = (2 * self.slots.len()).max(16);
        self.slots.clear();
        self.slots.resize(slots, 0);
        for number in 0..self.entries.len() {
            let Entry { key, instance, .. } = self.entries[number];
            let slot = self.slot(key, instance);
            self.slots[slot] = number as u32 + 1;
        }
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.slots.fill(0);
    }
}

/// A number to look an observation up by: a hash of the whole key would take longer than the search.
#[inline]
fn spread(key: &str, instance: u64) -> u64 {
    const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
    let bytes = key.as_bytes();
    let ends = match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(first), Some(last)) => {
            u32::from_le_bytes(*first) ^ u32::from_le_bytes(*last).rotate_left(9)
        }
        _ => bytes.first().map_or(0, |&byte| byte.into()),
    };
    let word = instance ^ u64::from(ends) << 24 ^ (bytes.len() as u64) << 56;
    word.wrapping_mul(MULTIPLIER) >> 32
}

impl Instance<'_> {
    /// Whether its value under the key is this one. Numbers count as `i64`.
    pub fn is(&self, key: &str, value: impl Hash) -> bool {
        let value = hash_of(&value);
        self.entry(key).is_some_and(|entry| entry.value == value)
    }

    /// The number observed under the key.
    pub fn number(&self, key: &str) -> Option<i64> {
        self.entry(key)?.number
    }

    /// Which instance it is.
    pub fn id(&self) -> u64 {
        self.instance
    }

    fn entry(&self, key: &str) -> Option<&Entry> {
        let mut entries = self.all.entries.iter();
        entries.find(|entry| entry.instance == self.instance && entry.key == key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a list that is searched from end to end.
    #[test]
    fn many_observations_are_found_again() {
        const KEYS: [&str; 5] = ["", "a", "term", "terms", "tern"];
        let mut all = Observations::default();
        for round in 0..2 {
            let mut plain: Vec<(&str, u64, u64)> = Vec::new();
            let mut sum = 0_u64;
            for i in 0..3_000_u64 {
                let (key, instance) = (KEYS[i as usize * 7 % 5], mix2(round, i) % 97);
                let value = mix2(i, round) % 11;
                sum = sum.wrapping_add(all.put(key, instance, value, None));
                plain.retain(|&(k, n, _)| (k, n) != (key, instance));
                plain.push((key, instance, value));
            }
            let digests = plain
                .iter()
                .map(|&(key, _, value)| mix2(hash_of(key), value));
            assert_eq!(sum, digests.fold(0, u64::wrapping_add));
            assert_eq!(all.entries.len(), plain.len());
            all.clear();
        }
    }

    #[test]
    fn later_observations_replace_earlier_ones_of_the_same_instance() {
        let mut all = Observations::default();
        let mut sum = 0_u64;
        let mut put = |all: &mut Observations, key, instance, value: i64| {
            sum = sum.wrapping_add(all.put(key, instance, hash_of(&value), Some(value)));
            sum
        };
        put(&mut all, "term", 1, 4);
        let one = put(&mut all, "term", 2, 7);
        assert_eq!((all.number("term"), all.count("term", 4_i64)), (Some(7), 1));
        put(&mut all, "term", 1, 5);
        assert!(!all.is("term", 4_i64));
        // Who is who does not matter.
        put(&mut all, "term", 1, 7);
        assert_eq!(put(&mut all, "term", 2, 4), one);
        assert_eq!(all.instances().count(), 2);
        assert_eq!(all.instances().map(|i| i.id()).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(all.instances().next().unwrap().number("term"), Some(7));
        assert_eq!(all.number("vote"), None);
    }
}
