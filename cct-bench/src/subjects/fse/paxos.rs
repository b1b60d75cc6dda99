//! Multi-Paxos: three nodes that propose, accept and lead, a client and an elector.
//!
//! Source: Lamport, "Paxos made simple", 2001, in the shape of psharp-ql
//! `Samples/Framework/MultiPaxos`; a stand-in for `MultiPaxos_1`, `_3` and `Paxos_1`, `_2` of the
//! FSE'15 paper. All bugs are ours, the first one after the sample's single-decree Paxos.
//!
//! A node that gets a request, or is told by the elector, campaigns under a ballot above all that
//! it knows. It leads once a majority has promised: it proposes what the promises report of the
//! highest ballot, slot by slot, then requests in free slots. Acceptors take a proposal unless they
//! have promised a higher ballot. The client sends each request to the first or to the last node.
//!
//! Invariant: the value that a majority accepts under one ballot for a slot is chosen, and never
//! another one for that slot.
//!
//! Departures: elections are given out by a machine of their own, a bounded number of them, in
//! place of timers; there are no refusals, and nothing is repeated, so nothing need be chosen.

use super::monitor::Monitor;
use super::{NEVER, model, row};
use crate::subjects::machine::{Address, Machine, Me, Message, run};
use crate::subjects::{Probe, Scenario, Subject};
use cct_executor::words::fingerprint::hash_of;
use cct_executor::{always, nondet};
use std::collections::BTreeMap;

const NODES: usize = 3;
const REQUESTS: u32 = 2;

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
}

/// The size of the program.
#[derive(Clone, Copy)]
struct Size {
    slots: usize,
    /// Elections besides those that requests cause.
    elections: u32,
}

const MULTI: Size = Size {
    slots: 2,
    elections: 2,
};
const SINGLE: Size = Size {
    slots: 1,
    elections: 1,
};

/// `multipaxos-1`.
pub(crate) const MULTIPAXOS_1: Subject = model(
    "multipaxos-1",
    "multi-Paxos that proposes what was accepted under the lowest ballot",
    6,
    [|_| scenario(MULTI, Bug::LowestBallot), fixed_multi],
    &row([
        NEVER, 5211.0, 9934.0, 7821.0, 765.0, 5819.0, NEVER, 82114.0, 89341.0, 88129.0,
    ]),
);

/// `multipaxos-3`.
pub(crate) const MULTIPAXOS_3: Subject = model(
    "multipaxos-3",
    "multi-Paxos that accepts from a leader after a promise to a later one",
    6,
    [|_| scenario(MULTI, Bug::StaleAccept), fixed_multi],
    &row([
        NEVER, NEVER, NEVER, NEVER, 15023.0, 9589.0, NEVER, 18831.0, 8923.0, 1198.0,
    ]),
);

/// `paxos-1`.
pub(crate) const PAXOS_1: Subject = model(
    "paxos-1",
    "Paxos whose proposers ignore what was accepted before",
    6,
    [|_| scenario(SINGLE, Bug::OwnValue), fixed_single],
    &row([
        229.0, 86.0, 592.0, 122.0, 53.0, 233.0, 3320.0, 2233.0, 1098.0, 4312.0,
    ]),
);

/// `paxos-2`.
pub(crate) const PAXOS_2: Subject = model(
    "paxos-2",
    "Paxos whose proposers count promises to earlier ballots",
    6,
    [|_| scenario(SINGLE, Bug::StalePromise), fixed_single],
    &row([
        NEVER, 2211.0, NEVER, 9563.0, 831.0, 1874.0, 77834.0, 4912.0, 833.0, 8831.0,
    ]),
);

fn fixed_multi(_: Probe) -> Scenario {
    scenario(MULTI, Bug::Nothing)
}

fn fixed_single(_: Probe) -> Scenario {
    scenario(SINGLE, Bug::Nothing)
}

fn scenario(size: Size, bug: Bug) -> Scenario {
    Box::pin(run(Root(size, bug)))
}

/// A round and the node whose it is; (0, 0) is below all others.
type Ballot = (u32, usize);

/// What was accepted, by slot.
type Accepted = Vec<Option<(Ballot, u32)>>;

#[derive(Clone, Hash)]
enum Msg {
    Members(Vec<Address<Msg>>),
    Request(u32),
    Campaign,
    Prepare(Ballot),
    Promise(Ballot, Accepted),
    /// A value for a slot.
    Accept(Ballot, usize, u32),
}

