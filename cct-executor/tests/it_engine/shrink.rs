//! After a failure: a schedule that fails in the same way and departs from plain order as rarely as can be.

use crate::failed;
use cct_executor::node::node;
use cct_executor::task::yield_now;
use cct_executor::words::FailureKind;
use cct_executor::{Checker, Clock, Granularity, Report, Seed, Shortened, nondet, spawn, time};
use std::future::poll_fn;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

/// Without the search at `await`, which takes longer than the one that this is about.
fn checker(name: &str) -> Checker {
    crate::checker(name).await_check(false)
}

#[track_caller]
fn shortened(report: &Report) -> &Shortened {
    let found = failed(report).shortened.as_ref();
    found.unwrap_or_else(|| panic!("not shortened: {}", report.text()))
}

/// How many departures are left.
#[track_caller]
fn left(report: &Report) -> usize {
    let left = failed(report).departures.as_ref();
    left.unwrap_or_else(|| panic!("not looked at: {}", report.text()))
        .len()
}

/// Something to do that has nothing to do with it.
async fn chatter() {
    for _ in 0..10 {
        nondet::point();
        nondet::choose(5);
        yield_now().await;
    }
}

async fn add(counter: Arc<AtomicU32>) {
    let seen = counter.load(SeqCst);
    nondet::point();
    counter.store(seen + 1, SeqCst);
}

/// Two that add, among others that do not matter. `more` is looked at before it fails.
async fn lossy(more: bool) {
    let counter = Arc::new(AtomicU32::new(0));
    let noise: Vec<_> = (0..6).map(|_| spawn(chatter())).collect();
    let adds = [(); 2].map(|()| spawn(add(counter.clone())));
    for task in adds {
        task.await.unwrap();
    }
    for task in noise {
        task.await.unwrap();
    }
    assert!(counter.load(SeqCst) == 2 || more, "lost an update");
}

#[test]
fn what_does_not_matter_is_left_out() {
    for strategy in ["random", "pct:d=3", "pos", "ql", "portfolio"] {
        for seed in 0..5 {
            let report = checker("noisy")
                .strategy_text(strategy)
                .seed(Seed(seed))
                .run(|| lossy(false));
            let found = shortened(&report);
            // One of the two is overtaken between reading and writing; it may have come before its turn.
            let count = left(&report);
            assert!((1..=2).contains(&count), "{}", report.text());
            assert!(found.complete, "{}", report.text());
            let text = report.text();
            let marked = text.lines().filter(|line| line.contains(" * ")).count();
            assert_eq!(marked, 1 + count, "with the table's head: {text}");
        }
    }
}

#[test]
fn the_token_is_of_the_short_schedule_and_the_long_one_is_kept() {
    let report = checker("tokens").seed(Seed(3)).run(|| lossy(false));
    let (failure, short) = (failed(&report), shortened(&report));
    for (token, step) in [(&failure.token, failure.step), (&short.found, short.step)] {
        let again = checker("tokens").replay(token.clone()).run(|| lossy(false));
        assert_eq!(failed(&again).step, step);
        assert_eq!(failed(&again).kind, failure.kind);
        assert_eq!(failed(&again).shortened, None);
        let departures = failed(&again).departures.as_ref().expect("looked for");
        match *token == failure.token {
            true => assert_eq!(Some(departures), failure.departures.as_ref()),
            false => assert_eq!(departures.len() as u64, short.departures),
        }
    }
    let text = report.text();
    let line = format!("\n  at step {} of iteration ", short.step);
    assert!(text.contains(&line), "{text}");
    let line = format!("\n  shortened: it fails at step {} after ", failure.step);
    assert!(text.contains(&line), "{text}");
}

#[test]
fn it_is_the_same_each_time_with_any_number_of_workers() {
    let run = |workers| {
        let report = checker("workers").workers(workers).run(|| lossy(false));
        let failure = failed(&report);
        (failure.token.clone(), failure.shortened.clone())
    };
    let first = run(1);
    assert!(first.1.is_some());
    assert_eq!(run(1), first);
    assert_eq!(run(3), first);
}

#[test]
fn what_fails_in_plain_order_departs_nowhere() {
    let report = checker("always").strategy_text("random").run(|| async {
        spawn(chatter());
        spawn(chatter()).await.unwrap();
        panic!("always");
    });
    let found = shortened(&report);
    assert_eq!(left(&report), 0);
    assert!(found.complete);
    let text = report.text();
    let line = "all of which are first in, first out\n";
    assert!(text.contains(line), "{text}");
}

