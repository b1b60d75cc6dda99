//! Scheduling points: decisions in the middle of a poll.
//!
//! 1. The operation is published before the decision is taken, and taken before it acts.
//! 2. A poll that another task overtakes is suspended where it stands; `Pending` is returned only
//!    while the world closes.
//! 3. No suspension while the thread unwinds from a panic.

use super::close::Closing;
use super::core::{Core, NONE, state};
use super::decide::Next;
use super::decider::Decider;
use super::world::{Phase, Running, World};
use crate::raw::stack;
use crate::words::{Access, Action, ActionKey, Granularity, Op, OpKind, StepEvent};
use std::panic::{Location, resume_unwind};
use std::task::{Context, Poll};

/// Inert points a poll may pass while the world closes before it is unwound: it spins.
const INERT_POINTS_MAX: u32 = 10_000;

/// The resource index that stands for a task as something to join.
pub(crate) fn task_resource(key: u32) -> u32 {
    key | 1 << 31
}

/// The task behind a resource index, if it stands for one.
pub(crate) fn resource_task(resource: u32) -> Option<u32> {
    (resource >> 31 == 1).then_some(resource & !(1 << 31))
}

/// What to do at a point.
enum At {
    GoOn,
    /// The running poll is suspended; this comes next.
    Switch(u32),
    /// Wakers of foreign make are due first.
    Wake,
}

impl Core {
    #[inline]
    pub(super) fn resource_tag(&self, resource: u32) -> u64 {
        match resource_task(resource) {
            Some(key) => self.actions[key as usize].tag,
            None if resource == 0 => 0,
            None => self.resources[resource as usize].tag,
        }
    }

    /// The running task is about to perform `op`.
    #[inline(always)]
    fn at_point(&mut self, key: u32, op: Op, worker: u32, decider: &mut dyn Decider) -> At {
        self.announce(key, op);
        if self.actions[key as usize].state & state::GROUPED != 0 {
            self.take_group_turn(key);
        }
        if self.alerted {
            self.timers_changed();
        } else if self.enabled.is_empty() && self.count_step() {
            if self.interests.forced {
                self.tell_forced(key, decider);
            }
            self.performs(key, decider);
            return At::GoOn;
        }
        let action = &mut self.actions[key as usize];
        action.position = self.enabled.len() as u32;
        self.enabled.push(key);
        self.decide_at_point(key, worker, decider)
    }

    /// Whether this is the operation that the task has published.
    #[inline]
    fn is_pending(&self, key: u32, kind: OpKind, resource: u32) -> bool {
        let pending = &self.actions[key as usize].op;
        pending.kind == kind && pending.resource == resource
    }

    /// Decides while the running task is in the enabled set.
    #[inline(always)]
    fn decide_at_point(&mut self, key: u32, worker: u32, decider: &mut dyn Decider) -> At {
        match self.next_inlined(key, decider) {
            Next::Run(next) if next == key => {
                self.performs(key, decider);
                At::GoOn
            }
            Next::Run(next) => {
                self.suspend(key, worker);
                At::Switch(next)
            }
            Next::End | Next::Crash => {
                self.suspend(key, worker);
                At::Switch(NONE)
            }
            Next::Wake => At::Wake,
        }
    }

    /// The running task yields; `own` when it is its own waker that is to be woken.
    #[inline]
    fn yields(&mut self, key: u32, own: bool, site: &'static Location<'static>) {
        self.point.yielded = true;
        let action = &mut self.actions[key as usize];
        action.state |= state::YIELDED | if own { state::NOTIFIED } else { 0 };
        if action.op.kind == OpKind::Yield {
            action.op.site = site; // as loops over yields do
        } else {
            self.announce_yield(key, site);
        }
    }

    fn announce_yield(&mut self, key: u32, site: &'static Location<'static>) {
        let op = Op {
            kind: OpKind::Yield,
            access: Access::Read,
            resource: 0,
            site,
        };
        self.announce(key, op);
    }

    /// Tells strategies and recorder that an action performs its pending operation.
    #[inline]
    pub(crate) fn performs(&mut self, key: u32, decider: &mut dyn Decider) {
        if self.watched {
            self.tell_step(key, decider);
        }
    }

    #[inline]
    pub(crate) fn tell_step(&mut self, key: u32, decider: &mut dyn Decider) {
        if self.interests.steps {
            let op = self.actions[key as usize].op;
            decider.observe(&StepEvent::Step {
                action: ActionKey(key),
                op: &op,
            });
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.step(
                self.point.step,
                self.point.time_ns,
                &self.actions[key as usize],
            );
        }
    }

