//! Flows: packets that wait for their arrival.
//!
//! A flow is one cache line, which holds what it needs while at most one packet waits and nothing
//! takes time. With hundreds of nodes every flow looked at has left the near caches, so that lines
//! are what a message costs. The rest is kept apart, and only by flows that need it.

mod more;

use super::link::LinkId;
use super::{Arrival, FlowId, Net};
use cct_executor::node::NodeId;
use cct_executor::shim::{Offer, Resource, ResourceKind, SourceAction, world_time_ns};
use cct_executor::words::ActionKind;
use cct_executor::words::fingerprint::{mix, mix2};
pub(super) use more::{More, Spare};
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

/// What a flow's link, and the node at its end, do to packets; kept with the flow so that a message
/// need not look at its link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Way(u8);

impl Way {
    /// Nothing gets through, and what is no connection is lost.
    pub(super) const CUT: Way = Way(1);
    /// Nothing gets through for the moment.
    pub(super) const HELD: Way = Way(2);
    /// Packets take time.
    pub(super) const TIMED: Way = Way(4);
    /// The receiver's host is gone.
    pub(super) const DOWN: Way = Way(8);

    pub(super) fn has(self, other: Way) -> bool {
        self.0 & other.0 != 0
    }

    /// With the other, or without it.
    #[must_use]
    pub(super) fn with(self, other: Way, on: bool) -> Way {
        Way(if on {
            self.0 | other.0
        } else {
            self.0 & !other.0
        })
    }

    /// Whether packets arrive.
    pub(super) fn passes(self) -> bool {
        self.0 & (Way::CUT.0 | Way::HELD.0 | Way::DOWN.0) == 0
    }
}

/// Packets of one sender to one receiver.
#[repr(align(64))]
pub(super) struct Flow {
    /// The packet that comes first. Invariant: none only when none waits.
    first: Option<Packet>,
    /// What few flows need.
    more: Option<Box<More>>,
    /// Sum over the packets' kinds.
    kinds: u64,
    action: SourceAction,
    pub(super) link: LinkId,
    pub(super) sent: u32,
    pub(super) arrived: u32,
    pub(super) kind: FlowKind,
    pub(super) way: Way,
    /// What waits has changed since it was last told.
    changed: bool,
}

const _: () = assert!(size_of::<Option<Flow>>() == 64, "a flow is one cache line");

impl Flow {
    /// A flow of this number.
    pub(super) fn new(
        net: &Net,
        id: FlowId,
        (from, to): (NodeId, NodeId),
        kind: FlowKind,
        identity: u64,
        site: &'static Location<'static>,
    ) -> Flow {
        let pair = u64::from(from.0) << 16 | u64::from(to.0);
        let action = net.action(Offer {
            kind: ActionKind::Deliver,
            what: u64::from(id),
            identity: mix2(mix(pair ^ 0x666c_6f77), identity),
            node: to,
            resource: &Resource::at(ResourceKind::Link, site),
            site,
        });
        Flow {
            first: None,
            more: None,
            kinds: 0,
            action,
            link: 0,
            sent: 0,
            arrived: 0,
            kind,
            way: Way::default(),
            changed: false,
        }
    }

