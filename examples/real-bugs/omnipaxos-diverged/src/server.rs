//! A server: feeds omnipaxos with what arrives, and sends what it wants sent.

use crate::api::{self, Log};
use crate::network::{Event, Network};
use crate::{SERVERS, TICK, Write};
use cct_executor::select;
use cct_executor::time::interval;
use cct_sync::mpsc::UnboundedReceiver;
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
    network: Arc<Network>,
    ledger: Arc<Ledger>,
}

impl Server {
    /// A server with an empty log.
    pub(crate) fn new(pid: u64, network: Arc<Network>, ledger: Arc<Ledger>) -> Self {
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
        Server {
            pid,
            log,
            network,
            ledger,
        }
    }

    /// Runs until the inbox closes.
    pub(crate) async fn run(mut self, mut inbox: UnboundedReceiver<Event>) {
        let mut ticks = interval(TICK);
        loop {
            select! {
                event = inbox.recv() => match event {
                    Some(event) => self.handle(event),
                    None => return,
                },
                _ = ticks.tick() => self.log.tick(),
            }
            for message in api::outgoing(&mut self.log) {
                self.network.send(message);
            }
            self.ledger.check(self.pid, &api::decided(&self.log));
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Message(message) => self.log.handle_incoming(message),
            Event::Write(write) => self.log.append(write).expect("never reconfigured"),
            Event::Connected(peer) => self.log.reconnected(peer),
        }
    }
}
