//! Tests without an attribute that build one runtime after the other, and such as draw before: which of their worlds are
//! explored, and with what.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_types,
    reason = "what is random is what it is about"
)]

mod again;

use again::{again, is_again, said};
use cct_executor::runtime::Runtime;
use cct_sync::Mutex;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

/// Tasks that add one each to what they have read before.
fn add(tasks: usize) -> usize {
    let runtime = Runtime::new().unwrap();
    let count = Arc::new(Mutex::new(0));
    let all: Vec<_> = (0..tasks)
        .map(|_| {
            let count = count.clone();
            runtime.spawn(async move {
                let before = *count.lock().await;
                *count.lock().await = before + 1;
            })
        })
        .collect();
    runtime.block_on(async {
        for one in all {
            one.await.unwrap();
        }
        *count.lock().await
    })
}

/// The token that a report names.
fn token(report: &str) -> &str {
    let (_, rest) = report.split_once("CCT_REPLAY=").expect("a token");
    rest.split([' ', '`', '\n']).next().expect("a token")
}

/// Explores the test, which must fail so, and replays that.
fn fails(test: &str, parts: &[&str]) -> String {
    let report = said(&again(test, "explore", &[]));
    for part in parts {
        assert!(report.contains(part), "{part}: {report}");
    }
    let output = again(test, "explore", &[("CCT_REPLAY", token(&report))]);
    let replayed = said(&output);
    assert_eq!(output.status.code(), Some(101), "{replayed}");
    assert!(replayed.contains("of a replayed token"), "{replayed}");
    replayed
}

#[test]
fn a_later_world_fails() {
    if is_again() {
        assert_eq!(add(0), 0);
        assert!(add(1) < 2);
        assert_eq!(add(2), 2, "an update is lost");
        assert!(add(1) < 2);
        return;
    }
    fails(
        "a_later_world_fails",
        &[
            "cct: FAILED a_later_world_fails (runtime 3): panic",
            "an update is lost",
            "lock mutex",
        ],
    );
}

/// Each has its line.
#[test]
fn several_worlds_are_explored() {
    if is_again() {
        add(0);
        assert!(add(2) > 0);
        assert!(add(3) > 0);
        return;
    }
    let output = again("several_worlds_are_explored", "explore", &[]);
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    for part in [
        "(runtime 2) passed: 100 iter",
        "(runtime 3) passed: 100 iter",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// How many tasks there are is drawn, and said.
#[test]
fn what_is_drawn_before_is_drawn_again() {
    if is_again() {
        let drawn = RandomState::new().hash_one(0) % 1_000;
        let tasks = if drawn < 500 { 1 } else { 2 };
        assert_eq!(add(tasks), tasks, "an update is lost with {drawn}");
        return;
    }
    let test = "what_is_drawn_before_is_drawn_again";
    let replayed = fails(test, &["an update is lost with", "note: the test draws"]);
    let report = said(&again(test, "explore", &[]));
    let drawn = |text: &str| {
        let (_, rest) = text.split_once("is lost with ").expect("a number");
        let number = rest.split(|c: char| !c.is_ascii_digit()).next();
        number.map(str::to_owned)
    };
    assert_eq!(drawn(&replayed), drawn(&report));
}

/// In some iterations it is not there.
#[test]
fn a_world_that_is_there_now_and_then_is_explored() {
    if is_again() {
        let drawn = RandomState::new().hash_one(0);
        assert!(add(1) < 2);
        if drawn % 4 > 0 {
            assert_eq!(add(2), 2, "an update is lost");
        }
        return;
    }
    let test = "a_world_that_is_there_now_and_then_is_explored";
    fails(test, &["(runtime 2): panic", "an update is lost"]);
}

#[test]
fn one_that_is_not_always_there_passes() {
    if is_again() {
        let drawn = RandomState::new().hash_one(0);
        assert!(add(1) < 2);
        if drawn % 5 > 0 {
            assert!(add(2) > 0);
        }
        return;
    }
    let test = "one_that_is_not_always_there_passes";
    let output = again(test, "explore", &[]);
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("(runtime 2) passed: 100 iter"), "{text}");
}
