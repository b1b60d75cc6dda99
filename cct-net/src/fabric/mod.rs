//! The fabric: flows of packets between nodes, the links they go over, and what may happen to them.
//!
//! A *flow* is what keeps an order of its own: one direction of a connection, or all messages of a
//! mailbox from one node to another. The arrival of its next packet is one action, offered to the
//! strategy while the link lets it through. A *link* is a pair of nodes in one direction; it is made
//! when it is first used.
//!
//! 1. What a packet is, and what its arrival does, is the business of whoever sent it (`Arrival`).
//! 2. Arrivals happen outside the fabric's cell, as no task.
//! 3. The order of flows, links and nodes is that of first use; nothing depends on addresses.
//!
//! Read next: `link` (what a link does to packets), `flow`, `control` (partitions and the like,
//! as users call them).

pub(crate) mod control;
pub(crate) mod flow;
pub(crate) mod link;
mod links;
mod meddle;
pub(crate) mod stats;
mod tables;

pub use control::{
    CrashStyle, cut_one_way, heal, heal_all, hold, isolate, partition, partition_groups, release,
    set_default_delivery, set_delivery, set_rule, statistics,
};
pub use link::{Delivery, Envelope, Latency, Timed, Verdict};
pub(crate) use meddle::shown;
pub use stats::Statistics;

use cct_executor::node::NodeId;
use cct_executor::shim::{self, ActionSource, Alarm, Shared, Source};
use flow::{Announce, Flow, FlowKind, Packet, Way};
use link::{LinkId, Rule};
use stats::Counts;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::panic::Location;
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::Duration;
use tables::Tables;

/// Something on its way to a node.
pub(crate) trait Arrival: Send + 'static {
    /// It arrives.
    fn arrive(self: Box<Self>);

    /// It is lost for good: the link is cut, the node is down, or a rule says so.
    fn lost(self: Box<Self>) {}

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

/// All that is on its way in one world.
pub(crate) struct Network {
    state: Shared<State>,
}

/// A handle of the running world's network.
pub(crate) type Net = Source<Network>;

#[derive(Default)]
struct State {
    tables: Tables,
    /// What links do that nobody configured.
    default_delivery: Delivery,
    /// Flows whose next packet is not due yet, by time.
    schedule: BTreeSet<(u64, FlowId)>,
    /// Flows that are blocked and whose senders give up, by time.
    giving_up: BTreeSet<(u64, FlowId)>,
    alarm: Alarm,
    rule: Option<Rule>,
    down: BTreeSet<u16>,
    styles: BTreeMap<u16, CrashStyle>,
    next_crash: BTreeMap<u16, CrashStyle>,
    counts: Counts,
    /// Called after each arrival.
    watcher: Option<Watcher>,
    /// Called once, when the next packet is on its way.
    sent: Option<Watcher>,
}

/// Who wants to know of each arrival.
pub(crate) type Watcher = Arc<dyn Fn() + Send + Sync>;

/// What is to be done once the cell is free.
#[derive(Default)]
struct Todo {
    lost: Vec<Box<dyn Arrival>>,
}

/// The network of the running world.
///
/// # Errors
/// Outside a world.
pub(crate) fn network() -> io::Result<Net> {
    shim::source(|| Network {
        state: Shared::new(State {
            tables: Tables::obtain(),
            ..State::default()
        }),
    })
    .ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::Unsupported,
            "the simulated network exists inside a scenario only, as in a test with \
             #[cct_executor::test]",
        )
    })
}

impl Network {
    /// Opens a flow. `identity` tells it from other flows of the pair, in every iteration alike.
    pub(crate) fn open(
        net: &Net,
        from: NodeId,
        to: NodeId,
        kind: FlowKind,
        identity: u64,
        site: &'static Location<'static>,
    ) -> FlowId {
        let id = net.state.with(|state| state.tables.next_flow());
        let flow = Flow::new(net, id, (from, to), kind, identity, site);
        net.state.with(|state| {
            let down = state.down.contains(&to.0);
            let link = state.link(from, to);
            state.tables.add_flow(flow, link, down);
        });
        id
    }

    /// Has the flow announce itself whenever its link was cut and is whole again.
    pub(crate) fn announces(net: &Net, id: FlowId, announce: Announce) {
        net.state.with(|state| {
            let (flow, spare) = state.tables.flow(id);
            flow.more_mut(spare).announce = Some(announce);
        });
    }

    /// Sends the flow's announcement now, as when its link became whole.
    pub(crate) fn announce(net: &Net, id: FlowId) {
        net.state.with(|state| {
            state.announce_on(id);
            state.refresh(id);
            state.set_alarm();
        });
    }

    /// Has `watcher` called after each arrival, outside of the cell and as no task.
    pub(crate) fn watch(&self, watcher: Watcher) {
        let old = self.state.with(|state| state.watcher.replace(watcher));
        drop(old);
    }

