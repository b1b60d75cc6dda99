//! The bounded channel: order, capacity, permits.

use super::rt::{spawn, sync::mpsc};
use cct_tests::tools::{Tombstone, WakeCount, panic_text};
use cct_tests::{Log, note};
use std::sync::Arc;
use std::task::Context;
use tokio_test::task;

pub(crate) async fn values_arrive_in_order(log: Log) {
    let (tx, mut rx) = mpsc::channel(3);
    let sender = spawn(async move {
        for value in 0..20 {
            tx.send(value).await.unwrap();
        }
    });
    while let Some(value) = rx.recv().await {
        note!(log, "{value}");
    }
    sender.await.unwrap();
    note!(log, "after the end {:?}", rx.recv().await);
}

pub(crate) async fn each_producer_keeps_its_order(_: Log) {
    let (tx, mut rx) = mpsc::channel(2);
    for producer in 0..3 {
        let tx = tx.clone();
        spawn(async move {
            for value in 0..6 {
                tx.send((producer, value)).await.unwrap();
            }
        });
    }
    drop(tx);
    let mut next = [0; 3];
    while let Some((producer, value)) = rx.recv().await {
        assert_eq!(next[producer], value);
        next[producer] += 1;
    }
    assert_eq!(next, [6; 3]);
}

pub(crate) async fn capacity_counts_free_slots(log: Log) {
    let (tx, mut rx) = mpsc::channel(3);
    let show = |rx: &mpsc::Receiver<i32>| {
        let (free, max) = (tx.capacity(), tx.max_capacity());
        assert_eq!((free, max), (rx.capacity(), rx.max_capacity()));
        note!(
            log,
            "{free} of {max} free, {} queued, empty {}",
            rx.len(),
            rx.is_empty()
        );
    };
    show(&rx);
    tx.send(1).await.unwrap();
    show(&rx);
    let permit = tx.reserve().await.unwrap();
    show(&rx);
    permit.send(2);
    show(&rx);
    rx.recv().await;
    show(&rx);
    drop(tx.reserve().await.unwrap());
    rx.recv().await;
    show(&rx);
}

pub(crate) async fn waiting_senders_are_served_in_order(log: Log) {
    let (tx, mut rx) = mpsc::channel(1);
    let mut first = task::spawn(tx.send(1));
    let mut second = task::spawn(tx.send(2));
    let mut third = task::spawn(tx.send(3));
    note!(
        log,
        "{:?} {:?} {:?}",
        first.poll(),
        second.poll(),
        third.poll()
    );
    note!(log, "received {:?}", rx.recv().await);
    note!(log, "woken {} {}", second.is_woken(), third.is_woken());
    note!(log, "slot is taken {:?}", tx.try_send(9));
    note!(log, "third again {:?}", third.poll());
    note!(log, "second {:?}", second.poll());
    note!(log, "received {:?}", rx.recv().await);
    note!(log, "third {} {:?}", third.is_woken(), third.poll());
    note!(log, "received {:?}", rx.recv().await);
}

pub(crate) async fn dropped_waiting_sender_passes_its_slot_on(log: Log) {
    let (tx, mut rx) = mpsc::channel(1);
    tx.try_send(1).unwrap();
    let mut second = task::spawn(tx.send(2));
    let mut third = task::spawn(tx.send(3));
    note!(log, "{:?} {:?}", second.poll(), third.poll());
    note!(log, "received {:?}", rx.try_recv());
    note!(log, "woken {} {}", second.is_woken(), third.is_woken());
    drop(second);
    note!(log, "woken {}, {:?}", third.is_woken(), third.poll());
    note!(log, "received {:?}", rx.try_recv());
}

pub(crate) async fn a_woken_sender_may_be_dropped_from_the_middle(log: Log) {
    let (tx, mut rx) = mpsc::channel(1);
    tx.try_send(0).unwrap();
    let mut waiting: Vec<_> = (1..4).map(|value| task::spawn(tx.send(value))).collect();
    for send in &mut waiting {
        note!(log, "{:?}", send.poll());
    }
    drop(waiting.remove(1));
    for _ in 0..2 {
        note!(log, "received {:?}", rx.try_recv());
        for send in &mut waiting {
            if send.is_woken() {
                note!(log, "{:?}", send.poll());
            }
        }
    }
    note!(log, "received {:?} then {:?}", rx.try_recv(), rx.try_recv());
}

pub(crate) async fn try_send_says_full_or_closed(log: Log) {
    let (tx, rx) = mpsc::channel(1);
    note!(log, "{:?}", tx.try_send(1));
    let full = tx.try_send(2).unwrap_err();
    note!(log, "{full} / {full:?} / {}", full.into_inner());
    drop(rx);
    let closed = tx.try_send(3).unwrap_err();
    note!(log, "{closed} / {closed:?} / {}", closed.into_inner());
    let closed = tx.send(4).await.unwrap_err();
    note!(log, "{closed} / {closed:?} / {}", closed.0);
    let from: mpsc::error::TrySendError<i32> = mpsc::error::SendError(5).into();
    note!(log, "{from} / {from:?}");
    note!(
        log,
        "{} {:?}",
        tx.is_closed(),
        tx.reserve().await.map(|_| ())
    );
}

