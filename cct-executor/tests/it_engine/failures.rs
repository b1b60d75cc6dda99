//! Each kind of failure, and what its report says.

use crate::{checker, failed, panic_text};
use cct_executor::runtime::Handle;
use cct_executor::task::{self, JoinSet, spawn_blocking, yield_now};
use cct_executor::time::sleep;
use cct_executor::words::{FailureKind, Granularity, Limit};
use cct_executor::{Checker, Report, nondet, spawn};
use cct_sync::{Mutex, Notify, mpsc, oneshot};
use std::convert::Infallible;
use std::future::pending;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

#[track_caller]
fn panicked(report: &Report) -> (&str, &str) {
    match &failed(report).kind {
        FailureKind::Panic { message, location } => {
            (message, location.as_deref().expect("a location"))
        }
        other => panic!("{other}"),
    }
}

#[test]
fn a_panic_has_message_and_place() {
    let report = checker("panics").iterations(5).run(|| async {
        if true {
            panic!("number {}", line!());
        }
    });
    let (message, location) = panicked(&report);
    let line = message.strip_prefix("number ").expect("the message");
    assert!(
        location.starts_with(&format!("{}:{line}:", file!())),
        "{location} {line}"
    );
    assert_eq!((report.iterations(), failed(&report).iteration()), (1, 0));
}

#[test]
fn the_place_is_that_of_the_panic_that_counts() {
    let caught = || assert!(std::panic::catch_unwind(|| panic!("an earlier one")).is_err());
    let report = checker("caught before").run(move || async move {
        caught();
        yield_now().await;
        let line = line!() + 1;
        let other = spawn(async { panic!("{}", line!()) });
        caught();
        assert!(line > 0);
        pending::<()>().await;
        drop(other);
    });
    let (message, location) = panicked(&report);
    assert!(
        location.starts_with(&format!("{}:{message}:", file!())),
        "{location} {message}"
    );
}

#[test]
fn a_panic_that_is_raised_again_has_its_first_place() {
    let report = checker("resumed").run(|| async {
        let task = spawn(async { panic!("{}", line!()) });
        let error: cct_executor::task::JoinError = task.await.unwrap_err();
        let _ = std::panic::catch_unwind(|| panic!("another one"));
        if true {
            std::panic::resume_unwind(error.into_panic());
        }
    });
    let (message, location) = panicked(&report);
    assert!(
        location.starts_with(&format!("{}:{message}:", file!())),
        "{location} {message}"
    );
}

#[test]
fn ids_are_the_numbers_that_the_report_gives_tasks() {
    let report = checker("ids").run(|| async {
        let fine = spawn(async { task::id().to_string() });
        let fails = spawn(async { panic!("no") });
        assert_eq!(fine.await.unwrap(), "1");
        fails.await.unwrap();
    });
    let (message, _) = panicked(&report);
    assert!(message.contains("JoinError::Panic(Id(2)"), "{message}");
    assert!(report.text().contains("join task 2"), "{}", report.text());
}

#[test]
fn a_panic_that_tells_of_others_has_their_places_too() {
    let report = checker("handed on").run(|| async {
        // One of the same text, which has nothing to do with it.
        assert!(std::panic::catch_unwind(|| panic!("another one")).is_err());
        let middle = spawn(async {
            let inner = spawn(async {
                panic!("a \"quoted\" cause\nof two lines");
            });
            inner.await.expect("no inner one");
        });
        middle.await.unwrap();
    });
    let (message, _) = panicked(&report);
    let lines: Vec<&str> = message.lines().collect();
    let places = lines.iter().filter(|line| line.contains(file!()));
    assert_eq!(places.count(), 2, "{message}");
    assert!(lines[1].starts_with("  which was a panic at "), "{message}");
    assert!(lines[1].contains("no inner one"), "{message}");
    assert!(lines[2].starts_with("  which was a panic at "), "{message}");
    assert!(
        lines[2].ends_with("a \"quoted\" cause") && lines[3] == "of two lines",
        "{message}"
    );
    assert!(!message.contains("another"), "{message}");
}

#[test]
fn a_detached_panic_fails_and_names_the_task() {
    let report = checker("detached").run(|| async {
        drop(
            cct_executor::task::Builder::new()
                .name("clerk")
                .spawn(async {
                    yield_now().await;
                    panic!("nobody hears");
                }),
        );
        sleep(Duration::from_secs(1)).await;
    });
    assert_eq!(panicked(&report).0, "nobody hears");
    assert!(report.text().contains("`clerk`"), "{}", report.text());
}

