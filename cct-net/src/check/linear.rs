//! The search for a linearization.
//!
//! Depth first over which operation comes next, among those that were invoked before the first
//! return that is still to come. A configuration (the operations placed, the state) is tried once.

use super::Model;
use super::history::Entry;
use cct_executor::words::fingerprint::hash_of;
use std::collections::BTreeMap;

/// What the search found.
pub(super) enum Verdict {
    Linearizable,
    /// There is none; the longest order of operations that the model allows.
    Violation(Vec<usize>),
    GaveUp,
}

/// The operations placed so far, as bits.
type Placed = Vec<u64>;

struct Search<'a, M: Model> {
    model: &'a M,
    entries: &'a [Entry<M::Op, M::Output>],
    /// Indices in order of invocation, and in order of return.
    returns: Vec<usize>,
    placed: Placed,
    order: Vec<usize>,
    best: Vec<usize>,
    tried: BTreeMap<(Placed, u64), Vec<M::State>>,
    effort: u64,
}

/// Searches; gives up after trying so many placements.
pub(super) fn search<M: Model>(
    model: &M,
    entries: &[Entry<M::Op, M::Output>],
    effort: u64,
) -> Verdict {
    let mut returns: Vec<usize> = (0..entries.len())
        .filter(|&i| entries[i].returned.is_some())
        .collect();
    returns.sort_unstable_by_key(|&i| entries[i].returned.as_ref().map(|(event, _)| *event));
    let mut search = Search {
        model,
        entries,
        returns,
        placed: vec![0; entries.len().div_ceil(64)],
        order: Vec::new(),
        best: Vec::new(),
        tried: BTreeMap::new(),
        effort,
    };
    match search.run() {
        None => Verdict::GaveUp,
        Some(true) => Verdict::Linearizable,
        Some(false) => Verdict::Violation(search.best),
    }
}

impl<M: Model> Search<'_, M> {
    /// Whether there is a linearization; `None` when the search was given up.
    fn run(&mut self) -> Option<bool> {
        // One frame for each operation placed: the state before, and where to look next.
        let mut stack = vec![(self.model.initial(), 0_usize, 0_usize)];
        loop {
            let (state, from, returned) = stack.last().cloned()?;
            let mut returned = returned;
            while self
                .returns
                .get(returned)
                .is_some_and(|&i| self.is_placed(i))
            {
                returned += 1;
            }
            let Some(&first) = self.returns.get(returned) else {
                return Some(true); // all that returned are placed; the others never happened
            };
            let limit = self.entries[first]
                .returned
                .as_ref()
                .map_or(u64::MAX, |(event, _)| *event);
            let next = (from..self.entries.len())
                .take_while(|&i| self.entries[i].invoked < limit)
                .find_map(|i| self.place(i, &state).map(|state| (i, state)));
            if self.effort == 0 {
                return None;
            }
            match next {
                Some((i, after)) => {
                    if let Some(frame) = stack.last_mut() {
                        frame.1 = i + 1;
                    }
                    self.order.push(i);
                    if self.order.len() > self.best.len() {
                        self.best.clone_from(&self.order);
                    }
                    stack.push((after, 0, returned));
                }
                None => {
                    stack.pop();
                    let Some(undone) = self.order.pop() else {
                        return Some(false);
                    };
                    self.placed[undone / 64] &= !(1 << (undone % 64));
                }
            }
        }
    }

    fn is_placed(&self, i: usize) -> bool {
        self.placed[i / 64] >> (i % 64) & 1 == 1
    }

    /// Places an operation, if the model allows it and that leads to something new.
    fn place(&mut self, i: usize, state: &M::State) -> Option<M::State> {
        if self.is_placed(i) || self.effort == 0 {
            return None;
        }
        self.effort -= 1;
        let entry = &self.entries[i];
        let output = entry.returned.as_ref().map(|(_, output)| output);
        let after = self.model.apply(state, &entry.op, output)?;
        self.placed[i / 64] |= 1 << (i % 64);
        let seen = self
            .tried
            .entry((self.placed.clone(), hash_of(&after)))
            .or_default();
        if seen.contains(&after) {
            self.placed[i / 64] &= !(1 << (i % 64));
            return None;
        }
        seen.push(after.clone());
        Some(after)
    }
}
