//! Priorities of actions, and the enabled action with the highest one.
//!
//! Owns the order, not the rule by which priorities are given.
//!
//! 1. A new action gets a random 63-bit number: any relative order among them is equally likely
//!    (two being equal has odds of `2^-63`, and then the younger action wins).
//! 2. Numbers below [`BELOW_NEW`] are below every priority given to a new action.
//! 3. An action stands in the order at most once, with its present priority. One that is found
//!    disabled when it comes first is taken out, and put back when it is reported as fresh. So a pick
//!    looks at the first only, whatever the number of tasks, and each time an action becomes
//!    enabled costs at most one insertion and one removal.
//! 4. The order is a row of sorted lists, one for each value of a priority's highest bits, under a
//!    bitmap of those that are not empty. As priorities are random, lists are short, and insertion,
//!    removal and finding the first take constant time where a heap's paths grow with the number of
//!    tasks.
//! 5. Nothing is allocated once the vectors have grown to the number of actions.

use crate::words::enabled::EnabledActions;
use crate::words::seed::Generator;
use crate::words::{ActionKey, Pick};
use rand::Rng;

/// Every priority given to a new action is at least this.
pub(super) const BELOW_NEW: u64 = 1 << 63;

/// Lists in the row: one for each value of a priority's highest 12 bits.
const LISTS: usize = 64 * 64;

/// No action.
const NIL: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, Default)]
struct Rank {
    priority: u64,
    /// The epoch in which the priority was given.
    epoch: u32,
    /// The next in its list.
    next: u32,
    /// Whether it stands in the order.
    queued: bool,
}

/// Which action comes first.
#[derive(Clone, Debug)]
pub(super) struct Ranking {
    /// By [`ActionKey::index`].
    ranks: Vec<Rank>,
    /// The first of each list.
    firsts: Box<[u32; LISTS]>,
    /// Which lists are not empty.
    filled: [u64; 64],
    /// Which words of `filled` are not 0.
    words: u64,
    /// Ranks of other epochs are void.
    epoch: u32,
}

impl Default for Ranking {
    fn default() -> Self {
        Ranking {
            ranks: Vec::new(),
            firsts: Box::new([NIL; LISTS]),
            filled: [0; 64],
            words: 0,
            epoch: 0,
        }
    }
}

fn list_of(priority: u64) -> usize {
    (priority >> 52) as usize
}

impl Ranking {
    /// Forgets all actions, keeping the memory.
    pub(super) fn clear(&mut self) {
        self.empty();
        self.next_epoch();
    }

    /// Makes all ranks void. They stay where they are: to write them anew for every iteration would
    /// cost more than the few that are given.
    fn next_epoch(&mut self) {
        if self.epoch == u32::MAX {
            self.ranks.clear();
            self.epoch = 0;
        }
        self.epoch += 1;
    }

    /// Empties all lists.
    fn empty(&mut self) {
        while let Some(list) = self.highest() {
            self.firsts[list] = NIL;
            self.unmark(list);
        }
    }

    /// Gives new priorities to all actions: to the enabled ones now, to others when they come.
    pub(super) fn renew(&mut self, enabled: &EnabledActions<'_>, generator: &mut Generator) {
        self.empty();
        self.next_epoch();
        self.rebuild(enabled, generator);
    }

    /// Takes in an action that has become enabled.
    #[inline]
    pub(super) fn admit(&mut self, key: ActionKey, generator: &mut Generator) {
        let index = key.index();
        let known = self.ranks.get(index);
        if !known.is_some_and(|rank| rank.queued && rank.epoch == self.epoch) {
            self.take_in(index, generator);
        }
    }

    fn take_in(&mut self, index: usize, generator: &mut Generator) {
        self.make_room(index);
        let rank = &mut self.ranks[index];
        if rank.epoch != self.epoch {
            rank.priority = generator.next_u64() | BELOW_NEW;
            rank.epoch = self.epoch;
        }
        let list = list_of(rank.priority);
        if self.firsts[list] != NIL {
            return self.insert(index as u32);
        }
        // Most lists are empty.
        rank.next = NIL;
        rank.queued = true;
        self.firsts[list] = index as u32;
        self.mark(list);
    }

    #[inline]
    fn make_room(&mut self, index: usize) {
        if index >= self.ranks.len() {
            let room = (index + 1).next_power_of_two();
            self.ranks.resize(room, Rank::default());
        }
    }

    /// Whether the action has a priority.
    #[inline]
    pub(super) fn knows(&self, key: ActionKey) -> bool {
        let rank = self.ranks.get(key.index());
        rank.is_some_and(|rank| rank.epoch == self.epoch)
    }

    /// Takes in a new action with this priority.
    pub(super) fn place(&mut self, key: ActionKey, priority: u64) {
        let index = key.index();
        self.make_room(index);
        self.ranks[index].priority = priority;
        self.ranks[index].epoch = self.epoch;
        self.insert(index as u32);
    }

    /// Gives an action that has a priority another one.
    pub(super) fn set(&mut self, key: ActionKey, priority: u64) {
        let index = key.index();
        if self.ranks[index].epoch != self.epoch {
            return; // it gets a new one when it comes
        }
        if self.ranks[index].queued {
            self.remove(index as u32);
            self.ranks[index].priority = priority;
            self.insert(index as u32);
        } else {
            self.ranks[index].priority = priority;
        }
    }

