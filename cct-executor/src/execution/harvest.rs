//! What a thread collects over its iterations: distinct states, `sometimes!`, watermarks, time limits.

use super::core::Core;
use super::sketch::Sketch;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::panic::Location;
use std::time::Duration;

/// A `sometimes!`: how often it was looked at and how often it was true.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sightings {
    /// How often it was evaluated.
    pub evaluated: u64,
    /// How often it was true.
    pub reached: u64,
}

/// A [`timeout`](crate::time::timeout) or `timeout_at`, as far as anything had to be waited for within it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TimeLimit {
    /// How often it was over before what it limits.
    pub struck: u64,
    /// How much of it was left at least where it was not.
    pub margin: Duration,
}

impl TimeLimit {
    const NEW: TimeLimit = TimeLimit {
        struck: 0,
        margin: Duration::MAX,
    };

    fn add(&mut self, other: TimeLimit) {
        self.struck += other.struck;
        self.margin = self.margin.min(other.margin);
    }
}

/// Where a time limit is set: file and line.
pub(crate) type LimitKey = (&'static str, u32);

/// Name and place of a `sometimes!`.
pub(crate) type SometimesKey = (&'static str, &'static str, u32);

/// What a thread has collected over its iterations.
#[derive(Default)]
pub(crate) struct Harvest {
    /// Distinct states, by span of iterations (see [`span_of`]).
    pub(crate) states: BTreeMap<u32, Sketch>,
    pub(crate) sometimes: BTreeMap<SometimesKey, Sightings>,
    pub(crate) watermarks: BTreeMap<SometimesKey, u64>,
    pub(crate) time_limits: BTreeMap<LimitKey, TimeLimit>,
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
        for (key, limit) in other.time_limits {
            self.add_time_limit(key, limit);
        }
    }

    fn add_time_limit(&mut self, key: LimitKey, limit: TimeLimit) {
        self.time_limits
            .entry(key)
            .or_insert(TimeLimit::NEW)
            .add(limit);
    }
}

impl Core {
    /// A time limit is over, or what it limits came to its end with so much of it left. A clock that is paused moves
    /// only where all wait, on tokio too: nothing is to be said of what did not strike then.
    pub(crate) fn note_time_limit(
        &mut self,
        site: &'static Location<'static>,
        left: Option<Duration>,
    ) {
        if left.is_some() && self.looks.frozen {
            return;
        }
        let limit = TimeLimit {
            struck: u64::from(left.is_none()),
            margin: left.unwrap_or(Duration::MAX),
        };
        self.harvest
            .add_time_limit((site.file(), site.line()), limit);
    }

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
