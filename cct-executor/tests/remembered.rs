//! What is remembered of failures that did not come of their schedules.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    reason = "this program runs itself, and starts a thread that no world controls"
)]

use cct_executor::task::yield_now;
use cct_executor::{__private, Checker};
use cct_sync::{mpsc, oneshot};
use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// What is planted in the test below, and where its failures are remembered; nothing where the harness runs all.
const PLANTED: &str = "PLANTED_IN_REMEMBERED";
const FOLDER: &str = "FOLDER_OF_REMEMBERED";

/// A server for all tests of the process, whose thread the first one starts.
static SERVER: LazyLock<mpsc::Sender<oneshot::Sender<u32>>> = LazyLock::new(|| {
    let (ask, mut asked) = mpsc::channel::<oneshot::Sender<u32>>(1);
    std::thread::spawn(move || {
        while let Some(answer) = asked.blocking_recv() {
            let _ = answer.send(7);
        }
    });
    ask
});

async fn planted(plant: &str) {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    yield_now().await;
    match plant {
        "a bug" => panic!("it fails in any order"),
        "a count" => assert_eq!(CALLS.fetch_add(1, SeqCst), 0, "called before"),
        _ => {
            let (answer, answered) = oneshot::channel();
            SERVER.send(answer).await.expect("it listens");
            assert_eq!(answered.await, Ok(7));
        }
    }
}

/// As with the attribute, but that its source is thought to be in that folder.
fn planted_in(test: &'static str) {
    let (Ok(plant), Ok(folder)) = (std::env::var(PLANTED), std::env::var(FOLDER)) else {
        return;
    };
    let case = __private::TestCase {
        name: test,
        manifest_dir: folder.leak(),
        file: "source.rs",
        line: line!(),
        should_panic: None,
        of_tokio: false,
    };
    let plant: &str = plant.leak();
    __private::run_test(case, Checker::new(), move || planted(plant));
}

#[test]
fn runs() {
    planted_in(concat!(module_path!(), "::runs"));
}

#[test]
fn runs_too() {
    planted_in(concat!(module_path!(), "::runs_too"));
}

/// A folder with a source file, whose tests' failures are remembered.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("source.rs"), "").expect("a file");
        Folder(folder)
    }

    fn remembered(&self) -> String {
        std::fs::read_to_string(self.0.join("source.cct-regressions")).unwrap_or_default()
    }

    /// As if what is remembered had been found twice: the second is replayed where the first has been.
    fn remembers_twice(&self) {
        let path = self.0.join("source.cct-regressions");
        let text = self.remembered();
        let last = text.lines().next_back().expect("a line");
        std::fs::write(path, format!("{text}{last}\n")).expect("a file");
    }

    /// Whether both tests pass with this planted, one after the other, and what their program prints.
    fn run(&self, plant: &str) -> (bool, String) {
        let output = Command::new(std::env::current_exe().expect("a program"))
            .args(["runs", "--nocapture", "--test-threads=1"])
            .env(PLANTED, plant)
            .env(FOLDER, &self.0)
            .env("CCT_PLAIN_TESTS", "explore")
            .env("CCT_REGRESSIONS", "write")
            .env("CCT_TIME_BUDGET", "none")
            .env("CCT_ITERATIONS", "50")
            .output()
            .expect("it starts");
        let text = [output.stdout, output.stderr]
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        (output.status.success(), text.concat())
    }
}

#[test]
fn a_remembered_failure_that_comes_of_a_static_is_none() {
    let folder = Folder::new("counts");
    let (passed, text) = folder.run("a bug");
    assert!(!passed && text.contains("remembered in"), "{text}");
    assert!(folder.remembered().contains("it fails in any order"));
    let (passed, text) = folder.run("a bug");
    assert!(!passed && text.contains("as remembered"), "{text}");
    folder.remembers_twice();
    let (passed, text) = folder.run("a count");
    assert!(passed, "{text}");
    for part in ["because of what was left in a static", "delete its line"] {
        assert!(text.contains(part), "no `{part}` in: {text}");
    }
}

#[test]
fn what_threads_do_is_not_remembered() {
    let folder = Folder::new("threads");
    for _ in 0..2 {
        let (passed, text) = folder.run("a server");
        assert!(passed, "{text}");
        assert_eq!(folder.remembered(), "", "{text}");
    }
    let (passed, text) = folder.run("a bug");
    assert!(!passed, "{text}");
    let (passed, text) = folder.run("a server");
    assert!(passed, "{text}");
}
