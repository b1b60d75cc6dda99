//! Tests of which no iteration comes to its end.
//!
//! Under limits that nobody has chosen such a run shows nothing, and the test would hang elsewhere. Who reads
//! that wants to know next what it does all the time. So one more iteration runs, for which the limit is a
//! failure, and what is known of its end is told at once.
//!
//! Does not: judge a test some of whose iterations end; see `hang.rs`.

use super::checker::Checker;
use super::result::Report;
use crate::task::body::ScenarioResult;
use crate::words::Limit;

/// Why a run shows nothing in which no iteration came to its end, and how one of them ends. `None` where
/// one did. With a limit that somebody chose it is meant to be so.
pub(super) fn without_end<F, Fut>(report: &Report, checker: Checker, scenario: F) -> Option<String>
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future + 'static,
    Fut::Output: ScenarioResult,
{
    let cut = &report.coverage.cut;
    let (limit, _) = cut.iter().max_by_key(|(_, count)| **count)?;
    let option = match limit {
        Limit::Tasks => "max_tasks",
        Limit::Time => "max_time",
        _ => "max_steps",
    };
    (report.cut() == report.iterations).then(|| {
        format!(
            "each of {} iterations was cut at the {limit}, and none came to its end; raise {option} if it is \
             too low, or set {option} to say that the test is not to end{}",
            report.iterations,
            account(checker, scenario)
        )
    })
}

/// What the first iteration does in the end, under the limits that all tests have.
fn account<F, Fut>(checker: Checker, scenario: F) -> String
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future + 'static,
    Fut::Output: ScenarioResult,
{
    let once = Checker {
        determinism_check: false,
        await_check: false,
        shrink: false,
        keep_going: false,
        knowledge: None,
        ..checker.iterations(1).fail_on_limit(true)
    };
    let report = once.run(scenario);
    report.failure().map_or_else(String::new, |failure| {
        format!(". The end of the first:\n{}", failure.end_text())
    })
}
