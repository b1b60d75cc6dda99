//! Delaying explorers through the whole engine: what they are told is enough to reach everything.

use cct_executor::strategy::delaying::{
    ProbabilisticRoundRobinExplorer, RoundRobinExplorer, RunToCompletionExplorer,
};
use cct_executor::strategy::{DelayingExplorer, Ses, Ss};
use cct_executor::task::{LocalSet, spawn_local, yield_now};
use cct_executor::words::ActionKey;
use cct_executor::{Checker, Clock, Report, Seed, StoppedBy, nondet, observe, spawn, task, time};
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const EXPLORERS: [&str; 3] = ["rtc", "rr", "prr"];

fn checker(strategy: &str) -> Checker {
    Checker::new()
        .name("delaying")
        .strategy_text(strategy)
        .iterations(200_000)
        .time_budget(None)
        .use_environment(false)
        .determinism_check(false)
}

/// As many schedules as exhaustive search finds, each once, whatever the explorer.
#[track_caller]
fn reaches_everything<F: Future<Output = ()> + 'static>(
    at_least: u64,
    set_up: impl Fn(Checker) -> Checker,
    scenario: impl Fn() -> F + Clone + Send + Sync + 'static,
) {
    let run = |strategy: &str| -> Report {
        let report = set_up(checker(strategy)).run(scenario.clone());
        report.assert_passed();
        report
    };
    let all = run("exhaustive")
        .coverage
        .all_schedules
        .expect("a small program");
    assert!(all >= at_least, "{all}");
    for explorer in EXPLORERS {
        let report = run(&format!("ses:explorer={explorer}"));
        assert_eq!(
            report.coverage.all_schedules,
            Some(all),
            "{explorer}: {:?}",
            report.remarks
        );
        assert_eq!(
            report.coverage.schedules, all,
            "{explorer}: {:?}",
            report.remarks
        );
    }
}

#[test]
fn tasks_that_spawn_yield_and_draw() {
    reaches_everything(
        500,
        |checker| checker,
        || async {
            let child = spawn(async {
                if nondet::boolean() {
                    yield_now().await;
                }
            });
            let other = spawn(async {
                let inner = spawn(async {});
                nondet::choose(3);
                inner.await.unwrap();
            });
            child.await.unwrap();
            other.await.unwrap();
        },
    );
}

#[test]
fn timers_that_may_fire_early() {
    reaches_everything(
        20,
        |checker| checker.clock(Clock::Adversarial),
        || async {
            let wait = |ms| time::sleep(Duration::from_millis(ms));
            let other = spawn(async move {
                wait(2).await;
                yield_now().await;
            });
            yield_now().await;
            wait(1).await;
            other.await.unwrap();
        },
    );
}

#[test]
fn futures_that_may_be_cancelled() {
    reaches_everything(
        20,
        |checker| checker,
        || async {
            let one = spawn(async {
                task::cancellable(time::sleep(Duration::from_millis(1))).await;
                yield_now().await;
            });
            let other = spawn(async {
                yield_now().await;
                task::cancellable(time::sleep(Duration::from_millis(2))).await;
            });
            one.await.unwrap();
            other.await.unwrap();
        },
    );
}

/// Members of a set are hidden while one of them is in the middle of its poll.
#[test]
fn tasks_that_share_a_thread() {
    reaches_everything(
        20,
        |checker| checker,
        || async {
            let outside = spawn(async { yield_now().await });
            let set = LocalSet::new();
            set.run_until(async {
                let one = spawn_local(async {
                    nondet::point();
                    yield_now().await;
                });
                let two = spawn_local(async { nondet::point() });
                one.await.unwrap();
                two.await.unwrap();
            })
            .await;
            outside.await.unwrap();
        },
    );
}

/// With the seal there are as many schedules as without the sealed part, and the report says that
/// this is not all.
#[test]
fn a_sealed_part_is_run_in_one_way() {
    async fn part() {
        let tasks = [1, 2].map(|polls| {
            spawn(async move {
                for _ in 0..polls {
                    yield_now().await;
                }
            })
        });
        for task in tasks {
            task.await.unwrap();
        }
    }
    let all = checker("exhaustive")
        .run(part)
        .coverage
        .all_schedules
        .unwrap();
    for explorer in EXPLORERS {
        let report = checker(&format!("ses:explorer={explorer}")).run(|| async {
            nondet::mark("seal");
            part().await;
            part().await;
            nondet::mark("unseal");
            part().await;
        });
        report.assert_passed();
        assert_eq!(report.coverage.schedules, all);
        assert_eq!(report.coverage.all_schedules, None);
        assert_eq!(report.stopped_by, StoppedBy::Exhausted);
        let last = report.remarks.last().unwrap();
        assert_eq!(last, "sealed regions were run in one way only");
    }
}

