//! Multi-Paxos over a lossy network: three nodes that propose, accept and lead, each with a timer,
//! and a client.
//!
//! Source: Lamport, "Paxos made simple", 2001, in the shape of the P sample (p-org/P at ea19e2a,
//! `BuggyModels/Multi_Paxos_4.p`) and of psharp-ql `Samples/Framework/MultiPaxos`; a stand-in for
//! `MultiPaxos_1` to `_3` and `Paxos_1` to `_3` of the FSE'15 paper. The bug of `multipaxos-2` is in
//! the P sample, that of `multipaxos-1` and `paxos-3` in the single-decree Paxos of psharp-ql; the
//! others are ours.
//!
//! A node that gets its first request campaigns under a ballot above all that it knows, and starts
//! its timer. It leads once a majority has promised: it proposes what the promises report of the
//! highest ballot, slot by slot, then requests in free slots, and starts its timer again until a
//! majority has accepted. Acceptors take a proposal unless they have promised a higher ballot;
//! otherwise they say so. On that, or on a timeout, the node campaigns anew. The client sends each of
//! two requests to the first or to the last node, by a fair coin; a fair coin says whether a timer
//! fires when it is started, and whether a message between nodes is lost.
//!
//! Invariant: the value that a majority accepts under one ballot for a slot is chosen, and never
//! another one for that slot.
//!
//! Departures: the network is that of the samples' two-phase commit; nobody elects a leader; a node
//! campaigns six times at most.

use super::monitor::Monitor;
use super::network::{Link, Port};
use super::{NEVER, model, row};
use crate::subjects::machine::{Address, Machine, Me, Message, run_as_p};
use crate::subjects::{Probe, Scenario, Subject};
use cct_executor::always;
use cct_executor::words::fingerprint::hash_of;
use std::collections::BTreeMap;

const NODES: usize = 3;
const REQUESTS: u32 = 2;
/// How often a node may campaign.
const CAMPAIGNS: u32 = 6;

/// What is wrong.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bug {
    Nothing,
    /// What was accepted under the lowest ballot is proposed again, not the highest.
    LowestBallot,
    /// An acceptor takes a proposal although it has promised a higher ballot.
    StaleAccept,
    /// What was accepted is not proposed again.
    OwnValue,
    /// A promise counts whatever its ballot.
    StalePromise,
    /// An acceptor that promises forgets what it has accepted.
    Forgets,
}

/// Slots of the log.
const MULTI: usize = 2;
const SINGLE: usize = 1;

/// `multipaxos-1`.
pub(crate) const MULTIPAXOS_1: Subject = model(
    "multipaxos-1",
    "multi-Paxos that proposes what was accepted under the lowest ballot",
    16,
    [|_| scenario(MULTI, Bug::LowestBallot), fixed_multi],
    &row([
        NEVER, 5211.0, 9934.0, 7821.0, 765.0, 5819.0, NEVER, 82114.0, 89341.0, 88129.0,
    ]),
);

/// `multipaxos-2`.
pub(crate) const MULTIPAXOS_2: Subject = model(
    "multipaxos-2",
    "multi-Paxos whose acceptors forget what they accepted when they promise",
    16,
    [|_| scenario(MULTI, Bug::Forgets), fixed_multi],
    &row([
        NEVER, NEVER, NEVER, 9872.0, 8873.0, 11239.0, NEVER, 15563.0, 9983.0, 1934.0,
    ]),
);

/// `multipaxos-3`.
pub(crate) const MULTIPAXOS_3: Subject = model(
    "multipaxos-3",
    "multi-Paxos that accepts from a leader after a promise to a later one",
    16,
    [|_| scenario(MULTI, Bug::StaleAccept), fixed_multi],
    &row([
        NEVER, NEVER, NEVER, NEVER, 15023.0, 9589.0, NEVER, 18831.0, 8923.0, 1198.0,
    ]),
);

/// `paxos-1`.
pub(crate) const PAXOS_1: Subject = model(
    "paxos-1",
    "Paxos whose proposers ignore what was accepted before",
    16,
    [|_| scenario(SINGLE, Bug::OwnValue), fixed_single],
    &row([
        229.0, 86.0, 592.0, 122.0, 53.0, 233.0, 3320.0, 2233.0, 1098.0, 4312.0,
    ]),
);

