//! Fault plans: what they may do, and when.

use crate::{STRATEGIES, checker, everywhere, failed};
use cct_executor::node::{Node, node};
use cct_executor::time::{Instant, sleep, timeout};
use cct_executor::{Checker, Report, observe, sometimes};
use cct_net::fabric;
use cct_net::fault::{Fault, FaultPlan, Faults};
use cct_net::mailbox::{Calls, Mailbox};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const NAMES: [&str; 3] = ["a", "b", "c"];
const ALL: [Fault; 11] = [
    Fault::Crash,
    Fault::Kill,
    Fault::Restart,
    Fault::Pause,
    Fault::Partition,
    Fault::Cut,
    Fault::Isolate,
    Fault::Hold,
    Fault::Drop,
    Fault::Duplicate,
    Fault::Delay,
];

/// Nodes that send to each other all the time.
fn gossip() -> Vec<Node> {
    let main = || async {
        let mut mailbox = Mailbox::<u32>::builder("gossip")
            .duplicable()
            .bind()
            .unwrap();
        for round in 0.. {
            for name in NAMES {
                let _ = mailbox.send(name, round);
            }
            sleep(Duration::from_millis(20)).await;
            while mailbox.try_recv().is_some() {}
        }
    };
    NAMES.map(|name| node(name).start(main)).to_vec()
}

/// Whether all links are whole and all nodes up: whatever is sent arrives.
async fn all_is_well(nodes: &[Node]) {
    assert!(nodes.iter().all(Node::is_up));
    sleep(Duration::from_millis(1100)).await;
    let before = fabric::statistics();
    sleep(Duration::from_millis(200)).await;
    let after = fabric::statistics();
    assert!(after.sent >= before.sent + 9 * 9);
    assert_eq!(after.lost, before.lost);
    assert!(after.in_flight <= 9);
}

/// Every kind of fault happens, is mended, and leaves nothing behind.
#[test]
fn every_fault_happens_and_is_mended() {
    for fault in ALL {
        for strategy in ["random", "pct:d=3"] {
            let seen = Arc::new(Mutex::new(BTreeSet::new()));
            let theirs = seen.clone();
            let report = checker("every fault")
                .determinism_check(false)
                .strategy_text(strategy)
                .iterations(8)
                .run(move || {
                    let seen = theirs.clone();
                    async move {
                        let nodes = gossip();
                        let faults = FaultPlan::new().nodes(&nodes).fault(fault);
                        let faults = faults.pace(32, Duration::from_millis(10)).start().unwrap();
                        sleep(Duration::from_secs(2)).await;
                        faults.stop();
                        assert!(faults.is_over());
                        assert!(faults.taken() <= 4);
                        all_is_well(&nodes).await;
                        let sum = fabric::statistics();
                        let told = sum.arrived + sum.lost + sum.in_flight;
                        // A copy arrives, and was not sent.
                        let copies = told - sum.sent;
                        assert!(copies == 0 || fault == Fault::Duplicate, "{sum:?}");
                        let happened = faults.history();
                        let happened = happened.iter().map(|line| {
                            let what = line.split(": ").nth(1).unwrap();
                            assert!(what.starts_with(fault.name()), "{line}");
                            what.to_owned()
                        });
                        seen.lock().unwrap().extend(happened);
                    }
                });
            report.assert_passed();
            let seen = seen.lock().unwrap();
            let begun = seen
                .iter()
                .filter(|what| !what.ends_with("is over"))
                .count();
            assert!(begun >= 3, "{fault} under {strategy}: {seen:?}");
        }
    }
}

/// Two nodes that send by turns: when a message has arrived, none is on its way.
fn by_turns() -> Vec<Node> {
    let main = |name: &'static str, other: &'static str| {
        move || async move {
            let mailbox = Mailbox::<u32>::builder("turns").duplicable();
            let mut mailbox = mailbox.bind().unwrap();
            if name == "a" {
                let _ = mailbox.send(other, 1);
            }
            loop {
                let next = mailbox.recv();
                let round = match cct_executor::time::timeout(Duration::from_millis(50), next).await
                {
                    Ok((_, round)) => round + 1,
                    Err(_) if name == "a" => 1,
                    Err(_) => continue,
                };
                if round < 20 {
                    let _ = mailbox.send(other, round);
                }
            }
        }
    };
    vec![
        node("a").start(main("a", "b")),
        node("b").start(main("b", "a")),
    ]
}

