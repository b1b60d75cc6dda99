//! What code for threads does: it spins, parks, and blocks on channels of `std` and locks of other crates.
//! Tasks wait for each other by it as threads do.

#![expect(clippy::await_holding_lock, reason = "it is about that")]

use crate::{checker, failed, within};
use cct_executor::task::{spawn_blocking, yield_now};
use cct_executor::time::{Instant, sleep};
use cct_executor::words::FailureKind;
use cct_executor::{Checker, nondet, spawn};
use futures::channel::oneshot;
use futures::executor::block_on;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::task::Poll;
use std::thread;
use std::time::Duration;

const STRATEGIES: [&str; 9] = [
    "random",
    "pct:d=3",
    "portfolio",
    "ql",
    "round-robin",
    "urw",
    "pctcp",
    "ss",
    "fest",
];

fn quick(name: &str) -> Checker {
    checker(name).iterations(60).determinism_check(true)
}

/// Every strategy, none of which hangs.
#[track_caller]
fn passes<F>(scenario: fn() -> F)
where
    F: Future<Output = ()> + 'static,
{
    if !cct_interpose::CONTROLLED {
        return;
    }
    for strategy in STRATEGIES {
        let report = within(100, move || {
            quick("passes").strategy_text(strategy).run(scenario)
        });
        report.assert_passed();
        assert_eq!(report.cut(), 0, "{strategy}");
    }
}

/// Fails with a deadlock that is replayed.
#[track_caller]
fn deadlocks<F>(scenario: fn() -> F) -> String
where
    F: Future<Output = ()> + 'static,
{
    let report = within(100, move || quick("deadlocks").iterations(3).run(scenario));
    let failure = failed(&report);
    let text = report.text();
    assert!(
        matches!(failure.kind, FailureKind::Deadlock { .. }),
        "{text}"
    );
    assert!(failure.reproduced, "{text}");
    text
}

