//! Polling by hand: what a poll answers must not depend on what other tasks do meanwhile.

use super::rt::{self, select, spawn, sync, task as tasks, time};
use cct_tests::tools::WakeCount;
use cct_tests::{Log, note};
use futures::FutureExt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio_test::{
    assert_pending, assert_ready, assert_ready_eq, assert_ready_err, assert_ready_ok,
};

pub(crate) async fn what_is_ready_is_ready_now(log: Log) {
    let (tx, mut rx) = sync::mpsc::channel(2);
    note!(log, "{:?}", tx.send(1).now_or_never());
    note!(log, "{:?}", rx.recv().now_or_never());
    let (one_tx, one_rx) = sync::oneshot::channel();
    one_tx.send(2).unwrap();
    note!(log, "{:?}", one_rx.now_or_never());
    let mutex = sync::Mutex::new(3);
    note!(log, "{:?}", mutex.lock().now_or_never().map(|guard| *guard));
    let lock = sync::RwLock::new(4);
    note!(log, "{:?}", lock.read().now_or_never().map(|guard| *guard));
    note!(log, "{:?}", lock.write().now_or_never().map(|guard| *guard));
    let semaphore = sync::Semaphore::new(1);
    note!(log, "{}", semaphore.acquire().now_or_never().is_some());
    let notify = sync::Notify::new();
    notify.notify_one();
    note!(log, "{:?}", notify.notified().now_or_never());
    let (watch_tx, mut watch_rx) = sync::watch::channel(0);
    watch_tx.send(1).unwrap();
    note!(log, "{:?}", watch_rx.changed().now_or_never());
    let (cast_tx, mut cast_rx) = sync::broadcast::channel(1);
    cast_tx.send(5).unwrap();
    note!(log, "{:?}", cast_rx.recv().now_or_never());
    let cell = sync::OnceCell::new();
    note!(log, "{:?}", cell.get_or_init(|| async { 6 }).now_or_never());
    note!(
        log,
        "{:?}",
        sync::Barrier::new(1).wait().now_or_never().is_some()
    );
    note!(
        log,
        "{:?}",
        tx.reserve().now_or_never().map(|permit| permit.is_ok())
    );
}

pub(crate) async fn what_is_not_is_not(log: Log) {
    let (tx, mut rx) = sync::mpsc::channel::<u8>(1);
    note!(log, "{:?}", rx.recv().now_or_never());
    tx.try_send(1).unwrap();
    note!(log, "{:?}", tx.send(2).now_or_never());
    note!(log, "{:?}", tx.closed().now_or_never());
    let (_one_tx, one_rx) = sync::oneshot::channel::<u8>();
    note!(log, "{:?}", one_rx.now_or_never());
    let mutex = sync::Mutex::new(3);
    let guard = mutex.try_lock().unwrap();
    note!(log, "{:?}", mutex.lock().now_or_never().map(|guard| *guard));
    drop(guard);
    note!(log, "{:?}", mutex.lock().now_or_never().map(|guard| *guard));
    note!(log, "{:?}", sync::Notify::new().notified().now_or_never());
    note!(
        log,
        "{:?}",
        sync::Barrier::new(2).wait().now_or_never().is_some()
    );
    note!(log, "{:?}", tasks::yield_now().now_or_never());
    note!(
        log,
        "{:?}",
        time::sleep(Duration::from_secs(3600)).now_or_never()
    );
    note!(
        log,
        "{:?}",
        spawn(std::future::pending::<()>()).now_or_never().is_some()
    );
}

pub(crate) async fn tokio_test_macros_agree(log: Log) {
    let (tx, mut rx) = sync::mpsc::channel(1);
    {
        let mut first = tokio_test::task::spawn(tx.send(1));
        assert_ready_ok!(first.poll());
        let mut second = tokio_test::task::spawn(tx.send(2));
        assert_pending!(second.poll());
        let mut recv = tokio_test::task::spawn(rx.recv());
        assert_ready_eq!(recv.poll(), Some(1));
        assert!(second.is_woken());
        assert_ready_ok!(second.poll());
        drop(recv);
        let mut recv = tokio_test::task::spawn(rx.recv());
        assert_ready_eq!(recv.poll(), Some(2));
    }
    drop(rx);
    let mut third = tokio_test::task::spawn(tx.send(3));
    let refused = assert_ready_err!(third.poll());
    assert_ready!(tokio_test::task::spawn(tx.closed()).poll());
    note!(log, "{refused:?}");
}

