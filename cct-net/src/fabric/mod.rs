//! The fabric: flows of packets between nodes, the links they go over, and what may happen to them.
//!
//! A *flow* is what keeps an order of its own: one direction of a connection, or all messages of a
//! mailbox from one node to another. The arrival of its next packet is one action, offered to the
//! strategy while the link lets it through. A *link* is a pair of nodes in one direction; it is made
//! when it is first used.
//!
//! 1. What a packet is, and what its arrival does, is the business of whoever sent it (`Arrival`).
//! 2. Arrivals happen outside the fabric's cell, as no task; those of what is sent at once, in the poll that sends.
//! 3. The order of flows, links and nodes is that of first use; nothing depends on addresses.
//!
//! Read next: `link` (what a link does to packets), `flow`, `control` (partitions and the like,
//! as users call them).

pub(crate) mod control;
pub(crate) mod flow;
pub(crate) mod link;
mod links;
mod meddle;
mod network;
mod source;
mod state;
pub(crate) mod stats;
mod tables;

pub use control::{
    CrashStyle, cut_one_way, heal, heal_all, hold, isolate, partition, partition_groups, release,
    set_default_delivery, set_delivery, set_rule, statistics,
};
pub use link::{Delivery, Envelope, Latency, Timed, Verdict};
pub(crate) use meddle::shown;
pub(crate) use network::{Net, Network, network};
pub use stats::Statistics;

use cct_executor::shim::Resource;
use state::{State, Todo};

/// Something on its way to a node.
pub(crate) trait Arrival: Send + 'static {
    /// It arrives.
    fn arrive(self: Box<Self>);

    /// It is lost for good: the link is cut, the node is down, or a rule says so.
    fn lost(self: Box<Self>) {}

    /// Whether it is a part of opening a connection.
    fn opens(&self) -> bool {
        false
    }

    /// A copy that may arrive too; `None` where the transport does not duplicate.
    fn copy(&self) -> Option<Box<dyn Arrival>> {
        None
    }

    /// Its size on the wire, in bytes.
    fn size(&self) -> usize;

    /// What kind of packet it is: its share of the abstract state.
    fn kind(&self) -> u64;

    /// What traces and rules call it.
    fn label(&self) -> &'static str;

    /// What it arrives at, if that is one thing.
    fn receiver(&self) -> Option<&Resource> {
        None
    }

    /// What is in it, where reports are to show that: user code says.
    fn shown(&self) -> Option<String> {
        None
    }

    /// Whether reports are to show what is in it.
    fn is_shown(&self) -> bool {
        false
    }
}

/// Number of a flow in its world.
pub(crate) type FlowId = u32;
