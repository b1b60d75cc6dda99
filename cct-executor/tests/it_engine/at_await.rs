//! After a failure in the middle of a poll: does it take threads?

use crate::{checker, failed};
use cct_executor::task::yield_now;
use cct_executor::words::{FailureKind, Trace};
use cct_executor::{AtAwait, Checker, Granularity, InOrder, Report, Seed, nondet, select, spawn};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

/// What lies between reading and writing.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Between {
    Point,
    Await,
}

async fn add(counter: Arc<AtomicU32>, between: Between) {
    let seen = counter.load(SeqCst);
    match between {
        Between::Point => nondet::point(),
        Between::Await => yield_now().await,
    }
    counter.store(seen + 1, SeqCst);
}

async fn lossy(between: Between) {
    let counter = Arc::new(AtomicU32::new(0));
    let other = spawn(add(counter.clone(), between));
    add(counter.clone(), between).await;
    other.await.unwrap();
    assert_eq!(counter.load(SeqCst), 2);
}

#[track_caller]
fn at_await(report: &Report) -> AtAwait {
    let found = failed(report).at_await.clone();
    found.unwrap_or_else(|| panic!("granularity `await` was not tried: {}", report.text()))
}

#[test]
fn what_needs_a_switch_inside_a_poll_is_not_seen() {
    for granularity in [Granularity::Op, Granularity::Sync] {
        for workers in [1, 3] {
            let report = checker("threads")
                .granularity(granularity)
                .workers(workers)
                .run(|| lossy(Between::Point));
            let found = at_await(&report);
            assert_eq!(
                (found.schedules, found.same, found.other),
                (1_000, None, None)
            );
            assert!(!found.all && !found.out_of_time && found.cut == 0);
            let text = report.text();
            let line = "  not seen at granularity `await` (1,000 schedules): it seems to take";
            assert!(text.contains(line), "{text}");
        }
    }
}

#[test]
fn an_exhaustive_search_knows() {
    let report = checker("threads").strategy_text("exhaustive");
    let report = report.run(|| lossy(Between::Point));
    let found = at_await(&report);
    assert!(
        found.all && found.same.is_none() && found.schedules < 50,
        "{found:?}"
    );
    assert!(
        report
            .text()
            .contains("  does not fail at granularity `await` (")
    );
}

#[test]
fn what_one_thread_can_do_is_found_there_too() {
    for strategy in ["random", "portfolio", "pct:d=2", "ql", "exhaustive"] {
        for workers in [1, 3] {
            let report = checker("one thread")
                .strategy_text(strategy)
                .workers(workers)
                .run(|| lossy(Between::Await));
            let found = at_await(&report);
            let schedule = found
                .same
                .unwrap_or_else(|| panic!("{strategy}: {found:?}"));
            let line = format!("too, in schedule {schedule}: one thread is enough\n");
            assert!(report.text().contains(&line), "{}", report.text());
            // It is the schedule that a run at this granularity finds.
            let there = checker("one thread")
                .strategy_text(strategy)
                .granularity(Granularity::Await)
                .run(|| lossy(Between::Await));
            assert_eq!(failed(&there).iteration() + 1, schedule, "{strategy}");
            assert_eq!(failed(&there).at_await, None);
        }
    }
}

#[test]
fn another_failure_is_not_taken_for_the_same() {
    let report = checker("another").run(|| async {
        assert_ne!(nondet::choose(100), 7, "one in a hundred");
        lossy(Between::Point).await;
    });
    let found = at_await(&report);
    assert_eq!((found.schedules, found.same), (1_000, None));
    let (schedule, kind) = found.other.expect("one in a hundred");
    assert!(matches!(&kind, FailureKind::Panic { message, .. } if message.contains("hundred")));
    let text = report.text();
    let line =
        format!("(1,000 schedules), but something else, in schedule {schedule}:\n    panic at");
    assert!(text.contains(&line), "{text}");
    assert!(!text.contains("as threads"), "{text}");
}

