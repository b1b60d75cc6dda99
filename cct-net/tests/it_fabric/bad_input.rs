//! Mistakes in a test, which are named and never hang.

use crate::{checker, failed};
use cct_executor::node::Node;
use cct_executor::time::{Instant, timeout};
use cct_net::fabric;
use cct_net::fault::colours::Cluster;
use cct_net::fault::{Fault, FaultPlan};
use cct_net::mailbox::Mailbox;
use cct_net::signal::unix::SignalKind;
use cct_net::{TcpListener, TcpSocket, TcpStream, UdpSocket, lookup_host, node};
use std::io::ErrorKind;
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn idle(name: &str) -> Node {
    node(name).start(std::future::pending::<()>)
}

#[test]
fn a_port_that_is_taken_is_named() {
    let report = checker("taken").iterations(1).run(|| async {
        let _first = TcpListener::bind("0.0.0.0:80").await.unwrap();
        let error = TcpListener::bind("0.0.0.0:80").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrInUse);
        assert_eq!(error.to_string(), "0.0.0.0:80 is in use already");
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_reuseaddr(true).unwrap();
        let error = socket.bind("0.0.0.0:80".parse().unwrap()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrInUse);
        let _first = UdpSocket::bind("0.0.0.0:53").await.unwrap();
        let error = UdpSocket::bind("0.0.0.0:53").await.unwrap_err();
        assert_eq!(error.to_string(), "0.0.0.0:53 is in use already");
    });
    report.assert_passed();
}

#[test]
fn names_and_addresses_of_nobody_are_named() {
    let report = checker("nobody").iterations(1).run(|| async {
        let begin = Instant::now();
        let error = TcpStream::connect("nobody:80").await.unwrap_err();
        assert!(error.to_string().contains("nobody"), "{error}");
        let error = lookup_host("nobody:80").await.err().unwrap();
        assert!(error.to_string().contains("`nobody`"), "{error}");
        assert!(
            error.to_string().contains("(none is; `cct_net::node`"),
            "{error}"
        );
        let error = TcpStream::connect("10.77.0.1:80").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::HostUnreachable);
        assert!(error.to_string().contains("10.77.0.1"), "{error}");
        let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
        let error = socket.send_to(b"x", "nobody:80").await.unwrap_err();
        assert!(error.to_string().contains("nobody"), "{error}");
        let mailbox = Mailbox::<u8>::bind("m").unwrap();
        let error = mailbox.send("nobody", 1).unwrap_err();
        assert_eq!(error.to_string(), "there is no node `nobody`");
        assert_eq!(begin.elapsed(), Duration::ZERO);
        // A node without a listener refuses at once.
        idle("somebody");
        let error = lookup_host("nobody:80").await.err().unwrap();
        assert!(
            error.to_string().contains("(what is: `somebody`; "),
            "{error}"
        );
        let refused = timeout(Duration::from_secs(1), TcpStream::connect("somebody:80"));
        let error = refused.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    });
    report.assert_passed();
}

/// The panic is at the line of the test that starts the second one.
#[test]
fn a_second_node_of_a_name_is_the_test_s_fault() {
    let report = checker("twice").iterations(1).run(|| async {
        idle("db");
        node("db").start(std::future::pending::<()>);
    });
    let text = failed(&report).kind.to_string();
    assert!(text.contains("there is a node `db` already"), "{text}");
    assert!(text.contains("it_fabric/bad_input.rs"), "{text}");
}

/// A handle that outlived its scenario, as from a static or a pool of a test.
fn kept() -> Node {
    let keep = Arc::new(Mutex::new(None));
    let theirs = keep.clone();
    let report = checker("kept").iterations(1).run(move || {
        let keep = theirs.clone();
        async move { *keep.lock().unwrap() = Some(idle("old")) }
    });
    report.assert_passed();
    keep.lock().unwrap().take().unwrap()
}

