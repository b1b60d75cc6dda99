//! Shortening: from the schedule that was found to one that fails in the same way and departs from the
//! plain one in as few places as can be found.
//!
//! 1. What is tried are whole iterations, each on a thread of its own, as in a replay. What comes out is
//!    a trace like any other, and was seen to fail.
//! 2. How far it looks follows from the run; wall-clock time can only cut it short.
//! 3. A run that passes does not come here.

mod guide;
#[cfg(test)]
mod guide_tests;
mod reduce;
mod tell;

use self::guide::{Departure, Guide};
use self::reduce::{Attempt, bypass, reduce};
use super::campaign::Campaign;
use super::lasting;
use super::result::{Departure as Told, FailureReport, Origin, Shortened};
use super::same::{alike, of_order};
use super::watched;
use super::worker::now;
use crate::execution::Decider;
use crate::execution::run;
use crate::words::explanation::Explanation;
use crate::words::{Failure, FailureKind, Outcome, ReplayToken, Trace, WorldConfig};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Schedules that are tried.
const ATTEMPTS: u64 = 2_000;
/// After that no further one is tried.
const PATIENCE: Duration = Duration::from_secs(3);
/// An attempt may take so many times the steps of the schedule that was found...
const TIMES: u64 = 2;
/// ...and so many more.
const MORE: u64 = 1_000;

/// Other places at which two actions may overtake each other that are tried.
const PLACES: usize = 50;

/// What an attempt left behind.
struct Tried {
    outcome: Outcome,
    /// Operations and places at which tasks stood in the end, where the failure is that they stand.
    stand: Vec<String>,
    departures: Vec<Departure>,
    /// See [`Guide::looking_for`].
    others: Vec<Departure>,
    trace: Trace,
    schedule_hash: u64,
}

/// A search for a shorter schedule.
struct Search<'a> {
    campaign: &'a Arc<Campaign>,
    world: WorldConfig,
    sought: FailureKind,
    /// Where tasks stood at the end of the schedule that was found.
    stood: Vec<String>,
    end: Instant,
    attempts: u64,
    /// The last one that failed in the same way.
    best: Tried,
}

impl Campaign {
    /// Puts a shorter schedule into the place of the one that was found, if there is one.
    pub(super) fn shorten(self: &Arc<Self>, failure: &mut FailureReport) {
        let Origin::Iteration(index) = failure.origin else {
            return;
        };
        let whole = failure.reproduced && failure.again.is_none();
        let chosen = !failure.token.trace.decisions().is_empty();
        if !(self.checker.shrink && whole && chosen && can_be_shortened(&failure.kind)) {
            return;
        }
        let world = self.world(index);
        let Some(mut search) = Search::begin(self, world.clone(), failure) else {
            return;
        };
        let all = search.best.departures.clone();
        let departures = all.len() as u64;
        let complete = search.run(all);
        let (attempts, best) = (search.attempts, search.best);
        let token = ReplayToken::new(&self.checker.name, &world, best.trace, best.schedule_hash);
        let found = std::mem::replace(&mut failure.token, token);
        let Some((again, explanation)) =
            self.explain_shorter(&world, &failure.token.trace, &failure.kind)
        else {
            failure.token = found;
            return;
        };
        let step = std::mem::replace(&mut failure.step, again.step);
        (failure.kind, failure.explanation) = (again.kind, explanation);
        failure.tell(&best.departures);
        failure.shortened = Some(Shortened {
            found,
            step,
            departures,
            attempts,
            complete,
        });
    }
}

impl Campaign {
    /// Says where a schedule that was replayed departs from the plain one.
    pub(super) fn find_departures(
        self: &Arc<Self>,
        world: &WorldConfig,
        failure: &mut FailureReport,
    ) {
        if !self.checker.shrink || !can_be_shortened(&failure.kind) {
            return;
        }
        let trace = failure.token.trace.clone();
        if let Some(tried) = try_it(self, world, false, move || Guide::along(&trace)) {
            failure.tell(&tried.departures);
        }
    }
}

