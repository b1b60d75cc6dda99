//! Sleeps that are reset, time limits, intervals, and a clock that is moved by hand.

use super::rt::task::yield_now;
use super::rt::time::{
    Duration, Instant, Interval, MissedTickBehavior, Sleep, advance, interval_at, sleep,
    sleep_until, timeout, timeout_at,
};
use cct_tests::fuzz::{Act, Home, Script, Stage, Turn};
use cct_tests::{Log, note};
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

struct Timers {
    start: Instant,
    sleeps: Vec<Rc<RefCell<Pin<Box<Sleep>>>>>,
    intervals: Vec<Home<Interval>>,
    open: Rc<Cell<bool>>,
}

pub(crate) async fn play(script: Script, log: Log) {
    let mut timers = Timers {
        start: Instant::now(),
        sleeps: Vec::new(),
        intervals: Vec::new(),
        open: Rc::default(),
    };
    // Several timers that are due at once fire in an order that tokio leaves open.
    let mut stage = Stage::<String>::new(&log).in_no_order();
    for act in script.acts {
        match stage.turn(act) {
            Turn::Ready(text) => note!(log, "    {text}"),
            Turn::Own(what) => match what % 22 {
                0 => {
                    note!(log, "  advance {:?}", span(act));
                    advance(span(act)).await;
                }
                1 => {
                    note!(log, "  the task sleeps {:?}", span(act));
                    sleep(span(act)).await;
                }
                2..9 => sleeping(what % 7, act, &mut timers, &mut stage),
                9..14 => limits(what % 5, act, &timers, &mut stage),
                _ => ticking(what % 8, act, &mut timers, &mut stage),
            },
            Turn::Yield => yield_now().await,
            Turn::Over => {}
        }
        let now = Instant::now() - timers.start;
        let elapsed: Vec<_> = timers
            .sleeps
            .iter()
            .map(|sleep| {
                let sleep = sleep.borrow();
                (
                    sleep.is_elapsed(),
                    sleep.deadline().saturating_duration_since(timers.start),
                )
            })
            .collect();
        note!(log, "    {now:?} {elapsed:?}");
        stage.woken();
    }
    stage.finish();
}

/// Whole and broken milliseconds, nothing, and times so far away that they are never reached.
fn span(act: Act) -> Duration {
    match act.b(16) {
        0 => Duration::ZERO,
        1 => Duration::from_nanos(1),
        2 => Duration::from_micros(300),
        3 => Duration::from_micros(1700),
        4 => Duration::from_millis(1),
        5..=7 => Duration::from_millis(3),
        8..=9 => Duration::from_millis(10),
        10 => Duration::from_millis(63),
        11 => Duration::from_millis(64),
        12 => Duration::from_millis(1000),
        13 => Duration::from_millis(4097),
        14 => Duration::from_secs(70),
        _ => Duration::from_secs(3600 * 24 * 100),
    }
}

fn sleeping(what: usize, act: Act, timers: &mut Timers, stage: &mut Stage<'_, String>) {
    let log = stage.log.clone();
    let index = act.pick(&timers.sleeps);
    match (what, index) {
        (0, _) if timers.sleeps.len() < 4 => {
            note!(log, "  new sleep {:?}", span(act));
            timers
                .sleeps
                .push(Rc::new(RefCell::new(Box::pin(sleep(span(act))))));
        }
        (1, _) if timers.sleeps.len() < 4 => {
            let sleep = sleep_until(timers.start + span(act));
            note!(log, "  new sleep until {:?}", span(act));
            timers.sleeps.push(Rc::new(RefCell::new(Box::pin(sleep))));
        }
        (0..=3, Some(index)) => {
            let sleep = timers.sleeps[index].clone();
            let poll = poll_fn(move |cx| {
                let mut sleep = sleep.borrow_mut();
                sleep.as_mut().poll(cx).map(|()| "slept".to_owned())
            });
            stage.put(act, format_args!("sleep {index}"), poll);
        }
        (4, Some(index)) => {
            let base = if act.b >= 128 {
                timers.start
            } else {
                Instant::now()
            };
            note!(
                log,
                "  reset {index} to {:?}",
                (base + span(act)) - timers.start
            );
            timers.sleeps[index]
                .borrow_mut()
                .as_mut()
                .reset(base + span(act));
        }
        (5, Some(index)) => {
            note!(log, "  drop sleep {index}");
            timers.sleeps.remove(index);
        }
        _ => {}
    }
}

fn limits(what: usize, act: Act, timers: &Timers, stage: &mut Stage<'_, String>) {
    let log = stage.log.clone();
    let open = timers.open.clone();
    // Nobody wakes those who wait for it: it is looked at when they are polled.
    let gate = poll_fn(move |_| {
        if open.get() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    });
    match what {
        0..=1 => {
            let future = timeout(span(act), gate);
            stage.put(act, format_args!("timeout {:?}", span(act)), async move {
                format!("{:?}", future.await)
            });
        }
        2 => {
            let future = timeout_at(timers.start + span(act), gate);
            stage.put(
                act,
                format_args!("timeout at {:?}", span(act)),
                async move { format!("{:?}", future.await) },
            );
        }
        3 => {
            let future = timeout(span(act), sleep(span(Act { b: act.a, ..act })));
            stage.put(act, format_args!("sleep with a limit"), async move {
                format!("{:?}", future.await)
            });
        }
        _ => {
            timers.open.set(!timers.open.get());
            note!(log, "  open: {}", timers.open.get());
        }
    }
}

fn ticking(what: usize, act: Act, timers: &mut Timers, stage: &mut Stage<'_, String>) {
    let log = stage.log.clone();
    let start = timers.start;
    if what == 0 && timers.intervals.len() < 3 {
        let period = span(act).max(Duration::from_nanos(1));
        let mut interval = interval_at(start + span(Act { b: act.a, ..act }), period);
        interval.set_missed_tick_behavior(behavior(act.a));
        note!(
            log,
            "  new interval {period:?} {:?}",
            interval.missed_tick_behavior()
        );
        timers.intervals.push(Home::new(interval));
        return;
    }
    let Some(index) = act.pick(&timers.intervals) else {
        return;
    };
    let Some(mut interval) = timers.intervals[index].lend() else {
        return;
    };
    match what {
        0..=4 => stage.put(act, format_args!("tick {index}"), async move {
            format!(
                "{:?}",
                interval.tick().await.saturating_duration_since(start)
            )
        }),
        5 => {
            let how = act.a % 4;
            note!(log, "  reset interval {index} {how} {:?}", span(act));
            match how {
                0 => interval.reset(),
                1 => interval.reset_immediately(),
                2 => interval.reset_after(span(act)),
                _ => interval.reset_at(start + span(act)),
            }
        }
        6 => {
            interval.set_missed_tick_behavior(behavior(act.b));
            note!(
                log,
                "  {index} {:?} {:?}",
                interval.missed_tick_behavior(),
                interval.period()
            );
        }
        _ => {
            note!(log, "  drop interval {index}");
            drop(interval);
            timers.intervals.remove(index);
        }
    }
}

fn behavior(which: u8) -> MissedTickBehavior {
    match which % 3 {
        0 => MissedTickBehavior::Burst,
        1 => MissedTickBehavior::Delay,
        _ => MissedTickBehavior::Skip,
    }
}
