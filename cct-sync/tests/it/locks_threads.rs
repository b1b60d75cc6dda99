//! Outside a world: real threads, a real runtime, blocking callers, statics.

use crate::support::both;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;
use tokio::runtime;

const TASKS: usize = 8;
const ROUNDS: usize = 300;

fn on_threads(test: impl Future<Output = ()>) {
    runtime::Builder::new_multi_thread()
        .worker_threads(3)
        .enable_all()
        .build()
        .unwrap()
        .block_on(async {
            tokio::time::timeout(Duration::from_secs(60), test)
                .await
                .expect("nobody gets on");
        });
}

both! {
    fn mutex_excludes(sync) {
        on_threads(async {
            let mutex = Arc::new(sync::Mutex::new(0));
            let tasks: Vec<_> = (0..TASKS)
                .map(|_| {
                    let mutex = mutex.clone();
                    tokio::spawn(async move {
                        for _ in 0..ROUNDS {
                            let mut guard = mutex.lock().await;
                            let before = *guard;
                            tokio::task::yield_now().await;
                            *guard = before + 1;
                        }
                    })
                })
                .collect();
            futures::future::try_join_all(tasks).await.unwrap();
            assert_eq!(*mutex.lock().await, TASKS * ROUNDS);
        });
    }
}

both! {
    fn rwlock_excludes_writers(sync) {
        on_threads(async {
            let lock = Arc::new(sync::RwLock::new((0, 0)));
            let tasks: Vec<_> = (0..TASKS)
                .map(|task| {
                    let lock = lock.clone();
                    tokio::spawn(async move {
                        for _ in 0..ROUNDS {
                            if task % 2 == 0 {
                                let mut pair = lock.write().await;
                                pair.0 += 1;
                                tokio::task::yield_now().await;
                                pair.1 += 1;
                            } else {
                                let pair = lock.read().await;
                                assert_eq!(pair.0, pair.1);
                                tokio::task::yield_now().await;
                                assert_eq!(pair.0, pair.1);
                            }
                        }
                    })
                })
                .collect();
            futures::future::try_join_all(tasks).await.unwrap();
            assert_eq!(*lock.read().await, (TASKS / 2 * ROUNDS, TASKS / 2 * ROUNDS));
        });
    }
}

both! {
    fn semaphore_bounds_and_survives_cancellation(sync) {
        on_threads(async {
            let semaphore = Arc::new(sync::Semaphore::new(3));
            let inside = Arc::new(AtomicUsize::new(0));
            let tasks: Vec<_> = (0..TASKS)
                .map(|task| {
                    let (semaphore, inside) = (semaphore.clone(), inside.clone());
                    tokio::spawn(async move {
                        for round in 0..ROUNDS {
                            let n = (task + round) as u32 % 3 + 1;
                            let acquire = semaphore.acquire_many(n);
                            let patience = Duration::from_micros((round % 7) as u64 * 10);
                            let Ok(permit) = tokio::time::timeout(patience, acquire).await else {
                                continue;
                            };
                            let before = inside.fetch_add(n as usize, Ordering::SeqCst);
                            assert!(before + n as usize <= 3);
                            tokio::task::yield_now().await;
                            inside.fetch_sub(n as usize, Ordering::SeqCst);
                            drop(permit.unwrap());
                        }
                    })
                })
                .collect();
            futures::future::try_join_all(tasks).await.unwrap();
            assert_eq!(semaphore.available_permits(), 3);
        });
    }
}

both! {
    fn barrier_elects_one_leader_a_round(sync) {
        on_threads(async {
            let barrier = Arc::new(sync::Barrier::new(TASKS));
            let leaders = Arc::new(AtomicUsize::new(0));
            let tasks: Vec<_> = (0..TASKS)
                .map(|_| {
                    let (barrier, leaders) = (barrier.clone(), leaders.clone());
                    tokio::spawn(async move {
                        for round in 0..ROUNDS {
                            if barrier.wait().await.is_leader() {
                                leaders.fetch_add(1, Ordering::SeqCst);
                            }
                            barrier.wait().await;
                            let leaders = leaders.load(Ordering::SeqCst);
                            assert!(leaders > round && leaders <= round + 2);
                        }
                    })
                })
                .collect();
            futures::future::try_join_all(tasks).await.unwrap();
        });
    }
}

