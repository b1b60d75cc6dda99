//! Each program shows its bug, and without it stays silent.

use super::ALL;
use crate::subjects::{Probe, Scenario, Subject};
use cct_executor::{Checker, Report, Seed};

fn explore(subject: &'static Subject, bug: bool, strategy: &str, iterations: u64) -> Report {
    let fixed = subject.fixed.expect("every program has a form without the bug");
    let scenario: fn(Probe) -> Scenario = if bug { subject.scenario } else { fixed };
    Checker::new()
        .name(subject.name)
        .use_environment(false)
        .strategy_text(strategy)
        .seed(Seed(1))
        .workers(1)
        .iterations(iterations)
        .time_budget(None)
        .granularity(subject.granularity)
        .clock(subject.clock)
        .max_steps(subject.max_steps)
        .run(move || scenario(Probe::default()))
}

#[test]
fn without_the_bug_nothing_fails_and_every_run_ends() {
    for subject in ALL {
        for strategy in ["random", "pct:d=3", "round-robin"] {
            let report = explore(subject, false, strategy, 300);
            assert!(report.passed(), "{}: {}", subject.name, report.text());
            assert_eq!(report.cut(), 0, "{} under {strategy}", subject.name);
        }
    }
}
