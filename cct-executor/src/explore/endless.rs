//! Tests of which no iteration comes to its end.
//!
//! Under limits that nobody has chosen such a run shows nothing, and the test would hang elsewhere. Who reads
//! that wants to know next what it does all the time. So one more iteration runs, for which the limit is a
//! failure, and the report tells its end.
//!
//! A test with tokio's attribute may be longer than any that is explored. If it ends in plain order, which is tokio's, it is
//! no failure that it does not here.
//!
//! A `main` that is a scenario may be a server, and is not looked at: what it shows is for whoever reads its line.
//!
//! Does not: judge a test some of whose iterations end; see `hang.rs`.

use super::any_scenario::AnyScenario;
use super::checker::Checker;
use super::env::Settings;
use super::result::{FailureReport, Report, StoppedBy};
use super::worker::now;
use crate::words::Limit;

/// How many times as far as usual a test is followed that is run once: some seconds' worth of steps.
const FOLLOWED_AT_MOST: u64 = 300;
/// So many times as far it is followed first, and if it goes on, so many times as far again, and so on.
const FOLLOWED_FIRST: u64 = 2;
const FOLLOWED_TIMES: u32 = 4;
/// For about as much time as so many times what it may take in all: who tests with much work waits for that anyway, and
/// would take a test that passes elsewhere for one that fails.
const BUDGETS: u32 = 6;
/// As many as there is memory for on most machines, should they all be there at once.
const TASKS_OF_ONE: u32 = 2_000_000;

/// What to say of a test of which no iteration came to its end, if it does in plain order when it is given time.
pub(super) fn ends_in_order(
    report: &Report,
    checker: &Checker,
    scenario: &AnyScenario,
) -> Option<String> {
    without_end(report)?;
    let follow = || end_in_order(checker, scenario, BUDGETS);
    let steps = report.followed.map_or_else(follow, |known| known.0)?;
    let none = match report.iterations {
        1 => "the only iteration did not come".to_owned(),
        several => format!("none of {several} iterations came"),
    };
    Some(format!(
        "{none} to its end within as many steps as one may take, but the test does in plain order after {steps}: \
         that is all that was seen of it; to have it explored, give it less to do"
    ))
}

/// After how many steps the test comes to its end in plain order, if it is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Followed(pub(super) Option<u64>);

/// After how many steps a test comes to its end in plain order, if it does in about so many times the time it may take in
/// all.
pub(super) fn end_in_order(checker: &Checker, scenario: &AnyScenario, budgets: u32) -> Option<u64> {
    let budget = checker.time_budget;
    let budget = budget.map(|budget| budget.saturating_mul(budgets));
    let mut in_order = checker.in_plain_order();
    in_order.world.limits.raise();
    in_order.world.limits.tasks = TASKS_OF_ONE;
    let usual = in_order.world.limits.usual_steps;
    let mut limit = usual.saturating_mul(FOLLOWED_FIRST);
    let most = usual.saturating_mul(FOLLOWED_AT_MOST);
    loop {
        in_order.world.limits.steps = limit;
        let begin = now();
        let run = in_order.clone().explore(scenario.clone());
        if run.cut() == 0 || !run.passed() {
            return run.passed().then_some(run.coverage.steps);
        }
        // The next one takes longer than all before it.
        let takes = begin.elapsed().saturating_mul(FOLLOWED_TIMES);
        if limit == most || budget.is_some_and(|budget| takes > budget) {
            return None;
        }
        limit = (limit * u64::from(FOLLOWED_TIMES)).min(most);
    }
}

/// Whether it need not end, as somebody has chosen a limit. A replay and a failure say what they say in any case.
pub(super) fn may_be_meant(report: &Report, checker: &Checker) -> bool {
    if !report.passed() || report.stopped_by == StoppedBy::Replay || checker.chosen_limits {
        return true;
    }
    let settings = || Settings::from_env().ok();
    let settings = checker.use_environment.then(settings).flatten();
    settings.is_some_and(|settings| settings.max_steps.is_some())
}

/// Says so in the report if no iteration came to its end.
pub(super) fn look(report: &mut Report, checker: Checker, scenario: AnyScenario) {
    report.error = without_end(report);
    if report.error.is_none() {
        return;
    }
    report.endless = story(checker, scenario);
}

/// What an iteration does that does not come to its end.
pub(super) fn story(checker: Checker, scenario: AnyScenario) -> Option<Box<FailureReport>> {
    // The limits that all tests have are long enough to see it.
    let once = Checker {
        determinism_check: false,
        await_check: false,
        shrink: false,
        keep_going: false,
        knowledge: None,
        ..checker.iterations(1).fail_on_limit(true)
    };
    once.explore(scenario).failure.map(Box::new)
}

/// Why a run shows nothing in which no iteration came to its end. With a limit that somebody chose it
/// is meant to be so.
fn without_end(report: &Report) -> Option<String> {
    let cut = &report.coverage.cut;
    let (limit, _) = cut.iter().max_by_key(|(_, count)| **count)?;
    let (option, variable) = match limit {
        Limit::Tasks => ("max_tasks", ""),
        Limit::Time => ("max_time", ""),
        _ => ("max_steps", " (or CCT_MAX_STEPS)"),
    };
    let all = match (report.iterations, &report.stopped_by) {
        (1, StoppedBy::TimeBudget) => "the one iteration that there was time for".to_owned(),
        (n, StoppedBy::TimeBudget) => format!("each of the {n} iterations that there was time for"),
        (n, _) => format!("each of {n} iterations"),
    };
    (report.cut() == report.iterations).then(|| {
        format!(
            "{all} was cut at the {limit}, and none came to its end; raise {option}{variable} if it is too low, or set \
             {option} to say that the test is not to end"
        )
    })
}
