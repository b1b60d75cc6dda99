//! Polls that are suspended where they stand, and go on when their task is picked.
//!
//! 1. A suspended poll owns the stack it stands on; the step loop goes on upon another.
//! 2. At a point no more than [`SUSPENDED_MAX`] are suspended: where so many are, the running one goes on.
//! 3. While the world closes a poll goes on with every point inert; one that spins is unwound.

use super::close::Closing;
use super::core::{Core, NONE, state};
use super::decide::Next;
use super::decider::Decider;
use super::panics;
use super::run::MAIN;
use super::spans;
use super::world::{Phase, World};
use crate::raw::stack::{self, Stand};
use crate::words::{Access, ActionKey, Op, OpKind, StepEvent};
use std::panic::{Location, resume_unwind};
use std::task::Poll;

/// Inert points a poll may pass while the world closes before it is unwound: it spins.
pub(super) const INERT_POINTS_MAX: u32 = 10_000;

/// As many polls as are suspended at most, but for those that block: a machine has few threads, and tokio no more than
/// so many that may block. Each takes a stack, which is two mappings of memory for the system, and several worlds share
/// what a process may have of those.
pub(super) const SUSPENDED_MAX: u32 = 512;

/// A poll that is suspended, or was. Apart from the task, so that a switch need not touch that.
#[derive(Clone, Copy)]
pub(super) struct Suspended {
    /// The worker whose stack holds it, or [`NONE`] when it goes on.
    pub(super) worker: u32,
    stand: Stand,
}

impl Core {
    /// The running task is suspended on a worker's stack.
    #[inline(always)]
    pub(super) fn suspend(&mut self, key: u32, worker: u32) {
        let action = self.action(key);
        action.state = action.state & !state::RUNNING | state::FROZEN;
        if self.suspended.len() <= key as usize {
            self.make_room_to_suspend(key);
        }
        self.suspended[key as usize] = Suspended {
            worker,
            stand: Stand::here(),
        };
        self.frozen += 1;
    }

    /// Whether no poll is to be suspended that could go on.
    #[inline(always)]
    pub(super) fn suspends_no_more(&self) -> bool {
        self.frozen >= SUSPENDED_MAX
    }

    #[cold]
    fn make_room_to_suspend(&mut self, key: u32) {
        let nothing = Suspended {
            worker: NONE,
            stand: Stand::NOWHERE,
        };
        self.suspended.resize(key as usize + 1, nothing);
    }

    /// A task is about to go on, on the stack of its suspended poll if it has one.
    #[inline(always)]
    pub(super) fn prefetch(&self, key: u32) {
        if let Some(suspended) = self.suspended.get(key as usize) {
            suspended.stand.prefetch();
        }
    }

    /// The worker whose stack holds a task's suspended poll, or [`NONE`].
    #[inline]
    pub(super) fn worker_of(&self, key: u32) -> u32 {
        match self.suspended.get(key as usize) {
            Some(suspended) => suspended.worker,
            None => NONE,
        }
    }

    /// [`worker_of`](Self::worker_of), which from now on holds none.
    pub(super) fn take_worker(&mut self, key: u32) -> u32 {
        let Some(suspended) = self.suspended.get_mut(key as usize) else {
            return NONE;
        };
        let worker = std::mem::replace(&mut suspended.worker, NONE);
        self.frozen -= u32::from(worker != NONE);
        worker
    }

    /// A suspended task goes on.
    pub(super) fn resumed(&mut self, key: u32, decider: &mut dyn Decider) {
        self.thaw(key);
        self.performs(key, decider);
    }

    /// A suspended task has its stack again.
    fn thaw(&mut self, key: u32) {
        let action = self.action(key);
        action.state = action.state & !state::FROZEN | state::RUNNING;
        self.take_worker(key);
        self.runs_on(key);
    }

    /// A task goes on with a poll that it began earlier.
    pub(super) fn runs_on(&mut self, key: u32) {
        self.set_last(key);
        self.point.yielded = self.actions[key as usize].state & state::YIELDED != 0;
    }
}

impl World {
    /// Suspends the running poll in favour of another task.
    fn switch(&self, key: u32, next: Next) -> Poll<()> {
        self.with(|core, _| {
            core.sweep();
            core.suspend(key, self.worker.get());
        });
        self.freeze(
            key,
            if let Next::Run(next) = next {
                next
            } else {
                NONE
            },
        )
    }

