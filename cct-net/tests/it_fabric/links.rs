//! Cuts, holds, rules and time on links, seen through mailboxes.

use crate::{checker, everywhere, failed};
use cct_executor::node::{Node, node};
use cct_executor::time::{Instant, sleep, timeout};
use cct_net::fabric::{self, Delivery, Latency, Timed, Verdict};
use cct_net::mailbox::Mailbox;
use cct_sync::mpsc;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(10);

/// A node that passes on what its mailbox receives, with the time of arrival.
fn listener(name: &str) -> (Node, mpsc::UnboundedReceiver<(u32, Duration)>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let begin = Instant::now();
    let node = node(name).start(move || {
        let sender = sender.clone();
        async move {
            let mut mailbox = Mailbox::<u32>::bind("numbers").unwrap();
            loop {
                let (_, number) = mailbox.recv().await;
                let _ = sender.send((number, begin.elapsed()));
            }
        }
    });
    (node, receiver)
}

/// A node that does nothing, and a way to send from it.
async fn speaker(name: &str) -> (Node, cct_net::mailbox::Sender<u32>) {
    let node = node(name).start(std::future::pending::<()>);
    let bound = node.spawn(async {
        let mailbox = Mailbox::<u32>::bind("numbers").unwrap();
        let sender = mailbox.sender();
        (mailbox, sender)
    });
    let (mailbox, sender) = bound.await.unwrap();
    node.spawn(async move {
        let _bound = mailbox;
        std::future::pending::<()>().await;
    });
    (node, sender)
}

async fn numbers(receiver: &mut mpsc::UnboundedReceiver<(u32, Duration)>) -> Vec<u32> {
    let mut numbers = Vec::new();
    while let Ok(Some((number, _))) = timeout(Duration::from_secs(1), receiver.recv()).await {
        numbers.push(number);
    }
    numbers
}

#[test]
fn a_partition_loses_what_it_cuts_until_it_is_healed() {
    everywhere("partition", 20, || async {
        let (b, mut heard) = listener("b");
        let (a, sender) = speaker("a").await;
        sender.send(&b, 1).unwrap();
        assert_eq!(numbers(&mut heard).await, [1]);
        fabric::partition(&a, &b);
        sender.send(&b, 2).unwrap();
        assert_eq!(numbers(&mut heard).await, []);
        fabric::heal(&a, &b);
        sender.send(&b, 3).unwrap();
        assert_eq!(numbers(&mut heard).await, [3]);
        let seen = fabric::statistics();
        assert_eq!(
            (seen.sent, seen.arrived, seen.lost, seen.in_flight),
            (3, 2, 1, 0)
        );
    });
}

#[test]
fn what_is_on_its_way_is_lost_by_a_cut_and_kept_by_a_hold() {
    everywhere("hold", 20, || async {
        let (b, mut heard) = listener("b");
        let (a, sender) = speaker("a").await;
        fabric::hold(&a, &b);
        (1..=3).for_each(|n| sender.send(&b, n).unwrap());
        assert_eq!(numbers(&mut heard).await, []);
        assert_eq!(fabric::statistics().in_flight, 3);
        fabric::release(&a, &b);
        assert_eq!(numbers(&mut heard).await, [1, 2, 3]);
        fabric::hold(&a, &b);
        sender.send(&b, 4).unwrap();
        fabric::cut_one_way(&a, &b);
        fabric::heal_all();
        sender.send(&b, 5).unwrap();
        assert_eq!(numbers(&mut heard).await, [5]);
    });
}

#[test]
fn a_one_way_cut_leaves_the_other_direction() {
    everywhere("one way", 20, || async {
        let (b, mut heard) = listener("b");
        let (c, mut heard_back) = listener("c");
        let (a, sender) = speaker("a").await;
        let back = c.spawn(async { Mailbox::<u32>::builder("back").bind().unwrap() });
        let back = back.await.unwrap();
        fabric::cut_one_way(&a, &c);
        sender.send(&b, 1).unwrap();
        sender.send(&c, 2).unwrap();
        back.send(&a, 3).unwrap();
        let there = a.spawn(async { Mailbox::<u32>::bind("back").unwrap().recv().await.1 });
        assert_eq!(there.await.unwrap(), 3);
        assert_eq!(numbers(&mut heard).await, [1]);
        assert_eq!(numbers(&mut heard_back).await, []);
    });
}

