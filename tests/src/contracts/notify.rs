//! Notify: permits, waiters, order.

use super::rt::{spawn, sync::Notify, task as tasks};
use cct_tests::tools::WakeCount;
use cct_tests::{Log, note};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Context;
use tokio_test::task;

pub(crate) async fn a_permit_waits_for_the_next_waiter(log: Log) {
    let notify = Notify::new();
    notify.notify_one();
    notify.notify_one();
    note!(log, "{:?}", task::spawn(notify.notified()).poll());
    note!(log, "{:?}", task::spawn(notify.notified()).poll());
}

pub(crate) async fn waiters_are_notified_in_order(log: Log) {
    let notify = Notify::new();
    let mut waiting: Vec<_> = (0..3).map(|_| task::spawn(notify.notified())).collect();
    for one in &mut waiting {
        note!(log, "{:?}", one.poll());
    }
    for _ in 0..4 {
        notify.notify_one();
        note!(
            log,
            "woken {:?}",
            waiting.iter().map(|one| one.is_woken()).collect::<Vec<_>>()
        );
    }
    for one in &mut waiting {
        note!(log, "{:?}", one.poll());
    }
    note!(
        log,
        "one permit left {:?}",
        task::spawn(notify.notified()).poll()
    );
}

pub(crate) async fn order_is_that_of_the_first_poll(log: Log) {
    let notify = Notify::new();
    let mut made_first = task::spawn(notify.notified());
    let mut made_second = task::spawn(notify.notified());
    note!(log, "{:?} {:?}", made_second.poll(), made_first.poll());
    notify.notify_one();
    note!(
        log,
        "woken {} {}",
        made_first.is_woken(),
        made_second.is_woken()
    );
}

pub(crate) async fn notify_last_takes_the_newest(log: Log) {
    let notify = Notify::new();
    let mut waiting: Vec<_> = (0..3).map(|_| task::spawn(notify.notified())).collect();
    for one in &mut waiting {
        note!(log, "{:?}", one.poll());
    }
    notify.notify_last();
    note!(
        log,
        "woken {:?}",
        waiting.iter().map(|one| one.is_woken()).collect::<Vec<_>>()
    );
    drop(waiting);
    note!(log, "{:?}", task::spawn(notify.notified()).poll());
}

pub(crate) async fn notify_waiters_wakes_those_that_exist(log: Log) {
    let notify = Notify::new();
    let mut polled = task::spawn(notify.notified());
    let mut unpolled = task::spawn(notify.notified());
    note!(log, "{:?}", polled.poll());
    notify.notify_waiters();
    let mut later = task::spawn(notify.notified());
    note!(log, "woken {}", polled.is_woken());
    note!(
        log,
        "{:?} {:?} {:?}",
        polled.poll(),
        unpolled.poll(),
        later.poll()
    );
}

pub(crate) async fn notify_waiters_leaves_no_permit(log: Log) {
    let notify = Notify::new();
    notify.notify_waiters();
    note!(log, "{:?}", task::spawn(notify.notified()).poll());
    let before = notify.notified();
    notify.notify_waiters();
    notify.notify_one();
    note!(log, "{:?}", task::spawn(before).poll());
    note!(log, "{:?} then", task::spawn(notify.notified()).poll());
    note!(log, "{:?}", task::spawn(notify.notified()).poll());
}

pub(crate) async fn a_dropped_notified_waiter_passes_it_on(log: Log) {
    let notify = Notify::new();
    let mut one = task::spawn(notify.notified());
    let mut two = task::spawn(notify.notified());
    note!(log, "{:?} {:?}", one.poll(), two.poll());
    notify.notify_one();
    note!(log, "woken {} {}", one.is_woken(), two.is_woken());
    drop(one);
    note!(log, "woken {} {:?}", two.is_woken(), two.poll());
}

pub(crate) async fn a_dropped_notified_waiter_leaves_a_permit(log: Log) {
    let notify = Notify::new();
    let mut one = task::spawn(notify.notified());
    note!(log, "{:?}", one.poll());
    notify.notify_one();
    drop(one);
    note!(log, "{:?}", task::spawn(notify.notified()).poll());
}

