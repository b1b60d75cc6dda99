//! What the kernels would answer when asked for their sockets: lines of failure reports.

use super::{Host, Hosts};
use crate::fabric::shown;
use crate::stream::conn::Names;
use cct_executor::node::NodeId;

/// Sockets shown of each node, and of all; a service may have thousands of connections.
const OF_EACH: usize = 6;
const OF_ALL: usize = 20;

impl Hosts {
    /// What became of the connections of each node; who listens, who is connected, and what waits to
    /// be read, node by node.
    pub(super) fn netstat(&self) -> Vec<String> {
        let counted = self.state.with(|state| {
            let hosts = state.hosts.iter();
            let counted = hosts.map(|(&node, host)| (NodeId(node), host.statistics));
            counted.collect::<Vec<_>>()
        });
        let counted = counted.iter().filter_map(|(node, counts)| {
            let text = Some(counts.to_string()).filter(|text| !text.is_empty())?;
            Some(format!("{}: tcp connections: {text}", shown(*node)))
        });
        let asked = self.state.with(|state| {
            let hosts = state.hosts.iter();
            let asked = hosts.map(|(&node, host)| (NodeId(node), host.sockets()));
            asked.collect::<Vec<_>>()
        });
        let all: usize = asked.iter().map(|(_, sockets)| sockets.len()).sum();
        let mut lines = Vec::new();
        for (node, sockets) in asked {
            let name = shown(node);
            let some = sockets.iter().take(OF_EACH);
            lines.extend(some.map(|socket| format!("{name}: {socket}")));
        }
        lines.truncate(OF_ALL);
        if lines.len() < all {
            lines.push(format!("and {} more sockets", all - lines.len()));
        }
        counted.take(OF_ALL).chain(lines).collect()
    }
}

impl Host {
    fn sockets(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (addr, listening) in self.tcp.bound() {
            lines.push(format!("tcp {addr} listens, {}", listening.summary()));
        }
        for ((_, side), open) in &self.conns {
            let (here, there) = (*side, 1 - *side);
            let between = match &open.conn.names {
                Names::Inet(names) => format!("tcp {} - {}", names[here], names[there]),
                Names::Unix(_) => "unix".to_owned(),
            };
            let state = open.conn.state.with(|state| state.summary(here));
            lines.push(format!("{between} {state}"));
        }
        for (addr, socket) in self.udp.bound() {
            lines.push(format!("udp {addr}, {}", socket.summary()));
        }
        lines
    }
}
