//! The machine that the test runs on: its addresses, for programs that ask the system for them and bind what they get, and
//! what else is asked of it in vain.

use super::{State, hosts};
use cct_executor::node::NodeId;
use std::fmt::Display;
use std::net::{IpAddr, UdpSocket};

/// Lets the test itself, on node 0, bind the addresses of the machine in the running world, as they are its own on
/// tokio: they are that node's from then on. Does nothing outside a world. Which there are no run should hang on:
/// another machine has others.
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

impl State {
    /// Makes an address of the machine that the test is about to bind one of its own.
    pub(super) fn adopt(&mut self, node: NodeId, ip: IpAddr) {
        let ip = ip.to_canonical();
        let asked = self.on_machine && node == NodeId(0) && !ip.is_multicast();
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
