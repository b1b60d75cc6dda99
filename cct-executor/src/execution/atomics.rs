//! Atomic operations of other crates, in a build in which their code tells of them (`cargo cct test --atomics`).
//!
//! Locks of the standard library and of other crates, their channels and queues are made of atomic operations, so
//! each of those is a scheduling point at granularity `atomic`: threads can be preempted there.
//!
//! 1. Nothing is decided where a task was picked this moment, and of a run of operations that count
//!    references only the first is a decision: nearly all of the others would lead nowhere.
//! 2. A loop that waits for another thread lets the others go first, as long as there are any, as by
//!    `std::thread::yield_now`. So locks that only spin are waited for.
//! 3. While the tables or a cell of the world are in use there is no point: generic code of the shims is compiled,
//!    and instrumented, with the crates that use it.
//!
//! Does not: see statics and thread-locals, which outlive a world; show weak memory.

use super::core::NONE;
use super::world::{Phase, World};
use crate::raw::shared::is_reaching;
use crate::raw::stack;
use crate::words::{Access, Granularity, Op, OpKind};
use cct_interpose::Atomic;

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
        if self.phase.get() == Phase::Closing {
            if atomic == Atomic::InVain {
                self.give_way();
            }
            return;
        }
        // Picking the task was the decision.
        if self.running.untouched.replace(false) {
            if self.recording.get() && atomic != Atomic::Count {
                self.tell_first(key, atomic);
            }
            return;
        }
        let (step, before, counted) = self.with(|core, _| {
            let op = core.actions[key as usize].op;
            (core.point.step, op, core.counted)
        });
        let access = match atomic {
            Atomic::Count if counted == step => return,
            Atomic::InVain if self.stands_back(key) => {
                return self.with(|core, _| {
                    core.announce(key, before);
                });
            }
            Atomic::Load | Atomic::InVain => Access::Read,
            Atomic::Change | Atomic::Count => Access::Write,
        };
        let _ = self.point(OpKind::Atomic, access, 0, before.site);
        if !self.is_running() {
            return;
        }
        self.running.untouched.set(false);
        if self.recording.get() {
            self.tell_atomic(atomic);
        }
        self.with(|core, _| {
            core.spinners.goes_on(step, core.point.step);
            // What the task waits for, should its poll end now, is not this.
            core.announce(key, before);
            if atomic == Atomic::Count {
                core.counted = core.point.step;
            }
        });
    }

    /// The first since the task was picked, at which nothing is decided, is a step of the report like the others.
    #[cold]
    fn tell_first(&self, key: u32, atomic: Atomic) {
        let site = self.with(|core, _| core.actions[key as usize].op.site);
        self.record_undecided(Op {
            kind: OpKind::Atomic,
            access: Access::Write,
            resource: 0,
            site,
        });
        self.tell_atomic(atomic);
    }

    /// Says of the last step that it is this.
    #[cold]
    fn tell_atomic(&self, atomic: Atomic) {
        let stack = self.stack();
        self.with(|core, _| {
            if let Some(recorder) = &mut core.recorder {
                recorder.note(what(atomic).to_owned());
                recorder.taken_at(stack);
            }
        });
    }
}

/// As reports have it.
fn what(atomic: Atomic) -> &'static str {
    match atomic {
        Atomic::Load => "load",
        Atomic::InVain => "spin",
        Atomic::Change => "update",
        Atomic::Count => "count",
    }
}
