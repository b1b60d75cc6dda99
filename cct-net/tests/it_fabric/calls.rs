//! Requests and their answers.

use crate::{checker, everywhere};
use cct_executor::node::{Node, node};
use cct_executor::time::{sleep, timeout};
use cct_executor::{cancellable, spawn};
use cct_net::fabric;
use cct_net::mailbox::{Call, Calls};
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Answers each number with its double, a request at a time or in tasks of their own.
fn doubling(name: &str, at_once: bool) -> Node {
    node(name).start(move || async move {
        let mut calls = Calls::<u32, u32>::bind("double").unwrap();
        loop {
            let Call {
                request, answer, ..
            } = calls.recv().await;
            if at_once {
                answer.send(2 * request);
            } else {
                spawn(async move { answer.send(2 * request) });
            }
        }
    })
}

#[test]
fn each_caller_gets_its_own_answer() {
    for at_once in [true, false] {
        everywhere("own answer", 15, move || async move {
            let nodes = ["a", "b"].map(|name| doubling(name, at_once));
            let caller = Calls::<u32, u32>::bind("double").unwrap().caller();
            let mut asking = Vec::new();
            for n in 0..6 {
                let (caller, to) = (caller.clone(), nodes[n as usize % 2].clone());
                asking.push(spawn(async move {
                    assert_eq!(caller.call(&to, n).await.unwrap(), 2 * n);
                    assert_eq!(caller.call(to.name(), n + 100).await.unwrap(), 2 * n + 200);
                }));
            }
            for asked in asking {
                asked.await.unwrap();
            }
        });
    }
}

#[test]
fn a_node_may_call_itself_and_be_called_meanwhile() {
    everywhere("itself", 15, || async {
        let mut calls = Calls::<u32, u32>::bind("double").unwrap();
        let (caller, here) = (calls.caller(), calls.node());
        let asked = spawn(async move { caller.call(here, 4).await.unwrap() });
        let call = calls.recv().await;
        assert_eq!((call.from, call.request), (here, 4));
        call.answer.send(8);
        assert_eq!(asked.await.unwrap(), 8);
    });
}

#[test]
fn what_is_lost_is_never_answered() {
    everywhere("lost", 15, || async {
        let server = doubling("server", true);
        let client = node("client").start(std::future::pending::<()>);
        let ours = client.clone();
        let asked = client.spawn(async move {
            let caller = Calls::<u32, u32>::bind("double").unwrap().caller();
            let wait = Duration::from_secs(1);
            assert_eq!(caller.call("server", 1).await.unwrap(), 2);
            for (from, to) in [(&ours, &server), (&server, &ours)] {
                fabric::cut_one_way(from, to);
                let lost = timeout(wait, caller.call("server", 2)).await;
                assert!(lost.is_err());
                fabric::heal(from, to);
                assert_eq!(caller.call("server", 3).await.unwrap(), 6);
            }
        });
        asked.await.unwrap();
    });
}

#[test]
fn a_call_that_is_dropped_leaves_nothing_behind() {
    everywhere("dropped", 40, || async {
        let server = doubling("server", false);
        let caller = Calls::<u32, u32>::bind("double").unwrap().caller();
        for n in 0..4 {
            let answer = cancellable(caller.call(&server, n)).await;
            assert!(answer.is_none_or(|answer| answer.unwrap() == 2 * n));
        }
        assert_eq!(caller.call(&server, 50).await.unwrap(), 100);
    });
}

/// The answer to what was asked before a restart does not reach who asks after it.
#[test]
fn answers_do_not_outlive_the_caller() {
    everywhere("restart", 15, || async {
        node("server").start(|| async {
            let mut calls = Calls::<u32, u32>::bind("echo").unwrap();
            loop {
                let call = calls.recv().await;
                spawn(async move {
                    sleep(Duration::from_millis(u64::from(call.request))).await;
                    call.answer.send(call.request);
                });
            }
        });
        let ask = |request: u32| async move {
            let caller = Calls::<u32, u32>::bind("echo").unwrap().caller();
            caller.call("server", request).await.unwrap()
        };
        let client = node("client").start(std::future::pending::<()>);
        let first = client.spawn(ask(100));
        sleep(Duration::from_millis(50)).await;
        client.restart();
        assert!(first.await.unwrap_err().is_cancelled());
        assert_eq!(client.spawn(ask(200)).await.unwrap(), 200);
    });
}

#[test]
fn mistakes_are_named() {
    let report = checker("mistakes").iterations(1).run(|| async {
        let calls = Calls::<u32, u32>::bind("c").unwrap();
        let taken = Calls::<u32, u32>::bind("c").unwrap_err();
        assert_eq!(taken.kind(), ErrorKind::AddrInUse);
        let other = Calls::<u32, String>::bind("c").unwrap_err();
        assert_eq!(other.kind(), ErrorKind::AddrInUse);
        let unknown = calls.caller().call("z", 1).await.unwrap_err();
        assert_eq!(unknown.to_string(), "there is no node `z`");
        // Once all of it is gone, the name is free.
        drop(calls);
        sleep(Duration::from_millis(1)).await;
        let other = Calls::<u32, String>::bind("c").unwrap_err();
        assert_eq!(other.kind(), ErrorKind::InvalidInput);
        assert!(Calls::<u32, u32>::bind("c").is_ok());
    });
    report.assert_passed();
}

/// Requests overtake each other, and arrive twice, only where that was asked for; the caller gets one answer
/// in any case.
#[test]
fn calls_are_ordered_and_arrive_once_unless_said_otherwise() {
    for wild in [false, true] {
        let seen = Arc::new(Mutex::new(BTreeSet::new()));
        let theirs = seen.clone();
        let report = checker("wild calls").iterations(200).run(move || {
            let seen = theirs.clone();
            async move {
                let arrived = Arc::new(Mutex::new(Vec::new()));
                let notes = arrived.clone();
                let bind = move || {
                    let calls = Calls::<u32, u32>::builder("wild");
                    let calls = if wild {
                        calls.unordered().duplicable()
                    } else {
                        calls
                    };
                    calls.bind().unwrap()
                };
                fabric::set_rule(|_| fabric::Verdict::Duplicate);
                node("server").start(move || {
                    let notes = notes.clone();
                    async move {
                        let mut calls = bind();
                        loop {
                            let call = calls.recv().await;
                            notes.lock().unwrap().push(call.request);
                            call.answer.send(call.request);
                        }
                    }
                });
                let caller = bind().caller();
                let (one, two) =
                    cct_executor::join!(caller.call("server", 1), caller.call("server", 2));
                assert_eq!((one.unwrap(), two.unwrap()), (1, 2));
                sleep(Duration::from_millis(1)).await;
                let arrived = arrived.lock().unwrap().clone();
                seen.lock().unwrap().insert(arrived);
            }
        });
        report.assert_passed();
        let seen = seen.lock().unwrap();
        // `join!` may poll either call first.
        let tame = seen.iter().all(|arrived| arrived.len() == 2);
        assert_eq!(tame, !wild, "{seen:?}");
        let apart = |arrived: &Vec<u32>| arrived[0] != arrived[1] && arrived[0] == arrived[2];
        assert_eq!(
            seen.iter()
                .any(|arrived| arrived.len() == 4 && apart(arrived)),
            wild
        );
    }
}
