//! The determinism check: the same decisions must lead to the same run.

use super::campaign::Campaign;
use super::lasting::judged;
use super::replay::Replay;
use super::shrink::{self, Guide};
use super::worker::Watch;
use crate::execution::Detail;
use crate::execution::run::{self, Finished};
use crate::words::explanation::{Explanation, Step};
use crate::words::{Failure, FailureKind, IterationEnd, Outcome, Trace, WorldConfig};

/// Which iterations are run twice: the first, and then ever fewer.
pub(super) fn samples(index: u64) -> bool {
    index == 0 || index.is_power_of_two()
}

impl Campaign {
    /// Runs a trace again on this thread.
    pub(super) fn again(&self, world: &WorldConfig, trace: &Trace, detail: Detail) -> Finished {
        run::run(world, Box::new(Replay::new(trace)), &*self.scenario, detail)
    }

    /// The same, for a report, and tells what it leaves behind before the world closes.
    pub(super) fn again_and_tell(
        &self,
        world: &WorldConfig,
        trace: &Trace,
        told: &dyn Fn(Finished),
    ) {
        let decider = Box::new(Replay::new(trace));
        run::run_and_tell(world, decider, &*self.scenario, Detail::Stacks, told);
    }
}

fn replayed(
    campaign: &Campaign,
    world: &WorldConfig,
    trace: &Trace,
    detail: Detail,
    watch: Watch<'_>,
) -> (IterationEnd, Explanation) {
    let run = || {
        let finished = campaign.again(world, trace, detail);
        (finished.end, *finished.explanation.unwrap_or_default())
    };
    if campaign.needs_fresh_thread() {
        return watch.on_fresh_thread(run);
    }
    run()
}

/// Replays an iteration that a limit has cut, and finds tasks that wait for each other; also where all goes its plain way
/// from then on, as who holds what they wait for may have been held back.
pub(super) fn look_into_cut(
    campaign: &Campaign,
    world: &WorldConfig,
    trace: &Trace,
    watch: Watch<'_>,
) -> Option<Failure> {
    let (end, explanation) = replayed(campaign, world, trace, Detail::Story, watch);
    let Outcome::Failed(failure) = judged(end.outcome, &explanation) else {
        return None;
    };
    let world = shrink::short(world, &failure.kind, failure.step, &explanation);
    let run = || {
        let guide = Guide::along(trace).fair_after(failure.step);
        let finished = run::run(&world, Box::new(guide), &*campaign.scenario, Detail::Story);
        (
            finished.end.outcome,
            finished.explanation.unwrap_or_default(),
        )
    };
    let (outcome, explanation) = match campaign.needs_fresh_thread() {
        true => watch.on_fresh_thread(run),
        false => run(),
    };
    let is_so = matches!(judged(outcome, &explanation), Outcome::Failed(_));
    is_so.then_some(failure)
}

/// Replays a passing iteration. A difference is a failure that names where it begins.
pub(super) fn check(
    campaign: &Campaign,
    world: &WorldConfig,
    trace: &Trace,
    schedule_hash: u64,
    watch: Watch<'_>,
) -> Option<Failure> {
    let again = |detail| replayed(campaign, world, trace, detail, watch);
    let (second, _) = again(Detail::Nothing);
    let same =
        second.schedule_hash == schedule_hash && !matches!(second.outcome, Outcome::Failed(_));
    if same {
        return None;
    }
    let (first_end, first) = again(Detail::Story);
    let (third_end, third) = again(Detail::Story);
    let step = second.steps;
    let mut message = describe(&first, &third);
    let ends = [&second, &first_end, &third_end];
    // The first to fail: what comes later may be its consequence, as a lock that it has poisoned.
    if let Some(kind) = ends.into_iter().find_map(failed_itself) {
        let kind = kind.to_string().replace('\n', "\n    ");
        message.push_str("\n  it passed when it was found, but failed when it was repeated: ");
        message.push_str(&kind);
    }
    Some(Failure {
        kind: FailureKind::Nondeterminism { message },
        step,
    })
}

/// How a run of the same decisions failed, unless by that these no longer fit.
fn failed_itself(end: &IterationEnd) -> Option<&FailureKind> {
    match &end.outcome {
        Outcome::Failed(failure) => {
            Some(&failure.kind).filter(|kind| !matches!(kind, FailureKind::Nondeterminism { .. }))
        }
        Outcome::Passed | Outcome::Cut(_) => None,
    }
}

/// What the system gives would explain it, where that is not under control.
const OF_THE_SYSTEM: &str = if cct_interpose::CONTROLLED {
    ""
} else {
    "
    - iteration over a std HashMap or HashSet (use BTreeMap, or a fixed hasher)
    - `rand` or another generator seeded by the system (use cct_executor::nondet)
    - the wall clock (use cct_executor::time::Instant)"
};

const CAUSES: &str = "
    - state that survives from one iteration to the next: files (make a folder for each run), statics
      (isolation = \"process\"), thread-locals (isolation = \"thread\")
    - a generator that counts what it was asked for in a static: `futures::select!` (use cct_executor::select!),
      `StreamMap` of tokio-stream
    - a generator that the system did not seed: `fastrand`, in many crates (call `fastrand::seed` with a constant
      where the test begins)
    - a clock that counts the processor's cycles: `quanta`, as in caches and rate limiters; `minstant` (leave out the
      feature that asks for it, or give a clock of the test's own)
    - addresses, which are others in each iteration: a hasher seeded by them, such as hashbrown's own; a set or map whose
      keys are pointers (`Arc::as_ptr`), where its order matters (give each an id)
    - a thread of its own";

/// Names the first step at which two runs of the same decisions differ.
pub(super) fn describe(one: &Explanation, other: &Explanation) -> String {
    let key = |step: &Step| {
        (
            step.task.clone(),
            step.what.clone(),
            step.site.clone(),
            step.choices,
        )
    };
    let pairs = one.steps.iter().zip(&other.steps);
    let differing = pairs.clone().find(|(a, b)| key(a) != key(b));
    let show = |step: &Step| {
        let task = step
            .task
            .as_deref()
            .map_or(String::new(), |task| format!("task {task}: "));
        let site = step.site.as_deref().unwrap_or("no place");
        let choices = match step.choices {
            1 => "no choice".to_owned(),
            choices => format!("{choices} choices"),
        };
        format!("{task}{} at {site} ({choices})", step.what)
    };
    let place = match differing {
        Some((a, b)) => format!(
            "the same decisions led to different runs, first at step {}: {} in one, {} in another",
            a.step,
            show(a),
            show(b)
        ),
        None if one.steps.len() != other.steps.len() => {
            let (shorter, longer) = if one.steps.len() < other.steps.len() {
                (one, other)
            } else {
                (other, one)
            };
            let extra = &longer.steps[shorter.steps.len()];
            format!(
                "the same decisions led to different runs, first at step {}: {} in one, nothing \
                 in another",
                extra.step,
                show(extra)
            )
        }
        None if one.hashes == other.hashes => {
            "the same decisions led to a different run when they were repeated, but two further runs \
             agree: the difference shows the first time only, or now and then"
                .to_owned()
        }
        None => "the same decisions led to different runs; a difference in what was hashed or \
                 observed, as the steps themselves agree in two further runs"
            .to_owned(),
    };
    format!("{place}\n  likely causes:{OF_THE_SYSTEM}{CAUSES}")
}
