//! The network of a world: flows are opened and closed, and packets sent along them.
//!
//! 1. Rules, probes and what was lost are user code or lead to it: they run while the cell is free.

use super::flow::{Announce, Flow, FlowKind, Packet};
use super::link::{Envelope, Verdict};
use super::tables::Tables;
use super::{Arrival, FlowId, State, Todo};
use cct_executor::node::NodeId;
use cct_executor::shim::{self, Shared, Source};
use std::io;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

/// All that is on its way in one world.
pub(crate) struct Network {
    pub(super) state: Shared<State>,
}

/// A handle of the running world's network.
pub(crate) type Net = Source<Network>;

/// Who wants to know of each arrival.
pub(crate) type Watcher = Arc<dyn Fn() + Send + Sync>;

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
            if state.tables.get(id).is_some_and(|flow| !flow.is_empty()) {
                todo.lost = state.lose_all(id);
            }
            let Some(mut flow) = state.tables.remove_flow(id) else {
                return todo;
            };
            if let Some(due) = flow.scheduled() {
                state.schedule.remove(&(due, id));
            }
            if let Some(due) = flow.gives_up() {
                state.giving_up.remove(&(due, id));
            }
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

    /// Sends a packet along a flow. Nothing leaves a node that goes down, whatever its polls do until they end.
    pub(crate) fn send(net: &Network, id: FlowId, arrival: Box<dyn Arrival>) {
        if shim::is_down() {
            return arrival.lost();
        }
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

    /// Sends a packet along a flow whose other end is at hand: all that may arrive there by now does, in order.
    pub(crate) fn send_at_once(net: &Network, id: FlowId, arrival: Box<dyn Arrival>) {
        Network::send(net, id, arrival);
        let may_arrive = |flow: &Flow| flow.way.passes() && flow.arrivable() > 0;
        while net
            .state
            .with(|state| state.tables.get(id).is_some_and(may_arrive))
        {
            net.arrive(id, 0);
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
    pub(super) fn release_due(&self) {
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
                todo.lost.extend(state.lose_all(id));
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