impl Message for Msg {
    fn kind(&self) -> u32 {
        match self {
            Msg::Members(_) => 0,
            Msg::Request(_) => 1,
            Msg::Campaign => 2,
            Msg::Prepare(_) => 3,
            Msg::Promise(..) => 4,
            Msg::Accept(..) => 5,
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

struct Root(Size, Bug);

impl Machine for Root {
    type Message = Msg;
    const NAME: &'static str = "root";

    fn start(&mut self, me: &mut Me<Msg>) {
        let Root(size, bug) = *self;
        let spec = Monitor::default();
        let nodes: Vec<_> = (0..NODES)
            .map(|index| me.create(Node::new(index, size.slots, bug, spec.clone())))
            .collect();
        for node in &nodes {
            me.send(node, Msg::Members(nodes.clone()));
        }
        me.create(Client(nodes.clone()));
        me.create(Elector(nodes, size.elections));
    }

    fn handle(&mut self, _: &mut Me<Msg>, _: Msg) {}
}

struct Client(Vec<Address<Msg>>);

impl Machine for Client {
    type Message = Msg;
    const NAME: &'static str = "client";

    fn start(&mut self, me: &mut Me<Msg>) {
        for request in 1..=REQUESTS {
            let to = if nondet::boolean() { NODES - 1 } else { 0 };
            me.send(&self.0[to], Msg::Request(request));
        }
    }

    fn handle(&mut self, _: &mut Me<Msg>, _: Msg) {}
}

struct Elector(Vec<Address<Msg>>, u32);

impl Machine for Elector {
    type Message = Msg;
    const NAME: &'static str = "elector";

    fn start(&mut self, me: &mut Me<Msg>) {
        for _ in 0..self.1 {
            me.send(nondet::pick(&self.0), Msg::Campaign);
        }
    }

    fn handle(&mut self, _: &mut Me<Msg>, _: Msg) {}
}

struct Node {
    index: usize,
    bug: Bug,
    nodes: Vec<Address<Msg>>,
    requests: Vec<u32>,
    /// As an acceptor.
    promised: Ballot,
    accepted: Accepted,
    /// As a proposer: its ballot, promises to it, what they report, whether it leads, and what it
    /// has proposed.
    ballot: Ballot,
    promises: usize,
    reported: Accepted,
    leads: bool,
    proposed: Vec<Option<u32>>,
    spec: Monitor<Spec>,
}

impl Node {
    fn new(index: usize, slots: usize, bug: Bug, spec: Monitor<Spec>) -> Node {
        Node {
            index,
            bug,
            nodes: Vec::new(),
            requests: Vec::new(),
            promised: (0, 0),
            accepted: vec![None; slots],
            ballot: (0, 0),
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
                me.send(node, message.clone());
            }
        }
    }

    fn campaign(&mut self, me: &Me<Msg>) {
        let round = self.promised.0.max(self.ballot.0) + 1;
        self.ballot = (round, self.index);
        self.promises = 0;
        self.leads = false;
        self.reported.fill(None);
        self.proposed.fill(None);
        self.promised = self.ballot;
        self.promise(me, self.ballot, &self.accepted.clone());
        self.tell_others(me, &Msg::Prepare(self.ballot));
    }

    fn request(&mut self, me: &Me<Msg>, value: u32) {
        self.requests.push(value);
        if self.leads {
            self.propose_requests(me);
        } else if self.ballot == (0, 0) {
            self.campaign(me);
        }
    }

    fn prepare(&mut self, me: &Me<Msg>, ballot: Ballot) {
        if ballot > self.promised {
            self.promised = ballot;
            let promise = Msg::Promise(ballot, self.accepted.clone());
            me.send(&self.nodes[ballot.1], promise);
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
        if self.promises * 2 > NODES {
            self.lead(me);
        }
    }

    fn lead(&mut self, me: &Me<Msg>) {
        self.leads = true;
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
            if let (false, Some(slot)) = (self.proposed.contains(&Some(value)), free) {
                self.propose(me, slot, value);
            }
        }
    }

    fn propose(&mut self, me: &Me<Msg>, slot: usize, value: u32) {
        self.proposed[slot] = Some(value);
        self.accept(self.ballot, slot, value);
        self.tell_others(me, &Msg::Accept(self.ballot, slot, value));
    }

    fn accept(&mut self, ballot: Ballot, slot: usize, value: u32) {
        let bar = match self.bug {
            Bug::StaleAccept => self.accepted[slot].map_or(self.promised, |(ballot, _)| ballot),
            _ => self.promised,
        };
        if ballot >= bar {
            self.promised = self.promised.max(ballot);
            self.accepted[slot] = Some((ballot, value));
            let vote = (slot, ballot, value);
            self.spec
                .with(|spec: &mut Spec| spec.accept(self.index, vote));
        }
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
            Msg::Campaign => self.campaign(me),
            Msg::Prepare(ballot) => self.prepare(me, ballot),
            Msg::Promise(ballot, accepted) => self.promise(me, ballot, &accepted),
            Msg::Accept(ballot, slot, value) => self.accept(ballot, slot, value),
        }
    }

    fn digest(&self) -> Option<u64> {
        let acceptor = (self.promised, &self.accepted);
        let campaign = (self.ballot, self.promises, &self.reported, self.leads);
        Some(hash_of(&(
            acceptor,
            campaign,
            &self.proposed,
            &self.requests,
        )))
    }
}
