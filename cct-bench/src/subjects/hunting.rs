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

/// Of so many runs of 10,000 iterations, how many found the bug; and the share of iterations that
/// show it, from one long run that goes on past failures.
#[test]
fn measure() {
    let Ok(name) = std::env::var("M") else { return };
    let n: u64 = std::env::var("N").map_or(100_000, |n| n.parse().unwrap());
    let strategy = std::env::var("S").unwrap_or("random".into());
    for s in super::ALL.iter().filter(|s| s.name.starts_with(&name)) {
        let t = std::time::Instant::now();
        let r = run(s.scenario, checker(s, &strategy, 3, n).keep_going(true));
        println!("{} {strategy} {n} {:?}\n{}", s.name, t.elapsed(), r.text());
        println!(
            "failing {} cut {:?} iters {}",
            r.coverage.failing, r.coverage.cut, r.iterations
        );
    }
}
