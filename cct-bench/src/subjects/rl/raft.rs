//! Raft for the partition environment: tick-driven, with check-quorum, leader leases and an empty
//! entry at the head of each term, as etcd's library has them.
//!
//! 1. Term, vote and log survive a crash; all else is lost.
//! 2. Checked after each step: one leader a term, committed prefixes agree and never change.
//! 3. No snapshots, no changes of members, and entries are applied as soon as they are committed.

use super::partition::{Envelope, NODES, QUORUM, System, Wire};
use cct_executor::always;
use cct_executor::words::fingerprint::mix2;

/// Terms beyond this one end an episode.
const TERM_MAX: u8 = 9;
/// Terms beyond this one look alike.
const TERM_SHOWN_MAX: u8 = 6;
/// Room for one empty entry a term and all requests.
const LOG_MAX: usize = 20;

/// What varies between experiments: ticks of the timers, and how terms begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    /// Elections start after this many ticks without a leader, and up to as many more.
    pub(super) election: u8,
    pub(super) heartbeat: u8,
    /// The term before the first election.
    pub(super) first_term: u8,
    /// Whether a new leader opens its term with an empty entry.
    pub(super) opens_terms: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    Follower,
    Candidate,
    Leader,
}

/// A command of 0 is the empty entry of a new leader.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Entry {
    pub(super) term: u8,
    pub(super) command: u8,
}

/// A log, or a piece of one; it lives in place, for speed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Log {
    entries: [Entry; LOG_MAX],
    len: u8,
}

impl Log {
    pub(super) fn len(&self) -> u8 {
        self.len
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries[..usize::from(self.len)]
    }

    /// The term of an entry, counted from 1; 0 before the first.
    fn term_at(&self, index: u8) -> u8 {
        match index {
            0 => 0,
            _ => self.entries[usize::from(index) - 1].term,
        }
    }

    fn push(&mut self, entry: Entry) {
        self.entries[usize::from(self.len)] = entry;
        self.len += 1;
    }

    /// What comes after the entry at this index, counted from 1.
    fn after(&self, index: u8) -> Log {
        let mut rest = Log::default();
        for &entry in &self.entries()[usize::from(index)..] {
            rest.push(entry);
        }
        rest
    }

    /// Puts entries behind this index; drops what conflicts with them and all that follows.
    fn merge(&mut self, index: u8, entries: &[Entry]) {
        for (i, &entry) in (usize::from(index)..).zip(entries) {
            if i < usize::from(self.len) && self.entries[i] != entry {
                self.len = i as u8;
            }
            if i == usize::from(self.len) {
                self.push(entry);
            }
        }
    }

    /// What the abstraction keeps of it: bounded terms, and whether there is a command.
    fn digest(&self) -> u64 {
        let packed = self.entries().iter().fold(1_u128, |packed, entry| {
            let term = u128::from(entry.term.min(TERM_SHOWN_MAX + 1));
            packed << 4 | term << 1 | u128::from(entry.command > 0)
        });
        mix2(packed as u64, (packed >> 64) as u64)
    }
}

#[derive(Clone, Copy, Debug)]
enum Body {
    Vote {
        last: (u8, u8),
    },
    Voted {
        granted: bool,
    },
    Append {
        previous: (u8, u8),
        entries: Log,
        commit: u8,
    },
    Appended {
        accepted: bool,
        index: u8,
    },
    Heartbeat {
        commit: u8,
    },
    Beaten,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    term: u8,
    body: Body,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) up: bool,
    pub(super) role: Role,
    pub(super) term: u8,
    vote: Option<usize>,
    leader: Option<usize>,
    pub(super) log: Log,
    pub(super) commit: u8,
    elapsed: u8,
    timeout: u8,
    beat_elapsed: u8,
    /// As candidate: who voted for it. As leader: who was heard from. One bit a node.
    heard: u8,
    matched: [u8; NODES],
    next: [u8; NODES],
}

/// The cluster.
#[derive(Clone, Debug)]
pub(super) struct Raft {
    options: Options,
    pub(super) nodes: [Node; NODES],
    /// Who led each term.
    led: [Option<usize>; 32],
    /// The longest committed prefix that was ever seen.
    committed: Log,
}

impl Raft {
    pub(super) fn new(options: Options) -> Raft {
        let node = Node {
            up: true,
            role: Role::Follower,
            term: options.first_term,
            vote: None,
            leader: None,
            log: Log::default(),
            commit: 0,
            elapsed: 0,
            timeout: options.election,
            beat_elapsed: 0,
            heard: 0,
            matched: [0; NODES],
            next: [1; NODES],
        };
        Raft {
            options,
            nodes: [node; NODES],
            led: [None; 32],
            committed: Log::default(),
        }
    }

    fn send(&self, from: usize, to: usize, body: Body, wire: &mut Wire<Message>) {
        let term = self.nodes[from].term;
        wire.send(from, to, Message { term, body });
    }

    fn broadcast(&self, from: usize, body: Body, wire: &mut Wire<Message>) {
        let term = self.nodes[from].term;
        wire.broadcast(from, Message { term, body });
    }

