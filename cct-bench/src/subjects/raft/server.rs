//! The servers.

use super::super::machine::{Address, Machine, Me};
use super::messages::{
    APPEND_REQUEST, AppendRequest, AppendResponse, ELECTION_TIMEOUT, Entry, PERIODIC_TIMEOUT,
    ToServer, VOTE_REQUEST, VoteRequest, VoteResponse,
};
use super::timers::{Timer, ToTimer, Which};
use super::{Request, Rules, SERVERS, ToClient, ToManager};
use cct_executor::words::fingerprint::hash_of;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Unconfigured,
    Follower,
    Candidate,
    Leader,
}

/// What exists once the server is configured.
struct Around {
    servers: Vec<Address<ToServer>>,
    manager: Address<ToManager>,
    election: Address<ToTimer>,
    periodic: Address<ToTimer>,
}

pub(super) struct Server {
    rules: Rules,
    index: usize,
    around: Option<Around>,
    role: Role,
    term: u64,
    leader: Option<usize>,
    voted_for: Option<usize>,
    log: Vec<Entry>,
    commit: usize,
    applied: usize,
    /// Votes of a candidate; acknowledgements of a leader's last request.
    votes: u32,
    /// Who voted, as bits: for the fixed form.
    voters: u32,
    next: [usize; SERVERS],
    matched: [usize; SERVERS],
    request: Option<Request>,
}

impl Server {
    pub(super) fn new(rules: Rules, index: usize) -> Server {
        Server {
            rules,
            index,
            around: None,
            role: Role::Unconfigured,
            term: 0,
            leader: None,
            voted_for: None,
            log: Vec::new(),
            commit: 0,
            applied: 0,
            votes: 0,
            voters: 0,
            next: [1; SERVERS],
            matched: [0; SERVERS],
            request: None,
        }
    }

    fn around(&self) -> &Around {
        self.around.as_ref().expect("configured before all else")
    }

    fn peers(&self) -> impl Iterator<Item = (usize, &Address<ToServer>)> {
        let servers = self.around().servers.iter().enumerate();
        servers.filter(|(index, _)| *index != self.index)
    }

    fn become_role(&mut self, me: &mut Me<ToServer>, role: Role) {
        self.role = role;
        me.enter(role as usize);
    }

    fn term_at(&self, index: usize) -> u64 {
        if index == 0 {
            0
        } else {
            self.log[index - 1].term
        }
    }

    fn configure(
        &mut self,
        me: &mut Me<ToServer>,
        servers: Vec<Address<ToServer>>,
        manager: Address<ToManager>,
    ) {
        let heads_needed = self.rules.depth;
        let election = me.create(Timer::new(Which::Election { heads_needed }));
        me.send(&election, ToTimer::Configure(me.address()));
        let periodic = me.create(Timer::new(Which::Periodic));
        me.send(&periodic, ToTimer::Configure(me.address()));
        self.around = Some(Around {
            servers,
            manager,
            election,
            periodic,
        });
        self.follow(me);
    }

    fn follow(&mut self, me: &mut Me<ToServer>) {
        self.become_role(me, Role::Follower);
        self.leader = None;
        self.votes = 0;
        me.send(&self.around().election, ToTimer::Start);
    }

    fn stand(&mut self, me: &mut Me<ToServer>) {
        self.become_role(me, Role::Candidate);
        self.term += 1;
        self.voted_for = Some(self.index);
        self.votes = 1;
        self.voters = 1 << self.index;
        me.send(&self.around().election, ToTimer::Start);
        self.ask_for_votes(me);
    }

    fn ask_for_votes(&self, me: &Me<ToServer>) {
        me.send(&self.around().periodic, ToTimer::Start);
        let last_index = self.log.len();
        for (_, peer) in self.peers() {
            let request = VoteRequest {
                term: self.term,
                candidate: self.index,
                last_index,
                last_term: self.term_at(last_index),
            };
            me.send(peer, ToServer::VoteRequest(request));
        }
    }

