//! The clocks of the standard library, and what sleeps by them: in virtual time.

use crate::{GRANULARITIES, checker, within};
use cct_executor::__private::current_thread;
use cct_executor::node::node;
use cct_executor::runtime::Builder;
use cct_executor::task::spawn_blocking;
use cct_executor::time::{self, sleep};
use cct_executor::{Granularity, nondet, spawn};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const HOUR: Duration = Duration::from_secs(3600);

/// Each look at the clock takes a nanosecond, and timers keep whole milliseconds.
#[track_caller]
fn is_about(passed: Duration, expected: Duration) {
    let late = passed.checked_sub(expected);
    let enough = Duration::from_millis(2);
    assert!(
        late.is_some_and(|late| late <= enough),
        "{passed:?}, not {expected:?}"
    );
}

/// Passes at these granularities, twice the same, and at once.
#[track_caller]
fn passes_at<F>(granularities: &'static [Granularity], scenario: fn() -> F)
where
    F: Future<Output = ()> + 'static,
{
    if !cct_interpose::CONTROLLED {
        return;
    }
    for &granularity in granularities {
        let report = within(60, move || {
            let checker = checker("clocks").iterations(20).granularity(granularity);
            checker.determinism_check(true).run(scenario)
        });
        report.assert_passed();
    }
}

#[test]
fn instants_and_dates_are_virtual() {
    passes_at(&GRANULARITIES, || async {
        let (instant, date, own) = (Instant::now(), SystemTime::now(), time::Instant::now());
        sleep(HOUR).await;
        is_about(instant.elapsed(), HOUR);
        is_about(date.elapsed().unwrap(), HOUR);
        is_about(
            instant.saturating_duration_since(own.into_std()),
            Duration::ZERO,
        );
        let (first, second) = (Instant::now(), Instant::now());
        assert!(first < second);
        let (first, second) = (SystemTime::now(), SystemTime::now());
        assert!(first < second);
        let begin = date.duration_since(UNIX_EPOCH).unwrap();
        assert_eq!(begin.as_secs(), 1_793_491_200);
    });
}

#[test]
fn outside_of_worlds_clocks_are_the_systems() {
    let before = Instant::now();
    checker("hours")
        .iterations(3)
        .run(|| sleep(HOUR))
        .assert_passed();
    assert!(before.elapsed() < HOUR);
    // This was written later than that.
    let november_2026 = UNIX_EPOCH + Duration::from_secs(1_793_491_200);
    assert!(SystemTime::now().duration_since(november_2026).unwrap() > 24 * HOUR);
}

#[test]
fn each_node_has_its_clock() {
    passes_at(&GRANULARITIES, || async {
        let ahead = node("ahead").clock_ahead(HOUR).start(|| async {});
        let there = ahead.spawn(async { SystemTime::now() }).await.unwrap();
        is_about(
            SystemTime::now().duration_since(there - 2 * HOUR).unwrap(),
            HOUR,
        );
    });
}

#[test]
fn a_thread_that_sleeps_lets_others_go_on() {
    passes_at(&[Granularity::Op, Granularity::Sync], || async {
        let begin = Instant::now();
        let sleeper = spawn_blocking(move || {
            thread::sleep(HOUR);
            begin.elapsed()
        });
        let other = spawn(async move {
            thread::sleep(HOUR / 2);
            begin.elapsed()
        });
        is_about(other.await.unwrap(), HOUR / 2);
        is_about(begin.elapsed(), HOUR / 2);
        is_about(sleeper.await.unwrap(), HOUR);
    });
}

#[test]
fn on_one_thread_nobody_goes_on_while_it_sleeps() {
    passes_at(&[Granularity::Await], || async {
        let begin = Instant::now();
        let other = spawn(async move {
            sleep(HOUR / 2).await;
            begin.elapsed()
        });
        thread::sleep(HOUR);
        is_about(begin.elapsed(), HOUR);
        assert!(other.await.unwrap() >= HOUR);
    });
}

/// Even where no poll is suspended: the closure has a thread of its own. It may hold a lock meanwhile, which is waited for.
#[test]
fn a_closure_that_sleeps_lets_others_go_on() {
    passes_at(&[Granularity::Await, Granularity::Op], || async {
        let (told, lock) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(0)));
        let (theirs, held) = (told.clone(), lock.clone());
        let closure = spawn_blocking(move || {
            let mut held = held.lock().unwrap();
            thread::sleep(HOUR);
            *held += 1;
            theirs.load(SeqCst)
        });
        sleep(HOUR / 2).await;
        told.store(true, SeqCst);
        assert_eq!(*lock.lock().unwrap(), 1);
        assert!(closure.await.unwrap());
    });
}

