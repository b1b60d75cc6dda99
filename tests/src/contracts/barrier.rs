//! The barrier.

use super::rt::{spawn, sync::Barrier, task as tasks};
use cct_tests::{Log, note};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio_test::task;

pub(crate) async fn zero_and_one_never_wait(log: Log) {
    note!(log, "{}", Barrier::new(0).wait().await.is_leader());
    let one = Barrier::new(1);
    note!(
        log,
        "{} {}",
        one.wait().await.is_leader(),
        one.wait().await.is_leader()
    );
}

pub(crate) async fn the_last_to_come_leads(log: Log) {
    let barrier = Barrier::new(3);
    let mut one = task::spawn(barrier.wait());
    let mut two = task::spawn(barrier.wait());
    note!(
        log,
        "{} {}",
        one.poll().is_pending(),
        two.poll().is_pending()
    );
    note!(log, "leader {}", barrier.wait().await.is_leader());
    note!(log, "woken {} {}", one.is_woken(), two.is_woken());
    note!(log, "{} {}", one.await.is_leader(), two.await.is_leader());
}

pub(crate) async fn generations_do_not_mix(log: Log) {
    let barrier = Barrier::new(2);
    for _ in 0..3 {
        let mut early = task::spawn(barrier.wait());
        note!(log, "{}", early.poll().is_pending());
        note!(log, "{}", barrier.wait().await.is_leader());
        let mut next = task::spawn(barrier.wait());
        note!(log, "next {}", next.poll().is_pending());
        note!(log, "{}", early.await.is_leader());
        note!(log, "{}", barrier.wait().await.is_leader());
        note!(log, "{}", next.await.is_leader());
    }
}

pub(crate) async fn nobody_passes_early_and_one_leads(_: Log) {
    let barrier = Arc::new(Barrier::new(3));
    let arrived = Arc::new(AtomicUsize::new(0));
    let workers: Vec<_> = (0..3)
        .map(|_| {
            let (barrier, arrived) = (barrier.clone(), arrived.clone());
            spawn(async move {
                let mut led = 0;
                for round in 1..4 {
                    arrived.fetch_add(1, Ordering::SeqCst);
                    led += usize::from(barrier.wait().await.is_leader());
                    assert!(arrived.load(Ordering::SeqCst) >= 3 * round);
                    tasks::yield_now().await;
                }
                led
            })
        })
        .collect();
    let mut led = 0;
    for worker in workers {
        led += worker.await.unwrap();
    }
    assert_eq!(led, 3);
}

pub(crate) async fn a_dropped_waiter_has_still_arrived(log: Log) {
    let barrier = Barrier::new(2);
    let mut gone = task::spawn(barrier.wait());
    note!(log, "{}", gone.poll().is_pending());
    drop(gone);
    note!(log, "{}", task::spawn(barrier.wait()).poll().is_ready());
}

pub(crate) async fn an_unpolled_wait_has_not_arrived(log: Log) {
    let barrier = Barrier::new(2);
    drop(barrier.wait());
    note!(log, "{}", task::spawn(barrier.wait()).poll().is_pending());
}
