//! What ends the process: panics in destructors that run because of another panic, stacks that overflow, and other
//! signals.

use crate::{checker, within};
use cct_executor::runtime::Handle;
use cct_executor::task::{spawn_blocking, yield_now};
use cct_executor::time::sleep;
use cct_executor::words::FailureKind;
use cct_executor::{Checker, Isolation, nondet, spawn};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Set where this program was started by one of its own tests.
const CHILD: &str = "IT_ENGINE_ABORTS";

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the destructor fails");
    }
}

async fn scenario() {
    let task = spawn(async {
        let bomb = Bomb;
        yield_now().await;
        assert!(nondet::choose(5) != 3, "the task fails");
        std::mem::forget(bomb);
    });
    let _ = task.await;
}

/// What the child does: it looks at the failure, replays it, and ends by it.
fn fail(run: impl Fn() -> Checker) {
    let report = run().run(scenario);
    let failure = report.failure().expect("one choice in five fails");
    assert!(matches!(failure.kind, FailureKind::Abort { .. }));
    assert!(failure.reproduced, "{}", report.text());
    assert!(!failure.explanation.steps.is_empty());
    let replayed = run().replay(failure.token.clone()).run(scenario);
    assert_eq!(replayed.failure().expect("again").kind, failure.kind);
    if cct_interpose::CONTROLLED {
        // Nobody is left in a hook, for which each harness would wait at its end.
        let hook = within(10, std::panic::take_hook);
        std::panic::set_hook(hook);
    }
    report.assert_passed();
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the parent tells the child apart"
)]
fn a_panic_in_a_destructor_during_another_is_told_before_it_aborts() {
    match std::env::var(CHILD).as_deref() {
        Ok("shared") => fail(|| checker("aborts").workers(2)),
        Ok(_) => fail(|| checker("aborts").isolation(Isolation::Thread)),
        Err(_) => {
            for isolation in ["shared", "thread"] {
                let told = told_by_child(
                    "a_panic_in_a_destructor_during_another_is_told_before_it_aborts",
                    isolation,
                );
                for part in [
                    "cct: FAILED aborts: abort",
                    "the destructor fails",
                    "the task fails",
                    "fails at granularity `await` too",
                    "the token c1-",
                ] {
                    assert!(told.contains(part), "no `{part}` in: {told}");
                }
            }
        }
    }
}

/// Takes a lock that it finds poisoned.
struct Locks(Arc<Mutex<u8>>);

impl Drop for Locks {
    fn drop(&mut self) {
        *self.0.lock().unwrap() += 1;
    }
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the parent tells the child apart"
)]
fn a_panic_in_a_destructor_of_a_closure_that_the_test_leaves_waiting_is_explained() {
    if std::env::var_os(CHILD).is_none() {
        let test = "a_panic_in_a_destructor_of_a_closure_that_the_test_leaves_waiting_is_explained";
        let told = told_by_child(test, "left");
        for part in [
            "PoisonError",
            "in a destructor of what waits where its node",
        ] {
            assert!(told.contains(part), "no `{part}` in: {told}");
        }
        return;
    }
    let run = || checker("left").workers(1);
    let scenario = || async {
        let closure = spawn_blocking(|| {
            let locks = Locks(Arc::new(Mutex::new(0)));
            let _guard = locks.0.lock().unwrap();
            Handle::current().block_on(sleep(Duration::from_secs(1)));
        });
        yield_now().await;
        drop(closure);
    };
    let report = run().run(scenario);
    let failure = report.failure().expect("it aborts where the closure waits");
    assert!(failure.reproduced, "{}", report.text());
    let replayed = run().replay(failure.token.clone()).run(scenario);
    assert_eq!(replayed.failure().expect("again").kind, failure.kind);
    report.assert_passed();
}

/// Ends after so many calls, each with a frame of its own.
#[inline(never)]
fn descend(calls: u64, above: &[u64; 64]) -> u64 {
    let frame = std::hint::black_box([calls; 64]);
    if calls == 0 {
        return above[0];
    }
    descend(calls - 1, &frame) + frame[7]
}

fn overflow() {
    assert!(descend(1 << 40, &[0; 64]) > 0);
}

