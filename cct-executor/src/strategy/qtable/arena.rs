//! Blocks of arms: what a state has beyond its first arm.
//!
//! 1. A block is a head and up to `2^k - 1` arms, contiguous, for the smallest `k` that is enough.
//!    Growing moves it to a block of twice the size; the old one is used again.
//! 2. Memory grows by whole chunks, so none of it is slack.

/// An action of a state, and what it is worth.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(in crate::strategy) struct Arm {
    /// 32 bits of the action's identity, or the value of a data choice.
    pub(in crate::strategy) tag: u32,
    pub(in crate::strategy) value: f32,
}

const CHUNK_BITS: u32 = 14;
const CHUNK: usize = 1 << CHUNK_BITS;
/// Blocks have `2^1` to `2^12` entries.
const SIZES: usize = 13;
/// Arms of a block at most.
pub(super) const ARMS_MAX: usize = (1 << (SIZES - 1)) - 1;

#[derive(Clone, Debug)]
pub(super) struct Arena {
    /// The first entry of a block is its head; its tag is the number of arms.
    chunks: Vec<Vec<Arm>>,
    /// How often each arm was taken; as `chunks`, or empty if that is not counted.
    counts: Vec<Vec<u32>>,
    counted: bool,
    /// By the logarithm of the size.
    free: [Vec<u32>; SIZES],
    freed: usize,
}

/// The logarithm of the size of the block for that many arms.
fn size_log(arms: usize) -> u32 {
    usize::BITS - arms.leading_zeros()
}

#[inline]
fn place(at: u32) -> (usize, usize) {
    ((at >> CHUNK_BITS) as usize, at as usize & (CHUNK - 1))
}

impl Arena {
    pub(super) fn new(counted: bool) -> Arena {
        let mut arena = Arena {
            chunks: Vec::new(),
            counts: Vec::new(),
            counted,
            free: Default::default(),
            freed: 0,
        };
        arena.allocate(1); // So that no block is at 0.
        arena
    }

    #[inline]
    pub(super) fn len(&self, block: u32) -> usize {
        let (chunk, at) = place(block);
        self.chunks[chunk][at].tag as usize
    }

    #[inline]
    pub(super) fn arms(&self, block: u32) -> &[Arm] {
        let (chunk, at) = place(block);
        let block = &self.chunks[chunk][at..];
        &block[1..=block[0].tag as usize]
    }

    #[inline]
    pub(super) fn arms_mut(&mut self, block: u32) -> &mut [Arm] {
        let (chunk, at) = place(block);
        let block = &mut self.chunks[chunk][at..];
        let len = block[0].tag as usize;
        &mut block[1..=len]
    }

    /// The counter of an arm.
    #[inline]
    pub(super) fn count(&mut self, block: u32, arm: usize) -> &mut u32 {
        let (chunk, at) = place(block);
        &mut self.counts[chunk][at + 1 + arm]
    }

    pub(super) fn count_of(&self, block: u32, arm: usize) -> u32 {
        let (chunk, at) = place(block);
        self.counts
            .get(chunk)
            .map_or(0, |counts| counts[at + 1 + arm])
    }

    /// A block with one arm.
    pub(super) fn add(&mut self, arm: Arm) -> u32 {
        let block = self.allocate(1);
        self.set_len(block, 1);
        self.arms_mut(block)[0] = arm;
        if self.counted {
            *self.count(block, 0) = 0;
        }
        block
    }

    /// Appends an arm, uncounted so far; returns where the block is now.
    pub(super) fn push(&mut self, block: u32, arm: Arm) -> u32 {
        let len = self.len(block);
        let mut now = block;
        if size_log(len + 1) != size_log(len) {
            now = self.allocate(size_log(len + 1));
            self.copy(block, now, len);
            self.release(block);
        }
        self.set_len(now, len + 1);
        self.arms_mut(now)[len] = arm;
        if self.counted {
            *self.count(now, len) = 0;
        }
        now
    }

    /// A copy of another arena's block.
    pub(super) fn adopt(&mut self, other: &Arena, block: u32) -> u32 {
        let arms = other.arms(block);
        let now = self.allocate(size_log(arms.len()));
        self.set_len(now, arms.len());
        self.arms_mut(now).copy_from_slice(arms);
        if self.counted {
            (0..arms.len()).for_each(|arm| *self.count(now, arm) = other.count_of(block, arm));
        }
        now
    }

    /// Gives a block back.
    fn release(&mut self, block: u32) {
        let log = size_log(self.len(block));
        self.freed += 1 << log;
        self.free[log as usize].push(block);
    }

    fn set_len(&mut self, block: u32, len: usize) {
        let (chunk, at) = place(block);
        self.chunks[chunk][at].tag = len as u32;
    }

    fn copy(&mut self, from: u32, to: u32, len: usize) {
        let (a, x) = place(from);
        let (b, y) = place(to);
        for i in 0..=len {
            self.chunks[b][y + i] = self.chunks[a][x + i];
            if self.counted {
                self.counts[b][y + i] = self.counts[a][x + i];
            }
        }
    }

    fn allocate(&mut self, log: u32) -> u32 {
        if let Some(block) = self.free[log as usize].pop() {
            self.freed -= 1 << log;
            return block;
        }
        let size = 1 << log;
        if self
            .chunks
            .last()
            .is_none_or(|chunk| chunk.len() + size > CHUNK)
        {
            self.chunks.push(Vec::with_capacity(CHUNK));
            if self.counted {
                self.counts.push(Vec::with_capacity(CHUNK));
            }
        }
        let chunk = self.chunks.len() - 1;
        let at = self.chunks[chunk].len();
        self.chunks[chunk].resize(at + size, Arm::default());
        if self.counted {
            self.counts[chunk].resize(at + size, 0);
        }
        ((chunk << CHUNK_BITS) + at) as u32
    }

    /// Bytes in use, free blocks not counted.
    pub(super) fn bytes(&self) -> usize {
        let entry = size_of::<Arm>() + if self.counted { size_of::<u32>() } else { 0 };
        let last = self.chunks.last().map_or(0, Vec::len);
        let entries = (self.chunks.len().saturating_sub(1)) * CHUNK + last;
        (entries - self.freed) * entry
    }
}
