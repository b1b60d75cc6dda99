//! Ports that the kernel has drawn for sockets of the standard library, which the world took over.
//!
//! 1. Such a port is another one in every process, so nothing in the world may hang on it: inside, the
//!    socket has a port of the world's own drawing.
//! 2. Outside, where programs give and get addresses, it is the kernel's, as they may have asked for it
//!    before. That stays so when the socket is gone: connections go on.

#[cfg(unix)]
use super::ports::EPHEMERAL;
use cct_executor::node::NodeId;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// The least port that the kernel draws for those that ask for any. Up to where it draws is a setting.
#[cfg(unix)]
const DRAWN_MIN: u16 = *EPHEMERAL.start();

/// Whether the kernel may have drawn the port of one of its addresses.
#[cfg(unix)]
pub(crate) fn is_drawn(addr: SocketAddr) -> bool {
    addr.port() >= DRAWN_MIN
}

/// The address to bind for one of the kernel's.
#[cfg(unix)]
pub(crate) fn of_the_world(addr: SocketAddr) -> SocketAddr {
    let port = if is_drawn(addr) { 0 } else { addr.port() };
    SocketAddr::new(addr.ip(), port)
}

/// What the kernel and the world call the same port of a node.
#[derive(Default)]
pub(crate) struct Drawn {
    inside: BTreeMap<(u16, u16), u16>,
    outside: BTreeMap<(u16, u16), u16>,
}

impl Drawn {
    /// A socket was taken over.
    #[cfg_attr(not(unix), expect(dead_code, reason = "none can be"))]
    pub(crate) fn add(&mut self, node: NodeId, kernels: u16, ours: u16) {
        self.inside.insert((node.0, kernels), ours);
        self.outside.insert((node.0, ours), kernels);
    }

    /// Whether there was none.
    pub(crate) fn is_empty(&self) -> bool {
        self.inside.is_empty()
    }

    /// What the world calls an address of a node that programs name. If one listens at that address of the
    /// world, and programs call it so as well, it is meant first.
    pub(crate) fn inside(&self, node: NodeId, addr: SocketAddr, one_listens: bool) -> SocketAddr {
        let Some(&port) = self.inside.get(&(node.0, addr.port())) else {
            return addr;
        };
        let is_called_so = self.outside(node, addr) == addr;
        if one_listens && is_called_so {
            return addr;
        }
        SocketAddr::new(addr.ip(), port)
    }

    /// What programs call it.
    pub(crate) fn outside(&self, node: NodeId, addr: SocketAddr) -> SocketAddr {
        let port = self.outside.get(&(node.0, addr.port()));
        SocketAddr::new(addr.ip(), port.copied().unwrap_or(addr.port()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], port))
    }

    #[test]
    fn a_name_of_the_kernels_may_be_a_port_of_the_worlds() {
        let (node, mut drawn) = (NodeId(0), Drawn::default());
        drawn.add(node, 40_000, 32_768);
        drawn.add(node, 32_768, 32_769);
        // Programs know the listener at 32768 by another name.
        assert_eq!(drawn.inside(node, at(32_768), true), at(32_769));
        assert_eq!(drawn.inside(node, at(40_000), false), at(32_768));
        assert_eq!(drawn.outside(node, at(32_769)), at(32_768));
        // One of the world's own has no other.
        drawn.add(node, 32_770, 32_771);
        assert_eq!(drawn.inside(node, at(32_770), true), at(32_770));
        assert_eq!(drawn.inside(node, at(32_770), false), at(32_771));
    }
}
