//! Tests that hang in some schedules while a heartbeat goes on, so that nothing but a limit ends them.

use crate::{failed, panic_text};
use cct_executor::task::{LocalSet, yield_now};
use cct_executor::time::sleep;
use cct_executor::words::FailureKind;
use cct_executor::{Checker, Granularity, Report, nondet, spawn};
use cct_sync::{mpsc, oneshot};
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

/// With a tenth of the usual steps, which take long where nothing is optimised.
fn checker(name: &str) -> Checker {
    crate::checker(name).usual_steps(10_000)
}

/// Beats as long as the world stands.
async fn heart() {
    loop {
        sleep(Duration::from_secs(1)).await;
    }
}

/// Waits for an answer that sometimes is never given.
async fn asks() {
    spawn(heart());
    let (sender, answer) = oneshot::channel();
    let lost = nondet::choose(4) == 3;
    spawn(async move {
        if lost {
            std::future::pending::<()>().await;
        }
        let _ = sender.send(());
    });
    let asked = spawn(async move { answer.await.is_ok() });
    assert!(asked.await.unwrap());
}

fn run(checker: Checker) -> Report {
    checker.iterations(8).run(asks)
}

#[test]
fn a_heartbeat_does_not_hide_that_a_test_hangs() {
    let report = run(checker("hangs"));
    let failure = failed(&report);
    let FailureKind::Hang { task } = &failure.kind else {
        panic!("{}", report.text());
    };
    assert_eq!(task, "3");
    assert!(failure.reproduced, "{}", report.text());
    let told = report.text();
    assert!(failure.shortened.is_some(), "{told}");
    // What comes after is the heartbeat, to the usual limit of steps.
    assert!(failure.step < 20, "{told}");
    // Which value was drawn, and no order of tasks.
    let departures = failure.departures.as_ref().unwrap();
    assert_eq!(departures.len(), 1, "{told}");
    assert!(departures[0].is_value, "{told}");
    for part in [
        "cct: FAILED hangs: hang\n  hang: task 3 waits for what does not come",
        "in other schedules the test comes to its end",
        "\n      recv at ",
        "the steps below end where these began to wait",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let (_, table) = told.split_once(" choices  at\n").unwrap();
    assert!(!table.contains("1000ms"), "{table}");
    let replayed = checker("hangs").replay(failure.token.clone()).run(asks);
    assert_eq!(failed(&replayed).kind, failure.kind);
    // The remedy that the report names holds for what is remembered, too.
    let meant = checker("hangs").max_steps(5_000);
    meant
        .replay(failure.token.clone())
        .run(asks)
        .assert_passed();
}

/// As [`asks`], with the answer awaited in this way.
fn run_waiting<F: Future<Output = ()>>(
    name: &str,
    waits: impl Fn(oneshot::Receiver<()>, mpsc::Receiver<()>) -> F + Send + Sync + 'static,
) -> Report {
    let waits = Arc::new(waits);
    checker(name).iterations(12).shrink(false).run(move || {
        let waits = waits.clone();
        async move {
            spawn(heart());
            let (sender, answer) = oneshot::channel();
            let (_kept, stop) = mpsc::channel(1);
            let lost = nondet::choose(4) == 3;
            spawn(async move {
                if lost {
                    std::future::pending::<()>().await;
                }
                let _ = sender.send(());
            });
            waits(answer, stop).await;
        }
    })
}

#[test]
fn who_hangs_may_wait_for_several_things_or_for_what_cct_does_not_know() {
    let reports = [
        run_waiting("of two", async |answer, mut stop| {
            cct_executor::select! {
                _ = answer => {}
                _ = stop.recv() => {}
            }
        }),
        run_waiting("both", async |answer, _| {
            let (told, tells) = oneshot::channel();
            spawn(async move { told.send(()) });
            let _ = cct_executor::join!(answer, tells);
        }),
        run_waiting("unknown", async |answer, _| {
            let (told, tells) = futures::channel::oneshot::channel();
            spawn(async move {
                if answer.await.is_ok() {
                    let _ = told.send(());
                }
            });
            let _ = tells.await;
        }),
    ];
    for report in reports {
        let kind = &failed(&report).kind;
        assert!(
            matches!(kind, FailureKind::Hang { .. }),
            "{}",
            report.text()
        );
    }
}

/// The test waits first, and who would answer comes too late in some orders, long after that.
async fn waits_early() {
    spawn(heart());
    let (sender, answer) = oneshot::channel();
    let open = Arc::new(AtomicBool::new(true));
    let theirs = open.clone();
    spawn(async move {
        sleep(Duration::from_millis(5)).await;
        yield_now().await;
        if theirs.load(SeqCst) {
            let _ = sender.send(());
        } else {
            std::mem::forget(sender);
        }
    });
    spawn(async move {
        sleep(Duration::from_millis(5)).await;
        for _ in 0..3 {
            yield_now().await;
        }
        open.store(false, SeqCst);
    });
    answer.await.unwrap();
}

#[test]
fn what_hangs_a_test_may_come_long_after_it_has_begun_to_wait() {
    let checker = checker("waits early").shrink(false);
    let report = checker.iterations(10).run(waits_early);
    let failure = failed(&report);
    assert!(
        matches!(failure.kind, FailureKind::Hang { .. }),
        "{}",
        report.text()
    );
    assert!(failure.reproduced, "{}", report.text());
}

#[test]
fn the_number_of_workers_does_not_change_which_hang_is_found() {
    let found = [1, 3].map(|workers| {
        let report = run(checker("hangs").workers(workers).shrink(false));
        let failure = failed(&report);
        (failure.iteration(), failure.token.to_string())
    });
    assert!(found.iter().all(|one| *one == found[0]), "{found:?}");
}

#[test]
fn with_a_limit_that_somebody_chose_a_test_may_go_on() {
    let report = run(checker("goes on").max_steps(5_000));
    report.assert_passed();
    assert!(report.cut() > 0);
}

#[test]
fn a_test_that_goes_on_in_all_schedules_does_not_hang() {
    let serves = |checker: Checker| {
        checker.iterations(3).run(|| async {
            spawn(heart());
            std::future::pending::<()>().await;
        })
    };
    let report = serves(checker("serves"));
    assert!(report.failure().is_none(), "{}", report.text());
    assert_eq!(report.cut(), 3);
    // But it shows nothing, unless it says that this is meant.
    assert!(!report.passed(), "{}", report.text());
    let text = panic_text(|| report.assert_passed());
    let what = "cct: serves shows nothing: each of 3 iterations was cut at the step limit";
    assert!(text.starts_with(what), "{text}");
    assert!(text.contains("task 0 `main`"), "{text}");
    for meant in [
        checker("serves").max_steps(2_000),
        checker("serves").max_time(Duration::from_secs(60)),
    ] {
        let report = serves(meant);
        report.assert_passed();
        assert_eq!(report.cut(), 3);
    }
}

#[test]
fn a_test_passes_that_ends_beside_tasks_that_go_on() {
    let report = checker("beside a heart").iterations(3).run(|| async {
        spawn(heart());
        sleep(Duration::from_secs(1)).await;
    });
    report.assert_passed();
    assert_eq!(report.cut(), 0);
}

#[test]
fn who_waits_for_somebody_at_work_does_not_hang() {
    let report = checker("works").iterations(8).run(|| async {
        // Now and then there is more to do than an iteration has steps for.
        let days = if nondet::choose(4) == 3 { 20_000 } else { 10 };
        let worker = spawn(async move {
            for _ in 0..days {
                sleep(Duration::from_secs(1)).await;
            }
        });
        worker.await.unwrap();
    });
    report.assert_passed();
    assert!(report.cut() > 0);
}

/// Asks again for as long as it is refused.
async fn insists() {
    let (sender, answer) = oneshot::channel();
    spawn(async move {
        while !nondet::boolean() {
            sleep(Duration::from_secs(1)).await;
        }
        let _ = sender.send(());
    });
    answer.await.unwrap();
}

#[test]
fn a_strategy_that_never_lets_a_retry_succeed_shows_no_hang() {
    // Undelayed, every coin shows the same for ever; one delay is the end of the loop.
    let report = checker("insists")
        .strategy_text("ss")
        .iterations(12)
        .run(insists);
    report.assert_passed();
    let cut = report.cut();
    assert!(0 < cut && cut < 12, "{cut} of 12");
}

/// The answer is sometimes never given; and it takes a while to be asked for.
async fn insists_in_vain() {
    let (sender, answer) = oneshot::channel();
    let lost = nondet::choose(4) == 3;
    spawn(async move {
        while !nondet::boolean() {
            sleep(Duration::from_secs(1)).await;
        }
        if lost {
            heart().await;
        }
        let _ = sender.send(());
    });
    answer.await.unwrap();
}

#[test]
fn a_hang_is_not_shortened_to_a_coin_that_always_shows_the_same() {
    let report = checker("insists in vain")
        .iterations(8)
        .run(insists_in_vain);
    let failure = failed(&report);
    assert!(failure.shortened.is_some(), "{}", report.text());
    let departures = failure.departures.as_ref().unwrap();
    let taken: Vec<_> = departures.iter().map(|one| one.taken.as_str()).collect();
    // With all coins as the plain schedule has them nobody is answered, whatever was chosen.
    assert!(
        matches!(taken[..], [one] if one.contains("choose = 3")),
        "{}",
        report.text()
    );
    let token = failure.token.clone();
    let replayed = checker("insists in vain")
        .replay(token)
        .run(insists_in_vain);
    assert_eq!(failed(&replayed).kind, failure.kind);
}

/// A place for one waker: who comes second puts the first one's away.
async fn has_one_slot() {
    let slot: Arc<Mutex<Option<Waker>>> = Arc::default();
    let theirs = slot.clone();
    spawn(async move {
        loop {
            sleep(Duration::from_millis(100)).await;
            if let Some(waker) = theirs.lock().unwrap().take() {
                waker.wake();
            }
        }
    });
    let waiters = [(), ()].map(|()| {
        let (slot, mut polled) = (slot.clone(), false);
        spawn(poll_fn(move |cx| {
            if std::mem::replace(&mut polled, true) {
                return Poll::Ready(());
            }
            *slot.lock().unwrap() = Some(cx.waker().clone());
            Poll::Pending
        }))
    });
    for waiter in waiters {
        waiter.await.unwrap();
    }
}

/// It never comes to its end, in no schedule: but who it waits for cannot be woken any more.
#[test]
fn a_test_hangs_that_waits_for_a_task_whose_wakers_are_gone() {
    let run = || checker("one slot").iterations(3);
    let report = run().run(has_one_slot);
    let failure = failed(&report);
    let told = report.text();
    assert!(matches!(failure.kind, FailureKind::Hang { .. }), "{told}");
    assert!(failure.reproduced && failure.step < 20, "{told}");
    assert!(
        told.contains("nothing can wake it, whatever else"),
        "{told}"
    );
    assert!(!told.contains("in other schedules"), "{told}");
    let replayed = run().replay(failure.token.clone()).run(has_one_slot);
    assert_eq!(failed(&replayed).kind, failure.kind);
}

/// An answer is asked for while the receiver of requests is dropped.
async fn asks_who_leaves() {
    let (requests, inbox) = mpsc::unbounded_channel();
    let leaves = spawn(async move { drop(inbox) });
    let (sender, answer) = oneshot::channel::<()>();
    if requests.send(sender).is_ok() {
        let _ = answer.await;
    }
    leaves.await.unwrap();
}

/// `send` looks for the receiver and then puts the request, in which the sender of the answer stays.
#[test]
fn a_request_that_nobody_receives_is_told_with_what_leaves_it_out() {
    let report = checker("asks")
        .granularity(Granularity::Spawn)
        .run(asks_who_leaves);
    let text = report.text();
    assert_eq!(failed(&report).kind.class(), "deadlock", "{text}");
    assert!(text.contains("1 message(s) in mpsc"), "{text}");
    assert!(text.contains("CCT_GRANULARITY=op leaves it out"), "{text}");
    checker("asks")
        .granularity(Granularity::Op)
        .run(asks_who_leaves)
        .assert_passed();
}

/// What the test waits for comes late, by a timer that is set before the heart has beaten so often.
#[test]
fn a_timer_that_is_still_to_fire_may_bring_it() {
    let late = |after: Duration| {
        let checker = checker("late").iterations(32);
        checker.run(move || async move {
            spawn(heart());
            let (sender, answer) = oneshot::channel();
            let wait = match nondet::choose(4) {
                3 => after,
                _ => Duration::from_secs(2),
            };
            spawn(async move {
                sleep(wait).await;
                let _ = sender.send(());
            });
            // No more than the time to come is lost.
            spawn(async move {
                sleep(after).await;
                std::future::pending::<()>().await;
            });
            answer.await.unwrap();
        })
    };
    // Beyond the usual steps and within the raised ones, and beyond those.
    for days in [0.5, 2.0] {
        let report = late(Duration::from_secs_f64(days * 86_400.0));
        assert!(report.passed(), "{}", report.text());
        assert!(report.cut() > 0);
    }
}

/// Once every timer has fired that was set by then, what it waits for does not come any more.
#[test]
fn a_timer_that_brings_nothing_hides_no_hang() {
    let report = checker("hangs all the same").iterations(32).run(|| async {
        spawn(async {
            sleep(Duration::from_secs(36_000)).await;
            std::future::pending::<()>().await;
        });
        asks().await;
    });
    let failure = failed(&report);
    let kind = &failure.kind;
    assert!(
        matches!(kind, FailureKind::Hang { .. }),
        "{}",
        report.text()
    );
}

/// The test waits for a task of a set that nobody drives, beside a heart.
#[test]
fn a_task_that_nobody_drives_hangs_whoever_waits_for_it() {
    let report = checker("undriven").iterations(32).run(|| async {
        spawn(heart());
        let set = LocalSet::new();
        let task = set.spawn_local(async {});
        match nondet::choose(4) {
            3 => task.await.unwrap(),
            _ => set.await,
        }
    });
    let failure = failed(&report);
    let hangs = matches!(failure.kind, FailureKind::Hang { .. });
    assert!(hangs, "{}", report.text());
}
