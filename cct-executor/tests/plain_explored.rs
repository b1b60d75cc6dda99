//! Tests without an attribute that are explored: `CCT_PLAIN_TESTS=explore`, each iteration in a process of its own.

#![cfg(unix)]

mod again;
#[macro_use]
#[path = "again/passes.rs"]
mod passes;

use again::{again, is_again, said};
use cct_executor::runtime::{Builder, Runtime};
use cct_executor::spawn;
use cct_executor::task::{LocalSet, spawn_local, yield_now};
use cct_sync::{Mutex, oneshot};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, LazyLock};

/// Two tasks that add one each to what they have read before.
fn adds(runtime: &Runtime) -> u32 {
    let count = Arc::new(Mutex::new(0));
    let both = [count.clone(), count.clone()].map(|count| {
        runtime.spawn(async move {
            let before = *count.lock().await;
            *count.lock().await = before + 1;
        })
    });
    runtime.block_on(async {
        for one in both {
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

#[test]
fn an_update_is_lost_in_another_order() {
    let test = "an_update_is_lost_in_another_order";
    if is_again() {
        let runtime = Runtime::new().unwrap();
        assert_eq!(adds(&runtime), 2);
        return;
    }
    let once = again(test, "once", &[]);
    assert!(once.status.success(), "{}", said(&once));
    let output = again(test, "explore", &[]);
    let report = said(&output);
    assert_eq!(output.status.code(), Some(101), "{report}");
    for part in [
        "cct: FAILED an_update_is_lost_in_another_order: panic",
        "assertion `left == right` failed",
        "shortened: it fails at step",
        "one of which is not first in, first out",
        "lock mutex",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
    // The same in every run, with any number of workers.
    for workers in ["1", "3"] {
        let same = said(&again(test, "explore", &[("CCT_WORKERS", workers)]));
        assert_eq!(token(&same), token(&report));
    }
    let replayed = again(test, "explore", &[("CCT_REPLAY", token(&report))]);
    let text = said(&replayed);
    assert_eq!(replayed.status.code(), Some(101), "{text}");
    assert!(text.contains("of a replayed token"), "{text}");
}

#[test]
fn what_is_asserted_after_its_runtime_is_gone_counts() {
    let test = "what_is_asserted_after_its_runtime_is_gone_counts";
    if is_again() {
        let runtime = Runtime::new().unwrap();
        let sum = adds(&runtime);
        drop(runtime);
        assert_eq!(sum, 2, "an update is lost");
        return;
    }
    let output = again(test, "explore", &[]);
    let report = said(&output);
    assert_eq!(output.status.code(), Some(101), "{report}");
    assert!(report.contains("an update is lost"), "{report}");
    assert!(report.contains("lock mutex"), "{report}");
}

/// Nobody drops it. Its initializer must not be what fails: others would find it poisoned.
static SHARED: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

#[test]
fn a_runtime_in_a_static_is_explored() {
    let test = "a_runtime_in_a_static_is_explored";
    if is_again() {
        assert_eq!(adds(&SHARED), 2, "an update is lost");
        return;
    }
    let report = said(&again(test, "explore", &[]));
    for part in [
        "cct: FAILED a_runtime_in_a_static_is_explored: panic",
        "an update is lost",
        "not first in, first out",
        "lock mutex",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
    let replayed = again(test, "explore", &[("CCT_REPLAY", token(&report))]);
    let text = said(&replayed);
    assert_eq!(replayed.status.code(), Some(101), "{text}");
    assert!(text.contains("of a replayed token"), "{text}");
}

/// A static for those of this name, of which the first has the failure.
static FOR_TWO: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

#[test]
fn in_a_static_for_two_1_fails() {
    if is_again() {
        assert_eq!(adds(&FOR_TWO), 2, "an update is lost");
    }
}

#[test]
fn in_a_static_for_two_2_passes() {
    if is_again() {
        assert!(adds(&FOR_TWO) <= 2);
    }
}

#[test]
fn a_static_outlives_a_failure() {
    if is_again() {
        return;
    }
    for threads in ["1", "4"] {
        let variables = [("RUST_TEST_THREADS", threads)];
        let text = said(&again("in_a_static_for_two_", "explore", &variables));
        assert!(text.contains("1 passed; 1 failed"), "{text}");
        assert!(text.contains("an update is lost"), "{text}");
        let explored = "cct: in_a_static_for_two_2_passes passed";
        assert!(text.contains(explored), "{text}");
    }
}

#[test]
fn a_deadlock_in_another_order_is_found() {
    let test = "a_deadlock_in_another_order_is_found";
    if is_again() {
        let runtime = Runtime::new().unwrap();
        let (a, b) = (Arc::new(Mutex::new(1)), Arc::new(Mutex::new(2)));
        let (c, d) = (a.clone(), b.clone());
        let one = runtime.spawn(async move { *a.lock().await + *b.lock().await });
        let two = runtime.spawn(async move {
            let held = d.lock().await;
            *held + *c.lock().await
        });
        let one = async move { one.await.unwrap() + two.await.unwrap() };
        assert_eq!(runtime.block_on(one), 6);
        return;
    }
    let report = said(&again(test, "explore", &[]));
    assert!(report.contains(": deadlock"), "{report}");
    assert!(report.contains("CYCLE"), "{report}");
    assert!(!report.contains("has started threads"), "{report}");
}

#[test]
fn a_test_that_passes_says_what_was_explored() {
    let test = "a_test_that_passes_says_what_was_explored";
    if is_again() {
        let runtime = Runtime::new().unwrap();
        let (sender, receiver) = oneshot::channel();
        runtime.spawn(async move {
            yield_now().await;
            sender.send(3).unwrap();
        });
        let other = runtime.spawn(yield_now());
        assert_eq!(runtime.block_on(receiver), Ok(3));
        runtime.block_on(other).unwrap();
        return;
    }
    let output = again(test, "explore", &[("CCT_ITERATIONS", "40")]);
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    let line = format!("cct: {test} passed: 40 iterations");
    assert!(text.contains(&line), "{text}");
}

#[test]
fn without_a_choice_there_is_nothing_to_explore() {
    let test = "without_a_choice_there_is_nothing_to_explore";
    if is_again() {
        let runtime = Runtime::new().unwrap();
        assert_eq!(runtime.block_on(async { 3 }), 3);
        return;
    }
    let output = again(test, "explore", &[]);
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    let line = "was run once, in plain order: there is nothing to choose";
    assert!(text.contains(line), "{text}");
}

/// A file that processes share, which temporary ones they do not.
fn counted() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("fails-once")
}

#[test]
fn what_fails_once_and_not_again_is_no_failure() {
    let test = "what_fails_once_and_not_again_is_no_failure";
    if is_again() {
        let runtime = Runtime::new().unwrap();
        assert_eq!(adds(&runtime).min(1), 1);
        // Of the processes that come to this one fails.
        let counted = counted();
        let before = std::fs::read(&counted).map_or(0, |bytes| bytes.len());
        std::fs::write(&counted, vec![0; before + 1]).unwrap();
        assert_ne!(before, 3, "it fails once");
        return;
    }
    let counted = counted();
    let _ = std::fs::remove_file(&counted);
    let output = again(
        test,
        "explore",
        &[("CCT_ITERATIONS", "20"), ("CCT_WORKERS", "1")],
    );
    let text = said(&output);
    let _ = std::fs::remove_file(&counted);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("not again with the same decisions"), "{text}");
}

#[test]
fn a_strategy_that_cannot_be_used_is_named() {
    let test = "a_strategy_that_cannot_be_used_is_named";
    if is_again() {
        let error = Runtime::new().unwrap_err().to_string();
        assert!(error.contains("strategy `exhaustive`"), "{error}");
        return;
    }
    let output = again(test, "explore", &[("CCT_STRATEGY", "exhaustive")]);
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn a_token_of_another_test_is_refused() {
    let test = "a_token_of_another_test_is_refused";
    if is_again() {
        let error = Runtime::new().unwrap_err().to_string();
        assert!(error.contains("another test"), "{error}");
        return;
    }
    let report = said(&again("an_update_is_lost_in_another_order", "explore", &[]));
    let output = again(test, "explore", &[("CCT_REPLAY", token(&report))]);
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn tasks_beside_the_code_are_explored_too() {
    let test = "tasks_beside_the_code_are_explored_too";
    if is_again() {
        let runtime = Builder::new_current_thread().build().unwrap();
        let seen = Arc::new(AtomicU32::new(0));
        let (first, second) = (seen.clone(), seen.clone());
        runtime.block_on(async move {
            let one = spawn(async move { first.store(1, SeqCst) });
            let other = spawn(async move { second.store(2, SeqCst) });
            one.await.unwrap();
            other.await.unwrap();
        });
        // Nobody says which comes last.
        assert_eq!(seen.load(SeqCst), 2, "the first came last");
        return;
    }
    let report = said(&again(test, "explore", &[]));
    assert!(report.contains("the first came last"), "{report}");
}

#[test]
fn who_waits_for_what_no_world_has_fails_alone() {
    let test = "who_waits_for_what_no_world_has_fails_alone";
    if is_again() {
        let runtime = Runtime::new().unwrap();
        let (_sender, receiver) = std::sync::mpsc::channel::<()>();
        // As if for a thread that works for the test, and never comes to its end.
        let _ = receiver.recv();
        drop(runtime);
        return;
    }
    let output = again(test, "explore", &[]);
    let report = said(&output);
    assert_eq!(output.status.code(), Some(101), "{report}");
    let line = format!("cct: {test} cannot be run: it waits for something outside of its world");
    assert!(report.contains(&line), "{report}");
    assert!(report.contains("test result: FAILED"), "{report}");
}

/// What a process that is to be repeated must refuse works where the test is run once.
#[cfg(target_os = "linux")]
#[test]
fn who_waits_for_a_thread_of_its_own_is_run_once() {
    let test = "who_waits_for_a_thread_of_its_own_is_run_once";
    if is_again() {
        let runtime = Runtime::new().unwrap();
        let (ask, asked) = oneshot::channel();
        let (sender, receiver) = std::sync::mpsc::channel();
        runtime.block_on(async {
            let thread = std::thread::Builder::new().name("arbiter".to_owned());
            let answer = move || {
                let own = Runtime::new().unwrap();
                sender.send(own.block_on(asked).unwrap() + 1).unwrap();
            };
            let thread = thread.spawn(answer).unwrap();
            ask.send(1).unwrap();
            assert_eq!(receiver.recv(), Ok(2));
            thread.join().unwrap();
        });
        return;
    }
    let output = again(test, "explore", &[]);
    let report = said(&output);
    assert!(output.status.success(), "{report}");
    let line = format!(
        "cct: {test} was run once, in plain order: where it would be explored, and threads cannot take part, it fails"
    );
    assert!(report.contains(&line), "{report}");
}

/// One yield, and all others have got as far as they can.
async fn yields_once() {
    let count = Arc::new(AtomicU32::new(0));
    let (first, second) = (count.clone(), count.clone());
    spawn(async move {
        first.fetch_add(1, SeqCst);
        yield_now().await;
        spawn(async move { second.fetch_add(1, SeqCst) });
    });
    yield_now().await;
    let seen = count.load(SeqCst);
    yield_now().await;
    assert_eq!((seen, count.load(SeqCst)), (1, 2));
}

passes! { ["once" "explore"] on_a_runtime_of_one_thread_a_yield_lasts {
    Builder::new_current_thread().build().unwrap().block_on(yields_once());
} }

passes! { ["once" "explore"] in_a_local_set_on_one_thread_a_yield_lasts {
    let runtime = Builder::new_current_thread().build().unwrap();
    LocalSet::new().block_on(&runtime, async {
        let ran = Rc::new(Cell::new(false));
        let theirs = ran.clone();
        spawn_local(async move { theirs.set(true) });
        yield_now().await;
        assert!(ran.get());
    });
} }

#[test]
fn on_many_threads_a_yield_does_not_last() {
    let test = "on_many_threads_a_yield_does_not_last";
    if is_again() {
        return Runtime::new().unwrap().block_on(yields_once());
    }
    let report = said(&again(test, "explore", &[]));
    assert!(report.contains("cct: FAILED"), "{report}");
}

/// Tells whether it goes in a panic.
struct Tells(Option<oneshot::Sender<bool>>);

impl Drop for Tells {
    fn drop(&mut self) {
        let _ = self.0.take().unwrap().send(std::thread::panicking());
    }
}

passes! { ["once" "explore"] nobody_has_to_ask_for_a_panic_whether_it_comes_before_its_handle_goes_or_after {
    let runtime = Runtime::new().unwrap();
    let (news, heard) = oneshot::channel();
    let tells = Tells(Some(news));
    runtime.spawn(async move {
        let _tells = tells;
        panic!("nobody asks");
    });
    assert_eq!(runtime.block_on(heard), Ok(true));
} }
