//! What a thread collects over its iterations: distinct states, `sometimes!`, watermarks.

use super::core::Core;
use super::sketch::Sketch;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// A `sometimes!`: how often it was looked at and how often it was true.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sightings {
    /// How often it was evaluated.
    pub evaluated: u64,
    /// How often it was true.
    pub reached: u64,
}

/// Name and place of a `sometimes!`.
pub(crate) type SometimesKey = (&'static str, &'static str, u32);

/// What a thread has collected over its iterations.
#[derive(Default)]
pub(crate) struct Harvest {
    /// Distinct states, by span of iterations (see [`span_of`]).
    pub(crate) states: BTreeMap<u32, Sketch>,
    pub(crate) sometimes: BTreeMap<SometimesKey, Sightings>,
    pub(crate) watermarks: BTreeMap<SometimesKey, u64>,
}

/// The span an iteration belongs to: 0, 1, 2 to 3, 4 to 7, and so on.
pub(crate) fn span_of(iteration: u64) -> u32 {
    u64::BITS - iteration.leading_zeros()
}

impl Harvest {
    /// Adds what another thread has collected.
    pub(crate) fn merge(&mut self, other: Harvest) {
        for (span, states) in other.states {
            match self.states.entry(span) {
                Entry::Occupied(mut mine) => mine.get_mut().merge(&states),
                Entry::Vacant(slot) => {
                    slot.insert(states);
                }
            }
        }
        for (key, seen) in other.sometimes {
            let total = self.sometimes.entry(key).or_default();
            total.evaluated += seen.evaluated;
            total.reached += seen.reached;
        }
        for (key, value) in other.watermarks {
            let mark = self.watermarks.entry(key).or_default();
            *mark = value.max(*mark);
        }
    }
}

impl Core {
    /// Notes a state.
    #[inline]
    pub(crate) fn add_state(&mut self, state: u64) {
        self.states.add(state);
    }

    /// The next iteration has this number.
    pub(crate) fn set_iteration(&mut self, index: u64) {
        let span = span_of(index);
        if span != self.span {
            self.file_states();
            self.span = span;
        }
    }

    /// Puts the present span's states to those collected.
    fn file_states(&mut self) {
        let states = std::mem::replace(&mut self.states, Sketch::new());
        self.harvest.merge(Harvest {
            states: BTreeMap::from([(self.span, states)]),
            ..Harvest::default()
        });
    }

    /// Hands over what was collected, and begins anew.
    pub(crate) fn take_harvest(&mut self) -> Harvest {
        self.file_states();
        std::mem::take(&mut self.harvest)
    }
}
