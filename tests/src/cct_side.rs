//! Runs a contract in worlds of ours, and holds what it noted against what tokio noted.

use crate::Log;
use cct_executor::{Checker, Clock, Granularity, spawn, task};
use cct_sync::Mutex;
use std::sync::Arc;
use std::time::Duration;

/// Strategies, and how many iterations each gets; round-robin has no second one.
const STRATEGIES: [(&str, u64); 3] = [("round-robin", 1), ("random", 100), ("pct", 100)];
const GRANULARITIES: [Granularity; 3] = [Granularity::Await, Granularity::Op, Granularity::Sync];

/// Who else is there while a contract runs.
#[derive(Clone, Copy)]
enum Company {
    Alone,
    /// Two tasks that keep busy with a lock of their own, so that there is somebody to switch to
    /// at every point.
    Busy,
}

/// Runs `contract` in one world after another.
fn check<F>(
    name: &str,
    strategy: &str,
    granularity: Granularity,
    company: Company,
    iterations: u64,
    contract: impl Fn(Log) -> F + Send + Sync + Copy + 'static,
    expected: &[String],
) where
    F: Future<Output = ()> + 'static,
{
    let expected = expected.to_vec();
    let report = Checker::new()
        .name(format!("{name} ({strategy}, {granularity:?})"))
        .strategy_text(strategy)
        .granularity(granularity)
        .clock(Clock::Strict)
        .start_paused(true)
        .iterations(iterations)
        .max_time(Duration::from_secs(100 * 365 * 24 * 3600))
        .fail_on_limit(true)
        .time_budget(None)
        .use_environment(false)
        .run(move || {
            let expected = expected.clone();
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
    if strategy == "random" && matches!(company, Company::Busy) {
        assert!(report.coverage.schedules > 1, "company must leave something to choose");
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

/// Every granularity, every strategy, alone and in company.
pub fn any<F>(
    name: &str,
    contract: impl Fn(Log) -> F + Send + Sync + Copy + 'static,
    expected: Vec<String>,
) where
    F: Future<Output = ()> + 'static,
{
    for granularity in GRANULARITIES {
        for (strategy, iterations) in STRATEGIES {
            for company in [Company::Alone, Company::Busy] {
                check(name, strategy, granularity, company, iterations, contract, &expected);
            }
        }
    }
}

/// As [`any`]: the clock of a world is paused anyway.
pub fn clock<F>(
    name: &str,
    contract: impl Fn(Log) -> F + Send + Sync + Copy + 'static,
    expected: Vec<String>,
) where
    F: Future<Output = ()> + 'static,
{
    any(name, contract, expected);
}

/// As [`any`]: tasks of a world may always block.
pub fn multi<F>(
    name: &str,
    contract: impl Fn(Log) -> F + Send + Sync + Copy + 'static,
    expected: Vec<String>,
) where
    F: Future<Output = ()> + 'static,
{
    any(name, contract, expected);
}

/// One order: that in which tasks were woken, without switches inside a poll.
pub fn fifo<F>(
    name: &str,
    contract: impl Fn(Log) -> F + Send + Sync + Copy + 'static,
    expected: Vec<String>,
) where
    F: Future<Output = ()> + 'static,
{
    check(name, "round-robin", Granularity::Await, Company::Alone, 1, contract, &expected);
}
