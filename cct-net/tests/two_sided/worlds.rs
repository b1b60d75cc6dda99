//! Runs scenarios under several strategies and granularities.

use cct_executor::{Checker, Granularity, Report};

const STRATEGIES: [&str; 3] = ["random", "pct:d=3", "round-robin"];
const GRANULARITIES: [Granularity; 3] = [Granularity::Await, Granularity::Op, Granularity::Sync];

/// A checker that nothing outside of the test influences.
pub(crate) fn checker(name: &str) -> Checker {
    Checker::new()
        .name(name)
        .use_environment(false)
        .time_budget(None)
        .fail_on_limit(true)
        .determinism_check(true)
        .max_time(std::time::Duration::from_secs(24 * 3600))
}

/// Every strategy with every granularity.
pub(crate) fn everywhere(name: &str, iterations: u64, run: impl Fn(Checker) -> Report) {
    for granularity in GRANULARITIES {
        for strategy in STRATEGIES {
            let name = format!("{name} ({strategy}, {granularity:?})");
            let checker = checker(&name)
                .strategy_text(strategy)
                .granularity(granularity)
                .iterations(iterations);
            let report = run(checker);
            report.assert_passed();
        }
    }
}