    fn reset_timer(&mut self, id: usize, wire: &mut Wire<Message>) {
        let more = wire.below(usize::from(self.options.election)) as u8;
        self.nodes[id].elapsed = 0;
        self.nodes[id].timeout = self.options.election + more;
    }

    fn follow(&mut self, id: usize, term: u8, leader: Option<usize>, wire: &mut Wire<Message>) {
        let node = &mut self.nodes[id];
        if term > node.term {
            node.term = term;
            node.vote = None;
        }
        node.role = Role::Follower;
        node.leader = leader;
        self.reset_timer(id, wire);
    }

    fn campaign(&mut self, id: usize, wire: &mut Wire<Message>) {
        let node = &mut self.nodes[id];
        node.role = Role::Candidate;
        node.term += 1;
        node.vote = Some(id);
        node.leader = None;
        node.heard = 1 << id;
        let last = (node.log.term_at(node.log.len), node.log.len);
        self.reset_timer(id, wire);
        self.broadcast(id, Body::Vote { last }, wire);
    }

    fn lead(&mut self, id: usize, wire: &mut Wire<Message>) {
        let node = &mut self.nodes[id];
        let term = node.term;
        node.role = Role::Leader;
        node.leader = Some(id);
        node.elapsed = 0;
        node.beat_elapsed = 0;
        node.next = [node.log.len + 1; NODES];
        node.matched = [0; NODES];
        let other = self.led[usize::from(term)].replace(id);
        always!(
            other.is_none_or(|other| other == id),
            "{id} and {other:?} both lead term {term}"
        );
        if self.options.opens_terms {
            self.append(id, 0, wire);
        } else {
            self.replicate_all(id, wire);
        }
    }

    /// The leader's next entry.
    fn append(&mut self, id: usize, command: u8, wire: &mut Wire<Message>) {
        let node = &mut self.nodes[id];
        node.log.push(Entry {
            term: node.term,
            command,
        });
        node.matched[id] = node.log.len;
        self.replicate_all(id, wire);
    }

    fn replicate_all(&self, id: usize, wire: &mut Wire<Message>) {
        for to in (0..NODES).filter(|&to| to != id) {
            self.replicate(id, to, wire);
        }
    }

    fn replicate(&self, id: usize, to: usize, wire: &mut Wire<Message>) {
        let node = &self.nodes[id];
        let previous = node.next[to] - 1;
        let body = Body::Append {
            previous: (node.log.term_at(previous), previous),
            entries: node.log.after(previous),
            commit: node.commit,
        };
        self.send(id, to, body, wire);
    }

    fn on_vote(&mut self, id: usize, from: usize, last: (u8, u8), wire: &mut Wire<Message>) {
        let node = &mut self.nodes[id];
        let own = (node.log.term_at(node.log.len), node.log.len);
        let free = node.vote == Some(from) || node.vote.is_none() && node.leader.is_none();
        let granted = free && last >= own;
        if granted {
            node.vote = Some(from);
            node.elapsed = 0;
        }
        self.send(id, from, Body::Voted { granted }, wire);
    }

    fn on_append(&mut self, id: usize, from: usize, body: Body, wire: &mut Wire<Message>) {
        let Body::Append {
            previous: (previous_term, previous),
            entries,
            commit,
        } = body
        else {
            return;
        };
        let node = &mut self.nodes[id];
        let known = previous <= node.log.len && node.log.term_at(previous) == previous_term;
        let index = if known {
            node.log.merge(previous, entries.entries());
            let last = previous + entries.len;
            node.commit = node.commit.max(commit.min(last));
            last
        } else {
            node.log.len.min(previous - 1)
        };
        let accepted = known;
        self.send(id, from, Body::Appended { accepted, index }, wire);
    }

    fn on_appended(
        &mut self,
        id: usize,
        from: usize,
        (accepted, index): (bool, u8),
        wire: &mut Wire<Message>,
    ) {
        let node = &mut self.nodes[id];
        node.heard |= 1 << from;
        if !accepted {
            let next = node.next[from].saturating_sub(1).min(index + 1);
            node.next[from] = next.max(node.matched[from] + 1);
            return self.replicate(id, from, wire);
        }
        node.matched[from] = node.matched[from].max(index);
        node.next[from] = node.matched[from] + 1;
        let mut matched = node.matched;
        matched.sort_unstable();
        let common = matched[NODES - QUORUM as usize];
        if common > node.commit && node.log.term_at(common) == node.term {
            node.commit = common;
            self.replicate_all(id, wire);
        }
    }

