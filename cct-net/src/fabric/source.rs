//! The network as a source of actions: what arrives when the strategy picks a flow, and what becomes of
//! packets when a node goes down.

use super::control::CrashStyle;
use super::flow::{Flow, FlowKind};
use super::{FlowId, Network, Todo, shown};
use cct_executor::node::NodeId;
use cct_executor::shim::{self, ActionSource};

impl Network {
    /// One of the packets of a flow that may arrive does.
    pub(super) fn arrive(&self, id: FlowId, nth: u32) {
        let (arrival, watcher) = self.state.with(|state| {
            if !state.tables.has_flow(id) {
                return (None, None);
            }
            let (flow, _) = state.tables.flow(id);
            let arrival = flow.take(nth as usize);
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
}

impl Network {
    /// A host that is gone sends nothing again, and what was in its queues is gone with it: of each flow that it has
    /// packets in, any number of the last ones may be lost.
    fn lose_with_host(&self, node: NodeId) {
        let sending = self.state.with(|state| match state.crash_style(node) {
            CrashStyle::Silent => state.flows_that_end_with(node),
            CrashStyle::Kill | CrashStyle::Exit => Vec::new(),
        });
        for (id, packets) in sending {
            let lost = shim::choose(packets + 1, "packets that are lost with their host");
            shim::tell_choice(|| format!("of {packets}, the first {}", self.describe_first(id)));
            let todo = self.state.with(|state| state.lose_last(id, lost));
            todo.run();
        }
    }
}

impl ActionSource for Network {
    /// The next packet of a flow arrives.
    fn apply(&self, what: u64) {
        let id = what as FlowId;
        let choices = self
            .state
            .with(|state| state.tables.get(id).map_or(0, Flow::arrivable));
        let nth = match choices {
            0 => return,
            1 => 0,
            // Datagrams overtake each other.
            n => shim::choose(n, "which datagram arrives"),
        };
        self.arrive(id, nth);
    }

    fn node_down(&self, node: NodeId) {
        self.lose_with_host(node);
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
                    todo.lost.extend(state.lose_all(id));
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
