//! Shortening: from the schedule that was found to one that fails in the same way and departs from the
//! plain one in as few places as can be found.
//!
//! 1. What is tried are whole iterations, each on a thread of its own, as in a replay, or in a process. What
//!    comes out is a trace like any other, and was seen to fail.
//! 2. How far it looks follows from the run; wall-clock time can only cut it short.
//! 3. A run that passes does not come here.

mod given;
mod guide;
#[cfg(test)]
mod guide_tests;
mod reduce;
mod search;
mod tell;
mod what;

pub(super) use self::given::{Given, Tried};
pub(super) use self::guide::Departure;
pub(super) use self::guide::Guide;
use self::search::Search;
#[cfg(unix)]
pub(super) use self::what::{What, Words};
use super::campaign::Campaign;
#[cfg(unix)]
use super::result;
use super::result::{FailureReport, Origin, Shortened};
use super::same::{alike, of_order};
use super::watched;
use super::{hang, lasting};
use crate::execution::Detail;
use crate::execution::run;
use crate::words::explanation::Explanation;
use crate::words::{Failure, FailureKind, Outcome, ReplayToken, Trace, WorldConfig};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// An attempt may take so many times the steps of the schedule that was found...
const TIMES: u64 = 2;
/// ...and so many more...
const MORE: u64 = 1_000;
/// ...and the plain schedule so many times as many: it need not hurry to where it fails.
const TIMES_PLAIN: u64 = 10;

impl Campaign {
    /// Puts a shorter schedule into the place of the one that was found, if there is one.
    pub(super) fn shorten(self: &Arc<Self>, failure: &mut FailureReport) {
        let Origin::Iteration(index) = failure.origin else {
            return;
        };
        let chosen = !failure.token.trace.decisions().is_empty();
        if !(self.checker.shrink
            && failure.fails_so_again()
            && chosen
            && can_be_shortened(&failure.kind))
        {
            return;
        }
        let world = self.world(index);
        let Some(mut search) = self.search(&world, failure) else {
            return;
        };
        let complete = search.run();
        let (attempts, departures, best) = (search.attempts, search.departures, search.best);
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

    /// Says where a schedule that was replayed departs from the plain one.
    pub(super) fn find_departures(
        self: &Arc<Self>,
        world: &WorldConfig,
        failure: &mut FailureReport,
    ) {
        if !self.checker.shrink || !can_be_shortened(&failure.kind) {
            return;
        }
        let given = Given::along(&failure.token);
        let tried = try_it(self, world, failure.kind.lasts(), given);
        // What the replay has left in statics may have led it elsewhere.
        let same = |tried: &Tried| tried.kind().is_some_and(|kind| alike(&failure.kind, kind));
        if let Some(tried) = tried.filter(same) {
            failure.tell(&tried.departures);
        }
    }

    /// Sees where the schedule that was found departs from the plain one.
    fn search(
        self: &Arc<Self>,
        world: &WorldConfig,
        failure: &FailureReport,
    ) -> Option<Search<'_>> {
        let lasting = failure.kind.lasts();
        let shorter = match failure.kind {
            FailureKind::LimitReached(_) => world.clone(),
            _ => short(world, &failure.kind, failure.step, &failure.explanation),
        };
        // What lasts is not waited for to its end.
        let begin = if lasting { &shorter } else { world };
        let found = try_it(self, begin, lasting, Given::along(&failure.token))?;
        let longer = WorldConfig {
            stop_after: shorter
                .stop_after
                .map(|most| most.saturating_mul(TIMES_PLAIN).min(world.limits.steps)),
            ..shorter.clone()
        };
        let tries = Box::new(move |given: Given| {
            let plain = given.is_plain() && !lasting;
            try_it(self, if plain { &longer } else { &shorter }, lasting, given)
        });
        Search::begin(tries, failure.kind.clone(), found)
    }

