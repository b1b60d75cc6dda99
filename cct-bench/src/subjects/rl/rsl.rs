//! RSL, the Paxos variant of Azure, for the partition environment (section 5 of the paper): nodes
//! ask for status when they start or miss their primary, prepare a ballot, and their primary then
//! proposes decree after decree.
//!
//! Checked after each step: decided logs agree decree by decree, and a ballot has one proposal for
//! a decree (which is what one primary a ballot is for).
//!
//! The bug: a node that catches up by fetching executes the proposal it holds itself, although
//! another one was chosen for that decree in a later ballot. Decided logs diverge.
//!
//! Differs from the source: its program is itself a re-implementation. Here a repeated proposal is
//! answered and counts as a sign of life, proposals that arrive while initializing are dropped and
//! not cached, members never change, and nodes never crash (a restart would lose all promises).

use super::partition::{Envelope, NODES, QUORUM, System, Wire};
use cct_executor::always;
use cct_executor::words::fingerprint::mix2;

const NO_PROGRESS: u32 = 15;
const ELECTION_DELAY: u32 = 10;
const INITIALIZE_RETRY: u32 = 5;
const LEADER_GRACE: u32 = 15;
const RETRY: u32 = 5;
/// Ballots beyond this one end an episode.
const BALLOT_MAX: u8 = 9;
/// Ballots beyond this one look alike.
const BALLOT_SHOWN_MAX: u8 = 5;
/// Proposals that one answer to a fetch carries; the rest takes another one.
const FETCHED_MAX: usize = 8;
const NEVER: u32 = u32::MAX;

/// What varies between experiments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    /// Ticks between signs of life of a primary.
    pub(super) heartbeat: u32,
    /// Whether colours hold the log, or only its length.
    pub(super) whole_log: bool,
    /// Whether the bug is there.
    pub(super) diverges: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Initializing,
    Preparing,
    StablePrimary,
    StableSecondary,
}

/// Ordered by number, then node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Ballot {
    pub(super) number: u8,
    node: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Proposal {
    pub(super) ballot: Ballot,
    pub(super) decree: u8,
    command: u8,
}

/// A promise, or a proposal that was accepted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    accepted: bool,
    pub(super) proposal: Proposal,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Message {
    StatusRequest,
    Status {
        ballot: Ballot,
        decree: u8,
        chosen_at: u32,
    },
    Prepare {
        ballot: Ballot,
        decree: u8,
    },
    Promise {
        ballot: Ballot,
        accepted: Proposal,
    },
    Accept(Proposal),
    Accepted {
        ballot: Ballot,
        decree: u8,
    },
    Refusal {
        ballot: Ballot,
        accepted: Proposal,
    },
    Fetch {
        decree: u8,
    },
    Fetched {
        proposals: [Proposal; FETCHED_MAX],
        len: u8,
    },
}

#[derive(Clone, Copy, Debug)]
struct Status {
    ballot: Ballot,
    decree: u8,
    chosen_at: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    id: usize,
    pub(super) state: State,
    pub(super) accepted: Proposal,
    prepared: Ballot,
    /// While preparing: the accepted proposal of the highest ballot that was heard of.
    freshest: Proposal,
    /// Commands by decree.
    pub(super) decided: Vec<u8>,
    pub(super) log: Vec<Entry>,
    queue: Vec<u8>,
    is_ready: bool,
    learning_from: Option<usize>,
    statuses: [Option<Status>; NODES],
    /// Who answered the present request; one bit a node.
    answers: u8,
    now: u32,
    act_at: u32,
    quit_at: u32,
    elect_at: u32,
    chosen_at: u32,
}

/// The cluster.
#[derive(Clone, Debug)]
pub(super) struct Rsl {
    options: Options,
    pub(super) nodes: [Node; NODES],
    /// The longest decided log that was ever seen.
    decided: Vec<u8>,
    /// Every proposal that was ever accepted, by anybody.
    proposed: Vec<Proposal>,
}

impl Node {
    fn new(id: usize) -> Node {
        Node {
            id,
            state: State::Initializing,
            accepted: Proposal::default(),
            prepared: Ballot::default(),
            freshest: Proposal::default(),
            decided: Vec::with_capacity(8),
            log: Vec::with_capacity(32),
            queue: Vec::with_capacity(8),
            is_ready: false,
            learning_from: None,
            statuses: [None; NODES],
            answers: 0,
            now: 0,
            act_at: NEVER,
            quit_at: NO_PROGRESS,
            elect_at: NEVER,
            chosen_at: 0,
        }
    }