pub(crate) async fn try_recv_says_empty_or_disconnected(log: Log) {
    let (tx, mut rx) = mpsc::channel::<u8>(1);
    let empty = rx.try_recv().unwrap_err();
    note!(log, "{empty} / {empty:?}");
    tx.try_send(1).unwrap();
    drop(tx);
    note!(log, "{:?}", rx.try_recv());
    let disconnected = rx.try_recv().unwrap_err();
    note!(
        log,
        "{disconnected} / {disconnected:?} / {}",
        rx.is_closed()
    );
}

pub(crate) async fn recv_is_woken_by_the_last_waker_only(log: Log) {
    let (tx, mut rx) = mpsc::channel(2);
    let (old, old_waker) = WakeCount::new();
    let (new, new_waker) = WakeCount::new();
    let before = rx.poll_recv(&mut Context::from_waker(&old_waker));
    let again = rx.poll_recv(&mut Context::from_waker(&new_waker));
    note!(log, "{before:?} {again:?}");
    tx.try_send(1).unwrap();
    note!(log, "wakes {} {}", old.get(), new.get());
    tx.try_send(2).unwrap();
    note!(log, "wakes {} {}", old.get(), new.get());
    note!(
        log,
        "{:?}",
        rx.poll_recv(&mut Context::from_waker(&new_waker))
    );
    drop(tx);
    note!(log, "wakes {} {}", old.get(), new.get());
    note!(
        log,
        "{:?}",
        rx.poll_recv(&mut Context::from_waker(&new_waker))
    );
    note!(
        log,
        "{:?}",
        rx.poll_recv(&mut Context::from_waker(&new_waker))
    );
}

pub(crate) async fn last_sender_gone_wakes_the_receiver(log: Log) {
    let (tx, mut rx) = mpsc::channel::<u8>(1);
    let clone = tx.clone();
    let mut recv = task::spawn(rx.recv());
    note!(log, "{:?}", recv.poll());
    drop(tx);
    note!(log, "woken {}", recv.is_woken());
    drop(clone);
    note!(log, "woken {} {:?}", recv.is_woken(), recv.poll());
}

pub(crate) async fn dropped_recv_loses_nothing(log: Log) {
    let (tx, mut rx) = mpsc::channel(2);
    let mut recv = task::spawn(rx.recv());
    note!(log, "{:?}", recv.poll());
    tx.try_send(1).unwrap();
    note!(log, "woken {}", recv.is_woken());
    drop(recv);
    note!(log, "{:?}", rx.recv().await);
}

pub(crate) async fn unpolled_send_does_nothing(log: Log) {
    let (tx, mut rx) = mpsc::channel(1);
    let send = tx.send(1);
    note!(log, "{} {:?}", tx.capacity(), rx.try_recv());
    drop(send);
    drop(tx.reserve());
    note!(log, "{} {:?}", tx.capacity(), rx.try_recv());
}

pub(crate) async fn permits_hold_slots(log: Log) {
    let (tx, mut rx) = mpsc::channel(2);
    let first = tx.reserve().await.unwrap();
    let second = tx.try_reserve().unwrap();
    note!(log, "{:?}", tx.try_reserve().map(|_| ()));
    let mut third = task::spawn(tx.reserve());
    note!(log, "pending {}", third.poll().is_pending());
    second.send(2);
    note!(log, "woken {}", third.is_woken());
    drop(first);
    note!(
        log,
        "woken {} ready {}",
        third.is_woken(),
        third.poll().is_ready()
    );
    drop(third);
    note!(log, "{:?} {}", rx.try_recv(), tx.capacity());
}

pub(crate) async fn reserve_many_takes_all_or_waits(log: Log) {
    let (tx, mut rx) = mpsc::channel(4);
    tx.try_send(0).unwrap();
    let mut many = task::spawn(tx.reserve_many(4));
    note!(
        log,
        "pending {}, {} free",
        many.poll().is_pending(),
        tx.capacity()
    );
    note!(log, "others wait {:?}", tx.try_reserve().map(|_| ()));
    rx.try_recv().unwrap();
    note!(log, "woken {}", many.is_woken());
    match many.poll() {
        std::task::Poll::Ready(Ok(mut permits)) => {
            note!(log, "{:?} {}", permits.size_hint(), permits.len());
            permits.next().unwrap().send(1);
            permits.next().unwrap().send(2);
            note!(log, "left {}", permits.len());
        }
        other => note!(log, "unexpected {}", other.is_ready()),
    }
    note!(log, "{} free", tx.capacity());
    note!(
        log,
        "{:?} {:?} {:?}",
        rx.try_recv(),
        rx.try_recv(),
        rx.try_recv()
    );
    note!(log, "too many {:?}", tx.reserve_many(5).await.map(|_| ()));
    note!(
        log,
        "none {:?}",
        tx.reserve_many(0).await.map(|permits| permits.len())
    );
    note!(log, "try {:?}", tx.try_reserve_many(5).map(|_| ()));
    note!(
        log,
        "try {:?}",
        tx.try_reserve_many(4).map(|permits| permits.len())
    );
    note!(log, "{} free", tx.capacity());
}