#[test]
fn groups_are_whole_inside_and_cut_between() {
    everywhere("groups", 10, || async {
        let (b, mut heard_b) = listener("b");
        let (c, mut heard_c) = listener("c");
        let (a, sender) = speaker("a").await;
        fabric::partition(&a, &b);
        fabric::partition_groups(&[&[&a, &b], &[&c]]);
        sender.send(&b, 1).unwrap();
        sender.send(&c, 2).unwrap();
        assert_eq!(numbers(&mut heard_b).await, [1]);
        assert_eq!(numbers(&mut heard_c).await, []);
        fabric::heal_all();
        fabric::isolate(&a, &[&a, &b, &c]);
        sender.send(&b, 3).unwrap();
        sender.send(&c, 4).unwrap();
        assert_eq!(numbers(&mut heard_b).await, []);
        assert_eq!(numbers(&mut heard_c).await, []);
    });
}

#[test]
fn a_rule_decides_on_every_message() {
    everywhere("rule", 20, || async {
        let (b, mut heard) = listener("b");
        let (_a, sender) = speaker("a").await;
        let mut seen = 0;
        let to = b.id();
        fabric::set_rule(move |envelope| {
            assert_eq!((envelope.to, envelope.label, envelope.size), (to, "u32", 4));
            seen += 1;
            match seen {
                1 => Verdict::Drop,
                2 => Verdict::DeliverAfter(LONG),
                // These messages cannot be duplicated: they pass.
                3 => Verdict::Duplicate,
                _ => Verdict::Pass,
            }
        });
        (1..=4).for_each(|n| sender.send(&b, n).unwrap());
        // A later message does not overtake an earlier one.
        sleep(LONG / 2).await;
        assert!(heard.try_recv().is_err());
        sleep(LONG).await;
        assert_eq!(numbers(&mut heard).await, [2, 3, 4]);
    });
}

#[test]
fn time_on_a_link_is_latency_and_bandwidth() {
    everywhere("timed", 5, || async {
        let (b, mut heard) = listener("b");
        let (a, sender) = speaker("a").await;
        let begin = Instant::now();
        let latency = Latency::constant(Duration::from_millis(100));
        let timed = Timed {
            latency,
            // Messages of 4 bytes: 10 ms each.
            bandwidth: Some(400),
        };
        fabric::set_delivery(&a, &b, Delivery::Timed(timed));
        (0..5).for_each(|n| sender.send(&b, n).unwrap());
        for n in 0..5 {
            let (number, _) = heard.recv().await.unwrap();
            assert_eq!(number, n);
            let expected = Duration::from_millis(110 + 10 * u64::from(n));
            assert_eq!(begin.elapsed(), expected);
        }
    });
}

/// A distribution: within its bounds, not always the same, the mean where it should be.
#[test]
fn latencies_follow_their_distribution() {
    let report = checker("distribution").iterations(3).run(|| async {
        let (b, mut heard) = listener("b");
        let (_a, sender) = speaker("a").await;
        let uniform = rand_distr::Uniform::new(0.010, 0.030).unwrap();
        fabric::set_default_delivery(Delivery::Timed(Timed {
            latency: Latency::seconds(uniform),
            bandwidth: None,
        }));
        let mut all = Vec::new();
        for n in 0..400 {
            let sent = Instant::now();
            sender.send(&b, n).unwrap();
            heard.recv().await.unwrap();
            all.push(sent.elapsed().as_secs_f64());
        }
        // Timers have milliseconds, rounded up.
        assert!(all.iter().all(|&t| (0.010..=0.031).contains(&t)));
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        assert!((mean - 0.0205).abs() < 0.0015, "mean {mean}");
    });
    report.assert_passed();
}

