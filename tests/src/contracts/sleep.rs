//! Sleeping, resetting, rounding.

use super::rt::{spawn, task as tasks, time, time::Instant};
use cct_tests::tools::{WakeCount, panic_text};
use cct_tests::{Log, note};
use futures::FutureExt;
use std::future::Future;
use std::pin::pin;
use std::task::Context;
use std::time::Duration;
use tokio_test::task;

fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

pub(crate) async fn sleeping_takes_as_long_as_it_says(log: Log) {
    let start = Instant::now();
    for pause in [1, 10, 999, 86_400_000] {
        time::sleep(millis(pause)).await;
        note!(log, "{:?}", start.elapsed());
    }
    time::sleep_until(start + millis(90_000_000)).await;
    note!(log, "{:?}", start.elapsed());
}

pub(crate) async fn fractions_round_up_to_milliseconds(log: Log) {
    let start = Instant::now();
    for nanos in [1, 999_999, 1_000_000, 1_000_001, 1_500_000] {
        let before = Instant::now();
        time::sleep(Duration::from_nanos(nanos)).await;
        note!(log, "{nanos} ns: {:?}", before.elapsed());
    }
    note!(log, "{:?}", start.elapsed());
}

pub(crate) async fn sleepers_wake_in_the_order_of_their_deadlines(log: Log) {
    let start = Instant::now();
    let sleepers: Vec<_> = [30, 10, 20, 5, 4000]
        .map(|pause| {
            let log = log.clone();
            spawn(async move {
                time::sleep_until(start + millis(pause)).await;
                note!(log, "{pause} at {:?}", start.elapsed());
            })
        })
        .into_iter()
        .collect();
    for sleeper in sleepers {
        sleeper.await.unwrap();
    }
}

pub(crate) async fn time_stands_still_while_there_is_work(_: Log) {
    let start = Instant::now();
    let sleeper = spawn(async move {
        time::sleep(millis(1)).await;
        start.elapsed()
    });
    for _ in 0..10 {
        assert_eq!(start.elapsed(), Duration::ZERO);
        tasks::yield_now().await;
    }
    assert_eq!(sleeper.await.unwrap(), millis(1));
}

pub(crate) async fn zero_and_past_sleeps_are_ready_at_once(log: Log) {
    let start = Instant::now();
    note!(log, "{:?}", time::sleep(Duration::ZERO).now_or_never());
    time::sleep(millis(5)).await;
    note!(log, "{:?}", time::sleep_until(start).now_or_never());
    note!(
        log,
        "{:?}",
        time::sleep_until(Instant::now()).now_or_never()
    );
    note!(
        log,
        "{:?}",
        time::sleep(Duration::from_nanos(1)).now_or_never()
    );
}

pub(crate) async fn a_polled_sleep_reports_its_state(log: Log) {
    let start = Instant::now();
    let mut sleep = task::spawn(Box::pin(time::sleep(millis(5))));
    note!(log, "{:?} {}", sleep.deadline() - start, sleep.is_elapsed());
    note!(log, "{:?}", sleep.poll());
    time::sleep(millis(4)).await;
    note!(
        log,
        "woken {} elapsed {}",
        sleep.is_woken(),
        sleep.is_elapsed()
    );
    time::sleep(millis(1)).await;
    note!(
        log,
        "woken {} elapsed {}",
        sleep.is_woken(),
        sleep.is_elapsed()
    );
    note!(log, "{:?} {:?}", sleep.poll(), sleep.poll());
}

pub(crate) async fn an_unpolled_sleep_does_not_hold_the_clock(log: Log) {
    let start = Instant::now();
    let late = time::sleep(millis(5));
    time::sleep(millis(50)).await;
    late.await;
    note!(log, "{:?}", start.elapsed());
}

pub(crate) async fn reset_moves_the_deadline(log: Log) {
    let start = Instant::now();
    let mut sleep = pin!(time::sleep(millis(10)));
    note!(log, "{:?}", sleep.as_mut().now_or_never());
    sleep.as_mut().reset(start + millis(30));
    time::sleep(millis(20)).await;
    note!(log, "{}", sleep.is_elapsed());
    sleep.as_mut().await;
    note!(log, "{:?}", start.elapsed());
    sleep.as_mut().reset(start + millis(40));
    note!(log, "{} {:?}", sleep.is_elapsed(), sleep.deadline() - start);
    sleep.as_mut().await;
    note!(log, "{:?}", start.elapsed());
    sleep.as_mut().reset(start);
    note!(log, "{:?}", sleep.as_mut().now_or_never());
}

