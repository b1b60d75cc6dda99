//! What is due now, by a clock that is not paused: it is not over at once. Nothing here waits for time to pass.

use super::Log;
use super::rt;
use rt::time::{interval, sleep, timeout};
use std::future::ready;
use std::time::Duration;

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
