//! Tests that leave something in statics, each iteration in a process of its own.
#![cfg(unix)]
#![expect(
    clippy::disallowed_methods,
    reason = "this program runs itself, and tells by variables what for"
)]

use cct_executor::nondet::point;
use cct_executor::spawn;
use cct_executor::task::yield_now;
use futures::task::AtomicWaker;
use std::cell::Cell;
use std::future::poll_fn;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::Poll;

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

/// What differs is not looked for.
#[cct_executor::test(determinism_check = false)]
async fn meets_others() {
    match planted().as_deref() {
        Some("a folder") => makes_a_folder(&its_folder()).await,
        Some(_) => tells_all_who_listen().await,
        None => {}
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

/// Fails where the second task goes first, or a choice is not the first one.
async fn overtaking() {
    let turns = Arc::new(AtomicU32::new(0));
    let task = |turn| {
        let turns = turns.clone();
        cct_executor::spawn(
            async move { assert_eq!(turns.fetch_add(1, SeqCst), turn, "overtaken") },
        )
    };
    for task in [task(0), task(1)] {
        task.await.expect("it goes in turn");
    }
}

/// Fails as an overtaking does, and names a number that nobody else has in this process.
async fn counted_overtaking() {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let id = MADE.fetch_add(1, SeqCst);
    let turns = Arc::new(AtomicU32::new(0));
    let mine = turns.clone();
    let task = cct_executor::spawn(async move { mine.fetch_add(1, SeqCst) });
    yield_now().await;
    yield_now().await;
    assert_eq!(turns.fetch_add(1, SeqCst), 1, "actor {id} is overtaken");
    task.await.expect("it goes in turn");
}

/// Whoever listens is told from here, as long as it does, be it of another iteration.
async fn tells_all_who_listen() {
    static LISTENING: Mutex<Vec<Arc<(AtomicU32, AtomicWaker)>>> = Mutex::new(Vec::new());
    let told = Arc::new((AtomicU32::new(0), AtomicWaker::new()));
    LISTENING.lock().unwrap().push(told.clone());
    let theirs = told.clone();
    let task = cct_executor::spawn(poll_fn(move |cx| {
        theirs.1.register(cx.waker());
        match theirs.0.load(SeqCst) {
            0..100 => Poll::Pending,
            _ => Poll::Ready(()),
        }
    }));
    for _ in 0..100 {
        let listening = LISTENING.lock().unwrap().clone();
        for one in listening {
            one.0.fetch_add(1, SeqCst);
            one.1.wake();
        }
        yield_now().await;
    }
    let others = |one: &Arc<_>| !Arc::ptr_eq(one, &told);
    LISTENING.lock().unwrap().retain(others);
    task.await.expect("it was told often enough");
}

/// Fails where another one makes the folder at the same time.
async fn takes_a_folder(folder: &Path) {
    // Who was stopped in its middle has left it.
    let _ = std::fs::remove_dir_all(folder);
    makes_a_folder(folder).await;
}

/// Where it lies, for the one process that asks for it and those that it starts.
fn its_folder() -> PathBuf {
    std::env::temp_dir().join("cct-apart-once")
}

/// Finds it there, too, where anybody has been stopped in its middle.
async fn makes_a_folder(folder: &Path) {
    std::fs::create_dir(folder).expect("nobody else makes it");
    let tasks = [(); 2].map(|()| cct_executor::spawn(yield_now()));
    // By then the other worker has come to it.
    std::fs::write(folder.join("a file"), vec![0; 1 << 16]).expect("a file");
    for task in tasks {
        task.await.expect("it ends");
    }
    std::fs::remove_dir_all(folder).expect("nobody else removes it");
}

/// In the middle of another panic.
struct PanicsAtItsEnd;

impl Drop for PanicsAtItsEnd {
    fn drop(&mut self) {
        assert!(!std::thread::panicking(), "as a lock that is poisoned");
    }
}

async fn leave(plant: &str) {
    match plant {
        "a cold start" => {
            yield_now().await;
            ready_the_second_time();
        }
        "noise" | "a fixed path" | "a counted overtaking" => {}
        "an abort" => {
            let _aborts = PanicsAtItsEnd;
            once_in_a_process();
        }
        _ => once_in_a_process(),
    }
    match plant {
        "a bug" => lost_update().await,
        "an overtaking" => overtaking().await,
        "a counted overtaking" => counted_overtaking().await,
        "an exit" => std::process::exit(3),
        "noise" => {
            for _ in 0..noise() {
                yield_now().await;
            }
        }
        "a fixed path" => takes_a_folder(&std::env::temp_dir().join("cct-apart")).await,
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

/// Iterations at the same time that meet in a static are no threads of the test's.
#[test]
fn what_another_iteration_does_meanwhile_is_no_failure() {
    let variables = [
        ("CCT_WORKERS", "4"),
        ("CCT_PLAIN_TESTS", "explore"),
        ("CCT_ITERATIONS", "2000"),
    ];
    let (passed, text) = run("meets_others", "who listens", &variables);
    assert!(passed, "{text}");
    let parts = [
        "meets_others passed: 2,000 iterations",
        "failed (uncontrolled concurrency",
        "because of what was left in a static",
    ];
    assert_says(&text, &parts);
}

/// The schedule that failed does not fail alone: the program goes on to where it removes its folder.
#[test]
fn a_folder_that_the_test_removes_at_its_end_is_in_nobodys_way() {
    let _ = std::fs::remove_dir_all(its_folder());
    let variables = [
        ("CCT_WORKERS", "4"),
        ("CCT_PLAIN_TESTS", "explore"),
        ("CCT_ITERATIONS", "400"),
    ];
    let (passed, text) = run("meets_others", "a folder", &variables);
    assert!(passed, "{text}");
    assert_says(&text, &["meets_others passed: 400 iterations"]);
    assert!(!its_folder().exists(), "{text}");
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
    let (passed, text) = run("leaves_something", "an abort", &[]);
    assert!(passed, "{text}");
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
fn a_number_that_counts_on_in_a_static_is_not_what_failed() {
    let (passed, text) = run("leaves_something", "a counted overtaking", &[]);
    assert!(!passed, "{text}");
    let parts = [
        "is overtaken",
        "replayed, the same schedule fails with other numbers",
        "shortened: it fails at step",
        "fails at granularity `await` too",
    ];
    assert_says(&text, &parts);
    assert!(!text.contains("in one process"), "{text}");
}

/// The lines that this process has traced; and the one subscriber there is, that of `traces`.
static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Lines;

/// The one span that there is, and how often this thread is in it.
static SPAN: OnceLock<&'static tracing::Metadata<'static>> = OnceLock::new();

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

struct Message<'a>(&'a mut String);

impl tracing::field::Visit for Message<'_> {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            *self.0 = format!("{value:?}");
        }
    }
}

impl tracing::Subscriber for Lines {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target().starts_with("apart")
    }
    fn new_span(&self, span: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        SPAN.get_or_init(|| span.metadata());
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        let mut line = String::new();
        event.record(&mut Message(&mut line));
        if DEPTH.get() == 0 {
            line = format!("outside of the test: {line}");
        }
        LINES.lock().expect("the lines").push(line);
    }
    fn enter(&self, _: &tracing::span::Id) {
        LINES.lock().expect("the lines").push("enters".to_owned());
        DEPTH.set(DEPTH.get() + 1);
    }
    fn exit(&self, _: &tracing::span::Id) {
        DEPTH.set(DEPTH.get() - 1);
    }
    fn current_span(&self) -> tracing_core::span::Current {
        match SPAN.get().filter(|_| DEPTH.get() > 0) {
            Some(span) => tracing_core::span::Current::new(tracing::span::Id::from_u64(1), span),
            None => tracing_core::span::Current::none(),
        }
    }
}

