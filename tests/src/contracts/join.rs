//! join! and try_join!

use super::rt::{join, spawn, sync, task as tasks, time, try_join};
use cct_tests::tools::{Tombstone, WakeCount};
use cct_tests::{Log, note};
use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::Duration;

pub(crate) async fn all_outputs_come_in_order(log: Log) {
    let (tx, rx) = sync::oneshot::channel();
    let joined = join!(rx, async { tx.send(1).unwrap() }, async { 3 });
    note!(log, "{joined:?}");
    note!(
        log,
        "{:?} {:?}",
        join!(async { 1 }),
        join!(async { 1 }, async { 2 },)
    );
}

pub(crate) async fn branches_run_concurrently(log: Log) {
    let start = time::Instant::now();
    let nap = |pause| async move {
        time::sleep(Duration::from_millis(pause)).await;
        pause
    };
    note!(
        log,
        "{:?} {:?}",
        join!(nap(30), nap(10), nap(20)),
        start.elapsed()
    );
}

pub(crate) async fn the_first_to_be_polled_rotates(log: Log) {
    let mut order = Vec::new();
    let cell = std::cell::RefCell::new(&mut order);
    let branch = |name: char| {
        let mut polls = 0;
        let cell = &cell;
        poll_fn(move |cx| {
            cell.borrow_mut().push(name);
            polls += 1;
            if polls == 3 {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
    };
    join!(branch('a'), branch('b'), branch('c'));
    note!(log, "{}", order.iter().collect::<String>());
}

pub(crate) async fn biased_keeps_the_order(log: Log) {
    let mut order = Vec::new();
    let cell = std::cell::RefCell::new(&mut order);
    let branch = |name: char| {
        let mut polls = 0;
        let cell = &cell;
        poll_fn(move |cx| {
            cell.borrow_mut().push(name);
            polls += 1;
            if polls == 2 {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
    };
    join!(biased; branch('a'), branch('b'), branch('c'));
    note!(log, "{}", order.iter().collect::<String>());
}

pub(crate) async fn try_join_stops_at_the_first_error(log: Log) {
    let value = Tombstone::new(&log, "loser");
    let result = try_join!(
        async move {
            let _value = value;
            pending::<Result<u8, &str>>().await
        },
        async {
            tasks::yield_now().await;
            Err::<u8, _>("failed")
        },
    );
    note!(log, "{result:?}");
}

pub(crate) async fn try_join_unwraps_success(log: Log) {
    let result = try_join!(async { Ok::<_, u8>(1) }, async {
        tasks::yield_now().await;
        Ok(2)
    });
    note!(log, "{result:?}");
    let joins = try_join!(spawn(async { 1 }), spawn(async { 2 })).unwrap();
    note!(log, "{joins:?}");
}

pub(crate) async fn finished_branches_are_not_polled_again(log: Log) {
    let mut polls = 0;
    let (tx, rx) = sync::oneshot::channel::<()>();
    let counted = poll_fn(|_| {
        polls += 1;
        Poll::Ready(1)
    });
    let mut both = Box::pin(async { join!(counted, rx) });
    let (_, waker) = WakeCount::new();
    for _ in 0..3 {
        note!(
            log,
            "{}",
            both.as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
    }
    tx.send(()).unwrap();
    note!(log, "{:?}", both.await);
    note!(log, "{polls}");
}

pub(crate) async fn a_wake_reaches_the_whole_join(log: Log) {
    let (tx, rx) = sync::oneshot::channel();
    let mut both = pin!(async { join!(pending::<()>(), rx) });
    let (count, waker) = WakeCount::new();
    assert!(
        both.as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
    tx.send(1).unwrap();
    note!(log, "{}", count.get());
    note!(
        log,
        "{}",
        both.as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
}
