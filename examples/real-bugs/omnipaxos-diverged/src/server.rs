//! A server: feeds omnipaxos with what arrives, and sends what it wants sent.

use crate::api::{self, Log};
use crate::{SERVERS, TICK, WRITES_TO, Write, name};
use cct_executor::node::NodeId;
use cct_executor::select;
use cct_executor::time::interval;
use cct_net::mailbox::{Event, Mailbox, Peer};
use omnipaxos::messages::Message;
use omnipaxos::{ClusterConfig, ServerConfig};
use omnipaxos_storage::memory_storage::MemoryStorage;
use std::sync::{Arc, Mutex, PoisonError};

/// What any server has decided so far, longest first seen.
#[derive(Default)]
pub(crate) struct Ledger(Mutex<Vec<Write>>);

impl Ledger {
    /// Compares a server's decided log with what was decided before; the shorter of the two must be
    /// a prefix of the longer one.
    fn check(&self, pid: u64, decided: &[Write]) {
        let mut ledger = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let common = decided.len().min(ledger.len());
        assert_eq!(
            decided[..common],
            ledger[..common],
            "server {pid} decided otherwise than was decided before"
        );
        ledger.extend_from_slice(&decided[common..]);
    }
}

/// One server.
pub(crate) struct Server {
    pid: u64,
    log: Log,
    ledger: Arc<Ledger>,
}

impl Server {
    /// A server with an empty log.
    pub(crate) fn new(pid: u64, ledger: Arc<Ledger>) -> Self {
        let cluster = ClusterConfig {
            configuration_id: 1,
            nodes: SERVERS.to_vec(),
            ..ClusterConfig::default()
        };
        let server = ServerConfig {
            pid,
            election_tick_timeout: 2,
            resend_message_tick_timeout: 5,
            ..ServerConfig::default()
        };
        let log = cluster
            .build_for_server(server, MemoryStorage::default())
            .expect("the configuration is valid");
        Server { pid, log, ledger }
    }

    /// Runs on its node.
    pub(crate) async fn run(mut self) {
        let peers = Mailbox::<Message<Write>>::builder("peers").sessions();
        let mut peers = peers.bind().expect("the node has no other server");
        let mut writes = Mailbox::<Write>::bind(WRITES_TO).expect("the node has no other server");
        let mut ticks = interval(TICK);
        loop {
            select! {
                event = peers.recv_event() => self.handle(event),
                (_, write) = writes.recv() => self.log.append(write).expect("never reconfigured"),
                _ = ticks.tick() => self.log.tick(),
            }
            for message in api::outgoing(&mut self.log) {
                let to = name(message.get_receiver());
                peers.send(to, message).expect("the server is there");
            }
            self.ledger.check(self.pid, &api::decided(&self.log));
        }
    }

    fn handle(&mut self, event: Event<Message<Write>>) {
        match event {
            Event::Message { message, .. } => self.log.handle_incoming(message),
            Event::Reconnected { from } => self.log.reconnected(pid(from)),
            _ => {}
        }
    }
}

/// The server on a node.
fn pid(node: NodeId) -> u64 {
    let is_there = |pid: &&u64| name(**pid).node().is_ok_and(|there| there == node);
    *SERVERS
        .iter()
        .find(is_there)
        .expect("servers write to servers")
}
