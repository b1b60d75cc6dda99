//! Tests that leave something in statics, each iteration in a process of its own.
#![cfg(unix)]
#![expect(
    clippy::disallowed_methods,
    reason = "this program runs itself, and tells by variables what for"
)]

use cct_executor::task::yield_now;
use std::io::Read as _;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// What is planted in the tests below; nothing where the harness runs all of them.
const PLANTED: &str = "PLANTED_IN_APART";

fn planted() -> Option<String> {
    std::env::var(PLANTED).ok()
}

/// Whether the test passes with this planted, and what its program prints.
fn run(test: &str, plant: &str, variables: &[(&str, &str)]) -> (bool, String) {
    let mut command = Command::new(std::env::current_exe().expect("a program"));
    command
        .args([test, "--exact", "--nocapture"])
        .env(PLANTED, plant)
        .env("CCT_REGRESSIONS", "off")
        .env("CCT_TIME_BUDGET", "none")
        .env("CCT_ITERATIONS", "100")
        .envs(variables.iter().copied());
    let output = command.output().expect("it starts");
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (output.status.success(), text.concat())
}

fn assert_says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no `{part}` in: {text}");
    }
}

/// Fails in any process in which it was called before.
fn once_in_a_process() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    assert_eq!(CALLS.fetch_add(1, SeqCst), 0, "called before");
}

async fn lost_update() {
    let counter = Arc::new(AtomicU32::new(0));
    let add = |counter: Arc<AtomicU32>| async move {
        let seen = counter.load(SeqCst);
        yield_now().await;
        counter.store(seen + 1, SeqCst);
    };
    let other = cct_executor::spawn(add(counter.clone()));
    add(counter.clone()).await;
    other.await.expect("it ends");
    assert_eq!(counter.load(SeqCst), 2, "an update is lost");
}

#[cct_executor::test]
async fn leaves_something() {
    if let Some(plant) = planted() {
        leave(&plant).await;
    }
}

#[cct_executor::test(isolation = "process", poll_limit = "500ms")]
async fn has_processes() {
    if let Some(plant) = planted() {
        leave(&plant).await;
    }
}

/// What differs each time, whatever the process.
fn noise() -> u8 {
    let mut byte = [0];
    let mut source = std::fs::File::open("/dev/urandom").expect("a source of noise");
    source.read_exact(&mut byte).expect("a byte");
    byte[0]
}

/// Fails in any process in which it was not called before.
fn ready_the_second_time() {
    static READY: AtomicU32 = AtomicU32::new(0);
    assert_ne!(READY.fetch_add(1, SeqCst), 0, "not ready yet");
}

async fn leave(plant: &str) {
    if plant == "a cold start" {
        yield_now().await;
        ready_the_second_time();
    } else if plant != "noise" {
        once_in_a_process();
    }
    match plant {
        "a bug" => lost_update().await,
        "an exit" => std::process::exit(3),
        "noise" => {
            for _ in 0..noise() {
                yield_now().await;
            }
        }
        "an endless poll" => loop {
            std::hint::spin_loop();
        },
        _ => {
            let task = cct_executor::spawn(yield_now());
            yield_now().await;
            task.await.expect("it ends");
        }
    }
}

#[test]
fn what_earlier_iterations_leave_is_no_failure() {
    let (passed, text) = run("leaves_something", "nothing else", &[]);
    assert!(passed, "{text}");
    let parts = [
        "leaves_something passed: 100 iterations",
        "because of what was left in a static",
    ];
    assert_says(&text, &parts);
    // Unless somebody says how it is to be run.
    let (passed, text) = run(
        "leaves_something",
        "nothing else",
        &[("CCT_ISOLATION", "none")],
    );
    assert!(!passed, "{text}");
}

#[test]
fn a_bug_is_found_all_the_same_and_can_be_replayed() {
    for test in ["leaves_something", "has_processes"] {
        let (passed, text) = run(test, "a bug", &[]);
        assert!(!passed, "{text}");
        let what = format!("cct: FAILED apart::{test}: panic");
        assert_says(
            &text,
            &[
                &what,
                "an update is lost",
                "spawn task 1",
                "shortened: it fails at step",
                "replay: CCT_REPLAY=",
            ],
        );
        let (_, token) = text.split_once("CCT_REPLAY=").expect("a token");
        let token = token.split_whitespace().next().expect("a token");
        let (passed, text) = run(test, "a bug", &[("CCT_REPLAY", token)]);
        assert!(!passed, "{text}");
        assert_says(&text, &["an update is lost", "strategy replay"]);
    }
}

/// The second run of the very schedule passes in the same process, so that one cannot explain the failure.
#[test]
fn what_fails_only_while_a_static_is_new_is_told_by_processes() {
    let (passed, text) = run("leaves_something", "a cold start", &[]);
    assert!(!passed, "{text}");
    let parts = [
        "FAILED apart::leaves_something: panic",
        "not ready yet",
        "yield",
        "does not fail so again there",
        "replay: CCT_REPLAY=",
    ];
    assert_says(&text, &parts);
    assert!(!text.contains("did not fail again"), "{text}");
}

#[test]
fn the_number_of_workers_changes_nothing() {
    let explored = |workers| {
        let variables = [("CCT_WORKERS", workers), ("CCT_ITERATIONS", "200")];
        let (passed, text) = run("has_processes", "nothing", &variables);
        assert!(passed, "{text}");
        let (_, text) = text.split_once("200 iterations").expect("a line");
        // Behind it stands how fast it was.
        let (text, _) = text.split_once(", seed").expect("a seed");
        text.to_owned()
    };
    assert_eq!(explored("1"), explored("3"));
}

/// Eight of 100 iterations run twice, so none differs with odds of 2 to the power of -64.
#[test]
fn what_is_not_under_control_anywhere_is_told_by_one_process() {
    const APART: &str = "each in a process of its own";
    let (passed, text) = run("leaves_something", "noise", &[]);
    assert!(!passed && !text.contains(APART), "{text}");
    assert_says(&text, &["nondeterminism: the same decisions led to"]);
    let (passed, text) = run("has_processes", "noise", &[]);
    assert!(!passed, "{text}");
    assert_says(&text, &["led to different runs", APART]);
}

#[test]
fn what_ends_the_process_is_told() {
    let (passed, text) = run("has_processes", "an exit", &[]);
    assert!(!passed, "{text}");
    assert_says(&text, &["iteration 0 ended its process with exit status 3"]);
}

#[test]
fn a_poll_that_does_not_return_is_told() {
    let (passed, text) = run("has_processes", "an endless poll", &[]);
    assert!(!passed, "{text}");
    assert_says(
        &text,
        &[
            "cct: FAILED apart::has_processes: poll that does not return",
            "replay: CCT_REPLAY=",
        ],
    );
}

#[test]
fn strategies_that_would_learn_nothing_are_refused() {
    let (passed, text) = run(
        "has_processes",
        "nothing",
        &[("CCT_STRATEGY", "exhaustive")],
    );
    assert!(!passed, "{text}");
    assert_says(
        &text,
        &["strategy `exhaustive` takes up what earlier iterations decided"],
    );
}
