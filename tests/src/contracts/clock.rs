//! Pausing, resuming and advancing the clock.

use super::rt::{spawn, task as tasks, time, time::Instant};
use cct_tests::tools::{panic_text, payload_text};
use cct_tests::{Log, note};
use std::time::Duration;
use tokio_test::task;

fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

pub(crate) async fn advance_moves_the_clock_exactly(log: Log) {
    let start = Instant::now();
    time::advance(millis(5)).await;
    note!(log, "{:?}", start.elapsed());
    time::advance(Duration::from_nanos(1)).await;
    note!(log, "{:?}", start.elapsed());
    time::advance(Duration::ZERO).await;
    note!(log, "{:?}", start.elapsed());
}

pub(crate) async fn advance_fires_what_is_due(log: Log) {
    let mut early = task::spawn(Box::pin(time::sleep(millis(5))));
    let mut late = task::spawn(Box::pin(time::sleep(millis(20))));
    note!(log, "{:?} {:?}", early.poll(), late.poll());
    time::advance(millis(10)).await;
    note!(log, "elapsed {} {}", early.is_elapsed(), late.is_elapsed());
    note!(log, "{:?} {:?}", early.poll(), late.poll());
}

pub(crate) async fn advance_in_steps_reaches_the_deadline(log: Log) {
    let mut sleep = task::spawn(time::sleep(millis(3)));
    note!(log, "{:?}", sleep.poll());
    for _ in 0..3 {
        time::advance(millis(1)).await;
        note!(log, "{:?}", sleep.poll());
    }
}

pub(crate) async fn a_deadline_within_the_current_millisecond(log: Log) {
    let start = Instant::now();
    time::advance(Duration::from_micros(300)).await;
    let mut sleep = task::spawn(Box::pin(time::sleep(Duration::from_micros(300))));
    note!(log, "{:?} {:?}", sleep.poll(), sleep.deadline() - start);
    time::advance(Duration::from_micros(600)).await;
    note!(log, "{:?} {:?}", sleep.poll(), start.elapsed());
    time::advance(Duration::from_micros(100)).await;
    note!(log, "{:?} {:?}", sleep.poll(), start.elapsed());
}

pub(crate) async fn sleeps_between_milliseconds_are_never_short(_: Log) {
    let start = Instant::now();
    time::advance(Duration::from_micros(300)).await;
    time::sleep(Duration::from_micros(300)).await;
    let elapsed = start.elapsed();
    assert!(
        elapsed >= Duration::from_micros(600) && elapsed < millis(2),
        "{elapsed:?}"
    );
}

pub(crate) async fn advance_and_sleep_add_up(log: Log) {
    let start = Instant::now();
    let sleeper = spawn(async move {
        time::sleep(millis(10)).await;
        start.elapsed() >= millis(10)
    });
    time::advance(millis(4)).await;
    time::advance(millis(4)).await;
    note!(log, "{:?}", start.elapsed());
    note!(log, "{}", sleeper.await.unwrap());
}

pub(crate) async fn pausing_twice_panics(log: Log) {
    note!(log, "{}", panic_text(time::pause));
    time::resume();
    note!(log, "{}", panic_text(time::resume));
    let join = spawn(async { time::advance(millis(1)).await });
    note!(
        log,
        "{}",
        payload_text(join.await.unwrap_err().into_panic().as_ref())
    );
    time::pause();
    let start = Instant::now();
    time::sleep(millis(5)).await;
    note!(log, "{}", start.elapsed() >= millis(5));
}

pub(crate) async fn a_resumed_clock_still_sleeps(log: Log) {
    time::resume();
    let start = Instant::now();
    time::sleep(millis(2)).await;
    note!(log, "{}", start.elapsed() >= millis(2));
    note!(
        log,
        "{:?}",
        time::timeout(millis(2), std::future::pending::<()>()).await
    );
    time::pause();
}

#[expect(
    clippy::disallowed_methods,
    reason = "the clock under test is that of tokio, which is paused"
)]
pub(crate) async fn a_paused_clock_stands_while_a_poll_sleeps(log: Log) {
    let (start, outside) = (Instant::now(), std::time::Instant::now());
    std::thread::sleep(millis(3));
    note!(log, "{:?}", start.elapsed());
    note!(log, "{}", outside.elapsed() >= millis(3));
    time::sleep(millis(5)).await;
    note!(log, "{:?}", start.elapsed());
}