pub(crate) async fn futures_poll_agrees(log: Log) {
    let semaphore = sync::Semaphore::new(1);
    let first = semaphore.acquire();
    let second = semaphore.acquire();
    rt::pin!(first);
    rt::pin!(second);
    let permit = futures::poll!(first);
    note!(
        log,
        "{} {}",
        permit.is_ready(),
        futures::poll!(second.as_mut()).is_pending()
    );
    drop(permit);
    note!(log, "{}", futures::poll!(second.as_mut()).is_ready());
}

pub(crate) async fn biased_select_takes_the_first_ready(log: Log) {
    let (tx, mut rx) = sync::mpsc::channel(4);
    let mutex = sync::Mutex::new(7);
    let mut taken = Vec::new();
    tx.try_send(1).unwrap();
    tx.try_send(2).unwrap();
    for _ in 0..3 {
        select! {
            biased;
            Some(value) = rx.recv() => taken.push(value),
            guard = mutex.lock() => taken.push(*guard),
            () = async {} => taken.push(0),
        }
    }
    note!(log, "{taken:?}");
}

pub(crate) async fn a_hand_written_merge_sees_both_sides(log: Log) {
    let (tx_one, mut one) = sync::mpsc::channel(4);
    let (tx_two, mut two) = sync::mpsc::channel(4);
    for value in 0..3 {
        tx_one.try_send(value).unwrap();
        tx_two.try_send(value + 10).unwrap();
    }
    drop((tx_one, tx_two));
    let mut turn = false;
    let mut merged = Vec::new();
    while let Some(value) = poll_fn(|cx| {
        turn = !turn;
        let (near, far) = if turn {
            (&mut one, &mut two)
        } else {
            (&mut two, &mut one)
        };
        match near.poll_recv(cx) {
            Poll::Ready(Some(value)) => Poll::Ready(Some(value)),
            Poll::Ready(None) => far.poll_recv(cx),
            Poll::Pending => panic!("a filled channel is not pending"),
        }
    })
    .await
    {
        merged.push(value);
    }
    note!(log, "{merged:?}");
}

/// Polls both; ready when both are. Counts its polls.
async fn both<A: Future, B: Future>(one: A, two: B, polls: &AtomicUsize) -> (A::Output, B::Output) {
    rt::pin!(one, two);
    let (mut first, mut second) = (None, None);
    poll_fn(|cx| {
        polls.fetch_add(1, Ordering::SeqCst);
        if first.is_none() {
            if let Poll::Ready(value) = one.as_mut().poll(cx) {
                first = Some(value);
            }
        }
        if second.is_none() {
            if let Poll::Ready(value) = two.as_mut().poll(cx) {
                second = Some(value);
            }
        }
        match (first.take(), second.take()) {
            (Some(one), Some(two)) => Poll::Ready((one, two)),
            (one, two) => {
                (first, second) = (one, two);
                Poll::Pending
            }
        }
    })
    .await
}

pub(crate) async fn every_poll_has_its_wake(log: Log) {
    let (tx_one, one) = sync::oneshot::channel();
    let (tx_two, two) = sync::oneshot::channel();
    let polls = AtomicUsize::new(0);
    let mut joined = tokio_test::task::spawn(both(one, two, &polls));
    note!(log, "{}", joined.poll().is_pending());
    tx_one.send(1).unwrap();
    note!(
        log,
        "woken {} {}",
        joined.is_woken(),
        joined.poll().is_pending()
    );
    note!(log, "woken {}", joined.is_woken());
    tx_two.send(2).unwrap();
    note!(log, "woken {} {:?}", joined.is_woken(), joined.poll());
    note!(log, "{}", polls.load(Ordering::SeqCst));
}