    fn act(&mut self, id: usize, from: usize, body: Body, wire: &mut Wire<Message>) {
        let role = self.nodes[id].role;
        match body {
            Body::Vote { last } => self.on_vote(id, from, last, wire),
            Body::Voted { granted } if role == Role::Candidate => {
                let node = &mut self.nodes[id];
                node.heard |= u8::from(granted) << from;
                if node.heard.count_ones() >= QUORUM {
                    self.lead(id, wire);
                }
            }
            Body::Append { .. } => {
                let term = self.nodes[id].term;
                self.follow(id, term, Some(from), wire);
                self.on_append(id, from, body, wire);
            }
            Body::Heartbeat { commit } => {
                let term = self.nodes[id].term;
                self.follow(id, term, Some(from), wire);
                let node = &mut self.nodes[id];
                node.commit = node.commit.max(commit.min(node.log.len));
                self.send(id, from, Body::Beaten, wire);
            }
            Body::Appended { accepted, index } if role == Role::Leader => {
                self.on_appended(id, from, (accepted, index), wire);
            }
            Body::Beaten if role == Role::Leader => {
                let node = &mut self.nodes[id];
                node.heard |= 1 << from;
                if node.matched[from] < node.log.len {
                    self.replicate(id, from, wire);
                }
            }
            Body::Voted { .. } | Body::Appended { .. } | Body::Beaten => {}
        }
    }

    fn tick_leader(&mut self, id: usize, wire: &mut Wire<Message>) {
        let node = &mut self.nodes[id];
        if node.elapsed >= self.options.election {
            node.elapsed = 0;
            let heard = std::mem::replace(&mut node.heard, 1 << id);
            if heard.count_ones() < QUORUM {
                let term = node.term;
                return self.follow(id, term, None, wire);
            }
        }
        node.beat_elapsed += 1;
        if node.beat_elapsed >= self.options.heartbeat {
            node.beat_elapsed = 0;
            let Node {
                commit, matched, ..
            } = *node;
            for to in (0..NODES).filter(|&to| to != id) {
                let commit = commit.min(matched[to]);
                self.send(id, to, Body::Heartbeat { commit }, wire);
            }
        }
    }
}

impl System for Raft {
    type Message = Message;

    fn nodes(&self) -> usize {
        NODES
    }

    fn start_all(&mut self, wire: &mut Wire<Message>) {
        for id in 0..NODES {
            self.reset_timer(id, wire);
        }
    }

    fn colour(&self, id: usize) -> u64 {
        // Without names: a vote or a leader is the node itself, another one, or nobody.
        let whose = |other: Option<usize>| match other {
            None => 0,
            Some(other) if other == id => 1,
            Some(_) => 2,
        };
        let node = &self.nodes[id];
        let parts = [
            node.role as u64,
            u64::from(node.term.min(TERM_SHOWN_MAX)),
            u64::from(node.commit),
            whose(node.vote),
            whose(node.leader),
        ];
        let packed = parts.iter().fold(0, |packed, part| packed << 8 | part);
        mix2(packed, node.log.digest())
    }

    fn tick(&mut self, id: usize, wire: &mut Wire<Message>) {
        let node = &mut self.nodes[id];
        node.elapsed += 1;
        if node.role == Role::Leader {
            self.tick_leader(id, wire);
        } else if node.elapsed >= node.timeout {
            self.campaign(id, wire);
        }
    }

    fn deliver(&mut self, envelope: Envelope<Message>, wire: &mut Wire<Message>) {
        let Envelope { from, to, message } = envelope;
        let node = &self.nodes[to];
        let from_leader = matches!(message.body, Body::Append { .. } | Body::Heartbeat { .. });
        if message.term > node.term {
            let is_vote = matches!(message.body, Body::Vote { .. });
            // A node that hears its leader does not help to depose it.
            if is_vote && node.leader.is_some() && node.elapsed < self.options.election {
                return;
            }
            self.follow(to, message.term, from_leader.then_some(from), wire);
        } else if message.term < node.term {
            if from_leader {
                // Tells a deposed leader of the new term.
                let (accepted, index) = (false, 0);
                self.send(to, from, Body::Appended { accepted, index }, wire);
            }
            return;
        }
        self.act(to, from, message.body, wire);
    }

    fn can_request(&self) -> bool {
        self.nodes.iter().any(Node::is_leading)
    }

    fn request(&mut self, command: u8, wire: &mut Wire<Message>) {
        let nodes = self.nodes;
        if let Some(id) = wire.any_node(|id| nodes[id].is_leading()) {
            self.append(id, command, wire);
        }
    }

    fn stop(&mut self, id: usize) {
        self.nodes[id].up = false;
    }

    fn start(&mut self, id: usize) {
        let node = &mut self.nodes[id];
        node.up = true;
        node.role = Role::Follower;
        node.leader = None;
        node.commit = 0;
        node.elapsed = 0;
    }

    fn is_over(&self) -> bool {
        self.nodes.iter().any(|node| node.term > TERM_MAX)
    }

    fn check(&mut self) {
        for (id, node) in self.nodes.iter().enumerate() {
            for index in 0..usize::from(node.commit) {
                let entry = node.log.entries().get(index).copied();
                match self.committed.entries().get(index) {
                    Some(&known) => always!(
                        entry == Some(known),
                        "node {id} has {entry:?} at {index} where {known:?} was committed"
                    ),
                    None => self.committed.push(entry.unwrap_or_default()),
                }
            }
        }
    }
}

impl Node {
    pub(super) fn is_leading(&self) -> bool {
        self.up && self.role == Role::Leader
    }

    pub(super) fn is_campaigning(&self) -> bool {
        self.up && self.role == Role::Candidate
    }
}
