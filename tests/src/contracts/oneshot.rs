//! The channel for one value.

use super::rt::{spawn, sync::oneshot, task as tasks};
use cct_tests::tools::{Tombstone, WakeCount, panic_text};
use cct_tests::{Log, note};
use std::future::Future;
use std::pin::Pin;
use std::task::Context;
use tokio_test::task;

pub(crate) async fn delivers_one_value(log: Log) {
    let (tx, rx) = oneshot::channel();
    let sender = spawn(async move { tx.send(7) });
    note!(log, "{:?}", rx.await);
    note!(log, "{:?}", sender.await.unwrap());
}

pub(crate) async fn send_wakes_the_receiver(log: Log) {
    let (tx, rx) = oneshot::channel();
    let mut rx = task::spawn(rx);
    note!(log, "{:?}", rx.poll());
    tx.send(1).unwrap();
    note!(log, "woken {} {:?}", rx.is_woken(), rx.poll());
}

pub(crate) async fn dropped_sender_wakes_with_an_error(log: Log) {
    let (tx, rx) = oneshot::channel::<u8>();
    let mut rx = task::spawn(rx);
    note!(log, "{:?}", rx.poll());
    drop(tx);
    note!(log, "woken {}", rx.is_woken());
    let error = rx.await.unwrap_err();
    note!(log, "{error} / {error:?}");
}

pub(crate) async fn dropped_receiver_gives_the_value_back(log: Log) {
    let (tx, rx) = oneshot::channel();
    note!(log, "{}", tx.is_closed());
    drop(rx);
    note!(log, "{} {:?}", tx.is_closed(), tx.send(1));
}

pub(crate) async fn close_stops_a_later_send(log: Log) {
    let (tx, mut rx) = oneshot::channel();
    rx.close();
    note!(log, "{} {:?}", tx.is_closed(), tx.send(1));
    note!(log, "{:?}", rx.try_recv());
    note!(log, "terminated {}", rx.is_terminated());
    let (_tx, mut rx) = oneshot::channel::<u8>();
    rx.close();
    note!(log, "{:?}", rx.await);
}

pub(crate) async fn close_keeps_a_value_already_sent(log: Log) {
    let (tx, mut rx) = oneshot::channel();
    tx.send(1).unwrap();
    rx.close();
    note!(log, "empty {}", rx.is_empty());
    note!(log, "{:?} {:?}", rx.try_recv(), rx.try_recv());
    note!(
        log,
        "empty {} terminated {}",
        rx.is_empty(),
        rx.is_terminated()
    );
}

pub(crate) async fn closed_is_woken_by_close_and_drop(log: Log) {
    let (mut tx, rx) = oneshot::channel::<u8>();
    {
        let mut closed = task::spawn(tx.closed());
        note!(log, "{:?}", closed.poll());
        drop(rx);
        note!(log, "woken {} {:?}", closed.is_woken(), closed.poll());
    }
    let (mut tx, mut rx) = oneshot::channel::<u8>();
    let (count, waker) = WakeCount::new();
    note!(
        log,
        "{:?}",
        tx.poll_closed(&mut Context::from_waker(&waker))
    );
    rx.close();
    note!(
        log,
        "{} {:?}",
        count.get(),
        tx.poll_closed(&mut Context::from_waker(&waker))
    );
}

pub(crate) async fn only_the_last_waker_is_called(log: Log) {
    let (tx, mut rx) = oneshot::channel();
    let (old, old_waker) = WakeCount::new();
    let (new, new_waker) = WakeCount::new();
    note!(
        log,
        "{:?}",
        Pin::new(&mut rx).poll(&mut Context::from_waker(&old_waker))
    );
    note!(
        log,
        "{:?}",
        Pin::new(&mut rx).poll(&mut Context::from_waker(&new_waker))
    );
    tx.send(1).unwrap();
    note!(log, "{} {}", old.get(), new.get());
    note!(
        log,
        "{:?}",
        Pin::new(&mut rx).poll(&mut Context::from_waker(&new_waker))
    );
}

pub(crate) async fn try_recv_says_empty_or_closed(log: Log) {
    let (tx, mut rx) = oneshot::channel::<u8>();
    let empty = rx.try_recv().unwrap_err();
    note!(log, "{empty} / {empty:?} / empty {}", rx.is_empty());
    tx.send(1).unwrap();
    note!(log, "empty {}", rx.is_empty());
    note!(log, "{:?}", rx.try_recv());
    let closed = rx.try_recv().unwrap_err();
    note!(log, "{closed} / {closed:?} / empty {}", rx.is_empty());
    let (tx, mut rx) = oneshot::channel::<u8>();
    drop(tx);
    note!(log, "{:?} {:?}", rx.try_recv(), rx.try_recv());
}

pub(crate) async fn polling_after_the_value_panics(log: Log) {
    let (tx, mut rx) = oneshot::channel();
    tx.send(1).unwrap();
    let (_, waker) = WakeCount::new();
    let mut poll = || Pin::new(&mut rx).poll(&mut Context::from_waker(&waker));
    note!(log, "{:?}", poll());
    note!(log, "{}", panic_text(poll));
}

pub(crate) async fn unread_value_dies_with_the_receiver(log: Log) {
    let (tx, rx) = oneshot::channel();
    tx.send(Tombstone::new(&log, "value")).unwrap();
    note!(log, "sent");
    drop(rx);
    note!(log, "receiver gone");
}

pub(crate) async fn many_receivers_get_their_own(log: Log) {
    let mut waiting = Vec::new();
    for value in 0..4 {
        let (tx, rx) = oneshot::channel();
        waiting.push(rx);
        spawn(async move { tx.send(value).unwrap() });
    }
    for rx in waiting {
        note!(log, "{:?}", rx.await);
    }
}

pub(crate) async fn blocking_recv_waits(log: Log) {
    let (tx, rx) = oneshot::channel();
    let thread = tasks::spawn_blocking(move || rx.blocking_recv());
    tasks::yield_now().await;
    tx.send(3).unwrap();
    note!(log, "{:?}", thread.await.unwrap());
    let (tx, rx) = oneshot::channel::<u8>();
    let thread = tasks::spawn_blocking(move || rx.blocking_recv());
    drop(tx);
    note!(log, "{:?}", thread.await.unwrap());
}