pub(crate) async fn a_task_is_not_polled_without_a_wake(_: Log) {
    let polls = Arc::new(AtomicUsize::new(0));
    let (tx_one, one) = sync::oneshot::channel();
    let (tx_two, two) = sync::oneshot::channel();
    let counter = polls.clone();
    let join = spawn(async move { both(one, two, &counter).await });
    for _ in 0..3 {
        tasks::yield_now().await;
    }
    tx_one.send(1).unwrap();
    tasks::yield_now().await;
    tx_two.send(2).unwrap();
    assert_eq!(join.await.unwrap(), (Ok(1), Ok(2)));
    let polls = polls.load(Ordering::SeqCst);
    assert!((1..=3).contains(&polls), "{polls} polls");
}

pub(crate) async fn one_release_wakes_once(log: Log) {
    let mutex = sync::Mutex::new(());
    let guard = mutex.try_lock().unwrap();
    let counts: Vec<_> = (0..3).map(|_| WakeCount::new()).collect();
    let mut locks: Vec<_> = (0..3).map(|_| Box::pin(mutex.lock())).collect();
    for (lock, (_, waker)) in locks.iter_mut().zip(&counts) {
        assert!(
            lock.as_mut()
                .poll(&mut Context::from_waker(waker))
                .is_pending()
        );
    }
    drop(guard);
    note!(
        log,
        "{:?}",
        counts
            .iter()
            .map(|(count, _)| count.get())
            .collect::<Vec<_>>()
    );
    drop(locks.remove(0));
    note!(
        log,
        "{:?}",
        counts
            .iter()
            .map(|(count, _)| count.get())
            .collect::<Vec<_>>()
    );
    drop(locks);
    note!(
        log,
        "{:?}",
        counts
            .iter()
            .map(|(count, _)| count.get())
            .collect::<Vec<_>>()
    );
}

pub(crate) async fn repolling_without_a_wake_is_harmless(log: Log) {
    let semaphore = sync::Semaphore::new(0);
    let (count, waker) = WakeCount::new();
    let mut cx = Context::from_waker(&waker);
    let mut acquire = pin!(semaphore.acquire());
    for _ in 0..5 {
        assert!(acquire.as_mut().poll(&mut cx).is_pending());
    }
    semaphore.add_permits(1);
    note!(log, "{}", count.get());
    note!(log, "{}", acquire.as_mut().poll(&mut cx).is_ready());
    let (tx, mut rx) = sync::mpsc::channel(1);
    for _ in 0..5 {
        assert!(rx.poll_recv(&mut cx).is_pending());
    }
    tx.try_send(1).unwrap();
    note!(log, "{} {:?}", count.get(), rx.poll_recv(&mut cx));
}

pub(crate) async fn a_future_may_move_between_tasks(log: Log) {
    let notify = Arc::new(sync::Notify::new());
    let (old, old_waker) = WakeCount::new();
    let mut notified = Box::pin(notify.clone().notified_owned());
    note!(
        log,
        "{:?}",
        notified.as_mut().poll(&mut Context::from_waker(&old_waker))
    );
    let join = spawn(notified);
    tasks::yield_now().await;
    notify.notify_one();
    join.await.unwrap();
    assert!(old.get() <= 1, "woken once, before or after the move");
}

pub(crate) async fn noop_wakers_do_not_hurt(log: Log) {
    let (tx, mut rx) = sync::mpsc::channel(1);
    let mut noop = Context::from_waker(Waker::noop());
    note!(log, "{:?}", rx.poll_recv(&mut noop));
    tx.try_send(1).unwrap();
    note!(log, "{:?}", rx.poll_recv(&mut noop));
    note!(log, "{:?}", rx.poll_recv(&mut noop));
    tx.try_send(2).unwrap();
    note!(log, "{:?}", rx.recv().await);
}

pub(crate) async fn a_pending_timer_polled_by_hand(log: Log) {
    let mut sleep = pin!(time::sleep(Duration::from_millis(3)));
    note!(log, "{:?}", sleep.as_mut().now_or_never());
    note!(log, "{:?}", futures::poll!(sleep.as_mut()));
    time::sleep(Duration::from_millis(3)).await;
    note!(log, "{:?}", sleep.as_mut().now_or_never());
}

pub(crate) async fn yielding_needs_a_second_poll(log: Log) {
    let mut yielding = tokio_test::task::spawn(tasks::yield_now());
    note!(log, "{:?}", yielding.poll());
    note!(log, "{:?}", yielding.poll());
}