    /// Has `watcher` called once, when the next packet is on its way, outside of the cell.
    pub(crate) fn at_next_packet(&self, watcher: Watcher) {
        let old = self.state.with(|state| state.sent.replace(watcher));
        drop(old);
    }

    /// Closes a flow; what is on its way is lost.
    pub(crate) fn close(net: &Network, id: FlowId) {
        let todo = net.state.with(|state| {
            let mut todo = Todo::default();
            let Some(mut flow) = state.tables.remove_flow(id) else {
                return todo;
            };
            if let Some(due) = flow.scheduled() {
                state.schedule.remove(&(due, id));
            }
            if let Some(due) = flow.gives_up() {
                state.giving_up.remove(&(due, id));
            }
            todo.lost.extend(flow.drain());
            flow.offer(false);
            todo
        });
        todo.run();
    }

    /// How long packets of a flow wait while nothing gets through, before they are lost.
    pub(crate) fn set_patience(net: &Network, id: FlowId, patience: Duration) {
        net.state.with(|state| {
            if state.tables.has_flow(id) {
                let (flow, spare) = state.tables.flow(id);
                let patience_ns = u64::try_from(patience.as_nanos()).unwrap_or(u64::MAX);
                flow.more_mut(spare).patience_ns = patience_ns;
            }
        });
    }

    /// Has the sender of a flow give up after this time in which nothing gets through, also while
    /// nothing waits: then what `probe` makes is lost.
    pub(crate) fn keep_alive(net: &Network, id: FlowId, probe: Announce, patience: Duration) {
        net.state.with(|state| {
            if state.tables.has_flow(id) {
                let (flow, spare) = state.tables.flow(id);
                let patience_ns = u64::try_from(patience.as_nanos()).unwrap_or(u64::MAX);
                flow.more_mut(spare).keepalive = Some((probe, patience_ns));
                state.refresh(id);
                state.set_alarm();
            }
        });
    }

    /// Sends a packet along a flow.
    pub(crate) fn send(net: &Network, id: FlowId, arrival: Box<dyn Arrival>) {
        let (accepted, watcher) = net.state.with(|state| {
            let watcher = state.sent.take();
            if state.rule.is_some() || !state.tables.has_flow(id) {
                return (Err(arrival), watcher);
            }
            let accepted = state.accept(id, arrival, Verdict::Pass);
            state.refresh(id);
            state.set_alarm();
            (Ok(accepted), watcher)
        });
        match accepted {
            Ok(Ok(_)) => {}
            Ok(Err(lost)) => lost.lost(),
            Err(arrival) => Network::send_by_rule(net, id, arrival),
        }
        if let Some(watcher) = watcher {
            watcher();
        }
    }

    /// The rest of [`send`](Self::send) where there is a rule, or the flow is closed.
    #[cold]
    fn send_by_rule(net: &Network, id: FlowId, arrival: Box<dyn Arrival>) {
        let envelope = net.state.with(|state| {
            let link = state.tables.link_of(id)?;
            let envelope = Envelope::new(link.from, link.to, &*arrival);
            Some((state.rule.take(), envelope))
        });
        let Some((mut rule, envelope)) = envelope else {
            return arrival.lost();
        };
        // The rule is user code: it runs while the cell is free.
        let verdict = rule.as_mut().map_or(Verdict::Pass, |rule| rule(&envelope));
        let copy = if verdict == Verdict::Duplicate {
            arrival.copy()
        } else {
            None
        };
        let todo = net.state.with(|state| {
            if state.rule.is_none() {
                state.rule = rule;
            }
            let mut todo = Todo::default();
            if !state.tables.has_flow(id) {
                todo.lost.push(arrival);
                return todo;
            }
            match (state.accept(id, arrival, verdict), copy) {
                (Ok(due_ns), Some(arrival)) => {
                    let (flow, spare) = state.tables.flow(id);
                    flow.push(Packet { arrival, due_ns }, spare);
                }
                (Ok(_), None) => {}
                (Err(lost), copy) => todo.lost.extend(std::iter::once(lost).chain(copy)),
            }
            state.refresh(id);
            state.set_alarm();
            todo
        });
        todo.run();
    }

    /// Whether anything is still on its way along a flow.
    pub(crate) fn is_idle(net: &Network, id: FlowId) -> bool {
        net.state
            .with(|state| state.tables.get(id).is_none_or(Flow::is_empty))
    }

