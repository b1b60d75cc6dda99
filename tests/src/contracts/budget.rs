//! Who spends the cooperative budget, and who gets around it.

use super::rt::{select, spawn, sync, task as tasks, task::coop, time};
use cct_tests::{Log, note};
use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

/// More than any budget.
const MANY: usize = 300;

async fn spend_all() {
    while coop::has_budget_remaining() {
        coop::consume_budget().await;
    }
}

/// In a task of its own with a budget of `left`: whether `future` is ready at its first poll, and
/// how much it spent.
async fn cost<F: Future + Send + 'static>(left: usize, future: F) -> (bool, usize) {
    let measured = async move {
        tasks::yield_now().await;
        for _ in left..128 {
            coop::consume_budget().await;
        }
        let mut future = Box::pin(future);
        poll_fn(|cx| {
            let ready = future.as_mut().poll(cx).is_ready();
            let mut remaining = 0;
            while coop::has_budget_remaining() && pin!(coop::consume_budget()).poll(cx).is_ready() {
                remaining += 1;
            }
            Poll::Ready((ready, left - remaining))
        })
        .await
    };
    spawn(measured).await.unwrap()
}

pub(crate) async fn what_channel_operations_cost(log: Log) {
    let (tx, mut rx) = sync::mpsc::channel(8);
    for value in 0..5 {
        tx.try_send(value).unwrap();
    }
    let many = async move { rx.recv_many(&mut Vec::new(), 4).await };
    note!(log, "recv_many {:?}", cost(128, many).await);
    note!(
        log,
        "closed {:?}",
        cost(128, async move { tx.closed().await }).await
    );
    let (tx, _rx) = sync::mpsc::channel::<u8>(8);
    note!(
        log,
        "reserve {:?}",
        cost(128, tx.clone().reserve_owned()).await
    );
    let many = async move { tx.reserve_many(3).await.is_ok() };
    note!(log, "reserve_many {:?}", cost(128, many).await);
    let (mut tx, rx) = sync::oneshot::channel::<u8>();
    drop(rx);
    note!(
        log,
        "oneshot closed {:?}",
        cost(128, async move { tx.closed().await }).await
    );
    let (tx, rx) = sync::watch::channel(1);
    drop(rx);
    note!(
        log,
        "watch closed {:?}",
        cost(128, async move { tx.closed().await }).await
    );
    let (_tx, mut rx) = sync::watch::channel(1);
    let wait = async move { rx.wait_for(|value| *value == 1).await.is_ok() };
    note!(log, "wait_for {:?}", cost(128, wait).await);
    let (tx, rx) = sync::broadcast::channel::<u8>(1);
    drop(rx);
    note!(
        log,
        "broadcast closed {:?}",
        cost(128, async move { tx.closed().await }).await
    );
}

pub(crate) async fn what_cells_and_locks_cost(log: Log) {
    let cell = Arc::new(sync::OnceCell::new());
    let init =
        |cell: Arc<sync::OnceCell<u8>>| async move { *cell.get_or_init(|| async { 1 }).await };
    note!(log, "first init {:?}", cost(128, init(cell.clone())).await);
    note!(log, "second init {:?}", cost(128, init(cell)).await);
    let cell = Arc::new(sync::SetOnce::new_with(Some(1)));
    note!(
        log,
        "set once {:?}",
        cost(128, async move { *cell.wait().await }).await
    );
    let none = async { sync::Semaphore::new(0).acquire_many(0).await.is_ok() };
    note!(log, "acquire none {:?}", cost(128, none).await);
    let closed = async {
        let semaphore = sync::Semaphore::new(1);
        semaphore.close();
        semaphore.acquire().await.is_err()
    };
    note!(log, "closed semaphore {:?}", cost(128, closed).await);
}

