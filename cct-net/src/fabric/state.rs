//! What a network's cell holds, and how a flow's offer follows from it.
//!
//! 1. A flow is offered exactly when its first packet is due and its link lets it through; what is due
//!    later is in `schedule`, what waits for a cut to end in `giving_up`.
//!
//! Does not: let anything arrive, or tell anybody what was lost ([`Todo`]).

use super::control::CrashStyle;
use super::flow::{FlowKind, Packet, Way};
use super::link::{self, Delivery, LinkId, Rule, Verdict};
use super::network::{Watcher, network};
use super::stats::Counts;
use super::tables::Tables;
use super::{Arrival, FlowId};
use cct_executor::node::NodeId;
use cct_executor::shim::{self, Alarm, CrashCause};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::task::{Wake, Waker};

#[derive(Default)]
pub(super) struct State {
    pub(super) tables: Tables,
    /// What links do that nobody configured.
    pub(super) default_delivery: Delivery,
    /// Flows whose next packet is not due yet, by time.
    pub(super) schedule: BTreeSet<(u64, FlowId)>,
    /// Flows that are blocked and whose senders give up, by time.
    pub(super) giving_up: BTreeSet<(u64, FlowId)>,
    pub(super) alarm: Alarm,
    pub(super) rule: Option<Rule>,
    pub(super) down: BTreeSet<u16>,
    pub(super) styles: BTreeMap<u16, CrashStyle>,
    pub(super) next_crash: BTreeMap<u16, CrashStyle>,
    pub(super) counts: Counts,
    /// Called after each arrival.
    pub(super) watcher: Option<Watcher>,
    /// Called once, when the next packet is on its way.
    pub(super) sent: Option<Watcher>,
}

/// What is to be done once the cell is free.
#[derive(Default)]
pub(super) struct Todo {
    /// Of which somebody learns.
    pub(super) lost: Vec<Box<dyn Arrival>>,
    /// Of which nobody does.
    pub(super) gone: Vec<Box<dyn Arrival>>,
}

impl Todo {
    pub(super) fn run(self) {
        self.lost.into_iter().for_each(Arrival::lost);
        drop(self.gone);
    }
}

impl State {
    pub(super) fn link(&mut self, from: NodeId, to: NodeId) -> LinkId {
        self.tables.links.entry(from, to, &self.default_delivery)
    }

    /// Sends a flow's announcement, if it has one and the link lets it through.
    pub(super) fn announce_on(&mut self, id: FlowId) {
        let (flow, _) = self.tables.flow(id);
        let (way, link, last_due) = (flow.way, flow.link, flow.last_due());
        let Some(arrival) = flow.announcement() else {
            return;
        };
        if way.has(Way::CUT) || way.has(Way::DOWN) {
            return;
        }
        let size = arrival.size();
        let due_ns = self.tables.links.get_mut(link).due_ns(size).max(last_due);
        self.counts.sent(size);
        let (flow, spare) = self.tables.flow(id);
        flow.sent = flow.sent.saturating_add(1);
        flow.push(Packet { arrival, due_ns }, spare);
    }

