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

pub use control::{
    CrashStyle, cut_one_way, heal, heal_all, hold, isolate, partition, partition_groups, release,
    set_default_delivery, set_delivery, set_rule, statistics,
};
pub use link::{Delivery, Envelope, Latency, Timed, Verdict};
pub use stats::Statistics;

use cct_executor::node::NodeId;
use cct_executor::shim::{self, ActionSource, Alarm, Shared, Source};
use flow::{Announce, Flow, FlowKind, Packet, Queue};
use link::{Link, Rule};
use links::Links;
use slab::Slab;
use stats::Counts;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::panic::Location;
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::Duration;

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
}

/// Number of a flow in its world.
pub(crate) type FlowId = usize;

/// All that is on its way in one world.
pub(crate) struct Network {
    state: Shared<State>,
}

/// A handle of the running world's network.
pub(crate) type Net = Source<Network>;

#[derive(Default)]
struct State {
    links: Links,
    /// What links do that nobody configured.
    default_delivery: Delivery,
    flows: Slab<Flow>,
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
    /// Empty queues, for flows that have none.
    spare: Vec<Queue>,
    /// Called after each arrival.
    watcher: Option<Watcher>,
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
        state: Shared::new(State::default()),
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
        let mut flow = Flow::new(from, to, kind, site);
        let id = net.state.with(|state| state.flows.vacant_key());
        flow.enter(net, id, identity, site);
        net.state.with(|state| {
            state.link(from, to).flows.push(id);
            state.flows.insert(flow)
        })
    }

    /// Has the flow announce itself whenever its link was cut and is whole again.
    pub(crate) fn announces(net: &Net, id: FlowId, announce: Announce) {
        net.state.with(|state| state.flows[id].announces(announce));
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

    /// Closes a flow; what is on its way is lost.
    pub(crate) fn close(net: &Network, id: FlowId) {
        let todo = net.state.with(|state| {
            let mut todo = Todo::default();
            let Some(mut flow) = state.flows.try_remove(id) else {
                return todo;
            };
            flow.action().offer(false);
            state
                .link(flow.from, flow.to)
                .flows
                .retain(|&other| other != id);
            if let Some(due) = flow.scheduled {
                state.schedule.remove(&(due, id));
            }
            if let Some(due) = flow.gives_up {
                state.giving_up.remove(&(due, id));
            }
            todo.lost.extend(flow.drain());
            todo
        });
        todo.run();
    }

    /// How long packets of a flow wait while nothing gets through, before they are lost.
    pub(crate) fn set_patience(net: &Network, id: FlowId, patience: Duration) {
        net.state.with(|state| {
            if let Some(flow) = state.flows.get_mut(id) {
                flow.patience_ns = u64::try_from(patience.as_nanos()).unwrap_or(u64::MAX);
            }
        });
    }

    /// Sends a packet along a flow.
    pub(crate) fn send(net: &Network, id: FlowId, arrival: Box<dyn Arrival>) {
        let envelope = net.state.with(|state| {
            let flow = state.flows.get(id)?;
            let (from, to) = (flow.from, flow.to);
            Some((state.rule.take(), Envelope::new(from, to, &*arrival)))
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
            state.accept(id, arrival, (verdict, copy), &mut todo);
            state.refresh(id);
            state.set_alarm();
            todo
        });
        todo.run();
    }

    /// Whether anything is still on its way along a flow.
    pub(crate) fn is_idle(net: &Network, id: FlowId) -> bool {
        net.state
            .with(|state| state.flows.get(id).is_none_or(Flow::is_empty))
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
                state.flows[id].scheduled = None;
                state.refresh(id);
            }
            while let Some(&(due, id)) = state.giving_up.first() {
                if due > now {
                    break;
                }
                state.giving_up.pop_first();
                let flow = &mut state.flows[id];
                flow.gives_up = None;
                todo.lost.extend(flow.drain());
                state.refresh(id);
            }
            state.set_alarm();
            todo
        });
        todo.run();
    }
}

impl State {
    fn link(&mut self, from: NodeId, to: NodeId) -> &mut Link {
        self.links.entry(from, to, &self.default_delivery)
    }

    /// Sends a flow's announcement, if it has one and the link lets it through.
    fn announce_on(&mut self, id: FlowId) {
        let flow = &self.flows[id];
        let (from, to, last_due) = (flow.from, flow.to, flow.last_due);
        let Some(arrival) = flow.announcement() else {
            return;
        };
        let down = self.down.contains(&to.0);
        let link = self.link(from, to);
        if link.cut || down {
            return;
        }
        link.counts.sent(arrival.size());
        let due_ns = link.due_ns(arrival.size()).max(last_due);
        self.counts.sent(arrival.size());
        self.flows[id].push(Packet { arrival, due_ns });
    }