pub(crate) async fn what_tasks_and_macros_cost(log: Log) {
    note!(log, "yield {:?}", cost(128, tasks::yield_now()).await);
    note!(log, "pending {:?}", cost(128, pending::<()>()).await);
    let mut set = tasks::JoinSet::<u8>::new();
    note!(
        log,
        "empty set {:?}",
        cost(128, async move { set.join_next().await }).await
    );
    let chosen = async {
        select! {
            biased;
            () = coop::consume_budget() => {}
            () = pending() => {}
        }
    };
    note!(log, "select {:?}", cost(128, chosen).await);
    let chosen = async {
        select! {
            biased;
            () = pending() => {}
            () = async {} => {}
        }
    };
    note!(
        log,
        "select without operations {:?}",
        cost(128, chosen).await
    );
}

pub(crate) async fn with_nothing_left(log: Log) {
    let chosen = async {
        select! {
            biased;
            () = async {} => {}
        }
    };
    note!(log, "select {:?}", cost(0, chosen).await);
    note!(log, "plain {:?}", cost(0, async {}).await);
    note!(
        log,
        "unconstrained {:?}",
        cost(0, coop::unconstrained(coop::consume_budget())).await
    );
    note!(
        log,
        "cooperative {:?}",
        cost(0, coop::cooperative(async {})).await
    );
    let (tx, mut rx) = sync::mpsc::unbounded_channel();
    tx.send(1).unwrap();
    note!(
        log,
        "recv {:?}",
        cost(0, async move { rx.recv().await }).await
    );
    let notify = sync::Notify::new();
    notify.notify_one();
    note!(
        log,
        "notified {:?}",
        cost(0, async move { notify.notified().await }).await
    );
    let mut set = tasks::JoinSet::new();
    let handle = set.spawn(async {});
    while !handle.is_finished() {
        tasks::yield_now().await;
    }
    note!(
        log,
        "join_next {:?}",
        cost(0, async move { set.join_next().await }).await
    );
}

pub(crate) async fn a_timeout_works_without_budget(log: Log) {
    let past = time::Instant::now();
    time::sleep(Duration::from_millis(1)).await;
    let greedy = async move {
        loop {
            coop::consume_budget().await;
        }
    };
    let timed = time::timeout_at(past, greedy);
    note!(log, "{:?}", cost(128, timed).await);
    note!(
        log,
        "{:?}",
        cost(0, time::timeout_at(past, pending::<()>())).await
    );
}

pub(crate) async fn timers_in_a_row(log: Log) {
    let start = time::Instant::now();
    time::sleep(Duration::from_secs(1)).await;
    let join = spawn(async move {
        let mut interval = time::interval_at(start, Duration::from_millis(1));
        tasks::yield_now().await;
        poll_fn(|cx| {
            let ticks = (0..MANY)
                .take_while(|_| interval.poll_tick(cx).is_ready())
                .count();
            Poll::Ready(ticks)
        })
        .await
    });
    note!(log, "{}", join.await.unwrap());
}

pub(crate) async fn a_blocking_closure_has_no_limit(log: Log) {
    let free = tasks::spawn_blocking(|| {
        let (tx, mut rx) = sync::mpsc::unbounded_channel();
        for value in 0..MANY {
            tx.send(value).unwrap();
        }
        drop(tx);
        let mut count = 0;
        while rx.blocking_recv().is_some() {
            count += 1;
        }
        (count, coop::has_budget_remaining())
    });
    note!(log, "{:?}", free.await.unwrap());
}

pub(crate) async fn the_root_has_a_budget_too(log: Log) {
    tasks::yield_now().await;
    let mut spent = 0;
    while coop::has_budget_remaining() {
        coop::consume_budget().await;
        spent += 1;
    }
    tasks::yield_now().await;
    note!(log, "{spent} {}", coop::has_budget_remaining());
}

pub(crate) async fn local_tasks_have_their_own(log: Log) {
    let local = tasks::LocalSet::new();
    let spender = local.spawn_local(async {
        spend_all().await;
        coop::has_budget_remaining()
    });
    let other = local.spawn_local(async { coop::has_budget_remaining() });
    let both = async move { (spender.await.unwrap(), other.await.unwrap()) };
    note!(log, "{:?}", local.run_until(both).await);
}
