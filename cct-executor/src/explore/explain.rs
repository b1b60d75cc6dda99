//! From a failing trace to a report: replays it with recording on, so that exploring pays nothing
//! for detail.

use super::campaign::{Campaign, Found};
use super::result::{FailureReport, Origin, Report, StoppedBy};
use super::trace_log;
use crate::execution::run::Finished;
use crate::words::{
    Failure, FailureKind, Limit, Limits, Outcome, ReplayToken, Seed, Trace, WorldConfig,
};
use std::mem::discriminant;
use std::sync::Arc;

impl Campaign {
    /// Everything a replay of an iteration needs.
    fn token(&self, world: &WorldConfig, trace: &Trace, schedule_hash: u64) -> ReplayToken {
        ReplayToken::new(&self.checker.name, world, trace.clone(), schedule_hash)
    }

    /// Runs a trace with recording on, on a fresh thread.
    fn recorded(self: &Arc<Self>, world: &WorldConfig, trace: &Trace) -> Recorded {
        let (campaign, world, trace) = (self.clone(), world.clone(), trace.clone());
        let body = move || {
            trace_log::with_log(|| {
                let Finished { end, explanation, last_task, .. } =
                    campaign.again(&world, &trace, true);
                let explanation = explanation.unwrap_or_default();
                Recorded { outcome: end.outcome, hash: end.schedule_hash, explanation, last_task }
            })
        };
        std::thread::Builder::new()
            .name("cct-replay".to_owned())
            .stack_size(8 << 20)
            .spawn(body)
            .expect("cannot start a thread for a replay")
            .join()
            .unwrap_or_else(|payload| std::panic::resume_unwind(payload))
    }

    /// Replays a token instead of exploring.
    pub(super) fn replay_token(self: &Arc<Self>, token: &ReplayToken, origin: Origin) -> Report {
        let mut world = self.checker.world.clone();
        token.configure(&mut world);
        let recorded = self.recorded(&world, &token.trace);
        let mut report = self.blank_report();
        report.stopped_by = StoppedBy::Replay;
        report.planned = 1;
        report.iterations = 1;
        let failure = match recorded.outcome {
            Outcome::Failed(Failure { kind: FailureKind::Nondeterminism { message }, .. })
                if message.starts_with("replay diverged") =>
            {
                report.error = Some(format!(
                    "{message}. Remedy: run the test without the token to find the failure anew"
                ));
                return report;
            }
            Outcome::Failed(failure) => failure,
            Outcome::Passed | Outcome::Cut(_) => {
                let note = if token.ended_like(recorded.hash) { "" } else {
                    ", and the program no longer goes through the states it went through then"
                };
                report.warnings.push(format!(
                    "the token was replayed and nothing failed: all {} decisions fit{note}",
                    token.trace.decisions().len()
                ));
                return report;
            }
        };
        report.failure = Some(FailureReport {
            kind: failure.kind,
            step: failure.step,
            origin,
            strategy: "replay".to_owned(),
            seed: Seed(token.noise.0),
            token: token.clone(),
            explanation: recorded.explanation,
            reproduced: true,
        });
        report
    }
}

struct Recorded {
    outcome: Outcome,
    hash: u64,
    explanation: crate::words::explanation::Explanation,
    last_task: Option<String>,
}

/// Explains a failing iteration.
pub(super) fn explain(campaign: &Arc<Campaign>, found: &Found) -> FailureReport {
    let world = campaign.world(found.index);
    let recorded = campaign.recorded(&world, &found.trace);
    let mut failure = found.failure.clone();
    let mut reproduced = false;
    if let Outcome::Failed(again) = recorded.outcome {
        let foreign = matches!(again.kind, FailureKind::Uncontrolled { .. });
        reproduced = discriminant(&again.kind) == discriminant(&failure.kind) || foreign;
        if foreign {
            failure = again;
        }
    }
    // A run that was checked twice failed because the second differed: the trace itself passes.
    reproduced |= matches!(failure.kind, FailureKind::Nondeterminism { .. });
    FailureReport {
        kind: failure.kind,
        step: failure.step,
        origin: Origin::Iteration(found.index),
        strategy: found.strategy.clone(),
        seed: campaign.iteration(found.index).seed,
        token: campaign.token(&world, &found.trace, found.schedule_hash),
        explanation: recorded.explanation,
        reproduced,
    }
}

/// Explains a poll that does not return: everything up to the step before it.
pub(super) fn stuck(
    campaign: &Arc<Campaign>,
    index: u64,
    step: u64,
    trace: &Trace,
) -> FailureReport {
    let world = campaign.world(index);
    let limits = Limits { steps: step.saturating_sub(1), ..world.limits };
    let short = WorldConfig { limits, fail_on_limit: false, ..world.clone() };
    let recorded = campaign.recorded(&short, trace);
    let up_to_it = recorded.outcome == Outcome::Cut(Limit::Steps);
    let task = recorded.last_task.filter(|_| up_to_it).unwrap_or_else(|| "unknown".to_owned());
    FailureReport {
        kind: FailureKind::Stuck { task },
        step,
        origin: Origin::Iteration(index),
        strategy: campaign.blank_report().strategy,
        seed: campaign.iteration(index).seed,
        token: campaign.token(&world, trace, 0),
        explanation: recorded.explanation,
        reproduced: up_to_it,
    }
}
