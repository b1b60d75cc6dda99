//! A transaction system: two-phase commit between three groups, each a chain of two servers.
//!
//! Source: our composition, as a stand-in for `TMS_1` of the FSE'15 paper, of which no more is
//! known than that it composes two-phase commit, chain replication and multi-Paxos.
//!
//! The coordinator asks the head of each group for its vote. The head draws it and passes it down;
//! the tail, which now has it too, sends it. The decision goes the same way, and the tail says when
//! it is done. When a server has failed, the other one is told that it is alone, and is asked again
//! for what the coordinator still waits for. Fair coins say whether a group refuses, and whether one
//! of its servers fails.
//!
//! 1. Who is told to commit voted yes.
//! 2. When nothing can go on, every transaction was decided, and live servers agree.
//!
//! The bug: a tail that has become head forgets the vote which it has from its head, and draws
//! another one.

use super::monitor::Monitor;
use super::{model, row};
use crate::subjects::machine::{Address, Machine, Me, Message, run_as_p};
use crate::subjects::{Scenario, Subject};
use cct_executor::always;
use cct_executor::words::fingerprint::hash_of;
use std::collections::BTreeMap;

const GROUPS: usize = 3;
const TRANSACTIONS: u32 = 2;

/// `tms-1`.
pub(crate) const TMS_1: Subject = model(
    "tms-1",
    "transactions between replicated groups, whose vote changes when the head fails",
    9,
    [|_| scenario(true), |_| scenario(false)],
    &row([
        224.0, 64.0, 227.0, 12.0, 305.0, 34.0, 553.0, 2220.0, 660.0, 8965.0,
    ]),
);

fn scenario(forgets: bool) -> Scenario {
    Box::pin(async move {
        let spec = Monitor::default();
        run_as_p(Root(forgets, spec.clone())).await;
        spec.with(|spec: &mut Spec| spec.at_rest());
    })
}

#[derive(Clone, Hash)]
enum Msg {
    /// The servers of the group, head first, and the coordinator.
    Members(Vec<Address<Msg>>, Address<Msg>),
    Prepare(u32),
    /// From head to tail: its vote.
    Voted(u32, bool),
    /// From a group: its vote.
    Vote(usize, u32, bool),
    Decide(u32, bool),
    /// From a group: the transaction is over.
    Done(usize, u32),
    Fail,
    /// A server, by group and place, has failed.
    Failed(usize, usize),
    Alone,
}

impl Message for Msg {
    fn kind(&self) -> u32 {
        match self {
            Msg::Members(..) => 0,
            Msg::Prepare(_) => 1,
            Msg::Voted(..) => 2,
            Msg::Vote(..) => 3,
            Msg::Decide(..) => 4,
            Msg::Done(..) => 5,
            Msg::Fail => 6,
            Msg::Failed(..) => 7,
            Msg::Alone => 8,
        }
    }

    fn digest(&self) -> u64 {
        hash_of(self)
    }
}

/// What the invariants speak of: the decisions that each live server knows.
#[derive(Default, Hash)]
struct Spec(BTreeMap<(usize, usize), BTreeMap<u32, bool>>);

impl Spec {
    fn at_rest(&self) {
        let mut live = self.0.values();
        if let Some(first) = live.next() {
            always!(first.len() as u32 == TRANSACTIONS, "a transaction is open");
            always!(live.all(|other| other == first), "servers disagree");
        }
    }
}

struct Root(bool, Monitor<Spec>);

impl Machine for Root {
    type Message = Msg;
    const NAME: &'static str = "root";

    fn start(&mut self, me: &mut Me<Msg>) {
        let mut groups = Vec::new();
        for group in 0..GROUPS {
            let mut servers = Vec::new();
            for place in 0..2 {
                let spec = self.1.clone();
                spec.with(|spec| spec.0.insert((group, place), BTreeMap::new()));
                servers.push(me.create(Server {
                    group,
                    place,
                    forgets: self.0,
                    servers: Vec::new(),
                    coordinator: None,
                    alone: false,
                    votes: BTreeMap::new(),
                    decisions: BTreeMap::new(),
                    spec,
                }));
            }
            groups.push(servers);
        }
        me.create(Coordinator {
            groups,
            heads: [0; GROUPS],
            number: 0,
            votes: [None; GROUPS],
            decision: None,
            done: [false; GROUPS],
        });
    }

    fn handle(&mut self, _: &mut Me<Msg>, _: Msg) {}
}

struct Saboteur(Vec<Vec<Address<Msg>>>);

impl Machine for Saboteur {
    type Message = Msg;
    const NAME: &'static str = "saboteur";

    fn start(&mut self, me: &mut Me<Msg>) {
        for group in &self.0 {
            // One server stays.
            if let Some(victim) = group.iter().find(|_| me.coin()) {
                me.send(victim, Msg::Fail);
            }
        }
    }

    fn handle(&mut self, _: &mut Me<Msg>, _: Msg) {}
}

struct Coordinator {
    groups: Vec<Vec<Address<Msg>>>,
    /// The place of each group's head.
    heads: [usize; GROUPS],
    number: u32,
    votes: [Option<bool>; GROUPS],
    decision: Option<bool>,
    done: [bool; GROUPS],
}