/// Two counters that are raised in turns. Each state is observed, so with a cache the schedules are
/// about as many as the states, and all pairs of values are seen nevertheless.
#[test]
fn observed_states_are_all_visited_with_a_cache() {
    const STEPS: i64 = 4;
    let run = |strategy: &str| {
        let seen = Arc::new(Mutex::new(std::collections::BTreeSet::new()));
        let theirs = seen.clone();
        let report = checker(strategy).run(move || {
            let seen = theirs.clone();
            async move {
                let counters = Arc::new(Mutex::new([0_i64; 2]));
                let tasks = [0, 1].map(|i| {
                    let (counters, seen) = (counters.clone(), seen.clone());
                    spawn(async move {
                        for step in 1..=STEPS {
                            yield_now().await;
                            let mut counters = counters.lock().unwrap();
                            counters[i] = step;
                            seen.lock().unwrap().insert(*counters);
                            observe::number(["left", "right"][i], step);
                        }
                    })
                });
                for task in tasks {
                    task.await.unwrap();
                }
            }
        });
        report.assert_passed();
        assert_eq!(report.stopped_by, StoppedBy::Exhausted);
        let pairs = seen.lock().unwrap().len() as i64;
        assert_eq!(pairs, (STEPS + 1) * (STEPS + 1) - 1);
        report
    };
    let all = run("ses").coverage.all_schedules.unwrap();
    for explorer in EXPLORERS {
        let report = run(&format!("ses:explorer={explorer},cache=on"));
        assert!(
            report.iterations() * 10 < all,
            "{} of {all}",
            report.iterations()
        );
        assert_eq!(report.coverage.all_schedules, None);
        let remarks = report.remarks.join("\n");
        assert!(
            remarks.contains("told apart by what the program observes"),
            "{remarks}"
        );
    }
}

async fn nine_tasks() {
    let tasks: Vec<_> = (0..9).map(|_| spawn(async { yield_now().await })).collect();
    for task in tasks {
        task.await.unwrap();
    }
}

#[test]
fn samples_do_not_depend_on_the_number_of_workers() {
    let run = |strategy: &str, workers| {
        let checker = checker(strategy).workers(workers).determinism_check(true);
        let report = checker.run(nine_tasks);
        report.assert_passed();
        assert_eq!(report.stopped_by, StoppedBy::Exhausted);
        (
            report.iterations(),
            report.coverage.steps,
            report.coverage.schedules,
        )
    };
    for (strategy, iterations) in [
        // One to know how long it is, then 103 samples, and 109.
        ("ss:explorer=prr,max=2", 213..=213),
        // The same of two iterations, and of three.
        (
            "ss:explorer=prr,max=2,one-by-one=on",
            103 * 2 + 109 * 2..=103 * 2 + 109 * 3,
        ),
    ] {
        let one = run(strategy, 1);
        assert!(iterations.contains(&one.0), "{}", one.0);
        assert_eq!(run(strategy, 3), one);
    }
}

/// A user's own explorer: tasks as they come, the youngest first.
#[derive(Default)]
struct YoungestFirst(Vec<ActionKey>);

impl DelayingExplorer for YoungestFirst {
    fn name(&self) -> &'static str {
        "youngest-first"
    }

    fn begin(&mut self, _: Seed) {
        self.0.clear();
    }

    fn on_enabled(&mut self, task: ActionKey) {
        self.0.push(task);
    }

    fn on_blocked(&mut self, task: ActionKey) {
        self.0.retain(|other| *other != task);
    }

    fn first(&self) -> Option<ActionKey> {
        self.0.last().copied()
    }

    fn delay(&mut self) {
        self.0.rotate_right(1);
    }
}

/// One that never finds out who is blocked, and delays nobody: the search must survive it.
#[derive(Default)]
struct Stubborn(Option<ActionKey>);

impl DelayingExplorer for Stubborn {
    fn name(&self) -> &'static str {
        "stubborn"
    }

    fn begin(&mut self, _: Seed) {
        self.0 = None;
    }

    fn on_enabled(&mut self, task: ActionKey) {
        self.0.get_or_insert(task);
    }

    fn on_blocked(&mut self, _: ActionKey) {}

    fn first(&self) -> Option<ActionKey> {
        self.0
    }

    fn delay(&mut self) {}
}

#[test]
fn explorers_of_users_work_with_both() {
    async fn three() {
        let tasks = [0; 3].map(|_| spawn(async { yield_now().await }));
        for task in tasks {
            task.await.unwrap();
        }
    }
    let all = checker("exhaustive").run(three).coverage.all_schedules;
    let own = || Ses::new(YoungestFirst::default());
    let report = checker("").strategy(own).run(three);
    assert_eq!(report.coverage.all_schedules, all);
    assert_eq!(report.strategy, "ses:explorer=youngest-first");

    let own = || Ss::new(YoungestFirst::default());
    let report = checker("").strategy(own).iterations(500).run(three);
    report.assert_passed();
    assert_eq!(report.iterations(), 500);

    let bad = || Ses::new(Stubborn::default());
    checker("")
        .strategy(bad)
        .iterations(500)
        .run(three)
        .assert_passed();
}

/// That of the library can be named in code as well.
#[test]
fn explorers_by_type_and_by_name_are_the_same() {
    let named = |explorer: &str| {
        let report = checker(&format!("ses:explorer={explorer},max=1")).run(nine_tasks);
        (report.iterations(), report.coverage.steps, report.remarks)
    };
    let typed = |report: Report| (report.iterations(), report.coverage.steps, report.remarks);
    let rr = || Ses::new(RoundRobinExplorer::new()).max_delays(1);
    assert_eq!(typed(checker("").strategy(rr).run(nine_tasks)), named("rr"));
    let rtc = || Ses::new(RunToCompletionExplorer::new()).max_delays(1);
    assert_eq!(
        typed(checker("").strategy(rtc).run(nine_tasks)),
        named("rtc")
    );
    let prr = || Ses::new(ProbabilisticRoundRobinExplorer::new()).max_delays(1);
    assert_eq!(
        typed(checker("").strategy(prr).run(nine_tasks)),
        named("prr")
    );
}
