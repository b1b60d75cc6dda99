//! A tree over actions that knows the one of highest priority.
//!
//! Owns the tree, not what its numbers mean.
//!
//! 1. A leaf per [`ActionKey`], 0 where there is nothing to choose. Every inner node is the
//!    greater of its two children.
//! 2. A change costs at most the logarithm of the number of actions, and ends at the first node
//!    that stays the same. Nothing is allocated once the tree has grown to the number of actions.

use crate::words::ActionKey;

/// The tree.
#[derive(Clone, Debug)]
pub(super) struct Tournament {
    /// The root is 1, the children of `i` are `2i` and `2i + 1`, the second half are the leaves.
    nodes: Vec<u64>,
    leaves: usize,
}

impl Tournament {
    pub(super) fn new() -> Self {
        Tournament {
            nodes: vec![0; 16],
            leaves: 8,
        }
    }

    /// Sets all leaves to 0.
    pub(super) fn clear(&mut self) {
        self.nodes.fill(0);
    }

    /// Whether there is nothing to choose.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.nodes[1] == 0
    }

    /// Takes an action out.
    #[inline]
    pub(super) fn remove(&mut self, key: ActionKey) {
        if key.index() < self.leaves {
            self.set(key.index(), 0);
        }
    }

    /// Changes the number of an action.
    #[inline]
    fn set(&mut self, index: usize, number: u64) {
        let mut at = self.leaves + index;
        let mut number = number;
        while self.nodes[at] != number {
            self.nodes[at] = number;
            if at == 1 {
                return;
            }
            number = number.max(self.nodes[at ^ 1]);
            at /= 2;
        }
    }

    /// Gives an action a priority, which is not 0. Only what is above the lowest 32 bits counts.
    #[inline]
    pub(super) fn rank(&mut self, key: ActionKey, priority: u64) {
        if key.index() >= self.leaves {
            self.grow(key.index());
        }
        self.set(
            key.index(),
            Self::signed(priority, key.index(), self.leaves),
        );
    }

    /// The action of highest priority; meaningless when all are 0.
    #[inline]
    pub(super) fn top(&self) -> ActionKey {
        ActionKey::from_index(self.nodes[1] as usize & (self.leaves - 1))
    }

    /// The priority with the action's number in its lowest bits, so that the root tells whose it
    /// is.
    #[inline]
    fn signed(priority: u64, index: usize, leaves: usize) -> u64 {
        priority & !(leaves as u64 - 1) | index as u64
    }

    #[cold]
    fn grow(&mut self, index: usize) {
        let leaves = (index + 1).next_power_of_two();
        let old = std::mem::replace(&mut self.nodes, vec![0; 2 * leaves]);
        let ranked = old[self.leaves..].iter().enumerate();
        self.leaves = leaves;
        for (index, &priority) in ranked.filter(|&(_, &priority)| priority != 0) {
            // More leaves need more bits for the action's number.
            self.set(index, Self::signed(priority, index, leaves));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Seed;
    use rand::Rng;

    /// Against a plain list that is searched from end to end.
    #[test]
    fn the_top_is_that_of_a_plain_search_while_the_tree_grows() {
        let mut generator = Seed(6).stream("test");
        let mut tree = Tournament::new();
        let mut plain = vec![0; 200];
        let key = ActionKey::from_index;
        for step in 1..2_000 {
            let index = generator.next_u64() as usize % step.min(200);
            if generator.next_u64() % 3 == 0 {
                tree.remove(key(index));
                plain[index] = 0;
            } else {
                plain[index] = generator.next_u64() | 1 << 32;
                tree.rank(key(index), plain[index]);
            }
            let first = (0..200).max_by_key(|&index| plain[index]).unwrap();
            assert_eq!(tree.is_empty(), plain[first] == 0);
            assert!(tree.is_empty() || tree.top() == key(first));
        }
        tree.clear();
        assert!(tree.is_empty());
    }
}