impl Campaign {
    /// Whether the test still hangs if everything goes its plain way once it does, and values are drawn
    /// at random: some strategies take the same one for ever, and whoever tries again with others gets through.
    pub(super) fn hangs_fairly(
        self: &Arc<Self>,
        world: &WorldConfig,
        trace: &Trace,
        failure: &Failure,
        explanation: &Explanation,
    ) -> bool {
        let (trace, step) = (trace.clone(), failure.step);
        let world = short(world, &failure.kind, step, explanation);
        let guide = move || Guide::along(&trace).fair_after(step);
        let fairly = try_it(self, &world, true, guide).map(|tried| tried.outcome);
        matches!(fairly, Some(Outcome::Failed(fairly)) if alike(&failure.kind, &fairly.kind))
    }
}

/// Replays a trace, and finds out where it departs from the plain schedule.
pub(super) fn along(trace: &Trace) -> Box<dyn Decider> {
    Box::new(Guide::along(trace))
}

/// What such a replay has found out.
pub(super) fn departures_of(
    decider: Box<dyn Decider>,
    explanation: &Explanation,
) -> Option<Vec<Told>> {
    let guide = decider.into_any().downcast::<Guide>().ok()?;
    Some(tell::departures(&guide.departures, explanation))
}

impl FailureReport {
    fn tell(&mut self, departures: &[Departure]) {
        self.departures = Some(tell::departures(departures, &self.explanation));
    }
}

/// The world of an attempt at a failure of this kind that came, or began, at this step.
fn short(
    world: &WorldConfig,
    kind: &FailureKind,
    step: u64,
    explanation: &Explanation,
) -> WorldConfig {
    let most = lasting::steps_to_see(kind, step, explanation).saturating_mul(TIMES);
    let most = most.saturating_add(MORE).min(world.limits.steps);
    WorldConfig {
        stop_after: Some(most),
        ..world.clone()
    }
}

/// Whether there is an order to be made plainer, and whoever tries it comes back.
fn can_be_shortened(kind: &FailureKind) -> bool {
    let comes_back = !matches!(kind, FailureKind::Abort { .. });
    (of_order(kind) && comes_back) || kind.lasts()
}

