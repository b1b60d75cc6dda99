//! Who is told may act before who told goes on, here with what the other notes down only then.
#![cfg(target_os = "linux")]

use super::explore::explore;
use cct_executor::task::yield_now;
use cct_executor::{Checker, Granularity, spawn};
use cct_sync::{Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore, SetOnce};
use cct_sync::{broadcast, mpsc, oneshot, watch};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// Found where polls are interrupted there, and so by the default strategy, which has some iterations like that.
fn is_found<F: Future<Output = ()> + 'static>(
    scenario: impl Fn() -> F + Send + Sync + Copy + 'static,
) {
    let fails_at = |granularity| explore(granularity, scenario).failure().is_some();
    assert!(!fails_at(Granularity::Op));
    assert!(fails_at(Granularity::Spawn));
    assert!(fails_at(Granularity::Sync));
    assert!(Checker::new().run(scenario).failure.is_some());
}

/// One waits, one tells, and only then notes down that it has.
macro_rules! told {
    ($($name:ident: $made:expr, $waits:expr, $tells:expr;)*) => {
        $(#[test]
        fn $name() {
            is_found(|| async {
                let (for_one, for_other) = $made;
                let noted = Arc::new(AtomicBool::new(false));
                let theirs = noted.clone();
                let who_is_told = spawn(async move {
                    let _ = $waits(for_one).await;
                    assert!(theirs.load(SeqCst));
                });
                yield_now().await;
                let _told = $tells(for_other);
                noted.store(true, SeqCst);
                who_is_told.await.unwrap();
            });
        })*
    };
}

fn twice<T>(shared: T) -> (Arc<T>, Arc<T>) {
    let shared = Arc::new(shared);
    (shared.clone(), shared)
}

fn swapped<T, U>((one, other): (T, U)) -> (U, T) {
    (other, one)
}

fn ok<T, E: Debug>(result: Result<T, E>) -> T {
    result.unwrap()
}

type Held = cct_sync::OwnedMutexGuard<()>;

/// A lock, and who has it.
fn held() -> (Arc<Mutex<()>>, Held) {
    let mutex = Arc::new(Mutex::new(()));
    (mutex.clone(), ok(mutex.try_lock_owned()))
}

fn notified() -> (BoxFuture<'static, ()>, Arc<Notify>) {
    let notify = Arc::new(Notify::new());
    (notify.clone().notified_owned().boxed(), notify)
}

