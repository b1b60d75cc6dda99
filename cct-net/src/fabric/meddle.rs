//! What faults do to single packets that are on their way.

use super::flow::FlowKind;
use super::{FlowId, Net, Network, Todo, Verdict, link};
use cct_executor::node::{self, NodeId};
use std::time::Duration;

impl Network {
    /// The flows between these nodes with something on its way, in the order of their links.
    pub(crate) fn busy(net: &Net, among: &[NodeId]) -> Vec<FlowId> {
        net.state.with(|state| {
            let between = state
                .links
                .iter()
                .filter(|((from, to), _)| from != to && among.contains(from) && among.contains(to));
            let flows = between.flat_map(|(_, link)| link.flows.iter().copied());
            flows.filter(|&id| !state.flows[id].is_empty()).collect()
        })
    }

    /// What reports call the first packet of a flow.
    pub(crate) fn describe_first(&self, id: FlowId) -> String {
        let found = self.state.with(|state| {
            let flow = state.flows.get(id)?;
            Some((flow.first()?.label(), flow.from, flow.to))
        });
        let Some((label, from, to)) = found else {
            return String::new();
        };
        let name = |id: NodeId| match node::name_of(id).filter(|name| !name.is_empty()) {
            Some(name) => format!("`{name}`"),
            None => format!("n{}", id.0),
        };
        format!("{label} {} -> {}", name(from), name(to))
    }

    /// Does to the first packet of a flow what the verdict says. Returns whether that was possible.
    pub(crate) fn meddle(net: &Net, id: FlowId, verdict: Verdict) -> bool {
        if verdict == Verdict::Duplicate {
            return Network::double(net, id);
        }
        let (done, todo) = net.state.with(|state| {
            let mut todo = Todo::default();
            let Some(flow) = state.flows.get_mut(id).filter(|flow| !flow.is_empty()) else {
                return (false, todo);
            };
            match verdict {
                Verdict::DeliverAfter(delay) => flow.delay_first(delay),
                Verdict::Drop if flow.kind == FlowKind::Reliable => {
                    flow.delay_first(Duration::from_nanos(link::RETRANSMISSION_NS));
                }
                Verdict::Drop => {
                    let (from, to) = (flow.from, flow.to);
                    todo.lost.extend(flow.take(0));
                    state.link(from, to).counts.lost += 1;
                    state.counts.lost += 1;
                }
                Verdict::Pass | Verdict::Duplicate => {}
            }
            state.refresh(id);
            state.set_alarm();
            (true, todo)
        });
        todo.run();
        done
    }

    /// Copying is the sender's business, so it happens outside of the cell.
    fn double(net: &Net, id: FlowId) -> bool {
        let first = net
            .state
            .with(|state| state.flows.get_mut(id)?.take_first());
        let Some(first) = first else {
            return false;
        };
        let due_ns = first.due_ns;
        let copy = first.arrival.copy();
        let done = copy.is_some();
        net.state.with(|state| {
            let flow = &mut state.flows[id];
            flow.put_first(first);
            if let Some(arrival) = copy {
                flow.put_first(super::Packet { arrival, due_ns });
            }
            state.refresh(id);
            state.set_alarm();
        });
        done
    }
}
