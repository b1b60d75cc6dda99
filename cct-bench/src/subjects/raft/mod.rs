//! Raft with unreliable timers: the program of the `QL` paper (Mukherjee, Deligiannis, Biswas, Lal,
//! Learning-based controlled concurrency testing, OOPSLA 2020), after the Raft sample of P#.
//!
//! Bug: a candidate broadcasts its request for votes again whenever its periodic timer fires, and
//! counts every answer, so one server may vote twice, and two servers become leaders of one term.
//! The two forms differ in how many coins an election timer needs before it fires.
//!
//! Not taken over: nothing that is known. Fixed form: votes count once per server.

mod messages;
mod server;
mod timers;

use super::machine::{Address, Machine, Me, Message, run};
use super::{Published, Scenario, Standing, Subject};
use cct_executor::shim::Shared;
use cct_executor::words::fingerprint::hash_of;
use cct_executor::{Clock, Granularity, nondet};
use messages::ToServer;
use server::Server;
use std::collections::BTreeSet;
use std::sync::Arc;

const SERVERS: usize = 5;

/// The published program with election timers that need 4 heads.
pub(crate) const V1: Subject = Subject {
    name: "raft-v1",
    about: "Raft that counts a server's vote twice; election timers need 4 heads",
    standing: Standing::Reproduction,
    workers: 17,
    max_steps: 1_000,
    granularity: Granularity::Op,
    clock: Clock::Strict,
    scenario: |_| scenario(4, false),
    fixed: Some(|_| scenario(4, true)),
    targets: &[],
    published: &[
        Published::new("ql2", "QLb", 99.0),
        Published::new("ql2", "QLd", 99.0),
        Published::new("ql2", "Rand", 100.0),
        Published::new("ql2", "Greedy", 83.0),
        Published::new("ql2", "PCT3", 0.0),
        Published::new("ql2", "PCT10", 12.0),
        Published::new("ql2", "PCT30", 45.0),
        Published::new("ql2", "IDB", 28.0),
        Published::new("ndn", "NDN", 86.0),
        Published::new("ndn", "QLd", 99.0),
        Published::new("ql4", "QLi", 100.0),
        Published::new("ql4", "QLd", 99.0),
        Published::new("ql4", "QLc", 100.0),
    ],
};

/// The published program with election timers that need 6 heads.
pub(crate) const V2: Subject = Subject {
    name: "raft-v2",
    about: "Raft that counts a server's vote twice; election timers need 6 heads",
    scenario: |_| scenario(6, false),
    fixed: Some(|_| scenario(6, true)),
    published: &[
        Published::new("ql2", "QLb", 28.0),
        Published::new("ql2", "QLd", 95.0),
        Published::new("ql2", "Rand", 4.0),
        Published::new("ql2", "Greedy", 3.0),
        Published::new("ql2", "PCT3", 0.0),
        Published::new("ql2", "PCT10", 0.0),
        Published::new("ql2", "PCT30", 0.0),
        Published::new("ql2", "IDB", 1.0),
        Published::new("ndn", "NDN", 1.0),
        Published::new("ndn", "QLd", 95.0),
        Published::new("ql4", "QLi", 100.0),
        Published::new("ql4", "QLd", 95.0),
        Published::new("ql4", "QLc", 100.0),
    ],
    ..V1
};

fn scenario(depth: u32, votes_count_once: bool) -> Scenario {
    Box::pin(run(Manager {
        rules: Rules {
            depth,
            votes_count_once,
            led: Arc::new(Shared::new(BTreeSet::new())),
        },
        servers: Vec::new(),
        client: None,
        leader: None,
        leader_term: 0,
    }))
}

/// What all machines know.
#[derive(Clone)]
struct Rules {
    /// Heads that an election timer needs before it fires.
    depth: u32,
    votes_count_once: bool,
    /// The terms that had a leader.
    led: Arc<Shared<BTreeSet<u64>>>,
}

impl Rules {
    /// A server became the leader of the term.
    fn leads(&self, term: u64) {
        let first = self.led.with(|led| led.insert(term));
        assert!(first, "two leaders in term {term}");
    }
}

/// A request of the client.
#[derive(Clone)]
struct Request {
    client: Address<ToClient>,
    command: u32,
}

#[derive(Clone)]
enum ToManager {
    LeaderIs(Address<ToServer>, u64),
    Request(Request),
    Redirect(Request),
    ShutDown,
}

impl Message for ToManager {
    fn kind(&self) -> u32 {
        match self {
            ToManager::LeaderIs(..) => 0,
            ToManager::Request(_) => 1,
            ToManager::Redirect(_) => 2,
            ToManager::ShutDown => 3,
        }
    }
}

/// Starts everything, and passes the client's request to the leader.
struct Manager {
    rules: Rules,
    servers: Vec<Address<ToServer>>,
    client: Option<Address<ToClient>>,
    leader: Option<Address<ToServer>>,
    leader_term: u64,
}

impl Machine for Manager {
    type Message = ToManager;
    const NAME: &'static str = "manager";

    fn start(&mut self, me: &mut Me<ToManager>) {
        me.enter(0);
        for index in 0..SERVERS {
            let server = me.create(Server::new(self.rules.clone(), index));
            self.servers.push(server);
        }
        let client = me.create(Client { manager: None });
        for server in &self.servers {
            me.send(
                server,
                ToServer::Configure(self.servers.clone(), me.address()),
            );
        }
        me.send(&client, ToClient::Configure(me.address()));
        self.client = Some(client);
    }

    fn deferred(&self) -> u64 {
        // Requests wait for a leader.
        if self.leader.is_none() { 1 << 1 } else { 0 }
    }

    fn handle(&mut self, me: &mut Me<ToManager>, message: ToManager) {
        match message {
            ToManager::LeaderIs(leader, term) => {
                if term > self.leader_term {
                    self.leader = Some(leader);
                    self.leader_term = term;
                }
                me.enter(1);
            }
            ToManager::Request(request) => {
                if let Some(leader) = &self.leader {
                    me.send(leader, ToServer::Request(request));
                }
            }
            ToManager::Redirect(request) => me.send(&me.address(), ToManager::Request(request)),
            ToManager::ShutDown => {
                for server in &self.servers {
                    me.send(server, ToServer::ShutDown);
                }
                me.halt();
            }
        }
    }

    fn digest(&self) -> Option<u64> {
        let leader = self.leader.as_ref().map(Address::number);
        Some(hash_of(&(self.servers.len(), leader, self.leader_term)))
    }
}

#[derive(Clone)]
enum ToClient {
    Configure(Address<ToManager>),
    Response,
}

impl Message for ToClient {
    fn kind(&self) -> u32 {
        match self {
            ToClient::Configure(_) => 0,
            ToClient::Response => 1,
        }
    }
}

/// Sends one request and shuts everything down when it is answered.
struct Client {
    manager: Option<Address<ToManager>>,
}

impl Machine for Client {
    type Message = ToClient;
    const NAME: &'static str = "client";

    fn start(&mut self, me: &mut Me<ToClient>) {
        me.enter(0);
    }

    fn handle(&mut self, me: &mut Me<ToClient>, message: ToClient) {
        match message {
            ToClient::Configure(manager) => {
                me.enter(1);
                let command = nondet::choose(5);
                let client = me.address();
                me.send(&manager, ToManager::Request(Request { client, command }));
                self.manager = Some(manager);
            }
            ToClient::Response => {
                if let Some(manager) = &self.manager {
                    me.send(manager, ToManager::ShutDown);
                }
                me.halt();
            }
        }
    }
}

#[cfg(test)]
mod tests;