/// Where a panic stands counts, what it says does not.
#[test]
fn the_same_place_is_the_same_failure() {
    let report = checker("noise").run(|| async {
        let noise = nondet::choose(1_000_000);
        let racy = spawn(async { lossy(Between::Await).await });
        assert!(racy.await.is_ok(), "noise {noise}");
    });
    assert!(at_await(&report).same.is_some());
}

#[test]
fn it_looks_a_few_times_further_than_the_failure_was() {
    let report = checker("late").iterations(5_000).run(|| async {
        let late = nondet::choose(800) == 0;
        if late {
            lossy(Between::Point).await;
        }
    });
    let failing = failed(&report).iteration() + 1;
    let found = at_await(&report);
    assert!(
        failing > 250,
        "choose a seed for which it is late: {failing}"
    );
    assert!(found.schedules == 4 * failing || found.out_of_time);
    // And not further than a short run, but for that.
    let report = checker("early")
        .iterations(30)
        .run(|| lossy(Between::Point));
    let failing = failed(&report).iteration() + 1;
    assert_eq!(at_await(&report).schedules, 30.max(4 * failing));
}

#[test]
fn only_a_search_at_a_finer_granularity_asks() {
    let run = |checker: Checker| checker.run(|| lossy(Between::Point));
    let report = run(checker("asks"));
    let replayed = run(checker("asks").replay(failed(&report).token.clone()));
    assert_eq!(failed(&replayed).at_await, None);
    assert_eq!(
        failed(&run(checker("asks").await_check(false))).at_await,
        None
    );
    let runs = Arc::new(AtomicU32::new(0));
    let report = checker("asks").determinism_check(true).run(move || {
        let run = runs.fetch_add(1, SeqCst);
        async move {
            for _ in 0..run {
                yield_now().await;
                spawn(yield_now());
            }
        }
    });
    assert_eq!(failed(&report).kind.class(), "nondeterminism");
    assert_eq!(failed(&report).at_await, None);
}

/// Everything else in the report, and what the strategy has learnt.
#[test]
fn it_changes_nothing_else() {
    let table = |name: &str| {
        let pid = std::process::id();
        std::env::temp_dir().join(format!("cct-at-await-{name}-{pid}"))
    };
    for keep_going in [false, true] {
        for strategy in ["random", "ql", "portfolio"] {
            let run = |check: bool| {
                let file = table(&format!("{strategy}-{keep_going}-{check}"));
                let mut run = checker("nothing else")
                    .strategy_text(strategy)
                    .keep_going(keep_going)
                    .determinism_check(true)
                    .seed(Seed(5))
                    .iterations(200)
                    .await_check(check);
                if strategy == "ql" {
                    run = run.learnt(&file);
                }
                let mut report = run.run(|| async {
                    let first = nondet::choose(4);
                    cct_executor::sometimes!(first == 3, "three");
                    cct_executor::watermark!("first", u64::from(first));
                    lossy(Between::Point).await;
                });
                let learnt = std::fs::read(&file).ok();
                let _ = std::fs::remove_file(&file);
                (report.elapsed, report.search) = Default::default();
                let failure = report.failure.as_mut().expect("a lost update");
                assert_eq!(failure.at_await.take().is_some(), check);
                (format!("{report:?}"), learnt)
            };
            let (with, without) = (run(true), run(false));
            assert_eq!(with, without, "{strategy}");
            assert_eq!(with.1.is_some(), strategy == "ql");
        }
    }
}

/// Neither because of slow iterations, nor because of a poll that takes longer than that.
#[test]
fn a_report_is_not_late() {
    for pause in [Duration::from_millis(20), Duration::from_secs(5)] {
        let calls = Arc::new(AtomicU32::new(0));
        let report = checker("slow").run(move || {
            // Not up to the failing iteration, nor in its replay.
            let slow = calls.fetch_add(1, SeqCst) > 30;
            async move {
                if slow {
                    // The time of another thread is real.
                    let other = std::thread::spawn(move || std::thread::sleep(pause));
                    other.join().unwrap();
                }
                lossy(Between::Point).await;
            }
        });
        assert!(failed(&report).iteration() < 25, "choose another seed");
        let found = at_await(&report);
        assert!(found.out_of_time && found.schedules > 0, "{found:?}");
        assert!(report.elapsed - report.search < Duration::from_secs(4));
        let text = report.text();
        assert!(
            text.contains(", all that a second allowed): too few to say"),
            "{text}"
        );
    }
}

