//! The asynchronous mutex.

use super::rt::{spawn, sync, sync::Mutex, task as tasks};
use cct_tests::tools::WakeCount;
use cct_tests::{Log, note};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::Context;
use tokio_test::task;

pub(crate) async fn excludes(_: Log) {
    let shared = Arc::new(Mutex::new(0));
    let workers: Vec<_> = (0..3)
        .map(|_| {
            let shared = shared.clone();
            spawn(async move {
                for _ in 0..4 {
                    let mut guard = shared.lock().await;
                    let seen = *guard;
                    tasks::yield_now().await;
                    *guard = seen + 1;
                }
            })
        })
        .collect();
    for worker in workers {
        worker.await.unwrap();
    }
    assert_eq!(*shared.lock().await, 12);
}

pub(crate) async fn waiters_are_served_in_order(log: Log) {
    let mutex = Mutex::new(());
    let guard = mutex.lock().await;
    let mut waiting: Vec<_> = (0..3).map(|_| task::spawn(mutex.lock())).collect();
    for lock in &mut waiting {
        note!(log, "pending {}", lock.poll().is_pending());
    }
    drop(guard);
    for _ in 0..3 {
        note!(
            log,
            "woken {:?}",
            waiting
                .iter()
                .map(|lock| lock.is_woken())
                .collect::<Vec<_>>()
        );
        note!(log, "try_lock {}", mutex.try_lock().is_ok());
        note!(log, "ready {}", waiting[0].poll().is_ready());
        drop(waiting.remove(0));
    }
    note!(log, "try_lock {}", mutex.try_lock().is_ok());
}

pub(crate) async fn newcomers_do_not_overtake_a_woken_waiter(log: Log) {
    let mutex = Mutex::new(());
    let guard = mutex.lock().await;
    let mut first = task::spawn(mutex.lock());
    note!(log, "pending {}", first.poll().is_pending());
    drop(guard);
    let mut late = task::spawn(mutex.lock());
    note!(log, "late pending {}", late.poll().is_pending());
    let guard = first.poll();
    note!(log, "first ready {}", guard.is_ready());
    drop(guard);
    note!(
        log,
        "late woken {} ready {}",
        late.is_woken(),
        late.poll().is_ready()
    );
}

pub(crate) async fn a_dropped_waiter_passes_the_lock_on(log: Log) {
    let mutex = Mutex::new(());
    let guard = mutex.lock().await;
    let mut first = task::spawn(mutex.lock());
    let mut second = task::spawn(mutex.lock());
    let mut third = task::spawn(mutex.lock());
    for lock in [&mut first, &mut second, &mut third] {
        note!(log, "pending {}", lock.poll().is_pending());
    }
    drop(second);
    drop(guard);
    note!(log, "woken {} {}", first.is_woken(), third.is_woken());
    drop(first);
    note!(
        log,
        "woken {} ready {}",
        third.is_woken(),
        third.poll().is_ready()
    );
}

pub(crate) async fn try_lock_says_would_block(log: Log) {
    let mutex = Arc::new(Mutex::new(1));
    let guard = mutex.try_lock().unwrap();
    let error = mutex.try_lock().unwrap_err();
    note!(log, "{error} / {error:?}");
    note!(log, "{}", mutex.clone().try_lock_owned().is_err());
    note!(log, "{guard:?} {guard} {mutex:?}");
    drop(guard);
    note!(
        log,
        "{mutex:?} {:?}",
        mutex.clone().try_lock_owned().map(|guard| *guard)
    );
}

pub(crate) async fn owned_guards_lock_the_same(log: Log) {
    let mutex = Arc::new(Mutex::new(vec![1, 2]));
    let guard = mutex.clone().lock_owned().await;
    note!(
        log,
        "{} {}",
        mutex.try_lock().is_err(),
        Arc::strong_count(&mutex)
    );
    note!(
        log,
        "{}",
        Arc::ptr_eq(sync::OwnedMutexGuard::mutex(&guard), &mutex)
    );
    let mut mapped = sync::OwnedMutexGuard::map(guard, |list| &mut list[0]);
    *mapped = 10;
    note!(log, "{mapped:?} {}", mutex.try_lock().is_err());
    drop(mapped);
    note!(
        log,
        "{:?} {}",
        mutex.lock().await,
        Arc::strong_count(&mutex)
    );
}