told! {
    an_unbounded_message: swapped(mpsc::unbounded_channel()),
        async |mut rx: mpsc::UnboundedReceiver<()>| rx.recv().await,
        |tx: mpsc::UnboundedSender<()>| ok(tx.send(()));
    a_message_tried: swapped(mpsc::channel(1)),
        async |mut rx: mpsc::Receiver<()>| rx.recv().await,
        |tx: mpsc::Sender<()>| ok(tx.try_send(()));
    the_last_sender: swapped(mpsc::channel(1)),
        async |mut rx: mpsc::Receiver<()>| rx.recv().await,
        |tx: mpsc::Sender<()>| drop(tx);
    a_receiver_closed: mpsc::channel(1),
        async |tx: mpsc::Sender<()>| tx.closed().await,
        |mut rx: mpsc::Receiver<()>| { rx.close(); rx };
    a_receiver_dropped: mpsc::channel(1),
        async |tx: mpsc::Sender<()>| tx.closed().await,
        |rx: mpsc::Receiver<()>| drop(rx);
    room_made: { let (tx, rx) = mpsc::channel(1); ok(tx.try_send(())); (tx, rx) },
        async |tx: mpsc::Sender<()>| ok(tx.send(()).await),
        |mut rx: mpsc::Receiver<()>| { ok(rx.try_recv()); rx };
    an_answer: swapped(oneshot::channel()),
        async |rx: oneshot::Receiver<()>| rx.await,
        |tx: oneshot::Sender<()>| ok(tx.send(()));
    no_answer: swapped(oneshot::channel()),
        async |rx: oneshot::Receiver<()>| rx.await,
        |tx: oneshot::Sender<()>| drop(tx);
    nobody_who_listens: oneshot::channel(),
        async |mut tx: oneshot::Sender<()>| tx.closed().await,
        |rx: oneshot::Receiver<()>| drop(rx);
    a_value_watched: swapped(watch::channel(())),
        async |mut rx: watch::Receiver<()>| ok(rx.changed().await),
        |tx: watch::Sender<()>| { ok(tx.send(())); tx };
    nothing_to_watch: swapped(watch::channel(())),
        async |mut rx: watch::Receiver<()>| rx.changed().await,
        |tx: watch::Sender<()>| drop(tx);
    a_broadcast: swapped(broadcast::channel(1)),
        async |mut rx: broadcast::Receiver<()>| ok(rx.recv().await),
        |tx: broadcast::Sender<()>| { ok(tx.send(())); tx };
    no_broadcast: swapped(broadcast::channel(1)),
        async |mut rx: broadcast::Receiver<()>| rx.recv().await,
        |tx: broadcast::Sender<()>| drop(tx);
    a_notification: twice(Notify::new()),
        async |notify: Arc<Notify>| notify.notified().await,
        |notify: Arc<Notify>| notify.notify_one();
    a_notification_for_all: notified(),
        async |notified: BoxFuture<'static, ()>| notified.await,
        |notify: Arc<Notify>| notify.notify_waiters();
    permits: twice(Semaphore::new(0)),
        async |permits: Arc<Semaphore>| ok(permits.acquire().await).forget(),
        |permits: Arc<Semaphore>| permits.add_permits(1);
    no_more_permits: twice(Semaphore::new(0)),
        async |permits: Arc<Semaphore>| drop(permits.acquire().await),
        |permits: Arc<Semaphore>| permits.close();
    a_lock: held(),
        async |mutex: Arc<Mutex<()>>| drop(mutex.lock().await),
        |guard: Held| drop(guard);
    a_lock_of_readers: { let (one, other) = twice(RwLock::new(())); (one, ok(other.try_write_owned())) },
        async |lock: Arc<RwLock<()>>| drop(lock.read().await),
        |guard: cct_sync::OwnedRwLockWriteGuard<()>| guard.downgrade();
    a_value_set_once: twice(SetOnce::new()),
        async |cell: Arc<SetOnce<()>>| *cell.wait().await,
        |cell: Arc<SetOnce<()>>| ok(cell.set(()));
}

#[test]
fn the_leader_of_a_barrier() {
    is_found(|| async {
        let barrier = Arc::new(Barrier::new(2));
        let noted = Arc::new(AtomicBool::new(false));
        let both = [0, 1].map(|_| {
            let (barrier, noted) = (barrier.clone(), noted.clone());
            spawn(async move {
                match barrier.wait().await.is_leader() {
                    true => noted.store(true, SeqCst),
                    false => assert!(noted.load(SeqCst)),
                }
            })
        });
        for one in both {
            one.await.unwrap();
        }
    });
}

#[test]
fn whoever_initialises() {
    is_found(|| async {
        let cell = Arc::new(OnceCell::new());
        let noted = Arc::new(AtomicBool::new(false));
        let both = [0, 1].map(|_| {
            let (cell, noted) = (cell.clone(), noted.clone());
            spawn(async move {
                let mut is_own = false;
                let init = async {
                    is_own = true;
                    yield_now().await;
                };
                cell.get_or_init(|| init).await;
                match is_own {
                    true => noted.store(true, SeqCst),
                    false => assert!(noted.load(SeqCst)),
                }
            })
        });
        for one in both {
            one.await.unwrap();
        }
    });
}

/// What is marked as seen may be newer than what was looked at.
#[test]
fn a_value_marked_as_seen() {
    let scenario = || async {
        let (tx, mut rx) = watch::channel(0);
        spawn(async move {
            for number in 1..=2 {
                yield_now().await;
                tx.send_replace(number);
            }
            tx.closed().await;
        });
        while *rx.borrow() < 2 {
            rx.mark_unchanged();
            rx.changed().await.unwrap();
        }
    };
    assert!(explore(Granularity::Op, scenario).failure().is_none());
    assert!(explore(Granularity::Spawn, scenario).failure().is_some());
}
