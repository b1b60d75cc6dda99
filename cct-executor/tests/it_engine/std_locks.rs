//! Locks of the standard library that are held where polls are suspended: whoever wants them waits as
//! a task, and the thread goes on.
#![expect(clippy::await_holding_lock, reason = "it is about that")]

use crate::{checker, failed, within};
use cct_executor::node::node;
use cct_executor::runtime::Handle;
use cct_executor::task::{LocalSet, spawn_blocking, spawn_local, yield_now};
use cct_executor::time::sleep;
use cct_executor::words::FailureKind;
use cct_executor::{Checker, Granularity, Report, nondet, spawn};
use cct_sync::{Notify, Semaphore, mpsc};
use std::future::poll_fn;
use std::sync::{Arc, Condvar, LazyLock, Mutex, RwLock};
use std::task::Poll;
use std::time::Duration;

const STRATEGIES: [&str; 4] = ["random", "pct:d=3", "portfolio", "ql"];

fn quick(name: &str) -> Checker {
    checker(name).iterations(40).determinism_check(true)
}

/// Every strategy, none of which hangs.
#[track_caller]
fn passes<F>(scenario: fn() -> F)
where
    F: Future<Output = ()> + 'static,
{
    for strategy in STRATEGIES {
        let report = within(60, move || {
            quick("passes").strategy_text(strategy).run(scenario)
        });
        report.assert_passed();
        assert_eq!(report.cut(), 0, "{strategy}");
    }
}

/// Receives in a poll that holds a lock, as many crates do that share a receiver.
async fn shared_receive(receiver: &Mutex<mpsc::Receiver<u32>>) -> Option<u32> {
    poll_fn(|cx| receiver.lock().unwrap().poll_recv(cx)).await
}

#[test]
fn a_receiver_behind_a_lock_is_shared() {
    if !cct_interpose::CONTROLLED {
        return;
    }
    passes(|| async {
        let (sender, receiver) = mpsc::channel(2);
        let receiver = Arc::new(Mutex::new(receiver));
        let receivers: Vec<_> = (0..3)
            .map(|_| {
                let receiver = receiver.clone();
                spawn(async move { shared_receive(&receiver).await.map_or(0, |_| 1) })
            })
            .collect();
        for i in 0..3 {
            sender.send(i).await.unwrap();
            yield_now().await;
        }
        drop(sender);
        let mut got = 0;
        for task in receivers {
            task.abort();
            got += task.await.unwrap_or(0);
        }
        assert!(got <= 3);
    });
}

/// Two locks, each held at a point.
async fn both(one: Arc<Mutex<u32>>, other: Arc<Mutex<u32>>) {
    let mut one = one.lock().unwrap();
    nondet::point();
    let mut other = other.lock().unwrap();
    *one += 1;
    *other += 1;
}

/// Two tasks take them, in one order or in two.
fn two_locks(checker: Checker, crossed: bool) -> Report {
    within(60, move || {
        checker.run(move || async move {
            let locks = [(); 2].map(|()| Arc::new(Mutex::new(0)));
            let [a, b] = locks.clone();
            let first = spawn(both(a.clone(), b.clone()));
            let second = spawn(if crossed { both(b, a) } else { both(a, b) });
            first.await.unwrap();
            second.await.unwrap();
            for lock in locks {
                assert_eq!(*lock.lock().unwrap(), 2);
            }
        })
    })
}

#[test]
fn locks_in_one_order_are_waited_for() {
    if !cct_interpose::CONTROLLED {
        return;
    }
    for strategy in STRATEGIES {
        let report = two_locks(quick("one order").strategy_text(strategy), false);
        report.assert_passed();
        assert!(report.coverage.schedules > 3, "{strategy}");
    }
    let report = two_locks(quick("one order").strategy_text("exhaustive"), false);
    report.assert_passed();
}

#[test]
fn locks_in_two_orders_are_a_deadlock_that_replays() {
    if !cct_interpose::CONTROLLED {
        return;
    }
    let report = two_locks(quick("two orders"), true);
    let failure = failed(&report);
    assert_eq!(failure.kind, FailureKind::Deadlock { waiting: 3 });
    assert!(failure.reproduced, "{}", report.text());
    let text = report.text();
    let waits = |line: &&str| {
        line.starts_with("      at cct-executor/tests/it_engine/std_locks.rs:")
            && line.ends_with("in the middle of a poll, where its thread would block:")
    };
    assert_eq!(text.lines().filter(waits).count(), 2, "{text}");
    let replay = quick("two orders").replay(failure.token.clone());
    assert_eq!(failed(&two_locks(replay, true)).kind, failure.kind);
}

