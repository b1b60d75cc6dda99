//! A small project of its own, on tokio and tokio-stream and without a word about cct, whose tests are run.
//!
//! Everything comes from the crates that this workspace has locked, without a network.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const MANIFEST: &str = r#"
[package]
name = "bank"
version = "0.1.0"
edition = "2021"

[dependencies]
futures = "0.3"
tokio = { version = "1", features = ["macros", "rt", "sync", "time"] }
tokio-stream = "0.1"

[workspace]

# What is built here runs a few dozen times.
[profile.dev.package."*"]
opt-level = 0
[profile.dev]
debug = false
"#;

/// One test loses an update in some schedules, one has a third party wait for an hour, one asks two third parties
/// for random choices, one is no test of tokio.
const SOURCE: &str = r#"
use std::{sync::Arc, time::Duration};
use tokio::sync::{mpsc, Mutex};
use futures::FutureExt as _;
use tokio_stream::{wrappers::ReceiverStream, StreamExt, StreamMap};

pub async fn deposit(balance: Arc<Mutex<u64>>, amount: u64) {
    let before = *balance.lock().await;
    *balance.lock().await = before + amount;
}

#[tokio::test]
async fn deposits_add_up() {
    let balance = Arc::new(Mutex::new(0));
    let rent = tokio::spawn(deposit(balance.clone(), 700));
    let food = tokio::spawn(deposit(balance.clone(), 50));
    rent.await.unwrap();
    food.await.unwrap();
    assert_eq!(*balance.lock().await, 750);
}

#[tokio::test]
async fn a_stream_ends_late() {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        sender.send(7).await.unwrap();
    });
    let all: Vec<i32> = ReceiverStream::new(receiver).collect().await;
    assert_eq!(all, [7]);
}

/// Both draw from counters of the process, which the copies of these crates do not.
#[tokio::test]
async fn random_branches_are_the_same_when_run_again() {
    let mut order = String::new();
    for _ in 0..10 {
        futures::select! {
            () = std::future::ready(()).fuse() => order.push('a'),
            () = std::future::ready(()).fuse() => order.push('b'),
        }
        let mut streams = StreamMap::new();
        streams.insert('c', tokio_stream::once(()));
        streams.insert('d', tokio_stream::once(()));
        let (first, ()) = streams.next().await.unwrap();
        order.push(first);
        for _ in 0..u32::from(order.ends_with('d')) + 2 * u32::from(order.contains("ac")) {
            tokio::task::yield_now().await;
        }
    }
}

#[test]
fn plain() {}
"#;

/// The project's folder, made anew but for what was built in it.
fn project() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bank");
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    fs::create_dir_all(folder.join("src")).expect("a folder");
    write(&folder.join("Cargo.toml"), MANIFEST);
    write(&folder.join("src/lib.rs"), SOURCE);
    // Cargo keeps of it what the project needs.
    fs::copy(workspace.join("Cargo.lock"), folder.join("Cargo.lock")).expect("a lock file");
    let cargo = env!("CARGO");
    let mut command = Command::new(cargo);
    command.args([
        "metadata",
        "--offline",
        "--format-version",
        "1",
        "--filter-platform",
    ]);
    command.arg(host(cargo));
    let output = run(&folder, command);
    assert!(output.status.success(), "{}", said(&output));
    folder
}

/// Cargo builds again what is newer than it was.
fn write(path: &Path, text: &str) {
    if fs::read_to_string(path).ok().as_deref() != Some(text) {
        fs::write(path, text).expect("a file");
    }
}

fn host(cargo: &str) -> String {
    let version = Command::new(cargo).arg("-vV").output().expect("cargo");
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.expect("a host").to_owned()
}

fn cct(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-cct"));
    command.arg("cct").args(arguments);
    run(folder, command)
}

/// As a user would, and not as the tests of this workspace are run.
fn run(folder: &Path, mut command: Command) -> Output {
    for variable in [
        "CARGO_TARGET_DIR",
        "CARGO_BUILD_TARGET_DIR",
        "RUSTFLAGS",
        "CI",
    ] {
        command.env_remove(variable);
    }
    command.env("CCT_ITERATIONS", "50");
    command.env("CCT_REGRESSIONS", "off");
    command.env("RUST_BACKTRACE", "0");
    command.current_dir(folder).output().expect("it runs")
}

/// All that was said.
fn said(output: &Output) -> String {
    let all = [&*output.stdout, &*output.stderr].concat();
    String::from_utf8_lossy(&all).into_owned()
}

fn lock(folder: &Path) -> String {
    fs::read_to_string(folder.join("Cargo.lock")).expect("a lock file")
}

/// A call that must leave the lock file as it was; its exit code, and all that was said.
fn call(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let before = lock(folder);
    let output = cct(folder, arguments);
    let text = said(&output);
    assert_eq!(lock(folder), before, "another lock file: {text}");
    (output.status.code(), text)
}

/// One test, as all of it happens in one folder, and is built once.
#[test]
fn tests_of_a_project_are_explored_without_a_change_to_it() {
    let folder = project();
    assert!(lock(&folder).contains("name = \"tokio\""));
    let token = explores(&folder);
    replays(&folder, &token);
    knows_who_reaches_tokio(&folder);
    fails_as_cargo_does(&folder);
}

/// The token of the update that is lost.
fn explores(folder: &Path) -> String {
    let (code, text) = call(folder, &["test", "--offline", "--lib"]);
    assert_eq!(code, Some(101), "{text}");
    for line in [
        "test a_stream_ends_late ... ok",
        "test plain ... ok",
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
    token.to_owned()
}

fn replays(folder: &Path, token: &str) {
    let replay = |token: &str| {
        let rest = ["--offline", "--lib", "deposits_add_up", "--", "--exact"];
        call(folder, &[&["replay", token], &rest[..]].concat())
    };
    let (code, text) = replay(token);
    assert_eq!(code, Some(101), "{text}");
    assert!(text.contains("assertion `left == right` failed"), "{text}");
    assert!(text.contains(" of replay of a token"), "{text}");

    let (_, text) = replay(&format!("{token}x"));
    let complaint = "could not be run: invalid CCT_REPLAY: the token has 1 characters too many";
    assert!(text.contains(complaint), "{text}");
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