/// `paxos-2`.
pub(crate) const PAXOS_2: Subject = model(
    "paxos-2",
    "Paxos whose proposers count promises to earlier ballots",
    16,
    [|_| scenario(SINGLE, Bug::StalePromise), fixed_single],
    &row([
        NEVER, 2211.0, NEVER, 9563.0, 831.0, 1874.0, 77834.0, 4912.0, 833.0, 8831.0,
    ]),
);

/// `paxos-3`.
pub(crate) const PAXOS_3: Subject = model(
    "paxos-3",
    "Paxos that proposes what was accepted under the lowest ballot",
    16,
    [|_| scenario(SINGLE, Bug::LowestBallot), fixed_single],
    &row([
        NEVER, NEVER, NEVER, NEVER, NEVER, NEVER, NEVER, NEVER, 14832.0, NEVER,
    ]),
);

fn fixed_multi(_: Probe) -> Scenario {
    scenario(MULTI, Bug::Nothing)
}

fn fixed_single(_: Probe) -> Scenario {
    scenario(SINGLE, Bug::Nothing)
}

fn scenario(slots: usize, bug: Bug) -> Scenario {
    Box::pin(run_as_p(Root { slots, bug }))
}

/// A round and the node whose it is; (0, 0) is below all others.
type Ballot = (u32, usize);

/// What was accepted, by slot.
type Accepted = Vec<Option<(Ballot, u32)>>;

#[derive(Clone, Hash)]
enum Msg {
    Members(Vec<Port<Msg>>),
    Request(u32),
    /// The timer of this node is to watch over this ballot.
    Start(Address<Msg>, Ballot),
    Stop,
    Timeout(Ballot),
    Prepare(Ballot),
    Promise(Ballot, Accepted),
    /// A value for a slot.
    Accept(Ballot, usize, u32),
    /// A slot was accepted under this ballot.
    Accepted(Ballot, usize),
    /// A ballot is below one of this round.
    Reject(Ballot, u32),
}

impl Message for Msg {
    fn kind(&self) -> u32 {
        match self {
            Msg::Members(_) => 0,
            Msg::Request(_) => 1,
            Msg::Start(..) => 2,
            Msg::Stop => 3,
            Msg::Timeout(_) => 4,
            Msg::Prepare(_) => 5,
            Msg::Promise(..) => 6,
            Msg::Accept(..) => 7,
            Msg::Accepted(..) => 8,
            Msg::Reject(..) => 9,
        }
    }

    fn digest(&self) -> u64 {
        hash_of(self)
    }
}

/// What the invariant speaks of.
#[derive(Default, Hash)]
struct Spec {
    /// Who has accepted, as bits, by slot and ballot.
    accepted: BTreeMap<(usize, Ballot), u32>,
    chosen: BTreeMap<usize, u32>,
}

impl Spec {
    fn accept(&mut self, node: usize, (slot, ballot, value): (usize, Ballot, u32)) {
        let nodes = self.accepted.entry((slot, ballot)).or_default();
        *nodes |= 1 << node;
        if nodes.count_ones() as usize * 2 > NODES {
            let chosen = *self.chosen.entry(slot).or_insert(value);
            always!(
                chosen == value,
                "slot {slot}: {chosen} was chosen, and now {value}"
            );
        }
    }
}

struct Root {
    slots: usize,
    bug: Bug,
}

impl Machine for Root {
    type Message = Msg;
    const NAME: &'static str = "root";

    fn start(&mut self, me: &mut Me<Msg>) {
        let Root { slots, bug } = *self;
        let spec = Monitor::default();
        let mut nodes = Vec::new();
        let mut ports = Vec::new();
        for index in 0..NODES {
            let link = Link::new(me);
            ports.push(link.port());
            let timer = me.create(Timer { runs: false });
            let helpers = (link.clone(), timer);
            let node = me.create(Node::new(index, slots, bug, helpers, spec.clone()));
            link.attach(me, &node);
            nodes.push(node);
        }
        for node in &nodes {
            me.send(node, Msg::Members(ports.clone()));
        }
        let link = Link::new(me);
        me.create(Client {
            link,
            nodes: ports,
            requests: REQUESTS,
        });
    }

    fn handle(&mut self, _: &mut Me<Msg>, _: Msg) {}
}

/// Sends each request to the first node or to the last one.
struct Client {
    link: Link<Msg>,
    nodes: Vec<Port<Msg>>,
    requests: u32,
}

impl Machine for Client {
    type Message = Msg;
    const NAME: &'static str = "client";

    fn start(&mut self, me: &mut Me<Msg>) {
        for request in 1..=self.requests {
            let to = if me.coin() { self.nodes.len() - 1 } else { 0 };
            self.link.send(me, &self.nodes[to], Msg::Request(request));
        }
    }