#[test]
fn what_is_on_one_thread_sleeps_one_after_the_other() {
    async fn nap() {
        thread::sleep(HOUR);
    }
    passes_at(&[Granularity::Op, Granularity::Sync], || async {
        for (workers, hours) in [(1, 2), (2, 1)] {
            let mut builder = Builder::new_multi_thread();
            let runtime = builder.worker_threads(workers).build().unwrap();
            let begin = Instant::now();
            let tasks = [runtime.spawn(nap()), runtime.spawn(nap())];
            // Neither a thread of the pool nor this one is the runtime's.
            let pool = runtime.spawn_blocking(|| thread::sleep(HOUR));
            thread::sleep(HOUR / 2);
            is_about(begin.elapsed(), HOUR / 2);
            pool.await.unwrap();
            is_about(begin.elapsed(), HOUR);
            for task in tasks {
                task.await.unwrap();
            }
            is_about(begin.elapsed(), HOUR * hours);
            runtime.shutdown_background();
        }
    });
    passes_at(&[Granularity::Op, Granularity::Sync], || {
        current_thread(async {
            let begin = Instant::now();
            let task = spawn(nap());
            nap().await;
            task.await.unwrap();
            is_about(begin.elapsed(), 2 * HOUR);
        })
    });
}

#[test]
fn spinning_until_it_is_late_comes_to_an_end() {
    passes_at(&GRANULARITIES, || async {
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_millis(3) {
            std::hint::spin_loop();
        }
        let before = Instant::now();
        nondet::point();
        assert!(Instant::now() >= before);
    });
}

/// As all clocks go on while a thread is busy; but for tokio's, where that is frozen.
#[test]
fn virtual_time_passes_for_who_spins() {
    async fn spin() -> Duration {
        let (begin, own) = (Instant::now(), time::Instant::now());
        while begin.elapsed() < Duration::from_millis(20) {}
        own.elapsed()
    }
    passes_at(&GRANULARITIES, || async {
        let limit = time::timeout(Duration::from_millis(10), std::future::pending::<()>());
        let waits = spawn(limit);
        sleep(Duration::from_millis(1)).await;
        let spun = spin().await;
        assert!(spun >= Duration::from_millis(18), "{spun:?}");
        assert!(spun <= Duration::from_millis(20), "{spun:?}");
        let begin = time::Instant::now();
        assert!(waits.await.unwrap().is_err());
        assert_eq!(begin.elapsed(), Duration::ZERO, "it was due");
        time::pause();
        assert_eq!(spin().await, Duration::ZERO);
    });
}

#[test]
fn waits_end_in_virtual_time() {
    passes_at(&GRANULARITIES, || async {
        let begin = Instant::now();
        let (lock, condition) = (Mutex::new(()), Condvar::new());
        let (_guard, outcome) = condition.wait_timeout(lock.lock().unwrap(), HOUR).unwrap();
        assert!(outcome.timed_out());
        is_about(begin.elapsed(), HOUR);
        let (_sender, receiver) = mpsc::channel::<()>();
        assert!(receiver.recv_timeout(HOUR).is_err());
        is_about(begin.elapsed(), 2 * HOUR);
    });
}

#[test]
fn a_wait_ends_early_when_another_task_sees_to_it() {
    passes_at(&[Granularity::Op, Granularity::Sync], || async {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let theirs = shared.clone();
        let waiter = spawn_blocking(move || {
            let begin = Instant::now();
            let guard = theirs.0.lock().unwrap();
            let (done, _) = (theirs.1)
                .wait_timeout_while(guard, HOUR, |done| !*done)
                .unwrap();
            (*done, begin.elapsed())
        });
        sleep(Duration::from_secs(5)).await;
        *shared.0.lock().unwrap() = true;
        shared.1.notify_one();
        let (done, after) = waiter.await.unwrap();
        assert!(done);
        assert!(after <= Duration::from_millis(5_002), "{after:?}");
    });
}

/// A time limit ends a wait also while the world is torn down.
#[test]
fn sleepers_do_not_hold_up_the_end() {
    passes_at(&GRANULARITIES, || async {
        let begun = Arc::new(AtomicBool::new(false));
        let theirs = begun.clone();
        drop(spawn_blocking(move || {
            theirs.store(true, SeqCst);
            thread::sleep(100 * HOUR);
        }));
        nondet::point();
        let _ = begun.load(SeqCst);
    });
}

/// As on tokio: who freezes its clock freezes no other, and moves no other when time is skipped.
#[test]
fn time_that_is_skipped_passes_for_tokio_alone() {
    passes_at(&GRANULARITIES, || async {
        sleep(HOUR).await;
        time::pause();
        let (begin, wall, own) = (Instant::now(), SystemTime::now(), time::Instant::now());
        sleep(HOUR).await;
        time::advance(HOUR).await;
        is_about(own.elapsed(), 2 * HOUR);
        is_about(begin.elapsed(), Duration::ZERO);
        is_about(wall.elapsed().unwrap(), Duration::ZERO);
        // Threads wait by their own.
        thread::sleep(HOUR);
        let (_sender, receiver) = mpsc::channel::<()>();
        assert!(receiver.recv_timeout(HOUR).is_err());
        is_about(begin.elapsed(), 2 * HOUR);
        time::resume();
        sleep(HOUR).await;
        is_about(begin.elapsed(), 3 * HOUR);
        is_about(wall.elapsed().unwrap(), 3 * HOUR);
    });
}