/// The channel is closed under a task that was aborted in the middle of a poll: whoever has aborted it does not care.
/// Before the abort it is a failure, and so is what the abort itself brings about.
#[test]
fn a_panic_in_the_poll_that_an_abort_comes_into_is_no_failure() {
    let run = |abort_first: bool, bad_drop: bool| {
        let report = checker("aborted").granularity(Granularity::Op);
        report.iterations(200).run(move || async move {
            let (sender, mut receiver) = cct_sync::mpsc::channel(4);
            let task = spawn(async move {
                let _bad = Bad(bad_drop);
                for i in 0..3 {
                    assert!(sender.send(i).await.is_ok(), "nobody there");
                }
                pending::<()>().await;
            });
            assert_eq!(receiver.recv().await, Some(0));
            if abort_first {
                task.abort();
                drop((task, receiver));
            } else {
                drop((receiver, task));
            }
            sleep(Duration::from_millis(5)).await;
        })
    };
    let report = run(true, false);
    assert!(report.passed(), "{}", report.text());
    assert_eq!(panicked(&run(false, false)).0, "nobody there");
    assert_eq!(panicked(&run(true, true)).0, "a bad destructor");
}

/// Panics when it is dropped, unless a panic drops it.
struct Bad(bool);

impl Drop for Bad {
    fn drop(&mut self) {
        assert!(!self.0 || std::thread::panicking(), "a bad destructor");
    }
}

#[test]
fn a_joined_panic_passes_and_is_counted() {
    let report = checker("joined").iterations(3).run(|| async {
        let error = spawn(async { panic!("heard") }).await.unwrap_err();
        assert!(error.is_panic());
        assert_eq!(error.into_panic().downcast_ref::<&str>(), Some(&"heard"));
        let mut set = JoinSet::new();
        set.spawn_blocking(|| panic!("heard too"));
        assert!(set.join_next().await.unwrap().unwrap_err().is_panic());
    });
    assert!(report.passed(), "{}", report.text());
    assert_eq!(report.coverage.joined_panics, 6);
    assert!(
        report
            .text()
            .contains("6 task panics were returned to whoever joined the task")
    );
}

#[test]
fn a_handle_dropped_after_the_panic_fails() {
    let report = checker("dropped").run(|| async {
        let task = spawn(async { panic!("unheard") });
        while !task.is_finished() {
            yield_now().await;
        }
        drop(task);
        sleep(Duration::from_secs(1)).await;
    });
    assert_eq!(panicked(&report).0, "unheard");
}

#[test]
fn a_panic_nobody_has_asked_for_at_the_end_fails() {
    let report = checker("kept").run(|| async {
        let task = spawn(async { panic!("kept") });
        sleep(Duration::from_secs(1)).await;
        assert!(task.is_finished());
    });
    assert_eq!(panicked(&report).0, "kept");
}

#[test]
fn an_error_fails_with_its_debug_text() {
    let report = checker("error").run(|| async { Err::<(), _>(Some("as Debug")) });
    let FailureKind::Error { message } = &failed(&report).kind else {
        panic!("{report:?}")
    };
    assert_eq!(message, "Some(\"as Debug\")");
    let nested = checker("nested").run(|| async { Ok::<_, ()>(Err::<(), _>(3)) });
    assert_eq!(
        failed(&nested).kind,
        FailureKind::Error {
            message: "3".to_owned()
        }
    );
    let fine = checker("fine")
        .iterations(2)
        .run(|| async { Ok::<_, ()>(Ok::<(), u32>(())) });
    assert!(fine.passed());
}

/// Two tasks that take two mutexes in opposite orders.
async fn abba() {
    let first = Arc::new(Mutex::new(()));
    let second = Arc::new(Mutex::new(()));
    let (one, two) = (first.clone(), second.clone());
    let left = cct_executor::task::Builder::new()
        .name("left")
        .spawn(async move {
            let _one = one.lock().await;
            let _two = two.lock().await;
        });
    let right = cct_executor::task::Builder::new()
        .name("right")
        .spawn(async move {
            let _two = second.lock().await;
            let _one = first.lock().await;
        });
    left.unwrap().await.unwrap();
    right.unwrap().await.unwrap();
}

