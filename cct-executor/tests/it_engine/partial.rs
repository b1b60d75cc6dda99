//! Tasks that wait for each other while others go on, and what a report says of who ran.

use crate::{checker, failed};
use cct_executor::task::yield_now;
use cct_executor::time::{sleep, timeout};
use cct_executor::words::explanation::TaskState;
use cct_executor::words::{FailureKind, Limit};
use cct_executor::{Checker, Granularity, Report, always, nondet, select, spawn};
use cct_sync::{Mutex, Semaphore};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

async fn one_then_other(one: Arc<Mutex<u8>>, other: Arc<Mutex<u8>>) {
    let _one = one.lock().await;
    let _other = other.lock().await;
}

fn locks() -> (Arc<Mutex<u8>>, Arc<Mutex<u8>>) {
    (Arc::new(Mutex::new(1)), Arc::new(Mutex::new(2)))
}

async fn ticks() {
    loop {
        sleep(Duration::from_millis(5)).await;
    }
}

fn ticking(name: &str) -> Checker {
    checker(name).iterations(64).max_steps(300)
}

fn knot_beside_a_ticker(checker: Checker) -> Report {
    checker.run(|| async {
        let (a, b) = locks();
        let ticker = spawn(ticks());
        let left = spawn(one_then_other(a.clone(), b.clone()));
        let right = spawn(one_then_other(b, a));
        left.await.unwrap();
        right.await.unwrap();
        ticker.abort();
    })
}

#[test]
fn a_knot_beside_a_task_that_goes_on_is_found_and_replays() {
    let report = knot_beside_a_ticker(ticking("knot"));
    let failure = failed(&report);
    let expected = FailureKind::PartialDeadlock {
        waiting: 2,
        limit: Limit::Steps,
    };
    assert_eq!(failure.kind, expected, "{}", report.text());
    assert!(failure.reproduced, "{}", report.text());
    assert_eq!(failure.explanation.cycles, [[2, 3]], "{}", report.text());
    // Each runs as far as to its second lock.
    assert!(failure.shortened.is_some(), "{}", report.text());
    let departures = failure.departures.as_ref().unwrap();
    assert!(departures.len() <= 2, "{}", report.text());
    assert!(failure.step < 20, "{}", report.text());
    assert!(report.text().contains("CYCLE: task 2"), "{}", report.text());
    for workers in [2, 3] {
        let same = knot_beside_a_ticker(ticking("knot").workers(workers));
        assert_eq!(failed(&same).iteration(), failure.iteration());
    }
    let again = knot_beside_a_ticker(ticking("knot").replay(failure.token.clone()));
    assert_eq!(failed(&again).kind, expected, "{}", again.text());
}

#[test]
fn who_can_still_be_set_free_is_no_knot() {
    let patient = |one: Arc<Mutex<u8>>, other: Arc<Mutex<u8>>| async move {
        let _one = one.lock().await;
        sleep(Duration::from_millis(1)).await;
        // In vain here; but some day a timer ends the wait.
        drop(timeout(Duration::from_secs(1 << 20), other.lock()).await);
    };
    let report = ticking("timer").run(move || async move {
        let (a, b) = locks();
        spawn(patient(a.clone(), b.clone()));
        spawn(patient(b, a));
        ticks().await;
    });
    assert!(report.passed(), "{}", report.text());
    assert_eq!(report.cut(), 64, "{}", report.text());

    // Anybody may add permits.
    let report = ticking("permits").run(|| async {
        let permits = Arc::new(Semaphore::new(1));
        let more = permits.clone();
        spawn(async move {
            let _first = permits.acquire().await.unwrap();
            let _second = permits.acquire().await.unwrap();
        });
        sleep(Duration::from_millis(5 * 400)).await;
        more.add_permits(1);
        ticks().await;
    });
    assert!(report.passed(), "{}", report.text());
}

#[test]
fn the_task_that_ran_is_not_said_to_wait() {
    let report = checker("broken").run(|| async {
        yield_now().await;
        always!(nondet::choose(3) > 2, "never true");
    });
    let main = &failed(&report).explanation.tasks[0];
    assert_eq!(main.state, TaskState::Running, "{}", report.text());
    assert!(report.text().contains("was running; last operation: yield"));

    let report = checker("too many")
        .max_tasks(2)
        .fail_on_limit(true)
        .run(|| async {
            for _ in 0..3 {
                spawn(std::future::pending::<()>());
            }
            sleep(Duration::from_secs(1)).await;
        });
    let main = &failed(&report).explanation.tasks[0];
    assert_eq!(main.state, TaskState::Running, "{}", report.text());
}