    fn handle(&mut self, _: &mut Me<Msg>, _: Msg) {}
}

/// May run out when it is started.
struct Timer {
    runs: bool,
}

impl Machine for Timer {
    type Message = Msg;
    const NAME: &'static str = "timer";

    fn start(&mut self, _: &mut Me<Msg>) {}

    fn handle(&mut self, me: &mut Me<Msg>, message: Msg) {
        match message {
            Msg::Start(..) if self.runs => {}
            Msg::Start(node, ballot) => {
                self.runs = !me.coin();
                if !self.runs {
                    me.send(&node, Msg::Timeout(ballot));
                }
            }
            _ => self.runs = false,
        }
    }

    fn digest(&self) -> Option<u64> {
        Some(u64::from(self.runs))
    }
}

struct Node {
    index: usize,
    bug: Bug,
    link: Link<Msg>,
    timer: Address<Msg>,
    nodes: Vec<Port<Msg>>,
    requests: Vec<u32>,
    /// As an acceptor.
    promised: Ballot,
    accepted: Accepted,
    /// As a proposer: its ballot, promises to it, what they report, whether it leads, and what it
    /// has proposed, with the number of nodes that have accepted it.
    ballot: Ballot,
    campaigns: u32,
    promises: usize,
    reported: Accepted,
    leads: bool,
    proposed: Vec<Option<(u32, usize)>>,
    spec: Monitor<Spec>,
}

impl Node {
    fn new(
        index: usize,
        slots: usize,
        bug: Bug,
        (link, timer): (Link<Msg>, Address<Msg>),
        spec: Monitor<Spec>,
    ) -> Node {
        Node {
            index,
            bug,
            link,
            timer,
            nodes: Vec::new(),
            requests: Vec::new(),
            promised: (0, 0),
            accepted: vec![None; slots],
            ballot: (0, 0),
            campaigns: 0,
            promises: 0,
            reported: vec![None; slots],
            leads: false,
            proposed: vec![None; slots],
            spec,
        }
    }

    fn tell_others(&self, me: &Me<Msg>, message: &Msg) {
        for (index, node) in self.nodes.iter().enumerate() {
            if index != self.index {
                self.link.send(me, node, message.clone());
            }
        }
    }

    /// Whether so many nodes are more than half of all.
    fn is_majority(&self, nodes: usize) -> bool {
        nodes * 2 > self.nodes.len()
    }

    fn start_timer(&self, me: &Me<Msg>) {
        me.send(&self.timer, Msg::Start(me.address(), self.ballot));
    }

    /// Begins anew, above a round.
    fn campaign(&mut self, me: &Me<Msg>, above: u32) {
        if self.campaigns == CAMPAIGNS {
            return;
        }
        self.campaigns += 1;
        let round = self.promised.0.max(self.ballot.0).max(above) + 1;
        self.ballot = (round, self.index);
        self.promises = 0;
        self.leads = false;
        self.reported.fill(None);
        self.proposed.fill(None);
        self.promised = self.ballot;
        self.promise(me, self.ballot, &self.accepted.clone());
        self.tell_others(me, &Msg::Prepare(self.ballot));
        self.start_timer(me);
    }

    /// Whether it waits for something under this ballot.
    fn is_busy(&self, ballot: Ballot) -> bool {
        let open = |&(_, nodes): &(u32, usize)| !self.is_majority(nodes);
        ballot == self.ballot && (!self.leads || self.proposed.iter().flatten().any(open))
    }

    fn accepted(&mut self, me: &Me<Msg>, ballot: Ballot, slot: usize) {
        let was_busy = self.is_busy(ballot);
        if let (true, Some((_, nodes))) = (ballot == self.ballot, &mut self.proposed[slot]) {
            *nodes += 1;
        }
        if was_busy && !self.is_busy(ballot) {
            me.send(&self.timer, Msg::Stop);
        }
    }

    fn reject(&self, me: &Me<Msg>, ballot: Ballot) {
        if ballot.1 != self.index {
            self.link.send(
                me,
                &self.nodes[ballot.1],
                Msg::Reject(ballot, self.promised.0),
            );
        }
    }

    fn request(&mut self, me: &Me<Msg>, value: u32) {
        self.requests.push(value);
        if self.leads {
            self.propose_requests(me);
        } else if self.ballot == (0, 0) {
            self.campaign(me, 0);
        }
    }

