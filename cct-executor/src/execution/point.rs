//! Scheduling points: decisions in the middle of a poll.
//!
//! 1. The operation is published before the decision is taken, and taken before it acts.
//! 2. `Pending` is returned only while the world closes.
//! 3. No suspension while the thread unwinds from a panic.

use super::at_point::At;
use super::core::{Core, NONE};
use super::decider::Decider;
use super::world::{Phase, Running, World};
use crate::words::{Access, Granularity, Op, OpKind};
use std::panic::Location;
use std::task::Poll;

/// The resource index that stands for a task as something to join.
pub(crate) fn task_resource(key: u32) -> u32 {
    key | 1 << 31
}

/// The task behind a resource index, if it stands for one.
pub(crate) fn resource_task(resource: u32) -> Option<u32> {
    (resource >> 31 == 1).then_some(resource & !(1 << 31))
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
        if self.granularity.get() == Granularity::Await {
            return self.point_apart(kind, access, resource, site);
        }
        self.point_decided(kind, access, resource, site)
    }

    /// [`point`](Self::point) where points are decisions, in the caller's own code.
    #[inline(always)]
    pub(crate) fn point_decided(
        &self,
        kind: OpKind,
        access: Access,
        resource: u32,
        site: &'static Location<'static>,
    ) -> Poll<()> {
        if self.phase.get() != Phase::Running || self.running.key.get() == NONE {
            return self.point_apart(kind, access, resource, site);
        }
        match self.decide_point(kind, access, resource, site) {
            At::GoOn => Poll::Ready(()),
            At::Switch(next) => self.leave_point(Some(next)),
            At::Wake => self.leave_point(None),
        }
    }

    /// [`point`](Self::point) where nothing is decided.
    #[inline(never)]
    fn point_apart(
        &self,
        kind: OpKind,
        access: Access,
        resource: u32,
        site: &'static Location<'static>,
    ) -> Poll<()> {
        match self.phase.get() {
            Phase::Closing => return self.inert_point(),
            Phase::Running if self.running.key.get() != NONE => {
                self.pass_point(kind, access, resource, site);
            }
            Phase::Running | Phase::Idle => {}
        }
        Poll::Ready(())
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
        let running = &self.running;
        (running.key.get(), running.untouched.replace(false))
    }

    /// The running task performs an operation without a decision.
    #[inline(always)]
    fn pass(
        &self,
        core: &mut Core,
        what: (OpKind, Access, u32),
        site: &'static Location<'static>,
        decider: &mut dyn Decider,
    ) {
        let (key, untouched) = self.touch();
        core.pass(key, untouched, what, site, decider);
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
        self.with(|core, decider| self.pass(core, (kind, access, resource), site, decider));
    }

    /// No decision while the thread unwinds from a panic.
    #[cold]
    fn pass_while_unwinding(
        &self,
        kind: OpKind,
        access: Access,
        resource: u32,
        site: &'static Location<'static>,
    ) -> At {
        self.pass_point(kind, access, resource, site);
        At::GoOn
    }

    /// The act of an operation, its unit of budget and what the tables note of it, in one visit of the
    /// tables, and with them its point where `ahead` says that it is still to be passed without a
    /// decision. Where any of it does not go at once, nothing happens.
    ///
    /// `act` neither reaches the tables nor runs user code.
    #[inline(always)]
    pub(crate) fn at_once<R, S>(
        &self,
        (kind, access, resource): (OpKind, Access, u32),
        site: &'static Location<'static>,
        ahead: bool,
        act: impl FnOnce() -> Option<R>,
        note: impl FnOnce(&mut Core, u32, u32, R) -> S,
    ) -> Option<S> {
        let (key, budget) = (self.running.key.get(), self.running.budget.get());
        let quiet = self.phase.get() == Phase::Running && !self.spurious.get();
        if !quiet || key == NONE || budget == 0 {
            return None;
        }
        let done = act()?;
        if budget != Running::UNLIMITED {
            self.running.budget.set(budget - 1);
        }
        Some(self.with(|core, decider| {
            if ahead {
                self.pass(core, (kind, access, resource), site, decider);
            }
            note(core, resource, key, done)
        }))
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
            return self.pass_while_unwinding(kind, access, resource, site);
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

    /// The operation is published, for the poll to return before it: whether it is to return. It
    /// need not where nobody else could go on, or where it was picked to do just this.
    pub(crate) fn gives_way(&self, op: Op) -> bool {
        let key = self.running.get().key;
        let decides = self.phase.get() == Phase::Running && self.has_points();
        if !decides || key == NONE || std::thread::panicking() {
            return false;
        }
        let untouched = self.running.untouched.get();
        self.with(|core, _| {
            let picked = untouched && core.is_pending(key, op.kind, op.resource);
            let alone = core.enabled.is_empty() && !core.alerted;
            if picked || alone {
                return false;
            }
            core.announce(key, op);
            core.gives_way(key);
            core.note_gave_way();
            true
        })
    }

    /// The running task performs an operation that is no decision, as it has given way before.
    pub(crate) fn pass_undecided(&self, op: Op) -> Poll<()> {
        self.point_unless(op, |_, _| true)
    }

    /// The scheduling point of an operation, but that it is no decision if `waits` says that the poll is
    /// about to end there.
    pub(crate) fn point_unless(
        &self,
        op: Op,
        waits: impl FnOnce(&mut Core, u32) -> bool,
    ) -> Poll<()> {
        let key = self.running.key.get();
        if self.phase.get() == Phase::Running && key != NONE {
            let passed = self.with(|core, decider| {
                if !waits(core, key) {
                    return false;
                }
                let what = (op.kind, op.access, op.resource);
                self.pass(core, what, op.site, decider);
                true
            });
            if passed {
                return Poll::Ready(());
            }
        }
        self.point(op.kind, op.access, op.resource, op.site)
    }

    /// Whether points of asynchronous operations are decisions.
    #[inline]
    pub(crate) fn has_points(&self) -> bool {
        self.granularity.get() != Granularity::Await
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
