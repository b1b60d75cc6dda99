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
mod server;

use cct_executor::spawn;
use cct_executor::time::sleep;
use cct_net::fault::{Fault, FaultPlan};
use cct_net::mailbox::{Mailbox, Sender};
use cct_net::node;
use omnipaxos::storage::{Entry, NoSnapshot};
use server::{Ledger, Server};
use std::sync::Arc;
use std::time::Duration;

/// Ids of the servers, as omnipaxos wants them: from 1.
const SERVERS: [u64; 3] = [1, 2, 3];

/// How often a server calls `tick`; every other tick is an election timeout.
const TICK: Duration = Duration::from_millis(10);

/// How long a client waits before it writes, again and again.
const PAUSE: Duration = Duration::from_millis(80);

/// How many writes each client makes.
const WRITES: u32 = 5;

/// How often the servers fall into groups at most.
const PARTITIONS: u32 = 8;

/// The mailboxes that clients write to.
const WRITES_TO: &str = "writes";

/// What the log holds.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Write {
    client: u64,
    number: u32,
}

impl Entry for Write {
    type Snapshot = NoSnapshot;
}

/// The node of a server.
fn name(server: u64) -> String {
    format!("server-{server}")
}

/// A client of one server: writes now and then.
async fn client(id: u64, writes: Sender<Write>) {
    for number in 0..WRITES {
        sleep(PAUSE).await;
        let sent = writes.send(name(id), Write { client: id, number });
        sent.expect("the server is there");
    }
}

/// No two servers decide different entries for one place in the log.
pub async fn scenario() {
    let ledger = Arc::new(Ledger::default());
    let servers = SERVERS.map(|pid| {
        let ledger = Arc::clone(&ledger);
        node(name(pid)).start(move || Server::new(pid, Arc::clone(&ledger)).run())
    });
    let writes = Mailbox::bind(WRITES_TO).expect("the name is free");
    for pid in SERVERS {
        spawn(client(pid, writes.sender()));
    }
    let faults = FaultPlan::new()
        .nodes(&servers)
        .fault(Fault::Partition)
        .total(PARTITIONS)
        // The servers exchange so many messages in 50 ms or so, and the test is over in half a
        // second.
        .pace(64, TICK)
        .between(Duration::ZERO..PAUSE * (WRITES + 1));
    faults.start().expect("the plan makes sense");
    sleep(PAUSE * (WRITES + 2)).await;
}
