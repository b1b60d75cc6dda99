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
//! answered and counts as a sign of life; a node that initializes answers as any other, since it has
//! forgotten nothing; members never change, and nodes never crash (a restart would lose all
//! promises).

mod node;

use super::partition::{Envelope, NODES, System, Wire};
use cct_executor::always;
use cct_executor::words::fingerprint::mix2;

/// Ballots beyond this one end an episode.
const BALLOT_MAX: u8 = 9;
/// Ballots beyond this one look alike.
const BALLOT_SHOWN_MAX: u8 = 5;
/// Proposals that one answer to a fetch carries; the rest takes another one.
const FETCHED_MAX: usize = 8;

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

    fn nodes(&self) -> usize {
        NODES
    }

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

    fn is_over(&self) -> bool {
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
