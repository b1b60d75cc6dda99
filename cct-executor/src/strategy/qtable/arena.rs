//! Blocks of arms: those of a state that has two or more.
//!
//! 1. A block has room for `2^k` arms, contiguous, for the smallest `k` that is enough. Growing moves
//!    it to a block of twice the size; the old one is used again.
//! 2. How many arms a block holds is known to its owner only, who says so.
//! 3. All are in one vector: an arm is found by one load. When it is full it grows by a half.

/// An action of a state, and what it is worth.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(in crate::strategy) struct Arm {
    /// The action's [number](super::numbers), or the value of a data choice.
    pub(in crate::strategy) tag: u32,
    pub(in crate::strategy) value: f32,
}

/// Memory grows by a half, and by so many entries at least.
const GROWTH_MIN: usize = 1 << 10;
/// Blocks have `2^1` to `2^12` entries.
const SIZES: usize = 13;
/// Arms of a block at most.
pub(super) const ARMS_MAX: usize = 1 << (SIZES - 1);

#[derive(Clone, Debug)]
pub(super) struct Arena {
    arms: Vec<Arm>,
    /// How often each arm was taken, or nothing if that is not counted.
    counts: Vec<u32>,
    counted: bool,
    /// By the logarithm of the size.
    free: [Vec<u32>; SIZES],
    freed: usize,
}

/// The logarithm of the size of the block for that many arms.
fn size_log(arms: usize) -> u32 {
    arms.next_power_of_two().trailing_zeros().max(1)
}

/// More entries, all like this.
fn extend<T: Copy>(entries: &mut Vec<T>, more: usize, like: T) {
    if entries.capacity() - entries.len() < more {
        entries.reserve_exact(more.max(entries.len() / 2).max(GROWTH_MIN));
    }
    entries.resize(entries.len() + more, like);
}

impl Arena {
    pub(super) fn new(counted: bool) -> Arena {
        let mut arena = Arena {
            arms: Vec::new(),
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
        &self.arms[block as usize..][..len]
    }

    /// The arms of a block that holds so many.
    #[inline(always)]
    pub(super) fn arms_mut(&mut self, block: u32, len: usize) -> &mut [Arm] {
        &mut self.arms[block as usize..][..len]
    }

    /// An arm of a block.
    #[inline(always)]
    pub(super) fn arm_mut(&mut self, block: u32, arm: usize) -> &mut Arm {
        &mut self.arms[block as usize + arm]
    }

    /// The counter of an arm.
    #[inline]
    pub(super) fn count(&mut self, block: u32, arm: usize) -> &mut u32 {
        &mut self.counts[block as usize + arm]
    }

    pub(super) fn count_of(&self, block: u32, arm: usize) -> u32 {
        let count = self.counts.get(block as usize + arm);
        count.copied().unwrap_or(0)
    }

    /// A block with two arms, uncounted so far.
    pub(super) fn add(&mut self, arms: [Arm; 2]) -> u32 {
        let block = self.allocate(1);
        for (i, arm) in arms.into_iter().enumerate() {
            self.put(block, i, arm);
        }
        block
    }

    /// Appends an arm to the block's so many, uncounted so far; returns where the block
    /// is now.
    pub(super) fn push(&mut self, block: u32, len: usize, arm: Arm) -> u32 {
        let (before, after) = (size_log(len), size_log(len + 1));
        let mut now = block;
        if before != after {
            now = self.allocate(after);
            let (from, to) = (block as usize, now as usize);
            self.arms.copy_within(from..from + len, to);
            if self.counted {
                self.counts.copy_within(from..from + len, to);
            }
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
        let (from, to) = (block as usize, now as usize);
        self.arms[to..to + len].copy_from_slice(other.arms(block, len));
        if self.counted {
            self.counts[to..to + len].copy_from_slice(&other.counts[from..from + len]);
        }
        now
    }

    fn allocate(&mut self, log: u32) -> u32 {
        let size = 1 << log;
        if let Some(block) = self.free[log as usize].pop() {
            self.freed -= size;
            return block;
        }
        let at = self.arms.len() as u32;
        extend(&mut self.arms, size, Arm::default());
        if self.counted {
            extend(&mut self.counts, size, 0);
        }
        at
    }

    /// Bytes in use, free blocks not counted.
    pub(super) fn bytes(&self) -> usize {
        let entry = size_of::<Arm>() + if self.counted { size_of::<u32>() } else { 0 };
        (self.arms.len() - self.freed) * entry
    }
}
