//! Sockets of the test's own future, on a runtime of one thread: there it is put off once it wakes itself, which no
//! operation of a socket does.

use super::worlds::checker;
use cct_executor::{Checker, Report, spawn};
use cct_net::{TcpListener, TcpStream};
use futures::io::{AsyncReadExt, AsyncWriteExt};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

async fn echo(listener: TcpListener) {
    while let Ok((mut stream, _)) = listener.accept().await {
        spawn(async move {
            let mut letter = [0];
            while stream.read_exact(&mut letter).await.is_ok() {
                let _ = stream.write_all(&letter).await;
            }
        });
    }
}

/// Whether a task that could begin before all of it may begin after it.
fn is_held_back(checker: Checker) -> Report {
    checker
        .lasting_yields(true)
        .iterations(1_000)
        .run(|| async {
            let listener = TcpListener::bind("127.0.0.1:80").await.unwrap();
            spawn(echo(listener));
            let begun = Arc::new(AtomicBool::new(false));
            let mark = begun.clone();
            spawn(async move { mark.store(true, SeqCst) });
            let mut stream = TcpStream::connect("127.0.0.1:80").await.unwrap();
            let mut letter = [0];
            for _ in 0..2 {
                stream.write_all(b"a").await.unwrap();
                stream.read_exact(&mut letter).await.unwrap();
            }
            assert!(begun.load(SeqCst), "held back");
        })
}

#[test]
fn what_is_ready_need_not_go_on_while_the_test_reads_and_writes() {
    for strategy in ["pct:d=2", "pct:d=3", "portfolio"] {
        let report = is_held_back(checker("of the test").strategy_text(strategy));
        let failure = report.failure().expect(strategy);
        assert!(failure.kind.to_string().contains("held back"), "{strategy}");
    }
}

/// Whether a task that is ready begins before this one has written all, which it need not.
fn writes_are_interrupted(checker: Checker) -> Report {
    checker.run(|| async {
        let listener = TcpListener::bind("127.0.0.1:80").await.unwrap();
        let mut stream = TcpStream::connect("127.0.0.1:80").await.unwrap();
        let (_peer, _) = listener.accept().await.unwrap();
        let begun = Arc::new(AtomicBool::new(false));
        let mark = begun.clone();
        spawn(async move { mark.store(true, SeqCst) });
        for _ in 0..3 {
            stream.write_all(b"a").await.unwrap();
        }
        assert!(!begun.load(SeqCst), "interrupted");
    })
}

#[test]
fn who_gives_way_for_a_decision_is_preempted_where_another_goes_on() {
    let run = |text: &str| writes_are_interrupted(checker("no yield").strategy_text(text));
    // tokio's order, and whatever preempts nobody.
    for strategy in ["round-robin", "preemption-bounding:bound=0"] {
        let report = run(strategy);
        assert!(report.failure().is_none(), "{strategy}");
    }
    let report = run("preemption-bounding:bound=1");
    let failure = report.failure().expect("one preemption is enough");
    assert!(failure.kind.to_string().contains("interrupted"));
}