    /// Puts a packet on its way, and says when it is due; or gives it back, as it is lost.
    #[inline]
    pub(super) fn accept(
        &mut self,
        id: FlowId,
        arrival: Box<dyn Arrival>,
        verdict: Verdict,
    ) -> Result<u64, Box<dyn Arrival>> {
        let size = arrival.size();
        self.counts.sent(size);
        let (flow, _) = self.tables.flow(id);
        flow.sent = flow.sent.saturating_add(1);
        let (kind, way, link) = (flow.kind, flow.way, flow.link);
        if kind != FlowKind::Reliable {
            let lost = verdict == Verdict::Drop || way.has(Way::CUT) || way.has(Way::DOWN);
            if lost {
                self.tables.links.get_mut(link).lost(1);
                self.counts.lost += 1;
                return Err(arrival);
            }
        }
        let mut due_ns = if way.has(Way::TIMED) {
            self.tables.links.get_mut(link).due_ns(size)
        } else {
            shim::world_time_ns()
        };
        match verdict {
            Verdict::DeliverAfter(delay) => {
                due_ns = due_ns.saturating_add(u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX));
            }
            // A lost segment of a connection is sent again: it comes late.
            Verdict::Drop => due_ns = due_ns.saturating_add(link::RETRANSMISSION_NS),
            _ => {}
        }
        let (flow, spare) = self.tables.flow(id);
        if kind != FlowKind::Loose {
            due_ns = due_ns.max(flow.last_due());
        }
        flow.push(Packet { arrival, due_ns }, spare);
        Ok(due_ns)
    }

    /// Brings a flow's offer up to date.
    #[inline]
    pub(super) fn refresh(&mut self, id: FlowId) {
        if !self.tables.has_flow(id) {
            return;
        }
        let (flow, spare) = self.tables.flow(id);
        let passes = flow.way.passes();
        let blocked = !passes && flow.gives_up_in_time();
        let due = flow.next_due();
        let now = shim::world_time_ns();
        flow.offer(passes && due.is_some_and(|due| due <= now));
        let wanted = due.filter(|&due| passes && due > now);
        let scheduled = flow.scheduled();
        if wanted != scheduled {
            if let Some(due) = scheduled {
                self.schedule.remove(&(due, id));
            }
            if let Some(due) = wanted {
                self.schedule.insert((due, id));
            }
            flow.more_mut(spare).scheduled = wanted;
        }
        if blocked != flow.gives_up().is_some() || blocked && flow.counts_wrongly() {
            self.set_giving_up(id, blocked);
        }
        let (flow, spare) = self.tables.flow(id);
        flow.tidy(spare);
    }

    /// Starts to count how long a sender waits, or stops.
    #[cold]
    pub(super) fn set_giving_up(&mut self, id: FlowId, blocked: bool) {
        let (flow, spare) = self.tables.flow(id);
        let nothing_waits = flow.is_empty();
        let more = flow.more_mut(spare);
        let before = more.gives_up.take();
        if let Some(due) = before {
            self.giving_up.remove(&(due, id));
        }
        let patience_ns = match &more.keepalive {
            Some((_, patience_ns)) if nothing_waits => *patience_ns,
            _ => more.patience_ns,
        };
        more.only_keepalive = blocked && nothing_waits;
        if blocked && patience_ns < u64::MAX {
            let due = shim::world_time_ns().saturating_add(patience_ns);
            // What is sent while it counts makes that no longer.
            let due = before.map_or(due, |before| before.min(due));
            more.gives_up = Some(due);
            self.giving_up.insert((due, id));
        }
    }

    pub(super) fn crash_style(&self, node: NodeId) -> CrashStyle {
        let next = self.next_crash.get(&node.0).copied();
        let by_cause = || match shim::crash_cause(node) {
            CrashCause::Asked => None,
            CrashCause::Panic | CrashCause::Killed => Some(CrashStyle::Kill),
            CrashCause::Returned => Some(CrashStyle::Exit),
        };
        let usual = || self.styles.get(&node.0).copied();
        next.or_else(by_cause).or_else(usual).unwrap_or_default()
    }

    /// The flows to a node, by number.
    pub(super) fn flows_to(&self, node: NodeId) -> Vec<FlowId> {
        let flows = self.tables.iter();
        let to = flows.filter(|(_, flow)| self.tables.links.get(flow.link).to == node);
        to.map(|(id, _)| id).collect()
    }

    /// The flows from a node whose last packets may be lost with its host, by number, and how many each has. A handshake is
    /// none of them: whoever opens a connection would wait for its answer for ever.
    pub(super) fn flows_that_end_with(&self, node: NodeId) -> Vec<(FlowId, u32)> {
        let flows = self.tables.iter();
        let from = flows.filter(|(_, flow)| {
            let link = self.tables.links.get(flow.link);
            link.from == node && link.to != node && !flow.is_empty() && !flow.opens()
        });
        from.map(|(id, flow)| (id, flow.len() as u32)).collect()
    }

    /// The last packets of a flow are lost.
    pub(super) fn lose_last(&mut self, id: FlowId, count: u32) -> Todo {
        let mut todo = Todo::default();
        if count == 0 || !self.tables.has_flow(id) {
            return todo;
        }
        let (flow, _) = self.tables.flow(id);
        let (kind, link) = (flow.kind, flow.link);
        let packets = flow.take_last(count as usize);
        match kind {
            // Its sender is gone, and its receiver cannot know.
            FlowKind::Reliable => todo.gone.extend(packets),
            FlowKind::Fifo | FlowKind::Loose => todo.lost.extend(packets),
        }
        self.tables.links.get_mut(link).lost(u64::from(count));
        self.counts.lost += u64::from(count);
        self.refresh(id);
        self.set_alarm();
        todo
    }

    /// Everything that is on its way over a flow is lost.
    pub(super) fn lose_all(&mut self, id: FlowId) -> Vec<Box<dyn Arrival>> {
        let (flow, _) = self.tables.flow(id);
        let (link, lost) = (flow.link, flow.drain().collect::<Vec<_>>());
        self.tables.links.get_mut(link).lost(lost.len() as u64);
        self.counts.lost += lost.len() as u64;
        lost
    }

    /// Brings all flows to a node up to date.
    pub(super) fn refresh_node(&mut self, node: NodeId) {
        let down = self.down.contains(&node.0);
        for id in self.flows_to(node) {
            let (flow, _) = self.tables.flow(id);
            flow.way = flow.way.with(Way::DOWN, down);
            self.refresh(id);
        }
        self.set_alarm();
    }

    /// A link has changed: brings all its flows up to date.
    pub(super) fn refresh_link(&mut self, link: LinkId) {
        self.tables.link_changed(link);
        for id in self.tables.flows_of(link) {
            self.refresh(id);
        }
        self.set_alarm();
    }

    pub(super) fn set_alarm(&mut self) {
        struct Due;

        impl Wake for Due {
            fn wake(self: Arc<Self>) {
                if let Ok(net) = network() {
                    net.release_due();
                }
            }
        }

        let (next, end) = (self.schedule.first(), self.giving_up.first());
        match next.into_iter().chain(end).map(|&(due, _)| due).min() {
            None => self.alarm.clear(),
            Some(due) => {
                if self.alarm.time_ns() != Some(due) {
                    self.alarm.set(due, &Waker::from(Arc::new(Due)));
                }
            }
        }
    }
}
