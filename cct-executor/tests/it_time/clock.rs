use crate::{checker, panic_text, poll_once};
use cct_executor::{Checker, time};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

both! {
    async fn advancing_fires_what_is_due_and_no_more() {
        use subject::time::{Instant, advance, sleep};
        let start = Instant::now();
        let mut near = Box::pin(sleep(MS * 5));
        let mut far = Box::pin(sleep(MS * 50));
        assert!(poll_once(&mut near).await.is_pending());
        assert!(poll_once(&mut far).await.is_pending());
        advance(MS * 5).await;
        assert_eq!(start.elapsed(), MS * 5);
        assert!(poll_once(&mut near).await.is_ready());
        assert!(poll_once(&mut far).await.is_pending());
        advance(MS * 100).await;
        assert_eq!(start.elapsed(), MS * 105);
        assert!(poll_once(&mut far).await.is_ready());
    }

    async fn part_of_a_millisecond_fires_nothing() {
        use subject::time::{advance, sleep};
        let mut timer = Box::pin(sleep(MS));
        assert!(poll_once(&mut timer).await.is_pending());
        advance(MS / 2).await;
        assert!(poll_once(&mut timer).await.is_pending());
        advance(MS / 2).await;
        assert!(poll_once(&mut timer).await.is_ready());
    }

    async fn the_clock_is_frozen_once() {
        use subject::time::{pause, resume};
        assert_eq!(panic_text(pause), "time is already frozen");
        resume();
        assert_eq!(panic_text(resume), "time is not frozen");
        let moved = subject::spawn(subject::time::advance(MS)).await;
        assert!(moved.is_err_and(|error| error.to_string().contains("time is not frozen")));
        pause();
        let start = subject::time::Instant::now();
        subject::time::advance(MS).await;
        assert_eq!(start.elapsed(), MS);
    }
}

#[test]
fn every_iteration_begins_at_zero() {
    checker("zero")
        .run(|| async {
            assert_eq!(format!("{:?}", time::Instant::now()), "Instant(0ns)");
            time::sleep(Duration::from_secs(90)).await;
            assert_eq!(format!("{:?}", time::Instant::now()), "Instant(90s)");
            let std = time::Instant::now().into_std();
            assert_eq!(time::Instant::from_std(std), time::Instant::now());
        })
        .assert_passed();
}

#[test]
fn the_clock_is_not_frozen_unless_asked() {
    Checker::new()
        .use_environment(false)
        .iterations(3)
        .run(|| async {
            assert_eq!(panic_text(time::resume), "time is not frozen");
            time::pause();
            time::resume();
        })
        .assert_passed();
}

#[test]
fn outside_a_world_the_clock_cannot_be_frozen() {
    let text = panic_text(time::pause);
    assert!(
        text.starts_with("there is no world here: time cannot be frozen"),
        "{text}"
    );
}

/// As code does that has to keep a thread busy. On tokio, whose clock is the system's, it takes that long.
#[test]
fn who_spins_until_it_is_late_sees_time_pass() {
    let report = checker("spins by tokio's clock")
        .start_paused(false)
        .iterations(10)
        .run(|| async {
            let start = time::Instant::now();
            let mut timer = Box::pin(time::sleep(MS * 10));
            assert!(poll_once(&mut timer).await.is_pending());
            while start.elapsed() < MS * 20 {}
            assert!(start.elapsed() < MS * 21);
            time::sleep(MS).await;
            assert!(poll_once(&mut timer).await.is_ready());
            assert_eq!(start.elapsed(), MS * 22); // whole milliseconds, rounded up
        });
    report.assert_passed();
}

/// Nor does it where tokio's does not.
#[test]
fn a_frozen_clock_stands_still_however_often_it_is_looked_at() {
    let report = checker("looks often").iterations(10).run(|| async {
        let start = time::Instant::now();
        for _ in 0..5_000 {
            assert_eq!(start.elapsed(), Duration::ZERO);
        }
    });
    report.assert_passed();
}

/// Timers are no looks, however many are made.
#[test]
fn many_timers_of_one_poll_have_one_deadline() {
    let report = checker("many timers")
        .start_paused(false)
        .iterations(2)
        .run(|| async {
            let start = time::Instant::now();
            let timers: Vec<_> = (0..3_000).map(|_| time::sleep(MS)).collect();
            for timer in timers {
                timer.await;
            }
            assert_eq!(start.elapsed(), MS);
        });
    report.assert_passed();
}

/// tokio's clock is paused on one thread only, where no other poll stands in the middle when it moves: who has sent a question
/// and is about to set its time limit has done so. What has not begun yet may still find that time has passed.
#[test]
fn a_paused_clock_moves_between_polls() {
    let all = std::sync::Arc::new(std::sync::Mutex::new(std::collections::BTreeSet::new()));
    for strategy in ["random", "pct:d=3", "portfolio"] {
        let seen = all.clone();
        let report = checker("between polls")
            .strategy_text(strategy)
            .iterations(300);
        let report = report.run(move || {
            let seen = seen.clone();
            async move {
                let (asks, mut asked) = cct_sync::mpsc::unbounded_channel();
                cct_executor::spawn(async move {
                    let answer: cct_sync::oneshot::Sender<()> = asked.recv().await.unwrap();
                    time::advance(MS * 200).await;
                    time::sleep(MS).await;
                    let _ = answer.send(());
                });
                let late = cct_executor::spawn(async { time::Instant::now() });
                let begin = time::Instant::now();
                let (answer, answered) = cct_sync::oneshot::channel();
                asks.send(answer).unwrap();
                let over = time::timeout(MS * 100, answered).await.is_err();
                assert!(over, "no limit was set before the clock moved");
                let late = late.await.unwrap().duration_since(begin);
                seen.lock().unwrap().insert(late);
            }
        });
        report.assert_passed();
    }
    assert_eq!(*all.lock().unwrap(), [Duration::ZERO, MS * 200].into());
}
