//! Yields that last, as on tokio's `current_thread` runtime.
//!
//! There a task that calls `yield_now` is put off until the queue of ready tasks is empty, or 61 polls later; so is
//! the future of `block_on` in whatever way it has woken itself, and of those put off it goes first. Tests for that
//! runtime count on it: one `yield_now`, and all others have got as far as they can.
//!
//! 1. A task rests only where [`WorldConfig`](crate::words::WorldConfig) says so, or in the world around a test whose own runtime has
//!    one thread: the scenario's own when its poll ends, or the one of its `block_on`, and it has been woken already, unless
//!    an operation in that poll gave way for a decision;
//!    another when it has yielded in that poll. And wherever it asks to, as who moves a paused clock does.
//! 2. Rests end when no other task is enabled, or after [`STEPS`]: that of the scenario's own task one poll before
//!    the others. Where that one alone is enabled, and does not rest, it has its poll before the others, too; they
//!    have their places by then. What may arrive, and timers that may fire early, are not waited for.
//! 3. Who is woken by somebody else meanwhile does not rest any longer, except for the scenario's own task.

use super::core::{Core, NONE, state};
use super::decider::Decider;
use super::run::MAIN;
use crate::words::action::Sort;
use crate::words::{Action, ActionKey, StepEvent};

/// tokio's 61 polls, with four scheduling points each. Who waits in a loop over yields for what the scenario does
/// next would never leave the world idle.
const STEPS: u64 = 61 * 4;

/// Who rests.
#[derive(Default)]
pub(super) struct Rests {
    main: bool,
    /// In its poll that goes on, an operation of the scenario's own task has given way for a decision: that it is woken
    /// at once does not mean that it yields.
    main_gave_way: bool,
    others: Vec<u32>,
    /// Who rests after its poll in any case.
    asked: Option<u32>,
    /// The scenario's own task has gone first: it is the turn of the others.
    others_are_due: bool,
    /// The step after which they have rested long enough, if anybody does.
    until: Option<u64>,
}

impl Rests {
    pub(super) fn clear(&mut self) {
        self.others.clear();
        (self.main, self.others_are_due, self.until) = (false, false, None);
        self.main_gave_way = false;
        self.asked = None;
    }
}

impl Core {
    /// From now on yields last.
    pub(crate) fn let_yields_last(&mut self) {
        self.config.lasting_yields = true;
        self.closely = self.looks_closely();
    }

    /// Whether others stand in the middle of a poll and could go on, but for closures that have a thread each; then this
    /// task, which yields, rests once its poll has ended.
    pub(crate) fn rests_for_polls(&mut self, key: u32) -> bool {
        let mut enabled = self.enabled.iter();
        let stands = enabled.any(|&other| {
            let action = &self.actions[other as usize];
            other != key
                && action.sort == Sort::Run
                && self.worker_of(other) != NONE
                && !self.tasks[action.subject as usize].blocking
        });
        if stands {
            self.rests.asked = Some(key);
            self.closely = true;
        }
        stands
    }

    /// The poll of a future that a task blocks on has ended, and the task was woken already. Whether it rests, as it runs
    /// the tasks of its runtime.
    pub(super) fn rests_in_block_on(
        &mut self,
        key: u32,
        notified: bool,
        decider: &mut dyn Decider,
    ) -> bool {
        if !(self.config.lasting_yields && self.drives_its_runtime(key)) {
            return false;
        }
        if key == MAIN {
            self.main_has_gone(decider);
        }
        let rests = notified && self.rests(key);
        self.rests.main_gave_way &= key != MAIN;
        rests
    }

    /// An operation of this task returns `Pending` for a decision, and nothing else.
    pub(super) fn gives_way(&mut self, key: u32) {
        self.gave_way = (key, self.point.step);
        self.rests.main_gave_way |= key == MAIN;
    }

    /// Whether a task whose poll has ended, and which was woken already, rests first.
    pub(super) fn rests(&mut self, key: u32) -> bool {
        let woke_itself = key == MAIN && !self.rests.main_gave_way;
        let action = &mut self.actions[key as usize];
        let yielded = action.state & (state::YIELDED | state::ABORTED) == state::YIELDED;
        let asked = self.rests.asked.take_if(|asked| *asked == key).is_some();
        let rests = asked || self.config.lasting_yields && (woke_itself || yielded);
        if rests {
            if key == MAIN {
                self.rests.main = true;
            } else {
                action.state &= !state::NOTIFIED; // so that others can wake it
                self.rests.others.push(key);
            }
            self.rest_until(self.point.step + STEPS);
        }
        rests
    }