#[test]
fn partitions_of_nodes_that_are_not_there_are_named() {
    let old = kept();
    let calls: [fn(&Node, &Node); 7] = [
        fabric::partition,
        fabric::heal,
        fabric::cut_one_way,
        fabric::hold,
        fabric::release,
        |a, b| fabric::isolate(a, &[b]),
        |a, b| fabric::partition_groups(&[&[a], &[b]]),
    ];
    for call in calls {
        let old = old.clone();
        let report = checker("alien").iterations(1).run(move || {
            let old = old.clone();
            async move { call(&idle("new"), &old) }
        });
        let text = failed(&report).kind.to_string();
        assert!(
            text.contains("node `old` is not of this scenario"),
            "{text}"
        );
    }
    let report = checker("alien plan").iterations(1).run(move || {
        let old = old.clone();
        async move {
            assert!(!old.is_here() && idle("new").is_here());
            let plan = FaultPlan::new().nodes([&old]).fault(Fault::Crash);
            assert_eq!(
                plan.start().unwrap_err().to_string(),
                "a fault plan names node `old`, which is not of this scenario"
            );
            let cluster = Cluster::new([&old], |_, _| 0).run().await;
            assert_eq!(
                cluster.unwrap_err().to_string(),
                "an environment of colours has node `old`, which is not of this scenario"
            );
        }
    });
    report.assert_passed();
}

/// Its number stands for another node here: that one must not be crashed, or get its messages.
#[test]
fn nodes_of_other_scenarios_do_nothing_to_those_of_this_one() {
    let old = kept();
    // Where no scenario runs there is nobody to mistake it for.
    old.crash();
    assert!(!old.is_here() && !old.is_up());
    let calls: [fn(&Node); 9] = [
        |node| {
            node.crash();
        },
        |node| {
            node.restart();
        },
        |node| {
            node.pause();
        },
        |node| {
            node.resume();
        },
        |node| drop(node.spawn(async {})),
        |node| {
            node::kill(node);
        },
        |node| {
            node::power_off(node);
        },
        |node| drop(node::addresses(node)),
        |node| node::signal(node, SignalKind::terminate()),
    ];
    for call in calls {
        let old = old.clone();
        let report = checker("alien").iterations(1).run(move || {
            let old = old.clone();
            async move {
                let _new = idle("new");
                call(&old);
            }
        });
        let text = failed(&report).kind.to_string();
        assert!(
            text.contains("node `old` is not of this scenario"),
            "{text}"
        );
        assert!(text.contains("it_fabric/bad_input.rs"), "{text}");
    }
    let report = checker("alien peer").iterations(1).run(move || {
        let old = old.clone();
        async move {
            let new = idle("new");
            let mailbox = Mailbox::<u8>::bind("m").unwrap();
            let error = mailbox.send(&old, 1).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotFound);
            let text = error.to_string();
            assert!(text.contains("no node `old` in this scenario"), "{text}");
            mailbox.send(&new, 1).unwrap();
        }
    });
    report.assert_passed();
}

/// The rest of a plan's mistakes is in `faults`; here, that they reach who runs the test.
#[test]
fn plans_that_cannot_do_anything_fail_the_test() {
    let run = |plan: fn(FaultPlan) -> FaultPlan| {
        let report = checker("plan").iterations(1).run(move || async move {
            let plan = plan(FaultPlan::new().nodes([&idle("a")]));
            plan.start().unwrap();
        });
        failed(&report).kind.to_string()
    };
    let text = run(|plan| plan.fault(Fault::Crash).total(0));
    assert!(text.contains("total(0) allows crash"), "{text}");
    let text = run(|plan| plan.fault(Fault::Partition));
    assert!(text.contains("takes 2 nodes at least"), "{text}");
    let second = Duration::from_secs(1);
    let never = move |plan: FaultPlan| plan.fault(Fault::Crash).between(second..second);
    let text = run(|plan| plan.fault(Fault::Crash).deliveries(3..3));
    assert!(text.contains("never opens"), "{text}");
    let report = checker("window").iterations(1).run(move || async move {
        let plan = never(FaultPlan::new().nodes([&idle("a")]));
        plan.start().unwrap();
    });
    assert!(failed(&report).kind.to_string().contains("never opens"));
}

/// A window that could open and does not is told of at the end of the run, not in silence.
#[test]
fn a_window_that_stayed_closed_is_in_the_report() {
    let report = checker("late").iterations(3).run(|| async {
        let hour = Duration::from_secs(3600);
        let plan = FaultPlan::new().nodes([&idle("a")]).fault(Fault::Crash);
        let _faults = plan.between(hour..2 * hour).start().unwrap();
        cct_executor::time::sleep(Duration::from_secs(1)).await;
    });
    report.assert_passed();
    let text = report.text();
    assert!(
        text.contains("the window of the fault plan opens"),
        "{text}"
    );
}
