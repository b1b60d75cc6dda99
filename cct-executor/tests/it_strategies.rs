//! Strategies through the whole engine: determinism, replay, counts and the guarantee of PCT, on
//! real asynchronous programs.

use cct_executor::strategy::StrategySpec;
use cct_executor::task::yield_now;
use cct_executor::{Checker, Granularity, Report, Seed, nondet, spawn};
use odds::{assert_at_least, assert_distribution, assert_exactly};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

#[path = "../src/strategy/odds.rs"]
mod odds;

type Body = Pin<Box<dyn Future<Output = ()> + Send>>;

fn checker(strategy: &str, iterations: u64) -> Checker {
    Checker::new()
        .name("strategies")
        .strategy_text(strategy)
        .iterations(iterations)
        .time_budget(None)
        .use_environment(false)
        .determinism_check(false)
}

/// Every strategy as it comes, and some with parameters.
fn all() -> Vec<String> {
    let plain = StrategySpec::all()
        .iter()
        .map(|entry| entry.name().to_owned());
    let more = [
        "pct:d=1",
        "pct:d=4,k=20",
        "pct:phases=on,final-wait=on",
        "pct:patience=2",
    ];
    plain.chain(more.map(str::to_owned)).collect()
}

/// Spawns the tasks and waits until all are done. The main task is woken once, by the last one, so
/// that only the tasks take part in decisions.
async fn run_all(tasks: Vec<Body>) {
    struct Done {
        left: usize,
        waker: Option<Waker>,
    }
    let done = Arc::new(Mutex::new(Done {
        left: tasks.len(),
        waker: None,
    }));
    for task in tasks {
        let done = done.clone();
        spawn(async move {
            task.await;
            let mut done = done.lock().unwrap();
            done.left -= 1;
            if done.left == 0 {
                let waker = done.waker.take();
                drop(done);
                waker.into_iter().for_each(Waker::wake);
            }
        });
    }
    poll_fn(|cx| {
        let mut done = done.lock().unwrap();
        done.waker = Some(cx.waker().clone());
        if done.left == 0 {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

/// The order in which steps happen: the task of each.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u32>>>);

impl Log {
    fn add(&self, task: u32) {
        self.0.lock().unwrap().push(task);
    }

    fn order(&self) -> Vec<u32> {
        self.0.lock().unwrap().clone()
    }

    /// A task of so many polls, each of which leaves an entry.
    fn task(&self, id: u32, polls: u32) -> Body {
        let log = self.clone();
        Box::pin(async move {
            for poll in 0..polls {
                if poll > 0 {
                    yield_now().await;
                }
                log.add(id);
            }
        })
    }
}

/// When a task took its step `index`.
fn when(order: &[u32], task: u32, index: usize) -> Option<usize> {
    order
        .iter()
        .enumerate()
        .filter(|&(_, &t)| t == task)
        .nth(index)
        .map(|(step, _)| step)
}

/// Runs tasks of so many polls each; returns in how many iterations the order was a bug.
fn hits(strategy: &str, polls: &[u32], iterations: u64, bug: fn(&[u32]) -> bool) -> u64 {
    let (found, polls) = (Arc::new(AtomicU64::new(0)), polls.to_vec());
    let count = found.clone();
    let report = checker(strategy, iterations)
        .granularity(Granularity::Await)
        .run(move || {
            let (log, found, polls) = (Log::default(), found.clone(), polls.clone());
            async move {
                let tasks = (0..).zip(&polls).map(|(id, &polls)| log.task(id, polls));
                run_all(tasks.collect()).await;
                found.fetch_add(u64::from(bug(&log.order())), Relaxed);
            }
        });
    report.assert_passed();
    assert_eq!(report.iterations(), iterations);
    count.load(Relaxed)
}

/// A program with data choices and yields in which some schedules lose an update.
async fn lost_update() {
    let counter = Arc::new(Mutex::new(0));
    let task = |id: u32| -> Body {
        let counter = counter.clone();
        Box::pin(async move {
            for _ in 0..nondet::choose(3) {
                yield_now().await;
            }
            let seen = *counter.lock().unwrap();
            nondet::point();
            if nondet::boolean() || id == 0 {
                yield_now().await;
            }
            *counter.lock().unwrap() = seen + 1;
        })
    };
    run_all((0..3).map(task).collect()).await;
    assert_eq!(*counter.lock().unwrap(), 3, "an update was lost");
}

/// The same program without the assertion.
async fn no_assertion() {
    let task = |log: &Log, id| log.task(id, 2 + nondet::choose(3));
    let log = Log::default();
    run_all((0..4).map(|id| task(&log, id)).collect()).await;
}

/// What must be equal when a run is repeated.
fn summary(report: &Report) -> String {
    let coverage = &report.coverage;
    let token = report.failure().map(|failure| failure.token.to_string());
    let failed = report
        .failure()
        .map(|failure| (failure.iteration(), failure.step));
    format!(
        "{} {} {} {:?} {failed:?} {token:?}",
        report.iterations, coverage.steps, coverage.schedules, report.stopped_by
    )
}

#[test]
fn the_number_of_workers_changes_nothing() {
    for strategy in all() {
        let run = |workers| {
            let checker = || checker(&strategy, 100).workers(workers).seed(Seed(21));
            [
                summary(&checker().run(lost_update)),
                summary(&checker().run(no_assertion)),
            ]
        };
        let one = run(1);
        for workers in [1, 2, 3, 7] {
            assert_eq!(one, run(workers), "{strategy} with {workers} workers");
        }
    }
}

#[test]
fn failures_replay_identically() {
    // A lost update has depth 2.
    let blind = ["round-robin", "pct:d=1"];
    for strategy in all()
        .iter()
        .filter(|strategy| !blind.contains(&strategy.as_str()))
    {
        let report = checker(strategy, 2000).run(lost_update);
        let failure = report
            .failure()
            .unwrap_or_else(|| panic!("{strategy} found nothing"));
        assert!(failure.reproduced, "{strategy}");
        let again = checker("random", 1)
            .replay(failure.token.clone())
            .run(lost_update);
        let replayed = again.failure().expect("a replay fails as the run did");
        assert_eq!(failure.kind, replayed.kind, "{strategy}");
        assert_eq!(failure.step, replayed.step, "{strategy}");
        assert_eq!(
            failure.token.to_string(),
            replayed.token.to_string(),
            "{strategy}"
        );
    }
}

#[test]
fn random_is_uniform() {
    let orders = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    let counts = Arc::new([const { AtomicU64::new(0) }; 6]);
    let seen = counts.clone();
    let report = checker("random", 20_000).run(move || {
        let (log, counts) = (Log::default(), counts.clone());
        async move {
            run_all((0..3).map(|id| log.task(id, 1)).collect()).await;
            let index = orders
                .iter()
                .position(|order| log.order() == order)
                .unwrap();
            counts[index].fetch_add(1, Relaxed);
        }
    });
    report.assert_passed();
    assert_distribution(&seen.each_ref().map(|count| count.load(Relaxed)), &[1; 6]);
}

#[test]
fn round_robin_takes_those_who_yield_in_reverse() {
    let expect = |order: &[u32]| order == [0, 1, 2, 2, 1, 0, 1];
    assert_eq!(hits("round-robin", &[2, 3, 2], 1, expect), 1);
}

#[test]
fn exhaustive_counts_are_closed_forms() {
    let factorial = |n: u32| (1..=u64::from(n)).product::<u64>();
    for (tasks, polls) in [
        (1, 4),
        (2, 1),
        (2, 2),
        (2, 5),
        (3, 2),
        (3, 3),
        (4, 2),
        (5, 1),
    ] {
        let report = checker("exhaustive", 100_000)
            .granularity(Granularity::Await)
            .run(move || async move {
                let log = Log::default();
                run_all((0..tasks).map(|id| log.task(id, polls)).collect()).await;
            });
        let count = factorial(tasks * polls) / factorial(polls).pow(tasks);
        assert_eq!(
            report.coverage.all_schedules,
            Some(count),
            "{tasks} tasks of {polls}"
        );
        assert_eq!(report.coverage.schedules, count);
    }
}

#[test]
fn exhaustive_multiplies_data_choices() {
    let report = checker("exhaustive", 1000).run(|| async {
        let (a, b) = (nondet::choose(3), nondet::choose(4));
        if a == b {
            nondet::boolean();
        }
    });
    assert_eq!(report.coverage.all_schedules, Some(3 * 4 + 3));
}

/// The first step of task 0 comes after everything else: depth 1.
#[test]
fn pct_finds_depth_1_once_in_n() {
    let bug = |order: &[u32]| when(order, 0, 0) == Some(order.len() - 5);
    assert_exactly(hits("pct:d=1", &[5; 2], 8000, bug), 8000, 1.0 / 2.0);
    assert_exactly(hits("pct:d=1", &[5; 8], 8000, bug), 8000, 1.0 / 8.0);
}

/// Task 1 runs exactly between two steps of task 0: depth 2. The main task counts towards `n`.
#[test]
fn pct_finds_depth_2() {
    let bug = |order: &[u32]| {
        let between = when(order, 1, 0);
        when(order, 0, 2) < between && between < when(order, 0, 3)
    };
    let found = hits("pct:d=2,k=13", &[8, 1, 4], 30_000, bug);
    assert_at_least(found, 30_000, 1.0 / (4.0 * 13.0));
    assert_eq!(hits("pct:d=1", &[8, 1, 4], 2000, bug), 0);
}

/// Task 1 is let in between two steps of task 0, and must wait once more before its second: depth 3.
fn depth_3(order: &[u32]) -> bool {
    let first = when(order, 1, 0);
    when(order, 0, 1) < first && first < when(order, 0, 2) && when(order, 0, 3) < when(order, 1, 1)
}

#[test]
fn pct_finds_depth_3() {
    let found = hits("pct:d=3,k=8", &[6, 2], 60_000, depth_3);
    assert_at_least(found, 60_000, 1.0 / (3.0 * 8.0 * 8.0));
    assert_eq!(hits("pct:d=2,k=8", &[6, 2], 3000, depth_3), 0);
}

/// The same with `k` learnt: at most seven decisions are ever taken, and each of the eight lanes
/// spends its first iteration learning.
#[test]
fn pct_learns_the_number_of_decisions() {
    let found = hits("pct:d=3", &[6, 2], 60_000, depth_3);
    assert_at_least(found, 60_000 - 8, 1.0 / (3.0 * 8.0 * 8.0));
}

/// At granularity `op` polls are interrupted where they stand; the bound is the same.
#[test]
fn pct_finds_depth_2_in_the_middle_of_a_poll() {
    let found = Arc::new(AtomicU64::new(0));
    let count = found.clone();
    let report = checker("pct:d=2,k=11", 30_000).run(move || {
        let (log, found) = (Log::default(), found.clone());
        async move {
            let task = |id, points| -> Body {
                let log = log.clone();
                Box::pin(async move {
                    for _ in 0..points {
                        nondet::point();
                        log.add(id);
                    }
                })
            };
            run_all(vec![task(0, 8), task(1, 1)]).await;
            let order = log.order();
            found.fetch_add(u64::from(when(&order, 1, 0) == Some(3)), Relaxed);
        }
    });
    report.assert_passed();
    assert_at_least(count.load(Relaxed), 30_000, 1.0 / (3.0 * 11.0));
}

/// Two tasks that wait for each other's flag by yielding: without patience the one of higher
/// priority would spin for ever.
#[test]
fn pct_loses_patience_with_spinning_tasks() {
    let spinners = || async {
        let flags = Arc::new([const { AtomicU64::new(0) }; 2]);
        let task = |me: usize| -> Body {
            let flags = flags.clone();
            Box::pin(async move {
                flags[me].store(1, Relaxed);
                while flags[1 - me].load(Relaxed) == 0 {
                    yield_now().await;
                }
            })
        };
        run_all(vec![task(0), task(1)]).await;
    };
    let patient = checker("pct:d=1,patience=0", 20)
        .max_steps(5000)
        .run(spinners);
    assert_eq!(patient.cut(), 20);
    let report = checker("pct:d=1", 200).max_steps(5000).run(spinners);
    assert_eq!(report.cut(), 0);
}