both! {
    fn notify_hands_over(sync) {
        on_threads(async {
            let notify = Arc::new(sync::Notify::new());
            let count = Arc::new(AtomicUsize::new(0));
            let receiver = {
                let (notify, count) = (notify.clone(), count.clone());
                tokio::spawn(async move {
                    while count.load(Ordering::SeqCst) < ROUNDS {
                        notify.notified().await;
                    }
                })
            };
            for _ in 0..ROUNDS {
                count.fetch_add(1, Ordering::SeqCst);
                notify.notify_one();
            }
            receiver.await.unwrap();
        });
    }
}

both! {
    fn cells_are_set_once(sync) {
        on_threads(async {
            for _ in 0..ROUNDS / 10 {
                let cell = Arc::new(sync::OnceCell::new());
                let late = Arc::new(sync::SetOnce::new());
                let calls = Arc::new(AtomicUsize::new(0));
                let tasks: Vec<_> = (0..TASKS)
                    .map(|task| {
                        let (cell, late, calls) = (cell.clone(), late.clone(), calls.clone());
                        tokio::spawn(async move {
                            let init = || async {
                                calls.fetch_add(1, Ordering::SeqCst);
                                tokio::task::yield_now().await;
                                Box::new(task)
                            };
                            let value = **cell.get_or_init(init).await;
                            if late.set(Box::new(task)).is_err() {
                                assert!(late.get().is_some());
                            }
                            (value, **late.wait().await)
                        })
                    })
                    .collect();
                let values = futures::future::try_join_all(tasks).await.unwrap();
                assert!(values.iter().all(|pair| *pair == values[0]));
                assert_eq!(calls.load(Ordering::SeqCst), 1);
            }
        });
    }
}

both! {
    fn threads_block(sync) {
        let mutex = Arc::new(sync::Mutex::new(0));
        let lock = Arc::new(sync::RwLock::new(0));
        let semaphore = Arc::new(sync::Semaphore::new(1));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..ROUNDS {
                        *mutex.blocking_lock() += 1;
                        *mutex.clone().blocking_lock_owned() += 1;
                        *lock.blocking_write() += 1;
                        assert!(*lock.blocking_read() > 0);
                        let permit = semaphore.blocking_acquire().unwrap();
                        assert_eq!(semaphore.available_permits(), 0);
                        drop(permit);
                        drop(semaphore.blocking_acquire_many(1).unwrap());
                        drop(semaphore.clone().blocking_acquire_owned().unwrap());
                        drop(semaphore.clone().blocking_acquire_many_owned(1).unwrap());
                    }
                });
            }
        });
        let count = 4 * ROUNDS;
        let (mutex, lock) = (Arc::into_inner(mutex).unwrap(), Arc::into_inner(lock).unwrap());
        assert_eq!((mutex.into_inner(), lock.into_inner()), (2 * count, count));
    }
}

both! {
    fn statics(sync) {
        static MUTEX: sync::Mutex<u8> = sync::Mutex::const_new(1);
        static LOCK: sync::RwLock<u8> = sync::RwLock::const_new(2);
        static FEW: sync::RwLock<u8> = sync::RwLock::const_with_max_readers(3, 1);
        static SEMAPHORE: sync::Semaphore = sync::Semaphore::const_new(1);
        static NOTIFY: sync::Notify = sync::Notify::const_new();
        static CELL: sync::OnceCell<u8> = sync::OnceCell::const_new();
        static FULL: sync::OnceCell<u8> = sync::OnceCell::const_new_with(4);
        static ONCE: sync::SetOnce<u8> = sync::SetOnce::const_new();
        static SET: sync::SetOnce<u8> = sync::SetOnce::const_new_with(5);
        on_threads(async {
            assert_eq!((*MUTEX.lock().await, *LOCK.read().await), (1, 2));
            let few = FEW.read().await;
            assert!(FEW.try_read().is_err());
            drop(few);
            let permit = SEMAPHORE.acquire().await.unwrap();
            assert!(SEMAPHORE.try_acquire().is_err());
            drop(permit);
            NOTIFY.notify_one();
            NOTIFY.notified().await;
            assert_eq!(*CELL.get_or_init(|| async { 6 }).await, 6);
            assert_eq!(*FULL.get_or_init(|| async { 7 }).await, 4);
            ONCE.set(8).unwrap();
            assert_eq!((*ONCE.wait().await, *SET.wait().await), (8, 5));
        });
    }
}
