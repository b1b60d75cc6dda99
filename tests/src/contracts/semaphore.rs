//! The semaphore.

use super::rt::{spawn, sync::Semaphore, task as tasks};
use cct_tests::tools::{WakeCount, panic_text};
use cct_tests::{Log, note};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Context;
use tokio_test::task;

pub(crate) async fn limits_how_many_hold_it(_: Log) {
    let semaphore = Arc::new(Semaphore::new(2));
    let inside = Arc::new(AtomicUsize::new(0));
    let workers: Vec<_> = (0..4)
        .map(|_| {
            let (semaphore, inside) = (semaphore.clone(), inside.clone());
            spawn(async move {
                for _ in 0..3 {
                    let _permit = semaphore.acquire().await.unwrap();
                    assert!(inside.fetch_add(1, Ordering::SeqCst) < 2);
                    tasks::yield_now().await;
                    inside.fetch_sub(1, Ordering::SeqCst);
                }
            })
        })
        .collect();
    for worker in workers {
        worker.await.unwrap();
    }
    assert_eq!(semaphore.available_permits(), 2);
}

pub(crate) async fn waiters_are_served_in_order(log: Log) {
    let semaphore = Semaphore::new(0);
    let mut waiting: Vec<_> = (0..3).map(|_| task::spawn(semaphore.acquire())).collect();
    for acquire in &mut waiting {
        note!(log, "pending {}", acquire.poll().is_pending());
    }
    semaphore.add_permits(2);
    note!(
        log,
        "woken {:?}",
        waiting.iter().map(|one| one.is_woken()).collect::<Vec<_>>()
    );
    note!(log, "{} free", semaphore.available_permits());
    let ready: Vec<_> = waiting
        .iter_mut()
        .map(|one| one.poll().is_ready())
        .collect();
    note!(log, "ready {ready:?}");
}

pub(crate) async fn a_large_request_is_not_overtaken(log: Log) {
    let semaphore = Semaphore::new(2);
    let mut large = task::spawn(semaphore.acquire_many(3));
    note!(log, "pending {}", large.poll().is_pending());
    note!(log, "{} free", semaphore.available_permits());
    let mut small = task::spawn(semaphore.acquire());
    note!(log, "small pending {}", small.poll().is_pending());
    note!(log, "try {:?}", semaphore.try_acquire().map(|_| ()));
    semaphore.add_permits(1);
    note!(log, "woken {} {}", large.is_woken(), small.is_woken());
    let permit = large.poll();
    note!(log, "ready {}", permit.is_ready());
    drop(permit);
    note!(
        log,
        "woken {} ready {}",
        small.is_woken(),
        small.poll().is_ready()
    );
}

pub(crate) async fn a_dropped_large_request_gives_its_share_back(log: Log) {
    let semaphore = Semaphore::new(2);
    let mut large = task::spawn(semaphore.acquire_many(5));
    let mut small = task::spawn(semaphore.acquire());
    note!(
        log,
        "{} {}",
        large.poll().is_pending(),
        small.poll().is_pending()
    );
    note!(log, "{} free", semaphore.available_permits());
    drop(large);
    note!(
        log,
        "woken {} {} free",
        small.is_woken(),
        semaphore.available_permits()
    );
    note!(log, "ready {}", small.poll().is_ready());
    drop(small);
    note!(log, "{} free", semaphore.available_permits());
}

pub(crate) async fn a_served_waiter_that_is_dropped_passes_on(log: Log) {
    let semaphore = Semaphore::new(0);
    let mut one = task::spawn(semaphore.acquire());
    let mut two = task::spawn(semaphore.acquire());
    note!(
        log,
        "{} {}",
        one.poll().is_pending(),
        two.poll().is_pending()
    );
    semaphore.add_permits(1);
    note!(log, "woken {} {}", one.is_woken(), two.is_woken());
    drop(one);
    note!(
        log,
        "woken {} ready {}",
        two.is_woken(),
        two.poll().is_ready()
    );
}

pub(crate) async fn try_acquire_says_why_not(log: Log) {
    let semaphore = Semaphore::new(1);
    let permit = semaphore.try_acquire().unwrap();
    let error = semaphore.try_acquire().unwrap_err();
    note!(log, "{error} / {error:?}");
    drop(permit);
    note!(log, "{:?}", semaphore.try_acquire_many(2).map(|_| ()));
    note!(
        log,
        "{:?}",
        semaphore
            .try_acquire_many(0)
            .map(|permit| permit.num_permits())
    );
    semaphore.close();
    let error = semaphore.try_acquire().unwrap_err();
    note!(log, "{error} / {error:?}");
    note!(
        log,
        "{:?}",
        semaphore
            .try_acquire_many(0)
            .map(|permit| permit.num_permits())
    );
}

pub(crate) async fn close_fails_waiters_and_newcomers(log: Log) {
    let semaphore = Semaphore::new(1);
    let permit = semaphore.acquire().await.unwrap();
    let mut waiting = task::spawn(semaphore.acquire());
    note!(log, "{}", waiting.poll().is_pending());
    semaphore.close();
    note!(
        log,
        "woken {} closed {}",
        waiting.is_woken(),
        semaphore.is_closed()
    );
    let error = waiting.await.unwrap_err();
    note!(log, "{error} / {error:?}");
    drop(permit);
    note!(
        log,
        "{} free {:?}",
        semaphore.available_permits(),
        semaphore.acquire().await.is_err()
    );
    semaphore.add_permits(3);
    note!(log, "{} free", semaphore.available_permits());
}

