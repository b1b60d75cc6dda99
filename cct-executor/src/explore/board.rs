//! What workers of a run share, and what they tell it.
//!
//! 1. Of several failing iterations the one with the smallest number counts.
//! 2. Nothing else runs while iteration 0 does: what the program makes once for all, in a static, is made by one
//!    world alone, whatever the number of workers. That it differs afterwards the determinism check finds.

use super::at_await::Sought;
use super::hang::CutOff;
use super::processor::Processor;
use crate::execution::harvest::Harvest;
use crate::execution::last_words::LastWords;
use crate::execution::run::Visitors;
use crate::words::trace::SharedTrace;
use crate::words::{Failure, Limit, Trace};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

/// A failing iteration.
#[derive(Clone)]
pub(super) struct Found {
    pub(super) index: u64,
    pub(super) failure: Failure,
    pub(super) trace: Trace,
    pub(super) schedule_hash: u64,
    pub(super) strategy: String,
}

/// What is kept of every iteration.
pub(super) struct Record {
    pub(super) index: u64,
    pub(super) steps: u64,
    pub(super) schedule_hash: u64,
    pub(super) cut: Option<Limit>,
    pub(super) checked_twice: bool,
    pub(super) leaky: bool,
    pub(super) failed: bool,
    pub(super) joined_panics: u64,
}

/// What workers share.
pub(super) struct Board {
    pub(super) next: AtomicU64,
    /// The smallest failing iteration so far.
    pub(super) failed: AtomicU64,
    pub(super) found: Mutex<Option<Found>>,
    pub(super) deadline: Option<Instant>,
    /// The only failure that counts, in a search that is about one.
    pub(super) sought: Option<Sought>,
    /// Whether iteration 0 is over, or will not be.
    first_is_over: Mutex<bool>,
    released: Condvar,
}

/// What a worker hands in when it is done.
#[derive(Default)]
pub(super) struct Yielded {
    pub(super) records: Vec<Record>,
    pub(super) harvest: Harvest,
    pub(super) exhausted: bool,
    pub(super) all_schedules: Option<u64>,
    pub(super) described: String,
    pub(super) out_of_time: bool,
    /// The first iterations that were cut, in order.
    pub(super) first_cuts: Vec<CutOff>,
    /// What the lanes of this worker have learnt.
    pub(super) learnt: Vec<(usize, Vec<u8>)>,
    /// What the first lane has to say.
    pub(super) remarks: Vec<String>,
}

/// What the watchdog looks at.
#[derive(Clone)]
pub(super) struct Pulse {
    pub(super) worker: usize,
    pub(super) heartbeat: Arc<AtomicU64>,
    pub(super) trace: Arc<SharedTrace>,
    pub(super) iteration: Arc<AtomicU64>,
    pub(super) last_words: LastWords,
    pub(super) visitors: Visitors,
    pub(super) processor: Processor,
}

pub(super) enum Message {
    Pulse(Pulse),
    Done(Box<Yielded>),
    /// A worker panicked: a bug of ours, or of a strategy.
    Broken(String),
}

impl Board {
    pub(super) fn new(deadline: Option<Instant>, sought: Option<Sought>) -> Board {
        Board {
            next: AtomicU64::new(0),
            failed: AtomicU64::new(u64::MAX),
            found: Mutex::new(None),
            deadline,
            sought,
            first_is_over: Mutex::new(false),
            released: Condvar::new(),
        }
    }

    /// Others than the first iteration may begin.
    pub(super) fn release(&self) {
        let mut over = self
            .first_is_over
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *over = true;
        self.released.notify_all();
    }

    /// Waits until they may.
    pub(super) fn wait_for_the_first(&self) {
        let over = self
            .first_is_over
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let over = self.released.wait_while(over, |over| !*over);
        drop(over.unwrap_or_else(PoisonError::into_inner));
    }

    /// Nobody is to begin anything more.
    pub(super) fn stop(&self) {
        self.failed.store(0, Ordering::Release);
        self.release();
    }

    /// Keeps the failure with the smallest number; unless the run keeps going, nobody begins what
    /// comes after it.
    pub(super) fn report(&self, stop: bool, found: Found) {
        let sought = self.sought.as_ref();
        if sought.is_some_and(|sought| !sought.is(found.index, &found.failure.kind)) {
            return;
        }
        let mut slot = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if slot
            .as_ref()
            .is_none_or(|earlier| found.index < earlier.index)
        {
            if stop {
                self.failed.fetch_min(found.index, Ordering::AcqRel);
            }
            *slot = Some(found);
        }
    }
}
