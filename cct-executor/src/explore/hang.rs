//! Schedules in which the test never comes to its end, while heartbeats and other timers keep going.
//!
//! Nothing ends such an iteration but a limit, and limits are no failures. But where the test ends in other
//! schedules, and in this one waits while all that can happen is that a timer fires, again and again, it
//! hangs: what it waits for would have come. So it does where nothing is left that could wake who it waits for.
//!
//! 1. Only under limits that nobody has chosen: whoever sets one may mean the test to go on.
//! 2. Another iteration has come to its end in a tenth of the steps at most; or every waker is gone of the task that
//!    the test waits for, and then none need have.
//! 3. Nothing but a timer could happen for very often, so nobody was merely held back; nothing was ready.
//! 4. Nor is it the values that were drawn: strategies that always take the same one keep what retries
//!    failing for ever, which no fair world does. So it has to hang as well where all goes its plain way and values
//!    are drawn at random, from the last step on of whoever does not go on for ever beside it.
//!
//! 5. Nor is another task's timer still to fire that was set by then, as that may bring it. Where there is one the iteration
//!    goes on so under higher limits, and has to hang when it has fired.
//!
//! Looked at once, when a run is over and nothing else has failed: which iterations were cut first does not
//! hang on the number of workers. Does not: judge clocks that race, under which time passes in other ways.

use super::board::{Found, Record};
use super::campaign::Campaign;
use super::circling::{circling, is_busy};
use crate::words::explanation::{Explanation, TaskState, TaskStory};
use crate::words::{Failure, FailureKind, Limit, Limits, Outcome, Trace};
use std::collections::BTreeSet;
use std::sync::Arc;

/// How often nothing but a timer could happen, at least, while the test waited.
pub(super) const STANDSTILLS: u64 = 100;

/// How many are looked at. A strategy that is not fair may hold back for ever whoever the others wait for.
pub(super) const CUTS: usize = 3;

/// An iteration that was cut at a limit.
#[derive(Clone)]
pub(super) struct CutOff {
    pub(super) index: u64,
    pub(super) trace: Trace,
    pub(super) schedule_hash: u64,
    pub(super) strategy: String,
}

/// What a cut iteration shows.
pub(super) enum LookedAt {
    Nothing,
    /// It would be a failure if others came to their end.
    WouldHang,
    /// The test hangs in it: it ends in others, or waits for a task that nothing can wake.
    Hangs(Found),
}

impl Campaign {
    /// Whether cut iterations are worth a look.
    pub(super) fn judges_hangs(&self) -> bool {
        let limits = &self.checker.world.limits;
        let steps = [limits.usual_steps, limits.more_steps()].contains(&limits.steps);
        steps && limits.time == Limits::TIME
    }

    /// What the first iterations show that were cut.
    pub(super) fn look_at_cuts(
        self: &Arc<Self>,
        records: &[Record],
        mut cuts: Vec<CutOff>,
    ) -> LookedAt {
        cuts.sort_by_key(|cut| cut.index);
        cuts.truncate(CUTS);
        let mut first = LookedAt::Nothing;
        for (index, cut) in cuts.into_iter().enumerate() {
            match self.look_at_cut(records, cut) {
                LookedAt::Hangs(found) => return LookedAt::Hangs(found),
                looked if index == 0 => first = looked,
                _ => {}
            }
        }
        first
    }

    fn look_at_cut(self: &Arc<Self>, records: &[Record], cut: CutOff) -> LookedAt {
        let looked = Some(cut).filter(|_| self.judges_hangs()).and_then(|cut| {
            let steps_of = |record: &Record| (record.index == cut.index).then_some(record.steps);
            let steps = records.iter().find_map(steps_of)?;
            let ended = |record: &Record| record.cut.is_none() && !record.failed;
            let quick = |record: &Record| record.steps.saturating_mul(10) <= steps;
            let others_end = records.iter().any(|record| ended(record) && quick(record));
            let world = self.world(cut.index);
            let recorded = self.recorded(&world, &cut.trace).ok()?;
            let story = &recorded.explanation;
            let Outcome::Failed(failure) = self.with_hangs(recorded.outcome, story) else {
                return None;
            };
            let lost = |task: &TaskStory| task.unwakeable && task.waker_taken_at.is_some();
            let alone = !others_end && !hanging(story).is_some_and(lost);
            if alone && !is_busy(story) {
                return Some(LookedAt::WouldHang);
            }
            // Where there is always something to do, that may be work, and take as long as this.
            let fairly = self.hangs_fairly(&world, &cut.trace, &failure, story)
                && (!waits_beside_a_timer(story)
                    || self.hangs_in_the_end(&world, &cut.trace, &failure));
            if alone {
                return fairly.then_some(LookedAt::WouldHang);
            }
            fairly.then_some(LookedAt::Hangs(Found {
                index: cut.index,
                failure,
                trace: cut.trace,
                schedule_hash: cut.schedule_hash,
                strategy: cut.strategy,
            }))
        });
        looked.unwrap_or(LookedAt::Nothing)
    }

    /// What a replay of an iteration shows that was cut.
    pub(super) fn with_hangs(&self, outcome: Outcome, explanation: &Explanation) -> Outcome {
        let limits = matches!(
            outcome,
            Outcome::Cut(Limit::Steps | Limit::Decisions | Limit::Time)
        );
        if !(limits && self.judges_hangs()) {
            return outcome;
        }
        let hangs = hanging(explanation).map(|story| {
            let task = story.name.clone();
            (FailureKind::Hang { task }, since(story, explanation))
        });
        let circles = || Some((FailureKind::Endless, circling(explanation)?));
        match hangs.or_else(circles) {
            Some((kind, step)) => Outcome::Failed(Failure { kind, step }),
            None => outcome,
        }
    }
}

/// The last step of whoever does not go on as long as this task stands. What it waits for may have been lost long after
/// it began to wait.
fn since(story: &TaskStory, explanation: &Explanation) -> u64 {
    let goes_on = |other: &&TaskStory| other.standstills < story.standstills;
    let tasks = explanation.tasks.iter().filter(goes_on);
    let going_on: BTreeSet<&str> = tasks.map(|other| other.name.as_str()).collect();
    let is_one = |name: &str| !going_on.contains(name);
    let mut steps = explanation.steps.iter().rev();
    let last = steps.find(|step| step.task.as_deref().is_some_and(is_one));
    last.map_or(0, |step| step.step)
}

/// Whether another task sleeps that has slept for as long as whoever the test waits for has waited.
pub(super) fn waits_beside_a_timer(explanation: &Explanation) -> bool {
    let Some(story) = hanging(explanation) else {
        return false;
    };
    let sleeps = |other: &TaskStory| other.waits.iter().any(|wait| wait.op == "sleep");
    let mut tasks = explanation.tasks.iter();
    tasks.any(|other| other.standstills >= story.standstills / 2 && sleeps(other))
}

/// Whom the test waits for in vain: itself, or a task whose end it waits for.
pub(super) fn hanging(explanation: &Explanation) -> Option<&TaskStory> {
    let long = STANDSTILLS.max(explanation.standstills / 2);
    let in_vain = |story: &TaskStory| {
        let sleeps = story.waits.iter().any(|wait| wait.op == "sleep");
        let stands = matches!(
            story.state,
            TaskState::Waiting | TaskState::Paused | TaskState::Undriven
        );
        story.standstills >= long && stands && !sleeps
    };
    let all = explanation.awaited().all(in_vain);
    explanation.awaited().last().filter(|_| all)
}
