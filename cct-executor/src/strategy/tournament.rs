//! A tree over actions that knows the one of highest priority, or draws one by weight.
//!
//! Owns the tree, not what its numbers mean.
//!
//! 1. A leaf per [`ActionKey`], 0 where there is nothing to choose. Every inner node is the
//!    [`Fold`] of its two children.
//! 2. A change costs at most the logarithm of the number of actions, and ends at the first node
//!    that stays the same. Nothing is allocated once the tree has grown to the number of actions.

use crate::words::ActionKey;
use std::marker::PhantomData;

/// What an inner node says about its children.
pub(super) trait Fold {
    fn fold(left: u64, right: u64) -> u64;
}

/// The greater one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Greatest;

/// Both together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Total;

impl Fold for Greatest {
    #[inline]
    fn fold(left: u64, right: u64) -> u64 {
        left.max(right)
    }
}

impl Fold for Total {
    #[inline]
    fn fold(left: u64, right: u64) -> u64 {
        left + right
    }
}

/// The tree.
#[derive(Clone, Debug)]
pub(super) struct Tournament<F> {
    /// The root is 1, the children of `i` are `2i` and `2i + 1`, the second half are the leaves.
    nodes: Vec<u64>,
    leaves: usize,
    fold: PhantomData<F>,
}

impl<F: Fold> Tournament<F> {
    pub(super) fn new() -> Self {
        Tournament {
            nodes: vec![0; 16],
            leaves: 8,
            fold: PhantomData,
        }
    }

    /// Sets all leaves to 0.
    pub(super) fn clear(&mut self) {
        self.nodes.fill(0);
    }

    /// The number of an action.
    #[inline]
    pub(super) fn get(&self, key: ActionKey) -> u64 {
        if key.index() < self.leaves {
            self.nodes[self.leaves + key.index()]
        } else {
            0
        }
    }

    /// The fold of all.
    #[inline]
    pub(super) fn root(&self) -> u64 {
        self.nodes[1]
    }

    /// Changes the number of an action.
    #[inline]
    pub(super) fn set(&mut self, key: ActionKey, number: u64) {
        if key.index() >= self.leaves {
            self.grow(key.index());
        }
        let mut at = self.leaves + key.index();
        let mut number = number;
        while self.nodes[at] != number {
            self.nodes[at] = number;
            if at == 1 {
                return;
            }
            number = F::fold(number, self.nodes[at ^ 1]);
            at /= 2;
        }
    }

    #[cold]
    fn grow(&mut self, index: usize) {
        let leaves = (index + 1).next_power_of_two();
        let mut nodes = vec![0; 2 * leaves];
        nodes[leaves..leaves + self.leaves].copy_from_slice(&self.nodes[self.leaves..]);
        for at in (1..leaves).rev() {
            nodes[at] = F::fold(nodes[2 * at], nodes[2 * at + 1]);
        }
        self.nodes = nodes;
        self.leaves = leaves;
    }
}

impl Tournament<Greatest> {
    /// Gives an action a priority, which is not 0. Only what is above the lowest 32 bits counts.
    #[inline]
    pub(super) fn rank(&mut self, key: ActionKey, priority: u64) {
        if key.index() >= self.leaves {
            self.grow_ranked(key.index());
        }
        self.set(key, Self::signed(priority, key.index(), self.leaves));
    }

    /// The action of highest priority; meaningless when all are 0.
    #[inline]
    pub(super) fn top(&self) -> ActionKey {
        ActionKey::from_index(self.root() as usize & (self.leaves - 1))
    }

    /// The priority with the action's number in its lowest bits, so that the root tells whose it
    /// is.
    #[inline]
    fn signed(priority: u64, index: usize, leaves: usize) -> u64 {
        priority & !(leaves as u64 - 1) | index as u64
    }

    /// More leaves need more bits for the action's number.
    #[cold]
    fn grow_ranked(&mut self, index: usize) {
        self.grow(index);
        for index in 0..self.leaves {
            let priority = self.nodes[self.leaves + index];
            if priority != 0 {
                let signed = Self::signed(priority, index, self.leaves);
                self.set(ActionKey::from_index(index), signed);
            }
        }
    }
}

impl Tournament<Total> {
    /// The action that holds the ticket, of as many as the weights sum up to.
    #[inline]
    pub(super) fn holder(&self, ticket: u64) -> ActionKey {
        // Without branches: which way they went would be random.
        let (mut at, mut ticket) = (1, ticket);
        while at < self.leaves {
            let left = self.nodes[2 * at];
            let right = u64::from(ticket >= left);
            ticket -= left & right.wrapping_neg();
            at = 2 * at + right as usize;
        }
        ActionKey::from_index(at - self.leaves)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_and_the_holders_while_it_grows() {
        let mut greatest = Tournament::<Greatest>::new();
        let mut total = Tournament::<Total>::new();
        let key = ActionKey::from_index;
        for i in 0..100 {
            greatest.rank(key(i), ((i as u64 * 37) % 101 + 1) << 32);
            total.set(key(i), i as u64 % 3);
            let best = (0..=i).max_by_key(|&j| greatest.get(key(j))).unwrap();
            assert_eq!(greatest.top(), key(best));
        }
        let mut tickets = [0; 100];
        (0..total.root()).for_each(|ticket| tickets[total.holder(ticket).index()] += 1);
        assert!((0..100).all(|i| tickets[i] == i % 3));
        let top = greatest.top();
        greatest.set(top, 0);
        assert_ne!(greatest.top(), top);
        greatest.clear();
        assert_eq!(greatest.root(), 0);
    }
}
