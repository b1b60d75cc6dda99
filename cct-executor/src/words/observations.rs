//! What user code observed, as waypoint predicates read it.
//!
//! 1. An observation is a key, an instance (a node, a replica; 0 where there is only one) and a
//!    value. A later one with the same key and instance replaces it.
//! 2. Instances do not enter the fingerprint: states that differ only in who is who coincide.

use super::fingerprint::{hash_of, mix2};
use std::hash::Hash;

/// One observation.
#[derive(Clone, Copy, Debug)]
struct Entry {
    key: &'static str,
    instance: u64,
    /// Hash of the value.
    value: u64,
    number: Option<i64>,
}

/// All observations of the present state.
#[derive(Clone, Debug, Default)]
pub struct Observations {
    entries: Vec<Entry>,
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
        let digest = |value| mix2(hash_of(key), value);
        let known = self
            .entries
            .iter_mut()
            .find(|entry| entry.instance == instance && entry.key == key);
        match known {
            Some(entry) => {
                let before = digest(std::mem::replace(&mut entry.value, value));
                entry.number = number;
                digest(value).wrapping_sub(before)
            }
            None => {
                self.entries.push(Entry {
                    key,
                    instance,
                    value,
                    number,
                });
                digest(value)
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }
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