/// A strategy of the user's own is not asked for more than the run.
#[test]
fn own_strategies_stay_as_they_are() {
    use cct_executor::strategy::{Flow, Random, Strategy};
    use cct_executor::words::{EnabledSet, Iteration, Pick, SchedulingPoint};

    struct Counting(Random, Arc<AtomicU32>);

    impl Strategy for Counting {
        fn describe(&self) -> String {
            "counting".to_owned()
        }
        fn begin(&mut self, iteration: &Iteration) -> Flow {
            self.1.fetch_add(1, SeqCst);
            self.0.begin(iteration)
        }
        fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
            self.0.pick(point, enabled)
        }
    }

    let begun = Arc::new(AtomicU32::new(0));
    let count = begun.clone();
    let report = checker("own")
        .strategy(move || Counting(Random::new(), count.clone()))
        .run(|| lossy(Between::Await));
    assert!(at_await(&report).same.is_some());
    assert_eq!(u64::from(begun.load(SeqCst)), report.iterations);
    assert_ne!(failed(&report).token.trace, Trace::default());
}

#[test]
fn what_tokios_order_hides_is_said_to_be_hidden() {
    // A test that takes for granted that a yield lets every other task run.
    let hopeful = || async {
        let done = Arc::new(AtomicU32::new(0));
        let theirs = done.clone();
        drop(spawn(async move { theirs.store(1, SeqCst) }));
        yield_now().await;
        assert_eq!(done.load(SeqCst), 1);
    };
    let report = checker("hopeful").run(hopeful);
    assert_eq!(
        failed(&report).in_order,
        Some(InOrder::Passes),
        "{}",
        report.text()
    );
    let line = "  (with `strategy = \"round-robin\"`";
    assert!(report.text().contains(line), "{}", report.text());
    // Where there is no finer granularity to begin with, as with `flavor = "current_thread"`.
    let there = checker("hopeful")
        .granularity(Granularity::Await)
        .run(hopeful);
    assert_eq!(
        failed(&there).in_order,
        Some(InOrder::Passes),
        "{}",
        there.text()
    );
    let line_there = "  passes with `strategy = \"round-robin\"`";
    assert!(there.text().contains(line_there), "{}", there.text());
    let in_order = checker("hopeful").strategy_text("round-robin").run(hopeful);
    in_order.assert_passed();

    let report = checker("not in order either").run(|| lossy(Between::Await));
    assert_eq!(
        failed(&report).in_order,
        Some(InOrder::Fails),
        "{}",
        report.text()
    );
    assert!(!report.text().contains(line), "{}", report.text());
    let there = checker("not in order either")
        .granularity(Granularity::Await)
        .run(|| lossy(Between::Await));
    assert_eq!(
        failed(&there).in_order,
        Some(InOrder::Fails),
        "{}",
        there.text()
    );
    assert!(!there.text().contains("round-robin"), "{}", there.text());
}

/// Tokio is not said to fail where it draws what is the first value each time here.
#[test]
fn no_order_is_blamed_where_all_values_are_the_first() {
    let report = checker("one side")
        .strategy_text("round-robin")
        .run(|| async {
            let mut sides = [0; 2];
            for _ in 0..60 {
                select! {
                    () = std::future::ready(()) => sides[0] += 1,
                    () = std::future::ready(()) => sides[1] += 1,
                }
            }
            assert!(sides.iter().all(|&taken| taken > 0), "{sides:?}");
        });
    let (failure, text) = (failed(&report), report.text());
    assert_eq!(
        failure.in_order,
        Some(InOrder::FailsByFirstValues),
        "{text}"
    );
    assert!(text.contains("the first of the values"), "{text}");
    assert!(!text.contains("tokio should fail"), "{text}");
}
