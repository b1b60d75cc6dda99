//! Tests that go round for ever in some schedules, and end in others.

use crate::failed;
use cct_executor::time::{Duration, Instant, interval, sleep, timeout};
use cct_executor::words::FailureKind;
use cct_executor::{Checker, nondet, spawn};
use cct_sync::{Notify, mpsc};
use futures::future::{BoxFuture, FutureExt as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// With a tenth of the usual steps, which take long where nothing is optimised.
fn checker(name: &str) -> Checker {
    crate::checker(name).usual_steps(10_000)
}

type Program = fn() -> BoxFuture<'static, ()>;

const TICK: Duration = Duration::from_millis(10);

/// Each loses what the test looks for, now and then.
const GO_ROUND: [Program; 3] = [
    // Asked for again and again: both have seen what was there before.
    || {
        async {
            let done = Arc::new(AtomicU32::new(0));
            for _ in 0..2 {
                let done = done.clone();
                spawn(async move {
                    let before = done.load(SeqCst);
                    cct_executor::task::yield_now().await;
                    done.store(before + 1, SeqCst);
                });
            }
            while done.load(SeqCst) < 2 {
                sleep(TICK).await;
            }
        }
        .boxed()
    },
    // Beside a ticker, in the same `select!`.
    || {
        async {
            let told = Arc::new(Notify::new());
            let tells = told.clone();
            spawn(async move { tells.notify_waiters() });
            let mut ticks = interval(TICK);
            loop {
                cct_executor::select! {
                    () = told.notified() => break,
                    _ = ticks.tick() => {}
                }
            }
        }
        .boxed()
    },
    // In a task that the test waits for.
    || {
        async {
            let (sender, mut receiver) = mpsc::channel::<()>(1);
            let lost = nondet::boolean();
            let asks = spawn(async move { while timeout(TICK, receiver.recv()).await.is_err() {} });
            match lost {
                true => std::mem::forget(sender),
                false => drop(sender),
            }
            asks.await.unwrap();
        }
        .boxed()
    },
];

#[test]
fn a_test_that_goes_round_in_some_schedules_fails() {
    for (index, program) in GO_ROUND.into_iter().enumerate() {
        let at_length = index == 0;
        let report = checker("goes round")
            .shrink(at_length)
            .iterations(6)
            .run(program);
        let failure = failed(&report);
        let told = report.text();
        assert_eq!(failure.kind, FailureKind::Endless, "{index}: {told}");
        assert!(failure.reproduced, "{told}");
        assert_eq!(failure.shortened.is_some(), at_length, "{told}");
        assert!(failure.step < 20, "{told}");
        for part in [
            "cct: FAILED goes round: endless\n  endless: the test does the same again and again, and never",
            "in other schedules the test comes to its end",
            "the last of the steps below repeat themselves for ever",
            " 10ms ",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
        assert!(told.lines().count() < 60, "{told}");
        if at_length {
            let replay = checker("goes round").replay(failure.token.clone());
            assert_eq!(failed(&replay.run(program)).kind, failure.kind);
        }
        // The remedy that the report names holds for what is remembered, too.
        let meant = checker("goes round").max_steps(5_000);
        meant
            .replay(failure.token.clone())
            .run(program)
            .assert_passed();
    }
}

/// In each something can always go on.
const ARE_BUSY: [Program; 2] = [
    // Asked for again and again: both have seen what was there before.
    || {
        async {
            let done = Arc::new(AtomicU32::new(0));
            for _ in 0..2 {
                let done = done.clone();
                spawn(async move {
                    let before = done.load(SeqCst);
                    cct_executor::task::yield_now().await;
                    done.store(before + 1, SeqCst);
                });
            }
            while done.load(SeqCst) < 2 {
                cct_executor::task::yield_now().await;
            }
        }
        .boxed()
    },
    // The test waits, for what only it would have been told, beside two that send each other the same letter.
    || {
        async {
            let (told, tells) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
            for from_me in [true, false] {
                let (told, tells) = (told.clone(), tells.clone());
                let (mine, others) = if from_me {
                    (told, tells)
                } else {
                    (tells, told)
                };
                spawn(async move {
                    loop {
                        mine.notify_one();
                        others.notified().await;
                    }
                });
            }
            let done = Arc::new(Notify::new());
            let tells = done.clone();
            spawn(async move { tells.notify_waiters() });
            done.notified().await;
        }
        .boxed()
    },
];

#[test]
fn a_test_that_goes_round_without_a_timer_fails() {
    for (index, program) in ARE_BUSY.into_iter().enumerate() {
        let at_length = index == 0;
        let report = checker("busy")
            .shrink(at_length)
            .iterations(16)
            .run(program);
        let failure = failed(&report);
        let told = report.text();
        assert_eq!(failure.kind, FailureKind::Endless, "{index}: {told}");
        assert!(failure.reproduced, "{told}");
        assert_eq!(failure.shortened.is_some(), at_length, "{told}");
        assert!(failure.step < 100, "{told}");
        assert!(told.lines().count() < 60, "{told}");
        let replay = checker("busy").replay(failure.token.clone());
        assert_eq!(failed(&replay.run(program)).kind, failure.kind);
    }
}

/// Each takes long in some schedules, and comes to its end, or might.
const TAKE_LONG: [Program; 6] = [
    // A time limit is far off.
    || {
        async {
            let lost = nondet::boolean();
            let mut ticks = interval(TICK);
            let limit = sleep(Duration::from_secs(8_640));
            cct_executor::pin!(limit);
            if !lost {
                return;
            }
            loop {
                cct_executor::select! {
                    () = &mut limit => break,
                    _ = ticks.tick() => {}
                }
            }
        }
        .boxed()
    },
    // So it is where only the time is looked at; this takes 50,000 rounds.
    || {
        async {
            let for_s = if nondet::boolean() { 250 } else { 0 };
            let start = Instant::now();
            while start.elapsed().as_secs() < for_s {
                sleep(TICK).await;
            }
        }
        .boxed()
    },
    // With luck.
    || {
        async {
            while !nondet::boolean() {
                sleep(TICK).await;
            }
        }
        .boxed()
    },
    || {
        async {
            while !nondet::boolean() {
                cct_executor::task::yield_now().await;
            }
        }
        .boxed()
    },
    // With patience.
    || {
        async {
            let rounds = if nondet::boolean() { 50_000 } else { 0 };
            for _ in 0..rounds {
                cct_executor::task::yield_now().await;
            }
        }
        .boxed()
    },
    || {
        async {
            let for_s = if nondet::boolean() { 3 } else { 0 };
            let start = Instant::now();
            while start.elapsed().as_secs() < for_s {
                cct_executor::task::yield_now().await;
            }
        }
        .boxed()
    },
];

#[test]
fn a_test_that_takes_long_in_some_schedules_passes() {
    let strategies = [
        "portfolio",
        "portfolio",
        "ss",
        "ss",
        "portfolio",
        "portfolio",
    ];
    for (program, strategy) in TAKE_LONG.into_iter().zip(strategies) {
        let checker: Checker = checker("takes long").strategy_text(strategy);
        let report = checker.iterations(6).run(program);
        report.assert_passed();
        let cut = report.cut();
        assert!(0 < cut && cut < 6, "{cut} of 6");
    }
}