impl<'a> Search<'a> {
    /// Sees where the schedule that was found departs from the plain one.
    fn begin(
        campaign: &'a Arc<Campaign>,
        world: WorldConfig,
        failure: &FailureReport,
    ) -> Option<Search<'a>> {
        let end = now() + PATIENCE;
        let lasting = failure.kind.lasts();
        let shorter = match failure.kind {
            FailureKind::LimitReached(_) => world.clone(),
            _ => short(&world, &failure.kind, failure.step, &failure.explanation),
        };
        let trace = failure.token.trace.clone();
        // What lasts is not waited for to its end.
        let begin = if lasting { &shorter } else { &world };
        let found = try_it(campaign, begin, lasting, move || Guide::along(&trace))?;
        let search = Search {
            campaign,
            world: shorter,
            sought: failure.kind.clone(),
            stood: found.stand.clone(),
            end,
            attempts: 0,
            best: found,
        };
        search.is_it(&search.best).then_some(search)
    }

    /// Returns whether it was not cut short.
    fn run(&mut self, all: Vec<Departure>) -> bool {
        let (mut needed, mut complete) = reduce(all, &mut |fewer| self.attempt(fewer));
        while complete && needed.len() > 1 {
            let count = needed.len();
            // Many strategies come to a task by way of others.
            (needed, complete) = bypass(needed, Departure::to, &mut |fewer| self.attempt(fewer));
            if complete && needed.len() == count {
                (needed, complete) = self.elsewhere(needed);
            }
            if !complete || needed.len() == count {
                break;
            }
            (needed, complete) = reduce(needed, &mut |fewer| self.attempt(fewer));
        }
        complete
    }

    /// Of two departures one will do, maybe, if the same actions overtake each other at another place.
    fn elsewhere(&mut self, needed: Vec<Departure>) -> (Vec<Departure>, bool) {
        for at in 1..needed.len() {
            let (before, after) = (needed[..at - 1].to_vec(), &needed[at + 1..]);
            let pair = [needed[at - 1], needed[at]];
            let guide = move || Guide::with(&before).looking_for(&pair);
            let Some(tried) = self.try_it(guide) else {
                return (needed, false);
            };
            for other in tried.others.iter().take(PLACES) {
                let fewer = [&needed[..at - 1], &[*other], after].concat();
                match self.attempt(&fewer) {
                    Attempt::Fails(used) => return (used, true),
                    Attempt::Passes => {}
                    Attempt::OutOfTime => return (needed, false),
                }
            }
        }
        (needed, true)
    }

    fn attempt(&mut self, departures: &[Departure]) -> Attempt<Departure> {
        if self.attempts >= ATTEMPTS || now() >= self.end {
            return Attempt::OutOfTime;
        }
        self.attempts += 1;
        let given = departures.to_vec();
        match self.try_it(move || Guide::with(&given)) {
            None => Attempt::OutOfTime, // a thread was lost: that is enough
            Some(tried) if self.is_it(&tried) && self.lasts(departures, &tried) => {
                self.best = tried;
                Attempt::Fails(self.best.departures.clone())
            }
            Some(_) => Attempt::Passes,
        }
    }

    fn try_it(&self, guide: impl FnOnce() -> Guide + Send + 'static) -> Option<Tried> {
        try_it(self.campaign, &self.world, self.sought.lasts(), guide)
    }

    /// Whether it is no matter of the values that are drawn once the test hangs.
    fn lasts(&self, departures: &[Departure], tried: &Tried) -> bool {
        let Outcome::Failed(Failure {
            kind: FailureKind::Hang { .. },
            step,
        }) = tried.outcome
        else {
            return true;
        };
        let given = departures.to_vec();
        let fairly = self.try_it(move || Guide::with(&given).fair_after(step));
        fairly.is_some_and(|fairly| self.is_it(&fairly))
    }

    /// Whether this is the failure that was found: for tasks that wait, at no other places.
    fn is_it(&self, tried: &Tried) -> bool {
        let Outcome::Failed(failure) = &tried.outcome else {
            return false;
        };
        alike(&self.sought, &failure.kind)
            && tried.stand.iter().all(|place| self.stood.contains(place))
    }
}

/// Runs an iteration. `None` if its thread is lost, or could not be started.
///
/// What is `lasting` shows when it is recorded only.
fn try_it(
    campaign: &Arc<Campaign>,
    world: &WorldConfig,
    lasting: bool,
    guide: impl FnOnce() -> Guide + Send + 'static,
) -> Option<Tried> {
    let (scenario, world) = (campaign.scenario.clone(), world.clone());
    let limit = campaign.checker.poll_limit;
    let body = move |tell: &dyn Fn((Tried, Option<Explanation>))| {
        tracing::dispatcher::with_default(&tracing::Dispatch::none(), || {
            let finished = run::run(&world, Box::new(guide()), &*scenario, lasting);
            let guide = finished.decider.into_any().downcast::<Guide>();
            let guide = guide.expect("cct bug: another decider came back");
            let stand = finished.stand.iter();
            let tried = Tried {
                outcome: finished.end.outcome,
                stand: stand.map(|(op, site)| format!("{op} {site}")).collect(),
                departures: guide.departures,
                others: guide.others,
                trace: run::last_trace(),
                schedule_hash: finished.end.schedule_hash,
            };
            tell((tried, finished.explanation));
        });
    };
    // Whatever goes wrong here must not cost the failure that is being explained.
    let tried = AssertUnwindSafe(|| watched::on_fresh_thread(limit, body).ok());
    let (mut tried, explanation) = catch_unwind(tried).ok().flatten()?;
    if let Some(explanation) = explanation {
        tried.outcome = campaign.shown(tried.outcome, &explanation);
        if let Outcome::Failed(failure) = &tried.outcome {
            tried.stand = lasting::stand(&failure.kind, &explanation);
        }
    }
    Some(tried)
}
