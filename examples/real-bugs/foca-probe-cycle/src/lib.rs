//! A cluster of four members that gossip about who is up, on a network that falls apart and heals.
//!
//! The bug, in foca 0.1.0: a member that learns that the others have declared it down takes a new
//! identity and joins anew. If it is in the middle of a probe then, the probe is not forgotten, and
//! the next one finds that the last was never finished (<https://github.com/caio/foca/issues/2>). foca
//! calls this a bug of its own, and suspects members that are up. Fixed in 0.2.0, but for members
//! that find themselves alone in the middle of a probe; those are fixed in 0.5.0
//! (<https://github.com/caio/foca/pull/13>).
//!
//! (0.4.1 has the rest of the bug only, which takes longer partitions: half of the seeds find it in
//! 1,000 iterations.)

mod member;

use cct_executor::time::sleep;
use cct_net::fault::{Fault, FaultPlan};
use cct_net::node;
use std::time::Duration;

/// How many members the cluster has.
const MEMBERS: u8 = 4;

/// When the network begins to fall apart, and when it stays whole.
const FAULTS: std::ops::Range<Duration> = Duration::from_secs(3)..Duration::from_secs(40);

/// How often it falls apart at most.
const PARTITIONS: u32 = 4;

/// The node of a member.
fn name(at: u8) -> String {
    format!("member-{at}")
}

/// No member ends a probe that it did not begin.
pub async fn scenario() {
    let members: Vec<_> = (0..MEMBERS)
        .map(|at| node(name(at)).start(move || member::run(at)))
        .collect();
    let faults = FaultPlan::new()
        .nodes(&members)
        .fault(Fault::Partition)
        .total(PARTITIONS)
        .pace(64, Duration::from_secs(1))
        .between(FAULTS);
    faults.start().expect("the plan makes sense");
    sleep(Duration::from_secs(60)).await;
}