pub(crate) async fn acquire_none_is_ready_unless_permits_are_owed(log: Log) {
    let semaphore = Semaphore::new(0);
    note!(
        log,
        "{}",
        task::spawn(semaphore.acquire_many(0)).poll().is_ready()
    );
    let mut waiting = task::spawn(semaphore.acquire());
    note!(log, "{}", waiting.poll().is_pending());
    note!(
        log,
        "{}",
        task::spawn(semaphore.acquire_many(0)).poll().is_ready()
    );
}

pub(crate) async fn permits_split_merge_and_forget(log: Log) {
    let semaphore = Semaphore::new(5);
    let mut permit = semaphore.acquire_many(4).await.unwrap();
    let part = permit.split(3).unwrap();
    note!(log, "{} {}", permit.num_permits(), part.num_permits());
    note!(log, "{}", permit.split(2).is_none());
    permit.merge(part);
    note!(
        log,
        "{} held {} free",
        permit.num_permits(),
        semaphore.available_permits()
    );
    permit.split(1).unwrap().forget();
    drop(permit);
    note!(log, "{} free", semaphore.available_permits());
    note!(
        log,
        "{} {}",
        semaphore.forget_permits(3),
        semaphore.available_permits()
    );
    note!(
        log,
        "{} {}",
        semaphore.forget_permits(3),
        semaphore.available_permits()
    );
}

pub(crate) async fn owned_permits_do_the_same(log: Log) {
    let semaphore = Arc::new(Semaphore::new(3));
    let mut permit = semaphore.clone().acquire_many_owned(2).await.unwrap();
    let single = semaphore.clone().acquire_owned().await.unwrap();
    note!(
        log,
        "{:?}",
        semaphore.clone().try_acquire_owned().map(|_| ())
    );
    permit.merge(single);
    note!(
        log,
        "{} {}",
        permit.num_permits(),
        Arc::ptr_eq(permit.semaphore(), &semaphore)
    );
    let part = permit.split(1).unwrap();
    drop(permit);
    note!(log, "{}", semaphore.available_permits());
    part.forget();
    note!(log, "{}", semaphore.available_permits());
    note!(
        log,
        "{:?}",
        semaphore.clone().try_acquire_many_owned(3).map(|_| ())
    );
}

pub(crate) async fn merging_strangers_panics(log: Log) {
    let (one, two) = (Semaphore::new(1), Semaphore::new(1));
    let mut mine = one.acquire().await.unwrap();
    let theirs = two.acquire().await.unwrap();
    note!(log, "{}", panic_text(|| mine.merge(theirs)));
    let (one, two) = (Arc::new(Semaphore::new(1)), Arc::new(Semaphore::new(1)));
    let mut mine = one.clone().try_acquire_owned().unwrap();
    let theirs = two.clone().try_acquire_owned().unwrap();
    note!(log, "{}", panic_text(|| mine.merge(theirs)));
    note!(log, "{}", two.available_permits());
}

pub(crate) async fn too_many_permits_panic(log: Log) {
    note!(log, "{}", Semaphore::MAX_PERMITS == usize::MAX >> 3);
    let text = panic_text(|| Semaphore::new(Semaphore::MAX_PERMITS + 1));
    note!(log, "{text}");
    let full = Semaphore::new(Semaphore::MAX_PERMITS);
    note!(log, "{}", panic_text(|| full.add_permits(1)));
}

pub(crate) async fn only_the_last_waker_is_called(log: Log) {
    let semaphore = Semaphore::new(0);
    let mut acquire = pin!(semaphore.acquire());
    let (old, old_waker) = WakeCount::new();
    let (new, new_waker) = WakeCount::new();
    assert!(
        acquire
            .as_mut()
            .poll(&mut Context::from_waker(&old_waker))
            .is_pending()
    );
    assert!(
        acquire
            .as_mut()
            .poll(&mut Context::from_waker(&new_waker))
            .is_pending()
    );
    semaphore.add_permits(1);
    note!(log, "{} {}", old.get(), new.get());
    note!(
        log,
        "{}",
        acquire
            .as_mut()
            .poll(&mut Context::from_waker(&new_waker))
            .is_ready()
    );
}

pub(crate) async fn a_const_semaphore_works(log: Log) {
    let gate = const { Semaphore::const_new(3) };
    let _permit = gate.acquire_many(2).await.unwrap();
    note!(log, "{}", gate.available_permits());
}

pub(crate) async fn partial_grants_are_not_lost(log: Log) {
    let semaphore = Semaphore::new(0);
    let mut three = task::spawn(semaphore.acquire_many(3));
    note!(log, "{}", three.poll().is_pending());
    for _ in 0..3 {
        note!(
            log,
            "woken {} {} free",
            three.is_woken(),
            semaphore.available_permits()
        );
        semaphore.add_permits(1);
    }
    note!(
        log,
        "woken {} ready {}",
        three.is_woken(),
        three.poll().is_ready()
    );
}

pub(crate) async fn an_aborted_waiter_leaves_the_queue(log: Log) {
    let semaphore = Arc::new(Semaphore::new(1));
    let held = semaphore.clone().acquire_owned().await.unwrap();
    let clone = semaphore.clone();
    let waiter = spawn(async move { drop(clone.acquire().await) });
    tasks::yield_now().await;
    waiter.abort();
    note!(log, "{}", waiter.await.unwrap_err().is_cancelled());
    drop(held);
    note!(log, "{}", semaphore.available_permits());
}