#[test]
fn a_deadlock_names_its_cycle_with_holders_and_places() {
    let report = checker("abba").run(abba);
    let failure = failed(&report);
    assert_eq!(
        failure.kind,
        FailureKind::Deadlock { waiting: 3 },
        "{}",
        report.text()
    );
    assert_eq!(failure.explanation.cycles, [vec![1, 2]]);
    let text = report.text();
    assert!(text.contains("CYCLE: task 1 `left` waits for task 2 `right` waits for task 1 `left`"));
    for task in &failure.explanation.tasks[1..] {
        let wait = &task.waits[0];
        assert_eq!((task.waits.len(), wait.op.as_str()), (1, "lock"), "{text}");
        let holder = &wait.holders[0];
        assert_eq!(holder.task, Some(3 - task.task), "{text}");
        assert!(wait.site.starts_with(file!()), "{text}");
        let since = holder.site.as_deref().expect("a place");
        assert!(since.starts_with(file!()) && since != wait.site, "{text}");
    }
    let main = &failure.explanation.tasks[0];
    assert_eq!(
        (main.waits[0].op.as_str(), main.waits[0].holders[0].task),
        ("join", Some(1))
    );
    // Under granularity `await` nobody can come between two locks that are free.
    let quiet = checker("abba")
        .granularity(cct_executor::Granularity::Await)
        .run(abba);
    assert!(quiet.passed(), "{}", quiet.text());
}

#[test]
fn a_deadlock_beside_tasks_that_wait_for_it() {
    let report = checker("partial").iterations(300).run(|| async {
        let (sender, receiver) = oneshot::channel::<()>();
        let knot = spawn(abba());
        let waits = spawn(async move {
            let _ = receiver.await;
        });
        for _ in 0..3 {
            sleep(Duration::from_millis(1)).await;
        }
        knot.await.unwrap();
        drop(sender);
        waits.await.unwrap();
    });
    let failure = failed(&report);
    assert_eq!(
        failure.kind,
        FailureKind::Deadlock { waiting: 5 },
        "{}",
        report.text()
    );
    assert_eq!(failure.explanation.cycles.len(), 1, "{}", report.text());
    assert_eq!(failure.explanation.cycles[0].len(), 2);
    assert!(report.text().contains("recv") || report.text().contains("oneshot"));
}

#[test]
fn a_task_that_waits_for_itself() {
    let report = checker("itself").run(|| async {
        let mutex = Mutex::new(());
        let _first = mutex.lock().await;
        let _second = mutex.lock().await;
    });
    assert_eq!(failed(&report).kind, FailureKind::Deadlock { waiting: 1 });
    assert_eq!(
        failed(&report).explanation.cycles,
        [vec![0]],
        "{}",
        report.text()
    );
}

#[test]
fn a_wait_unknown_to_cct_says_so() {
    let report = checker("unknown").run(pending::<()>);
    assert_eq!(failed(&report).kind, FailureKind::Deadlock { waiting: 1 });
    assert!(
        report.text().contains("for something cct does not know"),
        "{}",
        report.text()
    );
}

#[test]
fn a_broken_invariant_fails_even_in_a_detached_task() {
    let report = checker("always").run(|| async {
        drop(spawn(async {
            yield_now().await;
            let caught = std::panic::catch_unwind(|| {
                cct_executor::always!(1 + 1 == 3, "sums are {}", "wrong");
            });
            assert!(caught.is_ok());
        }));
        sleep(Duration::from_secs(1)).await;
    });
    let FailureKind::Broken { message, location } = &failed(&report).kind else {
        panic!("{}", report.text())
    };
    assert_eq!(message, "sums are wrong");
    assert!(location.starts_with(file!()), "{location}");
}

#[test]
fn leaks_fail_where_asked_for() {
    let leaky = || async {
        drop(spawn(pending::<()>()));
        drop(spawn(pending::<()>()));
        spawn(async {}).await.unwrap();
    };
    let report = checker("leaks").fail_on_leak(true).run(leaky);
    assert_eq!(failed(&report).kind, FailureKind::Leaked { tasks: 2 });
    let report = checker("leaks").iterations(4).run(leaky);
    assert!(report.passed());
    assert_eq!(report.coverage.leaky, 4);
}

/// The last thing a scenario does is to drop what it holds.
#[test]
fn tasks_that_were_aborted_are_no_leak() {
    let orderly = || async {
        let mut set = JoinSet::new();
        set.spawn(pending::<()>());
        set.spawn(async { yield_now().await });
        spawn(pending::<()>()).abort();
        yield_now().await;
    };
    let report = checker("orderly").fail_on_leak(true).run(orderly);
    assert!(report.passed(), "{}", report.text());
    assert_eq!(report.coverage.leaky, 0);
    // A closure that has begun cannot be aborted.
    let begun = || async {
        let never = Arc::new(Notify::new());
        let begins = Arc::new(Notify::new());
        let (begun, ends) = (begins.clone(), never.clone());
        let task = spawn_blocking(move || {
            begun.notify_one();
            Handle::current().block_on(ends.notified());
        });
        begins.notified().await;
        task.abort();
    };
    let report = checker("begun").fail_on_leak(true).run(begun);
    assert_eq!(failed(&report).kind, FailureKind::Leaked { tasks: 1 });
}

