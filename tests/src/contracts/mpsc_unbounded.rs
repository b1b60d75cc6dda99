//! The unbounded channel.

use super::rt::{spawn, sync::mpsc, task as tasks};
use cct_tests::tools::Tombstone;
use cct_tests::{Log, note};
use tokio_test::task;

pub(crate) async fn values_arrive_in_order(log: Log) {
    let (tx, mut rx) = mpsc::unbounded_channel();
    let sender = spawn(async move {
        for value in 0..10 {
            tx.send(value).unwrap();
        }
    });
    while let Some(value) = rx.recv().await {
        note!(log, "{value}");
    }
    sender.await.unwrap();
}

pub(crate) async fn length_follows_the_queue(log: Log) {
    let (tx, mut rx) = mpsc::unbounded_channel();
    note!(log, "{} {}", rx.len(), rx.is_empty());
    for value in 0..40 {
        tx.send(value).unwrap();
    }
    note!(log, "{} {}", rx.len(), rx.is_empty());
    rx.recv().await;
    rx.try_recv().unwrap();
    note!(log, "{} {}", rx.len(), rx.is_empty());
    drop(tx);
    note!(log, "{} closed {}", rx.len(), rx.is_closed());
}

pub(crate) async fn send_fails_once_the_receiver_is_gone(log: Log) {
    let (tx, rx) = mpsc::unbounded_channel();
    note!(log, "{:?} {}", tx.send(1), tx.is_closed());
    drop(rx);
    let error = tx.send(2).unwrap_err();
    note!(log, "{error} / {error:?} / {} {}", error.0, tx.is_closed());
}

pub(crate) async fn close_drains_and_ends(log: Log) {
    let (tx, mut rx) = mpsc::unbounded_channel();
    tx.send(1).unwrap();
    rx.close();
    rx.close();
    note!(log, "{:?}", tx.send(2));
    note!(
        log,
        "{:?} {:?} {:?}",
        rx.recv().await,
        rx.recv().await,
        rx.try_recv()
    );
}

pub(crate) async fn receiver_is_woken_once_for_many_sends(log: Log) {
    let (tx, mut rx) = mpsc::unbounded_channel();
    let mut recv = task::spawn(rx.recv());
    note!(log, "{:?}", recv.poll());
    tx.send(1).unwrap();
    tx.send(2).unwrap();
    note!(log, "woken {} {:?}", recv.is_woken(), recv.poll());
    drop(recv);
    let mut recv = task::spawn(rx.recv());
    note!(log, "{:?}", recv.poll());
}

pub(crate) async fn try_recv_does_not_disturb_a_later_recv(log: Log) {
    let (tx, mut rx) = mpsc::unbounded_channel();
    note!(log, "{:?}", rx.try_recv());
    let mut recv = task::spawn(rx.recv());
    note!(log, "{:?}", recv.poll());
    drop(recv);
    tx.send(1).unwrap();
    note!(log, "{:?} {:?}", rx.try_recv(), rx.try_recv());
    drop(tx);
    note!(log, "{:?}", rx.try_recv());
}

pub(crate) async fn closed_waits_for_the_receiver(log: Log) {
    let (tx, rx) = mpsc::unbounded_channel::<u8>();
    let mut closed = task::spawn(tx.closed());
    note!(log, "{:?}", closed.poll());
    drop(rx);
    note!(log, "woken {} {:?}", closed.is_woken(), closed.poll());
}

pub(crate) async fn recv_many_and_its_limit(log: Log) {
    let (tx, mut rx) = mpsc::unbounded_channel();
    for value in 0..5 {
        tx.send(value).unwrap();
    }
    let mut taken = vec![100];
    note!(log, "{} {taken:?}", rx.recv_many(&mut taken, 2).await);
    note!(log, "{taken:?}");
    note!(log, "{}", rx.recv_many(&mut taken, 0).await);
    drop(tx);
    note!(log, "{}", rx.recv_many(&mut taken, 9).await);
    note!(log, "{} {taken:?}", rx.recv_many(&mut taken, 9).await);
}

pub(crate) async fn weak_sender_counts(log: Log) {
    let (tx, rx) = mpsc::unbounded_channel::<u8>();
    let weak = tx.downgrade();
    let second = weak.clone();
    let strong = second.upgrade().unwrap();
    note!(log, "{} {}", tx.strong_count(), tx.weak_count());
    note!(
        log,
        "{} {}",
        rx.sender_strong_count(),
        rx.sender_weak_count()
    );
    note!(log, "{}", strong.same_channel(&tx));
    drop((tx, strong));
    note!(log, "{} {}", weak.strong_count(), weak.weak_count());
    note!(
        log,
        "{} closed {}",
        weak.upgrade().is_some(),
        rx.is_closed()
    );
}

pub(crate) async fn values_die_in_order_with_the_receiver(log: Log) {
    let (tx, rx) = mpsc::unbounded_channel();
    tx.send(Tombstone::new(&log, "first")).unwrap();
    tx.send(Tombstone::new(&log, "second")).unwrap();
    drop(rx);
    note!(log, "receiver gone");
    drop(tx);
}

pub(crate) async fn blocking_recv_gets_everything(log: Log) {
    let (tx, mut rx) = mpsc::unbounded_channel();
    let thread = tasks::spawn_blocking(move || {
        let mut taken = Vec::new();
        while let Some(value) = rx.blocking_recv() {
            taken.push(value);
        }
        taken
    });
    for value in 0..4 {
        tx.send(value).unwrap();
        tasks::yield_now().await;
    }
    drop(tx);
    note!(log, "{:?}", thread.await.unwrap());
}

pub(crate) async fn blocking_recv_many_gets_a_batch(log: Log) {
    let (tx, mut rx) = mpsc::unbounded_channel();
    for value in 0..4 {
        tx.send(value).unwrap();
    }
    drop(tx);
    let thread = tasks::spawn_blocking(move || {
        let mut taken = Vec::new();
        let counts = [0; 3].map(|_| rx.blocking_recv_many(&mut taken, 3));
        (counts, taken)
    });
    note!(log, "{:?}", thread.await.unwrap());
}
