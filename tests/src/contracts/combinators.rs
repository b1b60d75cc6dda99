//! What the `futures` crate builds on top.

use super::rt::{spawn, sync, task as tasks, time};
use cct_tests::tools::Tombstone;
use cct_tests::{Log, note};
use futures::future::{self, Either, FutureExt, TryFutureExt};
use futures::stream::{self, FuturesOrdered, FuturesUnordered, StreamExt};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

pub(crate) async fn futures_unordered_yields_by_completion(log: Log) {
    let mut set: FuturesUnordered<_> = [30, 10, 20]
        .into_iter()
        .map(|pause| async move {
            time::sleep(millis(pause)).await;
            pause
        })
        .collect();
    while let Some(pause) = set.next().await {
        note!(log, "{pause}");
    }
}

pub(crate) async fn futures_unordered_takes_what_is_woken(log: Log) {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..4).map(|_| sync::oneshot::channel()).unzip();
    let mut set: FuturesUnordered<_> = receivers.into_iter().collect();
    let mut next = tokio_test::task::spawn(set.next());
    note!(log, "{:?}", next.poll());
    for (value, tx) in senders.into_iter().enumerate().rev() {
        tx.send(value).unwrap();
        note!(log, "woken {} {:?}", next.is_woken(), next.poll());
    }
    note!(log, "{:?}", next.poll());
}

pub(crate) async fn futures_unordered_polls_only_the_woken(log: Log) {
    let polls = Arc::new(AtomicUsize::new(0));
    let (senders, receivers): (Vec<_>, Vec<_>) =
        (0..3).map(|_| sync::oneshot::channel::<u8>()).unzip();
    let mut set: FuturesUnordered<_> = receivers
        .into_iter()
        .map(|mut rx| {
            let polls = polls.clone();
            future::poll_fn(move |cx| {
                polls.fetch_add(1, Ordering::SeqCst);
                rx.poll_unpin(cx)
            })
        })
        .collect();
    let mut next = tokio_test::task::spawn(set.next());
    note!(log, "{:?} {}", next.poll(), polls.load(Ordering::SeqCst));
    for tx in senders {
        tx.send(1).unwrap();
        note!(log, "{:?} {}", next.poll(), polls.load(Ordering::SeqCst));
    }
}

pub(crate) async fn futures_ordered_keeps_the_order(log: Log) {
    let mut set: FuturesOrdered<_> = [3, 1, 2]
        .into_iter()
        .map(|pause| async move {
            time::sleep(millis(pause)).await;
            pause
        })
        .collect();
    while let Some(pause) = set.next().await {
        note!(log, "{pause}");
    }
}

pub(crate) async fn join_all_over_tasks(log: Log) {
    let joins = (0..5).map(|value| spawn(async move { value * 2 }));
    let all = future::join_all(joins).await;
    note!(
        log,
        "{:?}",
        all.into_iter()
            .map(|value| value.unwrap())
            .collect::<Vec<_>>()
    );
    let failed = future::try_join_all([spawn(async { 1 }), spawn(async { panic!("one fails") })]);
    note!(log, "{}", failed.await.unwrap_err().is_panic());
}

pub(crate) async fn select_leaves_the_loser_alive(log: Log) {
    let (tx, mut rx) = sync::mpsc::channel(1);
    let sleep = Box::pin(time::sleep(millis(5)));
    let recv = Box::pin(rx.recv());
    let rest = match future::select(sleep, recv).await {
        Either::Left(((), recv)) => recv,
        Either::Right(_) => panic!("nothing was sent"),
    };
    tx.send(3).await.unwrap();
    note!(log, "{:?}", rest.await);
}

pub(crate) async fn select_all_and_select_ok(log: Log) {
    let naps = [30, 10, 20].map(|pause| {
        Box::pin(async move {
            time::sleep(millis(pause)).await;
            pause
        })
    });
    let (first, index, rest) = future::select_all(naps).await;
    note!(log, "{first} {index} {}", rest.len());
    let tries = [Err(1), Ok(2), Ok(3)].map(future::ready);
    note!(
        log,
        "{:?}",
        future::select_ok(tries)
            .await
            .map(|(value, rest)| (value, rest.len()))
    );
}

