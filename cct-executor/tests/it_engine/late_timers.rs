//! Timers that are late, as on any machine.

use crate::{GRANULARITIES, checker, failed};
use cct_executor::time::{Instant, interval, pause, sleep, timeout};
use cct_executor::{Report, join, select};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn run<F: Future<Output = ()> + 'static>(
    late: bool,
    scenario: impl Fn() -> F + Send + Sync + Clone + 'static,
) -> Vec<Report> {
    let runs = ["random", "round-robin", "pct:d=3"].into_iter();
    let runs = runs.flat_map(|strategy| {
        GRANULARITIES.map(|level| {
            let checker = checker("late").strategy_text(strategy).iterations(100);
            let checker = checker.granularity(level).late_timers(late);
            checker.run(scenario.clone())
        })
    });
    runs.collect()
}

fn assert_passed(reports: &[Report]) {
    reports.iter().for_each(Report::assert_passed);
}

/// One sleep of 60 ms is over before three of 20 ms.
async fn three_against_one() {
    let three = cct_executor::spawn(async {
        for _ in 0..3 {
            sleep(20 * MS).await;
        }
    });
    sleep(60 * MS).await;
    assert!(!three.is_finished(), "the three were first");
    three.await.unwrap();
}

#[test]
fn what_is_made_of_several_sleeps_is_over_later() {
    assert_passed(&run(true, three_against_one));
    let reports = run(false, three_against_one);
    assert!(reports[0].failure.is_some(), "there it is a tie");
}

#[test]
fn what_is_due_now_is_not_over_at_once() {
    assert_passed(&run(true, || async {
        select! {
            biased;
            () = sleep(Duration::ZERO) => panic!("over at once"),
            () = std::future::ready(()) => {}
        }
        let mut ticks = interval(5 * MS);
        select! {
            biased;
            _ = ticks.tick() => panic!("over at once"),
            () = std::future::ready(()) => {}
        }
        let work = timeout(Duration::ZERO, cct_executor::task::yield_now());
        assert_eq!(work.await, Ok(()));
    }));
}

#[test]
fn time_is_in_between_milliseconds_unless_it_is_paused() {
    assert_passed(&run(true, || async {
        let begun = Instant::now();
        join!(sleep(5 * MS), sleep(Duration::ZERO));
        let elapsed = begun.elapsed();
        assert!(elapsed >= 5 * MS && elapsed < 7 * MS, "{elapsed:?}");
        sleep(5 * MS).await;
        assert!(begun.elapsed() > elapsed + 5 * MS);
        pause();
        let paused = Instant::now();
        for _ in 0..3 {
            sleep(20 * MS).await;
        }
        // Each begins in the middle of a tick.
        assert_eq!(paused.elapsed(), 63 * MS);
    }));
}

/// What is traced is looked at where somebody hears it, as in the replay that tells a failure, and not while it is
/// explored: no deadline is another one for that.
#[test]
fn looks_for_what_is_traced_alone_change_nothing() {
    let report = checker("traced").late_timers(true).run(|| async {
        let begun = Instant::now();
        for _ in 0..3_000 {
            tracing::debug!(elapsed = ?begun.elapsed());
            cct_executor::task::yield_now().await;
        }
        sleep(5 * MS).await;
        panic!("{} ms", begun.elapsed().as_millis());
    });
    let failure = failed(&report);
    let said = failure.kind.to_string();
    // What the search saw, and what the replay did that tells it.
    assert!(failure.reproduced, "{}", report.text());
    assert!(said.ends_with(": 6 ms"), "{said}");
    let last = failure.explanation.steps.last().unwrap();
    assert!(last.time_ns / 1_000_000 == 6, "{}", report.text());
}