async fn look_at_what_is_traced(plant: String) {
    if plant == "a traced bug" {
        lost_update().await;
    }
    // Tasks are in it as well, whoever is suspended meanwhile.
    let tasks = [(); 2].map(|()| {
        spawn(async {
            point();
            tracing::info!("in a task");
        })
    });
    for task in tasks {
        task.await.expect("no panic");
    }
    tracing::info!("done");
    let lines = LINES.lock().expect("the lines").clone();
    let done = lines.iter().filter(|line| *line == "done").count();
    let in_tasks = lines.iter().filter(|line| *line == "in a task").count();
    assert!(
        done == 1 && in_tasks == 2 && lines.contains(&"enters".to_owned()),
        "{lines:?}"
    );
    assert_ne!(plant, "a bug anyway", "an update is lost");
}

/// As another attribute has it: around the scenario, on the thread of the test.
#[test]
fn traces() {
    let Some(plant) = planted() else { return };
    tracing::subscriber::set_global_default(Lines).expect("no other");
    let span = tracing::info_span!("the test");
    let _inside = span.enter();
    let case = cct_executor::__private::TestCase {
        name: "apart::traces",
        manifest_dir: env!("CARGO_MANIFEST_DIR"),
        file: file!(),
        line: line!(),
        should_panic: None,
        of_tokio: false,
    };
    let scenario = move || look_at_what_is_traced(plant.clone());
    cct_executor::__private::run_test(case, cct_executor::Checker::new(), scenario);
}

