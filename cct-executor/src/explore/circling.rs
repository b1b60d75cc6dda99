//! Schedules in which the test does the same again and again, and never comes to its end: it asks for what will not come
//! any more, or waits beside a ticker, or beside tasks that wake each other.
//!
//! What holds of a test that hangs (`hang.rs`, rules 1, 2 and 4) holds here as well, and more is asked for, as a test may
//! mean to wait long:
//!
//! 1. In the second half of the steps there are few different ones, and nothing but a timer could happen for a thousand
//!    times and more, where whoever the test waits for takes part; or there are many steps, whoever it waits for takes
//!    part or waits, and nobody looks at a clock, which goes on slowly where something always can.
//! 2. No timer is far off that might end it: all are due within a tenth of the time for which this has gone on.
//! 3. It goes on so for a million steps where all goes its plain way, and values are drawn at random.

use crate::words::explanation::{Explanation, Step, TaskState};
use std::collections::BTreeSet;

/// How often nothing but a timer could happen, at least.
pub(super) const ROUNDS: u64 = 1_000;

/// Steps in which a circle shows where something can always go on, at least.
const BUSY_STEPS: u64 = 5_000;

/// Different steps of a circle, at most.
const STEPS_MAX: usize = 64;

/// Whether something could go on all the time, or most of it.
pub(super) fn is_busy(explanation: &Explanation) -> bool {
    explanation.standstills < ROUNDS
}

/// The last step before the test began to go round, if it does.
pub(super) fn circling(explanation: &Explanation) -> Option<u64> {
    let steps = &explanation.steps[..];
    let busy = is_busy(explanation);
    if busy && (steps.len() as u64) < BUSY_STEPS {
        return None;
    }
    let (first, second) = steps.split_at(steps.len() / 2);
    let mut circle = BTreeSet::new();
    for step in second {
        circle.insert(what(step));
        if circle.len() > STEPS_MAX {
            return None;
        }
    }
    if busy && explanation.last_look >= second.first()?.step {
        return None;
    }
    let waited_for = explanation.awaited().last()?;
    let name = Some(waited_for.name.as_str());
    let takes_part = circle.iter().any(|(task, ..)| *task == name);
    // Where only timers wake the others, that is a hang.
    let waits = waited_for.state == TaskState::Waiting && busy;
    if !(takes_part || waits) {
        return None;
    }
    let before = first.iter().rposition(|step| !circle.contains(&what(step)));
    let (since, since_ns) = before.map_or((0, 0), |at| (steps[at].step, steps[at].time_ns));
    let now_ns = steps.last()?.time_ns;
    let off_ns = explanation.last_deadline_ns.saturating_sub(now_ns);
    (off_ns <= (now_ns - since_ns) / 10).then_some(since)
}

fn what(step: &Step) -> (Option<&str>, &str, Option<&str>) {
    (step.task.as_deref(), &step.what, step.site.as_deref())
}

/// How many steps it takes to see that a test goes round which has begun to at step `since`.
pub(super) fn steps_to_see(since: u64, explanation: &Explanation) -> u64 {
    // The second half is to begin after it.
    let first_half = since.saturating_mul(2);
    if is_busy(explanation) {
        return first_half.saturating_add(BUSY_STEPS);
    }
    let last = explanation.steps.last().map_or(since, |step| step.step);
    let each = last.saturating_sub(since) / explanation.standstills.max(1) + 1;
    first_half.saturating_add(each.saturating_mul(ROUNDS))
}
