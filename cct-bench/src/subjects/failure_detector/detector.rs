//! The detector.

use super::super::machine::{Address, Machine, Me, Message};
use super::timer::{Timer, ToTimer};
use super::{NODES, NodeFailed, PENDING_MAX, Pending, ToNode};
use cct_executor::words::fingerprint::hash_of;

#[derive(Clone)]
pub(super) enum ToDetector {
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

pub(super) struct Detector {
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
    pub(super) fn new(holds_back: bool, nodes: Vec<Address<ToNode>>, pending: Pending) -> Detector {
        Detector {
            holds_back,
            nodes,
            pending,
            timer: None,
            clients: Vec::new(),
            alive: [true; NODES],
            responded: [false; NODES],
            attempts: 0,
            phase: Phase::Ping,
        }
    }

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
        self.timer = Some(me.create(Timer::new(detector)));
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
