//! Weights of actions, and a draw among them.
//!
//! Owns the sums, not what the weights mean.
//!
//! 1. A tree whose nodes have eight numbers, a line of cache: in the lowest row the weight of an
//!    action each, in the others the sum of a node of the row below.
//! 2. A change and a draw visit one node in each row: 3 for 512 actions, 4 for 4,096. A draw waits
//!    for one node after the other, so that rows are what it costs.
//! 3. Nothing is allocated once the tree has grown to the number of actions.

use crate::words::ActionKey;

/// Numbers of a node.
const WIDTH: usize = 8;

#[repr(align(64))]
#[derive(Clone, Copy, Debug)]
struct Node([u64; WIDTH]);

/// The tree.
#[derive(Clone, Debug)]
pub(super) struct Shares {
    /// Row by row; number `i` of all is the sum of node `i + 1`.
    nodes: Vec<Node>,
    rows: u32,
    /// Where the lowest row begins, in numbers.
    base: usize,
    total: u64,
}

impl Shares {
    pub(super) fn new() -> Self {
        Shares {
            nodes: vec![Node([0; WIDTH])],
            rows: 1,
            base: 0,
            total: 0,
        }
    }

    /// Sets all weights to 0.
    pub(super) fn clear(&mut self) {
        self.nodes.fill(Node([0; WIDTH]));
        self.total = 0;
    }

    /// The weight of an action.
    #[inline]
    pub(super) fn get(&self, key: ActionKey) -> u64 {
        let at = self.base + key.index();
        let node = self.nodes.get(at / WIDTH);
        node.map_or(0, |Node(numbers)| numbers[at % WIDTH])
    }

    /// The sum of all weights.
    #[inline]
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Changes the weight of an action.
    #[inline]
    pub(super) fn set(&mut self, key: ActionKey, weight: u64) {
        let mut at = self.base + key.index();
        if at / WIDTH >= self.nodes.len() {
            self.grow(key.index());
            at = self.base + key.index();
        }
        // What goes down is what goes up by all but that.
        let more = weight.wrapping_sub(self.nodes[at / WIDTH].0[at % WIDTH]);
        if more == 0 {
            return;
        }
        self.total = self.total.wrapping_add(more);
        loop {
            let node = at / WIDTH;
            let number = &mut self.nodes[node].0[at % WIDTH];
            *number = number.wrapping_add(more);
            if node == 0 {
                return;
            }
            at = node - 1;
        }
    }

    #[cold]
    fn grow(&mut self, index: usize) {
        let old = std::mem::replace(self, Shares::new());
        while self.nodes.len() * WIDTH <= self.base + index {
            self.base = self.base * WIDTH + WIDTH;
            self.rows += 1;
            self.nodes.resize(self.base + 1, Node([0; WIDTH]));
        }
        for (at, &weight) in old.nodes.iter().flat_map(|Node(of)| of).enumerate() {
            if let Some(index) = at.checked_sub(old.base) {
                self.set(ActionKey::from_index(index), weight);
            }
        }
    }

    /// The action that holds the ticket, of as many as the weights sum up to.
    #[inline]
    pub(super) fn holder(&self, ticket: u64) -> ActionKey {
        let (mut node, mut ticket) = (0, ticket);
        for _ in 0..self.rows {
            // Without branches: which way they went would be random.
            let (mut sum, mut before, mut slot) = (0, 0, 0);
            for &number in &self.nodes[node].0[..WIDTH - 1] {
                sum += number;
                let is_past = ticket >= sum;
                slot += usize::from(is_past);
                before = if is_past { sum } else { before };
            }
            ticket -= before;
            node = node * WIDTH + slot + 1;
        }
        ActionKey::from_index(node - 1 - self.base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ticket_has_its_holder_while_the_tree_grows() {
        let mut shares = Shares::new();
        let key = ActionKey::from_index;
        let mut weights = vec![0; 700];
        for index in 0..700 {
            weights[index] = index as u64 % 3;
            weights[index / 2] = index as u64 % 5;
            shares.set(key(index), weights[index]);
            shares.set(key(index / 2), weights[index / 2]);
            assert_eq!(shares.total(), weights.iter().sum());
            if index % 50 == 0 || index == 699 {
                let mut tickets = vec![0; 700];
                (0..shares.total()).for_each(|t| tickets[shares.holder(t).index()] += 1);
                assert_eq!(tickets, weights);
                assert!((0..700).all(|i| shares.get(key(i)) == weights[i]));
            }
        }
        shares.clear();
        assert_eq!((shares.total(), shares.get(key(3))), (0, 0));
    }
}
