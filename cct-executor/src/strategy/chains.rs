//! Chains: an online partition of causally ordered events, in which each chain is totally ordered.
//!
//! A. Agarwal and V. K. Garg, "Efficient dependency tracking for relevant events in shared-memory
//! systems", PODC 2005: at most `w (w + 1) / 2` chains, with `w` the number of events no two of
//! which are ordered.
//!
//! Owns chains and clocks, not what an event is: each action (a lane of events that follow each
//! other) tells when it has a new one, and whose events came before.
//!
//! 1. An event is after all events that its clock counts: so many from each chain.
//! 2. Sets 1, 2, 3... hold at most 1, 2, 3... chains, of which no two have ordered last events.
//! 3. A new event goes to the first set with a chain whose last event comes before it. That chain
//!    joins the set before, whose last events are unordered with the new one, and the two sets
//!    change places. If there is no such chain the event begins one, in the first set with room;
//!    the paper does so before it has looked at all sets, and gets more chains.
//! 4. An event that only its own forerunner comes before, the last of its chain, stays there. It
//!    cannot be ordered with other last events of the set, as its forerunner was not: rule 2 holds
//!    without a search.
//! 5. Chains beyond [`TRACKED_MAX`] are in no set, and only their own action adds to them. So a
//!    clock is short, and memory grows with the number of actions only.

/// How many chains clocks count.
const TRACKED_MAX: usize = 256;

/// A chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ChainId(pub(super) u32);

/// The events of one action.
#[derive(Clone, Debug, Default)]
struct Line {
    /// Chain and position of its latest event; none yet when the position is 0.
    chain: u32,
    position: u32,
    /// Others' events come before the next one besides its own forerunner.
    follows: bool,
    /// How many events of each chain come before its next event. Missing ones are 0.
    clock: Vec<u32>,
}

/// All chains of an iteration.
#[derive(Clone, Debug, Default)]
pub(super) struct Chains {
    /// How many events each chain has.
    lengths: Vec<u32>,
    /// Set `i` has room for `i + 1` chains.
    sets: Vec<Vec<u32>>,
    used_sets: usize,
    /// By number of the action.
    lines: Vec<Line>,
    /// Clocks of actions that are over.
    spare: Vec<Vec<u32>>,
}

impl Chains {
    /// Forgets everything, keeping the memory.
    pub(super) fn clear(&mut self) {
        self.lengths.clear();
        self.sets.iter_mut().for_each(Vec::clear);
        self.used_sets = 0;
        for index in 0..self.lines.len() {
            self.over(index);
        }
        self.lines.clear();
    }

    /// How many chains there are.
    pub(super) fn len(&self) -> usize {
        self.lengths.len()
    }

    fn line(&mut self, action: usize) -> &mut Line {
        while self.lines.len() <= action {
            self.lines.push(Line {
                chain: 0,
                position: 0,
                follows: false,
                clock: self.spare.pop().unwrap_or_default(),
            });
        }
        &mut self.lines[action]
    }

    /// What `earlier` has done so far, its latest event included, comes before the next event of
    /// `action`.
    pub(super) fn follow(&mut self, action: usize, earlier: usize) {
        if action == earlier {
            return;
        }
        let last = action.max(earlier);
        self.line(last);
        let (low, high) = self.lines.split_at_mut(last);
        let (line, before) = match action == last {
            true => (&mut high[0], &low[earlier]),
            false => (&mut low[action], &high[0]),
        };
        line.follows = true;
        let (clock, before) = (&mut line.clock, &before.clock);
        if clock.is_empty() {
            return clock.extend_from_slice(before);
        }
        if clock.len() < before.len() {
            clock.resize(before.len(), 0);
        }
        for (count, &theirs) in clock.iter_mut().zip(before) {
            *count = theirs.max(*count);
        }
    }

    /// The action has a new event. Returns its chain, and whether the chain is new.
    #[inline]
    pub(super) fn extend(&mut self, action: usize) -> (ChainId, bool) {
        let own = self.line(action).chain;
        if !self.lines[action].follows && self.is_last(action) {
            self.append(action, own);
            return (ChainId(own), false);
        }
        self.search(action)
    }

    /// Whether the action's latest event is the last of its chain.
    #[inline]
    fn is_last(&self, action: usize) -> bool {
        let line = &self.lines[action];
        line.position > 0 && self.lengths[line.chain as usize] == line.position
    }

    /// Appends the action's new event to a chain.
    #[inline]
    fn append(&mut self, action: usize, to: u32) {
        self.lengths[to as usize] += 1;
        let length = self.lengths[to as usize];
        let line = &mut self.lines[action];
        line.chain = to;
        line.position = length;
        line.follows = false;
        let index = to as usize;
        if index < TRACKED_MAX {
            if index >= line.clock.len() {
                line.clock.resize(index + 1, 0);
            }
            line.clock[index] = length;
        }
    }