    /// The priority of an action that has one.
    #[inline]
    pub(super) fn priority(&self, key: ActionKey) -> u64 {
        self.ranks[key.index()].priority
    }

    /// Gives other priorities to all actions that have one. They come by rising priority: each is
    /// put before those of its list.
    pub(super) fn renumber(&mut self, rising: impl Iterator<Item = (ActionKey, u64)>) {
        self.empty();
        for (key, priority) in rising {
            let rank = &mut self.ranks[key.index()];
            rank.priority = priority;
            if rank.queued {
                self.insert(key.index() as u32);
            }
        }
    }

    /// The enabled action of highest priority.
    #[inline]
    pub(super) fn top(
        &mut self,
        enabled: &EnabledActions<'_>,
        generator: &mut Generator,
    ) -> (ActionKey, Pick) {
        loop {
            let Some(list) = self.highest() else {
                self.rebuild(enabled, generator);
                continue;
            };
            let index = self.firsts[list];
            let key = ActionKey::from_index(index as usize);
            if let Some(pick) = enabled.find(key) {
                return (key, pick);
            }
            self.drop_first(list, index);
        }
    }

    /// Takes in all enabled actions.
    #[cold]
    fn rebuild(&mut self, enabled: &EnabledActions<'_>, generator: &mut Generator) {
        enabled
            .iter()
            .for_each(|(_, action)| self.admit(action.key(), generator));
    }

    /// The list of the highest priorities.
    #[inline]
    fn highest(&self) -> Option<usize> {
        let word = self.words.checked_ilog2()?;
        let bit = self.filled[word as usize].checked_ilog2()?;
        Some((word * 64 + bit) as usize)
    }

    #[inline]
    fn mark(&mut self, list: usize) {
        self.filled[list / 64] |= 1 << (list % 64);
        self.words |= 1 << (list / 64);
    }

    fn unmark(&mut self, list: usize) {
        let word = &mut self.filled[list / 64];
        *word &= !(1 << (list % 64));
        if *word == 0 {
            self.words &= !(1 << (list / 64));
        }
    }

    /// Puts an action into its list, which is sorted by priority and then by age.
    fn insert(&mut self, index: u32) {
        let priority = self.ranks[index as usize].priority;
        let list = list_of(priority);
        let mut before = NIL;
        let mut next = self.firsts[list];
        while next != NIL && (self.ranks[next as usize].priority, next) > (priority, index) {
            before = next;
            next = self.ranks[next as usize].next;
        }
        let rank = &mut self.ranks[index as usize];
        rank.next = next;
        rank.queued = true;
        if before == NIL {
            self.firsts[list] = index;
            self.mark(list);
        } else {
            self.ranks[before as usize].next = index;
        }
    }

    /// Takes the first action out of its list.
    fn drop_first(&mut self, list: usize, index: u32) {
        let rank = &mut self.ranks[index as usize];
        rank.queued = false;
        self.firsts[list] = rank.next;
        if rank.next == NIL {
            self.unmark(list);
        }
    }

    /// Takes an action out of its list.
    fn remove(&mut self, index: u32) {
        let list = list_of(self.ranks[index as usize].priority);
        if self.firsts[list] == index {
            return self.drop_first(list, index);
        }
        let mut before = self.firsts[list];
        while self.ranks[before as usize].next != index {
            before = self.ranks[before as usize].next;
        }
        self.ranks[before as usize].next = self.ranks[index as usize].next;
        self.ranks[index as usize].queued = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Seed;

    /// Against a plain list that is searched from end to end.
    #[test]
    fn the_first_is_that_of_a_plain_search() {
        let mut generator = Seed(5).stream("test");
        let mut ranking = Ranking::default();
        for actions in [1_usize, 2, 7, 300] {
            ranking.clear();
            let mut plain: Vec<Option<u64>> = vec![None; actions];
            for _ in 0..2_000 {
                let index = generator.next_u64() as usize % actions;
                let key = ActionKey::from_index(index);
                let among_few = generator.next_u64() % 4 * 1_000 + generator.next_u64() % 3;
                let priority = match generator.next_u64() % 3 {
                    0 => generator.next_u64(),
                    1 => among_few,
                    _ => BELOW_NEW | among_few << 40,
                };
                match plain[index] {
                    None => ranking.place(key, priority),
                    Some(_) => ranking.set(key, priority),
                }
                plain[index] = Some(priority);
                let first = (0..actions)
                    .filter(|&i| plain[i].is_some())
                    .max_by_key(|&i| (plain[i], i));
                let list = ranking.highest().expect("one was placed");
                assert_eq!(Some(ranking.firsts[list] as usize), first);
            }
            let mut order: Vec<_> = (0..actions).filter(|&i| plain[i].is_some()).collect();
            order.sort_by_key(|&i| std::cmp::Reverse((plain[i], i)));
            for index in order {
                let list = ranking.highest().expect("more are left");
                assert_eq!(ranking.firsts[list] as usize, index);
                ranking.drop_first(list, index as u32);
            }
            assert_eq!(ranking.highest(), None);
        }
    }
}
