//! Flows: packets that wait for their arrival.

use super::{Arrival, FlowId, Net};
use cct_executor::node::NodeId;
use cct_executor::shim::{Offer, Resource, ResourceKind, SourceAction};
use cct_executor::words::ActionKind;
use cct_executor::words::fingerprint::{mix, mix2};
use std::collections::VecDeque;
use std::panic::Location;
use std::time::Duration;

/// How many datagrams may overtake each other at a time: of those that wait, the oldest.
const OVERTAKING: usize = 8;

/// What a flow promises.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FlowKind {
    /// Everything arrives, in order, however late, unless the sender gives up: a connection.
    Reliable,
    /// What arrives is in order; a cut loses it: a mailbox.
    Fifo,
    /// Anything may be lost, doubled and overtaken: datagrams.
    Loose,
}

/// Makes what arrives first on a link that was cut and is whole again.
pub(crate) type Announce = Box<dyn Fn() -> Box<dyn Arrival> + Send>;

/// A packet on its way.
pub(super) struct Packet {
    pub(super) arrival: Box<dyn Arrival>,
    /// When it may arrive at the earliest.
    pub(super) due_ns: u64,
}

/// Packets that wait.
pub(super) type Queue = VecDeque<Packet>;

/// Packets of one sender to one receiver.
pub(super) struct Flow {
    pub(super) from: NodeId,
    pub(super) to: NodeId,
    pub(super) kind: FlowKind,
    resource: Resource,
    action: Option<SourceAction>,
    /// Invariant: in the order of due times, and of sending where they are equal.
    queue: Queue,
    /// Makes the announcement that the link is whole again.
    announce: Option<Announce>,
    /// When the last packet that was sent is due.
    pub(super) last_due: u64,
    /// Its place in the schedule.
    pub(super) scheduled: Option<u64>,
    /// For how long packets that cannot get through are sent again.
    pub(super) patience_ns: u64,
    /// When the sender gives up, while something waits and nothing gets through.
    pub(super) gives_up: Option<u64>,
    /// Sum over the packets' kinds.
    kinds: u64,
}

impl Flow {
    pub(super) fn new(
        from: NodeId,
        to: NodeId,
        kind: FlowKind,
        site: &'static Location<'static>,
    ) -> Flow {
        Flow {
            from,
            to,
            kind,
            resource: Resource::at(ResourceKind::Link, site),
            action: None,
            queue: VecDeque::new(),
            announce: None,
            last_due: 0,
            scheduled: None,
            patience_ns: u64::MAX,
            gives_up: None,
            kinds: 0,
        }
    }

    /// Makes its action, now that its number is known.
    pub(super) fn enter(
        &mut self,
        net: &Net,
        id: FlowId,
        identity: u64,
        site: &'static Location<'static>,
    ) {
        let pair = u64::from(self.from.0) << 16 | u64::from(self.to.0);
        self.action = Some(net.action(Offer {
            kind: ActionKind::Deliver,
            what: id as u64,
            identity: mix2(mix(pair ^ 0x666c_6f77), identity),
            node: self.to,
            resource: &self.resource,
            site,
        }));
    }

    pub(super) fn action(&self) -> SourceAction {
        self.action.expect("cct bug: a flow without its action")
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    pub(super) fn push(&mut self, packet: Packet) {
        self.last_due = self.last_due.max(packet.due_ns);
        self.kinds = self.kinds.wrapping_add(mix(packet.arrival.kind()));
        // From the back: few are overtaken by what is sent later.
        let later = self.queue.iter().rev();
        let overtaken = later
            .take_while(|other| other.due_ns > packet.due_ns)
            .count();
        self.queue.insert(self.queue.len() - overtaken, packet);
        self.publish();
    }

    /// Gives it room for packets, if it has none.
    pub(super) fn lend(&mut self, spare: &mut Vec<Queue>) {
        if self.queue.capacity() == 0 {
            self.queue = spare.pop().unwrap_or_default();
        }
    }

    /// Gives back its room, if nothing is in it.
    pub(super) fn give_back(&mut self, spare: &mut Vec<Queue>) {
        if self.queue.is_empty() && self.queue.capacity() > 0 {
            spare.push(std::mem::take(&mut self.queue));
        }
    }

    pub(super) fn announces(&mut self, announce: Announce) {
        self.announce = Some(announce);
    }

    pub(super) fn announcement(&self) -> Option<Box<dyn Arrival>> {
        self.announce.as_ref().map(|announce| announce())
    }

    /// When the next packet may arrive.
    pub(super) fn next_due(&self) -> Option<u64> {
        self.queue.front().map(|packet| packet.due_ns)
    }

    /// Of how many packets one may arrive now.
    pub(super) fn arrivable(&self) -> u32 {
        let now = cct_executor::shim::world_time_ns();
        let overtaking = match self.kind {
            FlowKind::Loose => OVERTAKING,
            _ => 1,
        };
        let first = self.queue.iter().take(overtaking);
        first.take_while(|packet| packet.due_ns <= now).count() as u32
    }

    /// Takes one of the packets that may arrive now.
    pub(super) fn take(&mut self, nth: usize) -> Option<Box<dyn Arrival>> {
        let packet = self.queue.remove(nth)?;
        self.kinds = self.kinds.wrapping_sub(mix(packet.arrival.kind()));
        self.publish();
        Some(packet.arrival)
    }

    /// Makes the first packet late, and those that must not overtake it.
    pub(super) fn delay_first(&mut self, delay: Duration) {
        let Some(mut first) = self.queue.pop_front() else {
            return;
        };
        let now = cct_executor::shim::world_time_ns();
        let delay_ns = u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
        first.due_ns = first.due_ns.max(now).saturating_add(delay_ns);
        if self.kind == FlowKind::Loose {
            let at = self
                .queue
                .partition_point(|other| other.due_ns <= first.due_ns);
            return self.queue.insert(at, first);
        }
        for later in &mut self.queue {
            later.due_ns = later.due_ns.max(first.due_ns);
        }
        self.last_due = self.last_due.max(first.due_ns);
        self.queue.push_front(first);
    }

    pub(super) fn first(&self) -> Option<&dyn Arrival> {
        self.queue.front().map(|packet| &*packet.arrival)
    }

    /// Takes the first packet, to be given back with [`put_first`](Self::put_first).
    pub(super) fn take_first(&mut self) -> Option<Packet> {
        let packet = self.queue.pop_front()?;
        self.kinds = self.kinds.wrapping_sub(mix(packet.arrival.kind()));
        Some(packet)
    }

    pub(super) fn put_first(&mut self, packet: Packet) {
        self.kinds = self.kinds.wrapping_add(mix(packet.arrival.kind()));
        self.queue.push_front(packet);
        self.publish();
    }

    /// Takes everything.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Box<dyn Arrival>> + use<> {
        self.kinds = 0;
        let queue = std::mem::take(&mut self.queue);
        self.publish();
        queue.into_iter().map(|packet| packet.arrival)
    }

    fn publish(&self) {
        self.resource
            .set_state(self.kinds.wrapping_add(self.queue.len() as u64));
    }
}