impl Coordinator {
    fn next(&mut self, me: &Me<Msg>) {
        if self.number < TRANSACTIONS {
            self.number += 1;
            self.votes = [None; GROUPS];
            self.decision = None;
            self.done = [false; GROUPS];
            self.ask_all(me);
        }
    }

    fn ask_all(&self, me: &Me<Msg>) {
        for group in 0..GROUPS {
            self.ask(me, group);
        }
    }

    fn ask(&self, me: &Me<Msg>, group: usize) {
        let message = match self.decision {
            None => Msg::Prepare(self.number),
            Some(commit) => Msg::Decide(self.number, commit),
        };
        me.send(&self.groups[group][self.heads[group]], message);
    }

    fn failed(&mut self, me: &Me<Msg>, group: usize, place: usize) {
        self.heads[group] = 1 - place;
        me.send(&self.groups[group][1 - place], Msg::Alone);
        if !self.done[group] {
            self.ask(me, group);
        }
    }
}

impl Machine for Coordinator {
    type Message = Msg;
    const NAME: &'static str = "coordinator";

    fn start(&mut self, me: &mut Me<Msg>) {
        for servers in &self.groups {
            for server in servers {
                me.send(server, Msg::Members(servers.clone(), me.address()));
            }
        }
        me.create(Saboteur(self.groups.clone()));
        self.next(me);
    }

    fn handle(&mut self, me: &mut Me<Msg>, message: Msg) {
        match message {
            Msg::Vote(group, number, yes) if number == self.number => {
                self.votes[group].get_or_insert(yes);
                let all = self.votes.iter().all(Option::is_some);
                if all && self.decision.is_none() {
                    self.decision = Some(self.votes == [Some(true); GROUPS]);
                    self.ask_all(me);
                }
            }
            Msg::Done(group, number) if number == self.number => {
                let before = std::mem::replace(&mut self.done[group], true);
                if !before && self.done == [true; GROUPS] {
                    self.next(me);
                }
            }
            Msg::Failed(group, place) => self.failed(me, group, place),
            _ => {}
        }
    }

    fn digest(&self) -> Option<u64> {
        let progress = (self.number, self.votes, self.decision, self.done);
        Some(hash_of(&(self.heads, progress)))
    }
}

struct Server {
    group: usize,
    /// 0 for the head that its group begins with, 1 for the tail.
    place: usize,
    forgets: bool,
    servers: Vec<Address<Msg>>,
    coordinator: Option<Address<Msg>>,
    alone: bool,
    votes: BTreeMap<u32, bool>,
    decisions: BTreeMap<u32, bool>,
    spec: Monitor<Spec>,
}

impl Server {
    fn tell_coordinator(&self, me: &Me<Msg>, message: Msg) {
        if let Some(coordinator) = &self.coordinator {
            me.send(coordinator, message);
        }
    }

    /// Whether there is no one behind it.
    fn is_tail(&self) -> bool {
        self.alone || self.place == 1
    }

    fn prepare(&mut self, me: &Me<Msg>, number: u32) {
        let known = self.votes.get(&number).copied();
        let known = known.filter(|_| !(self.forgets && self.alone && self.place == 1));
        let yes = known.unwrap_or_else(|| !me.coin());
        self.vote(me, number, yes);
    }

    fn vote(&mut self, me: &Me<Msg>, number: u32, yes: bool) {
        self.votes.insert(number, yes);
        if self.is_tail() {
            self.tell_coordinator(me, Msg::Vote(self.group, number, yes));
        } else {
            me.send(&self.servers[1], Msg::Voted(number, yes));
        }
    }

    fn decide(&mut self, me: &Me<Msg>, number: u32, commit: bool) {
        let yes = self.votes.get(&number) == Some(&true);
        always!(
            yes || !commit,
            "{number} is committed where the vote was no"
        );
        self.decisions.insert(number, commit);
        let key = (self.group, self.place);
        let decisions = self.decisions.clone();
        self.spec.with(|spec| spec.0.insert(key, decisions));
        if self.is_tail() {
            self.tell_coordinator(me, Msg::Done(self.group, number));
        } else {
            me.send(&self.servers[1], Msg::Decide(number, commit));
        }
    }
}

impl Machine for Server {
    type Message = Msg;
    const NAME: &'static str = "server";

    fn start(&mut self, _: &mut Me<Msg>) {}

    fn handle(&mut self, me: &mut Me<Msg>, message: Msg) {
        match message {
            Msg::Members(servers, coordinator) => {
                self.servers = servers;
                self.coordinator = Some(coordinator);
            }
            Msg::Prepare(number) => self.prepare(me, number),
            Msg::Voted(number, yes) => self.vote(me, number, yes),
            Msg::Decide(number, commit) => self.decide(me, number, commit),
            Msg::Alone => self.alone = true,
            Msg::Fail => {
                self.spec
                    .with(|spec| spec.0.remove(&(self.group, self.place)));
                me.halt();
                self.tell_coordinator(me, Msg::Failed(self.group, self.place));
            }
            _ => always!(false, "a server was sent what it does not take"),
        }
    }

    fn digest(&self) -> Option<u64> {
        Some(hash_of(&(self.alone, &self.votes, &self.decisions)))
    }
}