#[test]
fn a_guard_may_live_through_an_await() {
    if !cct_interpose::CONTROLLED {
        return;
    }
    passes(|| async {
        let lock = Arc::new(RwLock::new(0));
        let reader = {
            let lock = lock.clone();
            spawn(async move {
                yield_now().await;
                *lock.read().unwrap()
            })
        };
        {
            let mut guard = lock.write().unwrap();
            *guard = 1;
            sleep(Duration::from_millis(5)).await;
            *guard = 2;
        }
        let seen = reader.await.unwrap();
        assert!(seen == 0 || seen == 2, "saw {seen}");
    });
}

/// A lock that is written, while readers and another writer wait, has all bits set, as a parked thread has.
#[test]
fn readers_and_writers_may_wait_for_the_same_lock() {
    if !cct_interpose::CONTROLLED {
        return;
    }
    passes(|| async {
        let lock = Arc::new(RwLock::new(0));
        let tasks: Vec<_> = (0..4)
            .map(|number| {
                let lock = lock.clone();
                spawn_blocking(move || {
                    let pause = || Handle::current().block_on(yield_now());
                    if number < 2 {
                        let mut guard = lock.write().unwrap();
                        pause();
                        *guard += 1;
                    } else {
                        let guard = lock.read().unwrap();
                        pause();
                        drop(guard);
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*lock.read().unwrap(), 2);
    });
}

#[test]
fn a_task_that_is_woken_while_it_waits_for_a_lock_is_polled_again() {
    if !cct_interpose::CONTROLLED {
        return;
    }
    passes(|| async {
        let lock = Arc::new(Mutex::new(()));
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let task = {
            let lock = lock.clone();
            spawn(poll_fn(move |cx| {
                let next = receiver.poll_recv(cx);
                // The message may come while this waits.
                drop(lock.lock().unwrap());
                match next {
                    Poll::Ready(Some(last)) => Poll::Ready(last),
                    Poll::Ready(None) => unreachable!("the sender lives"),
                    Poll::Pending => Poll::Pending,
                }
            }))
        };
        let guard = lock.lock().unwrap();
        nondet::point();
        sender.send(7).unwrap();
        nondet::point();
        drop(guard);
        assert_eq!(task.await.unwrap(), 7);
        drop(sender);
    });
}

#[test]
fn blocking_tasks_may_wait_for_each_other_by_means_of_std() {
    if !cct_interpose::CONTROLLED {
        return;
    }
    passes(|| async {
        let pair = Arc::new((Mutex::new(0), Condvar::new()));
        let waiter = {
            let pair = pair.clone();
            spawn_blocking(move || {
                let mut turn = pair.0.lock().unwrap();
                while *turn < 2 {
                    turn = pair.1.wait(turn).unwrap();
                }
                *turn
            })
        };
        for _ in 0..2 {
            let pair = pair.clone();
            spawn_blocking(move || {
                *pair.0.lock().unwrap() += 1;
                pair.1.notify_all();
            })
            .await
            .unwrap();
        }
        assert_eq!(waiter.await.unwrap(), 2);
    });
}

/// The scenario, made anew for each number of workers, is explored in the same way by all of them.
#[track_caller]
fn leaves_no_trace<S, F>(iterations: u64, workers: &[usize], scenario: fn() -> S)
where
    S: Fn() -> F + Send + Sync + 'static,
    F: Future<Output = ()> + 'static,
{
    let run = move |workers| {
        let checker = checker("shared").workers(workers).iterations(iterations);
        let report = checker.run(scenario());
        report.assert_passed();
        let coverage = report.coverage;
        (coverage.steps, coverage.schedules, coverage.states)
    };
    let alone = run(1);
    for &workers in workers {
        assert_eq!(within(60, move || run(workers)), alone, "{workers} workers");
    }
}

async fn three_of<F: Future<Output = ()> + Send + 'static>(task: impl Fn() -> F) {
    let tasks: Vec<_> = (0..3).map(|_| spawn(task())).collect();
    for task in tasks {
        task.await.unwrap();
    }
}

/// What threads share is in nobody's schedule.
#[test]
fn locks_that_other_threads_hold_for_a_moment_leave_no_trace() {
    static COUNT: Mutex<u64> = Mutex::new(0);
    leaves_no_trace(300, &[2, 4], || {
        || {
            three_of(|| async {
                for _ in 0..20 {
                    for _ in 0..50 {
                        *COUNT.lock().unwrap() += 1;
                    }
                    nondet::point();
                }
            })
        }
    });
}

/// At a place where tasks wait for each other, too: that one waited there for a lock of its own world says nothing
/// about the next lock.
#[test]
fn locks_that_iterations_share_leave_no_trace_where_others_are_waited_for() {
    leaves_no_trace(300, &[2, 4], || {
        let shared = Arc::new(Mutex::new(0));
        move || {
            let (shared, own) = (shared.clone(), Arc::new(Mutex::new(0)));
            three_of(move || {
                let (shared, own) = (shared.clone(), own.clone());
                async move {
                    for _ in 0..5 {
                        nondet::point();
                        for _ in 0..50 {
                            *shared.lock().unwrap() += 1;
                        }
                        let mut mine = own.lock().unwrap();
                        *mine += 1;
                        nondet::point();
                    }
                }
            })
        }
    });
}

/// Whoever wants one of `parking_lot` spins first, which tells nobody what for.
#[test]
fn spinning_for_locks_that_iterations_share_leaves_no_trace() {
    leaves_no_trace(500, &[2, 4, 8], || {
        let shared = Arc::new(parking_lot::Mutex::new(0));
        move || {
            let shared = shared.clone();
            three_of(move || {
                let shared = shared.clone();
                async move {
                    for _ in 0..5 {
                        nondet::point();
                        for _ in 0..200 {
                            *shared.lock() += 1;
                        }
                    }
                }
            })
        }
    });
}

/// What belongs to one iteration, as it was made there, and is behind a static, others have to wait for until that is
/// over.
#[test]
fn shims_that_iterations_share_leave_no_trace() {
    static SHARED: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(1));
    leaves_no_trace(300, &[2, 4], || {
        || {
            let own = Arc::new(Mutex::new(0));
            three_of(move || {
                let own = own.clone();
                async move {
                    for _ in 0..5 {
                        nondet::point();
                        assert_eq!(SHARED.available_permits(), 1);
                        let mut mine = own.lock().unwrap();
                        *mine += 1;
                        nondet::point();
                    }
                }
            })
        }
    });
}

#[test]
fn members_of_a_local_set_do_not_run_while_one_waits() {
    if !cct_interpose::CONTROLLED {
        return;
    }
    // The holder is of the same thread: that is a deadlock there too.
    let report = within(60, || {
        quick("local").run(|| async {
            let lock = Arc::new(Mutex::new(()));
            LocalSet::new()
                .run_until(async move {
                    let theirs = lock.clone();
                    let holder = spawn_local(async move {
                        let guard = theirs.lock().unwrap();
                        yield_now().await;
                        drop(guard);
                    });
                    let waiter = spawn_local(async move { drop(lock.lock().unwrap()) });
                    holder.await.unwrap();
                    waiter.await.unwrap();
                })
                .await;
        })
    });
    let kind = &failed(&report).kind;
    assert!(
        matches!(kind, FailureKind::Deadlock { .. }),
        "{}",
        report.text()
    );
}

#[test]
fn a_node_crashes_while_its_tasks_wait() {
    if !cct_interpose::CONTROLLED {
        return;
    }
    passes(|| async {
        let lock = Arc::new(Mutex::new(0));
        let crashed = Arc::new(Notify::new());
        let theirs = lock.clone();
        let db = node("db").start(move || {
            let lock = theirs.clone();
            async move {
                let tasks: Vec<_> = (0..2)
                    .map(|_| {
                        let lock = lock.clone();
                        spawn(async move {
                            let mut guard = lock.lock().unwrap();
                            nondet::point();
                            *guard += 1;
                        })
                    })
                    .collect();
                for task in tasks {
                    task.await.unwrap();
                }
            }
        });
        let waits = {
            let (crashed, lock) = (crashed.clone(), lock.clone());
            spawn(async move {
                crashed.notified().await;
                *lock.lock().unwrap()
            })
        };
        yield_now().await;
        db.crash();
        crashed.notify_one();
        assert!(waits.await.unwrap() <= 2);
    });
}

#[test]
fn at_granularity_await_nothing_is_suspended() {
    let report = within(60, || {
        two_locks(quick("two orders").granularity(Granularity::Await), true)
    });
    report.assert_passed();
}

#[test]
fn a_panic_that_cannot_unwind_is_the_failure() {
    if !cct_interpose::CONTROLLED {
        return;
    }
    /// Shares the state of a task, and tells it when it goes.
    struct Share(Arc<Mutex<u32>>);
    impl Drop for Share {
        fn drop(&mut self) {
            *self.0.lock().unwrap() += 1;
        }
    }
    async fn scenario() {
        let state = Arc::new(Mutex::new(0));
        let share = Share(state.clone());
        spawn(async move {
            let held = state.lock().unwrap();
            nondet::point();
            drop(held);
        });
        yield_now().await;
        assert!(share.0.try_lock().is_ok(), "the cause");
    }
    let report = within(60, || checker("unwinds").run(scenario));
    let failure = failed(&report);
    let FailureKind::Panic { message, .. } = &failure.kind else {
        panic!("{}", report.text());
    };
    assert!(message.starts_with("the cause\n"), "{message}");
    let told = report.text();
    assert!(
        told.contains("waits for a lock whose holder was suspended"),
        "{told}"
    );
    assert!(failure.reproduced, "{told}");
    let token = failure.token.clone();
    let again = within(60, move || checker("unwinds").replay(token).run(scenario));
    assert_eq!(failed(&again).kind, failure.kind);
}
