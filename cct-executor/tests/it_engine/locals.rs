//! Thread-locals that hold for the length of a call, while the call is suspended in its middle.

use crate::{checker, failed};
use cct_executor::node::node;
use cct_executor::runtime::Handle;
use cct_executor::task::{spawn_blocking, yield_now};
use cct_executor::words::explanation::Sharing;
use cct_executor::{Granularity, Seed, spawn};
use cct_sync::mpsc;
use std::cell::Cell;
use std::collections::HashMap;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

thread_local! {
    /// Who is in the middle of a call: serializers keep in such a place what they are about.
    static AT: Cell<u32> = const { Cell::new(0) };
}

/// What the report says.
const TOLD: &str = "while it had set a thread-local";

/// A call that sends in its middle. Returns what the thread-local is then.
fn call(number: u32, sender: &mpsc::UnboundedSender<u32>) -> u32 {
    AT.set(number);
    sender.send(number).unwrap();
    AT.replace(0)
}

async fn calls() {
    let (sender, _receiver) = mpsc::unbounded_channel();
    let tasks = [1, 2].map(|number| {
        let sender = sender.clone();
        spawn(async move { assert_eq!(call(number, &sender), number) })
    });
    for task in tasks {
        task.await.unwrap();
    }
}

/// Loses an update, and has nothing in thread-locals but what is over, and what the standard library counts.
async fn updates() {
    let (sender, _receiver) = mpsc::unbounded_channel();
    let total = Arc::new(AtomicU32::new(0));
    let tasks = [1, 2].map(|number| {
        let (sender, total) = (sender.clone(), total.clone());
        spawn(async move {
            AT.set(number);
            AT.set(0);
            let seen: HashMap<&str, u32> = HashMap::from([("total", total.load(SeqCst))]);
            sender.send(number).unwrap();
            total.store(seen["total"] + 1, SeqCst);
        })
    });
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(total.load(SeqCst), 2);
}

#[test]
fn a_thread_local_that_others_have_set_meanwhile_is_told() {
    let report = checker("calls").granularity(Granularity::Sync).run(calls);
    let text = report.text();
    let told = failed(&report).explanation.shared_locals.is_some();
    assert!(told && text.contains(TOLD), "{text}");
}

/// As guards against calls in the middle of a call are made: it is the other who notices.
#[test]
fn a_thread_local_that_others_see_meanwhile_is_told() {
    let guarded = |sender: &mpsc::UnboundedSender<u32>| {
        assert_eq!(AT.replace(1), 0, "a call in the middle of a call");
        sender.send(1).unwrap();
        AT.set(0);
    };
    let report = checker("guarded")
        .granularity(Granularity::Spawn)
        .run(move || async move {
            let (sender, mut receiver) = mpsc::unbounded_channel();
            let task = spawn({
                let sender = sender.clone();
                async move { guarded(&sender) }
            });
            receiver.recv().await.unwrap();
            guarded(&sender);
            task.await.unwrap();
        });
    let text = report.text();
    let shared = failed(&report).explanation.shared_locals.as_ref();
    let shared = shared.unwrap_or_else(|| panic!("{text}"));
    assert_eq!((&*shared.task, shared.how), ("1", Sharing::Seen), "{text}");
    assert!(text.contains("which others may have seen"), "{text}");
}

/// A counter of calls is no guard: it stays as it is when a poll is over.
#[test]
fn a_thread_local_that_stays_set_is_no_matter() {
    let counted = |sender: &mpsc::UnboundedSender<u32>| {
        AT.set(AT.get() + 1);
        sender.send(1).unwrap();
    };
    let report = checker("counted")
        .granularity(Granularity::Spawn)
        .run(move || async move {
            let (sender, mut receiver) = mpsc::unbounded_channel();
            let done = Arc::new(AtomicU32::new(0));
            for _ in 0..2 {
                let (sender, done) = (sender.clone(), done.clone());
                spawn(async move {
                    counted(&sender);
                    done.fetch_add(1, SeqCst);
                });
            }
            for _ in 0..2 {
                receiver.recv().await.unwrap();
            }
            assert_eq!(done.load(SeqCst), 2, "one is in the middle");
        });
    let text = report.text();
    let failure = failed(&report);
    let ended = failure
        .explanation
        .steps
        .iter()
        .any(|step| &*step.what == "start");
    assert!(ended && !text.contains("thread-local"), "{text}");
}

#[test]
fn thread_locals_that_nobody_needs_any_more_are_no_matter() {
    let report = checker("updates")
        .granularity(Granularity::Sync)
        .run(updates);
    let text = report.text();
    failed(&report);
    assert!(!text.contains(TOLD), "{text}");
}

/// A closure that may block has a thread of its own on tokio, and sleeps while it has set something there.
#[test]
fn a_closure_that_is_suspended_and_has_set_a_thread_local_is_told() {
    if !cct_interpose::CONTROLLED {
        return;
    }
    let report = checker("closure").run(|| async {
        let closure = cct_executor::task::spawn_blocking(|| {
            AT.set(3);
            std::thread::sleep(std::time::Duration::from_millis(100));
            AT.set(0);
        });
        cct_executor::time::sleep(std::time::Duration::from_millis(50)).await;
        assert_eq!(AT.get(), 0);
        closure.await.unwrap();
    });
    let text = report.text();
    let shared = failed(&report).explanation.shared_locals.as_ref();
    let shared = shared.unwrap_or_else(|| panic!("{text}"));
    assert_eq!(shared.how, Sharing::OfClosure);
    let told = "  the closure of task 1 is suspended at cct-executor/tests/it_engine/locals.rs:";
    assert!(text.contains(told), "{text}");
    for of_one_thread in ["one thread is enough", "tokio should"] {
        assert!(!text.contains(of_one_thread), "{text}");
    }
}

/// A closure that waits, as most do, has seldom to do with what others wait for.
#[test]
fn a_closure_with_a_thread_local_is_no_matter_of_a_deadlock() {
    let report = checker("closure_waits").run(|| async {
        let (_sender, mut receiver) = mpsc::unbounded_channel::<()>();
        let closure = cct_executor::task::spawn_blocking(move || {
            AT.set(3);
            receiver.blocking_recv();
            AT.set(0);
        });
        closure.await.unwrap();
    });
    let text = report.text();
    failed(&report);
    assert!(!text.contains("thread-local"), "{text}");
}

/// It panics after the crash of a node whose closure waits in the middle of a call.
async fn panics_after_a_crash() {
    let db = node("db").start(|| async {
        let closure = spawn_blocking(|| {
            AT.set(1);
            Handle::current().block_on(pending::<()>());
        });
        closure.await.unwrap();
    });
    yield_now().await;
    db.crash();
    panic!("of the test");
}

#[test]
fn what_a_crashed_node_has_set_is_not_told() {
    for seed in 0..20 {
        let checker = checker("crashed").seed(Seed(seed));
        let report = checker.run(panics_after_a_crash);
        let text = report.text();
        assert!(!text.contains("has set a thread-local"), "{seed}: {text}");
    }
}