pub(crate) async fn mapped_guards_hold_the_lock(log: Log) {
    let mutex = Mutex::new((1, Some(2)));
    let guard = mutex.lock().await;
    let mapped = sync::MutexGuard::map(guard, |pair| &mut pair.1);
    note!(log, "{} {mapped:?}", mutex.try_lock().is_err());
    let inner = sync::MappedMutexGuard::try_map(mapped, |option| option.as_mut());
    *inner.unwrap() = 3;
    let guard = mutex.lock().await;
    let refused = sync::MutexGuard::try_map(guard, |pair| match pair.0 {
        0 => Some(&mut pair.0),
        _ => None,
    });
    note!(log, "{} {}", refused.is_err(), mutex.try_lock().is_err());
    drop(refused);
    note!(log, "{:?}", mutex.into_inner());
}

pub(crate) async fn exclusive_access_needs_no_lock(log: Log) {
    let mut mutex = Mutex::from(1);
    *mutex.get_mut() += 1;
    note!(log, "{:?} {}", mutex, mutex.try_lock().unwrap());
    note!(
        log,
        "{} {}",
        mutex.into_inner(),
        Mutex::<u8>::default().into_inner()
    );
}

pub(crate) async fn a_const_mutex_works(log: Log) {
    let count: Mutex<u32> = const { Mutex::const_new(5) };
    let guard = count.lock().await;
    note!(log, "{guard}");
}

pub(crate) async fn a_panicking_holder_does_not_poison(log: Log) {
    let mutex = Arc::new(Mutex::new(1));
    let clone = mutex.clone();
    let worker = spawn(async move {
        let mut guard = clone.lock().await;
        *guard = 2;
        panic!("while locked");
    });
    note!(log, "{}", worker.await.unwrap_err().is_panic());
    note!(log, "{}", mutex.lock().await);
}

pub(crate) async fn an_aborted_holder_unlocks(log: Log) {
    let mutex = Arc::new(Mutex::new(1));
    let clone = mutex.clone();
    let (locked, is_locked) = sync::oneshot::channel();
    let worker = spawn(async move {
        let _guard = clone.lock().await;
        locked.send(()).unwrap();
        std::future::pending::<()>().await;
    });
    is_locked.await.unwrap();
    note!(log, "{}", mutex.try_lock().is_err());
    worker.abort();
    note!(log, "{}", mutex.lock().await);
    note!(log, "{}", worker.await.unwrap_err().is_cancelled());
}

pub(crate) async fn only_the_last_waker_is_called(log: Log) {
    let mutex = Mutex::new(());
    let guard = mutex.lock().await;
    let mut lock = pin!(mutex.lock());
    let (old, old_waker) = WakeCount::new();
    let (new, new_waker) = WakeCount::new();
    assert!(
        lock.as_mut()
            .poll(&mut Context::from_waker(&old_waker))
            .is_pending()
    );
    assert!(
        lock.as_mut()
            .poll(&mut Context::from_waker(&new_waker))
            .is_pending()
    );
    drop(guard);
    note!(log, "{} {}", old.get(), new.get());
    note!(
        log,
        "{}",
        lock.as_mut()
            .poll(&mut Context::from_waker(&new_waker))
            .is_ready()
    );
}

pub(crate) async fn blocking_lock_waits_its_turn(log: Log) {
    let mutex = Arc::new(Mutex::new(1));
    let guard = mutex.lock().await;
    let clone = mutex.clone();
    let thread = tasks::spawn_blocking(move || {
        *clone.blocking_lock() += 1;
        *clone.blocking_lock_owned() += 1;
    });
    tasks::yield_now().await;
    note!(log, "{guard}");
    drop(guard);
    thread.await.unwrap();
    note!(log, "{}", mutex.lock().await);
}
