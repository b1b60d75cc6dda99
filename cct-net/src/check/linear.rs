//! The search for a linearization.
//!
//! A *configuration* is what was placed so far, and the state after it. From one to the next goes an
//! operation that was invoked before the first return that is still to come. Configurations with the
//! most operations that returned go first, as depth first does; among those the ones with the fewest
//! that never returned.
//!
//! 1. What never returned may be left out for ever. So of two configurations with the same state, and the
//!    same operations that returned, one whose other operations are all among the other's can do whatever
//!    that one can, and the other is not looked at.
//! 2. Of equal operations that never returned the one invoked first goes first: whatever the later one
//!    can explain, the earlier one can.
//! 3. What is counted against the bound depends on the history alone, so that a check decides the same
//!    everywhere.

use super::Model;
use super::history::Entry;
use cct_executor::words::fingerprint::hash_of;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What the search found.
pub(super) enum Verdict {
    Linearizable,
    /// There is none; the longest order of operations that the model allows.
    Violation(Vec<usize>),
    GaveUp,
}

/// The operations that returned and are placed: how many of the first, by their returns, and the numbers
/// of later ones, in order.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Done {
    first: usize,
    more: Vec<usize>,
}

/// The operations that never returned and are placed, as bits.
type Used = Box<[u64]>;

/// A configuration.
struct Node<S> {
    /// The one before, and the operation placed since; none for the beginning.
    from: Option<(usize, usize)>,
    done: Done,
    used: Used,
    state: S,
    /// Another one can do whatever this one can.
    is_outdone: bool,
}

/// What is tried next from a configuration: operations that returned, or others.
#[derive(Clone, Copy)]
enum Try {
    Returned(usize),
    Unanswered(usize),
}

struct Search<'a, M: Model> {
    model: &'a M,
    entries: &'a [Entry<M::Op, M::Output>],
    /// Indices of the operations that returned, in order of return.
    returns: Vec<usize>,
    /// The place of each operation among those, or among the ones that never returned.
    rank: Vec<usize>,
    /// The first index of what returns at this place or later.
    earliest: Vec<usize>,
    /// Indices of the operations that never returned, in order of invocation, each with the place of
    /// the equal one before it.
    unanswered: Vec<(usize, Option<usize>)>,
    nodes: Vec<Node<M::State>>,
    /// By what is done and the state.
    known: BTreeMap<u64, Vec<usize>>,
    /// By how many that returned are placed, the most first, and how many others, the fewest first.
    open: BTreeMap<(Reverse<usize>, usize), Vec<Try>>,
    /// The first with the most operations that returned, and how many those are.
    best: (usize, usize),
    effort: &'a mut u64,
}

/// Searches; gives up after so many placements and comparisons, of which it leaves what it did not need.
pub(super) fn search<M: Model>(
    model: &M,
    entries: &[Entry<M::Op, M::Output>],
    effort: &mut u64,
) -> Verdict {
    let mut search = Search::new(model, entries, effort);
    match search.run() {
        None => Verdict::GaveUp,
        Some(true) => Verdict::Linearizable,
        Some(false) => Verdict::Violation(search.order(search.best.1)),
    }
}

impl<'a, M: Model> Search<'a, M> {
    fn new(model: &'a M, entries: &'a [Entry<M::Op, M::Output>], effort: &'a mut u64) -> Self {
        let has_returned = |&i: &usize| entries[i].returned.is_some();
        let mut returns: Vec<usize> = (0..entries.len()).filter(has_returned).collect();
        returns.sort_unstable_by_key(|&i| entries[i].returned.as_ref().map(|(event, _)| *event));
        let mut rank = vec![0; entries.len()];
        for (place, &i) in returns.iter().enumerate() {
            rank[i] = place;
        }
        let mut earliest = returns.clone();
        for place in (1..earliest.len()).rev() {
            earliest[place - 1] = earliest[place - 1].min(earliest[place]);
        }
        let mut unanswered: Vec<(usize, Option<usize>)> = Vec::new();
        for i in (0..entries.len()).filter(|i| !has_returned(i)) {
            rank[i] = unanswered.len();
            let is_equal = |&(other, _): &(usize, _)| entries[other].op == entries[i].op;
            unanswered.push((i, unanswered.iter().rposition(is_equal)));
        }
        Search {
            model,
            entries,
            returns,
            rank,
            earliest,
            unanswered,
            nodes: Vec::new(),
            known: BTreeMap::new(),
            open: BTreeMap::new(),
            best: (0, 0),
            effort,
        }
    }

    /// Whether there is a linearization; `None` when the search was given up.
    fn run(&mut self) -> Option<bool> {
        let none = Done {
            first: 0,
            more: Vec::new(),
        };
        let used = vec![0; self.unanswered.len().div_ceil(64)].into();
        self.enter(None, none, used, self.model.initial());
        loop {
            let Some(mut next) = self.open.first_entry() else {
                return Some(false);
            };
            let step = next.get_mut().pop();
            if next.get().is_empty() {
                next.remove();
            }
            match step {
                Some(Try::Returned(node) | Try::Unanswered(node))
                    if self.nodes[node].is_outdone => {}
                // What never returned and is not placed by then has not happened.
                Some(Try::Returned(node)) if self.nodes[node].done.first == self.returns.len() => {
                    return Some(true);
                }
                Some(Try::Returned(node)) => self.place_returned(node)?,
                Some(Try::Unanswered(node)) => self.place_unanswered(node)?,
                None => {}
            }
        }
    }