#[test]
fn a_crash_drops_what_is_on_its_way_to_the_node() {
    everywhere("crash", 20, || async {
        let (b, mut heard) = listener("b");
        let (a, sender) = speaker("a").await;
        fabric::hold(&a, &b);
        sender.send(&b, 1).unwrap();
        b.crash();
        sender.send(&b, 2).unwrap();
        fabric::release(&a, &b);
        b.restart();
        sender.send(&b, 3).unwrap();
        assert_eq!(numbers(&mut heard).await, [3]);
        // What a process that dies leaves behind still arrives.
        fabric::hold(&a, &b);
        sender.send(&b, 4).unwrap();
        cct_net::node::kill(&a);
        fabric::release(&a, &b);
        assert_eq!(numbers(&mut heard).await, [4]);
    });
}

/// What is on its way when the power fails may arrive or not, the later packets only if those before them do.
#[test]
fn a_power_cut_may_lose_the_last_of_what_was_sent() {
    let all: Arc<Mutex<BTreeSet<Vec<u32>>>> = Arc::default();
    let seen = all.clone();
    let report = checker("power cut").iterations(200).run(move || {
        let seen = seen.clone();
        async move {
            let (b, mut heard) = listener("b");
            let (a, sender) = speaker("a").await;
            fabric::hold(&a, &b);
            (1..4).for_each(|n| sender.send(&b, n).unwrap());
            a.crash();
            fabric::release(&a, &b);
            let lost = fabric::statistics().lost;
            let heard = numbers(&mut heard).await;
            assert_eq!(heard.len() as u64 + lost, 3);
            seen.lock().unwrap().insert(heard);
        }
    });
    report.assert_passed();
    let possible = [vec![], vec![1], vec![1, 2], vec![1, 2, 3]];
    assert_eq!(*all.lock().unwrap(), BTreeSet::from(possible));
}

#[test]
fn a_report_says_whose_packets_a_power_cut_has_lost() {
    let report = checker("told").iterations(200).run(|| async {
        let (b, mut heard) = listener("b");
        let (a, sender) = speaker("a").await;
        fabric::hold(&a, &b);
        (1..3).for_each(|n| sender.send(&b, n).unwrap());
        a.crash();
        fabric::release(&a, &b);
        assert_eq!(numbers(&mut heard).await, [1, 2]);
    });
    let text = report.text();
    let lines = text.lines();
    let mut lost = lines.filter(|line| line.contains("packets that are lost with their host = "));
    let told = lost.all(|line| line.contains(": of 2, the first ") && line.contains(" `a` -> `b`"));
    assert!(
        told && text.contains("packets that are lost with"),
        "{text}"
    );
}

#[test]
fn outside_a_world_there_is_no_network() {
    let error = Mailbox::<u32>::bind("numbers").unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::Unsupported);
    assert_eq!(fabric::statistics(), fabric::Statistics::default());
}

/// The same seed finds the same failure, with the same token, and the replay finds it again.
#[test]
fn same_seed_same_trace() {
    let run = || {
        checker("repeat").iterations(300).run(|| async {
            let (a, mut heard) = listener("a");
            let (_b, from_b) = speaker("b").await;
            let (_c, from_c) = speaker("c").await;
            for n in 0..4 {
                from_b.send(&a, n).unwrap();
                from_c.send(&a, 10 + n).unwrap();
            }
            let mut all = Vec::new();
            for _ in 0..8 {
                all.push(heard.recv().await.unwrap().0);
            }
            let of = |c: bool| all.iter().filter(move |&&n| (n >= 10) == c);
            assert!(of(false).is_sorted() && of(true).is_sorted());
            assert_ne!(all[..4], [0, 10, 1, 11]);
        })
    };
    let (first, second) = (run(), run());
    let (first, second) = (failed(&first), failed(&second));
    assert!(first.reproduced);
    assert_eq!(first.token, second.token);
    assert!(
        first.kind.to_string().contains("left != right"),
        "{}",
        first.kind
    );
}