    fn prepare(&mut self, me: &Me<Msg>, ballot: Ballot) {
        if ballot > self.promised {
            self.promised = ballot;
            let promise = Msg::Promise(ballot, self.accepted.clone());
            if self.bug == Bug::Forgets {
                self.accepted.fill(None);
            }
            self.link.send(me, &self.nodes[ballot.1], promise);
        } else {
            self.reject(me, ballot);
        }
    }

    fn promise(&mut self, me: &Me<Msg>, ballot: Ballot, accepted: &Accepted) {
        if self.leads || (ballot != self.ballot && self.bug != Bug::StalePromise) {
            return;
        }
        self.promises += 1;
        for (known, report) in self.reported.iter_mut().zip(accepted) {
            let better = match (&known, report) {
                (_, None) => false,
                (None, Some(_)) => true,
                (Some(known), Some(report)) if self.bug == Bug::LowestBallot => report < known,
                (Some(known), Some(report)) => report > known,
            };
            if better {
                *known = *report;
            }
        }
        if self.is_majority(self.promises) {
            self.lead(me);
        }
    }

    fn lead(&mut self, me: &Me<Msg>) {
        self.leads = true;
        me.send(&self.timer, Msg::Stop);
        if self.bug != Bug::OwnValue {
            for slot in 0..self.reported.len() {
                if let Some((_, value)) = self.reported[slot] {
                    self.propose(me, slot, value);
                }
            }
        }
        self.propose_requests(me);
    }

    fn propose_requests(&mut self, me: &Me<Msg>) {
        for value in self.requests.clone() {
            let free = self.proposed.iter().position(Option::is_none);
            let mut proposed = self.proposed.iter().flatten();
            if let (false, Some(slot)) = (proposed.any(|&(known, _)| known == value), free) {
                self.propose(me, slot, value);
            }
        }
        if self.is_busy(self.ballot) {
            self.start_timer(me);
        }
    }

    fn propose(&mut self, me: &Me<Msg>, slot: usize, value: u32) {
        self.proposed[slot] = Some((value, 1));
        self.take(self.ballot, slot, value);
        self.tell_others(me, &Msg::Accept(self.ballot, slot, value));
    }

    fn accept(&mut self, me: &Me<Msg>, ballot: Ballot, slot: usize, value: u32) {
        if self.take(ballot, slot, value) {
            self.link
                .send(me, &self.nodes[ballot.1], Msg::Accepted(ballot, slot));
        } else {
            self.reject(me, ballot);
        }
    }

    /// As an acceptor. Returns whether it has accepted.
    fn take(&mut self, ballot: Ballot, slot: usize, value: u32) -> bool {
        let bar = match self.bug {
            Bug::StaleAccept => self.accepted[slot].map_or(self.promised, |(ballot, _)| ballot),
            _ => self.promised,
        };
        let accepts = ballot >= bar;
        if accepts {
            self.promised = self.promised.max(ballot);
            self.accepted[slot] = Some((ballot, value));
            let vote = (slot, ballot, value);
            self.spec
                .with(|spec: &mut Spec| spec.accept(self.index, vote));
        }
        accepts
    }
}

impl Machine for Node {
    type Message = Msg;
    const NAME: &'static str = "node";

    fn start(&mut self, _: &mut Me<Msg>) {}

    fn handle(&mut self, me: &mut Me<Msg>, message: Msg) {
        match message {
            Msg::Members(nodes) => self.nodes = nodes,
            Msg::Request(value) => self.request(me, value),
            Msg::Timeout(ballot) if self.is_busy(ballot) => self.campaign(me, 0),
            Msg::Reject(ballot, round) if self.is_busy(ballot) => self.campaign(me, round),
            Msg::Timeout(_) | Msg::Reject(..) => {}
            Msg::Accepted(ballot, slot) => self.accepted(me, ballot, slot),
            Msg::Prepare(ballot) => self.prepare(me, ballot),
            Msg::Promise(ballot, accepted) => self.promise(me, ballot, &accepted),
            Msg::Accept(ballot, slot, value) => self.accept(me, ballot, slot, value),
            Msg::Start(..) | Msg::Stop => always!(false, "a node was sent what it does not take"),
        }
    }

    fn digest(&self) -> Option<u64> {
        let acceptor = (self.promised, &self.accepted);
        let campaign = (
            self.ballot,
            self.campaigns,
            self.promises,
            &self.reported,
            self.leads,
        );
        Some(hash_of(&(
            acceptor,
            campaign,
            &self.proposed,
            &self.requests,
        )))
    }
}
