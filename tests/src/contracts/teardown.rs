//! What is still there when the root ends goes quietly.

use super::rt::{spawn, sync, task as tasks, time};
use cct_tests::{Log, note};
use std::cell::RefCell;
use std::future::pending;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

/// Uses everything there is when it is dropped.
struct Busybody {
    tx: sync::mpsc::Sender<u8>,
    mutex: Arc<sync::Mutex<u8>>,
    notify: Arc<sync::Notify>,
    watch: sync::watch::Sender<u8>,
}

impl Drop for Busybody {
    fn drop(&mut self) {
        let _ = self.tx.try_send(1);
        if let Ok(mut guard) = self.mutex.try_lock() {
            *guard += 1;
        }
        self.notify.notify_one();
        self.notify.notify_waiters();
        self.watch.send_modify(|value| *value += 1);
        let _ = time::Instant::now();
        drop(time::sleep(Duration::from_secs(1)));
        drop(spawn(pending::<()>()));
        let _ = tasks::try_id();
    }
}

pub(crate) async fn destructors_may_use_anything(log: Log) {
    let (tx, rx) = sync::mpsc::channel(8);
    let mutex = Arc::new(sync::Mutex::new(0));
    let notify = Arc::new(sync::Notify::new());
    let watch = sync::watch::Sender::new(0);
    for waiting in 0..3 {
        let busybody = Busybody {
            tx: tx.clone(),
            mutex: mutex.clone(),
            notify: notify.clone(),
            watch: watch.clone(),
        };
        let notify = notify.clone();
        spawn(async move {
            let _busybody = busybody;
            match waiting {
                0 => pending::<()>().await,
                1 => time::sleep(Duration::from_secs(3600)).await,
                _ => loop {
                    notify.notified().await;
                },
            }
        });
    }
    tasks::yield_now().await;
    drop(rx);
    note!(log, "left three tasks behind");
}

pub(crate) async fn waiting_tasks_are_left_behind(log: Log) {
    let (tx, mut rx) = sync::mpsc::channel::<u8>(1);
    let mutex = Arc::new(sync::Mutex::new(0));
    let semaphore = Arc::new(sync::Semaphore::new(0));
    let guard = mutex.clone().lock_owned().await;
    spawn(async move { rx.recv().await });
    let inner = mutex.clone();
    spawn(async move { *inner.lock().await += 1 });
    let inner = semaphore.clone();
    spawn(async move { inner.acquire().await.map(|permit| permit.forget()) });
    let mut set = tasks::JoinSet::new();
    set.spawn(pending::<()>());
    spawn(async move { set.join_next().await });
    let local = tasks::LocalSet::new();
    local.spawn_local(pending::<()>());
    tasks::yield_now().await;
    note!(log, "{guard} {}", tx.is_closed());
}

pub(crate) async fn running_tasks_are_left_behind(log: Log) {
    let semaphore = Arc::new(sync::Semaphore::new(2));
    for _ in 0..3 {
        let semaphore = semaphore.clone();
        spawn(async move {
            loop {
                drop(semaphore.acquire().await);
                tasks::yield_now().await;
            }
        });
    }
    drop(semaphore.acquire().await);
    note!(log, "done");
}

thread_local! {
    /// A waker of the run before this one on the same thread.
    static LAST: RefCell<Option<Waker>> = const { RefCell::new(None) };
}

pub(crate) async fn a_waker_outlives_its_runtime(_: Log) {
    if let Some(waker) = LAST.take() {
        waker.wake_by_ref();
        let clone = waker.clone();
        clone.wake();
    }
    let (tx, rx) = sync::oneshot::channel();
    let mut tx = Some(tx);
    spawn(std::future::poll_fn(move |cx| {
        if let Some(tx) = tx.take() {
            tx.send(cx.waker().clone()).unwrap();
        }
        Poll::<()>::Pending
    }));
    LAST.set(Some(rx.await.unwrap()));
}

pub(crate) async fn nested_spawns_end_with_the_root(log: Log) {
    fn chain(depth: usize) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            if depth > 0 {
                let child = spawn(chain(depth - 1));
                pending::<()>().await;
                drop(child);
            }
        })
    }
    spawn(chain(5));
    for _ in 0..3 {
        tasks::yield_now().await;
    }
    note!(log, "done");
}
