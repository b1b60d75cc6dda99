//! What a poll has to do with other threads, and with the machine, for a watchdog.

use cct_interpose::Blocks;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// How many threads of the process were refused what belongs to a world, as they have none.
static REFUSED: AtomicU64 = AtomicU64::new(0);

/// A thread without a world is refused what belongs to one.
pub(crate) fn is_refused() {
    REFUSED.fetch_add(1, Relaxed);
}

/// What is noted of a thread that runs worlds.
#[derive(Default)]
pub(super) struct Notes {
    /// How many threads wait for what belongs to its home.
    visitors: AtomicUsize,
    /// What the thread itself blocks for.
    blocks: AtomicU8,
    /// How many had been refused as its world began.
    refused_before: AtomicU64,
}

/// What a poll that does not return has to do with others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Entangled {
    /// A thread waits to use what belongs to the world.
    pub(crate) visited: bool,
    /// A thread of the process was refused what belongs to a world.
    pub(crate) refused: bool,
    /// What the poll blocks for.
    pub(crate) blocks: Blocks,
}

impl Notes {
    /// A world begins.
    pub(super) fn begin(&self) {
        self.refused_before.store(REFUSED.load(Relaxed), Relaxed);
    }

    pub(super) fn has_visitors(&self) -> bool {
        self.visitors.load(Relaxed) > 0
    }

    pub(super) fn visitor_comes(&self) {
        self.visitors.fetch_add(1, Relaxed);
    }

    /// It is let in.
    pub(super) fn visitor_is_in(&self) {
        self.visitors.fetch_sub(1, Relaxed);
    }

    pub(super) fn blocks_for(&self, what: Blocks) {
        self.blocks.store(what as u8, Relaxed);
    }

    /// What holds at this moment.
    pub(super) fn now(&self) -> Entangled {
        Entangled {
            visited: self.has_visitors(),
            refused: self.refused_before.load(Relaxed) != REFUSED.load(Relaxed),
            blocks: Blocks::from_number(self.blocks.load(Relaxed)),
        }
    }
}
