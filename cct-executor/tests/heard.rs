//! Tests that make a subscriber for the whole process themselves, once, and look at what it has heard.
#![cfg(unix)]
#![expect(
    clippy::disallowed_methods,
    reason = "this program runs itself, and tells by variables what for"
)]

use cct_executor::spawn;
use cct_executor::task::yield_now;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, Once};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// What is planted in the test below; nothing where the harness runs all of them.
const PLANTED: &str = "PLANTED_IN_HEARD";

static EVENTS: Mutex<u32> = Mutex::new(0);

struct Counts;

impl Subscriber for Counts {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "heard"
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {
        *EVENTS.lock().expect("a count") += 1;
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[cct_executor::test]
async fn listens() {
    static INIT: Once = Once::new();
    let Ok(plant) = std::env::var(PLANTED) else {
        return;
    };
    INIT.call_once(|| tracing::subscriber::set_global_default(Counts).expect("no other"));
    tracing::info!("here");
    yield_now().await;
    assert_eq!(*EVENTS.lock().expect("a count"), 1, "what was heard");
    if plant == "a bug" {
        let count = Arc::new(AtomicU32::new(0));
        let both = [count.clone(), count.clone()].map(|count| {
            spawn(async move {
                let before = count.load(SeqCst);
                yield_now().await;
                count.store(before + 1, SeqCst);
            })
        });
        for one in both {
            one.await.expect("no panic");
        }
        assert_eq!(count.load(SeqCst), 2, "an update is lost");
    }
}

/// Whether the test passes with this planted, and what its program prints.
fn run(plant: &str, variables: &[(&str, &str)]) -> (bool, String) {
    let mut command = Command::new(std::env::current_exe().expect("a program"));
    command
        .args(["listens", "--exact", "--nocapture"])
        .env(PLANTED, plant)
        .env("CCT_REGRESSIONS", "off")
        .env("CCT_TIME_BUDGET", "none")
        .env("CCT_ITERATIONS", "50")
        .envs(variables.iter().copied());
    let output = command.output().expect("it starts");
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (output.status.success(), text.concat())
}

#[test]
fn a_test_may_make_who_listens() {
    let (passed, text) = run("nothing else", &[]);
    assert!(passed, "{text}");
    for part in [
        "listens passed: 50 iterations",
        "nobody hears what it traces",
    ] {
        assert!(text.contains(part), "no `{part}` in: {text}");
    }
}

#[test]
fn its_bugs_are_found_and_replayed() {
    let (passed, text) = run("a bug", &[]);
    assert!(!passed && text.contains("an update is lost"), "{text}");
    let (_, token) = text.split_once("CCT_REPLAY=").expect("a token");
    let token = token.split_whitespace().next().expect("a token");
    let (passed, text) = run("a bug", &[("CCT_REPLAY", token)]);
    assert!(!passed && text.contains("an update is lost"), "{text}");
}

#[cct_executor::test]
#[expect(
    clippy::print_stdout,
    reason = "what becomes of it is what is looked at"
)]
async fn prints() {
    if std::env::var(PLANTED).is_err() {
        return;
    }
    let order = Arc::new(Mutex::new(Vec::new()));
    let all = [0, 1, 2].map(|number| {
        let order = order.clone();
        spawn(async move {
            println!("printed by {number}");
            order.lock().expect("no panic").push(number);
        })
    });
    for one in all {
        one.await.expect("no panic");
    }
    assert_ne!(*order.lock().expect("no panic"), [2, 0, 1]);
}

/// What the failing schedule prints stands last, apart from what the others did, and nothing comes between it and the
/// report.
#[test]
fn what_the_failing_schedule_prints_can_be_told() {
    let program = std::env::current_exe().expect("a program");
    let run = |variables: &[(&str, &str)]| {
        let mut command = Command::new(&program);
        let output = command
            .args(["prints", "--exact"])
            .env(PLANTED, "a bug")
            .env("CCT_REGRESSIONS", "off")
            .env("CCT_TIME_BUDGET", "none")
            .env("RUST_BACKTRACE", "0")
            .envs(variables.iter().copied())
            .output()
            .expect("it starts");
        String::from_utf8(output.stdout).expect("text")
    };
    let prints = |text: &str| {
        let (before, after) = text
            .split_once(
                "cct: above is what all schedules printed, below what the failing one does\n",
            )
            .expect("a line between");
        assert!(before.contains("printed by"), "{text}");
        let (own, report) = after.split_once("\n\n").expect("a report");
        assert_eq!(own, "printed by 2\nprinted by 0\nprinted by 1", "{text}");
        assert!(!report.contains("printed by"), "{text}");
    };
    let text = run(&[]);
    prints(&text);
    let (_, token) = text.split_once("CCT_REPLAY=").expect("a token");
    let token = token.split_whitespace().next().expect("a token");
    prints(&run(&[("CCT_REPLAY", token)]));
}