    fn rest_until(&mut self, step: u64) {
        self.rests.until.get_or_insert(step);
        self.alert();
    }

    /// Whether this task is not enabled, and what it has deferred in its poll may make it rest.
    pub(super) fn may_rest(&self, key: u32) -> bool {
        key == MAIN || self.actions[key as usize].position == Action::NOWHERE
    }

    /// What this task has deferred in its poll has been woken: where that is itself, it rests.
    pub(super) fn rests_after_all(&mut self, key: u32, decider: &mut dyn Decider) {
        let woken = self.actions[key as usize].position != Action::NOWHERE;
        if woken && self.rests(key) {
            self.remove(key);
            if self.interests.readiness {
                decider.observe(&StepEvent::Blocked(ActionKey(key)));
            }
        }
        self.rests.main_gave_way &= key != MAIN;
    }

    /// Rests end, if there are any: that of the scenario's own task or, if its turn is over, those of the others.
    #[inline]
    pub(super) fn end_rests(&mut self, decider: &mut dyn Decider) -> bool {
        self.rests.until.take().is_some() && self.end_some_rests(decider)
    }

    fn end_some_rests(&mut self, decider: &mut dyn Decider) -> bool {
        let others = std::mem::take(&mut self.rests.others_are_due) || !self.rests.main;
        let ended = if others {
            self.end_rests_of_others(decider)
        } else {
            self.rests.main = false;
            self.others_are_due(decider);
            self.end_rest(MAIN, decider);
            true
        };
        if self.rests.main || self.rests.others_are_due {
            self.rest_until(self.point.step + STEPS);
            return ended || self.end_rests(decider);
        }
        ended
    }

    /// It is the turn of the others, once the scenario's own task has gone first.
    fn others_are_due(&mut self, decider: &mut dyn Decider) {
        let known = std::mem::replace(
            &mut self.rests.others_are_due,
            !self.rests.others.is_empty(),
        );
        if self.interests.readiness && !known {
            let others = self.rests.others.iter().rev();
            let due = others.filter(|&&key| self.has_yielded(key));
            due.for_each(|&key| decider.observe(&StepEvent::Due(ActionKey(key))));
        }
    }

    /// The scenario's own task has gone first, if it has rested: its poll has ended.
    pub(super) fn main_has_gone(&mut self, decider: &mut dyn Decider) {
        if self.rests.others_are_due {
            self.end_rests(decider);
        }
    }

    fn end_rests_of_others(&mut self, decider: &mut dyn Decider) -> bool {
        let mut ended = false;
        let mut others = std::mem::take(&mut self.rests.others);
        for key in others.drain(..).rev() {
            if self.has_yielded(key) {
                self.actions[key as usize].state |= state::NOTIFIED;
                self.end_rest(key, decider);
                ended = true;
            }
        }
        self.rests.others = others;
        ended
    }

    fn end_rest(&mut self, key: u32, decider: &mut dyn Decider) {
        self.insert(key);
        if self.interests.readiness {
            decider.observe(&StepEvent::Enabled(ActionKey(key)));
        }
    }

    /// Whether a task has yielded, and neither gone on since nor been woken.
    fn has_yielded(&self, key: u32) -> bool {
        let since = state::RUNNING | state::DONE | state::NOTIFIED;
        self.actions[key as usize].state & (since | state::YIELDED) == state::YIELDED
    }

    /// Whether it is only a rest that a task waits for.
    pub(super) fn is_resting(&self, key: u32) -> bool {
        match key {
            MAIN => self.rests.main,
            _ => self.rests.others.contains(&key) && self.has_yielded(key),
        }
    }

    /// Ends rests where it is time. Returns whether somebody still rests.
    pub(super) fn see_to_rests(&mut self, decider: &mut dyn Decider) -> bool {
        let Some(until) = self.rests.until else {
            return false;
        };
        // Where nothing is enabled but what is optional, the world is idle, which ends rests in its turn.
        let others = self.enabled.len() > self.optional as usize;
        let enabled = self.enabled.iter();
        let mut tasks = enabled.filter(|&&key| self.actions[key as usize].sort == Sort::Run);
        let first = tasks.next();
        let alone = others && first.is_none();
        // Had it not been woken, the rests of the others would be over: they have their places before it is polled.
        let only_main = first == Some(&MAIN) && tasks.next().is_none();
        if only_main && !self.rests.main && self.worker_of(MAIN) == NONE {
            self.others_are_due(decider);
        }
        if (alone || self.point.step > until) && self.end_rests(decider) {
            self.tell_parked(decider);
        }
        self.rests.until.is_some()
    }
}
