//! Futures that opted in to being cancelled: while one waits, dropping it is an action.
//!
//! 1. A cancellation is optional, as a fault is: with nothing but optional actions enabled the world is
//!    idle, and time may move. A future that waits for a timer could never see it fire otherwise.
//! 2. Unlike a fault it is taken when nothing else will ever happen: what waits for ever may be dropped.

use super::core::{Core, NONE, state};
use super::decider::Decider;
use super::waker::Waiter;
use crate::words::action::Sort;
use crate::words::{Access, Action, Op, OpKind};
use std::panic::Location;

/// How often time passes, of so many and one times that it might, before the first cancellation.
const PASSES: u32 = 7;

/// Index of a cancellable future in its world.
pub(crate) type CancelId = u32;

/// The cancellable futures of a world.
#[derive(Default)]
pub(crate) struct Cancels {
    list: Vec<Cancel>,
    /// How many may be cancelled now.
    armed: u32,
    /// How often time passed instead.
    passed: u32,
}

/// One cancellable future.
struct Cancel {
    action: u32,
    fired: bool,
    waiter: Option<Waiter>,
}

impl Cancels {
    pub(super) fn reset(&mut self) {
        self.list.clear();
        self.armed = 0;
        self.passed = 0;
    }

    /// Whether any future may be cancelled now.
    pub(super) fn any_armed(&self) -> bool {
        self.armed > 0
    }
}

impl Core {
    /// Registers a cancellable future; its action is not enabled yet.
    pub(crate) fn add_cancel(&mut self, owner: u32, site: &'static Location<'static>) -> CancelId {
        let tag = self.sites.tag(site);
        let id = self.new_id(owner, tag);
        let op = Op {
            kind: OpKind::Cancel,
            access: Access::Write,
            resource: 0,
            site,
        };
        let cancel = self.cancels.list.len() as CancelId;
        let action = self.add_action(Sort::Cancel, cancel, id, op);
        self.cancels.list.push(Cancel {
            action,
            fired: false,
            waiter: None,
        });
        cancel
    }

    /// The future waits: from now on it may be cancelled. Returns the replaced waiter, to be
    /// dropped outside.
    pub(crate) fn arm_cancel(&mut self, cancel: CancelId, waiter: Waiter) -> Option<Waiter> {
        let entry = &mut self.cancels.list[cancel as usize];
        let old = entry.waiter.replace(waiter);
        let action = entry.action;
        if self.actions[action as usize].position == Action::NOWHERE {
            self.insert(action);
            self.optional += 1;
            self.cancels.armed += 1;
            self.point.may_cancel = true;
        }
        old
    }

    /// The action leaves the enabled set, if it is there.
    fn withdraw(&mut self, action: u32) {
        if self.actions[action as usize].position != Action::NOWHERE {
            self.remove(action);
            self.withdrawn();
        }
    }

    /// The action has left the enabled set.
    fn withdrawn(&mut self) {
        self.optional -= 1;
        self.cancels.armed -= 1;
        self.point.may_cancel = self.cancels.any_armed();
    }

    /// Nothing is ready, and time could move: whether a future is cancelled first. The longer none was,
    /// the less likely, so that late moments are reached as well as early ones.
    pub(super) fn cancels_rather(&mut self, decider: &mut dyn Decider) -> bool {
        if !self.cancels.any_armed() || self.next_deadline().is_none() {
            return false;
        }
        let weights = [PASSES.saturating_add(self.cancels.passed), 1];
        let label = ("cancel instead of letting time pass", None);
        let cancels = self.choose(2, &weights, label, NONE, decider) == 1;
        self.cancels.passed += u32::from(!cancels);
        cancels
    }

    /// The future is about to be polled. Returns whether it was cancelled instead.
    pub(crate) fn disarm_cancel(&mut self, cancel: CancelId) -> bool {
        let Cancel { action, fired, .. } = self.cancels.list[cancel as usize];
        self.withdraw(action);
        fired
    }

    /// The future is gone. Its waiter is returned, to be dropped outside.
    pub(crate) fn drop_cancel(&mut self, cancel: CancelId) -> Option<Waiter> {
        let action = std::mem::replace(&mut self.cancels.list[cancel as usize].action, NONE);
        if action != NONE {
            self.withdraw(action);
            self.action(action).state |= state::DONE;
        }
        self.cancels.list[cancel as usize].waiter.take()
    }

    /// The cancellation was picked: wakes the task, whose next poll drops the future.
    pub(crate) fn fire_cancel(&mut self, action: u32, decider: &mut dyn Decider) {
        self.withdrawn();
        let cancel = self.actions[action as usize].subject as usize;
        let waiter = self.cancels.list[cancel].waiter.as_ref();
        self.record_step_for(action, waiter.and_then(Waiter::task));
        let entry = &mut self.cancels.list[cancel];
        entry.fired = true;
        match entry.waiter.take() {
            None => {}
            Some(waiter) => match waiter.task() {
                Some(key) => self.wake(key, decider),
                None => self.due(waiter),
            },
        }
    }

    /// All waiters, so that they can be dropped outside the core.
    pub(crate) fn take_cancel_waiters(&mut self) -> Vec<Waiter> {
        self.cancels
            .list
            .iter_mut()
            .filter_map(|cancel| cancel.waiter.take())
            .collect()
    }
}
