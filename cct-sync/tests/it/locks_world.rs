//! Inside a world: what exploration finds, and does not find, with locks.

use super::explore::{explore, passes};
use cct_executor::task::{self, JoinSet, spawn_blocking, yield_now};
use cct_executor::time::{sleep, timeout};
use cct_executor::{Checker, Granularity, spawn};
use cct_sync::{Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore, SetOnce};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::future::{poll_fn, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, RawWakerVTable, Waker};
use std::time::Duration;

#[test]
fn a_mutex_excludes() {
    passes(|| async {
        let mutex = Arc::new(Mutex::new(0));
        let mut tasks = JoinSet::new();
        for _ in 0..3 {
            let mutex = mutex.clone();
            tasks.spawn(async move {
                for _ in 0..3 {
                    let mut guard = mutex.lock().await;
                    let before = *guard;
                    yield_now().await;
                    *guard = before + 1;
                }
            });
        }
        while let Some(result) = tasks.join_next().await {
            result.unwrap();
        }
        assert_eq!(*mutex.lock().await, 9);
    });
}

#[test]
fn cancelled_acquisitions_lose_no_permit() {
    passes(|| async {
        let semaphore = Arc::new(Semaphore::new(3));
        let inside = Arc::new(AtomicUsize::new(0));
        let mut tasks = JoinSet::new();
        for n in 1..4 {
            let (semaphore, inside) = (semaphore.clone(), inside.clone());
            tasks.spawn(async move {
                for _ in 0..3 {
                    let patience = Duration::from_millis(2);
                    let acquire = semaphore.acquire_many(n);
                    let Ok(permit) = timeout(patience, acquire).await else {
                        continue;
                    };
                    let before = inside.fetch_add(n as usize, Ordering::SeqCst);
                    assert!(before + n as usize <= 3);
                    sleep(Duration::from_millis(1)).await;
                    inside.fetch_sub(n as usize, Ordering::SeqCst);
                    drop(permit.unwrap());
                }
            });
        }
        while let Some(result) = tasks.join_next().await {
            result.unwrap();
        }
        assert_eq!(semaphore.available_permits(), 3);
    });
}

#[test]
fn a_rwlock_excludes_writers() {
    passes(|| async {
        let lock = Arc::new(RwLock::new((0, 0)));
        let mut tasks = JoinSet::new();
        for _ in 0..2 {
            let ours = lock.clone();
            tasks.spawn(async move {
                let mut pair = ours.write().await;
                pair.0 += 1;
                yield_now().await;
                pair.1 += 1;
                let pair = pair.downgrade();
                yield_now().await;
                assert_eq!(pair.0, pair.1);
            });
            let ours = lock.clone();
            tasks.spawn(async move {
                let pair = ours.read().await;
                let before = *pair;
                yield_now().await;
                assert_eq!((before, pair.0), (*pair, pair.1));
            });
        }
        while let Some(result) = tasks.join_next().await {
            result.unwrap();
        }
        assert_eq!(*lock.read().await, (2, 2));
    });
}

#[test]
fn cells_and_barriers_agree() {
    passes(|| async {
        let cell = Arc::new(OnceCell::new());
        let late = Arc::new(SetOnce::new());
        let barrier = Arc::new(Barrier::new(3));
        let mut tasks = JoinSet::new();
        for task in 0..3 {
            let (cell, late, barrier) = (cell.clone(), late.clone(), barrier.clone());
            tasks.spawn(async move {
                let made = cell
                    .get_or_try_init(|| async {
                        yield_now().await;
                        if task == 0 { Err("not me") } else { Ok(task) }
                    })
                    .await
                    .copied();
                let leader = barrier.wait().await.is_leader();
                if leader {
                    late.set(task).unwrap();
                }
                (made, leader, *late.wait().await)
            });
        }
        let mut leaders = 0;
        while let Some(result) = tasks.join_next().await {
            let (made, leader, agreed) = result.unwrap();
            leaders += usize::from(leader);
            assert!(made.is_err() || cell.get() == made.as_ref().ok());
            assert_eq!(late.get(), Some(&agreed));
        }
        assert_eq!(leaders, 1);
    });
}

#[test]
fn notifications_are_handed_on() {
    passes(|| async {
        let notify = Arc::new(Notify::new());
        let ready = Arc::new(AtomicBool::new(false));
        let waiting = {
            let (notify, ready) = (notify.clone(), ready.clone());
            spawn(async move {
                loop {
                    let mut notified = pin!(notify.notified());
                    notified.as_mut().enable();
                    if ready.load(Ordering::SeqCst) {
                        break;
                    }
                    notified.await;
                }
            })
        };
        let fickle = {
            let notify = notify.clone();
            spawn(async move {
                // May be given the notification and never take it.
                let _ = timeout(Duration::from_millis(1), notify.notified()).await;
                notify.notify_one();
            })
        };
        ready.store(true, Ordering::SeqCst);
        notify.notify_one();
        waiting.await.unwrap();
        fickle.await.unwrap();
    });
}