    fn is_stable(&self) -> bool {
        matches!(self.state, State::StablePrimary | State::StableSecondary)
    }

    fn owns_ballot(&self) -> bool {
        self.prepared.number > 0 && self.prepared.node == self.id
    }

    fn has_majority(&self) -> bool {
        self.answers.count_ones() + 1 >= QUORUM
    }

    /// Asks the others where they are.
    fn initialize(&mut self, wire: &mut Wire<Message>) {
        self.state = State::Initializing;
        self.statuses = [None; NODES];
        self.act_at = self.now + INITIALIZE_RETRY;
        wire.broadcast(self.id, Message::StatusRequest);
    }

    fn settle_as_secondary(&mut self) {
        self.state = State::StableSecondary;
        self.is_ready = false;
        self.act_at = NEVER;
    }

    fn prepare(&mut self, wire: &mut Wire<Message>) {
        if self.state == State::Initializing {
            self.state = State::Preparing;
            let number = self.prepared.number + 1;
            let node = self.id;
            self.promise(Ballot { number, node });
            self.elect_at = self.now + LEADER_GRACE;
        }
        self.freshest = self.accepted;
        self.answers = 0;
        self.act_at = self.now + RETRY;
        let (ballot, decree) = (self.prepared, self.accepted.decree);
        wire.broadcast(self.id, Message::Prepare { ballot, decree });
    }

    fn promise(&mut self, ballot: Ballot) {
        self.prepared = ballot;
        let proposal = Proposal {
            ballot,
            ..Proposal::default()
        };
        let accepted = false;
        self.log.push(Entry { accepted, proposal });
    }

    fn put_off_election(&mut self) {
        self.elect_at = match self.elect_at {
            NEVER => self.now,
            at => at.max(self.now),
        } + LEADER_GRACE;
    }

    fn accept(&mut self, proposal: Proposal) {
        let accepted = true;
        self.log.push(Entry { accepted, proposal });
        self.accepted = proposal;
        self.chosen_at = self.now;
        self.quit_at = self.now + NO_PROGRESS;
        if proposal.ballot > self.prepared {
            self.prepared = proposal.ballot;
            self.put_off_election();
        }
    }

    /// What was accepted has been chosen: executes it, once.
    fn execute(&mut self) {
        if usize::from(self.accepted.decree) == self.decided.len() {
            self.decided.push(self.accepted.command);
        }
    }

    /// Proposes the next command as primary, or repeats the present one.
    fn propose(&mut self, wire: &mut Wire<Message>) {
        if self.is_ready && !self.queue.is_empty() {
            let command = self.queue.remove(0);
            self.execute();
            self.accept(Proposal {
                decree: self.accepted.decree + 1,
                command,
                ..self.accepted
            });
            self.is_ready = false;
            self.answers = 0;
        }
        self.chosen_at = self.now;
        self.act_at = self.now + RETRY;
        wire.broadcast(self.id, Message::Accept(self.accepted));
    }

    fn tick(&mut self, heartbeat: u32, wire: &mut Wire<Message>) {
        self.now += 1;
        if self.now > self.quit_at {
            return;
        }
        let leads = self.state == State::StablePrimary && self.owns_ballot();
        if self.is_stable() && !leads && self.now > self.elect_at {
            self.initialize(wire);
        } else if leads && self.is_ready {
            if self.now - self.chosen_at > heartbeat || !self.queue.is_empty() {
                self.propose(wire);
            }
        } else if self.now > self.act_at {
            match self.state {
                State::StablePrimary => self.propose(wire),
                State::Initializing => self.initialize(wire),
                State::Preparing => self.prepare(wire),
                State::StableSecondary => {}
            }
        }
    }

    fn on_status(&mut self, from: usize, status: Status, wire: &mut Wire<Message>) {
        if self.state != State::Initializing {
            return;
        }
        self.statuses[from] = Some(status);
        let (ballot, decree) = (self.accepted.ballot, self.accepted.decree);
        let statuses = self.statuses;
        let ahead = wire.any_node(|node| {
            statuses[node].is_some_and(|other| {
                other.decree == decree && other.ballot > ballot
                    || other.decree > decree && other.ballot >= ballot
            })
        });
        if let Some(ahead) = ahead {
            self.learning_from = Some(ahead);
            return wire.send(self.id, ahead, Message::Fetch { decree });
        }
        if self.elect_at == NEVER {
            let chosen = statuses.iter().flatten().map(|other| other.chosen_at);
            self.elect_at = self.now.min(chosen.max().unwrap_or(0)) + ELECTION_DELAY;
        }
        if self.now > self.elect_at || self.owns_ballot() {
            self.prepare(wire);
        } else {
            self.settle_as_secondary();
        }
    }

