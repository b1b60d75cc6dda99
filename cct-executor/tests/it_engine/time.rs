//! Clock policies: when a timer may fire.

use crate::{checker, within};
use cct_executor::task::yield_now;
use cct_executor::time::{Instant, sleep};
use cct_executor::{Checker, Clock, Granularity, nondet, spawn};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn millis(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// The values a scenario ends with, over many iterations.
fn results<F: Future<Output = u64> + 'static>(
    clock: Clock,
    scenario: impl Fn() -> F + Send + Sync + Clone + 'static,
) -> BTreeSet<u64> {
    let seen: Arc<Mutex<BTreeSet<u64>>> = Arc::default();
    for strategy in ["random", "pct:d=3"] {
        let (theirs, scenario) = (seen.clone(), scenario.clone());
        let checker: Checker = checker("clock")
            .clock(clock)
            .strategy_text(strategy)
            .iterations(600);
        let report = checker.run(move || {
            let (seen, scenario) = (theirs.clone(), scenario());
            async move {
                let result = scenario.await;
                seen.lock().unwrap().insert(result);
            }
        });
        assert!(report.passed(), "{clock:?}: {}", report.text());
        assert_eq!(report.iterations(), 600);
    }
    let seen = seen.lock().unwrap();
    seen.clone()
}

/// How many turns a busy task had when a timer of 10 ms fired.
async fn turns() -> u64 {
    let turns = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let theirs = turns.clone();
    let busy = spawn(async move {
        for _ in 0..4 {
            theirs.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            yield_now().await;
        }
    });
    let begun = Instant::now();
    sleep(millis(10)).await;
    assert!(
        begun.elapsed() >= millis(10),
        "a timer fired early by the clock"
    );
    let seen = turns.load(std::sync::atomic::Ordering::SeqCst);
    busy.await.unwrap();
    seen
}

#[test]
fn a_timer_beats_ready_work_under_every_clock_but_the_strict_one() {
    assert_eq!(results(Clock::Strict, turns), BTreeSet::from([4]));
    let all = BTreeSet::from([0, 1, 2, 3, 4]);
    assert_eq!(results(Clock::Adversarial, turns), all);
    assert_eq!(results(Clock::Racing(Duration::ZERO), turns), all);
}

/// The order in which sleeps of 10, 11, 13 and 20 ms end, as digits.
async fn order() -> u64 {
    let ended: Arc<Mutex<u64>> = Arc::default();
    let sleeps = [10, 11, 13, 20].map(|ms| {
        let ended = ended.clone();
        spawn(async move {
            sleep(millis(ms)).await;
            let mut ended = ended.lock().unwrap();
            *ended = *ended * 10 + ms % 7;
        })
    });
    for task in sleeps {
        task.await.unwrap();
    }
    let ended = ended.lock().unwrap();
    *ended
}

/// Whether the timers of 10, 11, 13 and 20 ms (digits 3, 4, 6 and 6) can fire in this order, once
/// all are set: each within `slack` of the earliest left.
fn fits(order: &[u64], slack: u64) -> bool {
    let mut left = vec![10, 11, 13, 20];
    order.iter().all(|ms| {
        let earliest = *left.iter().min().unwrap();
        left.retain(|other| other != ms);
        *ms <= earliest + slack
    })
}

/// The orders in which timers fire, all set at one moment by one task.
async fn fired() -> u64 {
    let deadlines = [10, 11, 13, 20];
    let begun = Instant::now();
    let mut sleeps = deadlines.map(|ms| {
        Some(Box::pin(cct_executor::time::sleep_until(
            begun + millis(ms),
        )))
    });
    let mut order = 0;
    std::future::poll_fn(|cx| {
        for (sleep, ms) in sleeps.iter_mut().zip(deadlines) {
            if let Some(pending) = sleep
                && pending.as_mut().poll(cx).is_ready()
            {
                *sleep = None;
                order = order * 100 + ms;
            }
        }
        let over = sleeps.iter().all(Option::is_none);
        if over {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    let elapsed = begun.elapsed();
    assert!(elapsed >= millis(20) && elapsed < millis(40), "{elapsed:?}");
    order
}

#[test]
fn racing_timers_overtake_each_other_within_the_slack_only() {
    assert_eq!(results(Clock::Strict, fired), BTreeSet::from([10_11_13_20]));
    assert_eq!(
        results(Clock::Racing(Duration::ZERO), fired),
        BTreeSet::from([10_11_13_20])
    );
    for slack in [1, 3, 10] {
        let seen = results(Clock::Racing(millis(slack)), fired);
        for order in &seen {
            let each = [
                order / 1_000_000,
                order / 10_000 % 100,
                order / 100 % 100,
                order % 100,
            ];
            assert!(fits(&each, slack), "{each:?} with slack {slack}");
        }
        assert!(seen.contains(&10_11_13_20), "{seen:?}");
        assert_eq!(seen.contains(&11_10_13_20), slack >= 1, "{slack}: {seen:?}");
        assert_eq!(seen.contains(&13_10_11_20), slack >= 3, "{slack}: {seen:?}");
        assert_eq!(
            seen.contains(&20_10_11_13),
            slack >= 10,
            "{slack}: {seen:?}"
        );
    }
}

#[test]
fn tasks_woken_by_timers_run_in_any_order_unless_the_clock_is_strict() {
    assert_eq!(results(Clock::Strict, order).len(), 1);
    // Under the others a task that was woken may be overtaken by later timers.
    assert!(results(Clock::Adversarial, order).len() > 1);
}

#[test]
fn time_never_goes_back_and_jumps_only_to_deadlines() {
    for clock in [Clock::Strict, Clock::Adversarial, Clock::Racing(millis(5))] {
        let seen = results(clock, || async {
            let begun = Instant::now();
            let tasks: Vec<_> = (1..4)
                .map(|i| {
                    spawn(async move {
                        let mut last = Instant::now();
                        for _ in 0..3 {
                            sleep(millis(i * 7)).await;
                            nondet::point();
                            let now = Instant::now();
                            assert!(now >= last + millis(i * 7));
                            last = now;
                        }
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
            let elapsed = begun.elapsed();
            assert_eq!(elapsed.subsec_nanos() % 1_000_000, 0);
            elapsed.as_millis() as u64
        });
        assert_eq!(seen.first(), Some(&63), "{clock:?}");
        assert_eq!(
            seen.len() > 1,
            clock != Clock::Strict,
            "{clock:?}: {seen:?}"
        );
    }
}

/// leaky-bucket polls its timer so.
#[test]
fn a_timer_that_is_polled_under_a_lock_suspends_nobody() {
    for granularity in [Granularity::Await, Granularity::Op, Granularity::Sync] {
        let checker = checker("locked timers").granularity(granularity);
        let report = within(20, move || {
            checker.iterations(200).run(|| async {
                let lock = Arc::new(std::sync::Mutex::new(()));
                let sleepers = [1, 2, 3].map(|millis| {
                    let lock = lock.clone();
                    spawn(async move {
                        let mut timer = std::pin::pin!(sleep(Duration::from_millis(millis)));
                        std::future::poll_fn(|cx| {
                            let _held = lock.lock();
                            timer.as_mut().poll(cx)
                        })
                        .await;
                    })
                });
                for sleeper in sleepers {
                    sleeper.await.unwrap();
                }
            })
        });
        report.assert_passed();
    }
}
