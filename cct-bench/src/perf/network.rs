//! W11: what a message costs among 3 to 500 nodes, and what one that is on its way takes up.

use super::{cct, floor, measure};
use cct_executor::node::{Node, node};
use cct_executor::{Granularity, time};
use cct_net::fabric;
use cct_net::mailbox::Mailbox;
use cpu_time::ProcessTime;
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

const MESSAGES: u64 = 100_000;
/// So that what a run sets up once (stacks, tables) does not pass for the cost of messages.
const ITERATIONS: u64 = 5;
/// With how many peers a node exchanges messages: a few, so that links are used again and again, or
/// all of them, so that among many nodes every message makes a new link.
const PEERS: [u64; 2] = [8, u64::MAX];
const NODES: [u64; 5] = [3, 10, 50, 150, 500];
const LIVE: [u64; 3] = [25_000, 50_000, 100_000];
const FLOOR: &str = "floor";
const STRATEGIES: [&str; 3] = [FLOOR, "random", "pct:d=3"];

/// What one message costs.
#[derive(Serialize)]
pub(crate) struct Cost {
    nodes: u64,
    /// How many peers each node has.
    peers: u64,
    strategy: &'static str,
    messages: u64,
    links: u64,
    ns_per_message: f64,
    /// Median over the repetitions of the ratio to a network without any choice or record, measured beside it. What a
    /// message costs there grows as well: among many nodes the caches hold less of what it needs.
    times_floor: f64,
}

/// What messages take up while they wait.
#[derive(Serialize)]
pub(crate) struct Memory {
    live_messages: u64,
    bytes_per_message: f64,
}

/// How much dearer a message is among the number of nodes where it is dearest than where it is cheapest.
#[derive(Serialize)]
pub(crate) struct Spread {
    peers: &'static str,
    strategy: &'static str,
    /// By nanoseconds, of which the floor's own are in the row of that name.
    dearest_by_cheapest: f64,
    /// By multiples of the floor.
    of_times_floor: f64,
}

/// All of W11.
#[derive(Serialize)]
pub(crate) struct Network {
    cost: Vec<Cost>,
    spread: Vec<Spread>,
    memory: Vec<Memory>,
}

/// Measures, and prints if wanted.
pub(crate) fn all(reps: usize, print: bool) -> Network {
    let memory: Vec<Memory> = LIVE.into_iter().map(memory).collect();
    let mut cost = Vec::new();
    let mut spread = Vec::new();
    for peers in PEERS {
        for strategy in STRATEGIES {
            let rows = costs(peers, strategy, reps);
            spread.push(Spread {
                peers: if peers == u64::MAX { "all" } else { "few" },
                strategy,
                dearest_by_cheapest: widest(rows.iter().map(|row| row.ns_per_message)),
                of_times_floor: widest(rows.iter().map(|row| row.times_floor)),
            });
            cost.extend(rows);
        }
    }
    let network = Network {
        spread,
        cost,
        memory,
    };
    if print {
        network.print();
    }
    network
}

/// The largest figure by the least.
fn widest(figures: impl Iterator<Item = f64> + Clone) -> f64 {
    figures.clone().fold(0.0, f64::max) / figures.fold(f64::INFINITY, f64::min)
}

fn costs(peers: u64, strategy: &'static str, reps: usize) -> Vec<Cost> {
    let mut seconds = vec![(Vec::new(), Vec::new()); NODES.len()];
    for _ in 0..reps {
        for (nodes, (seconds, ratios)) in NODES.into_iter().zip(&mut seconds) {
            let taken = exchange(nodes, peers, strategy);
            seconds.push(taken);
            ratios.push(taken / exchange(nodes, peers, FLOOR));
        }
    }
    let rows = NODES.into_iter().zip(seconds);
    let rows = rows.map(|(nodes, (mut seconds, mut ratios))| {
        let (each, peers) = plan(nodes, peers);
        let messages = each * nodes;
        Cost {
            nodes,
            peers,
            strategy,
            messages,
            links: nodes * each.min(peers),
            ns_per_message: measure::median(&mut seconds) * 1e9 / messages as f64,
            times_floor: measure::median(&mut ratios),
        }
    });
    rows.collect()
}

