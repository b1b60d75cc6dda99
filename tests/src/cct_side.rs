//! Runs a contract in worlds of ours, and holds what it noted against what tokio noted.

use crate::Log;
use crate::contract::{Contract, erased};
use cct_executor::{Checker, Clock, Granularity, spawn, task};
use cct_sync::Mutex;
use std::sync::Arc;
use std::time::Duration;

/// Strategies, and how many iterations each gets; round-robin has no second one.
const STRATEGIES: [(&str, u64); 3] = [("round-robin", 1), ("random", 50), ("pct", 50)];
const GRANULARITIES: [Granularity; 3] = [Granularity::Await, Granularity::Op, Granularity::Sync];
/// Clocks that let timers fire while there is work, for contracts that do not look at the clock.
const WILD_CLOCKS: [Clock; 2] = [Clock::Racing(Duration::from_millis(5)), Clock::Adversarial];

/// Longer than any contract sleeps.
const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Who else is there while a contract runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Company {
    Alone,
    /// Two tasks that keep busy with a lock of their own, so that there is somebody to switch to
    /// at every point.
    Busy,
}

/// How one contract is explored once.
struct Setting {
    strategy: &'static str,
    iterations: u64,
    granularity: Granularity,
    clock: Clock,
    company: Company,
}

impl Setting {
    fn check(&self, name: &str, contract: &Contract, expected: &[String]) {
        let Setting {
            strategy,
            iterations,
            granularity,
            clock,
            company,
        } = *self;
        let (contract, expected) = (contract.clone(), expected.to_vec());
        let report = Checker::new()
            .name(format!(
                "{name} ({strategy}, {granularity:?}, {clock:?}, {company:?})"
            ))
            .strategy_text(strategy)
            .granularity(granularity)
            .clock(clock)
            .start_paused(true)
            .iterations(iterations)
            .time_budget(None)
            .workers(1)
            .max_time(CENTURY)
            .fail_on_limit(true)
            .use_environment(false)
            .run(move || {
                let (contract, expected) = (contract.clone(), expected.clone());
                async move {
                    let neighbours = match company {
                        Company::Alone => Vec::new(),
                        Company::Busy => busy_neighbours(),
                    };
                    let log = Log::new();
                    contract(log.clone()).await;
                    assert_eq!(log.lines(), expected, "ours noted what tokio does not");
                    for neighbour in neighbours {
                        neighbour.await.expect("neighbours do nothing that fails");
                    }
                }
            });
        report.assert_passed();
        assert_eq!(report.iterations, iterations, "every iteration counts");
        if strategy == "random" && company == Company::Busy {
            assert!(
                report.coverage.schedules > 1,
                "company leaves something to choose"
            );
        }
    }
}

fn busy_neighbours() -> Vec<task::JoinHandle<()>> {
    let shared = Arc::new(Mutex::new(0));
    let neighbour = |shared: Arc<Mutex<u32>>| async move {
        for _ in 0..6 {
            *shared.lock().await += 1;
            task::yield_now().await;
        }
    };
    (0..2).map(|_| spawn(neighbour(shared.clone()))).collect()
}

/// Every granularity, every strategy, alone and in company, under all clocks.
pub fn any<F: Future<Output = ()> + 'static>(
    name: &str,
    contract: impl Fn(Log) -> F + Send + Sync + 'static,
    expected: Vec<String>,
) {
    let contract = erased(contract);
    in_every_way(name, &contract, &expected);
    for clock in WILD_CLOCKS {
        let setting = Setting {
            strategy: "random",
            iterations: 50,
            granularity: Granularity::Op,
            clock,
            company: Company::Busy,
        };
        setting.check(name, &contract, &expected);
    }
}

/// Every granularity, every strategy, alone and in company, under the strict clock.
pub fn clock<F: Future<Output = ()> + 'static>(
    name: &str,
    contract: impl Fn(Log) -> F + Send + Sync + 'static,
    expected: Vec<String>,
) {
    in_every_way(name, &erased(contract), &expected);
}

fn in_every_way(name: &str, contract: &Contract, expected: &[String]) {
    for granularity in GRANULARITIES {
        for (strategy, iterations) in STRATEGIES {
            for company in [Company::Alone, Company::Busy] {
                let clock = Clock::Strict;
                // What is alone has few orders to go in.
                let iterations = match company {
                    Company::Alone => iterations.div_ceil(4),
                    Company::Busy => iterations,
                };
                let setting = Setting {
                    strategy,
                    iterations,
                    granularity,
                    clock,
                    company,
                };
                setting.check(name, contract, expected);
            }
        }
    }
}

/// As [`any`]: tasks of a world may always block.
pub fn multi<F: Future<Output = ()> + 'static>(
    name: &str,
    contract: impl Fn(Log) -> F + Send + Sync + 'static,
    expected: Vec<String>,
) {
    any(name, contract, expected);
}

/// One order: that in which tasks were woken, without switches inside a poll.
pub fn fifo<F: Future<Output = ()> + 'static>(
    name: &str,
    contract: impl Fn(Log) -> F + Send + Sync + 'static,
    expected: Vec<String>,
) {
    let setting = Setting {
        strategy: "round-robin",
        iterations: 1,
        granularity: Granularity::Await,
        clock: Clock::Strict,
        company: Company::Alone,
    };
    setting.check(name, &erased(contract), &expected);
}
