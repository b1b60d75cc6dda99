//! Atomic operations of other crates, in a build in which their code tells of them (`cargo cct test --atomics`).
//!
//! Locks of the standard library and of other crates, their channels and queues are made of atomic operations, so
//! each of those is a scheduling point at granularity `atomic`: threads can be preempted there.
//!
//! 1. Nothing is decided where a task was picked this moment, and of a run of operations that count
//!    references only the first is a decision: nearly all of the others would lead nowhere.
//! 2. A poll that does a great many operations in a row spins, or might as well: it gives way, as by
//!    `std::thread::yield_now`. So locks without a thread's help are waited for.
//! 3. Inside the shims and the engine, whose generic code is compiled with the crates that use it, there is no
//!    point: to others what they do is one operation.
//!
//! Does not: see statics and thread-locals, which outlive a world; show weak memory.

use super::core::NONE;
use super::world::{Phase, World};
use crate::raw::shared::is_reaching;
use crate::raw::stack;
use crate::words::{Access, Granularity, OpKind};
use cct_interpose::Atomic;
use std::cell::Cell;

/// So many operations of one task, without one of another task in between, are those of a loop that waits.
const SPINS: u32 = 500;

/// The latest atomic operations.
pub(crate) struct Atomics {
    /// The task that did them.
    key: Cell<u32>,
    /// How many there were in a row.
    in_a_row: Cell<u32>,
    /// The step in which references were counted last.
    counted: Cell<u64>,
}

impl Atomics {
    pub(crate) const fn new() -> Atomics {
        Atomics {
            key: Cell::new(NONE),
            in_a_row: Cell::new(0),
            counted: Cell::new(u64::MAX),
        }
    }

    pub(crate) fn reset(&self) {
        self.key.set(NONE);
        self.counted.set(u64::MAX);
    }

    /// One more by this task. Returns whether it spins.
    fn count(&self, key: u32) -> bool {
        let before = if self.key.replace(key) == key {
            self.in_a_row.get()
        } else {
            0
        };
        self.in_a_row.set(before.saturating_add(1));
        before >= SPINS
    }
}

impl World {
    /// Before an atomic operation.
    pub(super) fn before_atomic(&self, atomic: Atomic) {
        let key = self.running.key.get();
        let idle = key == NONE || self.phase.get() == Phase::Idle;
        if idle || self.granularity.get() != Granularity::Atomic {
            return;
        }
        if is_reaching() || !self.is_free() || !stack::on_worker() || std::thread::panicking() {
            return;
        }
        if self.atomics.count(key) {
            self.give_way();
            return;
        }
        // Picking the task was the decision.
        let decided = self.running.untouched.replace(false);
        if decided || self.phase.get() == Phase::Closing {
            return;
        }
        let (step, before) = self.with(|core, _| {
            let action = &core.actions[key as usize];
            (core.point.step, action.op)
        });
        if atomic == Atomic::Count && self.atomics.counted.get() == step {
            return;
        }
        let access = match atomic {
            Atomic::Load => Access::Read,
            Atomic::Change | Atomic::Count => Access::Write,
        };
        let _ = self.point(OpKind::Atomic, access, 0, before.site);
        if !self.is_running() {
            return;
        }
        self.running.untouched.set(false);
        let recorded = self.recording.get();
        let stack = recorded.then(|| self.wakers.borrow_mut().stack()).flatten();
        let step = self.with(|core, _| {
            if let Some(recorder) = core.recorder.as_mut().filter(|_| recorded) {
                recorder.note(what(atomic).to_owned());
                recorder.taken_at(stack);
            }
            core.spinners.goes_on(step, core.point.step);
            // What the task waits for, should its poll end now, is not this.
            core.announce(key, before);
            core.point.step
        });
        if atomic == Atomic::Count {
            self.atomics.counted.set(step);
        }
    }
}

/// As reports have it.
fn what(atomic: Atomic) -> &'static str {
    match atomic {
        Atomic::Load => "load",
        Atomic::Change => "update",
        Atomic::Count => "count",
    }
}
