//! Tests without an attribute that share a runtime in a static: to each that did not build it, it is another one.
#![cfg(target_os = "linux")]

mod again;

use again::{again, is_again, said};
use cct_executor::runtime::Runtime;
use cct_executor::spawn;
use cct_executor::time::{Duration, sleep, timeout};
use cct_sync::{Mutex, mpsc, oneshot};
use std::future::pending;
use std::sync::LazyLock;

const HOUR: Duration = Duration::from_secs(3600);

/// One for all tests of this program, which the one that comes first builds.
static SHARED: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

/// The test that comes first makes it.
static COUNT: LazyLock<Mutex<u32>> = LazyLock::new(Mutex::default);

fn counts() {
    let counted = SHARED.block_on(async {
        let mut count = COUNT.lock().await;
        sleep(Duration::from_millis(1)).await;
        *count += 1;
        *count
    });
    assert!((1..=2).contains(&counted));
}

/// A task of the test that comes first.
static ACTOR: LazyLock<mpsc::Sender<(u32, oneshot::Sender<u32>)>> = LazyLock::new(|| {
    let (asked, mut questions) = mpsc::channel::<(u32, oneshot::Sender<u32>)>(1);
    SHARED.spawn(async move {
        while let Some((number, answer)) = questions.recv().await {
            sleep(Duration::from_millis(1)).await;
            answer.send(number + 1).unwrap();
        }
    });
    asked
});

fn asks(number: u32) {
    let answer = SHARED.block_on(async {
        let (answer, answered) = oneshot::channel();
        ACTOR.send((number, answer)).await.unwrap();
        timeout(HOUR, answered).await.unwrap().unwrap()
    });
    assert_eq!(answer, number + 1);
}

macro_rules! with_a_static {
    ($($name:ident $body:block)*) => {
        $(#[test]
        fn $name() {
            if is_again() $body
        })*

        /// In one process, in turn and at the same time.
        #[test]
        fn a_runtime_in_a_static_is_each_tests_own() {
            if is_again() {
                return;
            }
            for how in ["once", "explore"] {
                for threads in ["1", "4"] {
                    let output = again("shared_", how, &[("RUST_TEST_THREADS", threads)]);
                    let text = said(&output);
                    assert!(output.status.success(), "{how} {threads}: {text}");
                    let passed = [$(stringify!($name)),*].len();
                    let all = format!(": ok. {passed} passed; 0 failed");
                    assert!(text.contains(&all), "{text}");
                }
            }
        }
    };
}

with_a_static! {
    shared_spawns {
        let task = SHARED.spawn(async { spawn(async { 1 }).await.unwrap() + 1 });
        assert_eq!(SHARED.block_on(task).unwrap(), 2);
    }
    shared_is_entered {
        let _inside = SHARED.enter();
        let task = spawn(async { sleep(HOUR).await; 1 });
        assert_eq!(SHARED.block_on(task).unwrap(), 1);
    }
    shared_blocks {
        assert_eq!(SHARED.block_on(async { spawn(async { 1 }).await.unwrap() }), 1);
    }
    shared_by_its_handle {
        let handle = SHARED.handle().clone();
        let blocking = handle.spawn_blocking(|| 1);
        assert_eq!(handle.block_on(blocking).unwrap(), 1);
    }
    shared_beside_a_lock {
        counts();
    }
    shared_beside_a_lock_of_another_test {
        counts();
    }
    shared_with_an_actor {
        asks(1);
    }
    shared_with_an_actor_of_another_test {
        asks(2);
        asks(3);
    }
}

/// One that a test with the attribute builds, in a world that is over when the next test begins.
static EXPLORED: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

#[cct_executor::test]
async fn spoilt_by_one_that_is_explored() {
    if is_again() {
        assert_eq!(EXPLORED.spawn(async { 1 }).await.unwrap(), 1);
    }
}

#[test]
fn spoilt_for_another() {
    if is_again() {
        assert!(EXPLORED.metrics().num_workers() > 0);
        let task = EXPLORED.spawn(async { spawn(async { 1 }).await.unwrap() + 1 });
        assert_eq!(EXPLORED.block_on(task).unwrap(), 2);
        let _inside = EXPLORED.enter();
        assert_eq!(EXPLORED.block_on(spawn(async { 3 })).unwrap(), 3);
    }
}

#[test]
fn a_runtime_that_was_explored_is_another_tests_too() {
    for how in ["once", "explore"] {
        let output = again("spoilt_", how, &[("RUST_TEST_THREADS", "1")]);
        let text = said(&output);
        assert!(output.status.success(), "{how}: {text}");
        assert!(text.contains(": ok. 2 passed; 0 failed"), "{text}");
    }
}

/// A synchronous interface over a runtime in a static, as a client has that blocks.
static CLIENT: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

fn asked(number: u32) -> u32 {
    let (tell, told) = std::sync::mpsc::channel();
    CLIENT.spawn(async move { tell.send(number + 1).unwrap() });
    told.recv().unwrap()
}

#[test]
fn client_here() {
    if is_again() {
        assert_eq!(asked(1), 2);
    }
}

#[test]
fn client_in_a_thread() {
    if is_again() {
        let thread = std::thread::Builder::new().spawn(|| asked(1)).unwrap();
        assert_eq!(thread.join().unwrap(), 2);
    }
}

#[test]
fn client_in_a_thread_and_before() {
    if is_again() {
        // What one sends the other receives: they are in one world.
        let (sender, mut receiver) = cct_sync::mpsc::channel(1);
        let task = CLIENT.spawn(async move { receiver.recv().await });
        let send = move || CLIENT.block_on(sender.send(1)).unwrap();
        let thread = std::thread::Builder::new().spawn(send).unwrap();
        thread.join().unwrap();
        assert_eq!(CLIENT.block_on(task).unwrap(), Some(1));
    }
}

#[test]
fn a_runtime_in_a_static_is_each_tests_own_in_its_threads_too() {
    for how in ["once", "explore"] {
        let output = again("client_", how, &[("RUST_TEST_THREADS", "1")]);
        let text = said(&output);
        assert!(output.status.success(), "{how}: {text}");
        assert!(text.contains(": ok. 3 passed; 0 failed"), "{text}");
    }
}

/// The first test that has one waits for nobody.
static FAILED: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

#[test]
fn fails_first() {
    if is_again() {
        FAILED.spawn(pending::<()>());
        FAILED.block_on(pending::<()>());
    }
}

#[test]
fn fails_no_more() {
    if is_again() {
        assert_eq!(FAILED.block_on(async { 1 }), 1);
    }
}

#[test]
fn a_test_leaves_others_theirs_when_it_has_failed() {
    if is_again() {
        return;
    }
    let output = again("fails_", "once", &[("RUST_TEST_THREADS", "1")]);
    let text = said(&output);
    assert!(
        text.contains("deadlock") && text.contains(". 1 passed; 1 failed"),
        "{text}"
    );
}
