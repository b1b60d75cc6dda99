//! Intervals and what they do about missed ticks.

use super::rt::{spawn, time, time::Instant, time::MissedTickBehavior};
use cct_tests::tools::panic_text;
use cct_tests::{Log, note};
use futures::FutureExt;
use std::time::Duration;
use tokio_test::task;

fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// Notes when the next ticks are due and when they are seen.
async fn ticks(log: &Log, start: Instant, interval: &mut time::Interval, count: usize) {
    for _ in 0..count {
        let due = interval.tick().await - start;
        note!(log, "due {due:?} seen {:?}", start.elapsed());
    }
}

pub(crate) async fn the_first_tick_is_immediate(log: Log) {
    let start = Instant::now();
    let mut interval = time::interval(millis(10));
    note!(
        log,
        "{:?} {:?}",
        interval.period(),
        interval.missed_tick_behavior()
    );
    note!(
        log,
        "{:?}",
        interval.tick().now_or_never().map(|due| due - start)
    );
    note!(log, "{:?}", interval.tick().now_or_never());
    ticks(&log, start, &mut interval, 3).await;
}

pub(crate) async fn interval_at_waits_for_its_start(log: Log) {
    let start = Instant::now();
    let mut interval = time::interval_at(start + millis(7), millis(10));
    ticks(&log, start, &mut interval, 3).await;
}

async fn misses(log: Log, behavior: MissedTickBehavior) {
    let start = Instant::now();
    let mut interval = time::interval(millis(10));
    interval.set_missed_tick_behavior(behavior);
    note!(log, "{:?}", interval.missed_tick_behavior());
    ticks(&log, start, &mut interval, 2).await;
    time::sleep(millis(35)).await;
    ticks(&log, start, &mut interval, 6).await;
    time::sleep(millis(14)).await;
    ticks(&log, start, &mut interval, 3).await;
    time::sleep(millis(20)).await;
    ticks(&log, start, &mut interval, 3).await;
}

pub(crate) async fn burst_catches_up(log: Log) {
    misses(log, MissedTickBehavior::Burst).await;
}

pub(crate) async fn delay_starts_anew(log: Log) {
    misses(log, MissedTickBehavior::Delay).await;
}

pub(crate) async fn skip_keeps_the_beat(log: Log) {
    misses(log, MissedTickBehavior::Skip).await;
}

pub(crate) async fn five_milliseconds_late_is_not_missed(log: Log) {
    for late in [4, 5, 6] {
        let start = Instant::now();
        let mut interval = time::interval(millis(10));
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks(&log, start, &mut interval, 1).await;
        time::sleep(millis(10 + late)).await;
        ticks(&log, start, &mut interval, 2).await;
    }
}

pub(crate) async fn resets(log: Log) {
    let start = Instant::now();
    let mut interval = time::interval(millis(10));
    ticks(&log, start, &mut interval, 1).await;
    time::sleep(millis(4)).await;
    interval.reset();
    ticks(&log, start, &mut interval, 2).await;
    interval.reset_immediately();
    ticks(&log, start, &mut interval, 2).await;
    interval.reset_after(millis(3));
    ticks(&log, start, &mut interval, 2).await;
    interval.reset_at(start + millis(100));
    ticks(&log, start, &mut interval, 2).await;
    interval.reset_at(start);
    ticks(&log, start, &mut interval, 2).await;
}

pub(crate) async fn a_dropped_tick_is_not_lost(log: Log) {
    let start = Instant::now();
    let mut interval = time::interval(millis(10));
    ticks(&log, start, &mut interval, 1).await;
    note!(
        log,
        "{:?}",
        time::timeout(millis(5), interval.tick()).await.is_err()
    );
    ticks(&log, start, &mut interval, 1).await;
}

pub(crate) async fn polled_by_hand(log: Log) {
    let start = Instant::now();
    let mut interval = time::interval_at(start + millis(5), millis(5));
    let mut tick = task::spawn(interval.tick());
    note!(log, "{}", tick.poll().is_pending());
    time::sleep(millis(4)).await;
    note!(log, "woken {}", tick.is_woken());
    time::sleep(millis(1)).await;
    note!(
        log,
        "woken {} {:?}",
        tick.is_woken(),
        tick.poll().map(|due| due - start)
    );
}

pub(crate) async fn two_intervals_share_the_clock(log: Log) {
    let start = Instant::now();
    let workers: Vec<_> = [2, 3]
        .into_iter()
        .map(|period| {
            spawn(async move {
                let mut interval = time::interval(millis(period));
                let mut seen = Vec::new();
                for _ in 0..4 {
                    seen.push((interval.tick().await - start).as_millis());
                }
                seen
            })
        })
        .collect();
    for worker in workers {
        note!(log, "{:?}", worker.await.unwrap());
    }
}

pub(crate) async fn a_zero_period_panics(log: Log) {
    note!(log, "{}", panic_text(|| time::interval(Duration::ZERO)));
    note!(
        log,
        "{}",
        panic_text(|| time::interval_at(Instant::now(), Duration::ZERO))
    );
}

pub(crate) async fn a_very_long_period_is_capped(log: Log) {
    let start = Instant::now();
    let mut interval = time::interval(Duration::MAX);
    ticks(&log, start, &mut interval, 1).await;
    note!(log, "{}", task::spawn(interval.tick()).poll().is_pending());
}

pub(crate) async fn fractions_of_a_millisecond(log: Log) {
    let start = Instant::now();
    let mut interval = time::interval(Duration::from_micros(2_500));
    ticks(&log, start, &mut interval, 5).await;
}