#[test]
fn a_value_that_matters_stays() {
    let report = checker("value").iterations(10_000).run(|| async {
        let task = spawn(chatter());
        chatter().await;
        let drawn = nondet::choose(50);
        task.await.unwrap();
        assert_ne!(drawn, 37);
    });
    assert_eq!(left(&report), 1, "{}", report.text());
    assert!(report.text().contains("= 37 *"), "{}", report.text());
    let line = "main`, choose = 37 (cct-executor/tests/it_engine/shrink.rs:";
    let told = |text: &str| text.contains(line) && text.ends_with("), not 0");
    assert!(report.text().lines().any(told), "{}", report.text());
}

/// Fails in two ways at one place, one of them rare.
async fn two_ways(hide: &'static str) {
    let counter = Arc::new(AtomicU32::new(0));
    let adds = [(); 2].map(|()| spawn(add(counter.clone())));
    let coin = nondet::choose(4);
    for task in adds {
        task.await.unwrap();
    }
    let lost = counter.load(SeqCst) != 2;
    let says = match (coin, lost) {
        (3, _) => "the coin",
        (_, true) => "an update is lost",
        _ => return,
    };
    assert!(says == hide, "{says}");
}

#[test]
fn another_failure_at_the_same_place_is_another() {
    for (hide, says) in [
        ("the coin", "an update is lost"),
        ("an update is lost", "the coin"),
    ] {
        let report = checker("two ways").run(move || two_ways(hide));
        assert!(left(&report) <= 2, "{}", report.text());
        let FailureKind::Panic { message, .. } = &failed(&report).kind else {
            panic!("{}", report.text());
        };
        assert_eq!(message, says);
    }
    // Where either may come, it stays what was found.
    for seed in 0..20 {
        let report = checker("either").seed(Seed(seed)).run(|| two_ways(""));
        let short = failed(&report);
        let long = checker("either")
            .replay(shortened(&report).found.clone())
            .run(|| two_ways(""));
        assert_eq!(short.kind, failed(&long).kind, "{}", report.text());
    }
}

#[test]
fn a_deadlock_stays_the_same_one() {
    async fn scenario() {
        let locks = [(); 2].map(|()| Arc::new(cct_sync::Mutex::new(())));
        let [one, two] = locks.clone();
        let noise: Vec<_> = (0..4).map(|_| spawn(chatter())).collect();
        let other = spawn(async move {
            let _two = two.lock().await;
            let _one = one.lock().await;
        });
        let [one, two] = locks;
        {
            let _one = one.lock().await;
            let _two = two.lock().await;
        }
        other.await.unwrap();
        for task in noise {
            task.await.unwrap();
        }
    }
    for seed in 0..10 {
        let report = checker("abba").seed(Seed(seed)).run(scenario);
        assert_eq!(failed(&report).kind.class(), "deadlock");
        assert!(left(&report) <= 2, "{}", report.text());
        assert_eq!(failed(&report).explanation.cycles.len(), 1);
    }
}

#[test]
fn timers_and_crashes_that_do_not_matter_are_left_out() {
    let report = checker("timers")
        .clock(Clock::Racing(Duration::from_millis(5)))
        .iterations(10_000)
        .run(|| async {
            let late = Arc::new(AtomicU32::new(0));
            let noise: Vec<_> = (1..5)
                .map(|ms| {
                    spawn(async move {
                        time::sleep(Duration::from_millis(ms)).await;
                        chatter().await;
                    })
                })
                .collect();
            let flag = late.clone();
            let worker = node("worker").start(move || {
                let flag = flag.clone();
                async move {
                    chatter().await;
                    flag.store(1, SeqCst);
                }
            });
            time::sleep(Duration::from_millis(3)).await;
            let in_time = late.load(SeqCst);
            worker.crash();
            for task in noise {
                task.await.unwrap();
            }
            assert_eq!(in_time, 1, "too late");
        });
    assert_eq!(left(&report), 1, "{}", report.text());
}

#[test]
fn a_poll_that_does_not_return_ends_the_search_and_nothing_more() {
    let report = checker("hangs")
        .poll_limit(Duration::from_millis(200))
        .strategy_text("random")
        .iterations(1)
        .run(|| async {
            let drawn: Vec<u32> = (0..4).map(|_| nondet::choose(1_000)).collect();
            // Not among what was drawn at first, but surely among what is tried.
            if drawn == [0; 4] {
                // Nobody ever sends anything.
                let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
                let _ = socket.recv(&mut [0]);
            }
            panic!("drawn");
        });
    let failure = failed(&report);
    assert!(failure.reproduced);
    let found = shortened(&report);
    assert!(!found.complete && left(&report) >= 3, "{}", report.text());
    let line = "there was no time to look for less";
    assert!(report.text().contains(line), "{}", report.text());
}