pub(crate) async fn reset_to_an_earlier_time_wakes_earlier(log: Log) {
    let start = Instant::now();
    let mut sleep = task::spawn(time::sleep(millis(100)));
    note!(log, "{:?}", sleep.poll());
    sleep.enter(|_, sleep| sleep.reset(start + millis(10)));
    time::sleep(millis(10)).await;
    note!(log, "woken {} {:?}", sleep.is_woken(), sleep.poll());
}

pub(crate) async fn a_dropped_sleep_wakes_nobody(log: Log) {
    let (count, waker) = WakeCount::new();
    {
        let mut sleep = pin!(time::sleep(millis(5)));
        note!(
            log,
            "{:?}",
            sleep.as_mut().poll(&mut Context::from_waker(&waker))
        );
    }
    time::sleep(millis(10)).await;
    note!(log, "{}", count.get());
}

pub(crate) async fn only_the_last_waker_is_called(log: Log) {
    let (old, old_waker) = WakeCount::new();
    let (new, new_waker) = WakeCount::new();
    let mut sleep = pin!(time::sleep(millis(5)));
    note!(
        log,
        "{:?}",
        sleep.as_mut().poll(&mut Context::from_waker(&old_waker))
    );
    note!(
        log,
        "{:?}",
        sleep.as_mut().poll(&mut Context::from_waker(&new_waker))
    );
    time::sleep(millis(10)).await;
    note!(log, "{} {}", old.get(), new.get());
}

pub(crate) async fn far_futures_are_possible(log: Log) {
    let start = Instant::now();
    let mut forever = task::spawn(Box::pin(time::sleep(Duration::MAX)));
    note!(log, "{:?}", forever.poll());
    time::sleep(Duration::from_secs(86_400 * 365)).await;
    note!(log, "{:?} {:?}", start.elapsed(), forever.poll());
    note!(
        log,
        "{}",
        forever.deadline() > start + Duration::from_secs(86_400 * 365 * 29)
    );
}

pub(crate) async fn the_clock_jumps_over_dropped_deadlines(log: Log) {
    let start = Instant::now();
    drop(time::timeout(millis(5), time::sleep(millis(500))).await);
    time::sleep(millis(1)).await;
    note!(log, "{:?}", start.elapsed());
}

pub(crate) async fn instants_calculate(log: Log) {
    let start = Instant::now();
    time::sleep(millis(30)).await;
    let now = Instant::now();
    note!(log, "{:?} {:?}", now - start, now.duration_since(start));
    note!(log, "{:?} {:?}", start - now, start.duration_since(now));
    note!(
        log,
        "{:?} {:?}",
        start.checked_duration_since(now),
        now.checked_duration_since(start)
    );
    note!(log, "{:?}", start.saturating_duration_since(now));
    let mut moved = start + millis(40);
    moved -= millis(20);
    moved += millis(10);
    note!(log, "{} {}", moved == now, now - millis(30) == start);
    note!(log, "{} {:?}", now > start, now.max(start) == now);
    note!(log, "{}", start.checked_add(Duration::MAX).is_none());
    note!(
        log,
        "{}",
        start.checked_add(millis(1)) == Some(start + millis(1))
    );
    note!(log, "{}", Instant::from_std(now.into_std()) == now);
    note!(
        log,
        "{}",
        Instant::from(std::time::Instant::from(now)) == now
    );
    note!(log, "{}", panic_text(|| start + Duration::MAX));
}

pub(crate) async fn equal_deadlines_wake_everybody_at_once(log: Log) {
    let start = Instant::now();
    let sleepers: Vec<_> = (0..5)
        .map(|_| spawn(async { time::sleep(millis(7)).await }))
        .collect();
    for sleeper in sleepers {
        sleeper.await.unwrap();
    }
    note!(log, "{:?}", start.elapsed());
}
