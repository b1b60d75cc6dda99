//! What faults do to single packets that are on their way.

use super::flow::{Flow, FlowKind, Packet};
use super::{FlowId, Net, Network, Todo, Verdict, link};
use cct_executor::node::{self, NodeId};
use std::time::Duration;

/// What reports call a node.
pub(crate) fn shown(node: NodeId) -> String {
    match node::name_of(node).filter(|name| !name.is_empty()) {
        Some(name) => format!("`{name}`"),
        None => format!("n{}", node.0),
    }
}

/// What reports call a packet: its type's name, without the paths of modules, and of the functions that it
/// may be declared in.
fn short(label: &str) -> String {
    label
        .replace("{{closure}}::", "")
        .split_inclusive(|mark: char| !mark.is_alphanumeric() && mark != '_' && mark != ':')
        .map(|part| part.rsplit("::").next().unwrap_or(part))
        .collect()
}

/// A line's worth of a message.
fn cut(text: String) -> String {
    const CHARS: usize = 60;
    match text.char_indices().nth(CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

impl Network {
    /// The flows between these nodes with something on its way, in the order of their links.
    pub(crate) fn busy(net: &Net, among: &[NodeId]) -> Vec<FlowId> {
        net.state.with(|state| {
            let among = |node| among.contains(node);
            let links = state.tables.links.iter().map(|(_, link)| link);
            let between =
                links.filter(|link| link.from != link.to && among(&link.from) && among(&link.to));
            let flows = between.flat_map(|link| link.flows());
            let busy = |id: &FlowId| state.tables.get(*id).is_some_and(|flow| !flow.is_empty());
            flows.filter(busy).collect()
        })
    }

    /// Whether any of these nodes has ever sent something to another.
    pub(crate) fn have_talked(&self, among: &[NodeId]) -> bool {
        self.state.with(|state| {
            let mut links = state.tables.links.iter().map(|(_, link)| link);
            links.any(|link| {
                link.from != link.to && among.contains(&link.from) && among.contains(&link.to)
            })
        })
    }

    /// What reports call the first packets of these flows: a few of many.
    pub(crate) fn describe_each(&self, flows: &[FlowId]) -> Vec<String> {
        let shown = flows.iter().take(4);
        let mut texts: Vec<_> = shown.map(|&flow| self.describe_first(flow)).collect();
        if let Some(more) = flows.len().checked_sub(5) {
            texts.push(format!("{} more", more + 1));
        }
        texts
    }

    /// What reports call the first packet of a flow.
    pub(crate) fn describe_first(&self, id: FlowId) -> String {
        let found = self.state.with(|state| {
            let first = state.tables.get(id)?.first()?;
            let (label, is_shown) = (first.label(), first.is_shown());
            let link = state.tables.link_of(id)?;
            Some((
                label,
                is_shown,
                link.from,
                link.to,
                first.receiver().cloned(),
            ))
        });
        let Some((label, is_shown, from, to, receiver)) = found else {
            return String::new();
        };
        let told = is_shown.then(|| self.tell_first(id)).flatten();
        let told = told.map_or_else(|| short(label), cut);
        let (from, to) = (shown(from), shown(to));
        match receiver.and_then(|receiver| receiver.name()) {
            Some(receiver) => format!("{told} {from} -> {to} for {receiver}"),
            None => format!("{told} {from} -> {to}"),
        }
    }

    /// What is in the first packet of a flow. User code says, so it happens outside of the cell.
    fn tell_first(&self, id: FlowId) -> Option<String> {
        let first = self.state.with(|state| {
            let found = state.tables.has_flow(id);
            found.then(|| state.tables.flow(id).0.take_first())?
        })?;
        let told = first.arrival.shown();
        self.state.with(|state| {
            let (flow, spare) = state.tables.flow(id);
            flow.put_first(first, spare);
        });
        told
    }

    /// Does to the first packet of a flow what the verdict says. Returns whether that was possible.
    pub(crate) fn meddle(net: &Net, id: FlowId, verdict: Verdict) -> bool {
        if verdict == Verdict::Duplicate {
            return Network::double(net, id);
        }
        let (done, todo) = net.state.with(|state| {
            let mut todo = Todo::default();
            if state.tables.get(id).is_none_or(Flow::is_empty) {
                return (false, todo);
            }
            let (flow, spare) = state.tables.flow(id);
            match verdict {
                Verdict::DeliverAfter(delay) => flow.delay_first(delay, spare),
                Verdict::Drop if flow.kind == FlowKind::Reliable => {
                    flow.delay_first(Duration::from_nanos(link::RETRANSMISSION_NS), spare);
                }
                Verdict::Drop => {
                    let link = flow.link;
                    todo.lost.extend(flow.take(0));
                    state.tables.links.get_mut(link).lost(1);
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
        let first = net.state.with(|state| {
            let found = state.tables.has_flow(id);
            found.then(|| state.tables.flow(id).0.take_first())?
        });
        let Some(first) = first else {
            return false;
        };
        let due_ns = first.due_ns;
        let copy = first.arrival.copy();
        let done = copy.is_some();
        net.state.with(|state| {
            let (flow, spare) = state.tables.flow(id);
            flow.put_first(first, spare);
            if let Some(arrival) = copy {
                flow.put_first(Packet { arrival, due_ns }, spare);
            }
            state.refresh(id);
            state.set_alarm();
        });
        done
    }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn a_packet_is_called_by_its_type_without_paths() {
        for (label, expected) in [
            ("syn-ack", "syn-ack"),
            ("alloc::vec::Vec<u8>", "Vec<u8>"),
            ("scenario::Message", "Message"),
            (
                "(u8, core::option::Option<my_crate::Vote_2>)",
                "(u8, Option<Vote_2>)",
            ),
            ("&[alloc::string::String; 2]", "&[String; 2]"),
            (
                "my_test::elections::{{closure}}::{{closure}}::Message",
                "Message",
            ),
        ] {
            assert_eq!(short(label), expected);
        }
    }
}
