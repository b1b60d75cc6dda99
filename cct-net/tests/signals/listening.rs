//! Processes that listen.

use super::worlds::{checker, everywhere};
use cct_executor::node::Node;
use cct_executor::time::{sleep, timeout};
use cct_executor::{sometimes, spawn};
use cct_net::signal::unix::{SignalKind, signal};
use cct_net::signal::{ctrl_c, raise};
use cct_net::{fault, node};
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

async fn shortly() {
    sleep(Duration::from_millis(10)).await;
}

/// Each node is a process of its own, and a process that starts again begins anew.
#[test]
fn registering_holds_for_one_process() {
    everywhere("one process", 20, |checker| {
        checker.run(|| async {
            let listens = || async {
                drop(signal(SignalKind::terminate())?);
                std::future::pending::<std::io::Result<()>>().await
            };
            let db = node("db").start(listens);
            let other = node("other").start(std::future::pending::<()>);
            shortly().await;
            node::signal(&db, SignalKind::terminate());
            node::signal(&db, SignalKind::interrupt());
            node::signal(&other, SignalKind::child());
            shortly().await;
            assert!(!db.is_up(), "SIGINT ends it");
            assert!(other.is_up());
            db.restart();
            shortly().await;
            node::signal(&db, SignalKind::terminate());
            node::signal(&other, SignalKind::terminate());
            shortly().await;
            assert!(db.is_up());
            assert!(!other.is_up(), "somebody else has registered");
        })
    });
}

/// What a process has registered for, the next one has not.
#[test]
fn registering_ends_with_the_process() {
    everywhere("heir", 10, |checker| {
        checker.run(|| async {
            let starts = AtomicU32::new(0);
            let db = node("db").start(move || {
                if starts.fetch_add(1, Ordering::SeqCst) == 0 {
                    drop(signal(SignalKind::terminate()).unwrap());
                }
                std::future::pending::<()>()
            });
            shortly().await;
            node::signal(&db, SignalKind::terminate());
            shortly().await;
            assert!(db.is_up());
            db.restart();
            node::signal(&db, SignalKind::terminate());
            shortly().await;
            assert!(!db.is_up());
        })
    });
}

/// A listener of a process that is over hears nothing of what its successor is sent.
#[test]
fn listeners_die_with_their_process() {
    everywhere("heirs", 10, |checker| {
        checker.run(|| async {
            let kept = cct_sync::mpsc::unbounded_channel();
            let (sender, mut receiver) = kept;
            let db = node("db").start(move || {
                let sender = sender.clone();
                async move {
                    let _ = sender.send(signal(SignalKind::hangup()).unwrap());
                    std::future::pending::<()>().await;
                }
            });
            let mut old = receiver.recv().await.unwrap();
            let waits = spawn(async move { timeout(Duration::from_secs(1), old.recv()).await });
            shortly().await;
            db.restart();
            let mut new = receiver.recv().await.unwrap();
            node::signal(&db, SignalKind::hangup());
            assert_eq!(new.recv().await, Some(()));
            assert!(waits.await.unwrap().is_err());
        })
    });
}

/// A signal may arrive before a process has come to register for it, and after.
#[test]
fn a_process_may_be_told_too_early() {
    let report = checker("early").iterations(100).run(|| async {
        let db = node("db").start(|| async {
            let mut terminate = signal(SignalKind::terminate())?;
            terminate.recv().await;
            std::future::pending::<std::io::Result<()>>().await
        });
        node::signal(&db, SignalKind::terminate());
        shortly().await;
        sometimes!(db.is_up(), "it was told");
        sometimes!(!db.is_up(), "it was ended");
    });
    report.assert_passed();
    all_seen(&report);
}

fn all_seen(report: &cct_executor::Report) {
    for (what, _, _, seen) in &report.coverage.sometimes {
        assert!(seen.reached > 0, "never: {what}");
    }
}

/// Of two kinds, each may be first; and it takes its time.
#[test]
fn kinds_overtake_each_other() {
    let report = checker("order").iterations(100).run(|| async {
        let first = Arc::new(AtomicU32::new(0));
        for kind in [SignalKind::user_defined1(), SignalKind::user_defined2()] {
            let mut listener = signal(kind).unwrap();
            let first = first.clone();
            spawn(async move {
                listener.recv().await;
                let number = kind.as_raw_value().unsigned_abs();
                let _ = first.compare_exchange(0, number, Ordering::SeqCst, Ordering::SeqCst);
            });
        }
        raise(SignalKind::user_defined1());
        raise(SignalKind::user_defined2());
        cct_executor::task::yield_now().await;
        sometimes!(first.load(Ordering::SeqCst) == 0, "none has arrived");
        shortly().await;
        sometimes!(first.load(Ordering::SeqCst) == 10, "the first was first");
        sometimes!(first.load(Ordering::SeqCst) == 12, "the second was first");
    });
    report.assert_passed();
    all_seen(&report);
}

/// What waits for a signal that nobody sends waits for ever, and the report says for which.
#[test]
fn a_report_says_what_is_waited_for() {
    let report = checker("deadlock").iterations(1).run(|| async {
        ctrl_c().await.unwrap();
    });
    let text = report.text();
    assert!(text.contains("deadlock"), "{text}");
    assert!(text.contains("recv signal 1"), "{text}");
    assert!(text.contains("SIGINT"), "{text}");
}

/// Steps, and what has not arrived, are in the report; and it can be replayed.
#[test]
fn a_report_tells_of_signals() {
    let scenario = || async {
        let db: Node = node("db").start(|| async {
            let mut hangup = signal(SignalKind::hangup())?;
            loop {
                hangup.recv().await;
            }
            #[expect(unreachable_code, reason = "says what the task returns")]
            std::io::Result::Ok(())
        });
        shortly().await;
        node::signal(&db, SignalKind::hangup());
        node::signal(&db, SignalKind::terminate());
        shortly().await;
        db.restart();
        node::signal(&db, SignalKind::terminate());
        panic!("look");
    };
    let report = checker("told").iterations(1).run(scenario);
    let text = report.text();
    for told in [
        "SIGHUP arrives at `db`",
        "SIGTERM arrives at `db`, which does not listen: its process ends",
        "SIGTERM ended the process of `db`",
        "SIGTERM has been sent to `db` and has not arrived",
    ] {
        assert!(text.contains(told), "{told}:\n{text}");
    }
    let token = report.failure().unwrap().token.clone();
    let again = checker("told").replay(token.clone()).run(scenario);
    assert_eq!(again.failure().unwrap().token, token);
}

#[test]
fn there_are_none_outside_of_a_scenario() {
    let error = signal(SignalKind::terminate()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let told = "signals exist inside a scenario only, as in a test with #[cct_executor::test]";
    assert_eq!(error.to_string(), told);
    let error = futures::executor::block_on(ctrl_c()).unwrap_err();
    assert_eq!(error.to_string(), told);
    raise(SignalKind::terminate());
    let error = fault::FaultPlan::new().start().unwrap_err();
    assert!(error.to_string().contains("without faults"));
}