    /// Time has come for some packets, and run out for others.
    fn release_due(&self) {
        let todo = self.state.with(|state| {
            let mut todo = Todo::default();
            let now = shim::world_time_ns();
            while let Some(&(due, id)) = state.schedule.first() {
                if due > now {
                    break;
                }
                state.schedule.pop_first();
                let (flow, spare) = state.tables.flow(id);
                flow.more_mut(spare).scheduled = None;
                state.refresh(id);
            }
            while let Some(&(due, id)) = state.giving_up.first() {
                if due > now {
                    break;
                }
                state.giving_up.pop_first();
                let (flow, spare) = state.tables.flow(id);
                let more = flow.more_mut(spare);
                more.gives_up = None;
                // It is told once.
                let probe = more.keepalive.take().filter(|_| more.only_keepalive);
                todo.lost.extend(probe.map(|(probe, _)| probe()));
                todo.lost.extend(flow.drain());
                state.refresh(id);
            }
            state.set_alarm();
            todo
        });
        todo.run();
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        std::mem::take(&mut self.state.get_mut().tables).give_back();
    }
}

impl State {
    fn link(&mut self, from: NodeId, to: NodeId) -> LinkId {
        self.tables.links.entry(from, to, &self.default_delivery)
    }

    /// Sends a flow's announcement, if it has one and the link lets it through.
    fn announce_on(&mut self, id: FlowId) {
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
    fn accept(
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
    fn refresh(&mut self, id: FlowId) {
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
    fn set_giving_up(&mut self, id: FlowId, blocked: bool) {
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

    fn crash_style(&self, node: NodeId) -> CrashStyle {
        let next = self.next_crash.get(&node.0).copied();
        let panic = || shim::node_panicked(node).then_some(CrashStyle::Kill);
        let usual = || self.styles.get(&node.0).copied();
        next.or_else(panic).or_else(usual).unwrap_or_default()
    }

    /// The flows to a node, by number.
    fn flows_to(&self, node: NodeId) -> Vec<FlowId> {
        let flows = self.tables.iter();
        let to = flows.filter(|(_, flow)| self.tables.links.get(flow.link).to == node);
        to.map(|(id, _)| id).collect()
    }

    /// Brings all flows to a node up to date.
    fn refresh_node(&mut self, node: NodeId) {
        let down = self.down.contains(&node.0);
        for id in self.flows_to(node) {
            let (flow, _) = self.tables.flow(id);
            flow.way = flow.way.with(Way::DOWN, down);
            self.refresh(id);
        }
        self.set_alarm();
    }

    /// A link has changed: brings all its flows up to date.
    fn refresh_link(&mut self, link: LinkId) {
        self.tables.link_changed(link);
        for id in self.tables.flows_of(link) {
            self.refresh(id);
        }
        self.set_alarm();
    }

    fn set_alarm(&mut self) {
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

impl Todo {
    fn run(self) {
        self.lost.into_iter().for_each(Arrival::lost);
    }
}

impl ActionSource for Network {
    /// The next packet of a flow arrives.
    fn apply(&self, what: u64) {
        let id = what as FlowId;
        let choices = self
            .state
            .with(|state| state.tables.get(id).map_or(0, Flow::arrivable));
        let at = match choices {
            0 => return,
            1 => 0,
            // Datagrams overtake each other.
            n => shim::choose(n, "which datagram arrives"),
        };
        let (arrival, watcher) = self.state.with(|state| {
            if !state.tables.has_flow(id) {
                return (None, None);
            }
            let (flow, _) = state.tables.flow(id);
            let arrival = flow.take(at as usize);
            flow.arrived = flow.arrived.saturating_add(1);
            state.counts.arrived += 1;
            state.refresh(id);
            state.set_alarm();
            (arrival, state.watcher.clone())
        });
        if let Some(arrival) = arrival {
            arrival.arrive();
        }
        if let Some(watcher) = watcher {
            watcher();
        }
    }

    fn node_down(&self, node: NodeId) {
        let todo = self.state.with(|state| {
            let mut todo = Todo::default();
            let silent = state.crash_style(node) == CrashStyle::Silent;
            if silent {
                state.down.insert(node.0);
            }
            for id in state.flows_to(node) {
                let (flow, _) = state.tables.flow(id);
                // The host of a process that died answers connections and datagrams.
                if flow.kind == FlowKind::Fifo || silent && flow.kind == FlowKind::Loose {
                    todo.lost.extend(flow.drain());
                }
            }
            state.refresh_node(node);
            todo
        });
        todo.run();
    }

    fn describe(&self, what: u64) -> Option<String> {
        Some(self.describe_first(what as FlowId)).filter(|text| !text.is_empty())
    }

    fn node_up(&self, node: NodeId) {
        self.state.with(|state| {
            state.next_crash.remove(&node.0);
            if state.down.remove(&node.0) {
                state.refresh_node(node);
            }
        });
    }

    fn snapshot(&self) -> Vec<String> {
        let links = self.state.with(|state| state.snapshot());
        let line = |([from, to], text): ([NodeId; 2], String)| {
            format!("{} -> {}: {text}", shown(from), shown(to))
        };
        links.into_iter().map(line).collect()
    }
}