    /// Leaves this stack until the suspended task is picked. `Pending` if the world closed
    /// meanwhile.
    ///
    /// Inlined, as is its counterpart [`resume_worker`](Self::resume_worker): the processor predicts
    /// returns from a stack of its own, and each one that crosses a change of stacks is mispredicted.
    #[inline(always)]
    pub(super) fn freeze(&self, key: u32, next: u32) -> Poll<()> {
        let saved = self.running.get();
        self.next_key.set(next);
        if self.recording.get() || spans::may_be() {
            self.freeze_watched(key);
        } else {
            stack::freeze();
        }
        self.running.set(saved);
        if self.phase.get() == Phase::Closing {
            return self.inert_point();
        }
        self.with(|core, decider| core.resumed(key, decider));
        Poll::Ready(())
    }

    /// Leaves this stack, and the spans in which it is; and looks whether thread-locals are as they were when it is back.
    #[cold]
    pub(super) fn freeze_watched(&self, key: u32) {
        let spans = spans::may_be().then(|| self.leave_spans()).flatten();
        let left = self.with(|core, _| core.leave_locals(key));
        stack::freeze();
        if let Some(left) = left {
            self.with(|core, _| match self.phase.get() {
                Phase::Running => core.find_locals(key, left),
                // Its node has crashed.
                _ => core.locals_are_gone(key),
            });
        }
        if let Some(spans) = spans {
            self.enter_spans(spans);
        }
    }

    /// Leaves this stack so that a node can be brought down, and goes on without a decision; for
    /// good if the running task is of that node.
    #[cold]
    pub(crate) fn leave_for_crash(&self, key: u32) {
        self.with(|core, _| {
            core.sweep();
            core.suspend(key, self.worker.get());
        });
        let saved = self.running.get();
        self.next_key.set(NONE);
        stack::freeze();
        self.running.set(saved);
        if self.phase.get() == Phase::Closing {
            return self.count_inert();
        }
        self.with(|core, _| {
            // What was dropped may have woken the task: it is polled again, after this poll.
            core.remove(key);
            core.thaw(key);
        });
    }

    /// The iteration is over: the running poll must not go on before the world closes.
    #[cold]
    pub(crate) fn stop_here(&self) {
        let key = self.running.get().key;
        if key != NONE && stack::on_worker() && !std::thread::panicking() {
            self.with(|core, _| {
                if let Some(recorder) = &mut core.recorder {
                    recorder.stopped(key);
                }
            });
            let _ = self.switch(key, Next::End);
        }
    }

    /// Counts an operation passed while closing, and unwinds a poll that spins.
    #[cold]
    pub(crate) fn count_inert(&self) {
        let passed = self.inert_points.get() + 1;
        self.inert_points.set(passed);
        if passed > INERT_POINTS_MAX && !std::thread::panicking() {
            self.inert_points.set(0);
            self.unwind_who_waits(Location::caller());
        }
    }

    /// Unwinds a closure that waits while the world closes. Code around which there is a world learns why.
    #[cold]
    pub(crate) fn unwind_who_waits(&self, site: &'static Location<'static>) -> ! {
        if self.lone.get() && !self.left.get() && self.running.key.get() == MAIN {
            panic!("{}", self.why_over(site));
        }
        panics::unwinds_by_force();
        resume_unwind(Box::new(Closing))
    }

    #[cold]
    pub(super) fn inert_point(&self) -> Poll<()> {
        self.count_inert();
        Poll::Pending
    }

    /// Suspends the running poll until its task is woken, or the world closes: what blocking calls wait with.
    pub(crate) fn park(&self, site: &'static Location<'static>) {
        let key = self.running.get().key;
        self.with(|core, decider| {
            core.sweep();
            let op = Op {
                kind: OpKind::Block,
                access: Access::Read,
                resource: 0,
                site,
            };
            if core.action(key).state & state::GROUPED != 0 {
                core.leave_group_turn(key);
            }
            let action = core.action(key);
            let notified = action.state & state::NOTIFIED != 0;
            action.state &= !(state::NOTIFIED | state::RUNNING);
            core.spin.polled(key, notified);
            if key == MAIN {
                core.held_back_no_more();
            }
            let rests = core.rests_in_block_on(key, notified, decider);
            if notified && !rests {
                core.insert(key);
            } else {
                if !rests && matches!(core.action(key).op.kind, OpKind::Start | OpKind::Yield) {
                    core.announce(key, op);
                }
                if core.interests.readiness {
                    decider.observe(&StepEvent::Blocked(ActionKey(key)));
                }
            }
        });
        match self.decide(NONE) {
            Next::Run(next) if next == key => self.with(|core, _| {
                core.runs_on(key);
                core.action(key).state |= state::RUNNING;
                core.action(key).state &= !state::NOTIFIED;
            }),
            next => {
                if self.switch(key, next).is_pending() {
                    return;
                }
                self.with(|core, _| {
                    core.action(key).state &= !state::NOTIFIED;
                    if let Some(recorder) = &mut core.recorder {
                        recorder.unblocked(key); // what it waited for has come
                    }
                });
            }
        }
    }
}
