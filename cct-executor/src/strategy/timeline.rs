//! Timelines: in which order tasks came to each resource, as a set that can be compared.
//!
//! 1. An element says that at one resource one access came right after another one. An access is
//!    who did what; how often it came about is left out, and so is who did what elsewhere.
//! 2. A timeline is a set of at most [`ELEMENTS_MAX`] elements; its hash does not depend on their
//!    order.
//! 3. How alike two timelines are is estimated by MinHash: the part of the [`SIGNS`] hash functions
//!    under which their least elements coincide is, on average, the part of all their elements that
//!    they have in common.

use super::seen::Seen;
use crate::words::fingerprint::{hash_of, mix2};
use crate::words::{ActionKey, EnabledSet, Op, Pick, StepEvent};

/// How many elements a timeline has at most.
const ELEMENTS_MAX: usize = 1 << 12;
/// Resources beyond this one are left out; tasks as resources are among them.
const RESOURCES_MAX: usize = 1 << 16;
/// The number of hash functions.
const SIGNS: usize = 50;

/// The timeline of the present iteration.
#[derive(Clone, Debug)]
pub(super) struct Timeline {
    /// By [`ActionKey::index`].
    ids: Vec<u64>,
    /// The last access, by resource; 0 for none.
    last: Vec<u64>,
    /// The last value of any data choice.
    last_value: u64,
    elements: Seen,
    hash: u64,
}

/// The least elements of a timeline, one for each hash function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Signature([u64; SIGNS]);

impl Timeline {
    pub(super) fn new() -> Timeline {
        Timeline {
            ids: Vec::new(),
            last: Vec::new(),
            last_value: 0,
            elements: Seen::new(2 * ELEMENTS_MAX),
            hash: 0,
        }
    }

    /// Begins anew, keeping the memory.
    pub(super) fn clear(&mut self) {
        self.ids.fill(0);
        self.last.fill(0);
        self.last_value = 0;
        self.elements.clear();
        self.hash = 0;
    }

    /// Takes in what happened.
    #[inline]
    pub(super) fn take_in(&mut self, event: &StepEvent<'_>) {
        match *event {
            StepEvent::Step { action, op } if op.resource != 0 => self.access(action, op),
            StepEvent::Spawned { task, id, .. } => {
                *at(&mut self.ids, task.index()) = id.0;
            }
            _ => {}
        }
    }

    #[inline]
    fn access(&mut self, action: ActionKey, op: &Op) {
        let resource = op.resource as usize;
        if resource >= RESOURCES_MAX {
            return;
        }
        let who = self.ids.get(action.index()).copied().unwrap_or(0);
        let access = mix2(who, op.kind as u64);
        let before = std::mem::replace(at(&mut self.last, resource), access);
        self.add(mix2(mix2(before, access), u64::from(op.resource)));
    }

    /// Takes in the outcome of a data choice, which counts as an access to what it is about.
    pub(super) fn choose(&mut self, values: &EnabledSet<'_>, pick: Pick) {
        let value = values.id(pick).0;
        let before = std::mem::replace(&mut self.last_value, value);
        self.add(mix2(before, value ^ hash_of("choice")));
    }

    #[inline]
    fn add(&mut self, element: u64) {
        if self.elements.insert(element) {
            self.hash = self.hash.wrapping_add(element);
        }
    }

    /// Stands for the whole set.
    pub(super) fn hash(&self) -> u64 {
        self.hash
    }

    pub(super) fn signature(&self) -> Signature {
        let mut least = [u64::MAX; SIGNS];
        for element in self.elements.iter() {
            for (function, least) in least.iter_mut().enumerate() {
                *least = mix2(element, function as u64).min(*least);
            }
        }
        Signature(least)
    }
}

/// The number at an index, which is 0 if there was none.
#[inline]
fn at(numbers: &mut Vec<u64>, index: usize) -> &mut u64 {
    if index >= numbers.len() {
        grow(numbers, index);
    }
    &mut numbers[index]
}

#[cold]
fn grow(numbers: &mut Vec<u64>, index: usize) {
    numbers.resize((index + 1).next_power_of_two(), 0);
}

impl Signature {
    /// The part of their elements that the two have in common, estimated.
    pub(super) fn similarity(&self, other: &Signature) -> f64 {
        let both = self.0.iter().zip(&other.0);
        both.filter(|(mine, theirs)| mine == theirs).count() as f64 / SIGNS as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(elements: std::ops::Range<u64>) -> Timeline {
        let mut timeline = Timeline::new();
        elements.for_each(|element| timeline.add(mix2(element, 1)));
        timeline
    }

    /// The estimate has a standard deviation of at most 1/14; three of them are allowed.
    #[test]
    fn similarity_is_the_common_part() {
        let hundred = timeline(0..100).signature();
        for (other, common) in [(0..100, 1.0), (50..150, 1.0 / 3.0), (100..200, 0.0)] {
            let found = hundred.similarity(&timeline(other).signature());
            assert!((found - common).abs() < 3.0 / 14.0, "{found} of {common}");
        }
    }

    #[test]
    fn the_hash_knows_no_order() {
        let mut other = timeline(5..10);
        (0..7).for_each(|element| other.add(mix2(element, 1)));
        assert_eq!(timeline(0..10).hash(), other.hash());
        assert_ne!(timeline(0..9).hash(), other.hash());
    }
}
