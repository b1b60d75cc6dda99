//! A replicated log on three servers whose connections come and go.
//!
//! The bug, in omnipaxos 0.2.2: a new leader that takes the log of a more recent follower first
//! raises its decided index to the highest one it was told of, and then writes the entries it was
//! sent at that index, although they start at its old one. What it had accepted but never decided
//! stays in place, now counts as decided, and goes to the followers. Gone in 0.2.3, where
//! entries travel with the index they belong to, since
//! <https://github.com/haraldng/omnipaxos/pull/121>.
//!
//! A leader that is cut off accepts writes that nobody else sees, the other two elect a leader and
//! go on, and then that one is cut off: it takes no more than this for the first to lead again with
//! a log that is out of date.

mod api;
mod network;
mod server;

use cct_executor::time::sleep;
use cct_executor::{nondet, spawn};
use network::Network;
use omnipaxos::storage::{Entry, NoSnapshot};
use server::{Ledger, Server};
use std::sync::Arc;
use std::time::Duration;

/// Ids of the servers, as omnipaxos wants them: from 1.
const SERVERS: [u64; 3] = [1, 2, 3];

/// The connections between them.
const LINKS: [(u64, u64); 3] = [(1, 2), (1, 3), (2, 3)];

/// How often a server calls `tick`; every other tick is an election timeout.
const TICK: Duration = Duration::from_millis(10);

/// How long the network stays as it is.
const SPELL: Duration = Duration::from_millis(80);

/// How many such spells there are.
const SPELLS: u32 = 5;

/// What the log holds.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Write {
    client: u64,
    number: u32,
}

impl Entry for Write {
    type Snapshot = NoSnapshot;
}

/// Any link may be down for a while, and any may come back.
async fn weather(network: Arc<Network>) {
    for _ in 0..SPELLS {
        sleep(SPELL).await;
        let down = nondet::choose(1 << LINKS.len());
        for (bit, (a, b)) in LINKS.into_iter().enumerate() {
            network.set_up(a, b, down & (1 << bit) == 0);
        }
    }
}

/// A client of one server: writes now and then.
async fn client(id: u64, network: Arc<Network>) {
    for number in 0..SPELLS {
        sleep(SPELL).await;
        network.write(id, Write { client: id, number });
    }
}

/// No two servers decide different entries for one place in the log.
pub async fn scenario() {
    let ledger = Arc::new(Ledger::default());
    let (network, inboxes) = Network::new();
    for (pid, inbox) in inboxes {
        let server = Server::new(pid, Arc::clone(&network), Arc::clone(&ledger));
        spawn(server.run(inbox));
        spawn(client(pid, Arc::clone(&network)));
    }
    spawn(weather(network));
    sleep(SPELL * (SPELLS + 2)).await;
}