    /// Offers the arrival of the next packet, or not, and tells what waits if that changed.
    #[inline]
    pub(super) fn offer(&mut self, offered: bool) {
        if std::mem::take(&mut self.changed) {
            let state = self.kinds.wrapping_add(self.len() as u64);
            self.action.offer_in_state(offered, state);
        } else {
            self.action.offer(offered);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(super) fn len(&self) -> usize {
        let later = self.more.as_ref().map_or(0, |more| more.later.len());
        usize::from(self.first.is_some()) + later
    }

    /// What it needs besides the usual, if anything.
    #[inline]
    pub(super) fn more(&self) -> Option<&More> {
        self.more.as_deref()
    }

    /// Room for what it needs besides the usual; from `spare`, if there is some.
    pub(super) fn more_mut(&mut self, spare: &mut Spare) -> &mut More {
        self.more.get_or_insert_with(|| spare.take())
    }

    /// Gives back room that it needs no longer.
    #[inline]
    pub(super) fn tidy(&mut self, spare: &mut Spare) {
        if let Some(more) = self.more.take_if(|more| more.is_idle()) {
            spare.give_back(more);
        }
    }

    /// When the last packet that was sent is due, if that is still to come.
    pub(super) fn last_due(&self) -> u64 {
        self.more().map_or(0, |more| more.last_due)
    }

    /// Its place in the schedule.
    pub(super) fn scheduled(&self) -> Option<u64> {
        self.more()?.scheduled
    }

    /// When the sender gives up, while something waits and nothing gets through.
    pub(super) fn gives_up(&self) -> Option<u64> {
        self.more()?.gives_up
    }

    /// Whether its sender gives up when nothing gets through for long.
    pub(super) fn gives_up_in_time(&self) -> bool {
        let keeps_alive = |more: &More| more.keepalive.is_some();
        self.kind == FlowKind::Reliable
            && (!self.is_empty() || self.more().is_some_and(keeps_alive))
    }

    /// Whether it counts on that nothing waits, and something does.
    pub(super) fn counts_wrongly(&self) -> bool {
        !self.is_empty() && self.more().is_some_and(|more| more.only_keepalive)
    }

    pub(super) fn announcement(&self) -> Option<Box<dyn Arrival>> {
        let announce = self.more()?.announce.as_ref();
        announce.map(|announce| announce())
    }

    /// Puts a packet on its way. Those that wait are in the order of due times, and of sending where
    /// they are equal.
    #[inline]
    pub(super) fn push(&mut self, packet: Packet, spare: &mut Spare) {
        self.kinds = self.kinds.wrapping_add(mix(packet.arrival.kind()));
        self.changed = true;
        let due_ns = packet.due_ns;
        match &self.first {
            None => self.first = Some(packet),
            Some(first) if first.due_ns > due_ns => {
                if let Some(before) = self.first.replace(packet) {
                    self.more_mut(spare).later.push_front(before);
                }
            }
            Some(_) => self.more_mut(spare).insert(packet),
        }
        if due_ns > world_time_ns() {
            let more = self.more_mut(spare);
            more.last_due = more.last_due.max(due_ns);
        }
    }

    /// When the next packet may arrive.
    #[inline]
    pub(super) fn next_due(&self) -> Option<u64> {
        self.first.as_ref().map(|packet| packet.due_ns)
    }

    /// Of how many packets one may arrive now.
    pub(super) fn arrivable(&self) -> u32 {
        let now = world_time_ns();
        let overtaking = match self.kind {
            FlowKind::Loose => OVERTAKING,
            _ => 1,
        };
        let first = self.packets().take(overtaking);
        first.take_while(|packet| packet.due_ns <= now).count() as u32
    }

    fn packets(&self) -> impl Iterator<Item = &Packet> {
        let later = self.more().map(|more| more.later.iter());
        self.first.iter().chain(later.into_iter().flatten())
    }

    /// Takes one of the packets that may arrive now.
    #[inline]
    pub(super) fn take(&mut self, nth: usize) -> Option<Box<dyn Arrival>> {
        let packet = match nth.checked_sub(1) {
            None => self.pop_first(),
            Some(nth) => self.more.as_mut()?.later.remove(nth),
        }?;
        self.kinds = self.kinds.wrapping_sub(mix(packet.arrival.kind()));
        self.changed = true;
        Some(packet.arrival)
    }

    #[inline]
    fn pop_first(&mut self) -> Option<Packet> {
        let next = self.more.as_mut().and_then(|more| more.later.pop_front());
        std::mem::replace(&mut self.first, next)
    }

    fn push_first(&mut self, packet: Packet, spare: &mut Spare) {
        if let Some(next) = self.first.replace(packet) {
            self.more_mut(spare).later.push_front(next);
        }
    }

    /// Makes the first packet late, and those that must not overtake it.
    pub(super) fn delay_first(&mut self, delay: Duration, spare: &mut Spare) {
        let Some(mut first) = self.pop_first() else {
            return;
        };
        let delay_ns = u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
        let due_ns = first.due_ns.max(world_time_ns()).saturating_add(delay_ns);
        first.due_ns = due_ns;
        if self.kind == FlowKind::Loose {
            // Behind those that are due when it is.
            match self.first.take_if(|next| next.due_ns <= due_ns) {
                None => self.push_first(first, spare),
                Some(next) => {
                    self.first = Some(next);
                    self.more_mut(spare).insert(first);
                }
            }
            return;
        }
        self.push_first(first, spare);
        let more = self.more_mut(spare);
        for later in &mut more.later {
            later.due_ns = later.due_ns.max(due_ns);
        }
        more.last_due = more.last_due.max(due_ns);
    }

    pub(super) fn first(&self) -> Option<&dyn Arrival> {
        self.first.as_ref().map(|packet| &*packet.arrival)
    }

    /// Takes the first packet, to be given back with [`put_first`](Self::put_first).
    pub(super) fn take_first(&mut self) -> Option<Packet> {
        let packet = self.pop_first()?;
        self.kinds = self.kinds.wrapping_sub(mix(packet.arrival.kind()));
        Some(packet)
    }

    pub(super) fn put_first(&mut self, packet: Packet, spare: &mut Spare) {
        self.kinds = self.kinds.wrapping_add(mix(packet.arrival.kind()));
        self.changed = true;
        self.push_first(packet, spare);
    }

    /// Whether one of its packets opens a connection.
    pub(super) fn opens(&self) -> bool {
        self.packets().any(|packet| packet.arrival.opens())
    }

    /// Takes so many of the last packets, of as many as there are.
    pub(super) fn take_last(&mut self, count: usize) -> Vec<Box<dyn Arrival>> {
        let kept = self.len().saturating_sub(count);
        let mut last = match (&mut self.more, kept) {
            (_, 0) => return self.drain().collect(),
            (Some(more), _) => more.later.split_off(kept - 1),
            (None, _) => return Vec::new(),
        };
        for packet in &last {
            self.kinds = self.kinds.wrapping_sub(mix(packet.arrival.kind()));
        }
        self.changed = true;
        last.drain(..).map(|packet| packet.arrival).collect()
    }

    /// Takes everything.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Box<dyn Arrival>> + use<> {
        self.kinds = 0;
        self.changed = true;
        let later = self
            .more
            .as_mut()
            .map(|more| std::mem::take(&mut more.later));
        let all = self.first.take().into_iter();
        all.chain(later.into_iter().flatten())
            .map(|packet| packet.arrival)
    }
}
