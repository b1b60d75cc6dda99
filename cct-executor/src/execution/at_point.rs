//! What the tables do at a scheduling point: publish the operation, decide, and go on or leave.

use super::core::{Core, NONE, state};
use super::decide::{Next, Picked};
use super::decider::Decider;
use super::point::resource_task;
use crate::words::{Access, ActionKey, Op, OpKind, StepEvent};
use std::panic::Location;

/// What to do at a point.
pub(super) enum At {
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
    pub(super) fn at_point(
        &mut self,
        key: u32,
        op: Op,
        worker: u32,
        decider: &mut dyn Decider,
    ) -> At {
        if self.announce(key, op) & state::GROUPED != 0 {
            self.take_group_turn(key);
        }
        if self.alerted {
            // Whether all are late is asked when the running task is in the set.
            if !self.timers.lag() {
                self.timers_changed();
            }
        } else if self.enabled.len() != usize::from(self.lingers) && !self.suspends_no_more() {
            self.enable_running(key);
            return self.decide_at_once(key, worker, decider);
        } else if self.count_step() {
            if self.interests.forced {
                self.tell_forced(key, decider);
            }
            self.performs(key, decider);
            return At::GoOn;
        }
        self.enable_running(key);
        self.decide_at_point(key, worker, decider)
    }

    /// Puts the running task into the enabled set for a decision, unless it lingers there.
    #[inline(always)]
    fn enable_running(&mut self, key: u32) {
        if !std::mem::take(&mut self.lingers) {
            let action = &mut self.actions[key as usize];
            action.position = self.enabled.len() as u32;
            self.enabled.push(key);
        }
    }

    /// Whether this is the operation that the task has published.
    #[inline]
    pub(super) fn is_pending(&self, key: u32, kind: OpKind, resource: u32) -> bool {
        let pending = &self.actions[key as usize].op;
        pending.kind == kind && pending.resource == resource
    }

    /// The running task performs an operation without a decision.
    #[inline(always)]
    pub(super) fn pass(
        &mut self,
        key: u32,
        untouched: bool,
        (kind, access, resource): (OpKind, Access, u32),
        site: &'static Location<'static>,
        decider: &mut dyn Decider,
    ) {
        if !(untouched && self.is_pending(key, kind, resource)) {
            let op = Op {
                kind,
                access,
                resource,
                site,
            };
            self.announce(key, op);
            self.performs(key, decider);
        }
    }

    /// [`decide_at_point`](Self::decide_at_point) where nothing else is to be seen to first and the
    /// running task is not alone: most decisions of most programs.
    #[inline(always)]
    fn decide_at_once(&mut self, key: u32, worker: u32, decider: &mut dyn Decider) -> At {
        let Some(position) = self.ask(key, decider) else {
            return self.leaves(key, worker, Next::End);
        };
        match self.take_picked(position, key) {
            Picked::Run(next) if next == key => {
                self.performs(key, decider);
                At::GoOn
            }
            Picked::Run(next) => self.leaves(key, worker, Next::Run(next)),
            Picked::Over => self.leaves(key, worker, Next::End),
            Picked::Other(sort, other) => {
                self.fire_picked(sort, other, decider);
                self.decide_at_point(key, worker, decider)
            }
        }
    }

    /// Decides while the running task is in the enabled set.
    #[inline(never)]
    pub(super) fn decide_at_point(
        &mut self,
        key: u32,
        worker: u32,
        decider: &mut dyn Decider,
    ) -> At {
        match self.next(key, decider) {
            Next::Run(next) if next == key => {
                self.performs(key, decider);
                At::GoOn
            }
            Next::Wake => At::Wake,
            next => self.leaves(key, worker, next),
        }
    }

    /// The running poll is suspended.
    #[inline(always)]
    fn leaves(&mut self, key: u32, worker: u32, next: Next) -> At {
        let next = match next {
            Next::Run(next) => {
                self.prefetch(next);
                next
            }
            Next::Wake | Next::Crash | Next::End => NONE,
        };
        self.suspend(key, worker);
        At::Switch(next)
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
        if self.recorder.is_some() {
            self.record_step(key);
        }
    }
}
