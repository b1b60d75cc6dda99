//! Failures that nothing ends but a limit: a test that hangs, tasks that wait for each other beside others
//! that go on. Which one a cut iteration shows, since when, and where.
//!
//! All of it is read from what was recorded of a replay, so that exploring pays nothing for it.

use super::campaign::Campaign;
use super::circling;
use super::hang::{STANDSTILLS, hanging};
use crate::words::explanation::{Explanation, TaskStory};
use crate::words::{Failure, FailureKind, Outcome};

impl Campaign {
    /// What a recorded iteration shows: if it was cut, more than its outcome says.
    pub(super) fn shown(&self, outcome: Outcome, explanation: &Explanation) -> Outcome {
        self.with_hangs(judged(outcome, explanation), explanation)
    }
}

/// What an iteration that was cut says nothing of, and whoever replayed it with recording on can
/// see: some tasks can never go on.
pub(super) fn judged(outcome: Outcome, explanation: &Explanation) -> Outcome {
    let Outcome::Cut(limit) = outcome else {
        return outcome;
    };
    let stuck = stuck_together(explanation);
    let waiting = stuck.len() as u32;
    if waiting == 0 {
        return outcome;
    }
    let kind = FailureKind::PartialDeadlock { waiting, limit };
    let step = last_step(&stuck, explanation);
    Outcome::Failed(Failure { kind, step })
}

fn stuck_together(explanation: &Explanation) -> Vec<&TaskStory> {
    let stuck = explanation.stuck_together();
    let tasks = explanation.tasks.iter();
    tasks.filter(|story| stuck.contains(&story.task)).collect()
}

/// The tasks that stand for good.
fn stuck<'a>(kind: &FailureKind, explanation: &'a Explanation) -> Vec<&'a TaskStory> {
    match kind {
        FailureKind::Hang { .. } => hanging(explanation).into_iter().collect(),
        _ => stuck_together(explanation),
    }
}

/// Operations and places at which they stand.
pub(super) fn stand(kind: &FailureKind, explanation: &Explanation) -> Vec<String> {
    let stuck = stuck(kind, explanation).into_iter();
    let waits = stuck.flat_map(|story| &story.waits);
    waits
        .map(|wait| format!("{} {}", wait.op, wait.site))
        .collect()
}

/// The last step of one of these tasks.
fn last_step(stuck: &[&TaskStory], explanation: &Explanation) -> u64 {
    let of_one = |name: &str| stuck.iter().any(|story| story.name == name);
    let steps = explanation.steps.iter().rev();
    let mut steps = steps.filter(|step| step.task.as_deref().is_some_and(of_one));
    steps.next().map_or(0, |step| step.step)
}

/// How many steps it takes to see that tasks stand for good which began to stand at step `since`. A hang shows
/// by how often nothing but a timer could happen.
pub(super) fn steps_to_see(kind: &FailureKind, since: u64, explanation: &Explanation) -> u64 {
    if matches!(kind, FailureKind::Endless) {
        return circling::steps_to_see(since, explanation);
    }
    let story = hanging(explanation).filter(|_| matches!(kind, FailureKind::Hang { .. }));
    let (Some(story), Some(last)) = (story, explanation.steps.last()) else {
        return since;
    };
    let before = explanation.standstills - story.standstills;
    let each = last.step.saturating_sub(since) / story.standstills.max(1) + 1;
    since.saturating_add(each.saturating_mul(STANDSTILLS.max(before)))
}
