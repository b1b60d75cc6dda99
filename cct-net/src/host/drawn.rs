//! Ports that the kernel has drawn for listeners of the standard library, which the world took over.
//!
//! 1. Such a port is another one in every process, so nothing in the world may hang on it: inside, the
//!    listener has a port of the world's own drawing.
//! 2. Outside, where programs give and get addresses, it is the kernel's, as they may have asked for it
//!    before. That stays so when the listener is gone: its connections go on.

use cct_executor::node::NodeId;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// What the kernel and the world call the same port of a node.
#[derive(Default)]
pub(crate) struct Drawn {
    inside: BTreeMap<(u16, u16), u16>,
    outside: BTreeMap<(u16, u16), u16>,
}

impl Drawn {
    /// A listener was taken over.
    #[cfg_attr(not(unix), expect(dead_code, reason = "none can be"))]
    pub(crate) fn add(&mut self, node: NodeId, kernels: u16, ours: u16) {
        self.inside.insert((node.0, kernels), ours);
        self.outside.insert((node.0, ours), kernels);
    }

    /// What the world calls an address of a node.
    pub(crate) fn inside(&self, node: NodeId, addr: SocketAddr) -> SocketAddr {
        let port = self.inside.get(&(node.0, addr.port()));
        SocketAddr::new(addr.ip(), port.copied().unwrap_or(addr.port()))
    }

    /// What programs call it.
    pub(crate) fn outside(&self, node: NodeId, addr: SocketAddr) -> SocketAddr {
        let port = self.outside.get(&(node.0, addr.port()));
        SocketAddr::new(addr.ip(), port.copied().unwrap_or(addr.port()))
    }
}