#[test]
fn a_lost_wakeup_is_found() {
    let report = explore(Granularity::Op, || async {
        let notify = Arc::new(Notify::new());
        let ready = Arc::new(AtomicBool::new(false));
        let waiting = {
            let (notify, ready) = (notify.clone(), ready.clone());
            spawn(async move {
                if !ready.load(Ordering::SeqCst) {
                    yield_now().await;
                    // Created too late: `notify_waiters` may have been called.
                    notify.notified().await;
                }
            })
        };
        yield_now().await;
        ready.store(true, Ordering::SeqCst);
        notify.notify_waiters();
        waiting.await.unwrap();
    });
    assert_eq!(
        report.failure().expect("a lost wake-up").kind.class(),
        "deadlock"
    );
}

#[test]
fn a_deadlock_names_the_locks() {
    let report = explore(Granularity::Op, || async {
        let left = Arc::new(Mutex::new(()));
        let right = Arc::new(Mutex::new(()));
        let (first, second) = (left.clone(), right.clone());
        let other = spawn(async move {
            let _second = second.lock().await;
            let _first = first.lock().await;
        });
        {
            let _left = left.lock().await;
            let _right = right.lock().await;
        }
        other.await.unwrap();
    });
    assert_eq!(
        report.failure().expect("a deadlock").kind.class(),
        "deadlock"
    );
    let text = report.text();
    assert!(
        text.contains("mutex") && text.contains("locks_world.rs"),
        "{text}"
    );
}

/// A check and an act under two locks: nobody can come between at granularity `await`.
#[test]
fn granularity_decides_what_can_come_between() {
    let twice = |granularity| {
        explore(granularity, || async {
            let mutex = Arc::new(Mutex::new(0));
            let ours = mutex.clone();
            let add = move || {
                let mutex = ours.clone();
                async move {
                    let seen = *mutex.lock().await;
                    *mutex.lock().await = seen + 1;
                }
            };
            let other = spawn(add());
            add().await;
            other.await.unwrap();
            assert_eq!(*mutex.lock().await, 2);
        })
    };
    assert!(twice(Granularity::Await).passed());
    assert!(twice(Granularity::Op).failure().is_some());

    let tried = |granularity| {
        explore(granularity, || async {
            let mutex = Arc::new(Mutex::new(()));
            let ours = mutex.clone();
            let other = spawn(async move { assert!(ours.try_lock().is_ok()) });
            yield_now().await;
            drop(mutex.try_lock());
            other.await.unwrap();
        })
    };
    assert!(tried(Granularity::Op).passed());
    assert!(tried(Granularity::Sync).failure().is_some());
}

#[test]
fn every_task_may_leave_the_barrier_first() {
    let first: Arc<std::sync::Mutex<BTreeSet<usize>>> = Arc::default();
    let seen = first.clone();
    explore(Granularity::Await, move || {
        let seen = seen.clone();
        async move {
            let barrier = Arc::new(Barrier::new(4));
            let order = Arc::new(AtomicUsize::new(0));
            let mut tasks = JoinSet::new();
            for task in 0..4 {
                let (barrier, order, seen) = (barrier.clone(), order.clone(), seen.clone());
                tasks.spawn(async move {
                    let leader = barrier.wait().await.is_leader();
                    if !leader && order.fetch_add(1, Ordering::SeqCst) == 0 {
                        seen.lock().unwrap().insert(task);
                    }
                });
            }
            while let Some(result) = tasks.join_next().await {
                result.unwrap();
            }
        }
    })
    .assert_passed();
    assert_eq!(first.lock().unwrap().len(), 4);
}

#[test]
fn blocking_calls_block_their_own_task_only() {
    passes(|| async {
        let mutex = Arc::new(Mutex::new(0));
        let semaphore = Arc::new(Semaphore::new(0));
        let guard = mutex.lock().await;
        let (ours, permits) = (mutex.clone(), semaphore.clone());
        let blocked = spawn_blocking(move || {
            *ours.blocking_lock() += 1;
            permits.add_permits(1);
        });
        yield_now().await;
        drop(guard);
        semaphore.acquire().await.unwrap().forget();
        blocked.await.unwrap();
        assert_eq!(*mutex.lock().await, 1);
    });
}

#[test]
fn blocking_calls_panic_in_asynchronous_tasks() {
    let report = Checker::new().iterations(1).run(|| async {
        drop(Mutex::new(()).blocking_lock());
    });
    assert_eq!(report.failure().expect("a panic").kind.class(), "panic");
    let text = report.text();
    assert!(
        text.contains("Cannot block the current thread from within a runtime"),
        "{text}"
    );
}