    fn lead(&mut self, me: &mut Me<ToServer>) {
        self.become_role(me, Role::Leader);
        self.rules.leads(self.term);
        let term = self.term;
        me.send(
            &self.around().manager,
            ToManager::LeaderIs(me.address(), term),
        );
        let last_index = self.log.len();
        self.next = [last_index + 1; SERVERS];
        self.matched = [0; SERVERS];
        for (_, peer) in self.peers() {
            let request = AppendRequest {
                term,
                leader: self.index,
                previous_index: last_index,
                previous_term: self.term_at(last_index),
                entries: Vec::new(),
                commit: self.commit,
                client: None,
            };
            me.send(peer, ToServer::AppendRequest(request));
        }
    }

    /// Adopts a higher term. Returns whether it was higher.
    fn adopt(&mut self, term: u64) -> bool {
        if term <= self.term {
            return false;
        }
        self.term = term;
        self.voted_for = None;
        true
    }

    /// A leader that steps down gives its request back.
    fn give_back(&self, me: &Me<ToServer>) {
        if let (Role::Leader, Some(request)) = (self.role, &self.request) {
            me.send(&self.around().manager, ToManager::Request(request.clone()));
        }
    }

    fn steps_down(&self) -> bool {
        matches!(self.role, Role::Candidate | Role::Leader)
    }

    fn vote_requested(&mut self, me: &mut Me<ToServer>, request: &VoteRequest) {
        let higher = self.adopt(request.term);
        if higher {
            self.give_back(me);
        }
        let last_index = self.log.len();
        let refused = request.term < self.term
            || self
                .voted_for
                .is_some_and(|other| other != request.candidate)
            || last_index > request.last_index
            || self.term_at(last_index) > request.last_term;
        if !refused {
            self.voted_for = Some(request.candidate);
            self.leader = None;
        }
        let response = VoteResponse {
            term: self.term,
            granted: !refused,
            from: self.index,
        };
        let candidate = &self.around().servers[request.candidate];
        me.send(candidate, ToServer::VoteResponse(response));
        if higher && self.steps_down() {
            self.follow(me);
        }
    }

    fn voted(&mut self, me: &mut Me<ToServer>, response: &VoteResponse) {
        if self.adopt(response.term) {
            self.give_back(me);
            if self.steps_down() {
                self.follow(me);
            }
            return;
        }
        if self.role != Role::Candidate || response.term != self.term || !response.granted {
            return;
        }
        let again = self.voters >> response.from & 1 == 1;
        self.voters |= 1 << response.from;
        if again && self.rules.votes_count_once {
            return;
        }
        self.votes += 1;
        if self.votes as usize > SERVERS / 2 {
            self.votes = 0;
            self.lead(me);
        }
    }

    fn append_requested(&mut self, me: &mut Me<ToServer>, request: AppendRequest) {
        let higher = self.adopt(request.term);
        if higher {
            self.give_back(me);
        }
        if !higher && self.role == Role::Leader {
            return;
        }
        self.append(me, request);
        if higher && self.steps_down() {
            self.follow(me);
        }
    }

    fn append(&mut self, me: &Me<ToServer>, request: AppendRequest) {
        let previous = request.previous_index;
        let fits = previous <= self.log.len() && self.term_at(previous) == request.previous_term;
        let success = request.term >= self.term && (previous == 0 || fits);
        if success {
            for (offset, entry) in request.entries.iter().enumerate() {
                let at = previous + offset;
                if self.log.get(at).is_some_and(|old| old.term != entry.term) {
                    self.log.truncate(at);
                }
                if at >= self.log.len() {
                    self.log.push(*entry);
                }
            }
            if request.commit > self.commit {
                self.commit = request.commit.min(self.log.len());
            }
            if self.commit > self.applied {
                self.applied += 1;
            }
            self.leader = Some(request.leader);
        }
        let response = AppendResponse {
            term: self.term,
            success,
            from: self.index,
            client: request.client,
        };
        let leader = &self.around().servers[request.leader];
        me.send(leader, ToServer::AppendResponse(response));
    }

