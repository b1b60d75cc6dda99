//! Who can talk to whom, in colours.
//!
//! Hashes are sums over nodes and blocks, so they do not depend on what these are called.

use super::noise::Noise;
use cct_executor::words::fingerprint::{mix, mix2};

/// Up to so many nodes can be partitioned: there are 4,140 ways to do it.
pub const NODES_MAX: usize = 8;

/// The block of each node; what is beyond the last node is 0.
pub(super) type Blocks = [u8; NODES_MAX];

/// Blocks of all nodes, and the hash of the partition they make.
#[derive(Clone, Copy)]
struct Partition {
    hash: u64,
    blocks: Blocks,
}

/// The nodes in their blocks.
pub(super) struct Board {
    nodes: usize,
    blocks: Blocks,
    colours: [u64; NODES_MAX],
    /// Hash of the present partition, when it was last painted.
    shape: u64,
    /// Partitions to choose from, by hash. Invariant: sorted between choices.
    list: Vec<Partition>,
}

impl Board {
    /// All nodes in one block, not painted yet.
    pub(super) fn new(nodes: usize) -> Board {
        Board {
            nodes,
            blocks: [0; NODES_MAX],
            colours: [0; NODES_MAX],
            shape: 0,
            list: Vec::with_capacity(8),
        }
    }

    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    /// The block of nodes that are down; running nodes are in blocks below it.
    fn down(&self) -> u8 {
        self.nodes as u8
    }

    pub(super) fn is_up(&self, node: usize) -> bool {
        self.blocks[node] != self.down()
    }

    pub(super) fn are_all_up(&self) -> bool {
        (0..self.nodes).all(|node| self.is_up(node))
    }

    /// Whether two nodes are up and can talk to each other.
    pub(super) fn together(&self, a: usize, b: usize) -> bool {
        self.blocks[a] == self.blocks[b] && self.is_up(a)
    }

    /// The blocks of nodes that are up, and the nodes in each.
    pub(super) fn blocks(&self) -> impl Iterator<Item = impl Iterator<Item = usize> + '_> + '_ {
        let members = move |block| (0..self.nodes).filter(move |&node| self.blocks[node] == block);
        let used = (0..self.down()).filter(move |&block| members(block).next().is_some());
        used.map(members)
    }

    pub(super) fn shape(&self) -> u64 {
        self.shape
    }

    /// Stands for the multiset of colours.
    pub(super) fn covered(&self) -> u64 {
        self.colours.iter().copied().fold(0, u64::wrapping_add)
    }

    /// Gives all nodes their colours.
    pub(super) fn paint(&mut self, colour: impl Fn(usize) -> u64) {
        for node in 0..self.nodes {
            let colour = colour(node);
            self.colours[node] = if self.is_up(node) {
                mix(colour)
            } else {
                mix2(colour, u64::from(self.down()))
            };
        }
        self.shape = self.shape_of(&self.blocks);
    }

    fn shape_of(&self, blocks: &Blocks) -> u64 {
        let mut sums = [0_u64; NODES_MAX + 1];
        for (&block, &colour) in blocks.iter().zip(&self.colours).take(self.nodes) {
            sums[usize::from(block)] = sums[usize::from(block)].wrapping_add(colour);
        }
        let used = sums[..=self.nodes].iter().filter(|&&sum| sum != 0);
        used.fold(0, |shape, &sum| shape.wrapping_add(mix(sum)))
    }

    /// Lists all ways to put the running nodes into blocks. Returns how many differ in what they
    /// look like.
    pub(super) fn list(&mut self) -> u32 {
        self.list.clear();
        let mut blocks = [0; NODES_MAX];
        self.assign(0, 0, &mut blocks);
        self.list
            .sort_unstable_by_key(|partition| (partition.hash, partition.blocks));
        let groups = self.list.chunk_by(|a, b| a.hash == b.hash);
        groups.count() as u32
    }

    /// Each node joins a block that has one already, or opens the next one.
    fn assign(&mut self, node: usize, used: u8, blocks: &mut Blocks) {
        if node == self.nodes {
            let hash = self.shape_of(blocks);
            let blocks = *blocks;
            self.list.push(Partition { hash, blocks });
        } else if self.is_up(node) {
            for block in 0..=used {
                blocks[node] = block;
                self.assign(node + 1, used.max(block + 1), blocks);
            }
        } else {
            blocks[node] = self.down();
            self.assign(node + 1, used, blocks);
        }
    }

