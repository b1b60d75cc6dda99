//! Code that is instrumented: what happens between two locks of the standard library, or two atomic operations.

use super::call;
use super::folder::{NOT_OPTIMISED, project_of};
use std::path::Path;

const MANIFEST: &str = r#"
[package]
name = "tally"
version = "0.1.0"
edition = "2021"

[dependencies]
parking_lot = "0.12"

[dev-dependencies]
futures = "0.3"
tokio = { version = "1", features = ["macros", "rt", "sync", "time"] }
tokio-stream = "0.1"
tracing = { version = "0.1", default-features = false, features = ["std"] }

[workspace]
"#;

/// Optimised, as then more of what is instrumented with the tests is the shims'. Not the engine and the network, of
/// which nothing is instrumented, and which take a minute each to optimise.
const OPTIMISED: &str = r#"
[profile.dev.package.cct-executor]
opt-level = 0
[profile.dev.package.cct-net]
opt-level = 0
[profile.dev.package.cct-sync]
opt-level = 1
[profile.dev.package.tokio]
opt-level = 1
[profile.dev.package.parking_lot]
opt-level = 1
[profile.dev.package.parking_lot_core]
opt-level = 1
[profile.dev]
debug = "line-tables-only"
[profile.test]
opt-level = 1
"#;

const FILES: [(&str, &str); 3] = [
    ("src/lib.rs", include_str!("tally/lib.rs")),
    ("src/main.rs", include_str!("tally/main.rs")),
    ("tests/it.rs", include_str!("tally/it.rs")),
];

/// What a task does to a tally in two steps is lost where another one comes in between, and in one it is not. Returns the
/// token of an update that is lost.
pub(crate) fn tasks_interleave_at_atomic_operations() -> String {
    let manifest = format!("{MANIFEST}{OPTIMISED}");
    let folder = project_of("tally", &manifest, &FILES);
    let (code, text) = call(
        &folder,
        &["test", "--offline", "--atomics", "--no-fail-fast"],
    );
    assert_eq!(code, Some(101), "{text}");
    for kind in ["std", "parking_lot", "atomic"] {
        for line in [
            format!("cct: FAILED it::{kind}_in_two_steps: panic"),
            format!("test {kind}_in_one_step ... ok"),
        ] {
            assert!(text.contains(&line), "`{line}` is not in {text}");
        }
    }
    for name in ["told", "traced"] {
        let told = format!("cct: FAILED it::atomic_{name}_in_two_steps: panic");
        assert!(text.contains(&told), "`{told}` is not in {text}");
    }
    let example = "src/lib.rs - Std (line 6)";
    for test in [
        "spinning",
        "alone_for_long",
        "made_at_once",
        "parked_for_a_lock",
        "parked_for_a_condition",
        "a_program_without_cct",
        example,
    ] {
        assert!(
            text.contains(&format!("test {test} ... ok")),
            "{test}: {text}"
        );
    }
    tells_where(&text);
    replays(&folder, &text)
}

/// Without instrumentation they do nothing in between, and all tests pass, and the token is of no use: built where the
/// other project was.
pub(crate) fn is_not_instrumented(target: &Path, token: &str) {
    let manifest = format!("{MANIFEST}{NOT_OPTIMISED}");
    let folder = project_of("tally-plain", &manifest, &FILES);
    let target = target.to_str().expect("a folder's name");
    let (code, text) = call(&folder, &["test", "--offline", "--target-dir", target]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("test atomic_in_two_steps ... ok"), "{text}");
    let replay = ["replay", token, "atomic_in_two_steps", "--offline"];
    let (_, refused) = call(&folder, &[&replay[..], &["--target-dir", target]].concat());
    assert!(
        refused.contains("run `cargo cct test --atomics`"),
        "{refused}"
    );
}

/// The lock that is taken, in the user's code.
fn tells_where(text: &str) {
    let (_, report) = text
        .split_once("cct: FAILED it::std_in_two_steps")
        .expect("a report");
    let (report, _) = report.split_once("  replay: ").expect("a table");
    let lines = report.lines();
    let places: Vec<&str> = lines
        .filter(|line| line.contains(" atomic ") && !line.contains("before"))
        .filter_map(|line| line.split_whitespace().next_back())
        .collect();
    assert!(places.contains(&"src/lib.rs:17"), "{text}");
    let ours = places.iter().any(|place| place.contains("cct"));
    assert!(!ours, "{text}");
}

fn replays(folder: &Path, text: &str) -> String {
    let lines = text.lines();
    let command = lines
        .filter_map(|line| line.strip_prefix("  replay: cargo cct "))
        .find(|command| command.contains(" atomic_in_two_steps "))
        .expect("a command");
    let arguments: Vec<&str> = command.split(' ').collect();
    assert_eq!(arguments[..2], ["replay", "--atomics"], "{command}");
    let (code, again) = call(folder, &arguments);
    assert_eq!(code, Some(101), "{again}");
    assert!(
        again.contains("assertion `left == right` failed"),
        "{again}"
    );
    arguments[2].to_owned()
}
