//! From a failing trace to a report: replays it with recording on, so that exploring pays nothing
//! for detail.

use super::board::Found;
use super::campaign::Campaign;
use super::result::{FailureReport, InOrder, Origin, Report, StoppedBy};
use super::same::{alike, but_for_numbers, equal};
#[cfg(not(unix))]
use super::shrink::Departure;
use super::watched::{self, Lost, Told};
use crate::execution::last_words;
use crate::execution::run::{Entangled, Finished};
use crate::execution::stacks;

use crate::words::explanation::{Explanation, TaskState};
use crate::words::{Failure, FailureKind, Limit, Outcome, ReplayToken, Seed, Trace, WorldConfig};
use cct_interpose::Blocks;
use std::mem::discriminant;
use std::sync::Arc;

impl Campaign {
    /// Everything a replay of an iteration needs.
    fn token(&self, world: &WorldConfig, trace: &Trace, schedule_hash: u64) -> ReplayToken {
        ReplayToken::new(&self.checker.name, world, trace.clone(), schedule_hash)
    }

    /// Runs a trace with recording on, on a fresh thread. The world need not close for that: what is suspended in the
    /// middle, or a destructor that waits for it, may keep it from that.
    ///
    /// # Errors
    /// When a poll does not return, or would abort the process. The thread is lost then.
    pub(super) fn recorded(
        self: &Arc<Self>,
        world: &WorldConfig,
        trace: &Trace,
    ) -> Result<Recorded, Lost> {
        let (campaign, world, trace) = (self.clone(), world.clone(), trace.clone());
        let recorded = watched::on_fresh_thread(self.checker.patience(), move |tell| {
            let over = |finished| tell(Recorded::from(finished));
            campaign.told(|| campaign.again_and_tell(&world, &trace, &over));
        });
        recorded.map(|Told { told, said }| told.and_then_said(said))
    }

    /// The story of a shorter schedule than the one that was found. `None` if it does not fail in the same
    /// way when it is replayed.
    pub(super) fn explain_shorter(
        self: &Arc<Self>,
        world: &WorldConfig,
        trace: &Trace,
        kind: &FailureKind,
    ) -> Option<(Failure, Explanation)> {
        let recorded = self.recorded(world, trace).ok()?;
        match self.shown(recorded.outcome, &recorded.explanation) {
            Outcome::Failed(failure) if alike(kind, &failure.kind) => {
                Some((failure, recorded.explanation))
            }
            _ => None,
        }
    }

    /// Replays a token instead of exploring.
    pub(super) fn replay_token(self: &Arc<Self>, token: &ReplayToken, origin: Origin) -> Report {
        let mut world = self.checker.world.clone();
        token.configure(&mut world);
        if self.checker.usual_limits {
            world.limits.raise();
        }
        let mut report = self.blank_report();
        report.stopped_by = StoppedBy::Replay;
        report.planned = 1;
        report.iterations = 1;
        // Before anything runs in this process, where others are to be copied from it.
        #[cfg(unix)]
        let (apart, in_order) = match self.is_apart() {
            true => (self.departures_apart(token), self.in_order_apart(&world)),
            false => (None, None),
        };
        #[cfg(not(unix))]
        let (apart, in_order): (Option<Vec<Departure>>, Option<FailureKind>) = (None, None);
        let recorded = match self.recorded(&world, &token.trace) {
            Ok(recorded) => recorded,
            Err(lost) => {
                report.failure = Some(self::lost(self, world, origin, lost, &token.trace));
                return report;
            }
        };
        let Recorded {
            outcome,
            steps,
            decisions,
            hash,
            explanation,
            ..
        } = recorded;
        let whole = token.trace.decisions().len();
        (report.coverage.steps, report.coverage.schedules) = (steps, 1);
        let failure = match self.shown(outcome, &explanation) {
            Outcome::Failed(Failure {
                kind: FailureKind::Nondeterminism { message },
                ..
            }) if message.starts_with("replay diverged") => {
                report.error = Some(format!(
                    "{message}. Remedy: run the test without the token to find the failure anew"
                ));
                return report;
            }
            Outcome::Failed(failure) => failure,
            Outcome::Passed if decisions < whole as u64 => {
                report.error = Some(format!(
                    "the replay ended after {decisions} of {whole} decisions: the program has changed \
                     since the trace was recorded. Remedy: run the test without the token to find the \
                     failure anew"
                ));
                return report;
            }
            Outcome::Passed | Outcome::Cut(_) => {
                let note = if token.ended_like(hash) {
                    ""
                } else {
                    ", and the program no longer goes through the states it went through then"
                };
                report.warnings.push(format!(
                    "the token was replayed and nothing failed: all {whole} decisions fit{note}"
                ));
                return report;
            }
        };
        let strategy = "replay".to_owned();
        let (seed, token) = (Seed(token.noise.0), token.clone());
        let mut failure = FailureReport::new(failure, origin, strategy, seed, token, explanation);
        match &apart {
            Some(departures) => failure.tell(departures),
            None if self.is_apart() => {}
            None => self.find_departures(&world, &mut failure),
        }
        failure.in_order = in_order.map(|plain| InOrder::as_it_fails(&plain, &failure));
        report.failure = Some(failure);
        report
    }
}

pub(super) struct Recorded {
    pub(super) outcome: Outcome,
    pub(super) steps: u64,
    decisions: u64,
    hash: u64,
    pub(super) explanation: Explanation,
    last_task: Option<String>,
}