pub(crate) async fn owned_permits_give_the_sender_back(log: Log) {
    let (tx, mut rx) = mpsc::channel(1);
    let other = tx.clone();
    let permit = tx.reserve_owned().await.unwrap();
    note!(log, "same {}", permit.same_channel_as_sender(&other));
    note!(
        log,
        "{:?}",
        other.clone().try_reserve_owned().map(|_| ()).is_err()
    );
    let tx = permit.send(1);
    note!(log, "{:?} same {}", rx.try_recv(), tx.same_channel(&other));
    let tx = tx.try_reserve_owned().unwrap().release();
    note!(log, "{} free", tx.capacity());
    drop(tx.clone().reserve_owned().await.unwrap());
    note!(log, "{} free, {} strong", tx.capacity(), tx.strong_count());
}

pub(crate) async fn recv_many_takes_what_is_there(log: Log) {
    let (tx, mut rx) = mpsc::channel(8);
    let mut taken = Vec::new();
    note!(log, "limit 0: {}", rx.recv_many(&mut taken, 0).await);
    {
        let mut empty = task::spawn(rx.recv_many(&mut taken, 3));
        note!(log, "{:?}", empty.poll());
        tx.try_send(1).unwrap();
        note!(log, "woken {} {:?}", empty.is_woken(), empty.poll());
    }
    for value in 2..7 {
        tx.try_send(value).unwrap();
    }
    note!(log, "{} {:?}", rx.recv_many(&mut taken, 3).await, taken);
    drop(tx);
    note!(log, "{} {:?}", rx.recv_many(&mut taken, 10).await, taken);
    note!(log, "{} {:?}", rx.recv_many(&mut taken, 10).await, taken);
}

pub(crate) async fn weak_senders_do_not_keep_it_open(log: Log) {
    let (tx, mut rx) = mpsc::channel::<i32>(1);
    let weak = tx.downgrade();
    note!(
        log,
        "{} strong {} weak",
        weak.strong_count(),
        weak.weak_count()
    );
    let again = weak.upgrade().unwrap();
    let weaker = weak.clone();
    note!(
        log,
        "{} strong {} weak",
        rx.sender_strong_count(),
        rx.sender_weak_count()
    );
    drop(tx);
    again.try_send(1).unwrap();
    drop(again);
    drop(weaker);
    note!(
        log,
        "{} strong {} weak",
        weak.strong_count(),
        weak.weak_count()
    );
    note!(log, "upgrade {}", weak.upgrade().is_some());
    note!(log, "{:?} {:?}", rx.recv().await, rx.recv().await);
}

pub(crate) async fn weak_sender_after_close_still_upgrades(log: Log) {
    let (tx, mut rx) = mpsc::channel::<i32>(1);
    let weak = tx.downgrade();
    rx.close();
    note!(log, "{}", weak.upgrade().is_some());
    note!(log, "{:?}", weak.upgrade().unwrap().try_send(1));
}

pub(crate) async fn same_channel_tells_channels_apart(log: Log) {
    let (one, _one) = mpsc::channel::<u8>(1);
    let (two, _two) = mpsc::channel::<u8>(1);
    note!(
        log,
        "{} {}",
        one.same_channel(&one.clone()),
        one.same_channel(&two)
    );
}

pub(crate) async fn zero_capacity_panics(log: Log) {
    note!(log, "{}", panic_text(|| mpsc::channel::<u8>(0)));
    note!(log, "{}", panic_text(|| mpsc::channel::<u8>(usize::MAX)));
}

pub(crate) async fn queued_values_die_with_the_receiver(log: Log) {
    let (tx, rx) = mpsc::channel(3);
    tx.try_send(Tombstone::new(&log, "first")).unwrap();
    tx.try_send(Tombstone::new(&log, "second")).unwrap();
    drop(rx);
    note!(log, "receiver gone");
    drop(tx.try_send(Tombstone::new(&log, "third")));
    note!(log, "{} free", tx.capacity());
}

pub(crate) async fn queued_values_die_with_the_channel(log: Log) {
    let (tx, rx) = mpsc::channel(3);
    let shared = Arc::new(Tombstone::new(&log, "value"));
    tx.try_send(shared.clone()).unwrap();
    drop(tx);
    note!(log, "{} owners", Arc::strong_count(&shared));
    drop(rx);
    note!(log, "{} owners", Arc::strong_count(&shared));
}
