//! Scheduling points of calls that return at once.
//!
//! 1. At granularity `op` only what begins to listen has one.
//! 2. At `spawn` there is one where others may make a difference: where a task has been spawned, after what has woken
//!    somebody, and between two calls of one poll of which the second changes something.
//! 3. At finer ones every synchronous operation has one.

use super::core::NONE;
use super::world::{Phase, World};
use crate::words::{Action, Granularity, Op};

/// A synchronous operation.
#[derive(Clone, Copy)]
pub(super) struct Called {
    /// Which task called, and at which step.
    moment: (u32, u64),
    /// By it, or by one before it since the task's last point, the task learnt what others do.
    looked: bool,
    /// What it touched.
    resource: u32,
}

impl World {
    /// Whether synchronous operations are points, or recorded.
    #[inline]
    pub(crate) fn has_sync_points(&self) -> bool {
        self.sync_points.get()
    }

    /// The scheduling point of a synchronous operation.
    #[inline(never)]
    pub(crate) fn sync_point(&self, op: Op) {
        if self.phase.get() == Phase::Closing {
            return self.count_inert();
        }
        let granularity = self.granularity.get();
        let decides = match granularity {
            Granularity::Await | Granularity::Op => false,
            Granularity::Spawn => self.follows_a_call(op),
            Granularity::Sync | Granularity::Atomic => true,
        };
        if decides {
            let _ = self.point(op.kind, op.access, op.resource, op.site);
        } else if self.recording.get() {
            self.record_undecided(op);
        }
        if granularity == Granularity::Spawn && (op.looks() || op.acts()) {
            let looked = op.looks() || self.called_before().is_some_and(|before| before.looked);
            let moment = self.moment();
            self.called.set(moment.map(|moment| Called {
                moment,
                looked,
                resource: op.resource,
            }));
        }
    }

    /// Whether an operation changes something after another synchronous operation of the running poll, since its last
    /// point: what the poll has seen may be true no longer, and of two changes others may see only one. Not where a lock
    /// of `std` cannot be waited for, see [`resume_point`](Self::resume_point).
    fn follows_a_call(&self, op: Op) -> bool {
        let follows = |before: Called| before.looked || before.resource != op.resource;
        cct_interpose::CONTROLLED && op.acts() && self.called_before().is_some_and(follows)
    }

    /// What the running poll has called, since its last point.
    fn called_before(&self) -> Option<Called> {
        let called = self.called.get();
        called.filter(|before| self.moment() == Some(before.moment))
    }

    /// The running task, and the step it is at.
    fn moment(&self) -> Option<(u32, u64)> {
        let key = self.running.key.get();
        (key != NONE && self.is_running()).then(|| (key, self.with(|core, _| core.point.step)))
    }

    /// Has a report show an operation at which nothing is decided.
    pub(crate) fn record_undecided(&self, op: Op) {
        let key = self.running.key.get();
        if key == NONE || !self.is_running() {
            return;
        }
        self.with(|core, _| {
            if let Some(recorder) = &mut core.recorder {
                let action = Action {
                    op,
                    ..core.actions[key as usize].clone()
                };
                recorder.step(core.point.step, core.point.time_ns, &action, false);
            }
        });
    }

    /// The scheduling point where a task has been spawned.
    #[inline]
    pub(crate) fn spawn_point(&self, op: Op) {
        if self.granularity.get() == Granularity::Spawn && self.is_running() {
            let _ = self.point(op.kind, op.access, op.resource, op.site);
        } else {
            self.sync_point(op);
        }
    }

    /// Whether points after what has woken somebody are decisions. At granularity `atomic` what the caller does next is one
    /// itself, if others can see it.
    #[inline]
    pub(crate) fn has_resume_points(&self) -> bool {
        matches!(
            self.granularity.get(),
            Granularity::Spawn | Granularity::Sync
        )
    }

    /// A scheduling point within a call that returns at once: where another task was woken, which
    /// may act before who woke it goes on, and at a seam (`Resource::seam_point`). Not where a lock of `std` cannot be
    /// waited for: much is told under one.
    #[inline]
    pub(crate) fn resume_point(&self, op: Op) {
        let decides = cct_interpose::CONTROLLED && self.has_resume_points();
        if decides && self.is_running() {
            let _ = self.point(op.kind, op.access, op.resource, op.site);
        }
    }

    /// The scheduling point of a call that begins to listen, though it returns at once: a decision
    /// wherever asynchronous operations are. Not where a lock of `std` cannot be waited for: such calls are
    /// often made under one.
    pub(crate) fn listen_point(&self, op: Op) {
        let decides = cct_interpose::CONTROLLED && self.has_points();
        if decides && self.phase.get() == Phase::Running {
            let _ = self.point(op.kind, op.access, op.resource, op.site);
        } else {
            self.sync_point(op);
        }
    }
}
