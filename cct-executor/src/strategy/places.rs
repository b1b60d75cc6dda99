//! A list of actions in which a new one may be put at any place.
//!
//! Owns the order, not what stands for it elsewhere.
//!
//! 1. The list is cut into blocks of at most [`BLOCK`] actions, so that a new one moves few others,
//!    and a place is found by adding up lengths. Both take a time that grows with the list, but a
//!    sixty-fourth as fast.
//! 2. No block is empty. Blocks are used again: nothing is allocated once the list was as long
//!    before.

use crate::words::ActionKey;

/// Most actions of a block.
const BLOCK: usize = 128;

/// The list.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    blocks: Vec<Vec<ActionKey>>,
    spare: Vec<Vec<ActionKey>>,
    len: usize,
}

/// Who stands before and behind a place.
pub(super) type Neighbours = (Option<ActionKey>, Option<ActionKey>);

impl Places {
    pub(super) fn clear(&mut self) {
        while let Some(block) = self.blocks.pop() {
            self.discard(block);
        }
        self.len = 0;
    }

    fn discard(&mut self, mut block: Vec<ActionKey>) {
        block.clear();
        self.spare.push(block);
    }

    fn fresh(&mut self) -> Vec<ActionKey> {
        let spare = self.spare.pop();
        spare.unwrap_or_else(|| Vec::with_capacity(BLOCK))
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// From the last to the first.
    pub(super) fn backwards(&self) -> impl Iterator<Item = ActionKey> + '_ {
        self.blocks
            .iter()
            .rev()
            .flat_map(|b| b.iter().rev().copied())
    }

    /// Puts an action before the one that stands at this place, or at the end. Returns between whom
    /// it stands.
    pub(super) fn insert(&mut self, place: usize, key: ActionKey) -> Neighbours {
        let (mut at, mut rest) = (0, place);
        while self.blocks.get(at).is_some_and(|block| rest > block.len()) {
            rest -= self.blocks[at].len();
            at += 1;
        }
        if at == self.blocks.len() {
            let block = self.fresh();
            self.blocks.push(block);
        }
        if self.blocks[at].len() == BLOCK {
            self.split(at);
            if rest > BLOCK / 2 {
                rest -= BLOCK / 2;
                at += 1;
            }
        }
        let block = &mut self.blocks[at];
        block.insert(rest, key);
        self.len += 1;
        let block = &self.blocks[at];
        // Only the first block has a place of which one is told that it is the beginning.
        let before = rest.checked_sub(1).map(|before| block[before]);
        let behind = block
            .get(rest + 1)
            .or_else(|| self.blocks.get(at + 1)?.first());
        (before, behind.copied())
    }

    #[cold]
    fn split(&mut self, at: usize) {
        let mut second = self.fresh();
        second.extend(self.blocks[at].drain(BLOCK / 2..));
        self.blocks.insert(at + 1, second);
    }

    /// Takes out an action that is in the list.
    #[cold]
    pub(super) fn remove(&mut self, key: ActionKey) {
        let found = self.blocks.iter().enumerate().find_map(|(at, block)| {
            let place = block.iter().position(|&listed| listed == key)?;
            Some((at, place))
        });
        let (at, place) = found.expect("cct bug: the action is not listed");
        self.blocks[at].remove(place);
        self.len -= 1;
        if self.blocks[at].is_empty() {
            let block = self.blocks.remove(at);
            self.discard(block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::draw::below;
    use crate::words::Seed;

    /// Against a plain list.
    #[test]
    fn places_are_those_of_a_plain_list() {
        let mut generator = Seed(7).stream("test");
        let mut places = Places::default();
        for _ in 0..2 {
            let mut plain = Vec::new();
            for index in 0..3_000 {
                let key = ActionKey::from_index(index);
                let place = below(&mut generator, plain.len() as u32 + 1) as usize;
                plain.insert(place, key);
                let before = place.checked_sub(1).map(|before| plain[before]);
                let behind = plain.get(place + 1).copied();
                assert_eq!(places.insert(place, key), (before, behind));
                if index % 3 == 0 {
                    let key = plain.remove(below(&mut generator, plain.len() as u32) as usize);
                    places.remove(key);
                }
                assert_eq!(places.len(), plain.len());
            }
            assert!(places.backwards().eq(plain.iter().rev().copied()));
            places.clear();
        }
    }
}