    #[cold]
    fn search(&mut self, action: usize) -> (ChainId, bool) {
        if let Some((chain, set)) = self.before(action) {
            self.promote(chain, set);
            self.append(action, chain);
            return (ChainId(chain), false);
        }
        if self.lengths.len() < TRACKED_MAX {
            let full = self.sets.iter().enumerate();
            let room = full.take_while(|(at, set)| set.len() > *at).count();
            return (self.found(action, room), true);
        }
        let own = self.lines[action].chain;
        if self.is_last(action) {
            self.append(action, own);
            return (ChainId(own), false);
        }
        (self.found(action, TRACKED_MAX), true)
    }

    /// The first chain whose last event comes before the action's next one, and its set.
    fn before(&self, action: usize) -> Option<(u32, usize)> {
        let clock = &self.lines[action].clock;
        // Mostly there is none, which is seen faster in the order of numbers than in that of sets.
        let counts = clock.iter().zip(&self.lengths);
        if counts.filter(|(count, length)| count == length).count() == 0 {
            return None;
        }
        let is_after =
            |&&chain: &&u32| clock.get(chain as usize) == Some(&self.lengths[chain as usize]);
        let mut sets = self.sets.iter().enumerate().take(self.used_sets);
        sets.find_map(|(at, set)| Some((*set.iter().find(is_after)?, at)))
    }

    /// Begins a chain with the action's new event.
    fn found(&mut self, action: usize, set: usize) -> ChainId {
        let id = self.lengths.len() as u32;
        self.lengths.push(0);
        if set < TRACKED_MAX {
            if set == self.sets.len() {
                self.sets.push(Vec::new());
            }
            self.sets[set].push(id);
            self.used_sets = self.used_sets.max(set + 1);
        }
        self.append(action, id);
        ChainId(id)
    }

    /// Rule 3: the chain joins those of the set before, and the rest of its set become that set.
    fn promote(&mut self, chain: u32, set: usize) {
        if set == 0 {
            return;
        }
        self.sets[set].retain(|&other| other != chain);
        self.sets.swap(set - 1, set);
        self.sets[set].push(chain);
    }

    /// The action is over: nothing will follow it any more.
    pub(super) fn over(&mut self, action: usize) {
        if let Some(line) = self.lines.get_mut(action) {
            let mut clock = std::mem::take(&mut line.clock);
            if clock.capacity() > 0 {
                clock.clear();
                self.spare.push(clock);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the last events of all chains of a set are unordered (rule 2), given their clocks.
    fn assert_unordered(chains: &Chains, clocks: &[Vec<u32>]) {
        for (room, set) in chains.sets.iter().enumerate() {
            assert!(set.len() <= room + 1);
            for (&a, &b) in set.iter().flat_map(|a| set.iter().map(move |b| (a, b))) {
                let length = chains.lengths[b as usize];
                let knows = clocks[a as usize].get(b as usize) == Some(&length);
                assert!(a == b || !knows, "{a} comes after {b}");
            }
        }
    }

    /// Messages passed on: a sends to b and falls silent, b sends to c... One chain.
    #[test]
    fn a_relay_is_one_chain() {
        let mut chains = Chains::default();
        chains.extend(0);
        for action in 1..100 {
            chains.follow(action, action - 1);
            assert_eq!(chains.extend(action), (ChainId(0), false));
        }
        assert_eq!(chains.len(), 1);
    }

    /// Actions that know nothing of each other: a chain each, however long they are.
    #[test]
    fn strangers_have_a_chain_each() {
        let mut chains = Chains::default();
        for round in 0..5 {
            for action in 0..400 {
                let (chain, new) = chains.extend(action);
                assert_eq!((chain.0 as usize, new), (action, round == 0));
            }
        }
    }

    /// A random exchange among 6 actions: at most 21 chains, and rule 2 after each event.
    #[test]
    fn an_exchange_keeps_to_the_bound() {
        use crate::strategy::draw::below;
        let mut generator = crate::words::Seed(5).stream("test");
        let mut chains = Chains::default();
        for _ in 0..3 {
            chains.clear();
            let mut clocks = vec![Vec::new(); 21];
            for _ in 0..2000 {
                let to = below(&mut generator, 6) as usize;
                if below(&mut generator, 2) == 0 {
                    chains.follow(to, below(&mut generator, 6) as usize);
                }
                let (ChainId(chain), _) = chains.extend(to);
                clocks[chain as usize].clone_from(&chains.lines[to].clock);
                assert_unordered(&chains, &clocks);
            }
        }
    }
}