#[test]
fn choices_are_shown_with_their_place() {
    let report = checker("places").run(|| async {
        let number = nondet::choose(3);
        let which = nondet::pick(&[1, 2]);
        let odds = nondet::weighted(&[1, 2]);
        let first = select! {
            () = async {} => 0,
            () = async {} => 1,
        };
        panic!("{number} {which} {odds} {first} {}", nondet::boolean());
    });
    let steps = &failed(&report).explanation.steps;
    let choices: Vec<_> = steps
        .iter()
        .filter(|s| s.what.starts_with("choose"))
        .collect();
    assert_eq!(choices.len(), 5, "{}", report.text());
    for step in choices {
        let site = step.site.as_deref().unwrap_or_default();
        assert!(site.starts_with(file!()), "{site} {}", report.text());
    }
    assert!(report.text().contains(" choose = "), "{}", report.text());
}

#[test]
fn the_line_to_replay_names_the_test_that_runs() {
    let line_on = |thread: &str| {
        let thread = std::thread::Builder::new().name(thread.to_owned());
        let run = || Checker::new().run(|| async { panic!("at once") });
        let report = thread.spawn(run).unwrap().join().unwrap();
        let token = failed(&report).token.to_string();
        (report.text(), format!("replay: CCT_REPLAY={token} "))
    };
    let (text, begin) = line_on("rooms::a_test"); // as the harness names its threads
    let line = format!("{begin}cargo test rooms::a_test -- --exact\n");
    assert!(text.contains(&line), "{text}");
    // Whoever heeds no variables needs other means.
    let report = checker("deaf").run(|| async { panic!("at once") });
    let line = format!(
        "replay: `Checker::replay` with the token {}\n",
        failed(&report).token
    );
    assert!(report.text().contains(&line), "{}", report.text());
    // Elsewhere nobody knows which test this is.
    for thread in ["main", "worker 7"] {
        let (text, begin) = line_on(thread);
        assert!(
            text.contains(&format!("{begin}and the same command again\n")),
            "{text}"
        );
    }
}

#[test]
fn at_sync_a_task_may_end_right_before_somebody_looks() {
    let turned = |granularity| {
        let turned = Arc::new(AtomicU32::new(0));
        let count = turned.clone();
        let report = checker("looks").granularity(granularity).run(move || {
            let count = count.clone();
            async move {
                let handle = spawn(async {});
                let abort = handle.abort_handle();
                let looks = [
                    handle.is_finished(),
                    handle.is_finished(),
                    abort.is_finished(),
                ];
                assert!(looks.is_sorted(), "what has ended has ended");
                count.fetch_add(u32::from(!looks[0] && looks[1]), SeqCst);
                count.fetch_add(u32::from(!looks[1] && looks[2]), SeqCst);
            }
        });
        report.assert_passed();
        turned.load(SeqCst)
    };
    assert_eq!(turned(Granularity::Op), 0);
    assert!(turned(Granularity::Sync) > 100);
}

/// A guard that a task has given away is in other hands, which are held back or sleep when the iteration is cut.
#[test]
fn who_gave_a_guard_away_does_not_wait_for_himself() {
    for after in [Duration::ZERO, Duration::from_secs(3600)] {
        let report = ticking("given away").run(move || async move {
            let lock = Arc::new(Mutex::new(()));
            let guard = lock.clone().lock_owned().await;
            spawn(ticks());
            spawn(async move {
                sleep(after).await;
                drop(guard);
            });
            let _guard = lock.lock().await;
        });
        assert!(report.passed(), "{}", report.text());
        assert_eq!(report.cut() > 0, after > Duration::ZERO);
    }
}

/// Another branch of the task holds the lock, and waits for what cct does not know.
#[test]
fn a_task_that_others_can_wake_is_in_no_knot() {
    let report = ticking("branches").run(|| async {
        let lock = Mutex::new(());
        let (sender, receiver) = futures::channel::oneshot::channel();
        spawn(async move {
            sleep(Duration::from_secs(3600)).await;
            let _ = sender.send(());
        });
        spawn(ticks());
        let holds = async {
            let _guard = lock.lock().await;
            let _ = receiver.await;
        };
        let waits = async {
            yield_now().await;
            drop(lock.lock().await);
        };
        cct_executor::join!(holds, waits);
    });
    assert!(report.passed(), "{}", report.text());
    assert!(report.cut() > 0);
}

/// The holder is certain to have it while it has given nothing away, also by a guard that it could give away.
#[test]
fn guards_that_could_be_given_away_close_a_circle_where_nothing_else_goes_on() {
    let report = checker("owned").run(|| async {
        let (a, b) = locks();
        let both = [(a.clone(), b.clone()), (b, a)].map(|(one, other)| {
            spawn(async move {
                let _one = one.lock_owned().await;
                let _other = other.lock_owned().await;
            })
        });
        for task in both {
            task.await.unwrap();
        }
    });
    let failure = failed(&report);
    assert!(matches!(failure.kind, FailureKind::Deadlock { .. }));
    assert_eq!(failure.explanation.cycles, [[1, 2]], "{}", report.text());
}