impl Network {
    fn print(&self) {
        println!("\nW11: {MESSAGES} messages among nodes");
        println!(
            "  {:<10} {:>6} {:>6} {:>9} {:>12} {:>9}",
            "strategy", "nodes", "peers", "links", "ns/message", "x floor"
        );
        for row in &self.cost {
            println!(
                "  {:<10} {:>6} {:>6} {:>9} {:>12.0} {:>9.2}",
                row.strategy, row.nodes, row.peers, row.links, row.ns_per_message, row.times_floor
            );
        }
        for row in &self.spread {
            println!(
                "  {} peers, {}: dearest by cheapest {:.2}, of the multiples of the floor {:.2}",
                row.peers, row.strategy, row.dearest_by_cheapest, row.of_times_floor
            );
        }
        println!("  {:<10} {:>14}", "live", "bytes/message");
        for row in &self.memory {
            println!(
                "  {:<10} {:>14.0}",
                row.live_messages, row.bytes_per_message
            );
        }
    }
}

/// How many messages each node sends, and to how many peers.
fn plan(nodes: u64, peers: u64) -> (u64, u64) {
    (MESSAGES / nodes, peers.min(nodes - 1))
}

/// Each node in turn sends a message to the next of its peers, and receives one. Returns seconds of
/// processor time for one time that they do.
fn exchange(nodes: u64, peers: u64, strategy: &'static str) -> f64 {
    let (each, peers) = plan(nodes, peers);
    let begin = ProcessTime::now();
    if strategy == FLOOR {
        (0..ITERATIONS).for_each(|_| floor::exchange(nodes, each, peers));
        return begin.elapsed().as_secs_f64() / ITERATIONS as f64;
    }
    let checker = cct::checker(strategy, Granularity::Op);
    let runs = cct::count_runs(checker, ITERATIONS, move || scenario(nodes, each, peers));
    begin.elapsed().as_secs_f64() / runs as f64
}

async fn scenario(nodes: u64, each: u64, peers: u64) {
    let all: Vec<Node> = (0..nodes)
        .map(|i| node(format!("n{i}")).start(std::future::pending::<()>))
        .collect();
    let ids: Arc<Vec<_>> = Arc::new(all.iter().map(Node::id).collect());
    let work = all.iter().enumerate().map(|(i, node)| {
        let ids = ids.clone();
        node.spawn(async move {
            let mut mailbox = Mailbox::<u64>::bind("w11").unwrap();
            for n in 0..each {
                let peer = (i as u64 + 1 + n % peers) % nodes;
                mailbox.send(ids[peer as usize], n).unwrap();
                mailbox.recv().await;
            }
        })
    });
    for done in work.collect::<Vec<_>>() {
        done.await.unwrap();
    }
}

/// Holds so many messages on their way among a few nodes.
fn memory(live_messages: u64) -> Memory {
    let bytes = Arc::new(AtomicU64::new(0));
    let theirs = bytes.clone();
    let checker = cct::checker("random", Granularity::Op).iterations(1);
    let report = checker.run(move || {
        let bytes = theirs.clone();
        async move {
            let a = node("a").start(std::future::pending::<()>);
            let b = node("b").start(std::future::pending::<()>);
            fabric::hold(&a, &b);
            let to = b.id();
            let sent = a.spawn(async move {
                let mailbox = Mailbox::<u64>::bind("w11").unwrap();
                let before = resident_bytes();
                (0..live_messages).for_each(|n| mailbox.send(to, n).unwrap());
                resident_bytes().saturating_sub(before)
            });
            bytes.store(sent.await.unwrap(), SeqCst);
            time::sleep(Duration::from_millis(1)).await;
            assert_eq!(fabric::statistics().in_flight, live_messages);
        }
    });
    report.assert_passed();
    Memory {
        live_messages,
        bytes_per_message: bytes.load(SeqCst) as f64 / live_messages as f64,
    }
}

/// Memory of this process that is in use, as Linux tells; 0 elsewhere.
fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text
        .split_whitespace()
        .nth(1)
        .and_then(|n| n.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096
}