/// What hits messages is offered when one is sent, and not only where another is on its way already.
#[test]
fn messages_that_are_sent_by_turns_are_hit() {
    for fault in [Fault::Drop, Fault::Duplicate, Fault::Delay] {
        let hits = Arc::new(AtomicU32::new(0));
        let theirs = hits.clone();
        let report = checker("by turns")
            .determinism_check(false)
            .strategy_text("random")
            .iterations(100)
            .run(move || {
                let hits = theirs.clone();
                async move {
                    let nodes = by_turns();
                    let plan = FaultPlan::new().nodes(&nodes).fault(fault).total(1);
                    let faults = plan.pace(8, Duration::from_millis(10)).start().unwrap();
                    sleep(Duration::from_millis(200)).await;
                    hits.fetch_add(faults.taken(), SeqCst);
                }
            });
        report.assert_passed();
        let hits = hits.load(SeqCst);
        assert!(hits >= 50, "{fault} in {hits} of 100 iterations");
    }
}

/// Nothing has to arrive before the first message can be lost.
#[test]
fn the_first_message_may_be_lost() {
    let report = checker("the first message").iterations(200).run(|| async {
        let nodes = by_turns();
        let plan = FaultPlan::new().nodes(&nodes).fault(Fault::Drop).total(1);
        let faults = plan.pace(8, Duration::from_millis(10)).start().unwrap();
        sleep(Duration::from_millis(40)).await;
        let nothing = fabric::statistics().arrived == 0;
        sometimes!(faults.taken() == 1 && nothing, "the first is lost");
        sometimes!(faults.taken() == 1 && !nothing, "another is lost");
    });
    assert_eq!(report.never_reached().count(), 0);
}

/// A random walk takes its first fault early in some iterations and late in others.
#[test]
fn faults_are_spread_over_the_iteration() {
    for strategy in ["random", "pct:d=3"] {
        let firsts = Arc::new(Mutex::new(Vec::new()));
        let theirs = firsts.clone();
        let report = checker("spread")
            .determinism_check(false)
            .strategy_text(strategy)
            .iterations(200)
            .run(move || {
                let firsts = theirs.clone();
                async move {
                    let nodes = gossip();
                    let hit = Arc::new(AtomicU32::new(u32::MAX));
                    let theirs = hit.clone();
                    let begin = fabric::statistics().arrived;
                    let first = move || {
                        let arrived = fabric::statistics().arrived - begin;
                        theirs.store(u32::try_from(arrived).unwrap(), SeqCst);
                    };
                    let plan = FaultPlan::new().nodes(&nodes).hook("first", first).total(1);
                    let _faults = plan.start().unwrap();
                    sleep(Duration::from_secs(1)).await;
                    firsts.lock().unwrap().push(hit.load(SeqCst));
                }
            });
        report.assert_passed();
        let firsts = firsts.lock().unwrap();
        let between = |from, to| firsts.iter().filter(|&&n| n >= from && n < to).count();
        let counts = [
            between(0, 8),
            between(8, 64),
            between(64, 600),
            between(600, u32::MAX),
        ];
        assert!(
            counts[..3].iter().all(|&n| n >= 20),
            "{strategy}: {counts:?}"
        );
        assert!(
            firsts.iter().filter(|&&n| n < u32::MAX).count() > 130,
            "{strategy}"
        );
    }
}

#[test]
fn budgets_hold() {
    let most = Arc::new(AtomicU32::new(0));
    let theirs = most.clone();
    everywhere("budgets", 15, move || {
        let most = theirs.clone();
        async move {
            let nodes = gossip();
            let faults = FaultPlan::new()
                .nodes(&nodes)
                .fault_up_to(Fault::Crash, 1)
                .fault_on(Fault::Pause, [&nodes[1]])
                .fault(Fault::Cut)
                .total(5)
                .concurrent(2)
                .per_episode(3)
                .pace(16, Duration::from_millis(5))
                .start()
                .unwrap();
            sleep(Duration::from_secs(2)).await;
            faults.stop();
            let (mut now, mut taken, mut episode, mut crashes) = (0, 0, 0, 0);
            for line in faults.history() {
                if line.ends_with("is over") {
                    now -= 1;
                    continue;
                }
                episode = if now == 0 { 1 } else { episode + 1 };
                (now, taken) = (now + 1, taken + 1);
                crashes += u32::from(line.contains("crash"));
                assert!(
                    !line.contains("pause") || line.ends_with("pause `b`"),
                    "{line}"
                );
                assert!(now <= 2 && taken <= 5 && episode <= 3 && crashes <= 1);
            }
            assert_eq!((now, taken), (0, faults.taken()));
            most.fetch_max(taken, SeqCst);
        }
    });
    assert_eq!(most.load(SeqCst), 5);
}

