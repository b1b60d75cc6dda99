//! The step loop: poll, decide, poll, decide... on a worker's stack.

use super::close::Closing;
use super::core::{Core, NONE, state};
use super::decide::Next;
use super::decider::Decider;
use super::panics;
use super::world::{Phase, Running, WORLD, World};
use crate::raw::task::Lent;
use crate::words::{FailureKind, Outcome};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

/// tokio's budget of operations in one poll.
const BUDGET: u8 = 128;

/// What the step loop does next.
pub(crate) enum Turn {
    Poll(Begun),
    /// Wakers of foreign make are due.
    Wake,
    /// Another stack has to run the task; [`NONE`] at the end.
    Leave(u32),
}

/// A task whose poll begins.
pub(crate) struct Begun {
    pub(crate) key: u32,
    pub(crate) waker: *const (),
    pub(crate) aborted: bool,
    pub(crate) body: Lent,
}

impl Core {
    /// How many operations a poll may do.
    pub(crate) fn budget_of_a_poll(&self) -> u8 {
        if self.config.coop_budget {
            BUDGET
        } else {
            Running::UNLIMITED
        }
    }
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
            let budget = core.budget_of_a_poll();
            (budget, core.begin_poll(first, decider))
        });
        loop {
            let pending = match turn {
                Turn::Poll(begun) => match self.poll_task(begun, budget) {
                    Ok(pending) => pending,
                    Err(next) => {
                        turn = next;
                        continue;
                    }
                },
                Turn::Wake => {
                    self.running.set(Running::NOBODY);
                    self.wake_due();
                    None
                }
                Turn::Leave(key) => {
                    self.running.set(Running::NOBODY);
                    self.next_key.set(key);
                    return;
                }
            };
            turn = self.with(|core, decider| {
                if let Some(key) = pending {
                    core.end_poll(key, decider);
                }
                core.next_turn(decider)
            });
        }
    }

    /// Polls a task. What is left to do when all is as usual, to note that it is not polled any more
    /// and to take the next decision, is left to the caller, who does both at once.
    #[inline(always)]
    fn poll_task(&self, begun: Begun, budget: u8) -> Result<Option<u32>, Turn> {
        let Begun {
            key,
            waker,
            aborted,
            body,
        } = begun;
        self.running.set(Running {
            key,
            waker,
            budget,
            may_block: false,
            unscheduled: false,
            untouched: true,
            poll: self.next_poll(),
            gave_way: 0,
            heir_of: 0,
            cancelled: aborted,
        });
        let poll = || {
            if aborted {
                body.cancel();
                return Poll::Ready(());
            }
            body.poll()
        };
        let result = match self.open.get() {
            true => self.poll_where_it_belongs(key, poll),
            false => catch_unwind(AssertUnwindSafe(poll)),
        };
        let usual = self.phase.get() == Phase::Running && !self.has_deferred.get();
        match result {
            Ok(Poll::Pending) if usual => Ok(Some(key)),
            result => self.settle(key, result),
        }
    }

    #[cold]
    fn poll_where_it_belongs(
        &self,
        key: u32,
        poll: impl FnOnce() -> Poll<()>,
    ) -> std::thread::Result<Poll<()>> {
        let (mut poll, mut result) = (Some(poll), None);
        let mut once = || {
            if let Some(poll) = poll.take() {
                result = Some(catch_unwind(AssertUnwindSafe(poll)));
            }
        };
        if !self.poll_on_its_thread(key, &mut once) {
            once();
        }
        result.expect("cct bug: a poll was forgotten")
    }

    /// What follows a poll that ended, panicked, deferred wake-ups, or went on while the world
    /// closed.
    fn settle(&self, key: u32, result: std::thread::Result<Poll<()>>) -> Result<Option<u32>, Turn> {
        let closing = self.phase.get() != Phase::Running;
        if !closing {
            self.fire_advanced(key);
        }
        match result {
            Ok(Poll::Pending) if closing => self.with(|core, _| core.left_over(key)),
            Ok(Poll::Pending) => self.with(|core, decider| core.end_poll(key, decider)),
            Ok(Poll::Ready(())) => self.finish(key),
            Err(payload) => self.poll_panicked(key, payload),
        }
        self.running.set(Running::NOBODY);
        if closing {
            return Err(Turn::Leave(NONE));
        }
        if self.has_deferred.get() {
            self.settle_deferred(key);
        }
        Ok(None)
    }

    #[cold]
    fn settle_deferred(&self, key: u32) {
        let may_rest = self.with(|core, _| core.may_rest(key));
        self.wake_deferred();
        if may_rest {
            self.with(|core, decider| core.rests_after_all(key, decider));
        }
    }

    /// A task is over: drops what is left of it outside the core.
    fn finish(&self, key: u32) {
        let (body, locals) = self.with(|core, decider| {
            let locals = core.exit(key, decider);
            (core.task(key).take_body(), locals)
        });
        let dropped = catch_unwind(AssertUnwindSafe(|| {
            drop(body);
            drop(locals);
        }));
        self.running.set(Running::NOBODY);
        if dropped.is_err() {
            let kind = panics::failure_of(None);
            self.with(|core, _| core.fail(kind));
        }
    }

    /// A poll, or a destructor inside it, panicked.
    #[cold]
    fn poll_panicked(&self, key: u32, payload: Box<dyn Any + Send>) {
        let mut body = self
            .with(|core, _| core.task(key).take_body())
            .expect("cct bug: the body of a task that was polled is gone");
        if payload.is::<Closing>() || self.phase.get() != Phase::Running {
            let _ = catch_unwind(AssertUnwindSafe(|| {
                drop(payload);
                body.cancel();
            }));
            panics::forget();
            self.with(|core, _| core.task(key).body = Some(body));
            return self.finish(key);
        }
        let kind = panics::failure_of(Some(&*payload));
        // The future is dropped here; should that panic too, the first panic is what counts.
        let heard = catch_unwind(AssertUnwindSafe(|| body.panicked(payload)));
        // Code around which there is a world may never ask for a task's panic, as on tokio.
        let heard = heard.unwrap_or(false) || self.lone.get();
        self.with(|core, _| {
            core.task(key).body = Some(body);
            if !core.panic_is_crash(key) {
                core.panicked(key, kind, heard);
            }
        });
        self.finish(key);
    }

    /// Wakes whom the poll that is over has deferred, the last one first, as tokio does.
    pub(crate) fn wake_deferred(&self) {
        if self.has_deferred.replace(self.advanced.get() != NONE) {
            let deferred = std::mem::take(&mut *self.deferred.borrow_mut());
            deferred.into_iter().rev().for_each(std::task::Waker::wake);
        }
    }

    /// The scenario's own task is over, with this result.
    pub(crate) fn main_finished(&self, result: Result<(), String>) {
        self.with(|core, _| {
            if let Err(message) = result {
                core.fail(FailureKind::Error { message });
            }
            core.scenario_over();
        });
    }
}

impl Core {
    /// Decides, and begins with what was picked.
    #[inline(always)]
    fn next_turn(&mut self, decider: &mut dyn Decider) -> Turn {
        match self.next_inlined(NONE, decider) {
            Next::Run(key) => self.begin_poll(key, decider),
            Next::Wake => Turn::Wake,
            Next::End | Next::Crash => Turn::Leave(NONE),
        }
    }

    /// The scenario is over: so is the iteration, whatever other tasks are alive.
    fn scenario_over(&mut self) {
        if let Some((key, kind)) = self.unobserved.first().cloned() {
            self.fail_unheard(key, kind);
        }
        let tasks = self.left_alone() - 1; // the scenario's own
        if self.config.fail_on_leak && tasks > 0 {
            self.fail(FailureKind::Leaked { tasks });
        }
        self.conclude(Outcome::Passed);
    }

    /// While closing: a poll has returned, and the task is still to be dropped.
    fn left_over(&mut self, key: u32) {
        let action = self.action(key);
        action.state &= !(state::RUNNING | state::FROZEN);
        self.take_worker(key);
    }
}
