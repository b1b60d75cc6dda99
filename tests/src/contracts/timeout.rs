//! Timeouts.

use super::rt::{spawn, sync, task as tasks, time, time::Instant};
use cct_tests::tools::{Tombstone, panic_text};
use cct_tests::{Log, note};
use futures::FutureExt;
use std::future::{pending, ready};
use std::io;
use std::time::Duration;
use tokio_test::task;

fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

pub(crate) async fn a_late_future_is_elapsed(log: Log) {
    let start = Instant::now();
    let error = time::timeout(millis(10), pending::<u8>())
        .await
        .unwrap_err();
    note!(log, "{error} / {error:?} at {:?}", start.elapsed());
    let error = io::Error::from(error);
    note!(log, "{error} / {:?}", error.kind());
}

pub(crate) async fn an_early_future_wins(log: Log) {
    let start = Instant::now();
    let slow = async {
        time::sleep(millis(9)).await;
        1
    };
    note!(
        log,
        "{:?} at {:?}",
        time::timeout(millis(10), slow).await,
        start.elapsed()
    );
    note!(
        log,
        "{:?}",
        time::timeout_at(start + millis(20), ready(2)).await
    );
    note!(
        log,
        "{:?}",
        time::timeout_at(start + millis(20), pending::<u8>()).await
    );
    note!(log, "{:?}", start.elapsed());
}

pub(crate) async fn the_future_is_asked_first(log: Log) {
    let same = time::timeout(millis(10), time::sleep(millis(10)));
    note!(log, "{:?}", same.await);
    note!(log, "{:?}", time::timeout(Duration::ZERO, ready(1)).await);
    note!(
        log,
        "{:?}",
        time::timeout(Duration::ZERO, pending::<u8>()).await
    );
    let past = Instant::now() - millis(1);
    note!(log, "{:?}", time::timeout_at(past, ready(2)).now_or_never());
    note!(
        log,
        "{:?}",
        time::timeout_at(past, pending::<u8>()).now_or_never()
    );
}

pub(crate) async fn a_very_long_timeout_is_none(log: Log) {
    let start = Instant::now();
    note!(
        log,
        "{:?}",
        time::timeout(Duration::MAX, time::sleep(millis(5))).await
    );
    note!(log, "{:?}", start.elapsed());
}

pub(crate) async fn the_loser_is_dropped_with_the_timeout(log: Log) {
    let value = Tombstone::new(&log, "future");
    let result = time::timeout(millis(5), async move {
        let _value = value;
        pending::<()>().await;
    });
    note!(log, "{:?}", result.await);
    note!(log, "after");
}

pub(crate) async fn the_future_can_be_reached(log: Log) {
    let mut timeout = time::timeout(millis(5), ready(1));
    note!(log, "{:?}", timeout.get_ref().clone().now_or_never());
    *timeout.get_mut() = ready(2);
    note!(log, "{:?}", timeout.into_inner().await);
}

pub(crate) async fn a_nested_timeout_ends_first(log: Log) {
    let start = Instant::now();
    let inner = time::timeout(millis(5), pending::<u8>());
    note!(log, "{:?}", time::timeout(millis(10), inner).await);
    let inner = time::timeout(millis(10), pending::<u8>());
    note!(log, "{:?}", time::timeout(millis(5), inner).await);
    note!(log, "{:?}", start.elapsed());
}

pub(crate) async fn a_timed_out_lock_leaves_the_queue(log: Log) {
    let mutex = sync::Mutex::new(());
    let guard = mutex.lock().await;
    note!(
        log,
        "{:?}",
        time::timeout(millis(5), mutex.lock()).await.is_err()
    );
    drop(guard);
    note!(log, "{}", mutex.try_lock().is_ok());
}

pub(crate) async fn a_timeout_polled_by_hand(log: Log) {
    let (tx, rx) = sync::oneshot::channel::<u8>();
    let mut timeout = task::spawn(time::timeout(millis(5), rx));
    note!(log, "{:?}", timeout.poll());
    time::sleep(millis(4)).await;
    note!(log, "woken {}", timeout.is_woken());
    tx.send(1).unwrap();
    note!(log, "woken {}", timeout.is_woken());
    time::sleep(millis(4)).await;
    note!(log, "{:?}", timeout.poll());
}

pub(crate) async fn a_busy_future_cannot_starve_its_timeout(log: Log) {
    let start = Instant::now();
    let busy = async {
        loop {
            tasks::coop::consume_budget().await;
            if start.elapsed() > millis(3) {
                pending::<()>().await;
            }
            time::sleep(millis(1)).await;
        }
    };
    note!(log, "{:?}", time::timeout(millis(20), busy).await);
    note!(log, "{:?}", start.elapsed());
}

pub(crate) async fn a_server_that_answers_in_time(log: Log) {
    let (tx, mut rx) = sync::mpsc::channel::<sync::oneshot::Sender<u64>>(1);
    spawn(async move {
        let mut pause = 0;
        while let Some(back) = rx.recv().await {
            pause += 4;
            time::sleep(millis(pause)).await;
            let _ = back.send(pause);
        }
    });
    for _ in 0..4 {
        let (back, answer) = sync::oneshot::channel();
        tx.send(back).await.unwrap();
        note!(log, "{:?}", time::timeout(millis(10), answer).await);
    }
}

pub(crate) async fn panics_pass_through(log: Log) {
    let mut timeout = task::spawn(time::timeout(millis(5), async { panic!("inside") }));
    note!(log, "{}", panic_text(|| drop(timeout.poll())));
}
