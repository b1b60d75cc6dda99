//! Time that passes although tasks are ready: for those who wait by waking themselves, in loops over yields or by futures
//! that ask to be polled again; and beside work that goes on and on.
//!
//! They are always ready, and under the strict clock time would stand still for ever: whatever they
//! wait for could not come, were it behind a timer. In reality time passes while they spin.
//!
//! 1. Only a world in which nothing else happens spins: for half of the steps that an iteration may
//!    have, or usually has if those are fewer, no task blocked, ended, began or was left unpolled, and
//!    nothing was picked but tasks. Then time moves to the next deadline as if the world were idle.
//! 2. Who was seen to spin for so long is believed sooner the next time.
//! 3. Where there is no deadline, a while passes for those who look at a clock: they wait until it is late.
//! 4. Where work goes on and on it takes time: once half of the steps that an iteration usually has were taken at one
//!    instant, each counts as a microsecond (a whole poll as four, and one that uses up its budget as 128 more), and the
//!    timer that is due by then fires. That is a guess at what a poll takes where nothing is optimised; a time limit of
//!    seconds is out of reach of the usual steps.
//! 5. It costs nothing while it looks for nothing: the step count is compared anyway.

use super::core::{Core, state};
use super::decider::Decider;
use crate::words::Granularity;
use crate::words::action::Sort;
use std::collections::BTreeSet;

/// How many steps more it takes once the tasks are known to spin.
const AGAIN: u64 = 1_000;
/// How long a step is taken to last where work goes on and on.
const STEP_NS: u64 = 1_000;
/// At granularity `await` a step is a whole poll: so many of the others...
const STEPS_OF_A_POLL: u64 = 4;
/// ...and so many more where it has used up its budget.
const STEPS_OF_A_BUDGET: u64 = 128;
/// How much time passes where there is no deadline.
const WHILE_NS: u64 = 10_000_000;

/// What is known of tasks that wake themselves.
#[derive(Default)]
pub(crate) struct Spin {
    /// The polls that ended are being looked at.
    looks: bool,
    /// Something else happened since.
    broken: bool,
    /// Since this step.
    since: u64,
    /// The time then.
    time_ns: u64,
    /// Who was polled meanwhile and woke itself.
    seen: BTreeSet<u32>,
    /// Who has spun until time moved.
    known: BTreeSet<u32>,
    /// How often a clock had been looked at when it was looked for spinning.
    clock_looks: u64,
    /// Since this step, about, no time has passed.
    still_since: u64,
    /// The time then.
    still_ns: u64,
    /// How many polls have used up their budget since.
    budgets: u64,
    /// Work has gone on for so long that a timer fired beside it.
    busy: bool,
    /// Time is to move.
    pub(crate) due: bool,
}

impl Spin {
    pub(crate) fn reset(&mut self) {
        self.looks = false;
        self.broken = false;
        self.since = 0;
        self.time_ns = 0;
        self.clock_looks = 0;
        for tasks in [&mut self.seen, &mut self.known] {
            // Hardly ever, and even clearing nothing takes its time.
            if !tasks.is_empty() {
                tasks.clear();
            }
        }
        self.still_since = 0;
        self.still_ns = 0;
        self.budgets = 0;
        self.busy = false;
        self.due = false;
    }

    /// Something happened that is no task's waking itself.
    #[inline]
    pub(crate) fn breaks(&mut self) {
        self.broken = true;
    }

    /// A poll of this task ended, with the task woken already or not.
    pub(crate) fn polled(&mut self, key: u32, notified: bool) {
        if !notified {
            self.broken = true;
        } else if self.looks {
            self.seen.insert(key);
        }
    }
}

impl Core {
    /// The poll of this task has used up its budget.
    #[cold]
    pub(crate) fn budget_is_spent(&mut self, key: u32) {
        self.spin.budgets += 1;
        self.note_no_budget(key);
    }

    /// How long a world has to spin before it is believed.
    fn patience(&self) -> u64 {
        let limits = &self.config.limits;
        (limits.steps.min(limits.usual_steps) / 2).max(1)
    }

    /// The last step that the iteration may take.
    pub(super) fn last_step(&self) -> u64 {
        self.config.stop_after.unwrap_or(self.config.limits.steps)
    }

