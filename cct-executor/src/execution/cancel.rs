//! Futures that opted in to being cancelled: while one waits, dropping it is an action.

use super::core::{Core, NONE, state};
use super::decider::Decider;
use super::waker::Waiter;
use crate::words::action::Sort;
use crate::words::{Access, Op, OpKind};
use std::panic::Location;

/// Index of a cancellable future in its world.
pub(crate) type CancelId = u32;

/// One cancellable future.
pub(crate) struct Cancel {
    action: u32,
    fired: bool,
    waiter: Option<Waiter>,
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
        let cancel = self.cancels.len() as CancelId;
        let action = self.add_action(Sort::Cancel, cancel, id, op);
        self.cancels.push(Cancel {
            action,
            fired: false,
            waiter: None,
        });
        cancel
    }

    /// The future waits: from now on it may be cancelled. Returns the replaced waiter, to be
    /// dropped outside.
    pub(crate) fn arm_cancel(&mut self, cancel: CancelId, waiter: Waiter) -> Option<Waiter> {
        let entry = &mut self.cancels[cancel as usize];
        let old = entry.waiter.replace(waiter);
        let action = entry.action;
        self.insert(action);
        old
    }

    /// The future is about to be polled. Returns whether it was cancelled instead.
    pub(crate) fn disarm_cancel(&mut self, cancel: CancelId) -> bool {
        let Cancel { action, fired, .. } = self.cancels[cancel as usize];
        self.remove(action);
        fired
    }

    /// The future is gone. Its waiter is returned, to be dropped outside.
    pub(crate) fn drop_cancel(&mut self, cancel: CancelId) -> Option<Waiter> {
        let action = std::mem::replace(&mut self.cancels[cancel as usize].action, NONE);
        if action != NONE {
            self.remove(action);
            self.action(action).state |= state::DONE;
        }
        self.cancels[cancel as usize].waiter.take()
    }

    /// The cancellation was picked: wakes the task, whose next poll drops the future.
    pub(crate) fn fire_cancel(&mut self, action: u32, decider: &mut dyn Decider) {
        let cancel = self.actions[action as usize].subject as usize;
        let waiter = self.cancels[cancel].waiter.as_ref();
        self.record_step_for(action, waiter.and_then(Waiter::task));
        let entry = &mut self.cancels[cancel];
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
            .iter_mut()
            .filter_map(|cancel| cancel.waiter.take())
            .collect()
    }
}
