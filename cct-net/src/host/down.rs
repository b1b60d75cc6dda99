//! What becomes of a node's sockets when the node goes down.

use super::{Hosts, State};
use crate::fabric::{CrashStyle, network};
use crate::stream::carried::Leaving;
use cct_executor::node::{NodeId, current};
use cct_executor::shim::{ActionSource, Moved, OnFile, OnSocket, SocketFile};
use std::io;
use std::panic::Location;
use std::path::Path;

impl ActionSource for Hosts {
    /// Hosts offer no actions.
    fn apply(&self, _: u64) {}

    fn is_leaving(&self) -> bool {
        #[cfg(target_os = "linux")]
        crate::tcp::promised::hand_on_the_rest();
        self.state
            .with(|state| state.leaving.iter().any(Leaving::goes_on))
    }

    fn snapshot(&self) -> Vec<String> {
        self.netstat()
    }

    fn outside(&self) -> Vec<String> {
        #[cfg(target_os = "linux")]
        self.state
            .with(|state| std::mem::take(&mut state.begun))
            .tell();
        let strangers = |state: &mut State| state.strangers.iter().cloned().collect();
        self.state.with(strangers)
    }

    fn file(&self, path: &Path, what: OnFile<'_>) -> Option<SocketFile> {
        let (node, hosts) = (current(), &self.state);
        hosts.with(|state| state.host_if_any(node)?.unix.on_file(path, what))
    }

    fn socket(
        &self,
        number: u64,
        what: &mut OnSocket<'_>,
        site: &'static Location<'static>,
    ) -> Option<io::Result<Moved>> {
        let socket = self.state.with(|state| state.shown.find(number))?;
        socket.by_descriptor(what, site)
    }

    fn node_down(&self, node: NodeId) {
        let silent = network().map_or(CrashStyle::Silent, |net| net.crash_style(node));
        let silent = silent == CrashStyle::Silent;
        let (listeners, datagram_sockets, unix, conns) = self.state.with(|state| {
            let host = state.host(node);
            let conns = std::mem::take(&mut host.conns);
            let unix = std::mem::take(&mut host.unix);
            (host.tcp.clear(), host.udp.clear(), unix, conns)
        });
        // What waits in a queue is reset; what was accepted is closed.
        listeners.iter().for_each(|listener| listener.close(silent));
        for ((_, side), open) in &conns {
            if silent {
                open.conn.vanish(*side);
            } else {
                open.conn.close(*side);
            }
        }
        drop((listeners, datagram_sockets, unix, conns));
    }
}