#[expect(unsafe_code, reason = "there is none without")]
fn invalid_access() {
    let nowhere = std::hint::black_box(std::ptr::without_provenance::<u64>(1 << 40));
    // SAFETY: it is not, which is what is tested.
    unsafe { nowhere.read_volatile() };
}

/// One choice in five ends the process so.
fn ends(how: fn(), run: impl Fn() -> Checker) {
    let report = run().run(move || async move {
        let task = spawn(async move {
            yield_now().await;
            if nondet::choose(5) == 3 {
                how();
            }
        });
        task.await.expect("no panic");
    });
    let failure = report.failure().expect("one choice in five fails");
    assert!(matches!(failure.kind, FailureKind::Abort { .. }));
    assert!(failure.reproduced, "{}", report.text());
    report.assert_passed();
}

/// Starts this program again for one of its tests, with this in the child's variable. Returns what it
/// told before a signal ended it.
#[track_caller]
fn told_by_child(test: &str, child: &str) -> String {
    told_by(test, child, None)
}

/// The same, before it ended with this code.
#[track_caller]
fn told_by(test: &str, child: &str, code: Option<i32>) -> String {
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", &format!("it_engine::aborts::{test}")])
        .env(CHILD, child)
        .output()
        .expect("this program can be started");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), code, "{told}");
    told
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the parent tells the child apart"
)]
fn what_ends_the_process_is_told_before() {
    if !cct_interpose::CONTROLLED {
        return;
    }
    let ways: [(&str, fn(), &str); 4] = [
        (
            "overflow",
            overflow,
            "a poll ran out of stack, of which it has 2 MiB",
        ),
        (
            "abort",
            || std::process::abort(),
            "a poll ends the process by SIGABRT",
        ),
        (
            "access",
            invalid_access,
            "a poll ends the process by SIGSEGV, an access to memory that is invalid",
        ),
        (
            "exit",
            || std::process::exit(3),
            "a poll ends the process by `exit(3)`",
        ),
    ];
    let child = std::env::var(CHILD);
    for (name, how, said) in ways {
        let (shared, apart) = (format!("{name}-shared"), format!("{name}-thread"));
        match &child {
            Ok(child) if *child == shared => ends(how, || checker("ends").workers(2)),
            Ok(child) if *child == apart => {
                ends(how, || checker("ends").isolation(Isolation::Thread));
            }
            Ok(_) => {}
            Err(_) => {
                for child in [shared, apart] {
                    let told = told_by_child("what_ends_the_process_is_told_before", &child);
                    for part in ["cct: FAILED ends: abort", said, "the token c1-"] {
                        assert!(told.contains(part), "{child}: no `{part}` in: {told}");
                    }
                }
            }
        }
    }
}

/// A thread that runs no world ends the process, which the harness has no word for.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the parent tells the child apart, whose thread is foreign"
)]
fn who_ends_the_process_from_outside_is_told_what_was_not_finished() {
    if !cct_interpose::CONTROLLED {
        return;
    }
    if std::env::var(CHILD).is_ok() {
        let (begun, begins) = std::sync::mpsc::channel();
        let watches = std::thread::spawn(move || {
            begins.recv().expect("an iteration");
            std::process::exit(7);
        });
        let _ = checker("is watched").iterations(u64::MAX).run(move || {
            let _ = begun.send(());
            std::future::ready(())
        });
        match watches.join().expect("it does not panic") {}
    }
    let test = "who_ends_the_process_from_outside_is_told_what_was_not_finished";
    let told = told_by(test, "outside", Some(7));
    let lines = "ends the process by `exit(7)`, such as a thread that watches over something;\n  \
                 what was not finished: is watched\n";
    assert!(told.contains(lines), "{told}");
}

/// A thread that runs no world: the standard library says it, as without cct.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the parent tells the child apart, whose thread is foreign"
)]
fn other_stacks_overflow_as_ever() {
    if std::env::var(CHILD).is_ok() {
        checker("passes")
            .iterations(2)
            .run(|| async {})
            .assert_passed();
        let thread = std::thread::Builder::new().name("deep".to_owned());
        let thread = thread
            .spawn(|| descend(1 << 40, &[0; 64]))
            .expect("a thread");
        let _ = thread.join();
        return;
    }
    let told = told_by_child("other_stacks_overflow_as_ever", "foreign");
    assert!(
        told.contains("'deep'") && told.contains("has overflowed its stack"),
        "{told}"
    );
}
