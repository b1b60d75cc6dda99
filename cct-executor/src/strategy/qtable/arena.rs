//! Blocks of arms: those of a state that has two or more.
//!
//! 1. A block has room for `2^k` arms, contiguous, for the smallest `k` that is enough. Growing moves
//!    it to a block of twice the size; the old one is used again.
//! 2. How many arms a block holds is known to its owner only, who says so.
//! 3. Memory grows by whole chunks, so none of it is slack.

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
pub(super) const ARMS_MAX: usize = 1 << (SIZES - 1);

#[derive(Clone, Debug)]
pub(super) struct Arena {
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
    arms.next_power_of_two().trailing_zeros().max(1)
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

    /// The arms of a block that holds so many.
    #[inline(always)]
    pub(super) fn arms(&self, block: u32, len: usize) -> &[Arm] {
        let (chunk, at) = place(block);
        &self.chunks[chunk][at..at + len]
    }

    /// An arm of a block.
    #[inline(always)]
    pub(super) fn arm_mut(&mut self, block: u32, arm: usize) -> &mut Arm {
        let (chunk, at) = place(block);
        &mut self.chunks[chunk][at + arm]
    }

    /// The counter of an arm.
    #[inline]
    pub(super) fn count(&mut self, block: u32, arm: usize) -> &mut u32 {
        let (chunk, at) = place(block);
        &mut self.counts[chunk][at + arm]
    }

    pub(super) fn count_of(&self, block: u32, arm: usize) -> u32 {
        let (chunk, at) = place(block);
        self.counts.get(chunk).map_or(0, |counts| counts[at + arm])
    }

    /// A block with two arms, uncounted so far.
    pub(super) fn add(&mut self, arms: [Arm; 2]) -> u32 {
        let block = self.allocate(1);
        for (i, arm) in arms.into_iter().enumerate() {
            self.put(block, i, arm);
        }
        block
    }

    /// Appends an arm to the block's so many, uncounted so far; returns where the block is now.
    pub(super) fn push(&mut self, block: u32, len: usize, arm: Arm) -> u32 {
        let (before, after) = (size_log(len), size_log(len + 1));
        let mut now = block;
        if before != after {
            now = self.allocate(after);
            self.copy(block, now, len);
            self.freed += 1 << before;
            self.free[before as usize].push(block);
        }
        self.put(now, len, arm);
        now
    }

    fn put(&mut self, block: u32, at: usize, arm: Arm) {
        *self.arm_mut(block, at) = arm;
        if self.counted {
            *self.count(block, at) = 0;
        }
    }

    /// A copy of another arena's block.
    pub(super) fn adopt(&mut self, other: &Arena, block: u32, len: usize) -> u32 {
        let now = self.allocate(size_log(len));
        let (chunk, at) = place(now);
        let arms = other.arms(block, len);
        self.chunks[chunk][at..at + len].copy_from_slice(arms);
        if self.counted {
            (0..len).for_each(|arm| *self.count(now, arm) = other.count_of(block, arm));
        }
        now
    }

    fn copy(&mut self, from: u32, to: u32, len: usize) {
        let (a, x) = place(from);
        let (b, y) = place(to);
        for i in 0..len {
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
