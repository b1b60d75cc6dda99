//! Closing the bounded channel, and waiting for it to be closed.

use super::rt::{spawn, sync::mpsc, task as tasks, time};
use cct_tests::{Log, note};
use std::time::Duration;
use tokio_test::task;

pub(crate) async fn close_refuses_new_values_and_drains_old_ones(log: Log) {
    let (tx, mut rx) = mpsc::channel(2);
    tx.try_send(1).unwrap();
    tx.try_send(2).unwrap();
    rx.close();
    note!(log, "{} {}", tx.is_closed(), rx.is_closed());
    note!(log, "{:?} {:?}", tx.try_send(3), tx.send(4).await);
    note!(log, "{:?} {:?}", rx.recv().await, rx.recv().await);
    note!(log, "{:?} {:?}", rx.recv().await, rx.try_recv());
}

pub(crate) async fn close_waits_for_permits(log: Log) {
    let (tx, mut rx) = mpsc::channel(3);
    let used = tx.reserve().await.unwrap();
    let unused = tx.reserve().await.unwrap();
    rx.close();
    note!(log, "try {:?}", rx.try_recv());
    let mut recv = task::spawn(rx.recv());
    note!(log, "{:?}", recv.poll());
    used.send(1);
    note!(log, "woken {} {:?}", recv.is_woken(), recv.poll());
    drop(recv);
    let mut recv = task::spawn(rx.recv());
    note!(log, "{:?}", recv.poll());
    drop(unused);
    note!(log, "woken {} {:?}", recv.is_woken(), recv.poll());
}

pub(crate) async fn close_fails_waiting_senders(log: Log) {
    let (tx, mut rx) = mpsc::channel(1);
    tx.try_send(1).unwrap();
    let mut send = task::spawn(tx.send(2));
    let mut reserve = task::spawn(tx.reserve());
    note!(log, "{:?} {}", send.poll(), reserve.poll().is_pending());
    rx.close();
    note!(log, "woken {} {}", send.is_woken(), reserve.is_woken());
    note!(log, "{:?}", send.poll());
    note!(log, "{:?}", reserve.poll().map(|result| result.map(|_| ())));
    note!(log, "{:?} {:?}", rx.try_recv(), rx.try_recv());
}

pub(crate) async fn dropped_receiver_fails_waiting_senders(log: Log) {
    let (tx, rx) = mpsc::channel(1);
    tx.try_send(1).unwrap();
    let mut send = task::spawn(tx.send(2));
    note!(log, "{:?}", send.poll());
    drop(rx);
    note!(log, "woken {} {:?}", send.is_woken(), send.poll());
}

pub(crate) async fn closed_waits_for_the_receiver(log: Log) {
    let (tx, rx) = mpsc::channel::<u8>(1);
    let clone = tx.clone();
    let mut closed = task::spawn(tx.closed());
    let mut also = task::spawn(clone.closed());
    note!(log, "{:?} {:?}", closed.poll(), also.poll());
    drop(rx);
    note!(log, "woken {} {}", closed.is_woken(), also.is_woken());
    note!(log, "{:?} {:?}", closed.poll(), also.poll());
    tx.closed().await;
}

pub(crate) async fn closed_is_woken_by_close(log: Log) {
    let (tx, mut rx) = mpsc::channel(1);
    tx.try_send(1).unwrap();
    let mut closed = task::spawn(tx.closed());
    note!(log, "{:?}", closed.poll());
    rx.close();
    note!(log, "woken {} {:?}", closed.is_woken(), closed.poll());
    note!(log, "{:?}", rx.recv().await);
}

pub(crate) async fn close_while_a_sender_works(_: Log) {
    let (tx, mut rx) = mpsc::channel(1);
    let sender = spawn(async move {
        let mut accepted = 0;
        for value in 0..10 {
            match tx.send(value).await {
                Ok(()) => accepted += 1,
                Err(error) => {
                    assert_eq!(error.0, value);
                    break;
                }
            }
        }
        accepted
    });
    let mut received = vec![rx.recv().await.unwrap(), rx.recv().await.unwrap()];
    rx.close();
    while let Some(value) = rx.recv().await {
        received.push(value);
    }
    let accepted = sender.await.unwrap();
    assert_eq!(received, (0..accepted).collect::<Vec<_>>());
}

pub(crate) async fn aborted_sender_closes_the_channel(log: Log) {
    let (tx, mut rx) = mpsc::channel::<u8>(1);
    let holder = spawn(async move {
        let _tx = tx;
        std::future::pending::<()>().await;
    });
    holder.abort();
    note!(log, "{:?}", rx.recv().await);
    note!(log, "{}", holder.await.unwrap_err().is_cancelled());
}

pub(crate) async fn timed_out_send_leaves_the_queue(log: Log) {
    let (tx, mut rx) = mpsc::channel(1);
    tx.try_send(1).unwrap();
    note!(
        log,
        "{:?}",
        time::timeout(Duration::from_millis(5), tx.send(2)).await
    );
    note!(log, "{:?} {:?}", rx.recv().await, rx.try_recv());
    note!(log, "{} free", tx.capacity());
}

pub(crate) async fn blocking_ends_meet_asynchronous_ones(log: Log) {
    let (to_thread, mut in_thread) = mpsc::channel(1);
    let (from_thread, mut back) = mpsc::channel(1);
    let thread = tasks::spawn_blocking(move || {
        while let Some(value) = in_thread.blocking_recv() {
            from_thread.blocking_send(value * 2).unwrap();
        }
        from_thread.max_capacity()
    });
    let feeder = spawn(async move {
        for value in 0..5 {
            to_thread.send(value).await.unwrap();
        }
    });
    while let Some(value) = back.recv().await {
        note!(log, "{value}");
    }
    feeder.await.unwrap();
    note!(log, "{:?}", thread.await.is_ok());
}