    fn on_prepare(&mut self, from: usize, ballot: Ballot, decree: u8, wire: &mut Wire<Message>) {
        if ballot < self.prepared || decree < self.accepted.decree {
            return self.refuse(from, wire);
        }
        if self.state == State::Initializing {
            return;
        }
        if ballot > self.prepared {
            self.promise(ballot);
            self.put_off_election();
        }
        let accepted = self.accepted;
        wire.send(self.id, from, Message::Promise { ballot, accepted });
        if decree > self.accepted.decree {
            self.initialize(wire);
        } else {
            self.settle_as_secondary();
        }
    }

    fn refuse(&self, to: usize, wire: &mut Wire<Message>) {
        let (ballot, accepted) = (self.prepared, self.accepted);
        wire.send(self.id, to, Message::Refusal { ballot, accepted });
    }

    fn on_promise(
        &mut self,
        from: usize,
        ballot: Ballot,
        accepted: Proposal,
        wire: &mut Wire<Message>,
    ) {
        if self.state != State::Preparing
            || self.prepared != ballot
            || self.accepted.decree != accepted.decree
        {
            return;
        }
        if accepted.ballot > self.freshest.ballot {
            self.freshest = accepted;
        }
        self.answers |= 1 << from;
        if !self.has_majority() {
            return;
        }
        self.freshest.ballot = ballot;
        self.accept(self.freshest);
        self.state = State::StablePrimary;
        self.is_ready = false;
        self.answers = 0;
        self.propose(wire);
    }

    fn on_accept(&mut self, from: usize, proposal: Proposal, wire: &mut Wire<Message>) {
        if self.state == State::Initializing {
            return;
        }
        let own = self.accepted;
        let (ballot, decree) = (proposal.ballot, proposal.decree);
        let newer = ballot > own.ballot;
        if decree < own.decree || ballot < self.prepared {
            return self.refuse(from, wire);
        }
        if decree == own.decree && newer {
            self.accept(proposal);
        } else if decree == own.decree + 1 && ballot == own.ballot {
            self.execute();
            self.accept(proposal);
        } else if proposal != own {
            return self.initialize(wire);
        }
        self.quit_at = self.now + NO_PROGRESS;
        self.elect_at = self.now + ELECTION_DELAY;
        wire.send(self.id, from, Message::Accepted { ballot, decree });
        self.settle_as_secondary();
    }

    fn on_accepted(&mut self, from: usize, ballot: Ballot, decree: u8) {
        if self.state != State::StablePrimary
            || self.prepared != ballot
            || self.accepted.decree != decree
        {
            return;
        }
        self.quit_at = self.now + NO_PROGRESS;
        self.answers |= 1 << from;
        if !self.is_ready && self.has_majority() {
            self.execute();
            self.is_ready = true;
            self.act_at = NEVER;
        }
    }

    fn on_refusal(&mut self, ballot: Ballot, accepted: Proposal, wire: &mut Wire<Message>) {
        if self.state == State::Initializing || accepted.decree < self.accepted.decree {
            return;
        }
        if accepted.decree > self.accepted.decree {
            self.initialize(wire);
        } else if ballot > self.prepared {
            self.promise(ballot);
            self.put_off_election();
            self.settle_as_secondary();
        }
    }

    fn on_fetch(&self, from: usize, decree: u8, wire: &mut Wire<Message>) {
        let mut proposals = [Proposal::default(); FETCHED_MAX];
        let mut len = 0;
        for entry in &self.log {
            if entry.accepted && entry.proposal.decree >= decree && len < FETCHED_MAX {
                proposals[len] = entry.proposal;
                len += 1;
            }
        }
        let len = len as u8;
        wire.send(self.id, from, Message::Fetched { proposals, len });
    }

    fn on_fetched(&mut self, proposals: &[Proposal], diverges: bool, wire: &mut Wire<Message>) {
        let mut learnt = false;
        for &proposal in proposals {
            let own = self.accepted;
            let newer = proposal.ballot > own.ballot;
            if proposal.decree == own.decree && newer && !diverges {
                self.accept(proposal);
            } else if proposal.decree == own.decree + 1
                && (proposal.ballot == own.ballot || newer && diverges)
            {
                self.execute();
                self.elect_at = self.now + ELECTION_DELAY;
                self.accept(proposal);
            } else {
                continue;
            }
            learnt = true;
        }
        if learnt {
            self.settle_as_secondary();
        } else if self.state == State::Initializing {
            self.initialize(wire);
        }
    }
}

