//! Panics in destructors that run because of another panic: they abort the process.

use crate::checker;
use cct_executor::task::yield_now;
use cct_executor::words::FailureKind;
use cct_executor::{Checker, Isolation, nondet, spawn};
use std::process::Command;

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
                let name = "it_engine::aborts::a_panic_in_a_destructor_during_another_is_told_before_it_aborts";
                let child = Command::new(std::env::current_exe().expect("this program"))
                    .args(["--exact", name])
                    .env(CHILD, isolation)
                    .output()
                    .expect("this program can be started");
                let told = String::from_utf8_lossy(&child.stderr);
                assert!(
                    !child.status.success() && child.status.code().is_none(),
                    "{told}"
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