    /// Counts something against the bound; `None` when that is reached.
    fn spend(&mut self, cost: usize) -> Option<()> {
        *self.effort = self.effort.saturating_sub(cost as u64);
        (*self.effort > 0).then_some(())
    }

    /// What comes next must have been invoked before this event.
    fn limit(&self, done: &Done) -> u64 {
        let first = self.returns.get(done.first);
        let event = first.and_then(|&i| self.entries[i].returned.as_ref());
        event.map_or(u64::MAX, |(event, _)| *event)
    }

    /// The state after one more operation, if the model allows it.
    fn after(&mut self, node: usize, i: usize) -> Option<M::State> {
        let entry = &self.entries[i];
        let output = entry.returned.as_ref().map(|(_, output)| output);
        self.model.apply(&self.nodes[node].state, &entry.op, output)
    }

    /// Goes on with each operation that returned and may be next.
    fn place_returned(&mut self, node: usize) -> Option<()> {
        let done = self.nodes[node].done.clone();
        let limit = self.limit(&done);
        let may_be_next = |&i: &usize| {
            let returned = self.entries[i].returned.is_some();
            returned && self.rank[i] >= done.first && !done.more.contains(&self.rank[i])
        };
        let candidates = (self.earliest[done.first]..self.entries.len())
            .take_while(|&i| self.entries[i].invoked < limit)
            .filter(may_be_next);
        // The one entered last is looked at first, and that is to be the one invoked first.
        let mut candidates: Vec<usize> = candidates.collect();
        candidates.reverse();
        self.spend(candidates.len())?;
        for i in candidates {
            if let Some(state) = self.after(node, i) {
                let mut done = done.clone();
                let place = done.more.partition_point(|&rank| rank < self.rank[i]);
                done.more.insert(place, self.rank[i]);
                while done.more.first() == Some(&done.first) {
                    done.more.remove(0);
                    done.first += 1;
                }
                let used = self.nodes[node].used.clone();
                self.enter(Some((node, i)), done, used, state)?;
            }
        }
        Some(())
    }

    /// Goes on with each operation that never returned, as if it had happened now.
    fn place_unanswered(&mut self, node: usize) -> Option<()> {
        let done = self.nodes[node].done.clone();
        let limit = self.limit(&done);
        for place in 0..self.unanswered.len() {
            let (i, equal) = self.unanswered[place];
            if self.entries[i].invoked >= limit {
                break;
            }
            let used = &self.nodes[node].used;
            let waits = equal.is_some_and(|equal| !has(used, equal));
            if waits || has(used, place) {
                continue;
            }
            self.spend(1)?;
            if let Some(state) = self.after(node, i) {
                let mut used = self.nodes[node].used.clone();
                used[place / 64] |= 1 << (place % 64);
                self.enter(Some((node, i)), done.clone(), used, state)?;
            }
        }
        Some(())
    }

    /// Enters a configuration, unless another one can do whatever it can.
    fn enter(
        &mut self,
        from: Option<(usize, usize)>,
        done: Done,
        used: Used,
        state: M::State,
    ) -> Option<()> {
        let key = hash_of(&(&done, hash_of(&state)));
        let alike = self.known.entry(key).or_default();
        let compared = alike.len();
        let mut outdone = false;
        alike.retain(|&other| {
            let other = &mut self.nodes[other];
            if outdone || other.done != done || other.state != state {
                return true;
            }
            outdone = is_part(&other.used, &used);
            other.is_outdone = !outdone && is_part(&used, &other.used);
            !other.is_outdone
        });
        if !outdone {
            let node = self.nodes.len();
            alike.push(node);
            let placed = done.first + done.more.len();
            if placed > self.best.0 {
                self.best = (placed, node);
            }
            let others = used.iter().map(|bits| bits.count_ones() as usize).sum();
            let mut open = |others: usize, step| {
                let level = self.open.entry((Reverse(placed), others));
                level.or_default().push(step);
            };
            open(others, Try::Returned(node));
            if others < self.unanswered.len() {
                open(others + 1, Try::Unanswered(node));
            }
            self.nodes.push(Node {
                from,
                done,
                used,
                state,
                is_outdone: false,
            });
        }
        self.spend(compared)
    }

    /// The operations placed in a configuration, in their order.
    fn order(&self, node: usize) -> Vec<usize> {
        let before = |&(node, _): &(usize, usize)| self.nodes[node].from;
        let steps = std::iter::successors(self.nodes[node].from, before);
        let mut order: Vec<usize> = steps.map(|(_, placed)| placed).collect();
        order.reverse();
        order
    }
}

fn has(used: &[u64], place: usize) -> bool {
    used[place / 64] >> (place % 64) & 1 == 1
}

/// Whether all of these are among those.
fn is_part(these: &[u64], those: &[u64]) -> bool {
    these.iter().zip(those).all(|(a, b)| a & !b == 0)
}
