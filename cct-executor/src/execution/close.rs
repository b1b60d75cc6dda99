//! Teardown: by completion, not by unwinding.
//!
//! 1. A closing world decides nothing: points return `Pending`, wake-ups are ignored, spawned
//!    futures are dropped at once.
//! 2. Each suspended poll is resumed once and runs until it returns; one that spins is unwound
//!    after a bounded number of points ([`Closing`]). Only those that would block their thread are
//!    resumed again, when others have come to their ends; if that does not help, they are left. A blocking closure that
//!    waits is polled once more, and unwound if that ends nothing (`task::last_waits`).
//! 3. Then every future is dropped in the ordinary way, each behind its own `catch_unwind`.
//! 4. The trace is complete before the first of this happens.

use super::core::{Core, NONE, state};
use super::panics;
use super::run::MAIN;
use super::tasks::Local;
use super::world::{Phase, Running, World};
use crate::raw::stack::Resume;
use crate::raw::task::Body;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The payload that unwinds a poll of last resort, and blocking closures that wait.
pub(crate) struct Closing;

/// A task, and what is to be dropped of it.
type LeftOver = (u32, Option<Body>, Option<Vec<Local>>);

pub(super) fn quietly(drop_things: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(drop_things)) {
        // A payload's own destructor might panic too.
        std::mem::forget(payload);
    }
    panics::forget();
}

impl World {
    /// Whether the task is code around which there is this world: its stack is the thread's own.
    pub(crate) fn is_code_around(&self, key: u32) -> bool {
        self.lone.get() && key == MAIN
    }

    /// Ends what is left of the world. Afterwards the tables hold no user values.
    pub(crate) fn close(&self) {
        self.phase.set(Phase::Closing);
        // So that synchronous operations are counted at every granularity: they may spin.
        self.sync_points.set(true);
        self.inert_points.set(0);
        self.finish_suspended(|_, _| true);
        self.drop_tasks();
        let (waiters, cancels) =
            self.with(|core, _| (core.timers.take_waiters(), core.take_cancel_waiters()));
        let deferred = std::mem::take(&mut *self.deferred.borrow_mut());
        let sources = std::mem::take(&mut *self.sources.borrow_mut());
        let after_crash = std::mem::take(&mut *self.after_crash.borrow_mut());
        if !(sources.is_empty() && after_crash.is_empty()) {
            quietly(move || drop((sources, after_crash)));
        }
        if !(waiters.is_empty() && cancels.is_empty() && deferred.is_empty()) {
            quietly(move || drop((waiters, cancels, deferred)));
        }
        self.sync_points.set(false);
        self.phase.set(Phase::Idle);
    }

    /// Resumes those suspended polls, by the keys of their tasks, until no more of them come to an end.
    pub(super) fn finish_suspended(&self, which: impl Fn(&Core, u32) -> bool) {
        let mut before = usize::MAX;
        loop {
            let found = |core: &Core, from| {
                let mut keys = from..core.suspended.len() as u32;
                keys.find(|&key| core.worker_of(key) != NONE && which(core, key))
            };
            let mut left = 0;
            let mut from = 0;
            while let Some((key, worker)) = self.with(|core, _| {
                let key = found(core, from)?;
                Some((key, core.take_worker(key)))
            }) {
                from = key + 1;
                self.inert_points.set(0);
                self.resume_worker(worker, Resume::Continue);
                left += usize::from(self.with(|core, _| core.worker_of(key) != NONE));
            }
            if left == 0 {
                return;
            }
            if left == before {
                break;
            }
            before = left;
        }
        self.abandon(|core, key| which(core, key) && !self.is_code_around(key));
        // It has nobody to wait for any more but other threads.
        let around = self.with(|core, _| {
            let is_meant = self.is_code_around(MAIN) && which(core, MAIN);
            if is_meant {
                core.take_worker(MAIN)
            } else {
                NONE
            }
        });
        if around != NONE {
            self.resume_worker(around, Resume::Continue);
        }
    }

    /// Leaves suspended polls where they are, for good: their stacks are not used again.
    #[cold]
    fn abandon(&self, which: impl Fn(&Core, u32) -> bool) {
        self.abandoned.set(true);
        let stacks: Vec<u32> = self.with(|core, _| {
            let keys = (0..core.suspended.len() as u32).filter(|&key| which(core, key));
            let keys: Vec<u32> = keys.collect();
            let stacks = keys.into_iter().map(|key| core.take_worker(key));
            stacks.filter(|&worker| worker != NONE).collect()
        });
        for stack in stacks {
            let worker = self.workers.borrow_mut().workers[stack as usize].take();
            std::mem::forget(worker);
        }
    }

    fn drop_tasks(&self) {
        let mut from = 0;
        while let Some((key, body, locals)) = self.with(|core, _| core.take_left_over(&mut from)) {
            self.running.set(Running {
                key,
                ..Running::NOBODY
            });
            self.inert_points.set(0);
            if let Some(mut body) = body {
                quietly(|| body.cancel());
                quietly(|| drop(body));
            }
            if locals.is_some() {
                quietly(|| drop(locals));
            }
        }
        self.running.set(Running::NOBODY);
    }
}

impl Core {
    /// What the next task, from this one on, leaves behind. All tasks passed over are done.
    fn take_left_over(&mut self, from: &mut usize) -> Option<LeftOver> {
        while let Some(task) = self.tasks.get_mut(*from) {
            *from += 1;
            let (key, body, locals) = (task.key, task.take_body(), task.take_locals());
            self.actions[key as usize].state |= state::DONE;
            if body.is_some() || locals.is_some() {
                return Some((key, body, locals));
            }
        }
        None
    }
}