#[test]
fn windows_hold() {
    for deliveries in [false, true] {
        let seen = Arc::new(AtomicU32::new(0));
        let theirs = seen.clone();
        everywhere("windows", 6, move || {
            let seen = theirs.clone();
            async move {
                let nodes = gossip();
                let begin = Instant::now();
                let hit = Arc::new(AtomicU32::new(0));
                let (hits, zero) = (hit.clone(), fabric::statistics().arrived);
                let plan = FaultPlan::new()
                    .nodes(&nodes)
                    .hook("tap", move || {
                        hits.fetch_add(1, SeqCst);
                        if deliveries {
                            let arrived = fabric::statistics().arrived - zero;
                            assert!((100..300).contains(&arrived), "{arrived}");
                        } else {
                            let elapsed = begin.elapsed().as_millis();
                            assert!((300..900).contains(&elapsed), "{elapsed}");
                        }
                    })
                    .fault(Fault::Isolate)
                    .pace(16, Duration::from_millis(10));
                let plan = if deliveries {
                    plan.deliveries(100..300)
                } else {
                    plan.between(Duration::from_millis(300)..Duration::from_millis(900))
                };
                let faults = plan.start().unwrap();
                faults.over().await;
                assert!(begin.elapsed() <= Duration::from_secs(31));
                all_is_well(&nodes).await;
                seen.fetch_add(hit.load(SeqCst), SeqCst);
            }
        });
        assert!(seen.load(SeqCst) > 10);
    }
}

/// Nodes that are stuck because of a fault that lasts are no deadlock: it is mended in the end.
#[test]
fn what_waits_for_the_mending_is_no_deadlock() {
    for strategy in STRATEGIES {
        let report = checker("mending")
            .strategy_text(strategy)
            .iterations(200)
            .run(|| async {
                let server = node("server").start(|| async {
                    let mut mailbox = Mailbox::<u32>::bind("m").unwrap();
                    loop {
                        let (from, n) = mailbox.recv().await;
                        mailbox.send(from, n + 1).unwrap();
                    }
                });
                let client = node("client").start(std::future::pending::<()>);
                let plan = FaultPlan::new().nodes([&server, &client]);
                let plan = plan
                    .fault(Fault::Hold)
                    .fault(Fault::Pause)
                    .pace(8, Duration::ZERO);
                let _faults = plan.start().unwrap();
                let work = client.spawn(async {
                    let mut mailbox = Mailbox::<u32>::bind("m").unwrap();
                    for n in 0..10 {
                        mailbox.send("server", n).unwrap();
                        assert_eq!(mailbox.recv().await.1, n + 1);
                    }
                });
                work.await.unwrap();
            });
        report.assert_passed();
    }
    // And a real one is found once the plan is over.
    let report = checker("stuck").iterations(1).run(|| async {
        let a = node("a").start(std::future::pending::<()>);
        let _faults = FaultPlan::new()
            .nodes([&a])
            .fault(Fault::Pause)
            .start()
            .unwrap();
        std::future::pending::<()>().await;
    });
    assert_eq!(failed(&report).kind.class(), "deadlock");
}

fn never_reached(report: &Report) -> Vec<&'static str> {
    report.never_reached().collect()
}

#[test]
fn plans_that_do_nothing_are_reported() {
    let run = |plan: fn(FaultPlan) -> FaultPlan| {
        let report = checker("unused").iterations(20).run(move || async move {
            let nodes = gossip();
            observe::number("commit", 1);
            let base = FaultPlan::new().nodes(&nodes).fault(Fault::Crash);
            let _faults = plan(base).start().unwrap();
            sleep(Duration::from_secs(2)).await;
        });
        report.assert_passed();
        let mut names = never_reached(&report);
        names.sort_unstable();
        names
    };
    let (opens, does) = (
        "the window of the fault plan opens",
        "the fault plan does `crash`",
    );
    assert!(run(|plan| plan).is_empty());
    let late = |plan: FaultPlan| plan.between(Duration::from_secs(5)..Duration::from_secs(6));
    assert_eq!(run(late), [does, opens]);
    let never =
        |plan: FaultPlan| plan.after("the second commit", |seen| seen.number("commit") >= Some(2));
    assert_eq!(run(never), [does, "the second commit", opens]);
    assert!(run(|plan| plan.after("a commit", |seen| seen.number("commit") >= Some(1))).is_empty());
    assert_eq!(run(|plan| plan.target(|_, _| false)), [does]);
}