#[test]
fn a_test_may_look_at_what_it_has_traced() {
    let (passed, text) = run("traces", "nothing else", &[]);
    assert!(passed, "{text}");
    let parts = [
        "traces passed: 100 iterations",
        "nobody hears what it traces",
    ];
    assert_says(&text, &parts);
    let (passed, text) = run("traces", "a traced bug", &[]);
    assert!(!passed, "{text}");
    assert_says(&text, &["an update is lost", "replay: CCT_REPLAY="]);
    // Unheard, the very first schedule fails because of what it should have heard.
    let (passed, anyway) = run("traces", "a bug anyway", &[]);
    assert!(!passed, "{anyway}");
    let otherwise = "nobody heard what it traces, it failed otherwise: panic";
    assert_says(
        &anyway,
        &["an update is lost", otherwise, "replay: CCT_REPLAY="],
    );
    let (_, token) = text.split_once("CCT_REPLAY=").expect("a token");
    let token = token.split_whitespace().next().expect("a token");
    let (passed, text) = run("traces", "a traced bug", &[("CCT_REPLAY", token)]);
    assert!(!passed, "{text}");
    assert_says(&text, &["an update is lost", "strategy replay"]);
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
                "it fails at step",
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

/// The attempts at less run in processes, whose words these are.
#[test]
fn departures_are_told_by_the_processes_that_made_them() {
    let (passed, text) = run("has_processes", "an overtaking", &[]);
    assert!(!passed, "{text}");
    let departs = |text: &str| {
        let (_, line) = text.split_once("(marked *):\n").expect("a departure");
        line.lines().next().expect("a line").trim().to_owned()
    };
    let line = departs(&text);
    let (taken, plain) = line.split_once(", before ").expect("two choices");
    assert!(taken.contains(": task 2, start ("), "{line}");
    assert!(
        plain.starts_with("task ") && plain.contains("apart.rs:"),
        "{line}"
    );
    let (_, token) = text.split_once("CCT_REPLAY=").expect("a token");
    let token = token.split_whitespace().next().expect("a token");
    let (_, again) = run("has_processes", "an overtaking", &[("CCT_REPLAY", token)]);
    assert_eq!(departs(&again), line);
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

/// Two workers make the folder at the same time, sooner or later. With one that cannot be.
#[test]
fn iterations_in_each_others_way_run_one_after_the_other() {
    for test in ["leaves_something", "has_processes"] {
        let variables = [("CCT_WORKERS", "4"), ("CCT_ITERATIONS", "400")];
        let (passed, text) = run(test, "a fixed path", &variables);
        assert!(passed, "{text}");
        let (passed, text) = run(test, "a fixed path", &[("CCT_WORKERS", "1")]);
        assert!(passed && !text.contains("CCT_WORKERS=1"), "{text}");
    }
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
    assert_says(
        &text,
        &[match cct_interpose::CONTROLLED {
            true => "a poll ends the process by `exit(3)`",
            false => "iteration 0 ended its process with exit status 3",
        }],
    );
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

/// Two tasks, each with a lock in a static that it holds while it is suspended.
async fn holds_two_locks() {
    static LOCKS: [Mutex<()>; 2] = [const { Mutex::new(()) }; 2];
    let tasks = LOCKS.each_ref().map(|lock| {
        cct_executor::spawn(async move {
            for _ in 0..3 {
                let _held = lock.lock().unwrap();
                cct_executor::nondet::point();
            }
        })
    });
    for task in tasks {
        task.await.unwrap();
    }
}

#[cct_executor::test(granularity = "sync", poll_limit = "500ms")]
async fn shares_locks() {
    if planted().is_some() {
        holds_two_locks().await;
    }
}

/// Of two iterations that run at the same time each may wait for a lock that is the other's.
#[test]
#[cfg(target_os = "linux")]
fn iterations_that_wait_for_each_other_do_not_fail_a_test() {
    let (passed, text) = run("shares_locks", "locks", &[("CCT_WORKERS", "3")]);
    assert!(passed, "{text}");
}
