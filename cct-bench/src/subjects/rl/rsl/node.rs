//! What a node of RSL does on ticks and messages.

use super::{Ballot, Entry, FETCHED_MAX, Message, Node, Proposal, State, Status};
use crate::subjects::rl::partition::{NODES, QUORUM, Wire};

const NO_PROGRESS: u32 = 15;
const ELECTION_DELAY: u32 = 10;
const INITIALIZE_RETRY: u32 = 5;
const LEADER_GRACE: u32 = 15;
const RETRY: u32 = 5;
const NEVER: u32 = u32::MAX;

impl Node {
    pub(super) fn new(id: usize) -> Node {
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
    pub(super) fn initialize(&mut self, wire: &mut Wire<Message>) {
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

    pub(super) fn tick(&mut self, heartbeat: u32, wire: &mut Wire<Message>) {
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

    pub(super) fn on_status(&mut self, from: usize, status: Status, wire: &mut Wire<Message>) {
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

    pub(super) fn on_prepare(
        &mut self,
        from: usize,
        ballot: Ballot,
        decree: u8,
        wire: &mut Wire<Message>,
    ) {
        if ballot < self.prepared || decree < self.accepted.decree {
            return self.refuse(from, wire);
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

    pub(super) fn on_promise(
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

    pub(super) fn on_accept(&mut self, from: usize, proposal: Proposal, wire: &mut Wire<Message>) {
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

    pub(super) fn on_accepted(&mut self, from: usize, ballot: Ballot, decree: u8) {
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

    pub(super) fn on_refusal(
        &mut self,
        ballot: Ballot,
        accepted: Proposal,
        wire: &mut Wire<Message>,
    ) {
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

    pub(super) fn on_fetch(&self, from: usize, decree: u8, wire: &mut Wire<Message>) {
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

    pub(super) fn on_fetched(
        &mut self,
        proposals: &[Proposal],
        diverges: bool,
        wire: &mut Wire<Message>,
    ) {
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