    /// Whether the test still hangs if everything goes its plain way once it does, and values are drawn
    /// at random: some strategies take the same one for ever, and whoever tries again with others gets through.
    pub(super) fn hangs_fairly(
        self: &Arc<Self>,
        world: &WorldConfig,
        trace: &Trace,
        failure: &Failure,
        explanation: &Explanation,
    ) -> bool {
        let given = |world: &WorldConfig| Given {
            fair_after: Some(failure.step),
            ..Given::along(&ReplayToken::new(
                &self.checker.name,
                world,
                trace.clone(),
                0,
            ))
        };
        if matches!(failure.kind, FailureKind::Endless) {
            let mut world = world.clone();
            world.limits.raise();
            let fairly = try_it(self, &world, false, given(&world));
            return fairly.is_some_and(|fairly| matches!(fairly.outcome, Outcome::Cut(_)));
        }
        let world = short(world, &failure.kind, failure.step, explanation);
        let given = given(&world);
        let fairly = try_it(self, &world, true, given);
        let fairly = fairly.as_ref().and_then(Tried::kind);
        fairly.is_some_and(|fairly| alike(&failure.kind, fairly))
    }

    /// Whether the test hangs, once everything goes its plain way, also when no timer is still to fire that may be what it
    /// waits for; under limits that are raised.
    pub(super) fn hangs_in_the_end(
        self: &Arc<Self>,
        world: &WorldConfig,
        trace: &Trace,
        failure: &Failure,
    ) -> bool {
        let mut world = world.clone();
        world.limits.raise();
        let token = ReplayToken::new(&self.checker.name, &world, trace.clone(), 0);
        let given = Given {
            fair_after: Some(failure.step),
            ..Given::along(&token)
        };
        let last = try_it(self, &world, true, given);
        last.is_some_and(|last| {
            last.kind().is_some_and(|kind| alike(&failure.kind, kind)) && !last.beside_a_timer
        })
    }
}

/// The departures that were kept, in words.
#[cfg(unix)]
pub(super) fn told(tried: &Tried, story: &Explanation) -> Vec<result::Departure> {
    tell::departures(&tried.departures, story)
}

impl FailureReport {
    /// Says in words where the schedule departs from the plain one.
    pub(super) fn tell(&mut self, departures: &[Departure]) {
        self.departures = Some(tell::departures(departures, &self.explanation));
    }
}

/// The world of an attempt at a failure of this kind that came, or began, at this step.
pub(super) fn short(
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

/// A shorter schedule that fails as this one does, if attempts are run in this way.
#[cfg(unix)]
pub(super) fn shorter(
    tries: search::Tries<'_>,
    found: Tried,
    token: &ReplayToken,
) -> Option<(Tried, Shortened)> {
    let sought = found.kind().filter(|kind| can_be_shortened(kind))?.clone();
    let step = match &found.outcome {
        Outcome::Failed(failure) => failure.step,
        Outcome::Passed | Outcome::Cut(_) => return None,
    };
    let most = step.saturating_mul(TIMES).saturating_add(MORE);
    let tries = move |given: Given| {
        let times = if given.is_plain() { TIMES_PLAIN } else { 1 };
        tries(Given {
            steps_max: Some(most.saturating_mul(times)),
            ..given
        })
    };
    let mut search = Search::begin(Box::new(tries), sought, found)?;
    let complete = search.run();
    let shortened = Shortened {
        found: token.clone(),
        step,
        departures: search.departures,
        attempts: search.attempts,
        complete,
    };
    Some((search.best, shortened))
}

/// Runs an iteration. `None` if its thread is lost, or could not be started.
///
/// What is `lasting` shows when it is recorded only.
pub(super) fn try_it(
    campaign: &Arc<Campaign>,
    world: &WorldConfig,
    lasting: bool,
    given: Given,
) -> Option<Tried> {
    let (scenario, world) = (campaign.scenario.clone(), world.clone());
    let patience = campaign.checker.patience();
    let detail = match lasting {
        true => Detail::Story,
        false => given.detail(),
    };
    let surrounded = campaign.clone();
    let body = move |tell: &dyn Fn((Tried, Option<Explanation>))| {
        surrounded.untold(|| {
            let finished = run::run(&world, Box::new(given.guide()), &*scenario, detail);
            tell(Tried::left_by(finished));
        });
    };
    // Whatever goes wrong here must not cost the failure that is being explained.
    let tried = AssertUnwindSafe(|| watched::on_fresh_thread(patience, body).ok());
    let (mut tried, explanation) = catch_unwind(tried).ok().flatten()?.told;
    if let Some(explanation) = explanation.filter(|_| lasting) {
        tried.outcome = campaign.shown(tried.outcome, &explanation);
        if let Outcome::Failed(failure) = &tried.outcome {
            tried.stand = lasting::stand(&failure.kind, &explanation);
            tried.beside_a_timer = hang::waits_beside_a_timer(&explanation);
        }
    }
    Some(tried)
}