impl Recorded {
    /// It ended like this, and then said that the process would be aborted.
    fn and_then_said(mut self, kind: Option<FailureKind>) -> Recorded {
        let may_fail = !matches!(self.outcome, Outcome::Failed(_));
        if let Some(kind) = kind.filter(|_| may_fail) {
            let step = self.steps;
            self.outcome = Outcome::Failed(Failure { kind, step });
        }
        self
    }
}

impl From<Finished> for Recorded {
    fn from(finished: Finished) -> Recorded {
        let Finished {
            end,
            explanation,
            last_task,
            ..
        } = finished;
        Recorded {
            outcome: end.outcome,
            steps: end.steps,
            decisions: end.decisions,
            hash: end.schedule_hash,
            explanation: *explanation.unwrap_or_default(),
            last_task,
        }
    }
}

/// Explains a failing iteration.
pub(super) fn explain(campaign: &Arc<Campaign>, found: &Found) -> FailureReport {
    let world = campaign.world(found.index);
    let mut failure = found.failure.clone();
    let mut reproduced = false;
    let (recorded, mut other) = match campaign.recorded(&world, &found.trace) {
        Ok(recorded) => (Some(recorded), None),
        Err(lost) => (None, Some(lost.kind.unwrap_or_else(unknown_poll))),
    };
    let judge =
        |recorded: &Recorded| campaign.shown(recorded.outcome.clone(), &recorded.explanation);
    if let Some(Outcome::Failed(again)) = recorded.as_ref().map(judge) {
        // Of one in a process of its own nothing else is known.
        let unknown = matches!(again.kind, FailureKind::Uncontrolled { .. }) || campaign.is_apart();
        reproduced = discriminant(&again.kind) == discriminant(&failure.kind) || unknown;
        if unknown {
            failure = again;
        } else if reproduced && !equal(&again.kind, &failure.kind) {
            other = Some(again.kind);
        }
    }
    // A run that was checked twice failed because the second differed: the trace itself passes, or
    // no longer fits.
    if matches!(failure.kind, FailureKind::Nondeterminism { .. }) {
        reproduced = true;
        other = None;
    }
    let (index, strategy) = (found.index, found.strategy.clone());
    let seed = campaign.iteration(index).seed;
    let token = campaign.token(&world, &found.trace, found.schedule_hash);
    let explanation = recorded.map(|recorded| recorded.explanation);
    let again = other.as_ref();
    let counts_on = again.is_some_and(|again| but_for_numbers(&failure.kind, again));
    let story = explanation.unwrap_or_default();
    FailureReport {
        reproduced,
        again: other,
        counts_on,
        ..FailureReport::new(
            failure,
            Origin::Iteration(index),
            strategy,
            seed,
            token,
            story,
        )
    }
}

fn unknown_poll() -> FailureKind {
    FailureKind::Stuck {
        task: "unknown".to_owned(),
    }
}

/// Explains a lost thread: everything up to the step before it.
pub(super) fn lost(
    campaign: &Arc<Campaign>,
    world: WorldConfig,
    origin: Origin,
    Lost {
        step,
        kind,
        threads,
        stack,
    }: Lost,
    trace: &Trace,
) -> FailureReport {
    if kind.is_some() {
        last_words::report_begins();
    }
    let short = WorldConfig {
        stop_after: Some(step.saturating_sub(1)),
        fail_on_limit: false,
        ..world.clone()
    };
    let recorded = campaign.recorded(&short, trace).ok();
    let up_to_it = recorded
        .as_ref()
        .is_some_and(|recorded| match &recorded.outcome {
            Outcome::Cut(limit) => *limit == Limit::Steps,
            // What is dropped aborts there as well.
            Outcome::Failed(failure) => kind.as_ref() == Some(&failure.kind),
            Outcome::Passed => false,
        });
    let (last, mut explanation) = recorded
        .map(|recorded| (recorded.last_task, recorded.explanation))
        .unwrap_or_default();
    let task = last.filter(|_| up_to_it);
    // The record ends before the step in which it ran.
    let mut stories = explanation.tasks.iter_mut();
    if let Some(story) = stories.find(|story| Some(&story.name) == task.as_ref()) {
        story.state = TaskState::Running;
    }
    let seed = match origin {
        Origin::Iteration(index) => campaign.iteration(index).seed,
        _ => Seed(world.noise.0),
    };
    // A panic that would abort the process waits for nobody.
    let threads = if kind.is_some() {
        Entangled::default()
    } else {
        threads
    };
    let stuck = || task.map_or_else(unknown_poll, |task| FailureKind::Stuck { task });
    let kind = kind.unwrap_or_else(stuck);
    let main = explanation.tasks.first();
    let place = main.map_or("", |main| main.spawned_at.as_str());
    let stuck_at = stack.map_or_else(Vec::new, |stack| stacks::places_as(&stack, place));
    let strategy = campaign.blank_report().strategy;
    let token = campaign.token(&world, trace, 0);
    FailureReport {
        reproduced: up_to_it,
        threads_wait: threads.visited || threads.refused,
        refused_thread: threads.refused,
        joins_thread: threads.blocks == Blocks::Thread,
        awaits_machine: threads.blocks == Blocks::Machine,
        stuck_at,
        ..FailureReport::new(
            Failure { kind, step },
            origin,
            strategy,
            seed,
            token,
            explanation,
        )
    }
}
