//! Histories: which operations were invoked and returned, in which order.

use super::Model;
use super::counterexample::NotLinearizable;
use super::linear::{self, Verdict};
use cct_executor::shim::Shared;
use std::fmt;
use std::sync::Arc;

/// How many placements of operations a check tries before it gives up: about a second's worth in an
/// unoptimised build, well before a poll counts as one that does not return.
const EFFORT: u64 = 400_000;

/// An operation in a history.
#[derive(Clone, Debug)]
pub(super) struct Entry<Op, Output> {
    pub(super) client: String,
    pub(super) op: Op,
    /// Positions of its two events in the history.
    pub(super) invoked: u64,
    pub(super) returned: Option<(u64, Output)>,
    /// It certainly had no effect.
    failed: bool,
}

struct State<Op, Output> {
    entries: Vec<Entry<Op, Output>>,
    events: u64,
}

/// A history of operations on one system. Clones record into the same history.
pub struct History<Op, Output>(Arc<Shared<State<Op, Output>>>);

/// An operation that was invoked. Dropped unanswered it counts as one that may have happened or
/// not, now or later: its client crashed, or its request timed out.
#[must_use = "say what it returned"]
pub struct Call<Op, Output> {
    history: History<Op, Output>,
    index: usize,
}

impl<Op, Output> History<Op, Output> {
    /// An empty history.
    pub fn new() -> Self {
        History(Arc::new(Shared::new(State {
            entries: Vec::new(),
            events: 0,
        })))
    }

    /// A client invokes an operation.
    pub fn invoke(&self, client: impl Into<String>, op: Op) -> Call<Op, Output> {
        let client = client.into();
        let index = self.0.with(|state| {
            state.events += 1;
            state.entries.push(Entry {
                client,
                op,
                invoked: state.events,
                returned: None,
                failed: false,
            });
            state.entries.len() - 1
        });
        Call {
            history: self.clone(),
            index,
        }
    }

    /// How many operations were invoked.
    pub fn len(&self) -> usize {
        self.0.with(|state| state.entries.len())
    }

    /// Whether no operation was invoked.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<Op: Clone + fmt::Debug, Output: Clone + fmt::Debug> History<Op, Output> {
    /// Checks that the history is linearizable: that each operation can be placed somewhere
    /// between its invocation and its return so that the model allows all outputs.
    ///
    /// M. Herlihy and J. Wing, "Linearizability: a correctness condition for concurrent objects",
    /// TOPLAS 1990; the search is that of G. Lowe, "Testing for linearizability", 2017, after Wing
    /// and Gong.
    ///
    /// An operation that never returned may have happened at any time since, or never. A few dozens of
    /// them are no matter where the state forgets what came before, as that of a register does; where each
    /// order of them leads to another state, as with a queue, about eight are the most.
    ///
    /// # Errors
    /// With a counterexample, or when the search was given up, which
    /// [`is_undecided`](NotLinearizable::is_undecided) tells apart.
    pub fn check<M>(&self, model: &M) -> Result<(), NotLinearizable>
    where
        M: Model<Op = Op, Output = Output>,
    {
        let mut entries = self.0.with(|state| state.entries.clone());
        entries.retain(|entry| !entry.failed);
        let mut parts: Vec<u64> = entries.iter().map(|entry| model.part(&entry.op)).collect();
        parts.sort_unstable();
        parts.dedup();
        let mut left = EFFORT;
        let mut undecided = Ok(());
        for part in parts {
            let own: Vec<_> = entries
                .iter()
                .filter(|entry| model.part(&entry.op) == part)
                .cloned()
                .collect();
            // One hard part must not hide what is wrong with another.
            let share = left.div_ceil(2);
            let mut effort = share;
            let verdict = linear::search(model, &own, &mut effort);
            left -= share - effort;
            match verdict {
                Verdict::Linearizable => {}
                Verdict::Violation(best) => return Err(NotLinearizable::new(model, &own, &best)),
                Verdict::GaveUp => {
                    let open = own.iter().filter(|entry| entry.returned.is_none()).count();
                    let this = || NotLinearizable::gave_up(own.len(), open, share);
                    undecided = undecided.and_then(|()| Err(this()));
                }
            }
        }
        undecided
    }
}

impl<Op, Output> Call<Op, Output> {
    /// The operation returned.
    pub fn returned(self, output: Output) {
        self.history.0.with(|state| {
            state.events += 1;
            let event = state.events;
            state.entries[self.index].returned = Some((event, output));
        });
    }

    /// The operation certainly had no effect: it was refused.
    pub fn failed(self) {
        self.history
            .0
            .with(|state| state.entries[self.index].failed = true);
    }
}

impl<Op, Output> Clone for History<Op, Output> {
    fn clone(&self) -> Self {
        History(self.0.clone())
    }
}

impl<Op, Output> Default for History<Op, Output> {
    fn default() -> Self {
        Self::new()
    }
}

impl<Op, Output> fmt::Debug for History<Op, Output> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("History").field("len", &self.len()).finish()
    }
}

impl<Op, Output> fmt::Debug for Call<Op, Output> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("index", &self.index)
            .finish_non_exhaustive()
    }
}
