//! Links: what happens to packets between two nodes, in one direction.

use super::flow::Way;
use super::stats::Counts;
use super::{Arrival, FlowId};
use cct_executor::node::NodeId;
use cct_executor::{nondet, shim};
use rand_distr::Distribution;
use std::fmt;
use std::num::NonZeroU32;
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
    /// It arrives twice, where the transport may duplicate: datagrams, and mailboxes that are
    /// [`duplicable`](crate::mailbox::Builder::duplicable).
    Duplicate,
}

pub(super) type Rule = Box<dyn FnMut(&Envelope) -> Verdict + Send>;

/// Number of a link in its world.
pub(super) type LinkId = u32;

/// One direction between two nodes. Small, as there may be as many as pairs of nodes.
pub(super) struct Link {
    pub(super) from: NodeId,
    pub(super) to: NodeId,
    /// Nothing gets through, and what is no connection is lost.
    pub(super) cut: bool,
    /// Nothing gets through for the moment.
    pub(super) held: bool,
    /// The flow that was opened first, of those that are open.
    first: Option<NonZeroU32>,
    rest: Option<Box<Rest>>,
}

/// What few links need.
#[derive(Default)]
struct Rest {
    /// The flows after the first, in the order of opening.
    flows: Vec<FlowId>,
    /// How long packets take, where they take time.
    timed: Option<Timed>,
    /// When the bytes sent so far have left.
    busy_until_ns: u64,
    /// What was lost, and what went over flows that are closed.
    counts: Counts,
}

impl Link {
    pub(super) fn new(from: NodeId, to: NodeId, delivery: &Delivery) -> Link {
        let mut link = Link {
            from,
            to,
            cut: false,
            held: false,
            first: None,
            rest: None,
        };
        link.set_delivery(delivery);
        link
    }

    fn rest(&mut self) -> &mut Rest {
        self.rest.get_or_insert_default()
    }

    pub(super) fn set_delivery(&mut self, delivery: &Delivery) {
        match (delivery, &mut self.rest) {
            (Delivery::Ordered, None) => {}
            (Delivery::Ordered, Some(rest)) => rest.timed = None,
            (Delivery::Timed(timed), _) => self.rest().timed = Some(timed.clone()),
        }
    }

    /// What it does to packets.
    pub(super) fn way(&self) -> Way {
        let timed = self.rest.as_ref().is_some_and(|rest| rest.timed.is_some());
        Way::default()
            .with(Way::CUT, self.cut)
            .with(Way::HELD, self.held)
            .with(Way::TIMED, timed)
    }

    /// A flow is opened.
    pub(super) fn open(&mut self, id: FlowId) {
        match self.first {
            None => self.first = NonZeroU32::new(id + 1),
            Some(_) => self.rest().flows.push(id),
        }
    }

    /// A flow is closed, over which so much went.
    pub(super) fn close(&mut self, id: FlowId, sent: u32, arrived: u32) {
        let is_first = self.first.is_some_and(|first| first.get() == id + 1);
        let rest = self.rest();
        rest.counts.sent += u64::from(sent);
        rest.counts.arrived += u64::from(arrived);
        if is_first {
            let next = (!rest.flows.is_empty()).then(|| rest.flows.remove(0));
            self.first = next.and_then(|id| NonZeroU32::new(id + 1));
        } else {
            rest.flows.retain(|&other| other != id);
        }
    }

    /// Its flows, in the order of opening.
    pub(super) fn flows(&self) -> impl Iterator<Item = FlowId> {
        let first = self.first.map(|first| first.get() - 1);
        let rest = self.rest.iter().flat_map(|rest| &rest.flows);
        first.into_iter().chain(rest.copied())
    }

    /// Packets were lost.
    pub(super) fn lost(&mut self, packets: u64) {
        if packets > 0 {
            self.rest().counts.lost += packets;
        }
    }

    /// What was lost, and what went over flows that are closed.
    pub(super) fn counts(&self) -> Counts {
        self.rest
            .as_ref()
            .map_or(Counts::default(), |rest| rest.counts)
    }

    /// When a packet that is sent now may arrive at the earliest.
    pub(super) fn due_ns(&mut self, size: usize) -> u64 {
        let now = shim::world_time_ns();
        let Some(rest) = &mut self.rest else {
            return now;
        };
        let Some(Timed { latency, bandwidth }) = &rest.timed else {
            return now;
        };
        let needed = bandwidth.map_or(0, |rate| {
            u64::try_from(size as u128 * 1_000_000_000 / u128::from(rate.max(1)))
                .unwrap_or(u64::MAX)
        });
        rest.busy_until_ns = rest.busy_until_ns.max(now).saturating_add(needed);
        let latency = (latency.0)(&mut nondet::rng());
        let latency = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        rest.busy_until_ns.saturating_add(latency)
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
