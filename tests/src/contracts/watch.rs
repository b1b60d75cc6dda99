//! The channel that keeps only its latest value.

use super::rt::{spawn, sync::watch};
use cct_tests::tools::panic_text;
use cct_tests::{Log, note};
use tokio_test::task;

pub(crate) async fn first_value_counts_as_seen(log: Log) {
    let (tx, mut rx) = watch::channel("a");
    note!(log, "{} {:?}", *rx.borrow(), rx.has_changed());
    {
        let mut changed = task::spawn(rx.changed());
        note!(log, "{:?}", changed.poll());
        tx.send("b").unwrap();
        note!(log, "woken {} {:?}", changed.is_woken(), changed.poll());
    }
    note!(log, "{} {:?}", *rx.borrow(), rx.has_changed());
}

pub(crate) async fn borrow_leaves_and_update_clears_the_mark(log: Log) {
    let (tx, mut rx) = watch::channel(0);
    tx.send(1).unwrap();
    note!(log, "{} {:?}", *rx.borrow(), rx.has_changed());
    note!(log, "{}", rx.borrow().has_changed());
    let first = {
        let seen = rx.borrow_and_update();
        (*seen, seen.has_changed())
    };
    note!(log, "{first:?} {:?}", rx.has_changed());
    let second = {
        let seen = rx.borrow_and_update();
        (*seen, seen.has_changed())
    };
    note!(log, "{second:?}");
}

pub(crate) async fn only_the_latest_value_is_kept(log: Log) {
    let (tx, mut rx) = watch::channel(0);
    for value in 1..5 {
        tx.send(value).unwrap();
    }
    rx.changed().await.unwrap();
    note!(log, "{}", *rx.borrow_and_update());
    note!(log, "{:?}", task::spawn(rx.changed()).poll());
}

pub(crate) async fn a_reader_sees_values_in_order_up_to_the_last(_: Log) {
    let (tx, mut rx) = watch::channel(0);
    let reader = spawn(async move {
        let mut last = 0;
        while rx.changed().await.is_ok() {
            let value = *rx.borrow_and_update();
            assert!(value > last);
            last = value;
        }
        (last, *rx.borrow())
    });
    for value in 1..6 {
        tx.send(value).unwrap();
        super::rt::task::yield_now().await;
    }
    drop(tx);
    assert_eq!(reader.await.unwrap(), (5, 5));
}

pub(crate) async fn sender_gone_still_shows_the_last_change(log: Log) {
    let (tx, mut rx) = watch::channel(0);
    tx.send(1).unwrap();
    drop(tx);
    note!(log, "closed {} {:?}", rx.is_closed(), rx.has_changed());
    note!(log, "{:?}", rx.changed().await);
    note!(log, "{}", *rx.borrow());
    let error = rx.changed().await.unwrap_err();
    note!(log, "{error} / {error:?}");
    note!(log, "{:?}", rx.has_changed());
}

pub(crate) async fn sender_gone_wakes_the_waiting(log: Log) {
    let (tx, mut rx) = watch::channel(0);
    let mut also = rx.clone();
    let mut one = task::spawn(rx.changed());
    let mut two = task::spawn(also.changed());
    note!(log, "{:?} {:?}", one.poll(), two.poll());
    let second = tx.clone();
    note!(log, "{} senders", tx.sender_count());
    drop(tx);
    note!(log, "woken {} {}", one.is_woken(), two.is_woken());
    drop(second);
    note!(log, "woken {} {}", one.is_woken(), two.is_woken());
    note!(log, "{:?} {:?}", one.poll(), two.poll());
}

pub(crate) async fn every_receiver_sees_the_change(log: Log) {
    let (tx, rx) = watch::channel(0);
    let mut receivers: Vec<_> = (0..10).map(|_| rx.clone()).collect();
    let mut waiting: Vec<_> = receivers
        .iter_mut()
        .map(|rx| task::spawn(rx.changed()))
        .collect();
    for changed in &mut waiting {
        assert!(changed.poll().is_pending());
    }
    tx.send(1).unwrap();
    for changed in &mut waiting {
        note!(log, "woken {} {:?}", changed.is_woken(), changed.poll());
    }
    note!(log, "{}", rx.has_changed().unwrap());
}

pub(crate) async fn a_clone_knows_what_its_parent_saw(log: Log) {
    let (tx, mut rx) = watch::channel(0);
    tx.send(1).unwrap();
    let unseen = rx.clone();
    rx.mark_unchanged();
    let seen = rx.clone();
    note!(log, "{:?} {:?}", unseen.has_changed(), seen.has_changed());
    note!(log, "{}", seen.same_channel(&unseen));
}

pub(crate) async fn subscribing_starts_at_the_present(log: Log) {
    let (tx, rx) = watch::channel(0);
    drop(rx);
    note!(
        log,
        "{} receivers, closed {}",
        tx.receiver_count(),
        tx.is_closed()
    );
    let refused = tx.send(1).unwrap_err();
    note!(log, "{refused} / {refused:?} / {}", refused.0);
    note!(log, "{}", *tx.borrow());
    tx.send_replace(2);
    let rx = tx.subscribe();
    note!(
        log,
        "{} {:?} {}",
        *rx.borrow(),
        rx.has_changed(),
        tx.receiver_count()
    );
    note!(log, "{:?} {:?}", tx.send(3), rx.has_changed());
}

