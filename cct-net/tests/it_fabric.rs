//! The fabric and what is sent over it, from outside: links, mailboxes, fault plans.

use cct_executor::{Checker, FailureReport, Granularity, Report};
use std::time::Duration;

mod it_fabric {
    mod bad_input;
    mod calls;
    mod colours;
    mod deeds;
    mod faults;
    mod hunting;
    mod identities;
    mod links;
    mod mailbox;
    mod shortened;
}

const STRATEGIES: [&str; 3] = ["random", "pct:d=3", "round-robin"];
const GRANULARITIES: [Granularity; 3] = [Granularity::Await, Granularity::Op, Granularity::Sync];

fn checker(name: &str) -> Checker {
    Checker::new()
        .name(name)
        .use_environment(false)
        .time_budget(None)
        .determinism_check(true)
        .workers(1)
        .poll_limit(Duration::from_secs(20))
}

/// Runs a scenario, which must pass, with every strategy at every granularity.
fn everywhere<F>(
    name: &str,
    iterations: u64,
    scenario: impl Fn() -> F + Send + Sync + Clone + 'static,
) where
    F: Future<Output = ()> + 'static,
{
    for granularity in GRANULARITIES {
        for strategy in STRATEGIES {
            let report = checker(name)
                .granularity(granularity)
                .strategy_text(strategy)
                .iterations(iterations)
                .run(scenario.clone());
            report.assert_passed();
        }
    }
}

/// The failure of a run that must fail.
#[track_caller]
fn failed(report: &Report) -> &FailureReport {
    report.failure().expect("the run should have failed")
}
