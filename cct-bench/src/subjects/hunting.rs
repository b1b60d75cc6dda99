//! How tests run subjects.

use super::{Probe, Scenario, Subject};
use cct_executor::{Checker, Report, Seed};

/// A checker with the subject's settings, free of the environment.
fn checker(subject: &Subject, strategy: &str, seed: u64, iterations: u64) -> Checker {
    Checker::new()
        .name(subject.name)
        .use_environment(false)
        .strategy_text(strategy)
        .seed(Seed(seed))
        .iterations(iterations)
        .time_budget(None)
        .await_check(false)
        .shrink(false)
        .max_steps(subject.max_steps)
        .granularity(subject.granularity)
        .clock(subject.clock)
}

fn run(scenario: fn(Probe) -> Scenario, checker: Checker) -> Report {
    checker.run(move || scenario(Probe::default()))
}

/// Runs the buggy program until the bug shows.
pub(super) fn hunt(subject: &Subject, strategy: &str, seed: u64, iterations: u64) -> Report {
    run(
        subject.scenario,
        checker(subject, strategy, seed, iterations),
    )
}

/// Runs the program without the bug, which must stay silent and come to something.
pub(super) fn expect_silence(subject: &Subject, iterations: u64) {
    let fixed = subject.fixed.expect("a fixed form");
    for strategy in ["random", "pct:d=3", "pct:d=11", "round-robin"] {
        let report = run(fixed, checker(subject, strategy, 1, iterations));
        assert!(
            report.failure().is_none(),
            "{} under {strategy}: {}",
            subject.name,
            report.text()
        );
        assert_eq!(report.error, None, "{}", subject.name);
    }
}
