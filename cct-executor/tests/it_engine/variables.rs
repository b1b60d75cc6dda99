//! Variables override the test; a token overrides both. In processes of their own, as the
//! environment belongs to the process.

use crate::{checker, failed};
use cct_executor::words::ReplayToken;
use cct_executor::{Clock, Granularity, nondet, spawn};
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// Set where this program was started by the test.
const CHILD: &str = "IT_ENGINE_VARIABLES";

async fn lossy() {
    let add = |counter: Arc<AtomicU32>| async move {
        let seen = counter.load(SeqCst);
        nondet::point();
        counter.store(seen + 1, SeqCst);
    };
    let counter = Arc::new(AtomicU32::new(0));
    let other = spawn(add(counter.clone()));
    add(counter.clone()).await;
    other.await.unwrap();
    assert_eq!(counter.load(SeqCst), 2, "lost");
}

fn run_child() {
    checker("variables")
        .granularity(Granularity::Op)
        .clock(Clock::Strict)
        .use_environment(true)
        .run(lossy)
        .assert_passed();
}

fn child(variables: &[(&str, &str)]) -> Output {
    let name = "it_engine::variables::granularity_and_clock_override_the_test";
    Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", name, "--nocapture"])
        .env(CHILD, "yes")
        .envs(variables.iter().copied())
        .output()
        .expect("this program can be started")
}

fn told(variables: &[(&str, &str)]) -> String {
    let output = child(variables);
    assert!(!output.status.success(), "{variables:?} passed");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The token on the last line of a report.
fn token(report: &str) -> ReplayToken {
    let (_, rest) = report.split_once("CCT_REPLAY=").expect("a token");
    let token = rest.split_whitespace().next().expect("a token");
    token.parse().expect("a token")
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the parent tells the child apart"
)]
fn granularity_and_clock_override_the_test() {
    if std::env::var(CHILD).is_ok() {
        return run_child();
    }
    assert!(child(&[("CCT_GRANULARITY", "await")]).status.success());
    // What is cut before it fails does not.
    assert!(child(&[("CCT_MAX_STEPS", "1")]).status.success());

    let report = told(&[("CCT_GRANULARITY", "sync"), ("CCT_CLOCK", "adversarial")]);
    assert_eq!(token(&report).granularity, Granularity::Sync);
    assert_eq!(token(&report).clock, Clock::Adversarial);
    assert!(!token(&report).spurious_polls);
    let report = told(&[("CCT_SPURIOUS_POLLS", "1")]);
    assert!(token(&report).spurious_polls);
    assert!(!token(&report).partial_io);
    let report = told(&[("CCT_PARTIAL_IO", "1")]);
    assert!(token(&report).partial_io);
    let report = told(&[("CCT_REPLAY_WITH", "make replay TOKEN=")]);
    assert!(
        report.contains("  replay: make replay TOKEN= c1-"),
        "{report}"
    );
    assert!(
        report.contains("not seen at granularity `await`"),
        "{report}"
    );
    // Of all panics while exploring, replaying and trying again, none is shown but the report's.
    assert_eq!(report.matches("panicked at").count(), 1, "{report}");

    // The token has its own.
    let replay = failed(&checker("variables").run(lossy)).token.to_string();
    let report = told(&[
        ("CCT_GRANULARITY", "await"),
        ("CCT_CLOCK", "racing(5ms)"),
        ("CCT_REPLAY", &replay),
    ]);
    assert!(report.contains("of a replayed token"), "{report}");
    assert_eq!(token(&report).to_string(), replay);

    let report = told(&[("CCT_GRANULARITY", "threads")]);
    let error = "cct: variables could not be run: invalid CCT_GRANULARITY `threads`: expected \
                 `await`, `op`, `spawn`, `sync` or `atomic`";
    assert!(report.contains(error), "{report}");
    let report = told(&[("CCT_CLOCK", "fast")]);
    assert!(
        report.contains("invalid CCT_CLOCK `fast`: expected `strict`, "),
        "{report}"
    );
}
