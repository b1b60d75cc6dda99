//! The step loop: poll, decide, poll, decide... on a worker's stack.

use super::close::Closing;
use super::core::{Core, NONE, state};
use super::decide::Next;
use super::decider::Decider;
use super::panics;
use super::tasks::Runnable;
use super::world::{Phase, Running, WORLD, World};
use crate::words::{Action, ActionKind, FailureKind, Outcome};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Context, Poll};

/// tokio's budget of operations in one poll.
const BUDGET: u8 = 128;

/// What the step loop does next.
enum Turn {
    Poll { key: u32, runnable: Runnable, aborted: bool },
    /// Wakers of foreign make are due.
    Wake,
    /// Another stack has to run this task; [`NONE`] at the end.
    Leave(u32),
}

/// The body of every worker.
pub(crate) fn step_loop(first: u32) {
    WORLD.with(|world| world.step_loop(first));
}

impl World {
    /// Polls one task after another until one is picked whose poll is suspended on another
    /// stack, or until the iteration is over.
    fn step_loop(&self, first: u32) {
        let (budget, mut turn) = self.with(|core, decider| {
            let budget = if core.config.coop_budget { BUDGET } else { Running::UNLIMITED };
            (budget, core.begin_turn(first, decider))
        });
        loop {
            turn = match turn {
                Turn::Poll { key, runnable, aborted } => self.poll_task(key, runnable, aborted, budget),
                Turn::Wake => {
                    self.running.set(Running::NOBODY);
                    self.wake_due();
                    self.with(Core::next_turn)
                }
                Turn::Leave(next) => {
                    self.running.set(Running::NOBODY);
                    self.next_key.set(next);
                    return;
                }
            }
        }
    }

    /// Polls a task, and decides what comes next.
    #[inline]
    fn poll_task(&self, key: u32, mut runnable: Runnable, aborted: bool, budget: u8) -> Turn {
        self.running.set(Running {
            key,
            waker: runnable.waker.data(),
            budget,
            may_block: false,
            untouched: true,
        });
        let result = catch_unwind(AssertUnwindSafe(|| {
            if aborted {
                runnable.body.as_mut().cancel();
                return Poll::Ready(());
            }
            let mut cx = Context::from_waker(&runnable.waker);
            runnable.body.as_mut().poll(&mut cx)
        }));
        let closing = self.phase.get() != Phase::Running;
        match result {
            Ok(Poll::Pending) if closing => self.with(|core, _| core.put_back(key, runnable)),
            Ok(Poll::Pending) if !self.has_deferred.get() => {
                return self.with(|core, decider| {
                    core.end_poll(key, runnable, decider);
                    core.next_turn(decider)
                });
            }
            Ok(Poll::Pending) => {
                self.with(|core, decider| core.end_poll(key, runnable, decider));
            }
            Ok(Poll::Ready(())) => self.finish(key, runnable),
            Err(payload) => self.poll_panicked(key, runnable, payload),
        }
        self.running.set(Running::NOBODY);
        if closing {
            return Turn::Leave(NONE);
        }
        self.wake_deferred();
        self.with(Core::next_turn)
    }

    /// A task is over: drops what is left of it outside the core.
    fn finish(&self, key: u32, runnable: Runnable) {
        let locals = self.with(|core, decider| core.exit(key, decider));
        let dropped = catch_unwind(AssertUnwindSafe(|| {
            drop(runnable);
            drop(locals);
        }));
        self.running.set(Running::NOBODY);
        if dropped.is_err() {
            let kind = panics::take_failure(None);
            self.with(|core, _| core.fail(kind));
        }
    }

    /// A poll, or a destructor inside it, panicked.
    #[cold]
    fn poll_panicked(&self, key: u32, mut runnable: Runnable, payload: Box<dyn Any + Send>) {
        if payload.is::<Closing>() || self.phase.get() != Phase::Running {
            let _ = catch_unwind(AssertUnwindSafe(|| {
                drop(payload);
                runnable.body.as_mut().cancel();
            }));
            panics::forget();
            return self.finish(key, runnable);
        }
        let kind = panics::take_failure(Some(&*payload));
        // The future is dropped here; should that panic too, the first panic is what counts.
        let heard =
            catch_unwind(AssertUnwindSafe(|| runnable.body.as_mut().panicked(payload)));
        panics::forget();
        let heard = heard.unwrap_or(false);
        self.with(|core, _| core.panicked(key, kind, heard));
        self.finish(key, runnable);
    }

    fn wake_deferred(&self) {
        if self.has_deferred.replace(false) {
            let deferred = std::mem::take(&mut *self.deferred.borrow_mut());
            deferred.into_iter().for_each(std::task::Waker::wake);
        }
    }

    /// The scenario's own task is over, with this result.
    pub(crate) fn main_finished(&self, result: Result<(), String>) {
        self.with(|core, _| {
            if let Err(message) = result {
                core.fail(FailureKind::Error { message });
            }
            core.conclude();
        });
    }
}

impl Core {
    /// A task was picked that is not suspended.
    #[inline]
    fn begin_turn(&mut self, key: u32, decider: &mut dyn Decider) -> Turn {
        let (runnable, aborted) = self.begin_poll(key, decider);
        Turn::Poll { key, runnable, aborted }
    }

    /// Decides, and begins with what was picked.
    #[inline]
    fn next_turn(&mut self, decider: &mut dyn Decider) -> Turn {
        match self.next(NONE, decider) {
            Next::Run(key) if self.actions[key as usize].state & state::FROZEN != 0 => {
                Turn::Leave(key)
            }
            Next::Run(key) => self.begin_turn(key, decider),
            Next::Wake => Turn::Wake,
            Next::End => Turn::Leave(NONE),
        }
    }

    /// The scenario is over: so is the iteration, whatever other tasks are alive.
    fn conclude(&mut self) {
        if let Some((_, kind)) = self.unobserved.first() {
            let kind = kind.clone();
            self.fail(kind);
        }
        let alive = |a: &&Action| a.kind == ActionKind::Run && a.state & state::DONE == 0;
        let tasks = self.actions.iter().filter(alive).count() as u32 - 1;
        if self.config.fail_on_leak && tasks > 0 {
            self.fail(FailureKind::Leaked { tasks });
        }
        self.end.get_or_insert(Outcome::Passed);
    }

    /// While closing: keeps a body that is still to be dropped.
    fn put_back(&mut self, key: u32, runnable: Runnable) {
        let action = self.action(key);
        action.state &= !(state::RUNNING | state::FROZEN);
        self.task(key).runnable = Some(runnable);
        self.task(key).worker = NONE;
    }
}