impl Rsl {
    pub(super) fn new(options: Options) -> Rsl {
        Rsl {
            options,
            nodes: std::array::from_fn(Node::new),
            decided: Vec::new(),
            proposed: Vec::new(),
        }
    }
}

impl System for Rsl {
    type Message = Message;

    fn start_all(&mut self, wire: &mut Wire<Message>) {
        for node in &mut self.nodes {
            node.initialize(wire);
        }
    }

    fn colour(&self, id: usize) -> u64 {
        let node = &self.nodes[id];
        let log = if self.options.whole_log {
            node.log.iter().fold(0, |hash, entry| {
                let Proposal { ballot, decree, .. } = entry.proposal;
                let packed = u64::from(ballot.number) << 8 | u64::from(decree);
                mix2(hash, packed << 1 | u64::from(entry.accepted))
            })
        } else {
            node.log.len() as u64
        };
        let parts = [
            node.state as u64,
            u64::from(node.accepted.decree),
            node.decided.len() as u64,
            u64::from(node.accepted.ballot.number.min(BALLOT_SHOWN_MAX)),
            u64::from(node.prepared.number),
        ];
        let packed = parts.iter().fold(0, |packed, part| packed << 8 | part);
        mix2(packed, log)
    }

    fn tick(&mut self, id: usize, wire: &mut Wire<Message>) {
        self.nodes[id].tick(self.options.heartbeat, wire);
    }

    fn deliver(&mut self, envelope: Envelope<Message>, wire: &mut Wire<Message>) {
        let Envelope { from, to, message } = envelope;
        let node = &mut self.nodes[to];
        match message {
            Message::StatusRequest => {
                let status = Message::Status {
                    ballot: node.accepted.ballot,
                    decree: node.accepted.decree,
                    chosen_at: node.chosen_at,
                };
                wire.send(to, from, status);
            }
            Message::Status {
                ballot,
                decree,
                chosen_at,
            } => {
                let status = Status {
                    ballot,
                    decree,
                    chosen_at,
                };
                node.on_status(from, status, wire);
            }
            Message::Prepare { ballot, decree } => node.on_prepare(from, ballot, decree, wire),
            Message::Promise { ballot, accepted } => {
                node.on_promise(from, ballot, accepted, wire);
            }
            Message::Accept(proposal) => node.on_accept(from, proposal, wire),
            Message::Accepted { ballot, decree } => node.on_accepted(from, ballot, decree),
            Message::Refusal { ballot, accepted } => node.on_refusal(ballot, accepted, wire),
            Message::Fetch { decree } => node.on_fetch(from, decree, wire),
            Message::Fetched { proposals, len } => {
                if node.learning_from == Some(from) {
                    node.learning_from = None;
                    let proposals = &proposals[..usize::from(len)];
                    node.on_fetched(proposals, self.options.diverges, wire);
                }
            }
        }
    }

    fn can_request(&self) -> bool {
        let mut nodes = self.nodes.iter();
        nodes.any(|node| node.state == State::StablePrimary)
    }

    fn request(&mut self, command: u8, wire: &mut Wire<Message>) {
        let primary = wire.any_node(|id| self.nodes[id].state == State::StablePrimary);
        if let Some(id) = primary {
            self.nodes[id].queue.push(command);
        }
    }

    fn stop(&mut self, _node: usize) {
        unreachable!("cct bug: nodes of RSL do not crash");
    }

    fn start(&mut self, _node: usize) {
        unreachable!("cct bug: nodes of RSL do not crash");
    }

    fn is_out_of_bounds(&self) -> bool {
        let mut nodes = self.nodes.iter();
        nodes.any(|node| node.prepared.number > BALLOT_MAX)
    }

    fn check(&mut self) {
        for node in &self.nodes {
            let Proposal { ballot, decree, .. } = node.accepted;
            let mut proposed = self.proposed.iter();
            match proposed.find(|known| known.ballot == ballot && known.decree == decree) {
                Some(&known) => always!(
                    known == node.accepted,
                    "node {} accepted {:?} where {known:?} was proposed",
                    node.id,
                    node.accepted
                ),
                None => self.proposed.push(node.accepted),
            }
            for (decree, &command) in node.decided.iter().enumerate() {
                match self.decided.get(decree) {
                    Some(&known) => always!(
                        command == known,
                        "node {} decided {command} for {decree} where {known} was decided",
                        node.id
                    ),
                    None => self.decided.push(command),
                }
            }
        }
    }
}
