//! What is shortened where tasks wait in `select!`.

use crate::failed;
use cct_executor::task::yield_now;
use cct_executor::{Checker, Report, Seed, select, spawn};
use cct_sync::{Notify, mpsc};
use std::sync::Arc;

fn checker(name: &str, seed: u64) -> Checker {
    crate::checker(name).await_check(false).seed(Seed(seed))
}

#[track_caller]
fn left(report: &Report) -> usize {
    let left = failed(report).departures.as_ref();
    left.unwrap_or_else(|| panic!("not looked at: {}", report.text()))
        .len()
}

/// Which of several operations that wait is the last in a poll is a matter of values, which do not matter here.
#[test]
fn a_deadlock_in_select_is_the_same_in_whichever_order_it_waits() {
    async fn scenario() {
        let (stop, idle) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (send, mut receive) = mpsc::channel::<u32>(4);
        let (stops, idles) = (stop.clone(), idle.clone());
        let server = spawn(async move {
            loop {
                select! {
                    () = stops.notified() => break,
                    () = idles.notified() => {}
                    Some(_) = receive.recv() => yield_now().await,
                }
            }
        });
        for number in 0..3 {
            send.send(number).await.unwrap();
            yield_now().await;
        }
        // It wakes nobody if the server is at work.
        spawn(async move { stop.notify_waiters() });
        server.await.unwrap();
        drop((send, idle));
    }
    for seed in 0..10 {
        let report = checker("notify_waiters", seed).run(scenario);
        assert_eq!(failed(&report).kind.class(), "deadlock");
        assert!(left(&report) <= 1, "{}", report.text());
    }
}
