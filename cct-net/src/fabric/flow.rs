//! Flows: packets that wait for their arrival.

use super::{Arrival, FlowId, Net};
use cct_executor::node::NodeId;
use cct_executor::shim::{Offer, Resource, ResourceKind, SourceAction};
use cct_executor::words::ActionKind;
use cct_executor::words::fingerprint::{mix, mix2};
use std::collections::VecDeque;
use std::panic::Location;

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

/// A packet on its way.
pub(super) struct Packet {
    pub(super) arrival: Box<dyn Arrival>,
    /// When it may arrive at the earliest.
    pub(super) due_ns: u64,
}

/// Packets of one sender to one receiver.
pub(super) struct Flow {
    pub(super) from: NodeId,
    pub(super) to: NodeId,
    pub(super) kind: FlowKind,
    resource: Resource,
    action: Option<SourceAction>,
    queue: VecDeque<Packet>,
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
        self.queue.push_back(packet);
        self.publish();
    }

    /// When the next packet may arrive.
    pub(super) fn next_due(&self) -> Option<u64> {
        match self.kind {
            FlowKind::Loose => self.queue.iter().map(|packet| packet.due_ns).min(),
            _ => self.queue.front().map(|packet| packet.due_ns),
        }
    }

    /// Of how many packets one may arrive now.
    pub(super) fn arrivable(&self) -> u32 {
        let now = cct_executor::shim::world_time_ns();
        let due = self
            .queue
            .iter()
            .filter(|packet| packet.due_ns <= now)
            .count();
        match self.kind {
            FlowKind::Loose => due.min(OVERTAKING) as u32,
            _ => due.min(1) as u32,
        }
    }

    /// Takes one of the packets that may arrive now.
    pub(super) fn take(&mut self, nth: usize) -> Option<Box<dyn Arrival>> {
        let now = cct_executor::shim::world_time_ns();
        let mut due = self
            .queue
            .iter()
            .enumerate()
            .filter(|(_, packet)| packet.due_ns <= now);
        let at = due.nth(nth)?.0;
        let packet = self.queue.remove(at)?;
        self.kinds = self.kinds.wrapping_sub(mix(packet.arrival.kind()));
        self.publish();
        Some(packet.arrival)
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
