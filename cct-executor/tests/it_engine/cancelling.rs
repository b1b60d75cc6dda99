//! Futures that may be cancelled, and wait for time.

use super::super::checker;
use cct_executor::time::{Instant, sleep};
use cct_executor::{Clock, cancellable, spawn};
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

/// How many waits there are.
const NAPS: usize = 3;

/// How often the work was cancelled after so many naps, and how often it was done.
type Seen = Arc<[AtomicU64; NAPS + 1]>;

/// Naps, and may be cancelled while nothing else is ready.
async fn naps(seen: Seen) {
    let begin = Instant::now();
    let work = async {
        for _ in 0..NAPS {
            sleep(Duration::from_millis(10)).await;
        }
    };
    let done = cancellable(work).await;
    let naps = (begin.elapsed().as_millis() / 10) as usize;
    // The last timer may fire, and the work be cancelled before it learns of that.
    let index = done.map_or(naps.min(NAPS - 1), |()| NAPS);
    seen[index].fetch_add(1, SeqCst);
}

#[test]
fn time_may_pass_for_a_future_that_may_be_cancelled() {
    for strategy in ["random", "pct:d=3", "ql", "portfolio", "exhaustive"] {
        let seen = Seen::default();
        let theirs = seen.clone();
        let report = checker("naps")
            .strategy_text(strategy)
            .iterations(400)
            .run(move || naps(theirs.clone()));
        assert!(report.passed(), "{strategy}: {}", report.text());
        let all = seen.iter().all(|count| count.load(SeqCst) > 0);
        assert!(all, "{strategy}: {seen:?}");
    }
}

#[test]
fn in_plain_order_nothing_is_cancelled_that_waits_for_time() {
    for clock in [Clock::Strict, Clock::Racing(Duration::from_millis(5))] {
        let seen = Seen::default();
        let theirs = seen.clone();
        let report = checker("naps")
            .strategy_text("round-robin")
            .clock(clock)
            .run(move || naps(theirs.clone()));
        assert!(report.passed(), "{}", report.text());
        assert_eq!(seen[NAPS].load(SeqCst), 1, "{clock:?}: {seen:?}");
    }
}

/// A heartbeat has deadlines for as long as it goes on, and nothing is left after it.
#[test]
fn what_waits_for_ever_is_cancelled_in_the_end() {
    for strategy in ["round-robin", "random", "exhaustive"] {
        let report = checker("for ever")
            .strategy_text(strategy)
            .iterations(50)
            .run(|| async {
                let heartbeat = spawn(async {
                    for _ in 0..3 {
                        sleep(Duration::from_millis(10)).await;
                    }
                });
                assert_eq!(cancellable(pending::<()>()).await, None);
                heartbeat.await.expect("it does not panic");
            });
        assert!(report.passed(), "{strategy}: {}", report.text());
    }
}