pub(crate) async fn dropped_after_notify_waiters_passes_nothing_on(log: Log) {
    let notify = Notify::new();
    let mut one = task::spawn(notify.notified());
    note!(log, "{:?}", one.poll());
    notify.notify_waiters();
    drop(one);
    note!(log, "{:?}", task::spawn(notify.notified()).poll());
}

pub(crate) async fn dropped_after_notify_last_passes_to_the_newest(log: Log) {
    let notify = Notify::new();
    let mut waiting: Vec<_> = (0..3).map(|_| task::spawn(notify.notified())).collect();
    for one in &mut waiting {
        note!(log, "{:?}", one.poll());
    }
    notify.notify_last();
    drop(waiting.pop());
    note!(
        log,
        "woken {:?}",
        waiting.iter().map(|one| one.is_woken()).collect::<Vec<_>>()
    );
}

pub(crate) async fn enable_registers_without_a_poll(log: Log) {
    let notify = Notify::new();
    let mut one = pin!(notify.notified());
    note!(log, "{}", one.as_mut().enable());
    notify.notify_one();
    note!(log, "{:?}", task::spawn(notify.notified()).poll());
    note!(log, "{}", one.as_mut().enable());
    let (_, waker) = WakeCount::new();
    note!(
        log,
        "{:?}",
        one.as_mut().poll(&mut Context::from_waker(&waker))
    );
    notify.notify_one();
    let mut two = pin!(notify.notified());
    note!(log, "takes the permit {}", two.as_mut().enable());
    note!(log, "{:?}", task::spawn(notify.notified()).poll());
    note!(
        log,
        "{:?}",
        two.as_mut().poll(&mut Context::from_waker(&waker))
    );
}

pub(crate) async fn enable_keeps_its_place_in_the_queue(log: Log) {
    let notify = Notify::new();
    let mut enabled = pin!(notify.notified());
    note!(log, "{}", enabled.as_mut().enable());
    let mut other = task::spawn(notify.notified());
    note!(log, "{:?}", other.poll());
    let (count, waker) = WakeCount::new();
    note!(
        log,
        "{:?}",
        enabled.as_mut().poll(&mut Context::from_waker(&waker))
    );
    notify.notify_one();
    note!(log, "{} {}", count.get(), other.is_woken());
}

pub(crate) async fn only_the_last_waker_is_called(log: Log) {
    let notify = Notify::new();
    let mut notified = pin!(notify.notified());
    let (old, old_waker) = WakeCount::new();
    let (new, new_waker) = WakeCount::new();
    assert!(
        notified
            .as_mut()
            .poll(&mut Context::from_waker(&old_waker))
            .is_pending()
    );
    assert!(
        notified
            .as_mut()
            .poll(&mut Context::from_waker(&new_waker))
            .is_pending()
    );
    notify.notify_one();
    note!(log, "{} {}", old.get(), new.get());
}

pub(crate) async fn owned_notified_outlives_the_handle(log: Log) {
    let notify = Arc::new(Notify::new());
    let mut owned = task::spawn(notify.clone().notified_owned());
    note!(log, "{:?} {}", owned.poll(), Arc::strong_count(&notify));
    notify.notify_one();
    drop(notify);
    note!(log, "woken {} {:?}", owned.is_woken(), owned.poll());
}

pub(crate) async fn checking_after_creation_loses_no_wakeup(_: Log) {
    let shared = Arc::new((AtomicBool::new(false), Notify::new()));
    let waiters: Vec<_> = (0..2)
        .map(|_| {
            let shared = shared.clone();
            spawn(async move {
                loop {
                    let notified = shared.1.notified();
                    if shared.0.load(Ordering::SeqCst) {
                        break;
                    }
                    notified.await;
                }
            })
        })
        .collect();
    tasks::yield_now().await;
    shared.0.store(true, Ordering::SeqCst);
    shared.1.notify_waiters();
    for waiter in waiters {
        waiter.await.unwrap();
    }
}

pub(crate) async fn a_const_notify_works(log: Log) {
    let bell = Arc::new(const { Notify::const_new() });
    let waiter = spawn(bell.clone().notified_owned());
    bell.notify_one();
    note!(log, "{:?}", waiter.await.is_ok());
}
