//! Bugs that take a fault at the right moment are found; what is right stays silent.

use crate::{checker, failed};
use cct_executor::node::{Node, node};
use cct_executor::time::{sleep, timeout};
use cct_executor::{Report, Seed, always, observe};
use cct_net::fault::{Fault, FaultPlan};
use cct_net::mailbox::Mailbox;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

#[derive(Clone, Debug)]
enum Message {
    Write { value: u32 },
    Copy { value: u32 },
    Copied { value: u32 },
    Written,
}

/// What survives a crash.
type Disk = Arc<AtomicU32>;

/// A primary that answers a write when its backup has it, or, with the bug, when it has it itself,
/// before it is on disk.
fn replica(name: &'static str, other: &'static str, disk: Disk, buggy: bool) -> Node {
    node(name).start(move || {
        let disk = disk.clone();
        async move {
            let mut mailbox = Mailbox::<Message>::bind("store").unwrap();
            let mut client = None;
            loop {
                let (from, message) = mailbox.recv().await;
                match message {
                    Message::Write { value } => {
                        client = Some(from);
                        mailbox.send(other, Message::Copy { value }).unwrap();
                        if buggy {
                            mailbox.send(from, Message::Written).unwrap();
                        }
                    }
                    Message::Copy { value } => {
                        disk.fetch_max(value, SeqCst);
                        mailbox.send(from, Message::Copied { value }).unwrap();
                    }
                    Message::Copied { value } => {
                        disk.fetch_max(value, SeqCst);
                        if let (Some(client), false) = (client, buggy) {
                            mailbox.send(client, Message::Written).unwrap();
                        }
                    }
                    Message::Written => {}
                }
            }
        }
    })
}

fn store(buggy: bool, strategy: &str, iterations: u64) -> Report {
    checker("store")
        .strategy_text(strategy)
        .determinism_check(false)
        .iterations(iterations)
        .run(move || async move {
            let disks: [Disk; 2] = Default::default();
            let primary = replica("primary", "backup", disks[0].clone(), buggy);
            let backup = replica("backup", "primary", disks[1].clone(), buggy);
            observe::observe("written", 0);
            let faults = FaultPlan::new()
                .nodes([&primary, &backup])
                .fault_on(Fault::Crash, [&primary])
                .fault(Fault::Cut)
                .fault(Fault::Drop)
                .total(2)
                .pace(64, Duration::from_millis(10))
                .start()
                .unwrap();
            let mut mailbox = Mailbox::<Message>::bind("store").unwrap();
            let mut written = 0;
            for value in 1..=8 {
                mailbox.send(&primary, Message::Write { value }).unwrap();
                let answer = timeout(Duration::from_millis(200), mailbox.recv()).await;
                if answer.is_ok() {
                    written = value;
                }
            }
            faults.stop();
            sleep(Duration::from_secs(2)).await;
            let kept = disks.iter().map(|disk| disk.load(SeqCst)).max().unwrap();
            always!(kept >= written, "{written} was written, {kept} is there");
        })
}

#[test]
fn a_lost_write_is_found() {
    for strategy in ["random", "pct:d=3"] {
        let report = store(true, strategy, 500);
        let failure = failed(&report);
        assert_eq!(failure.kind.class(), "broken invariant", "{strategy}");
        assert!(failure.reproduced);
        // The report says what went wrong with the network.
        let text = report.text();
        assert!(text.contains("fault at "), "{text}");
        store(false, strategy, 500).assert_passed();
    }
}

