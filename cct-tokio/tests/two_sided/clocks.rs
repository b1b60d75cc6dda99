//! What is due now, by a clock that is not paused: it is not over at once; and a clock that is paused in the middle of a
//! millisecond.

use super::Log;
use super::rt;
use rt::time::{Instant, advance, interval, pause, resume, sleep, timeout};
use std::future::ready;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

pub(crate) async fn due_now(log: Log) {
    rt::select! {
        biased;
        () = sleep(Duration::ZERO) => log.note("over"),
        () = ready(()) => log.note("not over"),
    }
    let mut ticks = interval(Duration::from_secs(1));
    rt::select! {
        biased;
        _ = ticks.tick() => log.note("ticks"),
        () = ready(()) => log.note("does not tick"),
    }
    let work = timeout(Duration::ZERO, rt::task::yield_now());
    log.note(format!("{:?}", work.await));
}

pub(crate) async fn paused_on_the_way(log: Log) {
    // Other runtimes begin in the middle of one.
    sleep(MS).await;
    pause();
    let began = Instant::now();
    for _ in 0..3 {
        sleep(20 * MS).await;
    }
    log.note(format!("{:?}", began.elapsed()));
    let sleeper = rt::spawn(sleep(100 * MS));
    rt::task::yield_now().await;
    for by in [100, 1] {
        advance(by * MS).await;
        for _ in 0..3 {
            rt::task::yield_now().await;
        }
        log.note(sleeper.is_finished());
    }
}

/// It is paused after it was looked at.
pub(crate) async fn paused_and_resumed(log: Log) {
    let began = Instant::now();
    pause();
    advance(10 * MS).await;
    let moved = Instant::now();
    log.note(moved - began > 10 * MS);
    log.note(moved - began < 11 * MS);
    resume();
    log.note(Instant::now() > moved);
}

/// No two looks are at one moment.
pub(crate) async fn looks(log: Log) {
    let began = Instant::now();
    log.note(began.elapsed() > Duration::ZERO);
    let (tx, rx) = rt::sync::oneshot::channel();
    rt::spawn(async move { tx.send(Instant::now()).unwrap() });
    let then = rx.await.unwrap();
    log.note(then > began);
    log.note(then.elapsed() > Duration::ZERO);
}
