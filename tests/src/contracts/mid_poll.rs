//! A poll is one thing: whatever else runs meanwhile, its task stays what and where it was.

use super::rt::{spawn, sync, task as tasks, task_local};
use cct_tests::Log;
use std::cell::{Cell, RefCell};
use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

/// A few operations that are ready at once: asynchronous ones and others.
fn operate(gate: &sync::Semaphore, cx: &mut Context<'_>) {
    for _ in 0..3 {
        assert!(pin!(gate.acquire()).poll(cx).is_ready());
        drop(gate.try_acquire());
    }
}

/// Fails when it is dropped while its task is being polled.
struct NotInside(Arc<AtomicBool>);

impl Drop for NotInside {
    fn drop(&mut self) {
        assert!(!self.0.load(Ordering::SeqCst), "dropped inside a poll");
    }
}

pub(crate) async fn an_aborted_task_is_not_dropped_inside_a_poll(_: Log) {
    let gate = Arc::new(sync::Semaphore::new(100));
    let inside = Arc::new(AtomicBool::new(false));
    let guard = NotInside(inside.clone());
    let worker = gate.clone();
    let join = spawn(async move {
        let _guard = guard;
        for _ in 0..3 {
            poll_fn(|cx| {
                inside.store(true, Ordering::SeqCst);
                operate(&worker, cx);
                inside.store(false, Ordering::SeqCst);
                Poll::Ready(())
            })
            .await;
            tasks::yield_now().await;
        }
        pending::<()>().await;
    });
    drop(gate.acquire().await);
    join.abort();
    drop(gate.acquire().await);
    assert!(join.await.unwrap_err().is_cancelled());
}

pub(crate) async fn a_woken_task_is_not_polled_twice_at_once(_: Log) {
    let gate = Arc::new(sync::Semaphore::new(100));
    let waker = Arc::new(Mutex::new(None::<std::task::Waker>));
    let worker = (gate.clone(), waker.clone());
    let join = spawn(async move {
        let (gate, waker) = worker;
        let inside = AtomicUsize::new(0);
        let mut polls = 0;
        poll_fn(|cx| {
            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
            *waker.lock().unwrap() = Some(cx.waker().clone());
            operate(&gate, cx);
            polls += 1;
            assert_eq!(inside.fetch_sub(1, Ordering::SeqCst), 1);
            if polls == 4 {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    });
    while !join.is_finished() {
        let waker = waker.lock().unwrap().clone();
        if let Some(waker) = waker {
            waker.wake();
        }
        drop(gate.acquire().await);
        tasks::yield_now().await;
    }
    join.await.unwrap();
}

task_local! {
    static OWNER: usize;
}

pub(crate) async fn a_task_keeps_its_id_and_its_locals(_: Log) {
    let gate = Arc::new(sync::Semaphore::new(100));
    let joins: Vec<_> = (0..3)
        .map(|owner| {
            let gate = gate.clone();
            spawn(async move {
                let id = tasks::id();
                let work = OWNER.scope(
                    owner,
                    poll_fn(|cx| {
                        for _ in 0..2 {
                            operate(&gate, cx);
                            assert_eq!(OWNER.get(), owner);
                            assert_eq!(tasks::id(), id);
                        }
                        OWNER.sync_scope(owner + 10, || {
                            operate(&gate, cx);
                            assert_eq!(OWNER.get(), owner + 10);
                        });
                        Poll::Ready(())
                    }),
                );
                work.await;
                assert!(OWNER.try_get().is_err());
                drop(gate.acquire().await);
                assert!(OWNER.try_get().is_err());
            })
        })
        .collect();
    for join in joins {
        join.await.unwrap();
    }
}

pub(crate) async fn local_tasks_share_cells_without_locks(_: Log) {
    let local = tasks::LocalSet::new();
    let gate = Rc::new(sync::Semaphore::new(100));
    let cell = Rc::new(RefCell::new(0));
    for _ in 0..3 {
        let (gate, cell) = (gate.clone(), cell.clone());
        local.spawn_local(async move {
            for _ in 0..2 {
                poll_fn(|cx| {
                    let mut guard = cell.borrow_mut();
                    operate(&gate, cx);
                    *guard += 1;
                    Poll::Ready(())
                })
                .await;
                tasks::yield_now().await;
            }
        });
    }
    let inner = cell.clone();
    local
        .run_until(poll_fn(|cx| {
            let guard = inner.borrow_mut();
            operate(&gate, cx);
            drop(guard);
            Poll::Ready(())
        }))
        .await;
    local.await;
    assert_eq!(*cell.borrow(), 6);
}

pub(crate) async fn nobody_sees_the_panic_of_another_task(_: Log) {
    let mutex = Arc::new(sync::Mutex::new(0));
    let plain = Arc::new(Mutex::new(0));
    let (tx, mut rx) = sync::mpsc::channel::<u8>(4);
    let failing: Vec<_> = (0..2)
        .map(|_| {
            let (mutex, tx) = (mutex.clone(), tx.clone());
            spawn(async move {
                let _tx = tx;
                let _guard = mutex.lock().await;
                panic!("with a lock and a sender");
            })
        })
        .collect();
    drop(tx);
    let bystander = spawn(async move {
        for _ in 0..4 {
            assert!(!std::thread::panicking());
            *plain.lock().unwrap() += 1;
            drop(mutex.lock().await);
            assert!(!std::thread::panicking());
        }
        assert!(!plain.is_poisoned());
    });
    assert!(rx.recv().await.is_none());
    bystander.await.unwrap();
    for join in failing {
        assert!(join.await.unwrap_err().is_panic());
    }
}

pub(crate) async fn a_panic_may_be_caught_around_operations(_: Log) {
    let gate = Arc::new(sync::Semaphore::new(100));
    let joins: Vec<_> = (0..2)
        .map(|_| {
            let gate = gate.clone();
            spawn(poll_fn(move |cx| {
                let text = cct_tests::tools::panic_text(|| {
                    operate(&gate, cx);
                    let _permit = gate.try_acquire();
                    panic!("inside");
                });
                assert_eq!(text, "inside");
                operate(&gate, cx);
                Poll::Ready(())
            }))
        })
        .collect();
    for join in joins {
        join.await.unwrap();
    }
    assert_eq!(gate.available_permits(), 100);
}

pub(crate) async fn resumed_panics_are_panics(_: Log) {
    let join = spawn(async { std::panic::resume_unwind(Box::new(5_u8)) });
    let payload = join.await.unwrap_err().into_panic();
    assert_eq!(payload.downcast_ref(), Some(&5_u8));
}

pub(crate) async fn nested_local_state_survives(_: Log) {
    let local = tasks::LocalSet::new();
    let depth = Rc::new(Cell::new(0));
    let gate = Rc::new(sync::Semaphore::new(10));
    for _ in 0..2 {
        let (depth, gate) = (depth.clone(), gate.clone());
        local.spawn_local(async move {
            let before = depth.replace(depth.get() + 1);
            let permit = gate.try_acquire();
            assert_eq!(depth.replace(before), before + 1);
            drop(permit);
            gate.acquire().await.unwrap().forget();
        });
    }
    local.await;
    assert_eq!((depth.get(), gate.available_permits()), (0, 8));
}
