//! Signals that a plan offers.

use super::worlds::checker;
use cct_executor::node::Node;
use cct_executor::sometimes;
use cct_executor::time::sleep;
use cct_net::fault::{Fault, FaultPlan, Faults};
use cct_net::node;
use cct_net::signal::unix::{SignalKind, signal};
use std::io;
use std::time::Duration;

const SEARCHES: [&str; 3] = ["random", "pct:d=3", "portfolio"];

fn plan(nodes: &[Node], kind: SignalKind) -> FaultPlan {
    FaultPlan::new()
        .nodes(nodes)
        .fault(Fault::Signal(kind))
        .pace(8, Duration::from_millis(10))
}

/// Faults happen beside other things only.
async fn a_while() {
    for _ in 0..40 {
        sleep(Duration::from_millis(50)).await;
    }
}

fn idle(name: &str) -> Node {
    node(name).start(std::future::pending::<()>)
}

/// Waits for SIGTERM, and ends half a second later.
fn graceful(name: &str) -> Node {
    node(name).ends_with_main().start(|| async {
        signal(SignalKind::terminate())?.recv().await;
        sleep(Duration::from_millis(500)).await;
        io::Result::Ok(())
    })
}

fn all_seen(report: &cct_executor::Report) {
    for (what, _, _, seen) in &report.coverage.sometimes {
        assert!(seen.reached > 0, "never: {what}");
    }
}

#[test]
fn who_does_not_listen_ends_and_restarts() {
    for strategy in SEARCHES {
        let report = checker("ends")
            .strategy_text(strategy)
            .iterations(100)
            .run(|| async {
                let nodes = ["a", "b"].map(idle);
                let faults = plan(&nodes, SignalKind::terminate())
                    .total(2)
                    .start()
                    .unwrap();
                for _ in 0..40 {
                    sleep(Duration::from_millis(50)).await;
                    let down = nodes.iter().filter(|node| !node.is_up()).count();
                    sometimes!(down == 1, "one is down");
                    sometimes!(down == 2, "both are down");
                }
                let history = faults.history().join("; ");
                sometimes!(history.contains("ms: SIGTERM to `a`"), "a");
                sometimes!(history.contains("ms: SIGTERM to `b` is over"), "b is over");
                ended_well(&faults, &nodes).await;
            });
        report.assert_passed();
        all_seen(&report);
    }
}

async fn ended_well(faults: &Faults, nodes: &[Node]) {
    faults.stop();
    faults.over().await;
    assert!(nodes.iter().all(Node::is_up), "{:?}", faults.history());
}

/// One at a time is one at a time, however long each takes to end.
#[test]
fn who_ends_of_it_later_restarts() {
    for strategy in SEARCHES {
        let report = checker("later")
            .strategy_text(strategy)
            .iterations(100)
            .run(|| async {
                let nodes = [graceful("a")];
                sleep(Duration::from_millis(1)).await;
                let faults = plan(&nodes, SignalKind::terminate())
                    .total(2)
                    .start()
                    .unwrap();
                for _ in 0..40 {
                    sleep(Duration::from_millis(50)).await;
                    sometimes!(!nodes[0].is_up(), "down");
                }
                sometimes!(
                    faults.history().join("; ").contains("to `a` is over"),
                    "over"
                );
                faults.stop();
                faults.over().await;
                // Told just before the end, it ends after it, and restarts nevertheless.
                a_while().await;
                assert!(nodes[0].is_up(), "{:?}", faults.history());
            });
        report.assert_passed();
        all_seen(&report);
    }
}

/// A process that was told and lives on is no fault for ever: others may follow.
#[test]
fn who_lives_on_makes_room() {
    let report = checker("reload").iterations(100).run(|| async {
        let nodes = [node("a").start(|| async {
            let mut hangup = signal(SignalKind::hangup())?;
            let mut times = 0;
            loop {
                hangup.recv().await;
                times += 1;
                sometimes!(times == 3, "told three times");
                if times > 3 {
                    return io::Result::Ok(());
                }
            }
        })];
        sleep(Duration::from_millis(1)).await;
        let faults = plan(&nodes, SignalKind::hangup())
            .concurrent(1)
            .total(3)
            .start()
            .unwrap();
        a_while().await;
        ended_well(&faults, &nodes).await;
    });
    report.assert_passed();
    all_seen(&report);
}

/// A crash that somebody asks for is none of the plan's business, whatever the process was told before.
#[test]
fn a_crash_that_was_asked_for_is_left_alone() {
    let report = checker("asked").iterations(100).run(|| async {
        let nodes = [graceful("a")];
        sleep(Duration::from_millis(1)).await;
        let faults = plan(&nodes, SignalKind::terminate())
            .total(1)
            .start()
            .unwrap();
        for _ in 0..40 {
            sleep(Duration::from_millis(50)).await;
            if faults.taken() > 0 {
                sometimes!(true, "crashed while it was about to end");
                nodes[0].crash();
                a_while().await;
                faults.stop();
                faults.over().await;
                assert!(!nodes[0].is_up());
                return;
            }
        }
    });
    report.assert_passed();
    all_seen(&report);
}

#[test]
fn stopped_nodes_go_on() {
    let report = checker("stop").iterations(50).run(|| async {
        let nodes = ["a", "b"].map(idle);
        let faults = plan(&nodes, SignalKind::from_raw(20))
            .total(2)
            .start()
            .unwrap();
        for _ in 0..20 {
            sleep(Duration::from_millis(20)).await;
            sometimes!(!nodes[0].is_up(), "stopped");
        }
        ended_well(&faults, &nodes).await;
    });
    report.assert_passed();
    all_seen(&report);
}

/// A signal that would do nothing is no fault: the report says that there was none.
#[test]
fn what_is_ignored_is_never_offered() {
    let report = checker("unused").iterations(20).run(|| async {
        let nodes = [idle("a")];
        let faults = plan(&nodes, SignalKind::window_change()).start().unwrap();
        a_while().await;
        assert_eq!(faults.taken(), 0);
        faults.stop();
    });
    report.assert_passed();
    let text = report.text();
    assert!(text.contains("the fault plan does `SIGWINCH`"), "{text}");
}

#[test]
fn reports_name_it_and_replays_repeat_it() {
    let scenario = || async {
        let nodes = [idle("a")];
        let faults = plan(&nodes, SignalKind::terminate())
            .total(1)
            .start()
            .unwrap();
        a_while().await;
        assert_eq!(faults.taken(), 0, "struck");
    };
    let report = checker("named").iterations(100).run(scenario);
    let text = report.text();
    for told in [
        "fault SIGTERM to `a`",
        "SIGTERM ended the process of `a`",
        ": SIGTERM to `a`",
    ] {
        assert!(text.contains(told), "{told}:\n{text}");
    }
    let token = report.failure().unwrap().token.clone();
    let again = checker("named").replay(token.clone()).run(scenario);
    assert_eq!(again.failure().unwrap().token, token);
}

#[test]
fn plans_that_make_no_sense_are_refused() {
    let report = checker("refused").iterations(1).run(|| async {
        let error = plan(&[idle("a")], SignalKind::from_raw(70))
            .start()
            .unwrap_err();
        let told =
            "a fault plan allows signal 70, which does not exist: expected a number from 1 to 64";
        assert_eq!(error.to_string(), told);
        let error = plan(&[], SignalKind::terminate()).start().unwrap_err();
        let told = "a fault plan allows SIGTERM, which takes 1 nodes at least: it has 0";
        assert_eq!(error.to_string(), told);
    });
    report.assert_passed();
}