    /// The running task is suspended on a worker's stack.
    fn suspend(&mut self, key: u32, worker: u32) {
        let action = self.action(key);
        action.state = action.state & !state::RUNNING | state::FROZEN;
        self.task(key).worker = worker;
    }

    /// A suspended task goes on.
    fn resumed(&mut self, key: u32, decider: &mut dyn Decider) {
        self.thaw(key);
        self.performs(key, decider);
    }

    /// A suspended task has its stack again.
    fn thaw(&mut self, key: u32) {
        let action = self.action(key);
        action.state = action.state & !state::FROZEN | state::RUNNING;
        self.task(key).worker = NONE;
        self.runs_on(key);
    }

    /// A task goes on with a poll that it began earlier.
    fn runs_on(&mut self, key: u32) {
        self.set_last(key);
        self.point.yielded = self.actions[key as usize].state & state::YIELDED != 0;
    }
}

impl World {
    /// The scheduling point of an asynchronous operation.
    ///
    /// The parts of the operation come one by one, in registers: put together in memory and read as
    /// one, they would stall every point.
    pub(crate) fn point(
        &self,
        kind: OpKind,
        access: Access,
        resource: u32,
        site: &'static Location<'static>,
    ) -> Poll<()> {
        match self.phase.get() {
            Phase::Running => {}
            Phase::Idle => return Poll::Ready(()),
            Phase::Closing => return self.inert_point(),
        }
        if self.running.get().key == NONE {
            return Poll::Ready(());
        }
        if self.granularity.get() == Granularity::Await {
            self.pass_point(kind, access, resource, site);
            return Poll::Ready(());
        }
        match self.decide_point(kind, access, resource, site) {
            At::GoOn => Poll::Ready(()),
            At::Switch(next) => self.leave_point(Some(next)),
            At::Wake => self.leave_point(None),
        }
    }

    /// Switches to the task `next`, or wakes first who is due and decides then. Apart from the
    /// decision, whose stack frame would otherwise be kept, and brought back into the cache, with
    /// every suspended poll.
    #[inline(never)]
    fn leave_point(&self, next: Option<u32>) -> Poll<()> {
        let key = self.running.get().key;
        match next {
            Some(next) => self.freeze(key, next),
            None => self.wake_and_decide(key),
        }
    }

    /// The running task touches something: it, and whether it is the first time since it was picked.
    #[inline(always)]
    fn touch(&self) -> (u32, bool) {
        let mut running = self.running.get();
        let untouched = running.untouched;
        running.untouched = false;
        self.running.set(running);
        (running.key, untouched)
    }

    /// The rest of [`point`](Self::point) where there is nothing to decide.
    #[inline(always)]
    fn pass_point(
        &self,
        kind: OpKind,
        access: Access,
        resource: u32,
        site: &'static Location<'static>,
    ) {
        let (key, untouched) = self.touch();
        self.with(|core, decider| {
            if !(untouched && core.is_pending(key, kind, resource)) {
                let op = Op {
                    kind,
                    access,
                    resource,
                    site,
                };
                core.announce(key, op);
                core.performs(key, decider);
            }
        });
    }

    /// Takes the decision of a point.
    #[inline(never)]
    fn decide_point(
        &self,
        kind: OpKind,
        access: Access,
        resource: u32,
        site: &'static Location<'static>,
    ) -> At {
        if std::thread::panicking() {
            self.pass_point(kind, access, resource, site);
            return At::GoOn;
        }
        let (key, untouched) = self.touch();
        let worker = self.worker.get();
        self.with(|core, decider| {
            if untouched && core.is_pending(key, kind, resource) {
                // The decision to let the task do just this has this moment been taken.
                return At::GoOn;
            }
            let op = Op {
                kind,
                access,
                resource,
                site,
            };
            core.at_point(key, op, worker, decider)
        })
    }

    /// Wakes foreign wakers that are due, and takes the decision that had to wait for them.
    #[cold]
    fn wake_and_decide(&self, key: u32) -> Poll<()> {
        let worker = self.worker.get();
        loop {
            self.wake_due();
            let at = self.with(|core, decider| core.decide_at_point(key, worker, decider));
            match at {
                At::Wake => {}
                At::Switch(next) => return self.freeze(key, next),
                At::GoOn => return Poll::Ready(()),
            }
        }
    }

    /// Whether synchronous operations are points, or recorded.
    #[inline]
    pub(crate) fn has_sync_points(&self) -> bool {
        self.sync_points.get()
    }