#[track_caller]
fn limited(limit: Limit, prepare: fn(Checker) -> Checker, scenario: fn() -> crate::Boxed) {
    let report = prepare(checker("limited")).iterations(3).run(scenario);
    assert!(report.passed(), "{}", report.text());
    assert_eq!(
        report.coverage.cut.get(&limit),
        Some(&3),
        "{}",
        report.text()
    );
    assert!(
        report.text().contains(&format!("cut: 3 at the {limit}")),
        "{}",
        report.text()
    );
    let report = prepare(checker("limited"))
        .fail_on_limit(true)
        .run(scenario);
    let failure = failed(&report);
    assert_eq!(failure.kind, FailureKind::LimitReached(limit));
    assert!(failure.reproduced, "{}", report.text());
}

#[test]
fn limits_cut_and_are_counted_or_fail() {
    limited(
        Limit::Steps,
        |c| c.max_steps(50),
        || {
            Box::pin(async {
                loop {
                    yield_now().await;
                }
            })
        },
    );
    limited(
        Limit::Steps,
        |c| c.max_steps(50),
        || {
            Box::pin(async {
                let mutex = Mutex::new(0);
                loop {
                    *mutex.lock().await += 1;
                }
            })
        },
    );
    limited(
        Limit::Steps,
        |c| c.max_steps(50),
        || {
            Box::pin(async {
                loop {
                    let _ = nondet::boolean();
                }
            })
        },
    );
    limited(
        Limit::Tasks,
        |c| c.max_tasks(10),
        || {
            Box::pin(async {
                let mut set = JoinSet::new();
                loop {
                    set.spawn(pending::<()>());
                }
            })
        },
    );
    limited(
        Limit::Tasks,
        |c| c.max_tasks(10),
        || {
            Box::pin(async {
                loop {
                    spawn_blocking(|| ()).await.unwrap();
                }
            })
        },
    );
    limited(
        Limit::Time,
        |c| c.max_time(Duration::from_secs(5)),
        || {
            Box::pin(async {
                let (_sender, mut receiver) = mpsc::channel::<()>(1);
                let _ = cct_executor::time::timeout(Duration::from_secs(6), receiver.recv()).await;
            })
        },
    );
}

#[test]
fn a_checker_inside_a_scenario_panics_clearly() {
    let report = checker("nested").run(|| async {
        let _ = checker("inner").run(|| async {});
    });
    let (message, location) = panicked(&report);
    assert!(
        message.starts_with("a Checker cannot run inside a scenario"),
        "{message}"
    );
    assert!(location.starts_with(file!()), "{location}");
    let outside = panic_text(|| {
        checker("fails")
            .run(|| async { assert_eq!(1, 2, "no") })
            .assert_passed()
    });
    assert!(outside.contains("cct: FAILED fails: panic"), "{outside}");
}

#[test]
fn a_scenario_that_never_returns_a_value_is_a_scenario() {
    let report = Checker::new()
        .iterations(3)
        .run(|| async { panic!("at once") });
    assert_eq!(report.failure().unwrap().kind.class(), "panic");
}

/// As with std's tests: a status that is not zero is a failure.
#[test]
fn an_exit_code_is_a_result() {
    let run = |code: u8| {
        let name = format!("exit code {code}");
        checker(&name)
            .iterations(3)
            .run(move || async move { ExitCode::from(code) })
    };
    run(0).assert_passed();
    let text = failed(&run(3)).kind.to_string();
    assert!(text.contains("returned an error: ExitCode"), "{text}");
    assert!(text.contains('3'), "{text}");
    let nested = checker("nested").iterations(3).run(|| async {
        let code: Result<ExitCode, String> = Ok(ExitCode::FAILURE);
        code
    });
    assert!(failed(&nested).kind.to_string().contains("ExitCode"));
}

#[cct_executor::test(iterations = 3)]
async fn a_test_may_return_an_exit_code() -> ExitCode {
    yield_now().await;
    ExitCode::SUCCESS
}

#[cct_executor::test(iterations = 3)]
fn a_test_that_blocks_may_return_one_too() -> Result<ExitCode, Infallible> {
    Ok(ExitCode::SUCCESS)
}