/// Nobody allows copies of these messages, and that is said although the plan does something else.
#[test]
fn kinds_that_are_never_done_are_reported() {
    let report = checker("one kind").iterations(15).run(|| async {
        let main = || async {
            let mut mailbox = Mailbox::<u32>::bind("gossip").unwrap();
            for round in 0.. {
                let _ = mailbox.send(NAMES[round as usize % 2], round);
                let _ = timeout(Duration::from_millis(10), mailbox.recv()).await;
            }
        };
        let nodes = [NAMES[0], NAMES[1]].map(|name| node(name).start(main));
        let plan = FaultPlan::new().nodes(&nodes).fault(Fault::Duplicate);
        let _faults = plan.fault(Fault::Crash).total(3).start().unwrap();
        sleep(Duration::from_millis(500)).await;
    });
    report.assert_passed();
    let never = never_reached(&report);
    assert_eq!(never.len(), 1, "{never:?}");
    assert!(never[0].starts_with("the fault plan does `duplicate` (a mailbox takes copies if"));
}

#[test]
fn mistakes_are_named() {
    let report = checker("mistakes").iterations(1).run(|| async {
        let [a, b] = ["a", "b"].map(|name| node(name).start(std::future::pending::<()>));
        let error = |plan: FaultPlan| plan.start().unwrap_err().to_string();
        let both = || FaultPlan::new().nodes([&a, &b]).fault(Fault::Crash);
        assert_eq!(
            error(FaultPlan::new().nodes([&a])),
            "a fault plan without faults: allow some with `fault` or `hook`"
        );
        assert_eq!(
            error(both().fault(Fault::Cut).total(0)),
            "a fault plan with total(0) allows crash, cut: none of them could happen"
        );
        assert_eq!(
            error(both().concurrent(0)),
            "a fault plan with concurrent(0) allows crash: none of them could happen"
        );
        assert_eq!(
            error(FaultPlan::new().nodes([&a, &a]).fault(Fault::Partition)),
            "a fault plan allows partition, which takes 2 nodes at least: it has 1"
        );
        assert_eq!(
            error(FaultPlan::new().nodes([&a]).fault_on(Fault::Crash, [&b])),
            "a fault plan allows crash on node `b`, which is not one of its nodes"
        );
        assert_eq!(
            error(FaultPlan::new().nodes([&a]).fault_up_to(Fault::Crash, 0)),
            "a fault plan allows crash 0 times"
        );
        let second = Duration::from_secs(1);
        assert_eq!(
            error(both().between(second..second)),
            "the window 1s..1s of a fault plan never opens"
        );
        assert_eq!(
            error(both().deliveries(5..5)),
            "the window of deliveries 5..5 of a fault plan never opens"
        );
    });
    report.assert_passed();
    let outside = FaultPlan::new().hook("x", || {}).start().unwrap_err();
    assert!(
        outside.to_string().contains("inside a scenario only"),
        "{outside}"
    );
}

#[test]
fn buggify_says_yes_within_its_budget_and_only_inside_a_plan() {
    let total = Arc::new(AtomicU32::new(0));
    let theirs = total.clone();
    let report = checker("buggify").iterations(200).run(move || {
        let total = theirs.clone();
        async move {
            let [a, b] = ["a", "b"].map(|name| node(name).start(std::future::pending::<()>));
            assert!(!cct_net::buggify("slow fsync"));
            let plan = FaultPlan::new().nodes([&a]).buggify(2);
            let faults: Faults = plan.start().unwrap();
            let yes =
                || async { (0..20).filter(|_| cct_net::buggify("slow fsync")).count() as u32 };
            assert_eq!(b.spawn(yes()).await.unwrap(), 0);
            let count = a.spawn(yes()).await.unwrap();
            assert!(count <= 2);
            assert_eq!(faults.history().len() as u32, count);
            total.fetch_add(count, SeqCst);
            faults.stop();
            assert_eq!(a.spawn(yes()).await.unwrap(), 0);
        }
    });
    report.assert_passed();
    assert!((40..360).contains(&total.load(SeqCst)), "{total:?}");
    assert!(!cct_net::buggify("slow fsync"));
}

