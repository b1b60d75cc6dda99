//! Inside a world: between a look at what is waited for and the beginning to listen, others may come.

use super::explore::{explore, passes as passes_everywhere};
use cct_executor::task::yield_now;
use cct_executor::{Granularity, spawn};
use cct_sync::{Notify, broadcast, oneshot, watch};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// A flag, and all that tells of it once it is set.
struct Told {
    flag: AtomicBool,
    notify: Arc<Notify>,
    broadcast: broadcast::Sender<()>,
    watch: watch::Sender<()>,
}

impl Told {
    fn new() -> Arc<Told> {
        Arc::new(Told {
            flag: AtomicBool::new(false),
            notify: Arc::new(Notify::new()),
            broadcast: broadcast::channel(4).0,
            watch: watch::channel(()).0,
        })
    }

    fn is_set(&self) -> bool {
        self.flag.load(Ordering::SeqCst)
    }

    fn set(&self) {
        self.flag.store(true, Ordering::SeqCst);
        self.notify.notify_waiters();
        let _ = self.broadcast.send(());
        self.watch.send_replace(());
    }
}

type Listening = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Ways to begin to listen; the futures wait for what is told from then on.
fn ways() -> Vec<fn(&Arc<Told>) -> Listening> {
    vec![
        |told| {
            // Made here, where the call is: an `async` block would begin with its first poll only.
            let notified = told.notify.clone().notified_owned();
            Box::pin(notified)
        },
        |told| {
            let mut receiver = told.broadcast.subscribe();
            Box::pin(async move { receiver.recv().await.unwrap() })
        },
        |told| {
            let mut receiver = told.broadcast.subscribe().resubscribe();
            Box::pin(async move { receiver.recv().await.unwrap() })
        },
        |told| {
            let mut receiver = told.watch.subscribe();
            Box::pin(async move { receiver.changed().await.unwrap() })
        },
    ]
}

fn passes<Fut>(
    granularity: Granularity,
    wait: impl Fn(Arc<Told>) -> Fut + Send + Sync + Copy + 'static,
) -> bool
where
    Fut: Future<Output = ()> + Send + 'static,
{
    let report = explore(granularity, move || async move {
        let told = Told::new();
        let waiting = spawn(wait(told.clone()));
        yield_now().await;
        told.set();
        waiting.await.unwrap();
    });
    if let Some(failure) = report.failure() {
        assert_eq!(failure.kind.class(), "deadlock");
    }
    report.passed()
}

#[test]
fn who_looks_and_then_listens_may_miss_it() {
    for way in ways() {
        let look_first = move |told: Arc<Told>| async move {
            if !told.is_set() {
                way(&told).await;
            }
        };
        assert!(passes(Granularity::Await, look_first));
        assert!(!passes(Granularity::Op, look_first));
        assert!(!passes(Granularity::Sync, look_first));
    }
}

#[test]
fn who_listens_and_then_looks_misses_nothing() {
    for way in ways() {
        let listen_first = move |told: Arc<Told>| async move {
            let listening = way(&told);
            if !told.is_set() {
                listening.await;
            }
        };
        for granularity in [Granularity::Await, Granularity::Op, Granularity::Sync] {
            assert!(passes(granularity, listen_first));
        }
    }
}

/// The future of `notified` itself, which most code awaits where it is made.
#[test]
fn a_notification_between_the_look_and_the_wait_is_lost() {
    let wait = |told: Arc<Told>| async move {
        while !told.is_set() {
            told.notify.notified().await;
        }
    };
    assert!(passes(Granularity::Await, wait));
    assert!(!passes(Granularity::Op, wait));
}

/// A pool of one thing: who finds nothing waits for who gives it back.
#[derive(Default)]
struct Pool {
    idle: Mutex<Vec<()>>,
    waiting: Mutex<Vec<oneshot::Sender<()>>>,
}

impl Pool {
    async fn get(&self, looks_again: bool) {
        if self.idle.lock().unwrap().pop().is_some() {
            return;
        }
        let (tx, rx) = oneshot::channel();
        {
            let mut waiting = self.waiting.lock().unwrap();
            if looks_again && self.idle.lock().unwrap().pop().is_some() {
                return;
            }
            waiting.push(tx);
        }
        rx.await.unwrap();
    }

    fn put(&self) {
        let mut waiting = self.waiting.lock().unwrap();
        match waiting.pop() {
            Some(one) => one.send(()).unwrap(),
            None => self.idle.lock().unwrap().push(()),
        }
    }
}

/// What comes between the look and the place among those that wait is missed, unless one looks again.
#[test]
fn who_asks_for_an_answer_may_miss_it() {
    let passes = |granularity, looks_again| {
        explore(granularity, move || async move {
            let pool = Arc::new(Pool::default());
            let asks = pool.clone();
            let asks = spawn(async move { asks.get(looks_again).await });
            yield_now().await;
            pool.put();
            asks.await.unwrap();
        })
        .passed()
    };
    assert!(passes(Granularity::Op, false));
    assert_eq!(
        passes(Granularity::Spawn, false),
        cfg!(not(target_os = "linux"))
    );
    assert!(!passes(Granularity::Sync, false));
    for granularity in [Granularity::Op, Granularity::Spawn, Granularity::Sync] {
        assert!(passes(granularity, true));
    }
}

/// As under any lock: whoever else wants it waits until it is free.
#[test]
fn who_begins_to_listen_under_a_lock_of_std_keeps_nobody_for_ever() {
    for way in ways() {
        passes_everywhere(move || async move {
            let (told, lock) = (Told::new(), Arc::new(Mutex::new(0)));
            let tasks: Vec<_> = (0..3)
                .map(|_| {
                    let (told, lock) = (told.clone(), lock.clone());
                    spawn(async move {
                        let mut count = lock.lock().unwrap();
                        let listening = way(&told);
                        *count += 1;
                        drop(count);
                        drop(listening);
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
            assert_eq!(*lock.lock().unwrap(), 3);
        });
    }
}
