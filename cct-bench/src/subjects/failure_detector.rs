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

use super::machine::{Address, Machine, Me, Message, run};
use super::{Published, Scenario, Standing, Subject};
use cct_executor::shim::Shared;
use cct_executor::words::fingerprint::hash_of;
use cct_executor::{Clock, Granularity, nondet};
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
        let detector = me.create(Detector {
            holds_back: self.holds_back,
            nodes: nodes.clone(),
            pending: self.pending.clone(),
            timer: None,
            clients: Vec::new(),
            alive: [true; NODES],
            responded: [false; NODES],
            attempts: 0,
            phase: Phase::Ping,
        });
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

#[derive(Clone)]
enum ToDetector {
    Register(Address<NodeFailed>),
    Pong(usize),
    Timeout,
    CancelSuccess,
    CancelFailure,
}

const PONG: u32 = 1;
const TIMEOUT: u32 = 2;

impl Message for ToDetector {
    fn kind(&self) -> u32 {
        match self {
            ToDetector::Register(_) => 0,
            ToDetector::Pong(_) => PONG,
            ToDetector::Timeout => TIMEOUT,
            ToDetector::CancelSuccess => 3,
            ToDetector::CancelFailure => 4,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// A round is going on.
    Ping,
    /// All have answered, and the timer was told to stop.
    Cancel,
    /// Between rounds.
    Reset,
}

struct Detector {
    holds_back: bool,
    nodes: Vec<Address<ToNode>>,
    pending: Pending,
    timer: Option<Address<ToTimer>>,
    clients: Vec<Address<NodeFailed>>,
    alive: [bool; NODES],
    responded: [bool; NODES],
    attempts: u32,
    phase: Phase,
}

fn count(of: &[bool]) -> usize {
    of.iter().filter(|holds| **holds).count()
}

impl Detector {
    fn enter(&mut self, me: &mut Me<ToDetector>, phase: Phase) {
        self.phase = phase;
        me.enter(phase as usize);
    }

    fn tell_timer(&self, me: &Me<ToDetector>, message: ToTimer) {
        if let Some(timer) = &self.timer {
            me.send(timer, message);
        }
    }

    fn ping(&mut self, me: &mut Me<ToDetector>) {
        self.enter(me, Phase::Ping);
        for (index, node) in self.nodes.iter().enumerate() {
            let held_back = self.holds_back && self.pending.all()[index] == PENDING_MAX;
            if self.alive[index] && !self.responded[index] && !held_back {
                self.pending.ping(index);
                me.send(node, ToNode::Ping(me.address()));
            }
        }
        self.tell_timer(me, ToTimer::Start);
    }

    fn pong(&mut self, me: &mut Me<ToDetector>, node: usize) {
        if !self.alive[node] {
            return;
        }
        self.responded[node] = true;
        if count(&self.responded) == count(&self.alive) {
            self.tell_timer(me, ToTimer::Cancel);
            self.enter(me, Phase::Cancel);
        }
    }

    fn timeout(&mut self, me: &mut Me<ToDetector>) {
        self.attempts += 1;
        if count(&self.responded) < count(&self.alive) && self.attempts < 2 {
            self.ping(me);
            return;
        }
        for node in 0..NODES {
            if self.alive[node] && !self.responded[node] {
                self.alive[node] = false;
                for client in &self.clients {
                    me.send(client, NodeFailed);
                }
            }
        }
        self.reset(me);
    }

    fn reset(&mut self, me: &mut Me<ToDetector>) {
        self.enter(me, Phase::Reset);
        self.attempts = 0;
        self.responded = [false; NODES];
        self.tell_timer(me, ToTimer::Start);
    }
}

impl Machine for Detector {
    type Message = ToDetector;
    const NAME: &'static str = "detector";

    fn start(&mut self, me: &mut Me<ToDetector>) {
        let detector = me.address();
        self.timer = Some(me.create(Timer {
            detector,
            active: false,
        }));
        self.ping(me);
    }

    fn deferred(&self) -> u64 {
        match self.phase {
            Phase::Cancel => 1 << PONG | 1 << TIMEOUT,
            Phase::Ping | Phase::Reset => 0,
        }
    }

    fn ignored(&self) -> u64 {
        match self.phase {
            Phase::Reset => 1 << PONG,
            Phase::Ping | Phase::Cancel => 0,
        }
    }

    fn handle(&mut self, me: &mut Me<ToDetector>, message: ToDetector) {
        match message {
            ToDetector::Register(client) => self.clients.push(client),
            ToDetector::Pong(node) => self.pong(me, node),
            ToDetector::Timeout if self.phase == Phase::Reset => self.ping(me),
            ToDetector::Timeout => self.timeout(me),
            ToDetector::CancelSuccess => self.reset(me),
            ToDetector::CancelFailure => self.enter(me, Phase::Ping),
        }
    }

    fn digest(&self) -> Option<u64> {
        let responses = count(&self.responded);
        let pending = self.pending.all();
        Some(hash_of(&(self.alive, responses, self.attempts, pending)))
    }
}

#[derive(Clone)]
enum ToTimer {
    Start,
    Cancel,
}

const START: u32 = 0;

impl Message for ToTimer {
    fn kind(&self) -> u32 {
        match self {
            ToTimer::Start => START,
            ToTimer::Cancel => 1,
        }
    }
}

struct Timer {
    detector: Address<ToDetector>,
    active: bool,
}

impl Timer {
    fn set(&mut self, me: &mut Me<ToTimer>, active: bool) {
        self.active = active;
        me.enter(usize::from(active));
    }
}

impl Machine for Timer {
    type Message = ToTimer;
    const NAME: &'static str = "timer";

    fn start(&mut self, me: &mut Me<ToTimer>) {
        me.enter(0);
    }

    fn ignored(&self) -> u64 {
        if self.active { 1 << START } else { 0 }
    }

    fn acts_unasked(&self) -> bool {
        self.active
    }

    fn act(&mut self, me: &mut Me<ToTimer>) {
        self.set(me, false);
        me.send(&self.detector, ToDetector::Timeout);
    }

    fn handle(&mut self, me: &mut Me<ToTimer>, message: ToTimer) {
        match message {
            ToTimer::Start => self.set(me, true),
            ToTimer::Cancel if !self.active => {
                me.send(&self.detector, ToDetector::CancelFailure);
            }
            ToTimer::Cancel => {
                if nondet::boolean() {
                    me.send(&self.detector, ToDetector::CancelSuccess);
                } else {
                    me.send(&self.detector, ToDetector::CancelFailure);
                    me.send(&self.detector, ToDetector::Timeout);
                }
                self.set(me, false);
            }
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
        expect_silence(&FAILURE_DETECTOR, 3_000);
    }
}