/// Guards, queued futures and granted ones, all dropped while the world closes.
#[test]
fn a_failing_world_closes() {
    for granularity in [Granularity::Await, Granularity::Op, Granularity::Sync] {
        let report = explore(granularity, || async {
            let mutex = Arc::new(Mutex::new(0));
            let lock = Arc::new(RwLock::new(0));
            let semaphore = Arc::new(Semaphore::new(2));
            let notify = Arc::new(Notify::new());
            let barrier = Arc::new(Barrier::new(9));
            let cell = Arc::new(OnceCell::new());
            let mut tasks = JoinSet::new();
            for task in 0..4 {
                let (mutex, lock, cell) = (mutex.clone(), lock.clone(), cell.clone());
                let (semaphore, notify) = (semaphore.clone(), notify.clone());
                let barrier = barrier.clone();
                tasks.spawn(async move {
                    let permit = semaphore.acquire_many(task % 3).await.unwrap();
                    let mut guard = mutex.lock().await;
                    *guard += 1;
                    notify.notify_one();
                    let read = lock.read().await;
                    assert!(*guard < 3, "the third to come");
                    drop(guard);
                    cell.get_or_init(|| yield_now()).await;
                    drop(read);
                    drop(permit);
                    *lock.write().await += 1;
                    futures::join!(barrier.wait(), notify.notified());
                });
            }
            while let Some(result) = tasks.join_next().await {
                result.unwrap();
            }
        });
        assert_eq!(report.failure().expect("a panic").kind.class(), "panic");
    }
}

/// How often `operation` completes within one poll.
async fn completions(operation: impl AsyncFn()) -> usize {
    let count = Cell::new(0);
    let mut endless = pin!(async {
        while count.get() < 1000 {
            operation().await;
            count.set(count.get() + 1);
        }
    });
    poll_fn(|cx| {
        let _ = endless.as_mut().poll(cx);
        Poll::Ready(())
    })
    .await;
    count.get()
}

macro_rules! budgets {
    ($sync:path, $yield_now:path) => {
        async {
            use $sync as sync;
            let mutex = sync::Mutex::new(());
            let lock = sync::RwLock::new(());
            let semaphore = Arc::new(sync::Semaphore::new(5));
            let cell = sync::OnceCell::new();
            let once = sync::SetOnce::new_with(Some(1));
            let notify = sync::Notify::new();
            let alone = sync::Barrier::new(1);
            let pair = sync::Barrier::new(2);
            let mut counts = Vec::new();
            macro_rules! count {
                ($operation:expr) => {{
                    counts.push(
                        completions(async || {
                            let _ = $operation.await;
                        })
                        .await,
                    );
                    $yield_now().await;
                }};
            }
            count!(mutex.lock());
            count!(lock.read());
            count!(lock.write());
            count!(semaphore.acquire_many(3));
            count!(semaphore.clone().acquire_owned());
            count!(cell.get_or_try_init(|| ready(Err::<u8, u8>(1))));
            count!(cell.get_or_init(|| ready(1)));
            count!(once.wait());
            notify.notify_one();
            count!(async {
                notify.notified().await;
                notify.notify_one();
            });
            count!(alone.wait());
            count!(async { futures::join!(pair.wait(), pair.wait()) });
            counts
        }
    };
}

#[test]
fn budget_is_spent_where_tokio_spends_it() {
    let theirs = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(budgets!(tokio::sync, tokio::task::yield_now));
    let ours: Arc<std::sync::Mutex<Vec<usize>>> = Arc::default();
    let result = ours.clone();
    Checker::new()
        .iterations(1)
        .run(move || {
            let result = result.clone();
            async move {
                let counts = budgets!(cct_sync, yield_now).await;
                *result.lock().unwrap() = counts;
            }
        })
        .assert_passed();
    assert_eq!(theirs, *ours.lock().unwrap());
}

/// A waker that cannot be cloned: at the end of the budget the poll that took the permit unwinds.
#[test]
fn a_poll_that_unwinds_keeps_no_permit() {
    const VTABLE: RawWakerVTable =
        RawWakerVTable::new(|_| panic!("no clones"), |_| (), |_| (), |_| ());
    passes(|| async {
        let mutex = Mutex::new(());
        while task::coop::has_budget_remaining() {
            task::coop::consume_budget().await;
        }
        #[expect(unsafe_code, reason = "no other waker panics when it is cloned")]
        // SAFETY: the table does nothing with the data.
        let waker = unsafe { Waker::new(std::ptr::null(), &VTABLE) };
        let mut waiting = Box::pin(mutex.lock());
        let polled = catch_unwind(AssertUnwindSafe(|| {
            waiting
                .as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_ready()
        }));
        assert!(polled.is_err());
        drop(waiting);
        assert!(mutex.try_lock().is_ok());
    });
}
