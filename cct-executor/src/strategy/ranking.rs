//! Priorities of actions, and the enabled action with the highest one.
//!
//! Owns the order, not the rule by which priorities are given.
//!
//! 1. A new action gets a random 63-bit number: any relative order among them is equally likely
//!    (two being equal has odds of `2^-63`, and then the younger action wins).
//! 2. Numbers below [`BELOW_NEW`] are below every priority given to a new action.
//! 3. An action has at most one live entry in the heap: the one with its present priority. Entries
//!    of disabled actions are dropped when they come to the top, and made again when the action
//!    is reported as fresh. So a pick looks at the top only, whatever the number of tasks, and
//!    each time an action becomes enabled costs at most one push and one pop.
//! 4. Nothing is allocated once the vectors have grown to the number of actions.

use crate::words::enabled::EnabledActions;
use crate::words::seed::Generator;
use crate::words::{ActionKey, Pick};
use rand::Rng;
use std::collections::BinaryHeap;

/// Every priority given to a new action is at least this.
pub(super) const BELOW_NEW: u64 = 1 << 63;

#[derive(Clone, Copy, Debug, Default)]
struct Rank {
    priority: u64,
    /// The epoch in which the priority was given.
    epoch: u32,
    /// Whether the heap has an entry with this priority.
    queued: bool,
}

/// Which action comes first.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranking {
    /// By [`ActionKey::index`].
    ranks: Vec<Rank>,
    heap: BinaryHeap<(u64, u32)>,
    /// Ranks of other epochs are void.
    epoch: u32,
}

impl Ranking {
    /// Forgets all actions, keeping the memory.
    pub(super) fn clear(&mut self) {
        self.ranks.clear();
        self.heap.clear();
        self.epoch = 1;
    }

    /// Gives new priorities to all actions: to the enabled ones now, to others when they come.
    pub(super) fn renew(&mut self, enabled: &EnabledActions<'_>, generator: &mut Generator) {
        self.heap.clear();
        self.epoch += 1;
        self.rebuild(enabled, generator);
    }

    /// Takes in an action that has become enabled.
    #[inline]
    pub(super) fn admit(&mut self, key: ActionKey, generator: &mut Generator) {
        let index = key.index();
        if index >= self.ranks.len() {
            self.ranks.resize(index + 1, Rank::default());
        }
        let rank = &mut self.ranks[index];
        if rank.epoch != self.epoch {
            let priority = generator.next_u64() | BELOW_NEW;
            *rank = Rank {
                priority,
                epoch: self.epoch,
                queued: false,
            };
        }
        if !rank.queued {
            rank.queued = true;
            self.heap.push((rank.priority, index as u32));
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
        if index >= self.ranks.len() {
            self.ranks.resize(index + 1, Rank::default());
        }
        self.ranks[index] = Rank {
            priority,
            epoch: self.epoch,
            queued: true,
        };
        self.heap.push((priority, index as u32));
    }

    /// Gives an action that has a priority another one.
    pub(super) fn set(&mut self, key: ActionKey, priority: u64) {
        let rank = &mut self.ranks[key.index()];
        rank.priority = priority;
        if rank.queued {
            self.heap.push((priority, key.index() as u32));
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
            let Some(&(priority, index)) = self.heap.peek() else {
                self.rebuild(enabled, generator);
                continue;
            };
            let key = ActionKey::from_index(index as usize);
            let rank = &mut self.ranks[index as usize];
            if rank.priority == priority {
                if let Some(pick) = enabled.find(key) {
                    return (key, pick);
                }
                rank.queued = false;
            }
            self.heap.pop();
        }
    }

    /// Takes in all enabled actions.
    #[cold]
    fn rebuild(&mut self, enabled: &EnabledActions<'_>, generator: &mut Generator) {
        enabled
            .iter()
            .for_each(|(_, action)| self.admit(action.key(), generator));
    }
}
