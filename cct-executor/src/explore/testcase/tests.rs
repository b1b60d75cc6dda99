//! What becomes of tests: what is remembered, and limits that nobody has chosen.

use super::*;
use crate::shim::{ActionSource, source};
use crate::task::yield_now;
use crate::words::Limits;
use std::fs;
use std::time::Duration;

/// A test in a directory of its own, gone when this is dropped.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let name = format!("cct-testcase-{}-{name}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("bank.rs"), "").unwrap();
        Place(directory)
    }

    fn case(&self, should_panic: bool) -> TestCase {
        TestCase {
            name: "bank::transfer",
            manifest_dir: self.0.to_str().unwrap().to_owned().leak(),
            file: "bank.rs",
            line: 1,
            should_panic: should_panic.then_some(""),
            of_tokio: false,
        }
    }

    fn regressions(&self) -> PathBuf {
        self.0.join("bank.cct-regressions")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[track_caller]
fn checker() -> Checker {
    let checker = Checker::new().iterations(1).use_environment(false);
    checker.usual_steps(USUAL_STEPS)
}

/// Less than it is, as nothing is optimised here.
const USUAL_STEPS: u64 = 10_000;
const MORE_STEPS: u64 = 10 * USUAL_STEPS;

/// Whether the report speaks of the file, written or not, as the environment says.
fn speaks_of_the_file(report: &Report) -> bool {
    let says = |warning: &String| warning.contains("bank.cct-regressions");
    report.warnings.iter().any(says)
}

#[test]
fn what_does_not_repeat_itself_is_not_remembered() {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    let place = Place::new("varies");
    let report = place.case(false).run(checker().iterations(3), || async {
        static RUNS: AtomicU64 = AtomicU64::new(0);
        for _ in 0..RUNS.fetch_add(1, Relaxed) {
            crate::nondet::boolean();
        }
    });
    let failure = report.failure.as_ref().expect("no run is like another");
    assert!(matches!(failure.kind, FailureKind::Nondeterminism { .. }));
    assert!(!place.regressions().exists() && !speaks_of_the_file(&report));
}

#[test]
fn a_case_is_named_as_the_harness_does() {
    let this = "cct_executor::explore::testcase::tests::a_case_is_named_as_the_harness_does";
    assert_eq!(case_name("cct_executor::explore::testcase::tests"), this);
    assert_eq!(case_name(this), this);
    assert_eq!(
        case_name("cct_executor::explore::test"),
        "cct_executor::explore::test"
    );
}

#[test]
fn an_expected_panic_is_not_remembered() {
    let place = Place::new("expected");
    let lossy = || async { panic!("lost") };
    let report = place.case(true).run(checker(), lossy);
    assert!(report.failure().is_some());
    assert!(!speaks_of_the_file(&report), "{:?}", report.warnings);
    assert!(!place.regressions().exists());
    let report = place.case(false).run(checker(), lossy);
    assert!(speaks_of_the_file(&report), "{:?}", report.warnings);
}

#[test]
fn a_run_that_cannot_begin_does_not_blame_what_is_remembered() {
    let place = Place::new("blame");
    let report = checker()
        .name("bank::transfer")
        .run(|| async { panic!("lost") });
    let failure = report.failure().unwrap();
    let line = format!("bank::transfer {}\n", failure.token);
    fs::write(place.regressions(), line).unwrap();
    let report = place
        .case(false)
        .run(checker().strategy_text("none such"), || async {});
    assert_eq!(report.stopped_by, StoppedBy::Error);
    assert!(!speaks_of_the_file(&report), "{:?}", report.warnings);
}

/// A run that asks for another clock, say, may fail by it all the same.
#[test]
fn a_remembered_failure_is_told_as_such() {
    let place = Place::new("remembered");
    let lossy = || async { panic!("lost") };
    let report = checker().name("bank::transfer").run(lossy);
    let token = &report.failure().unwrap().token;
    fs::write(place.regressions(), format!("bank::transfer {token}\n")).unwrap();
    let case = place.case(false);
    let report = case
        .replay_remembered(&checker(), &AnyScenario::new(lossy), &Settings::default())
        .expect_err("it fails again");
    let text = report.text();
    let first = "cct: FAILED bank::transfer: panic, as remembered\n";
    assert!(text.starts_with(first), "{text}");
}

/// Ends at once or never, under the limits that `configure` sets.
fn endless(configure: impl Fn(Checker) -> Checker, ends: bool, should_panic: bool) -> Report {
    let place = Place::new(&format!("endless-{ends}-{should_panic}"));
    let once = checker().strategy_text("random");
    let checker = configure(once.determinism_check(false));
    place.case(should_panic).run(checker, move || async move {
        if !ends {
            loop {
                yield_now().await;
            }
        }
    })
}

#[test]
fn a_test_that_never_ends_does_not_pass() {
    let report = endless(|checker| checker, false, false);
    let error = report.error().expect("it never ended");
    let what = "each of 1 iterations was cut at the step limit";
    assert!(error.contains(what), "{error}");
    assert!(error.contains("set max_steps"), "{error}");
    // What it does all the time is told at once.
    let text = report.text();
    assert!(
        text.starts_with("cct: bank::transfer shows nothing: "),
        "{text}"
    );
    let ends = ["task 0 `main`", "could run", "more in which nothing but"];
    assert!(ends.iter().all(|part| text.contains(part)), "{text}");
    assert!(endless(|checker| checker, true, false).passed());
    // Nor does it do what is expected of it.
    assert!(endless(|checker| checker, false, true).passed());
}

/// Nobody answers whom it asks for.
struct Strangers;

impl ActionSource for Strangers {
    fn apply(&self, _: u64) {}

    fn outside(&self) -> Vec<String> {
        vec!["203.0.113.9".to_owned()]
    }
}

#[test]
fn whom_a_test_asks_in_vain_until_it_is_cut_is_told() {
    let place = Place::new("asks");
    let once = checker().strategy_text("random").determinism_check(false);
    let report = place.case(false).run(once, || async {
        let _source = source(|| Strangers);
        loop {
            yield_now().await;
        }
    });
    let text = report.text();
    let told = "nothing outside of the world answers, and this was asked for: 203.0.113.9";
    assert!(
        text.contains("shows nothing") && text.contains(told),
        "{text}"
    );
}

/// Fails, or not, after more steps than is usual.
fn long(checker: Checker, fails: bool) -> Report {
    let place = Place::new(&format!("long-{fails}"));
    let checker = checker.strategy_text("random");
    place.case(false).run(checker, move || async move {
        for _ in 0..USUAL_STEPS + USUAL_STEPS / 4 {
            yield_now().await;
        }
        assert!(!fails, "late");
    })
}

#[test]
fn a_test_for_tokio_that_is_too_long_is_run_once() {
    let place = Place::new("too-long");
    let case = TestCase {
        of_tokio: true,
        ..place.case(false)
    };
    let run = |ends: bool| {
        let checker = checker().strategy_text("random").determinism_check(false);
        case.run(checker.workers(1).iterations(1), move || async move {
            let mut left = MORE_STEPS;
            while left > 0 {
                yield_now().await;
                left -= 1;
            }
            assert!(ends, "it has come to its end");
        })
    };
    let report = run(true);
    assert!(report.passed(), "{}", report.text());
    let note = format!(
        "the test does in plain order after {}: that is all that was seen of it",
        MORE_STEPS + 1
    );
    assert!(report.text().contains(&note), "{}", report.text());
    // What does not pass there shows nothing, as before.
    assert!(run(false).error().is_some());
}

/// Spawns more tasks than is usual before any of them runs.
fn many(checker: Checker) -> Report {
    let checker = checker.strategy_text("random");
    Place::new("many").case(false).run(checker, || async {
        for _ in 0..=Limits::TASKS {
            crate::spawn(async {});
        }
    })
}

#[test]
fn a_test_that_takes_more_steps_than_is_usual_gets_them() {
    let report = long(checker(), false);
    assert!(report.passed(), "{}", report.text());
    assert_eq!((report.iterations, report.cut()), (1, 0));
    let raised = format!("max_steps was raised to {}", MORE_STEPS);
    assert!(report.text().contains(&raised));
    // So it does more tasks, each of which may take few steps.
    let report = many(checker().usual_steps(Limits::STEPS));
    assert!(report.passed(), "{}", report.text());
    assert_eq!((report.iterations, report.cut()), (1, 0));
    assert!(report.text().contains("max_tasks to 500000"));
    assert_eq!(many(checker().max_tasks(Limits::TASKS + 1)).cut(), 1);
    // Whoever sets a limit gets that.
    let report = long(checker().max_steps(USUAL_STEPS + 1), false);
    assert_eq!(report.cut(), 1);
    let report = long(checker().fail_on_limit(true), false);
    assert!(report.failure().is_some(), "{}", report.text());
}

/// Its first schedule seems to take more, but only goes round, and the other ends.
#[test]
fn a_test_whose_first_schedule_goes_round_has_the_usual_steps() {
    let place = Place::new("goes round");
    let case = place.case(false);
    let report = case.run(
        checker().iterations(8).strategy_text("exhaustive"),
        || async {
            if crate::nondet::boolean() {
                return;
            }
            loop {
                crate::time::sleep(Duration::from_millis(10)).await;
            }
        },
    );
    let text = report.text();
    let failure = report.failure().expect("it fails");
    assert_eq!(failure.kind, FailureKind::Endless, "{text}");
    assert!(!text.contains("max_steps was raised"), "{text}");
    assert!(failure.step < 10, "{text}");
}

#[test]
fn a_late_failure_is_replayed() {
    let report = long(checker(), true);
    let failure = report.failure().expect("it fails");
    assert!(failure.reproduced, "{}", report.text());
    let replayed = long(checker().replay(failure.token.clone()), true);
    let again = replayed.failure().expect("it fails again");
    assert_eq!((&again.kind, again.step), (&failure.kind, failure.step));
}

#[test]
fn a_test_that_is_not_to_end_says_so_by_a_limit() {
    let report = endless(|checker| checker.max_steps(1_000), false, false);
    assert!(report.passed(), "{}", report.text());
    assert_eq!(report.cut(), 1);
}

thread_local! {
    /// Who is in the middle of a call.
    static AT: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

/// As a guard against calls in the middle of a call: the other one notices, while the first is suspended.
#[cfg(target_os = "linux")]
#[test]
fn a_thread_local_that_another_task_sees_fails_no_test_at_a_granularity_nobody_chose() {
    let run = |checker: Checker| {
        let checker = checker.iterations(300);
        Place::new("guards").case(false).run(checker, || async {
            let call = || {
                assert_eq!(AT.replace(1), 0, "a call in the middle of a call");
                drop(crate::spawn(async {}));
                AT.set(0);
            };
            let calls = [(), ()].map(|()| crate::spawn(async move { call() }));
            for call in calls {
                call.await.unwrap();
            }
        })
    };
    let report = run(checker());
    let text = report.text();
    assert!(report.passed(), "{text}");
    let said = "while it had set a thread-local, and others may have seen that";
    assert!(text.contains(said), "{text}");
    let chosen = run(checker().granularity(crate::Granularity::Spawn));
    assert!(chosen.failure().is_some(), "{}", chosen.text());
}

/// Two tasks call something that wakes another in its middle, and has a thread-local set meanwhile.
#[cfg(target_os = "linux")]
#[test]
fn thread_locals_that_are_shared_at_a_granularity_nobody_chose_fail_no_test() {
    let run = |checker: Checker| {
        let checker = checker.iterations(300);
        Place::new("calls").case(false).run(checker, || async {
            let calls = [1, 2].map(|number| {
                let woken = crate::spawn(async {
                    std::future::poll_fn(|cx| {
                        cx.waker().wake_by_ref();
                        std::task::Poll::Ready(())
                    })
                    .await
                });
                crate::spawn(async move {
                    AT.set(number);
                    drop(crate::spawn(async {}));
                    assert_eq!(AT.replace(0), number);
                    woken.await.unwrap();
                })
            });
            for call in calls {
                call.await.unwrap();
            }
        })
    };
    let report = run(checker());
    let text = report.text();
    assert!(report.passed(), "{text}");
    assert!(
        text.contains("failed at granularity `spawn` (panic"),
        "{text}"
    );
    assert!(
        text.contains("while it had set a thread-local, and others"),
        "{text}"
    );
    let chosen = run(checker().granularity(crate::Granularity::Spawn));
    assert!(chosen.failure().is_some(), "{}", chosen.text());
}

/// A task is spawned while a lock is held, for which others spin without giving way.
#[test]
fn a_lock_that_is_spun_for_beside_who_holds_it_fails_no_test() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    let released = Arc::new(AtomicBool::new(false));
    let run = |checker: Checker| {
        let checker = checker.iterations(100).poll_limit(Duration::from_secs(1));
        let released = released.clone();
        let place = Place::new("spins");
        place.case(false).run(checker.shrink(false), move || {
            let released = released.clone();
            async move {
                let locked = Arc::new(AtomicBool::new(false));
                let holds = || {
                    let (locked, released) = (locked.clone(), released.clone());
                    crate::spawn(async move {
                        while locked.swap(true, SeqCst) && !released.load(SeqCst) {
                            std::hint::spin_loop();
                        }
                        drop(crate::spawn(async {}));
                        locked.store(false, SeqCst);
                    })
                };
                for one in [holds(), holds()] {
                    one.await.unwrap();
                }
            }
        })
    };
    let reports = [
        run(checker()),
        run(checker().granularity(crate::Granularity::Spawn)),
    ];
    released.store(true, SeqCst);
    let [report, chosen] = reports;
    let text = report.text();
    assert!(report.passed(), "{text}");
    let said = "goes on beside the other one where there are threads";
    assert!(text.contains(said), "{text}");
    let failure = chosen.failure().expect("it fails");
    assert!(
        matches!(failure.kind, FailureKind::Stuck { .. }),
        "{}",
        chosen.text()
    );
}
