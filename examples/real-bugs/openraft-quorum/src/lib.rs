//! A replicated log on five voters, whose leader has a slow disk.
//!
//! Nothing fails here: no message is lost, no server stops. Replies take their time, some more than
//! others, and the leader's log is flushed in the background, as openraft allows.
//!
//! The bug, in openraft 0.10.0-alpha.24 and before: the leader keeps the voters that are ahead of
//! what a quorum has in descending order, and counts from the front to see what a quorum has now.
//! A voter that was ahead already and moves further ahead stays where it was, so that one with less
//! may stand before it and be counted for what it does not have. The leader then commits what only
//! two of five voters have on disk. Reported in
//! <https://github.com/databendlabs/openraft/issues/1802>, fixed in 0.10.0-alpha.25 by
//! <https://github.com/databendlabs/openraft/pull/1804>.

mod durable;
mod log_store;
mod network;
mod runtime;
mod state_machine;

use cct_executor::time::sleep;
use cct_executor::{nondet, spawn};
use cct_net::fabric::{self, Verdict};
use cct_net::mailbox::Calls;
use cct_net::node;
use durable::Durable;
use log_store::LogStore;
use network::Network;
use openraft::Raft;
use state_machine::StateMachine;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// Ids of the voters.
const VOTERS: [u64; 5] = [1, 2, 3, 4, 5];

/// The voter that is made leader, and whose disk is slow.
const LEADER: u64 = 1;

/// How many entries clients write, one per millisecond.
const WRITES: u64 = 8;

/// How long a reply to the leader may take.
const REPLY_TAKES: [Duration; 3] = [
    Duration::from_millis(1),
    Duration::from_millis(5),
    Duration::from_millis(20),
];

/// How long the leader's disk may take to flush.
const FLUSH_TAKES: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(15)];

openraft::declare_raft_types!(
    pub(crate) Types:
        D = u64,
        R = (),
        Node = openraft::EmptyNode,
        AsyncRuntime = runtime::CctRuntime,
);

/// The node of a voter.
fn name(voter: u64) -> String {
    format!("voter-{voter}")
}

/// Starts a voter on this node.
async fn start(id: u64, durable: Arc<Durable>) -> Raft<Types, StateMachine> {
    let config = openraft::Config {
        heartbeat_interval: 100,
        election_timeout_min: 300,
        election_timeout_max: 600,
        ..openraft::Config::default()
    };
    let config = config.validate().expect("the configuration is valid");
    let flush_takes: &[Duration] = if id == LEADER { &FLUSH_TAKES } else { &[] };
    let log = LogStore::new(id, flush_takes, Arc::clone(&durable));
    let state_machine = StateMachine::new(id, durable);
    let calls = Calls::bind("raft").expect("the node has no other voter");
    let network = Network(calls.caller());
    let raft = Raft::new(id, Arc::new(config), network, log, state_machine).await;
    let raft = raft.expect("the voter starts");
    spawn(network::serve(calls, raft.clone()));
    raft
}

/// What the leader does.
async fn lead(leader: Raft<Types, StateMachine>) {
    let voters = BTreeSet::from(VOTERS);
    leader.initialize(voters).await.expect("a fresh cluster");
    let elected = leader.wait(None).current_leader(LEADER, "elected").await;
    elected.expect("the only candidate wins");

    let mut writes = Vec::new();
    for number in 0..WRITES {
        let leader = leader.clone();
        writes.push(spawn(async move { leader.client_write(number).await }));
        sleep(Duration::from_millis(1)).await;
    }
    for write in writes {
        let written = write.await.expect("a write does not panic");
        written.expect("the leader stays");
    }
}

/// What is committed is on the disks of a quorum.
pub async fn scenario() {
    let durable = Arc::new(Durable::default());
    let mut leader = None;
    for id in VOTERS {
        let voter = node(name(id)).start(std::future::pending::<()>);
        let raft = voter.spawn(start(id, Arc::clone(&durable))).await;
        if id == LEADER {
            leader = Some((voter, raft.expect("the voter starts")));
        }
    }
    let (node, leader) = leader.expect("the leader is a voter");
    let to = node.id();
    fabric::set_rule(move |packet| match packet.to == to {
        true => Verdict::DeliverAfter(*nondet::pick(&REPLY_TAKES)),
        false => Verdict::Pass,
    });
    let led = node.spawn(lead(leader)).await;
    led.expect("the leader does not panic");
}