#[test]
fn locks_that_spin_before_they_block_are_waited_for() {
    passes(|| async {
        let lock = Arc::new(parking_lot::Mutex::new(0));
        let tasks: Vec<_> = (0..6)
            .map(|_| {
                let lock = lock.clone();
                spawn(async move {
                    for _ in 0..5 {
                        let mut guard = lock.lock();
                        let seen = *guard;
                        nondet::point();
                        nondet::point();
                        *guard = seen + 1;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*lock.lock(), 30);
    });
}

#[test]
fn readers_and_writers_that_spin_are_waited_for() {
    passes(|| async {
        let lock = Arc::new(parking_lot::RwLock::new((0, 0)));
        let writers: Vec<_> = (0..3)
            .map(|_| {
                let lock = lock.clone();
                spawn(async move {
                    let mut guard = lock.write();
                    guard.0 += 1;
                    nondet::point();
                    guard.1 += 1;
                })
            })
            .collect();
        for _ in 0..3 {
            let guard = lock.read();
            nondet::point();
            assert_eq!(guard.0, guard.1);
            drop(guard);
            yield_now().await;
        }
        for writer in writers {
            writer.await.unwrap();
        }
    });
}

/// The lock is free when the timer has fired, not before.
#[test]
fn a_guard_that_spans_a_sleep_is_waited_for() {
    passes(|| async {
        let lock = Arc::new(AtomicBool::new(true));
        let theirs = lock.clone();
        spawn(async move {
            sleep(Duration::from_secs(3)).await;
            theirs.store(false, Ordering::SeqCst);
        });
        let began = Instant::now();
        while lock.load(Ordering::SeqCst) {
            thread::yield_now();
        }
        assert!(began.elapsed() >= Duration::from_secs(3));
    });
}

#[test]
fn giving_way_is_a_scheduling_point() {
    if !cct_interpose::CONTROLLED {
        return;
    }
    let report = quick("both orders")
        .strategy_text("exhaustive")
        .run(|| async {
            let order = Arc::new(AtomicU32::new(0));
            let theirs = order.clone();
            let other = spawn(poll_fn(move |_| {
                thread::yield_now();
                let _ = theirs.compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst);
                Poll::Ready(())
            }));
            yield_now().await;
            thread::yield_now();
            let _ = order.compare_exchange(0, 2, Ordering::SeqCst, Ordering::SeqCst);
            other.await.unwrap();
            cct_executor::sometimes!(order.load(Ordering::SeqCst) == 1, "the other is first");
            cct_executor::sometimes!(order.load(Ordering::SeqCst) == 2, "this one is first");
        });
    report.assert_passed();
    assert!(
        report.text().contains("every schedule explored"),
        "{}",
        report.text()
    );
    for (name, _, _, seen) in &report.coverage.sometimes {
        assert!(seen.reached > 0, "{name}");
    }
}

#[test]
fn who_spins_for_ever_is_in_a_deadlock() {
    if !cct_interpose::CONTROLLED {
        return;
    }
    let text = deadlocks(|| async {
        let never = Arc::new(AtomicBool::new(false));
        let other = never.clone();
        let spins = spawn(async move {
            while !other.load(Ordering::SeqCst) {
                thread::yield_now();
            }
        });
        spins.await.unwrap();
        never.store(true, Ordering::SeqCst);
    });
    assert!(
        text.contains("spins with `std::thread::yield_now`"),
        "{text}"
    );
}

/// Each goes on when its number has come up, and not before.
#[test]
fn many_tasks_may_be_parked_at_once() {
    passes(|| async {
        let turn = Arc::new(AtomicU32::new(0));
        let this = thread::current();
        let tasks: Vec<_> = (1..=4)
            .map(|number| {
                let turn = turn.clone();
                spawn_blocking(move || {
                    while turn.load(Ordering::SeqCst) < number {
                        thread::park();
                    }
                    turn.load(Ordering::SeqCst)
                })
            })
            .collect();
        for number in 1..=4 {
            yield_now().await;
            turn.store(number, Ordering::SeqCst);
            this.unpark();
        }
        for (number, task) in (1..).zip(tasks) {
            assert!(task.await.unwrap() >= number);
        }
    });
}

#[test]
fn who_is_parked_for_ever_is_in_a_deadlock() {
    if !cct_interpose::CONTROLLED {
        return;
    }
    let text = deadlocks(|| async {
        let (sender, receiver) = mpsc::channel::<u32>();
        let waits = spawn_blocking(move || receiver.recv());
        waits.await.unwrap().unwrap();
        drop(sender);
    });
    assert!(text.contains("would be parked"), "{text}");
    assert!(text.contains("use channels of tokio"), "{text}");
}

#[test]
fn who_waits_at_a_channel_of_std_is_told_that_it_is_closed() {
    passes(|| async {
        let (sender, receiver) = mpsc::channel::<u32>();
        let waits = spawn_blocking(move || receiver.recv());
        yield_now().await;
        drop(sender);
        assert!(waits.await.unwrap().is_err());
    });
}

#[test]
fn limits_of_parked_threads_are_by_the_virtual_clock() {
    passes(|| async {
        let (sender, receiver) = mpsc::channel::<u32>();
        let waits = spawn_blocking(move || {
            let began = Instant::now();
            let outcome = receiver.recv_timeout(Duration::from_secs(60));
            (outcome, began.elapsed(), receiver)
        });
        let parked = spawn_blocking(|| thread::park_timeout(Duration::from_secs(90)));
        let (outcome, took, receiver) = waits.await.unwrap();
        assert_eq!(outcome, Err(RecvTimeoutError::Timeout));
        assert!(took >= Duration::from_secs(60), "{took:?}");
        parked.await.unwrap();
        let waits = spawn_blocking(move || receiver.recv_timeout(Duration::from_secs(60)));
        sleep(Duration::from_secs(1)).await;
        sender.send(7).unwrap();
        assert_eq!(waits.await.unwrap(), Ok(7));
    });
}

#[test]
fn executors_of_other_crates_may_block_in_a_task() {
    passes(|| async {
        let (sender, receiver) = oneshot::channel();
        let waits = spawn_blocking(move || block_on(receiver));
        for _ in 0..3 {
            yield_now().await;
        }
        sender.send(7).unwrap();
        assert_eq!(waits.await.unwrap(), Ok(7));
    });
}

/// A token that was left before belongs to whoever parks next.
#[test]
fn the_thread_itself_is_parked_and_unparked_as_ever() {
    passes(|| async {
        thread::current().unpark();
        thread::park();
        let flag = Arc::new(AtomicBool::new(false));
        let (theirs, this) = (flag.clone(), thread::current());
        let parked = spawn_blocking(move || {
            while !theirs.load(Ordering::SeqCst) {
                thread::park();
            }
        });
        yield_now().await;
        flag.store(true, Ordering::SeqCst);
        this.unpark();
        parked.await.unwrap();
    });
}

/// What a lock tries before it blocks the thread is not spent on waiting for them.
#[test]
fn locks_that_spin_are_waited_for_beside_threads_that_do_nothing() {
    let report = within(100, || {
        quick("beside a thread").iterations(5).run(|| async {
            let (stop, stopped) = mpsc::channel::<()>();
            let thread = thread::spawn(move || stopped.recv().is_err());
            let lock = Arc::new(parking_lot::Mutex::new(0));
            let tasks: Vec<_> = (0..3)
                .map(|_| {
                    let lock = lock.clone();
                    spawn(async move {
                        let mut guard = lock.lock();
                        nondet::point();
                        nondet::point();
                        *guard += 1;
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
            assert_eq!(*lock.lock(), 3);
            drop(stop);
            assert!(thread.join().unwrap());
        })
    });
    report.assert_passed();
}

/// Time stands still while a thread works for the scenario.
#[test]
fn threads_that_the_scenario_started_are_waited_for() {
    let report = within(100, || {
        quick("threads").iterations(5).run(|| async {
            let began = Instant::now();
            let timer = spawn(sleep(Duration::from_secs(5)));
            let (sender, receiver) = mpsc::channel();
            let gate = Arc::new((std::sync::Mutex::new(false), std::sync::Condvar::new()));
            let theirs = gate.clone();
            let thread = thread::spawn(move || {
                // Long enough for whoever does not wait, and not for who does, on a busy machine too.
                (0..200).for_each(|_| thread::yield_now());
                sender.send(1).unwrap();
                (0..200).for_each(|_| thread::yield_now());
                *theirs.0.lock().unwrap() = true;
                theirs.1.notify_all();
            });
            assert_eq!(receiver.recv(), Ok(1));
            let mut open = gate.0.lock().unwrap();
            while !*open {
                open = gate.1.wait(open).unwrap();
            }
            drop(open);
            assert!(began.elapsed() < Duration::from_secs(5));
            thread.join().unwrap();
            timer.await.unwrap();
        })
    });
    report.assert_passed();
}

#[test]
fn executors_that_count_threads_are_told_of() {
    if !cct_interpose::CONTROLLED {
        return;
    }
    let report = within(100, || {
        quick("two executors").run(|| async {
            let (sender, receiver) = oneshot::channel::<()>();
            let receiver = futures::FutureExt::shared(receiver);
            let tasks = [receiver.clone(), receiver].map(|receiver| {
                spawn_blocking(move || {
                    nondet::point();
                    block_on(receiver)
                })
            });
            yield_now().await;
            sender.send(()).unwrap();
            for task in tasks {
                task.await.unwrap().unwrap();
            }
        })
    });
    let text = report.text();
    assert!(failed(&report).reproduced, "{text}");
    assert!(
        text.contains("only one task at a time can be in such a call"),
        "{text}"
    );
}