    /// Puts a packet on its way, or loses it.
    fn accept(
        &mut self,
        id: FlowId,
        arrival: Box<dyn Arrival>,
        (verdict, copy): (Verdict, Option<Box<dyn Arrival>>),
        todo: &mut Todo,
    ) {
        let (from, to, kind, last_due) = {
            let flow = &self.flows[id];
            (flow.from, flow.to, flow.kind, flow.last_due)
        };
        let down = self.down.contains(&to.0);
        self.counts.sent(arrival.size());
        let link = self.link(from, to);
        link.counts.sent(arrival.size());
        let lost = verdict == Verdict::Drop || down || (link.cut && kind != FlowKind::Reliable);
        if lost && kind != FlowKind::Reliable {
            link.counts.lost += 1;
            self.counts.lost += 1;
            todo.lost.push(arrival);
            return todo.lost.extend(copy);
        }
        let mut due_ns = link.due_ns(arrival.size());
        match verdict {
            Verdict::DeliverAfter(delay) => {
                due_ns = due_ns.saturating_add(u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX));
            }
            // A lost segment of a connection is sent again: it comes late.
            Verdict::Drop => due_ns = due_ns.saturating_add(link::RETRANSMISSION_NS),
            _ => {}
        }
        if kind != FlowKind::Loose {
            due_ns = due_ns.max(last_due);
        }
        let flow = &mut self.flows[id];
        flow.lend(&mut self.spare);
        flow.push(Packet { arrival, due_ns });
        if let Some(arrival) = copy {
            flow.push(Packet { arrival, due_ns });
        }
    }

    /// Brings a flow's offer up to date.
    fn refresh(&mut self, id: FlowId) {
        let Some(flow) = self.flows.get(id) else {
            return;
        };
        let link = self.links.get(flow.from, flow.to);
        let passes = link.is_some_and(|link| !link.held && !link.cut);
        let passes = passes && !self.down.contains(&flow.to.0);
        let blocked = !passes && !flow.is_empty() && flow.kind == FlowKind::Reliable;
        let due = flow.next_due();
        let (action, scheduled) = (flow.action(), flow.scheduled);
        let now = shim::world_time_ns();
        let ready = passes && due.is_some_and(|due| due <= now);
        action.offer(ready);
        let wanted = due.filter(|&due| passes && due > now);
        if wanted != scheduled {
            if let Some(due) = scheduled {
                self.schedule.remove(&(due, id));
            }
            if let Some(due) = wanted {
                self.schedule.insert((due, id));
            }
            self.flows[id].scheduled = wanted;
        }
        if blocked != self.flows[id].gives_up.is_some() {
            self.set_giving_up(id, blocked);
        }
    }

    /// Starts to count how long a sender waits, or stops.
    #[cold]
    fn set_giving_up(&mut self, id: FlowId, blocked: bool) {
        let flow = &mut self.flows[id];
        if let Some(due) = flow.gives_up.take() {
            self.giving_up.remove(&(due, id));
        }
        if blocked && flow.patience_ns < u64::MAX {
            let due = shim::world_time_ns().saturating_add(flow.patience_ns);
            flow.gives_up = Some(due);
            self.giving_up.insert((due, id));
        }
    }

    fn crash_style(&self, node: NodeId) -> CrashStyle {
        let next = self.next_crash.get(&node.0);
        let style = next.or_else(|| self.styles.get(&node.0));
        style.copied().unwrap_or_default()
    }

    /// Brings all flows to a node up to date.
    fn refresh_node(&mut self, node: NodeId) {
        let to = |(id, flow): (FlowId, &Flow)| (flow.to == node).then_some(id);
        let flows: Vec<FlowId> = self.flows.iter().filter_map(to).collect();
        flows.into_iter().for_each(|id| self.refresh(id));
        self.set_alarm();
    }

    /// Brings all flows of a link up to date.
    fn refresh_link(&mut self, from: NodeId, to: NodeId) {
        for at in 0..self.link(from, to).flows.len() {
            let id = self.link(from, to).flows[at];
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
            .with(|state| state.flows.get(id).map_or(0, Flow::arrivable));
        let at = match choices {
            0 => return,
            1 => 0,
            // Datagrams overtake each other.
            n => shim::choose(n, "which datagram arrives"),
        };
        let (arrival, watcher) = self.state.with(|state| {
            let Some(flow) = state.flows.get_mut(id) else {
                return (None, None);
            };
            let arrival = flow.take(at as usize);
            flow.give_back(&mut state.spare);
            let (from, to) = (flow.from, flow.to);
            state.link(from, to).counts.arrived += 1;
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
            for (_, flow) in state.flows.iter_mut().filter(|(_, flow)| flow.to == node) {
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
        self.state.with(|state| state.snapshot())
    }
}
