//! The channel in which every receiver sees every value.

use super::rt::{spawn, sync::broadcast, task as tasks};
use cct_tests::tools::{Tombstone, panic_text};
use cct_tests::{Log, note};
use std::sync::Arc;
use tokio_test::task;

pub(crate) async fn every_receiver_sees_every_value(log: Log) {
    let (tx, mut one) = broadcast::channel(4);
    let mut two = tx.subscribe();
    note!(log, "{:?} {:?}", tx.send("a"), tx.send("b"));
    note!(log, "{:?} {:?}", one.recv().await, one.recv().await);
    note!(log, "{:?} {:?}", two.recv().await, two.recv().await);
    note!(log, "{:?}", one.try_recv());
}

pub(crate) async fn concurrent_readers_agree(_: Log) {
    let (tx, _) = broadcast::channel(16);
    let readers: Vec<_> = (0..3)
        .map(|_| {
            let mut rx = tx.subscribe();
            spawn(async move {
                let mut seen = Vec::new();
                while let Ok(value) = rx.recv().await {
                    seen.push(value);
                }
                seen
            })
        })
        .collect();
    for value in 0..8 {
        assert_eq!(tx.send(value).unwrap(), 3);
        tasks::yield_now().await;
    }
    drop(tx);
    for reader in readers {
        assert_eq!(reader.await.unwrap(), (0..8).collect::<Vec<_>>());
    }
}

pub(crate) async fn subscribers_start_at_the_end(log: Log) {
    let (tx, mut early) = broadcast::channel(4);
    tx.send(1).unwrap();
    let mut late = tx.subscribe();
    tx.send(2).unwrap();
    note!(log, "{:?} {:?}", early.try_recv(), late.try_recv());
    note!(log, "{} {} {}", early.len(), late.len(), tx.len());
    let mut again = early.resubscribe();
    note!(log, "{:?} {:?}", again.try_recv(), early.try_recv());
    note!(log, "{} {}", tx.is_empty(), tx.receiver_count());
}

pub(crate) async fn a_slow_receiver_is_told_how_much_it_missed(log: Log) {
    let (tx, mut rx) = broadcast::channel(2);
    for value in 0..5 {
        tx.send(value).unwrap();
    }
    note!(log, "{}", rx.len());
    let lagged = rx.recv().await.unwrap_err();
    note!(log, "{lagged} / {lagged:?}");
    note!(
        log,
        "{:?} {:?} {:?}",
        rx.recv().await,
        rx.recv().await,
        rx.try_recv()
    );
    for value in 5..9 {
        tx.send(value).unwrap();
    }
    let lagged = rx.try_recv().unwrap_err();
    note!(log, "{lagged} / {lagged:?}");
    drop(tx);
    note!(
        log,
        "{:?} {:?} {:?}",
        rx.recv().await,
        rx.recv().await,
        rx.recv().await
    );
}

pub(crate) async fn capacity_rounds_up_to_a_power_of_two(log: Log) {
    let (tx, mut rx) = broadcast::channel(3);
    for value in 0..5 {
        tx.send(value).unwrap();
    }
    note!(log, "{:?} {:?}", rx.try_recv(), rx.try_recv());
}

pub(crate) async fn errors_in_words(log: Log) {
    let (tx, mut rx) = broadcast::channel::<u8>(1);
    let empty = rx.try_recv().unwrap_err();
    note!(log, "{empty} / {empty:?}");
    drop(rx);
    let unsent = tx.send(1).unwrap_err();
    note!(log, "{unsent} / {unsent:?} / {}", unsent.0);
    let mut rx = tx.subscribe();
    drop(tx);
    let closed = rx.try_recv().unwrap_err();
    note!(log, "{closed} / {closed:?}");
    let closed = rx.recv().await.unwrap_err();
    note!(log, "{closed} / {closed:?}");
}

pub(crate) async fn zero_capacity_panics(log: Log) {
    note!(log, "{}", panic_text(|| broadcast::channel::<u8>(0)));
    note!(
        log,
        "{}",
        panic_text(|| broadcast::channel::<u8>(usize::MAX))
    );
}