    /// The step after which to look next.
    pub(super) fn next_look(&self) -> u64 {
        let looking = if self.spin.looks {
            AGAIN.min(self.patience())
        } else {
            // Who spins for half of the steps is seen at the second look, if not at the first.
            self.patience() / 4
        };
        let looking = looking.min(self.steps_until_due());
        self.last_step()
            .min(self.point.step.saturating_add(looking.max(1)))
    }

    /// Beside work that goes on and on: after how many steps the next timer may be due.
    fn steps_until_due(&self) -> u64 {
        let first = self.timers.first().filter(|_| self.spin.busy);
        first.map_or(u64::MAX, |first| {
            let left = first.deadline_ns.saturating_sub(self.point.time_ns);
            left / (STEP_NS * self.work(1, 1))
        })
    }

    /// How much work so many steps are, in which so many polls have used up their budget.
    fn work(&self, steps: u64, budgets: u64) -> u64 {
        match self.config.granularity {
            Granularity::Await => {
                let whole = budgets.saturating_mul(STEPS_OF_A_BUDGET);
                steps.saturating_mul(STEPS_OF_A_POLL).saturating_add(whole)
            }
            _ => steps,
        }
    }

    /// Whether all that is enabled, and not optional, is these tasks.
    fn all_are_among(&self, tasks: &BTreeSet<u32>) -> bool {
        let others = self
            .enabled
            .iter()
            .filter(|&&key| self.actions[key as usize].sort != Sort::Run || !tasks.contains(&key));
        others.count() == self.optional as usize
    }

    /// Whether whoever runs, and all others that could, have spun before: not where nobody has.
    fn all_are_known(&self) -> bool {
        let last = self.last();
        let runs = self.actions.get(last as usize);
        let runs = runs.is_some_and(|action| action.state & state::RUNNING != 0);
        let known = &self.spin.known;
        !known.is_empty() && (!runs || known.contains(&last)) && self.all_are_among(known)
    }

    /// Whether who spins may wait for time to pass, which moves only when the world is idle.
    fn may_wait_for_time(&mut self) -> bool {
        let looks = self.looks.ever();
        let looked = std::mem::replace(&mut self.spin.clock_looks, looks) != looks;
        self.timers.clock().waits_for_work() && (!self.timers.is_empty() || looked)
    }

    /// The world spins: time moves as if it were idle, or a while.
    pub(super) fn time_passes(&mut self, decider: &mut dyn Decider) {
        if self.stand_ends() {
            return;
        }
        if self.timers.is_empty() {
            self.advance_to(self.point.time_ns.saturating_add(WHILE_NS));
        } else {
            self.advance_to_next_timer(decider);
        }
    }

    /// Whether work has gone on for so long that the next timer is due.
    fn work_takes_time(&mut self) -> bool {
        let (step, time_ns) = (self.point.step, self.point.time_ns);
        if self.spin.still_ns != time_ns {
            self.spin.still_ns = time_ns;
            self.spin.still_since = step;
            self.spin.budgets = 0;
        }
        let steps = step - self.spin.still_since;
        let enough = steps > 0 && (self.spin.busy || steps >= self.patience());
        if !enough || self.looks.frozen || !self.timers.clock().waits_for_work() {
            return false;
        }
        let work = self.work(steps, self.spin.budgets);
        let by_now = time_ns.saturating_add(work.saturating_mul(STEP_NS));
        let is_due = self
            .timers
            .first()
            .is_some_and(|first| first.deadline_ns <= by_now);
        self.spin.busy |= is_due;
        is_due
    }

    /// Looks whether the world spins.
    #[cold]
    pub(super) fn look_for_spinning(&mut self) {
        if self.work_takes_time() {
            self.spin.due = true;
            return self.alert();
        }
        let (step, time_ns) = (self.point.step, self.point.time_ns);
        let goes_on = self.spin.looks && !self.spin.broken && self.spin.time_ns == time_ns;
        if !goes_on {
            let in_vain = self.spin.looks && self.spin.broken && self.spin.known.is_empty();
            let begins = self.may_wait_for_time() && !in_vain;
            self.spin.seen.clear();
            self.spin.looks = begins;
            self.spin.broken = false;
            self.spin.since = step;
            self.spin.time_ns = time_ns;
            self.closely = begins || self.looks_closely();
            return;
        }
        let long = self.all_are_known() || step - self.spin.since >= self.patience();
        if long && self.all_are_among(&self.spin.seen) {
            let seen = std::mem::take(&mut self.spin.seen);
            self.spin.known.extend(seen);
            self.spin.since = step;
            self.spin.due = true;
            self.alert();
        }
    }
}
