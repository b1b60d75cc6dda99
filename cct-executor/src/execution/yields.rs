//! Giving way: explicit yields, and wake-ups that wait for the end of the poll.

use super::core::{Core, NONE, state};
use super::world::{Running, World};
use crate::words::{Access, Op, OpKind};
use std::panic::Location;
use std::task::{Context, Waker};
use std::time::Duration;

impl Core {
    /// The running task yields; `own` when it is its own waker that is to be woken.
    #[inline]
    pub(super) fn yields(&mut self, key: u32, own: bool, site: &'static Location<'static>) {
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
}

impl World {
    /// Whether it is the running task itself that polls, and not a program's own poller within it.
    pub(crate) fn polls_itself(&self, cx: &Context<'_>) -> bool {
        self.running.waker.get() == cx.waker().data()
    }

    /// The task yields explicitly: it is enabled again once its poll has returned.
    #[inline]
    pub(crate) fn yield_now(&self, cx: &Context<'_>, site: &'static Location<'static>) {
        let key = self.running.key.get();
        if !self.is_running() || key == NONE {
            cx.waker().wake_by_ref();
            return;
        }
        let own = self.polls_itself(cx);
        self.with(|core, _| core.yields(key, own, site));
        if !own {
            self.defer_for_others(self.running.get(), cx);
        }
    }

    /// Wakes the waker once the poll that is going on has returned, as tokio's `defer` does: at once where
    /// no scheduler runs the poll.
    pub(crate) fn defer(&self, cx: &Context<'_>) {
        let running = self.running.get();
        if !self.is_running() || running.key == NONE {
            cx.waker().wake_by_ref();
            return;
        }
        if self.recording.get() {
            self.with(|core, _| core.note_deferred(running.key));
        }
        if running.waker == cx.waker().data() {
            self.with(|core, _| core.action(running.key).state |= state::NOTIFIED);
        } else {
            self.defer_for_others(running, cx);
        }
    }

    /// Wakes a waker that is not the running task's own, as that of a combinator: only it can tell whether
    /// it is woken at once or later.
    #[cold]
    fn defer_for_others(&self, running: Running, cx: &Context<'_>) {
        if self.with(|core, _| core.is_unscheduled(running)) {
            cx.waker().wake_by_ref();
        } else {
            self.push_deferred(cx);
        }
    }

    /// Wakes a waker that is nobody's once the poll that is going on has returned; at once, if there
    /// is none.
    pub(crate) fn after_poll(&self, waker: &Waker) {
        if self.is_running() && self.running.get().key != NONE {
            self.push_deferred(&Context::from_waker(waker));
        } else {
            waker.wake_by_ref();
        }
    }

    /// Lets timers fire once the poll of this task has returned: the clock was moved in it.
    pub(crate) fn fire_after_poll(&self, key: u32) {
        self.advanced.set(key);
        self.has_deferred.set(true);
    }

    /// Moves the clock by hand, in the middle of this task's poll.
    pub(crate) fn move_clock(&self, key: u32, by: Duration) {
        let ns = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
        if self.with(|core, _| core.advance_by_hand(ns)) {
            self.fire_after_poll(key);
        }
    }

    /// Fires what is due since this task, whose poll has returned, has moved the clock.
    #[inline]
    pub(crate) fn fire_advanced(&self, key: u32) {
        if self.advanced.get() == key && key != NONE {
            self.fire_what_is_due();
        }
    }

    #[cold]
    fn fire_what_is_due(&self) {
        self.advanced.set(NONE);
        self.with(|core, decider| core.fire_due(decider));
        self.wake_due();
    }

    /// Who defers itself several times on end is woken once, as with tokio. Wakers that count see it.
    #[cold]
    fn push_deferred(&self, cx: &Context<'_>) {
        let mut deferred = self.deferred.borrow_mut();
        if !deferred
            .last()
            .is_some_and(|last| last.will_wake(cx.waker()))
        {
            deferred.push(cx.waker().clone());
        }
        self.has_deferred.set(true);
    }
}
