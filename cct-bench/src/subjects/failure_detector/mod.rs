//! A failure detector that pings two nodes: the program of the `QL` paper (Mukherjee, Deligiannis,
//! Biswas, Lal, Learning-based controlled concurrency testing, OOPSLA 2020), after a sample of P
//! and P#.
//!
//! Bug: a round may end with a ping unanswered, and the next round pings again, so that after two
//! rounds of two pings and one answer each, two more pings make four in flight to one node, where
//! the specification allows three; the order to halt must be late all along.
//! Fixed form: a node with three pings in flight is not pinged.
//!
//! Not taken over: the published custom abstraction hashes only how many nodes answered, which is
//! kept, as it is what was measured.

mod detector;
mod timer;

use super::machine::{Address, Machine, Me, Message, run};
use super::{Published, Scenario, Standing, Subject};
use cct_executor::shim::Shared;
use cct_executor::{Clock, Granularity};
use detector::{Detector, ToDetector};
use std::sync::Arc;

const NODES: usize = 2;
const PENDING_MAX: u32 = 3;

/// The published program.
pub(crate) const FAILURE_DETECTOR: Subject = Subject {
    name: "failure-detector",
    about: "a failure detector that may have four pings to one node in flight",
    standing: Standing::Reproduction,
    workers: 5,
    max_steps: 200,
    granularity: Granularity::Op,
    clock: Clock::Strict,
    scenario: |_| scenario(false),
    fixed: Some(|_| scenario(true)),
    targets: &[],
    published: &[
        Published::new("ql2", "QLb", 0.0),
        Published::new("ql2", "QLd", 99.0),
        Published::new("ql2", "Rand", 0.0),
        Published::new("ql2", "Greedy", 0.0),
        Published::new("ql2", "PCT3", 11.0),
        Published::new("ql2", "PCT10", 100.0),
        Published::new("ql2", "PCT30", 99.0),
        Published::new("ql2", "IDB", 31.0),
        Published::new("ql4", "QLi", 38.0),
        Published::new("ql4", "QLd", 99.0),
        Published::new("ql4", "QLc", 78.0),
    ],
};

fn scenario(holds_back: bool) -> Scenario {
    let pending = Pending::default();
    Box::pin(run(Manager {
        holds_back,
        pending,
    }))
}

/// Pings without a pong, by node: what the specification watches.
#[derive(Clone)]
struct Pending(Arc<Shared<[u32; NODES]>>);

impl Default for Pending {
    fn default() -> Self {
        Pending(Arc::new(Shared::new([0; NODES])))
    }
}

impl Pending {
    fn all(&self) -> [u32; NODES] {
        self.0.with(|pending| *pending)
    }

    fn ping(&self, node: usize) {
        let pending = self.0.with(|pending| {
            pending[node] += 1;
            pending[node]
        });
        assert!(
            pending <= PENDING_MAX,
            "{pending} pings to node {node} in flight"
        );
    }

    fn pong(&self, node: usize) {
        let before = self.0.with(|pending| {
            let before = pending[node];
            pending[node] = before.saturating_sub(1);
            before
        });
        assert!(before > 0, "node {node} answers more pings than there were");
    }
}

#[derive(Clone)]
struct NodeFailed;

impl Message for NodeFailed {
    fn kind(&self) -> u32 {
        0
    }
}

/// Starts everything, and orders the nodes to halt.
struct Manager {
    holds_back: bool,
    pending: Pending,
}

impl Machine for Manager {
    type Message = NodeFailed;
    const NAME: &'static str = "manager";

    fn start(&mut self, me: &mut Me<NodeFailed>) {
        me.enter(0);
        let mut nodes = Vec::new();
        for index in 0..NODES {
            let pending = self.pending.clone();
            nodes.push(me.create(Node { index, pending }));
        }
        let pending = self.pending.clone();
        let detector = Detector::new(self.holds_back, nodes.clone(), pending);
        let detector = me.create(detector);
        me.send(&detector, ToDetector::Register(me.address()));
        me.enter(1);
        for node in &nodes {
            me.send(node, ToNode::Halt);
        }
    }

    fn handle(&mut self, _: &mut Me<NodeFailed>, NodeFailed: NodeFailed) {}
}

#[derive(Clone)]
enum ToNode {
    Ping(Address<ToDetector>),
    Halt,
}

impl Message for ToNode {
    fn kind(&self) -> u32 {
        match self {
            ToNode::Ping(_) => 0,
            ToNode::Halt => 1,
        }
    }
}

struct Node {
    index: usize,
    pending: Pending,
}

impl Machine for Node {
    type Message = ToNode;
    const NAME: &'static str = "node";

    fn start(&mut self, me: &mut Me<ToNode>) {
        me.enter(0);
    }

    fn handle(&mut self, me: &mut Me<ToNode>, message: ToNode) {
        match message {
            ToNode::Ping(detector) => {
                self.pending.pong(self.index);
                me.send(&detector, ToDetector::Pong(self.index));
            }
            ToNode::Halt => me.halt(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::hunting::{expect_silence, hunt};
    use super::FAILURE_DETECTOR;

    #[test]
    fn pct_finds_four_pings_in_flight() {
        let report = hunt(&FAILURE_DETECTOR, "pct:d=11", 1, 100_000);
        let failure = report.failure().expect("four pings");
        assert!(failure.kind.to_string().contains("4 pings"));
    }

    #[test]
    fn with_pings_held_back_there_are_at_most_three() {
        expect_silence(&FAILURE_DETECTOR, 1_000);
    }
}
