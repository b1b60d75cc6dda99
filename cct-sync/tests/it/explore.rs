//! Exploring a scenario.

use cct_executor::{Checker, Clock, Granularity, Report};

/// Runs a scenario that must pass, in every mode.
pub(crate) fn passes<F, Fut>(scenario: F)
where
    F: Fn() -> Fut + Send + Sync + Clone + 'static,
    Fut: Future<Output = ()> + 'static,
{
    for granularity in [Granularity::Await, Granularity::Op, Granularity::Sync] {
        for strategy in ["random", "pct:d=3"] {
            for spurious in [false, true] {
                Checker::new()
                    .granularity(granularity)
                    .strategy_text(strategy)
                    .clock(Clock::Adversarial)
                    .spurious_polls(spurious)
                    .iterations(60)
                    .run(scenario.clone())
                    .assert_passed();
            }
        }
    }
}

/// What comes of exploring a scenario at a granularity.
pub(crate) fn explore<F, Fut>(granularity: Granularity, scenario: F) -> Report
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + 'static,
{
    Checker::new()
        .granularity(granularity)
        .iterations(2000)
        .run(scenario)
}
