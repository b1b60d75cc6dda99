//! Datagrams between worlds: a server in a thread of `std` that has a runtime of its own, and clients elsewhere.
//!
//! Each thread that builds a runtime in a test that is run once has a world, and so a network, where on tokio they all have
//! the machine's (see [`bridge`](crate::tcp::bridge)). So a datagram for an address of this host at which nobody is bound here is
//! given to the sockets that are bound there in the other worlds; one for many goes to those of other worlds as well. If
//! nobody is bound anywhere, the sender is told as by its own host.
//!
//! Does not: reach UDP sockets of the standard library, or of other processes.

use super::inner::Datagram;
use super::send::{hand_over, is_for_several, receivers};
use crate::host::{Hosts, State, hosts};
use cct_executor::node::{NodeId, current};
use cct_executor::shim::{Relative, number_among_relatives, oneself, relatives};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A datagram that other worlds are asked to take.
struct Parcel {
    datagram: Datagram,
    to: SocketAddr,
    taken: AtomicBool,
    /// Who is told if nobody takes it.
    sender: Option<Relative>,
}

/// What this world calls an address of its host, as programs call it.
fn inside(hosts: &Hosts, addr: SocketAddr) -> SocketAddr {
    let node = current();
    hosts.state.with(|state| {
        let named = !state.host(node).udp.find(addr).is_empty();
        state.udp_drawn.inside(node, addr, named)
    })
}

/// Whether other worlds of the test may be there.
pub(super) fn may_be() -> bool {
    number_among_relatives().is_some()
}

/// Gives a datagram, sent from an address as programs call it, to other worlds of the test. Returns whether it is theirs
/// alone.
pub(super) fn send(hosts: &Hosts, node: NodeId, datagram: Datagram, to: SocketAddr) -> bool {
    let many = is_for_several(to);
    let others = relatives();
    if node != NodeId(0) || others.is_empty() {
        return false;
    }
    // The machine is the same in all of them.
    let is_for_others = |state: &mut State| {
        let there = state.route(node, to.ip());
        there.is_ok_and(|there| there == node) && state.host(node).udp.find(to).is_empty()
    };
    if !(many || hosts.state.with(is_for_others)) {
        return false;
    }
    let parcel = Arc::new(Parcel {
        datagram,
        to,
        taken: AtomicBool::new(many),
        sender: oneself(),
    });
    for other in others {
        let parcel = parcel.clone();
        other.spawn(async move { parcel.arrive() });
    }
    !many
}

impl Parcel {
    /// It has come to another world.
    fn arrive(&self) {
        let Ok(hosts) = hosts() else {
            return;
        };
        let (sockets, room) = receivers(&hosts, current(), inside(&hosts, self.to));
        if !sockets.is_empty() {
            self.taken.store(true, Ordering::Release);
        }
        hand_over(&self.datagram, sockets, room);
    }
}

impl Drop for Parcel {
    /// The last world has done with it.
    fn drop(&mut self) {
        let (from, to) = (self.datagram.from, self.to);
        let untaken = !self.taken.load(Ordering::Acquire);
        let Some(sender) = self.sender.filter(|_| untaken) else {
            return;
        };
        sender.spawn(async move {
            if let Ok(hosts) = hosts() {
                let (senders, _) = receivers(&hosts, current(), inside(&hosts, from));
                senders.iter().for_each(|sender| sender.unreachable(to));
            }
        });
    }
}