#[test]
fn an_endless_loop_is_shortened_to_its_cause() {
    let report = checker("endless")
        .fail_on_limit(true)
        .max_steps(2_000)
        .strategy_text("random")
        .run(|| async {
            let task = spawn(chatter());
            let stays = nondet::choose(3) == 2;
            task.await.unwrap();
            if stays {
                loop {
                    yield_now().await;
                }
            }
        });
    assert_eq!(failed(&report).kind.class(), "limit reached");
    assert_eq!(left(&report), 1, "{}", report.text());
}

#[test]
fn nothing_is_shortened_unasked() {
    let run = |checker: Checker| checker.run(|| lossy(false));
    assert_eq!(failed(&run(checker("off").shrink(false))).shortened, None);
    // Nor where the trace alone does not say what happens.
    let broken = Arc::new(AtomicU32::new(0));
    let report = checker("foreign").determinism_check(false).run(move || {
        let calls = broken.fetch_add(1, SeqCst);
        async move {
            chatter().await;
            assert!(calls > 0, "the first time only");
        }
    });
    assert_eq!(failed(&report).shortened, None);
    assert!(!failed(&report).reproduced);
}

#[test]
fn at_every_granularity() {
    for granularity in [Granularity::Await, Granularity::Op, Granularity::Sync] {
        let report = checker("granularity")
            .granularity(granularity)
            .run(|| async {
                let counter = Arc::new(AtomicU32::new(0));
                let noise: Vec<_> = (0..4).map(|_| spawn(chatter())).collect();
                let first = counter.clone();
                let first = spawn(async move { first.store(1, SeqCst) });
                let second = counter.clone();
                let second = spawn(async move { second.store(2, SeqCst) });
                first.await.unwrap();
                second.await.unwrap();
                for task in noise {
                    task.await.unwrap();
                }
                assert_eq!(counter.load(SeqCst), 2);
            });
        assert_eq!(left(&report), 1, "{}", report.text());
    }
}

/// Long schedules are told of in a time that grows with their length, and not with its square.
#[test]
fn a_long_schedule_is_told_of() {
    async fn scenario() {
        let tasks: Vec<_> = (0..20)
            .map(|_| {
                spawn(async {
                    for _ in 0..2_000 {
                        yield_now().await;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        panic!("late");
    }
    let report = checker("long").shrink(false).iterations(1).run(scenario);
    let token = failed(&report).token.clone();
    let report = checker("long").replay(token).run(scenario);
    assert!(left(&report) > 10_000);
    assert!(
        report.text().contains(" before these\n"),
        "{}",
        report.text()
    );
}

#[test]
fn who_waited_for_something_unknown_is_not_said_to_start() {
    // What another crate's primitive looks like: it keeps the waker.
    async fn opened(gate: Arc<Mutex<(bool, Option<Waker>)>>) {
        poll_fn(|cx| {
            let mut gate = gate.lock().unwrap();
            gate.1 = Some(cx.waker().clone());
            if gate.0 {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }
    async fn scenario() {
        let gate = Arc::new(Mutex::new((false, None::<Waker>)));
        let first = Arc::new(AtomicU32::new(0));
        let waits = spawn({
            let (gate, first) = (gate.clone(), first.clone());
            async move {
                opened(gate).await;
                let _ = first.compare_exchange(0, 1, SeqCst, SeqCst);
            }
        });
        while gate.lock().unwrap().1.is_none() {
            yield_now().await;
        }
        gate.lock().unwrap().0 = true;
        let waker = gate.lock().unwrap().1.take();
        waker.unwrap().wake();
        let other = spawn({
            let first = first.clone();
            async move {
                let _ = first.compare_exchange(0, 2, SeqCst, SeqCst);
            }
        });
        waits.await.unwrap();
        other.await.unwrap();
        assert_eq!(first.load(SeqCst), 1);
    }
    let report = checker("unknown")
        .granularity(Granularity::Await)
        .run(scenario);
    let departures = failed(&report).departures.as_ref().expect("looked at");
    let overtaken: Vec<&str> = departures.iter().map(|one| one.plain.as_str()).collect();
    assert!(
        overtaken
            .iter()
            .any(|plain| plain.starts_with("task 1, poll again (")),
        "{overtaken:?}: {}",
        report.text()
    );
}