pub(crate) async fn marks_can_be_set_by_hand(log: Log) {
    let (tx, mut rx) = watch::channel(0);
    rx.mark_changed();
    note!(log, "{:?} {:?}", rx.has_changed(), rx.changed().await);
    note!(log, "{:?}", rx.has_changed());
    tx.send(1).unwrap();
    rx.mark_unchanged();
    note!(log, "{:?} {}", rx.has_changed(), *rx.borrow());
}

pub(crate) async fn send_variants_and_whom_they_wake(log: Log) {
    let (tx, mut rx) = watch::channel(1);
    tx.send_modify(|value| *value += 1);
    note!(log, "{:?} {}", rx.has_changed(), *rx.borrow_and_update());
    note!(
        log,
        "{}",
        tx.send_if_modified(|value| std::mem::replace(value, 5) == 0)
    );
    note!(log, "{:?} {}", rx.has_changed(), *rx.borrow());
    note!(
        log,
        "{}",
        tx.send_if_modified(|value| std::mem::replace(value, 6) == 5)
    );
    note!(log, "{:?} {}", rx.has_changed(), *rx.borrow());
    note!(log, "{} {}", tx.send_replace(7), *tx.borrow());
}

pub(crate) async fn a_panicking_modify_changes_nothing_visible(log: Log) {
    let (tx, rx) = watch::channel(1);
    note!(
        log,
        "{}",
        panic_text(|| tx.send_modify(|_| panic!("in modify")))
    );
    note!(log, "{:?} {}", rx.has_changed(), *rx.borrow());
    note!(
        log,
        "{}",
        panic_text(|| tx.send_if_modified(|_| panic!("in if_modified")))
    );
    tx.send(2).unwrap();
    note!(log, "{:?} {}", rx.has_changed(), *rx.borrow());
}

pub(crate) async fn wait_for_checks_the_present_first(log: Log) {
    let (tx, mut rx) = watch::channel(3);
    note!(log, "{}", *rx.wait_for(|value| *value == 3).await.unwrap());
    {
        let mut wait = task::spawn(rx.wait_for(|value| *value > 4));
        note!(log, "pending {}", wait.poll().is_pending());
        tx.send(4).unwrap();
        note!(
            log,
            "woken {} pending {}",
            wait.is_woken(),
            wait.poll().is_pending()
        );
        tx.send(5).unwrap();
        note!(
            log,
            "woken {} ready {}",
            wait.is_woken(),
            wait.poll().is_ready()
        );
    }
    note!(log, "{:?}", rx.has_changed());
    drop(tx);
    note!(log, "{}", rx.wait_for(|value| *value == 5).await.is_ok());
    note!(
        log,
        "{:?}",
        rx.wait_for(|value| *value == 6).await.map(|value| *value)
    );
}

pub(crate) async fn wait_for_survives_a_panicking_predicate(log: Log) {
    let (tx, mut rx) = watch::channel(0);
    let text = panic_text(|| drop(task::spawn(rx.wait_for(|_| panic!("predicate"))).poll()));
    note!(log, "{text}");
    tx.send(1).unwrap();
    note!(log, "{}", *rx.wait_for(|value| *value == 1).await.unwrap());
}

pub(crate) async fn closed_waits_for_all_receivers(log: Log) {
    let (tx, rx) = watch::channel(0);
    let other = rx.clone();
    let mut closed = task::spawn(tx.closed());
    note!(log, "{:?}", closed.poll());
    drop(rx);
    note!(log, "woken {}", closed.is_woken());
    drop(other);
    note!(log, "woken {} {:?}", closed.is_woken(), closed.poll());
}

pub(crate) async fn closed_goes_on_waiting_for_a_late_subscriber(log: Log) {
    let (tx, rx) = watch::channel(0);
    let mut closed = task::spawn(tx.closed());
    note!(log, "{:?}", closed.poll());
    drop(rx);
    let late = tx.subscribe();
    note!(log, "woken {} {:?}", closed.is_woken(), closed.poll());
    drop(late);
    note!(log, "{:?}", closed.poll());
}

pub(crate) async fn dropped_changed_misses_nothing(log: Log) {
    let (tx, mut rx) = watch::channel(0);
    let mut changed = task::spawn(rx.changed());
    note!(log, "{:?}", changed.poll());
    tx.send(1).unwrap();
    drop(changed);
    note!(log, "{:?}", rx.changed().await);
}

pub(crate) async fn senders_compare_and_default(log: Log) {
    let (tx, _rx) = watch::channel(0);
    let other = watch::Sender::new(0);
    note!(
        log,
        "{} {}",
        tx.same_channel(&tx.clone()),
        tx.same_channel(&other)
    );
    note!(log, "{}", *watch::Sender::<u8>::default().borrow());
}