pub(crate) async fn all_waiting_receivers_are_woken(log: Log) {
    let (tx, mut one) = broadcast::channel(2);
    let mut two = tx.subscribe();
    let mut first = task::spawn(one.recv());
    let mut second = task::spawn(two.recv());
    note!(log, "{:?} {:?}", first.poll(), second.poll());
    tx.send(1).unwrap();
    note!(log, "woken {} {}", first.is_woken(), second.is_woken());
    note!(log, "{:?} {:?}", first.poll(), second.poll());
}

pub(crate) async fn dropped_recv_loses_nothing(log: Log) {
    let (tx, mut rx) = broadcast::channel(2);
    let mut recv = task::spawn(rx.recv());
    note!(log, "{:?}", recv.poll());
    tx.send(1).unwrap();
    drop(recv);
    note!(log, "{:?} {:?}", rx.try_recv(), rx.try_recv());
}

pub(crate) async fn last_sender_gone_wakes_receivers(log: Log) {
    let (tx, mut rx) = broadcast::channel::<u8>(2);
    let clone = tx.clone();
    let mut recv = task::spawn(rx.recv());
    note!(log, "{:?} {} strong", recv.poll(), tx.strong_count());
    drop(clone);
    note!(log, "woken {}", recv.is_woken());
    drop(tx);
    note!(log, "woken {} {:?}", recv.is_woken(), recv.poll());
    drop(recv);
    note!(log, "closed {}", rx.is_closed());
}

pub(crate) async fn sender_side_closed_waits_for_receivers(log: Log) {
    let (tx, rx) = broadcast::channel::<u8>(2);
    let mut closed = task::spawn(tx.closed());
    note!(log, "{:?}", closed.poll());
    drop(rx);
    note!(log, "woken {} {:?}", closed.is_woken(), closed.poll());
    let _rx = tx.subscribe();
    note!(log, "{:?}", task::spawn(tx.closed()).poll());
}

pub(crate) async fn weak_senders_count_and_upgrade(log: Log) {
    let (tx, mut rx) = broadcast::channel(2);
    let weak = tx.downgrade();
    let clone = weak.clone();
    note!(log, "{} {}", tx.strong_count(), tx.weak_count());
    note!(
        log,
        "{} {}",
        rx.sender_strong_count(),
        rx.sender_weak_count()
    );
    weak.upgrade().unwrap().send(1).unwrap();
    drop((tx, clone));
    note!(
        log,
        "{} {} {}",
        weak.strong_count(),
        weak.weak_count(),
        weak.upgrade().is_none()
    );
    note!(log, "{:?} {:?}", rx.recv().await, rx.recv().await);
}

pub(crate) async fn values_die_once_everybody_saw_them(log: Log) {
    let (tx, mut one) = broadcast::channel(2);
    let mut two = tx.subscribe();
    tx.send(Arc::new(Tombstone::new(&log, "value"))).unwrap();
    drop(one.recv().await.unwrap());
    note!(log, "one saw it");
    drop(two.recv().await.unwrap());
    note!(log, "two saw it");
    tx.send(Arc::new(Tombstone::new(&log, "unread"))).unwrap();
    drop(one);
    note!(log, "one is gone");
    drop(two);
    note!(log, "two is gone");
}

pub(crate) async fn overwritten_values_die(log: Log) {
    let (tx, rx) = broadcast::channel(1);
    tx.send(Arc::new(Tombstone::new(&log, "first"))).unwrap();
    tx.send(Arc::new(Tombstone::new(&log, "second"))).unwrap();
    note!(log, "sent both");
    drop(rx);
    note!(log, "receiver gone");
    drop(tx);
}

pub(crate) async fn a_sender_without_receivers_can_begin(log: Log) {
    let tx = broadcast::Sender::new(2);
    note!(log, "{} {:?}", tx.receiver_count(), tx.send(1));
    let mut rx = tx.subscribe();
    note!(log, "{:?} {:?}", tx.send(2), rx.try_recv());
    let other = broadcast::Sender::<i32>::new(2);
    note!(
        log,
        "{} {}",
        tx.same_channel(&tx.clone()),
        tx.same_channel(&other)
    );
    note!(log, "{}", rx.same_channel(&tx.subscribe()));
}

pub(crate) async fn blocking_recv_waits(log: Log) {
    let (tx, mut rx) = broadcast::channel(2);
    let thread = tasks::spawn_blocking(move || [rx.blocking_recv(), rx.blocking_recv()]);
    tasks::yield_now().await;
    tx.send(1).unwrap();
    drop(tx);
    note!(log, "{:?}", thread.await.unwrap());
}