    fn appended(&mut self, me: &mut Me<ToServer>, response: AppendResponse) {
        if self.adopt(response.term) {
            self.give_back(me);
            if self.steps_down() {
                self.follow(me);
            }
            return;
        }
        if self.role != Role::Leader || response.term != self.term {
            return;
        }
        let from = response.from;
        if !response.success {
            self.next[from] = self.next[from].saturating_sub(1).max(1);
            self.replicate(me, from, response.client);
            return;
        }
        self.next[from] = self.log.len() + 1;
        self.matched[from] = self.log.len();
        self.votes += 1;
        if let (Some(client), true) = (response.client, self.votes as usize > SERVERS / 2) {
            let commit = self.matched[from];
            if commit > self.commit && self.term_at(commit) == self.term {
                self.commit = commit;
                self.applied += 1;
            }
            self.votes = 0;
            self.request = None;
            me.send(&client, ToClient::Response);
        }
    }

    fn replicate(&self, me: &Me<ToServer>, to: usize, client: Option<Address<ToClient>>) {
        let previous_index = self.next[to] - 1;
        let request = AppendRequest {
            term: self.term,
            leader: self.index,
            previous_index,
            previous_term: self.term_at(previous_index),
            entries: self.log[previous_index..].to_vec(),
            commit: self.commit,
            client,
        };
        me.send(&self.around().servers[to], ToServer::AppendRequest(request));
    }

    fn requested(&mut self, me: &Me<ToServer>, request: Request) {
        if self.role != Role::Leader {
            match self.leader {
                Some(leader) => {
                    me.send(&self.around().servers[leader], ToServer::Request(request));
                }
                None => me.send(&self.around().manager, ToManager::Redirect(request)),
            }
            return;
        }
        self.log.push(Entry {
            term: self.term,
            command: request.command,
        });
        let client = request.client.clone();
        self.request = Some(request);
        self.votes = 1;
        for peer in (0..SERVERS).filter(|peer| *peer != self.index) {
            if self.log.len() >= self.next[peer] {
                self.replicate(me, peer, Some(client.clone()));
            }
        }
    }
}

impl Machine for Server {
    type Message = ToServer;
    const NAME: &'static str = "server";

    fn start(&mut self, me: &mut Me<ToServer>) {
        me.enter(Role::Unconfigured as usize);
    }

    fn deferred(&self) -> u64 {
        match self.role {
            Role::Unconfigured => 1 << VOTE_REQUEST | 1 << APPEND_REQUEST,
            _ => 0,
        }
    }

    fn ignored(&self) -> u64 {
        match self.role {
            Role::Follower => 1 << PERIODIC_TIMEOUT,
            Role::Leader => 1 << PERIODIC_TIMEOUT | 1 << ELECTION_TIMEOUT,
            Role::Unconfigured | Role::Candidate => 0,
        }
    }

    fn handle(&mut self, me: &mut Me<ToServer>, message: ToServer) {
        match message {
            ToServer::Configure(servers, manager) => self.configure(me, servers, manager),
            ToServer::VoteRequest(request) => self.vote_requested(me, &request),
            ToServer::VoteResponse(response) => self.voted(me, &response),
            ToServer::AppendRequest(request) => self.append_requested(me, request),
            ToServer::AppendResponse(response) => self.appended(me, response),
            ToServer::ElectionTimeout => self.stand(me),
            ToServer::PeriodicTimeout => self.ask_for_votes(me),
            ToServer::Request(request) => self.requested(me, request),
            ToServer::ShutDown => {
                me.send(&self.around().election, ToTimer::Halt);
                me.send(&self.around().periodic, ToTimer::Halt);
                me.halt();
            }
        }
    }

    fn digest(&self) -> Option<u64> {
        let votes = (self.leader, self.voted_for, self.term, self.votes);
        Some(hash_of(&(&self.log, votes, self.commit, self.applied)))
    }
}