pub(crate) async fn shared_futures_wake_everybody(log: Log) {
    let (tx, rx) = sync::oneshot::channel::<u8>();
    let shared = rx.map(|result| result.unwrap()).shared();
    let readers: Vec<_> = (0..3).map(|_| spawn(shared.clone())).collect();
    tx.send(4).unwrap();
    for reader in readers {
        note!(log, "{}", reader.await.unwrap());
    }
    note!(log, "{:?}", shared.now_or_never());
}

pub(crate) async fn buffered_streams(log: Log) {
    let nap = |pause| async move {
        time::sleep(millis(pause)).await;
        pause
    };
    let start = time::Instant::now();
    let kept: Vec<_> = stream::iter([30, 10, 20, 5])
        .map(nap)
        .buffered(2)
        .collect()
        .await;
    note!(log, "{kept:?} {:?}", start.elapsed());
    let start = time::Instant::now();
    let mixed: Vec<_> = stream::iter([30, 10, 15, 2])
        .map(nap)
        .buffer_unordered(2)
        .collect()
        .await;
    note!(log, "{mixed:?} {:?}", start.elapsed());
}

pub(crate) async fn abortable_futures_drop_what_they_hold(log: Log) {
    let value = Tombstone::new(&log, "inside");
    let (future, handle) = future::abortable(async move {
        let _value = value;
        std::future::pending::<()>().await;
    });
    let join = spawn(future);
    handle.abort();
    note!(log, "{:?}", join.await.unwrap());
}

pub(crate) async fn futures_select_is_fair_to_the_semantics(log: Log) {
    let (tx, rx) = sync::oneshot::channel::<u8>();
    let mut rx = rx.fuse();
    let mut never = std::pin::pin!(future::pending::<u8>().fuse());
    tx.send(1).unwrap();
    futures::select! {
        value = rx => note!(log, "{value:?}"),
        _ = never => note!(log, "never"),
    }
    let mut rx = rx;
    futures::select! {
        value = rx => note!(log, "{value:?}"),
        _ = never => note!(log, "never"),
        complete => note!(log, "complete"),
        default => note!(log, "default"),
    }
}

pub(crate) async fn futures_channels_work_between_tasks(log: Log) {
    let (mut tx, mut rx) = futures::channel::mpsc::channel(1);
    let sender = spawn(async move {
        for value in 0..4 {
            futures::SinkExt::send(&mut tx, value).await.unwrap();
        }
    });
    while let Some(value) = rx.next().await {
        note!(log, "{value}");
    }
    sender.await.unwrap();
    let lock = Arc::new(futures::lock::Mutex::new(0));
    let workers: Vec<_> = (0..3)
        .map(|_| {
            let lock = lock.clone();
            spawn(async move {
                let mut guard = lock.lock().await;
                tasks::yield_now().await;
                *guard += 1;
            })
        })
        .collect();
    future::try_join_all(workers).await.unwrap();
    note!(log, "{}", *lock.lock().await);
}

pub(crate) async fn unfold_and_take_until(log: Log) {
    let start = time::Instant::now();
    let ticks = stream::unfold(time::interval(millis(10)), |mut interval| async move {
        let due = interval.tick().await;
        Some((due, interval))
    });
    let ticks = ticks.take_until(time::sleep(millis(35)));
    let seen: Vec<_> = ticks.map(|due| (due - start).as_millis()).collect().await;
    note!(log, "{seen:?} {:?}", start.elapsed());
}

pub(crate) async fn retries_until_success(log: Log) {
    let tries = AtomicUsize::new(0);
    let attempt = || async {
        time::sleep(millis(2)).await;
        match tries.fetch_add(1, Ordering::SeqCst) {
            2 => Ok("third time"),
            other => Err(other),
        }
    };
    let result = attempt()
        .or_else(|_| attempt())
        .or_else(|_| attempt())
        .await;
    note!(log, "{result:?}");
}

pub(crate) async fn futures_unordered_of_those_who_yield(log: Log) {
    let mut set: FuturesUnordered<_> = (0..4)
        .map(|child| async move {
            tasks::yield_now().await;
            child
        })
        .collect();
    while let Some(child) = set.next().await {
        note!(log, "{child}");
    }
}
