//! Two locks, taken in two orders.
//!
//! A transfer locks the account it takes from, then the one it gives to. Two transfers in opposite
//! directions can each hold what the other one needs. Nothing panics and nothing spins: the program
//! stops. Ordinary tests pass, or hang without a word.
//!
//! cct knows that nothing can ever happen again, says *deadlock* at that very step, and names who
//! waits for which lock, who holds it, and since where. As the program is small, the strategy
//! `exhaustive` can also prove the repaired version right: it runs every schedule there is.

use cct_executor::spawn;
use cct_sync::Mutex;
use std::sync::Arc;

type Account = Arc<Mutex<i64>>;

async fn transfer(from: Account, to: Account, amount: i64) {
    let mut from = from.lock().await;
    let mut to = to.lock().await;
    *from -= amount;
    *to += amount;
}

/// The program with the bug.
pub async fn transfers_keep_the_sum() {
    let (a, b) = (Account::default(), Account::default());
    let there = spawn(transfer(a.clone(), b.clone(), 10));
    let back = spawn(transfer(b.clone(), a.clone(), 3));
    there.await.unwrap();
    back.await.unwrap();
    assert_eq!((*a.lock().await, *b.lock().await), (-7, 7));
}

/// The repaired program: all transfers take the locks in the same order.
pub async fn ordered_transfers_keep_the_sum() {
    async fn transfer(first: Account, second: Account, amount: i64) {
        let mut first = first.lock().await;
        let mut second = second.lock().await;
        *first -= amount;
        *second += amount;
    }
    let (a, b) = (Account::default(), Account::default());
    let there = spawn(transfer(a.clone(), b.clone(), 10));
    let back = spawn(transfer(a.clone(), b.clone(), -3));
    there.await.unwrap();
    back.await.unwrap();
    assert_eq!((*a.lock().await, *b.lock().await), (-7, 7));
}

#[cfg(test)]
mod tests {
    use super::*;
    use cct_executor::Checker;

    #[test]
    fn the_cycle_is_found_and_named() {
        let report = Checker::new()
            .use_environment(false)
            .run(transfers_keep_the_sum);
        let failure = report.failure().expect("not found");
        assert_eq!(failure.kind.class(), "deadlock");
        assert_eq!(failure.explanation.cycles.len(), 1);
        assert!(report.text().contains("CYCLE: task"), "{}", report.text());
    }

    #[test]
    fn no_schedule_of_the_repaired_program_deadlocks() {
        let report = Checker::new()
            .strategy_text("exhaustive")
            .iterations(1_000_000)
            .time_budget(None)
            .use_environment(false)
            .run(ordered_transfers_keep_the_sum);
        report.assert_passed();
        assert!(report.coverage.all_schedules.is_some());
    }
}
