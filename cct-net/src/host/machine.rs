//! The machine that the test runs on: its addresses, for programs that ask the system for them and bind what they get, and
//! what else is asked of it in vain.

use super::{Hosts, State, hosts};
use cct_executor::node::NodeId;
use std::fmt::Display;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// Lets the test itself, on node 0, use the addresses of the machine in the running world, as they are its own on
/// tokio: once it binds one, or sends or connects to one, it is that node's. And a UDP socket that is connected to an address
/// that nobody has shows which of them the machine would use, as programs learn their address. Does nothing outside a world.
/// Which there are no run should hang on: another machine has others.
pub fn presume() {
    if let Ok(hosts) = hosts() {
        hosts.state.with(|state| state.on_machine = true);
    }
}

/// Something of the machine's was asked for, and refused, as no world has it: the report of a failure says so, and does not
/// conclude from it that tokio fails. Does nothing outside a world.
pub fn was_asked_for(what: &dyn Display) {
    if let Ok(hosts) = hosts() {
        hosts
            .state
            .with(|state| state.strangers.insert(what.to_string()));
    }
}

/// Whether the descriptor is that of a socket which is simulated, and not one of the machine's that may be watched there.
#[cfg(unix)]
pub fn simulates(fd: std::os::fd::BorrowedFd<'_>) -> bool {
    hosts().is_ok_and(|hosts| {
        let shows = |inode| hosts.state.with(|state| state.shown.find(inode).is_some());
        crate::descriptor::inode(fd).is_ok_and(shows)
    })
}

/// Whether the machine has this address: whoever binds it is told.
fn has(ip: IpAddr) -> bool {
    UdpSocket::bind((ip, 0)).is_ok()
}

/// The address that the machine would use towards one that no node has, from this one if it is one of its own.
///
/// # Errors
/// It has no way there.
fn source_towards(to: SocketAddr, from: IpAddr) -> io::Result<IpAddr> {
    let any = match to {
        SocketAddr::V4(_) => IpAddr::from(Ipv4Addr::UNSPECIFIED),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let from = Some(from.to_canonical()).filter(|from| from.is_ipv4() == any.is_ipv4());
    let socket = from.and_then(|from| UdpSocket::bind((from, 0)).ok());
    let socket = socket.map_or_else(|| UdpSocket::bind((any, 0)), Ok)?;
    // This sends nothing.
    socket.connect(to)?;
    Ok(socket.local_addr()?.ip())
}

impl Hosts {
    /// The address that a node's datagrams to this address come from.
    ///
    /// # Errors
    /// No node has it; or, where that is asked, what the machine says.
    pub(crate) fn source_towards(
        &self,
        node: NodeId,
        to: SocketAddr,
        from: IpAddr,
    ) -> io::Result<IpAddr> {
        let ip = to.ip();
        let way = self.state.with(|state| match state.route(node, ip) {
            Err(unknown) if !ip.is_multicast() => Err((unknown, state.is_machine(node))),
            _ => Ok(state.source_address(node, ip)),
        });
        match way {
            Ok(own) => Ok(own),
            Err((unknown, false)) => Err(unknown),
            // Not in the middle of the state: the system's calls look whether a socket is simulated.
            Err((_, true)) => {
                let own = source_towards(to, from)?;
                self.state.with(|state| state.adopt(node, own));
                Ok(own)
            }
        }
    }
}

impl State {
    fn is_machine(&self, node: NodeId) -> bool {
        self.on_machine && node == NodeId(0)
    }

    /// Makes an address of the machine that the test is about to use one of its own.
    pub(super) fn adopt(&mut self, node: NodeId, ip: IpAddr) {
        let ip = ip.to_canonical();
        let asked = self.is_machine(node) && !ip.is_multicast();
        if !asked || self.owners.contains_key(&ip) || self.host(node).may_bind(ip) || !has(ip) {
            return;
        }
        self.owners.insert(ip, node);
        let host = self.host(node);
        match ip {
            IpAddr::V4(_) => host.v4.push(ip),
            IpAddr::V6(_) => host.v6.push(ip),
        }
    }
}
