//! Simulated disks: against tokio on a real one, and against the rules in their documentation.

#[path = "fs/closures.rs"]
mod closures;
#[path = "fs/crash.rs"]
mod crash;
#[path = "fs/crash_scripts.rs"]
mod crash_scripts;
#[path = "fs/durability.rs"]
mod durability;
#[path = "fs/faults.rs"]
mod faults;
#[cfg(target_os = "linux")]
#[path = "fs/flags.rs"]
mod flags;
#[path = "fs/given_up.rs"]
mod given_up;
#[macro_use]
#[path = "fs/list.rs"]
mod list;
#[path = "fs/log_store.rs"]
mod log_store;
#[path = "fs/schedules.rs"]
mod schedules;
#[path = "fs/twosided.rs"]
mod twosided;

use cct_executor::{Checker, Granularity, Report};

const STRATEGIES: [&str; 3] = ["random", "pct:d=3", "round-robin"];
const GRANULARITIES: [Granularity; 3] = [Granularity::Await, Granularity::Op, Granularity::Sync];

fn checker(name: &str) -> Checker {
    Checker::new()
        .name(name)
        .use_environment(false)
        .time_budget(None)
}

/// Every strategy with every granularity.
fn everywhere(name: &str, run: impl Fn(Checker)) {
    for granularity in GRANULARITIES {
        for strategy in STRATEGIES {
            let name = format!("{name} ({strategy}, {granularity:?})");
            let checker = checker(&name);
            run(checker.strategy_text(strategy).granularity(granularity));
        }
    }
}

/// Everything that is sometimes so was so.
fn all_seen(report: &Report) {
    assert!(!report.coverage.sometimes.is_empty());
    for (what, _, _, seen) in &report.coverage.sometimes {
        assert!(seen.reached > 0, "never: {what}");
    }
}