    /// The scheduling point of a synchronous operation.
    #[inline]
    pub(crate) fn sync_point(&self, op: Op) {
        if self.granularity.get() == Granularity::Sync {
            if self.phase.get() == Phase::Closing {
                self.count_inert();
            } else {
                let _ = self.point(op.kind, op.access, op.resource, op.site);
            }
        } else if self.phase.get() == Phase::Closing {
            self.count_inert();
        } else if self.recording.get() && self.is_running() {
            let key = self.running.get().key;
            if key != NONE {
                self.with(|core, _| {
                    if let Some(recorder) = &mut core.recorder {
                        let action = Action {
                            op,
                            ..core.actions[key as usize].clone()
                        };
                        recorder.step(core.point.step, core.point.time_ns, &action);
                    }
                });
            }
        }
    }

    /// Suspends the running poll in favour of another task.
    fn switch(&self, key: u32, next: Next) -> Poll<()> {
        self.with(|core, _| core.suspend(key, self.worker.get()));
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
    fn freeze(&self, key: u32, next: u32) -> Poll<()> {
        let saved = self.running.get();
        self.next_key.set(next);
        stack::freeze();
        self.running.set(saved);
        if self.phase.get() == Phase::Closing {
            return self.inert_point();
        }
        self.with(|core, decider| core.resumed(key, decider));
        Poll::Ready(())
    }

    /// Leaves this stack so that a node can be brought down, and goes on without a decision; for
    /// good if the running task is of that node.
    #[cold]
    pub(crate) fn leave_for_crash(&self, key: u32) {
        self.with(|core, _| core.suspend(key, self.worker.get()));
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
            resume_unwind(Box::new(Closing));
        }
    }

    #[cold]
    fn inert_point(&self) -> Poll<()> {
        self.count_inert();
        Poll::Pending
    }

    /// Suspends the running poll until its task is woken: what blocking calls wait with.
    /// Unwinds when the world closes.
    pub(crate) fn park(&self, site: &'static Location<'static>) {
        let key = self.running.get().key;
        self.with(|core, decider| {
            let op = Op {
                kind: OpKind::Block,
                access: Access::Read,
                resource: 0,
                site,
            };
            let action = core.action(key);
            let notified = action.state & state::NOTIFIED != 0;
            action.state &= !(state::NOTIFIED | state::RUNNING);
            if notified {
                core.insert(key);
            } else {
                if matches!(core.action(key).op.kind, OpKind::Start | OpKind::Yield) {
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
                if self.switch(key, next).is_pending() && !std::thread::panicking() {
                    resume_unwind(Box::new(Closing));
                }
                self.with(|core, _| {
                    core.action(key).state &= !state::NOTIFIED;
                    if let Some(recorder) = &mut core.recorder {
                        recorder.begin_poll(key); // what it waited for has come
                    }
                });
            }
        }
    }

    /// The task yields explicitly: it is enabled again once its poll has returned.
    #[inline]
    pub(crate) fn yield_now(&self, cx: &Context<'_>, site: &'static Location<'static>) {
        let running = self.running.get();
        if !self.is_running() || running.key == NONE {
            cx.waker().wake_by_ref();
            return;
        }
        let own = running.waker == cx.waker().data();
        self.with(|core, _| core.yields(running.key, own, site));
        if !own {
            self.push_deferred(cx);
        }
    }

    /// Wakes the waker once the poll that is going on has returned, as tokio's `defer` does.
    pub(crate) fn defer(&self, cx: &Context<'_>) {
        let running = self.running.get();
        if !self.is_running() || running.key == NONE {
            cx.waker().wake_by_ref();
        } else if running.waker == cx.waker().data() {
            self.with(|core, _| core.action(running.key).state |= state::NOTIFIED);
        } else {
            self.push_deferred(cx);
        }
    }

    #[cold]
    fn push_deferred(&self, cx: &Context<'_>) {
        self.deferred.borrow_mut().push(cx.waker().clone());
        self.has_deferred.set(true);
    }

    /// Runs `f` with a changed description of the running poll.
    pub(crate) fn with_running<R>(
        &self,
        change: impl FnOnce(&mut Running),
        restore: impl Fn(&mut Running, Running),
        f: impl FnOnce() -> R,
    ) -> R {
        struct Restore<'a, G: Fn(&mut Running, Running)>(&'a World, Running, G);
        impl<G: Fn(&mut Running, Running)> Drop for Restore<'_, G> {
            fn drop(&mut self) {
                let mut running = self.0.running.get();
                self.2(&mut running, self.1);
                self.0.running.set(running);
            }
        }
        let before = self.running.get();
        let mut changed = before;
        change(&mut changed);
        self.running.set(changed);
        let _restore = Restore(self, before, restore);
        f()
    }
}
