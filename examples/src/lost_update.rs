//! A lock that is released between reading and writing.
//!
//! Each deposit reads the balance under the lock, lets go of the lock, and takes it again to write.
//! When another deposit comes in between, one of the two is lost.
//!
//! An ordinary test does not see it: neither lock is contended, so on a single-threaded runtime
//! each deposit runs from its beginning to its end in one poll. On many threads the window is a few
//! nanoseconds wide. cct decides *inside* the poll, before each `lock`, who goes on; a few
//! schedules are enough.

use cct_sync::Mutex;
use std::sync::Arc;

async fn deposit(balance: Arc<Mutex<u64>>, amount: u64) {
    let before = *balance.lock().await;
    *balance.lock().await = before + amount;
}

/// The program with the bug.
pub async fn deposits_add_up() {
    let balance = Arc::new(Mutex::new(0));
    let rent = cct_executor::spawn(deposit(balance.clone(), 700));
    let food = cct_executor::spawn(deposit(balance.clone(), 50));
    rent.await.unwrap();
    food.await.unwrap();
    assert_eq!(*balance.lock().await, 750);
}

/// The repaired program: one guard from reading to writing.
pub async fn deposits_under_one_guard_add_up() {
    async fn deposit(balance: Arc<Mutex<u64>>, amount: u64) {
        let mut balance = balance.lock().await;
        *balance += amount;
    }
    let balance = Arc::new(Mutex::new(0));
    let rent = cct_executor::spawn(deposit(balance.clone(), 700));
    let food = cct_executor::spawn(deposit(balance.clone(), 50));
    rent.await.unwrap();
    food.await.unwrap();
    assert_eq!(*balance.lock().await, 750);
}

#[cfg(test)]
mod tests {
    use super::*;
    use cct_executor::{Checker, Granularity};

    #[test]
    fn every_randomised_strategy_finds_it() {
        for strategy in ["random", "pct:d=2"] {
            let report = Checker::new()
                .strategy_text(strategy)
                .use_environment(false)
                .run(deposits_add_up);
            let failure = report.failure().expect("not found");
            assert_eq!(failure.kind.class(), "panic");
            assert!(failure.reproduced);
        }
    }

    /// What the failing schedule of one run is good for: the same failure, at once.
    #[test]
    fn the_token_leads_back_to_it() {
        let checker = Checker::new().use_environment(false);
        let report = checker.clone().run(deposits_add_up);
        let token = report.failure().expect("not found").token.clone();
        let again = checker.replay(token).run(deposits_add_up);
        assert_eq!(
            again.failure().expect("not replayed").kind,
            report.failure().unwrap().kind
        );
    }

    /// Where decisions lie only between polls, as on a single-threaded runtime, there is no bug.
    #[test]
    fn a_single_threaded_runtime_cannot_show_it() {
        let report = Checker::new()
            .strategy_text("exhaustive")
            .granularity(Granularity::Await)
            .use_environment(false)
            .run(deposits_add_up);
        report.assert_passed();
        assert!(report.coverage.all_schedules.is_some());
    }

    #[cct_executor::test(strategy = "exhaustive", time_budget = "none", iterations = 100_000)]
    async fn one_guard_repairs_it() {
        deposits_under_one_guard_add_up().await;
    }
}