#[expect(
    clippy::disallowed_methods,
    reason = "the clock under test is that of tokio, which is paused"
)]
pub(crate) async fn a_paused_clock_stands_while_a_closure_sleeps(log: Log) {
    let (start, outside) = (Instant::now(), std::time::Instant::now());
    let sleeps = tasks::spawn_blocking(|| std::thread::sleep(millis(5)));
    note!(log, "{}", time::timeout(millis(1), sleeps).await.is_ok());
    note!(log, "{:?}", start.elapsed());
    note!(log, "{}", outside.elapsed() >= millis(5));
    // Who waits less is there first, and all before the clock moves.
    let naps = [45, 5, 25].map(|nap| {
        let log = log.clone();
        tasks::spawn_blocking(move || {
            std::thread::sleep(millis(nap));
            note!(log, "{nap}");
        })
    });
    time::sleep(millis(2)).await;
    note!(log, "{:?}", start.elapsed());
    for nap in naps {
        nap.await.unwrap();
    }
    // So it is for a wait that has a limit.
    let (send, receive) = std::sync::mpsc::channel();
    let waits = tasks::spawn_blocking(move || receive.recv_timeout(millis(5)).is_ok());
    note!(log, "{}", waits.await.unwrap());
    let (sent, receive) = std::sync::mpsc::channel();
    let waits = tasks::spawn_blocking(move || receive.recv_timeout(millis(5_000)).is_ok());
    tasks::yield_now().await;
    sent.send(()).unwrap();
    note!(log, "{} {:?}", waits.await.unwrap(), start.elapsed());
    drop::<std::sync::mpsc::Sender<()>>(send);
}

pub(crate) async fn the_unread_past_is_not_repeated(log: Log) {
    let mut interval = time::interval(millis(10));
    interval.tick().await;
    let start = Instant::now();
    time::advance(millis(25)).await;
    for _ in 0..3 {
        let due = interval.tick().await - start;
        note!(log, "{due:?} {:?}", start.elapsed());
    }
}

pub(crate) async fn time_waits_for_blocking_tasks(log: Log) {
    let start = Instant::now();
    let sleeper = spawn(async move {
        time::sleep(millis(1)).await;
        start.elapsed()
    });
    let during = tasks::spawn_blocking(move || start.elapsed())
        .await
        .unwrap();
    note!(log, "{during:?} {:?}", sleeper.await.unwrap());
}

pub(crate) async fn timers_do_not_fire_in_the_poll_that_advances(log: Log) {
    // The inner future is polled first, and is over before the deadline is looked at.
    let inner = async {
        time::advance(millis(10)).await;
        "in time"
    };
    note!(log, "{:?}", time::timeout(millis(3), inner).await);
    // The same for a deadline that somebody has waited for already.
    let later = async {
        tasks::yield_now().await;
        time::advance(millis(10)).await;
        "in time"
    };
    note!(log, "{:?}", time::timeout(millis(3), later).await);
    let mut advance = task::spawn(Box::pin(time::advance(millis(10))));
    let mut sleep = task::spawn(Box::pin(time::sleep(millis(5))));
    note!(log, "{:?} {:?}", advance.poll(), sleep.poll());
    let mut nothing = task::spawn(Box::pin(time::sleep(millis(0))));
    note!(log, "{:?} {:?}", nothing.poll(), sleep.is_elapsed());
    drop(advance);
    tasks::yield_now().await;
    note!(log, "{:?} {:?}", sleep.is_woken(), nothing.is_woken());
    note!(log, "{:?} {:?}", sleep.poll(), nothing.poll());
}

pub(crate) async fn an_advance_outlives_its_task(log: Log) {
    let start = Instant::now();
    let mut sleep = task::spawn(Box::pin(time::sleep(millis(5))));
    note!(log, "{:?}", sleep.poll());
    let ends = spawn(async { task::spawn(Box::pin(time::advance(millis(8)))).poll() });
    note!(log, "{:?}", ends.await.unwrap());
    sleep.into_inner().await;
    note!(log, "{:?}", start.elapsed());
}
