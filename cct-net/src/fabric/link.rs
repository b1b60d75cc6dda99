//! Links: what happens to packets between two nodes, in one direction.

use super::stats::Counts;
use super::{Arrival, FlowId};
use cct_executor::node::NodeId;
use cct_executor::{nondet, shim};
use rand_distr::Distribution;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// After which time the segment of a connection that was lost is sent again: the least that Linux
/// waits.
pub(super) const RETRANSMISSION_NS: u64 = 200_000_000;

/// When packets arrive.
#[derive(Clone, Debug, Default)]
pub enum Delivery {
    /// Each connection and mailbox keeps its order; in between every interleaving is possible, and
    /// the strategy chooses. Nothing takes time. The default.
    #[default]
    Ordered,
    /// After a time drawn at random, for services that measure time.
    Timed(Timed),
}

/// How long packets take.
#[derive(Clone, Debug)]
pub struct Timed {
    /// How long a packet takes besides the time its bytes need.
    pub latency: Latency,
    /// Bytes a second; `None` for as many as you like.
    pub bandwidth: Option<u64>,
}

/// A distribution of latencies.
#[derive(Clone)]
pub struct Latency(Arc<Draw>);

type Draw = dyn Fn(&mut dyn rand::Rng) -> Duration + Send + Sync;

/// What a rule is told of a message that is being sent.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Envelope {
    /// The sender's node.
    pub from: NodeId,
    /// The receiver's node.
    pub to: NodeId,
    /// What it is: `syn`, `data`, `fin`, `datagram`, or the name of the message's type.
    pub label: &'static str,
    /// Bytes on the wire.
    pub size: usize,
}

/// What a rule says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Verdict {
    /// As the link has it.
    Pass,
    /// That much later.
    DeliverAfter(Duration),
    /// It is lost. A connection sends it again later.
    Drop,
    /// It arrives twice, where the transport may duplicate: datagrams and mailboxes.
    Duplicate,
}

pub(super) type Rule = Box<dyn FnMut(&Envelope) -> Verdict + Send>;

/// One direction between two nodes.
pub(super) struct Link {
    /// How long packets take, where they take time.
    timed: Option<Box<Timed>>,
    /// Nothing gets through, and what is no connection is lost.
    pub(super) cut: bool,
    /// Nothing gets through for the moment.
    pub(super) held: bool,
    pub(super) flows: Vec<FlowId>,
    pub(super) counts: Counts,
    /// When the bytes sent so far have left.
    busy_until_ns: u64,
}

impl Link {
    pub(super) fn new(delivery: &Delivery) -> Link {
        let mut link = Link {
            timed: None,
            cut: false,
            held: false,
            flows: Vec::new(),
            counts: Counts::default(),
            busy_until_ns: 0,
        };
        link.set_delivery(delivery);
        link
    }

    pub(super) fn set_delivery(&mut self, delivery: &Delivery) {
        self.timed = match delivery {
            Delivery::Ordered => None,
            Delivery::Timed(timed) => Some(Box::new(timed.clone())),
        };
    }

    /// When a packet that is sent now may arrive at the earliest.
    pub(super) fn due_ns(&mut self, size: usize) -> u64 {
        let now = shim::world_time_ns();
        let Some(Timed { latency, bandwidth }) = self.timed.as_deref() else {
            return now;
        };
        let needed = bandwidth.map_or(0, |rate| {
            u64::try_from(size as u128 * 1_000_000_000 / u128::from(rate.max(1)))
                .unwrap_or(u64::MAX)
        });
        self.busy_until_ns = self.busy_until_ns.max(now).saturating_add(needed);
        let latency = (latency.0)(&mut nondet::rng());
        let latency = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        self.busy_until_ns.saturating_add(latency)
    }
}

impl Latency {
    /// Always the same.
    pub fn constant(latency: Duration) -> Latency {
        Latency(Arc::new(move |_| latency))
    }

    /// Drawn from a distribution of seconds; what is negative counts as 0.
    pub fn seconds(distribution: impl Distribution<f64> + Send + Sync + 'static) -> Latency {
        Latency(Arc::new(move |mut rng| {
            let seconds = distribution.sample(&mut rng);
            Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX)
        }))
    }
}

impl fmt::Debug for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Latency")
    }
}

impl Envelope {
    pub(super) fn new(from: NodeId, to: NodeId, arrival: &dyn Arrival) -> Envelope {
        Envelope {
            from,
            to,
            label: arrival.label(),
            size: arrival.size(),
        }
    }
}
