//! The one trace: every decision of an iteration, one packed entry each.
//!
//! 1. Four bytes a decision while fewer than 2^15 things are enabled, eight beyond.
//! 2. A decision is recorded only where there were at least two things to choose from.
//! 3. Entries are published with plain stores, so that a watchdog on another thread can read the
//!    trace of an iteration that hangs.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What was decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DecisionKind {
    /// Which action happens next.
    Schedule,
    /// Which value a data choice takes.
    Value,
}

/// One decision: `index` of `arity` choices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decision {
    /// What was decided.
    pub kind: DecisionKind,
    /// Which of the choices, in the enabled set's order.
    pub index: u32,
    /// How many choices there were; at least 2.
    pub arity: u32,
}

const NARROW: u32 = 1 << 15;
const VALUE: u32 = 1 << 30;
const WIDE: u32 = 1 << 31;

impl Decision {
    #[inline]
    fn kind_bit(self) -> u32 {
        match self.kind {
            DecisionKind::Schedule => 0,
            DecisionKind::Value => VALUE,
        }
    }

    /// The entry that stands for a decision among fewer than 2^15 choices.
    #[inline]
    fn narrow(self) -> u32 {
        self.kind_bit() | self.arity << 15 | self.index
    }

    /// The first of two entries that stand for a decision among more; the other is the arity.
    #[inline]
    fn wide(self) -> u32 {
        WIDE | self.kind_bit() | self.index
    }

    fn unpack(entries: &mut impl Iterator<Item = u32>) -> Option<Decision> {
        let entry = entries.next()?;
        let kind = if entry & VALUE == 0 {
            DecisionKind::Schedule
        } else {
            DecisionKind::Value
        };
        Some(if entry & WIDE == 0 {
            Decision {
                kind,
                index: entry & (NARROW - 1),
                arity: entry >> 15 & (NARROW - 1),
            }
        } else {
            Decision {
                kind,
                index: entry & (VALUE - 1),
                arity: entries.next()?,
            }
        })
    }
}

/// The decisions of one iteration.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    decisions: Vec<Decision>,
}

impl Trace {
    /// The decisions, first to last.
    pub fn decisions(&self) -> &[Decision] {
        &self.decisions
    }

    /// Appends a decision.
    ///
    /// # Panics
    /// If the index is not below the arity.
    pub fn push(&mut self, decision: Decision) {
        assert!(
            decision.index < decision.arity,
            "decision {decision:?} is out of range"
        );
        self.decisions.push(decision);
    }
}

impl FromIterator<Decision> for Trace {
    fn from_iter<I: IntoIterator<Item = Decision>>(decisions: I) -> Self {
        let mut trace = Trace::default();
        decisions.into_iter().for_each(|d| trace.push(d));
        trace
    }
}

const CHUNK: usize = 4096;
type Chunk = Arc<[AtomicU32; CHUNK]>;

/// A trace being written by one thread and readable by others. Reused from iteration to
/// iteration, so that recording does not allocate.
#[derive(Debug, Default)]
pub(crate) struct SharedTrace {
    chunks: Mutex<Vec<Chunk>>,
    len: AtomicUsize,
}

/// The writing end of a [`SharedTrace`].
#[derive(Debug)]
pub(crate) struct TraceWriter {
    shared: Arc<SharedTrace>,
    chunk: Chunk,
    len: usize,
}

fn chunk() -> Chunk {
    Arc::new([const { AtomicU32::new(0) }; CHUNK])
}

impl SharedTrace {
    /// Everything written so far. The writer may be writing on.
    pub(crate) fn snapshot(&self) -> Trace {
        let len = self.len.load(Ordering::Acquire);
        let chunks = self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        let mut entries = chunks
            .iter()
            .flat_map(|c| c.iter())
            .take(len)
            .map(|e| e.load(Ordering::Relaxed));
        std::iter::from_fn(|| Decision::unpack(&mut entries)).collect()
    }
}

impl TraceWriter {
    pub(crate) fn new() -> TraceWriter {
        let shared = Arc::new(SharedTrace::default());
        let first = chunk();
        shared
            .chunks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(first.clone());
        TraceWriter {
            shared,
            chunk: first,
            len: 0,
        }
    }

    pub(crate) fn shared(&self) -> &Arc<SharedTrace> {
        &self.shared
    }

    /// Forgets everything, keeping the memory.
    pub(crate) fn clear(&mut self) {
        self.shared.len.store(0, Ordering::Release);
        self.len = 0;
        self.chunk = self
            .shared
            .chunks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)[0]
            .clone();
    }

    #[inline]
    pub(crate) fn push(&mut self, decision: Decision) {
        if decision.arity < NARROW {
            self.entry(decision.narrow());
        } else {
            self.push_wide(decision.wide(), decision.arity);
        }
    }

    #[cold]
    fn push_wide(&mut self, entry: u32, arity: u32) {
        assert!(arity < VALUE, "a choice among 2^30 things or more");
        self.entry(entry);
        self.entry(arity);
    }

    #[inline]
    fn entry(&mut self, entry: u32) {
        self.chunk[self.len % CHUNK].store(entry, Ordering::Relaxed);
        self.len += 1;
        self.shared.len.store(self.len, Ordering::Release);
        if self.len % CHUNK == 0 {
            self.next_chunk();
        }
    }

    #[cold]
    fn next_chunk(&mut self) {
        let mut chunks = self
            .shared
            .chunks
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let index = self.len / CHUNK;
        if index == chunks.len() {
            chunks.push(chunk());
        }
        self.chunk = chunks[index].clone();
    }
}