/// The same seed, the same faults: one failure, one token.
#[test]
fn faults_repeat_themselves() {
    let (first, second) = (store(true, "random", 500), store(true, "random", 500));
    let (first, second) = (failed(&first), failed(&second));
    assert_eq!(first.token, second.token);
    let checked = checker("checked").iterations(100).run(|| async {
        let disks: [Disk; 2] = Default::default();
        let primary = replica("primary", "backup", disks[0].clone(), false);
        let backup = replica("backup", "primary", disks[1].clone(), false);
        let plan = FaultPlan::new().nodes([&primary, &backup]).total(6);
        let kinds = [Fault::Crash, Fault::Partition, Fault::Restart, Fault::Delay];
        let plan = kinds.into_iter().fold(plan, FaultPlan::fault);
        let faults = plan.pace(8, Duration::from_millis(1)).start().unwrap();
        let mailbox = Mailbox::<Message>::bind("store").unwrap();
        for value in 1..20 {
            mailbox.send(&primary, Message::Write { value }).unwrap();
            sleep(Duration::from_millis(5)).await;
        }
        faults.over().await;
    });
    checked.assert_passed();
    assert!(checked.coverage.checked_twice > 0);
}

/// "Cut the leader off after the first commit", and nobody else, and not before.
#[test]
fn the_leader_is_cut_off_after_the_first_commit() {
    let report = checker("leader").iterations(200).run(|| async {
        let nodes = ["a", "b", "c"].map(|name| {
            node(name).start(|| async {
                let mut mailbox = Mailbox::<u32>::bind("m").unwrap();
                loop {
                    let (from, n) = mailbox.recv().await;
                    let _ = mailbox.send(from, n);
                }
            })
        });
        let leader = u64::from(nodes[1].id().0);
        observe::each("role", leader, "leader");
        let faults = FaultPlan::new()
            .nodes(&nodes)
            .fault(Fault::Isolate)
            .total(1)
            .after("the first commit", |seen| seen.number("commits") >= Some(1))
            .target(|node, seen| {
                let id = u64::from(node.id().0);
                seen.instances()
                    .any(|i| i.id() == id && i.is("role", "leader"))
            })
            .pace(4, Duration::from_millis(1))
            .start()
            .unwrap();
        let mut mailbox = Mailbox::<u32>::bind("m").unwrap();
        for commits in 0..20 {
            mailbox.send("a", commits).unwrap();
            mailbox.recv().await;
            if commits < 10 {
                assert_eq!(faults.taken(), 0);
            } else {
                observe::number("commits", i64::from(commits) - 9);
            }
        }
        let history = faults.history();
        assert!(
            history
                .iter()
                .all(|line| !line.contains("isolate `") || line.contains("isolate `b`"))
        );
        cct_executor::sometimes!(faults.taken() == 1, "the leader is cut off");
    });
    report.assert_passed();
    assert_eq!(report.never_reached().count(), 0);
}

/// Of the faults and orders that were found together, those remain that it takes.
#[test]
fn a_schedule_is_shortened_to_the_fault_that_matters() {
    for seed in 0..5 {
        let report = checker("gossip")
            .seed(Seed(seed))
            .determinism_check(false)
            .await_check(false)
            .run(|| async {
                let peers = ["a", "b", "c"].map(|name| {
                    node(name).start(|| async {
                        let mut mailbox = Mailbox::<u32>::bind("gossip").unwrap();
                        for round in 0..5 {
                            let _ = mailbox.send("a", round);
                            let _ = mailbox.send("b", round);
                            sleep(Duration::from_millis(10)).await;
                            while mailbox.try_recv().is_some() {}
                        }
                    })
                });
                let kinds = [Fault::Crash, Fault::Partition, Fault::Drop, Fault::Delay];
                let plan = FaultPlan::new().nodes(&peers).total(6);
                let plan = kinds.into_iter().fold(plan, FaultPlan::fault);
                let faults = plan.pace(8, Duration::from_millis(10)).start().unwrap();
                sleep(Duration::from_millis(60)).await;
                let crashed = peers.iter().any(|peer| !peer.is_up());
                faults.stop();
                assert!(!crashed, "one is down");
            });
        let failure = failed(&report);
        let steps = &failure.explanation.steps;
        let faults = steps.iter().filter(|step| step.what.starts_with("fault"));
        assert_eq!(faults.count(), 1, "{}", report.text());
        let departures = failure.departures.as_ref().expect("it was shortened");
        assert!(departures.len() <= 3, "{}", report.text());
    }
}
