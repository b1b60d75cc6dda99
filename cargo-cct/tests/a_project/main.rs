//! Small projects of their own, on tokio and without a word about cct, whose tests are run.
//!
//! Everything comes from the crates that this workspace has locked, without a network.

mod atomics;
mod folder;
#[cfg(unix)]
mod interrupts;

use folder::{cct, lock, project, said, write};
use std::path::Path;

/// Where code can be made to tell of its atomic operations.
const ATOMICS: bool = cfg!(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
));

/// A call that must leave the lock file as it was; its exit code, and all that was said.
fn call(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let before = lock(folder);
    let output = cct(folder, arguments).output().expect("it runs");
    let text = said(&output);
    assert_eq!(lock(folder), before, "another lock file: {text}");
    (output.status.code(), text)
}

/// One test, as all of it happens in two folders, and what is built in one is used by the other at last.
#[test]
fn tests_of_a_project_are_explored_without_a_change_to_it() {
    let folder = project();
    if !ATOMICS {
        return all(&folder);
    }
    std::thread::scope(|scope| {
        let interleaved = scope.spawn(atomics::tasks_interleave_at_atomic_operations);
        all(&folder);
        let target = folder.join("target");
        match interleaved.join() {
            Ok(token) => atomics::is_not_instrumented(&target, &token),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    });
}

fn all(folder: &Path) {
    assert!(lock(folder).contains("name = \"tokio\""));
    let token = explores(folder);
    replays(folder, &token);
    #[cfg(target_os = "linux")]
    starts_a_program(folder);
    knows_who_reaches_tokio(folder);
    #[cfg(unix)]
    interrupts::all(folder);
    #[cfg(unix)]
    interrupts::an_editor_calls_cargo(folder);
    fails_as_cargo_does(folder);
}

/// The token of the update that is lost.
fn explores(folder: &Path) -> String {
    let (code, text) = call(folder, &["test", "--offline", "--lib"]);
    assert_eq!(code, Some(101), "{text}");
    assert!(!text.contains("was not used"), "a patch in vain: {text}");
    for line in [
        "test a_stream_ends_late ... ok",
        "test patient ... ok",
        "test random_branches_are_the_same_when_run_again ... ok",
        "cct: FAILED bank::deposits_add_up: panic",
    ] {
        assert!(text.contains(line), "`{line}` is not in {text}");
    }
    let (_, rest) = text
        .split_once("  replay: cargo cct replay ")
        .expect("a command");
    let line = rest.lines().next().expect("a line");
    let (token, rest) = line.split_once(' ').expect("a token");
    assert_eq!(rest, "deposits_add_up -- --exact");
    assert!(!text.contains("--atomics"), "{text}");
    let (code, text) = call(folder, &["test", "--offline", "--lib", "patient"]);
    assert_eq!(code, Some(0), "{text}");
    let hint = "`cargo cct test --atomics` has them interleave";
    assert_eq!(text.contains(hint), ATOMICS, "{text}");
    token.to_owned()
}

fn replays(folder: &Path, token: &str) {
    let replay = |token: &str| {
        // As the report says it.
        let rest = ["deposits_add_up", "--", "--exact"];
        call(folder, &[&["replay", token], &rest[..]].concat())
    };
    let (code, text) = replay(token);
    assert_eq!(code, Some(101), "{text}");
    assert!(text.contains("assertion `left == right` failed"), "{text}");
    assert!(text.contains(" of a replayed token"), "{text}");

    let (_, text) = replay(&format!("{token}x"));
    let complaint = "could not be run: invalid CCT_REPLAY: the token has 1 characters too many";
    assert!(text.contains(complaint), "{text}");

    let (code, text) = call(folder, &["replay", token, "deposits", "--", "--exact"]);
    assert_eq!(code, Some(101), "{text}");
    let complaint = "no test has taken the token, so nothing was replayed";
    assert!(text.contains(complaint), "{text}");
}

/// What the package's own program does for its test is what it does elsewhere, once.
#[cfg(target_os = "linux")]
fn starts_a_program(folder: &Path) {
    let (code, text) = call(folder, &["test", "--offline", "--test", "teller"]);
    assert_eq!(code, Some(0), "{text}");
    let line = "test a_program_that_is_told_to_end ... ok";
    assert!(text.contains(line), "{text}");
}

fn knows_who_reaches_tokio(folder: &Path) {
    let (code, text) = call(folder, &["doctor", "--offline"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("nobody who asks for tokio 1 reaches it"),
        "{text}"
    );
}

fn fails_as_cargo_does(folder: &Path) {
    write(&folder.join("src/lib.rs"), "fn broken() -> u32 {}");
    let (code, text) = call(folder, &["test", "--offline", "--lib"]);
    assert_eq!(code, Some(101), "{text}");
    assert!(text.contains("mismatched types"), "{text}");
}