    /// Takes on one of the partitions that look like the one of this number in the list. Returns its
    /// hash.
    pub(super) fn take(&mut self, index: u32, noise: &mut Noise) -> u64 {
        let mut groups = self.list.chunk_by(|a, b| a.hash == b.hash);
        let group = groups.nth(index as usize).unwrap_or_default();
        let taken = group[noise.below(group.len())];
        self.blocks = taken.blocks;
        taken.hash
    }

    /// The colours there are, each once, and how many. Painted before.
    pub(super) fn distinct(&self) -> ([u64; NODES_MAX], usize) {
        let mut colours = self.colours;
        let ours = &mut colours[..self.nodes];
        ours.sort_unstable();
        let mut count = 1;
        for i in 1..ours.len() {
            if ours[i] != ours[count - 1] {
                ours[count] = ours[i];
                count += 1;
            }
        }
        (colours, count)
    }

    /// Puts down a node of this colour.
    pub(super) fn stop(&mut self, colour: u64, noise: &mut Noise) -> Option<usize> {
        let node = noise.any(self.nodes, |node| self.colours[node] == colour)?;
        self.blocks[node] = self.down();
        Some(node)
    }

    /// Takes a node that is down up again, into a block of its own.
    pub(super) fn start(&mut self, noise: &mut Noise) -> Option<usize> {
        let node = noise.any(self.nodes, |node| !self.is_up(node))?;
        let blocks = &self.blocks[..self.nodes];
        let free = (0..self.down()).find(|block| !blocks.contains(block));
        self.blocks[node] = free.unwrap_or(0);
        Some(node)
    }

    #[cfg(test)]
    pub(super) fn set_blocks(&mut self, blocks: &[u8]) {
        self.blocks[..blocks.len()].copy_from_slice(blocks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cct_executor::Seed;

    fn board(colours: &[u64]) -> Board {
        let mut board = Board::new(colours.len());
        board.paint(|node| colours[node]);
        board
    }

    fn shape(colours: &[u64], blocks: &[u8]) -> u64 {
        let mut all = [0; NODES_MAX];
        all[..blocks.len()].copy_from_slice(blocks);
        board(colours).shape_of(&all)
    }

    #[test]
    fn partitions_that_look_alike_count_once() {
        for (colours, partitions, distinct) in [
            (&[1, 1, 1][..], 3, 1),
            (&[1, 2, 1], 4, 2),
            (&[1, 2, 3], 5, 3),
            // Partitions of the number 5, and of a set of five.
            (&[4; 5], 7, 1),
            (&[1, 2, 3, 4, 5], 52, 5),
            (&[7; 8], 22, 1),
        ] {
            let mut board = board(colours);
            assert_eq!(board.list(), partitions, "{colours:?}");
            assert_eq!(board.distinct().1, distinct, "{colours:?}");
        }
    }

    #[test]
    fn shapes_do_not_name_nodes_or_blocks() {
        let one = shape(&[1, 2, 3], &[0, 0, 1]);
        assert_eq!(shape(&[1, 2, 3], &[2, 2, 0]), one);
        assert_eq!(shape(&[3, 1, 2], &[1, 0, 0]), one);
        assert_ne!(shape(&[1, 2, 3], &[0, 1, 1]), one);
    }

    #[test]
    fn a_node_is_stopped_and_started() {
        let mut noise = Noise(Seed(1).stream("test"));
        let mut board = board(&[1, 2, 2]);
        let stopped = board.stop(board.colours[1], &mut noise).unwrap();
        assert!(stopped != 0 && !board.is_up(stopped) && !board.together(0, stopped));
        board.paint(|node| [1, 2, 2][node]);
        assert_eq!((board.list(), board.distinct().1), (2, 3));
        assert_eq!(board.start(&mut noise), Some(stopped));
        assert!(board.are_all_up() && board.start(&mut noise).is_none());
        // It comes back alone.
        assert_eq!(board.blocks().count(), 2);
    }
}