/// Faults on all nodes at once, in a world of many.
#[test]
fn plans_work_on_many_nodes() {
    let report = checker("many").iterations(20).run(|| async {
        let nodes: Vec<Node> = (0..40)
            .map(|i| node(format!("n{i}")).start(std::future::pending::<()>))
            .collect();
        let plan = FaultPlan::new()
            .nodes(&nodes)
            .pace(4, Duration::from_millis(10));
        let kinds = [Fault::Partition, Fault::Cut, Fault::Crash, Fault::Isolate];
        let plan = kinds.into_iter().fold(plan, FaultPlan::fault);
        let faults = plan.start().unwrap();
        for _ in 0..300 {
            sleep(Duration::from_millis(1)).await;
        }
        cct_executor::sometimes!(faults.taken() > 0, "something happened");
        faults.stop();
        assert!(nodes.iter().all(Node::is_up));
    });
    report.assert_passed();
    assert_eq!(never_reached(&report), [""; 0]);
}

/// While everybody waits for a timer, what lasts may be over before it fires, and may not.
#[test]
fn faults_end_in_the_quiet() {
    let report = checker("quiet").iterations(600).run(|| async {
        let begin = Instant::now();
        let db = node("db").start(move || async move {
            let started = begin.elapsed();
            let early = Duration::from_millis(1)..Duration::from_millis(999);
            sometimes!(early.contains(&started), "back before the timer fires");
            for _ in 0..40 {
                cct_net::fs::write("/f", "x").await?;
            }
            std::future::pending::<std::io::Result<()>>().await
        });
        let plan = FaultPlan::new().nodes([&db]).fault(Fault::Crash).total(1);
        let faults = plan.start().unwrap();
        sleep(Duration::from_secs(1)).await;
        sometimes!(!db.is_up(), "still away when it has fired");
        faults.stop();
    });
    report.assert_passed();
    for (what, _, _, seen) in &report.coverage.sometimes {
        assert!(seen.reached > 0, "never: {what}");
    }
}

/// A report says which message a fault hit and what was in it, where it was received, and nothing of this
/// library's own places.
#[test]
fn reports_show_messages() {
    #[derive(Clone, Debug)]
    struct Vote {
        term: u32,
    }
    let report = checker("votes").iterations(200).run(|| async {
        let bind = || Mailbox::<Vote>::builder("election").debug().bind().unwrap();
        let voter = node("voter").start(move || async move {
            let mailbox = bind();
            let _ = mailbox.send("candidate", Vote { term: 7 });
            std::future::pending::<()>().await;
        });
        let candidate = node("candidate").start(move || async move {
            assert_eq!(bind().recv().await.1.term, 7);
            let mut calls = Calls::<u32, u32>::bind("idle").unwrap();
            calls.recv().await;
        });
        let plan = FaultPlan::new().nodes([&voter, &candidate]);
        let faults = plan.fault(Fault::Drop).total(1).start().unwrap();
        sleep(Duration::from_millis(1)).await;
        assert_eq!(faults.taken(), 0, "lost");
    });
    let text = report.text();
    for told in [
        "fault drop Vote { term: 7 } `voter` -> `candidate`",
        ": mailbox `election`",
    ] {
        assert!(text.contains(told), "{told}:\n{text}");
    }
    assert!(!text.contains("cct-net/src"), "{text}");
    let received = Checker::new()
        .name("a vote arrives")
        .use_environment(false)
        .iterations(1)
        .run(|| async {
            let line = line!() + 3;
            node("candidate").start(|| async {
                sleep(Duration::from_millis(1)).await;
                let mut mailbox = Mailbox::<Vote>::bind("election").unwrap();
                mailbox.recv().await;
                mailbox.recv().await;
            });
            node("voter").start(|| async {
                // The sender is first to need the receiver's end.
                let mailbox = Mailbox::<Vote>::builder("election").debug().bind().unwrap();
                mailbox.send("candidate", Vote { term: 7 }).unwrap();
                std::future::pending::<()>().await;
            });
            sleep(Duration::from_millis(2)).await;
            panic!("bound at line {line}.");
        });
    let text = received.text();
    let line = text.split("bound at line ").nth(1).unwrap();
    let line = line.split('.').next().unwrap();
    let told = format!("faults.rs:{line}: mailbox `election`");
    assert!(text.contains(&told), "{told}\n{text}");
    assert!(text.contains("deliver Vote { term: 7 } `voter`"), "{text}");
}
