//! Listeners of the standard library that nobody has made tokio's of yet.
//!
//! A test binds one, tells its address, and leaves it to a task to take it over. Until that has run the kernel
//! queues whoever connects, and so does the world: an attempt that finds nobody at an address looks among the
//! process's own descriptors (where the system lists them, which is Linux). What it finds listens in the world from
//! then on, and whoever takes the listener over gets what is in its queue, be it in the world of another thread of the
//! test ([`bridge`]). One that is closed instead is gone at the next attempt.

use super::{TcpListener, bridge};
use crate::host::hosts;
use crate::raw::with_socket;
use cct_executor::node::{NodeId, current};
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::panic::Location;

/// Those of the world, by node and by the kernel's port.
#[derive(Default)]
pub(crate) struct Promised(BTreeMap<(u16, u16), TcpListener>);

impl Promised {
    pub(super) fn is_there(&self, node: NodeId, port: u16) -> bool {
        self.0.contains_key(&(node.0, port))
    }
}

/// Sees to it that somebody listens at this address of the running task's node if the kernel would queue there.
///
/// # Errors
/// Outside a world, and when its port is somebody else's in the world.
pub(super) fn look(to: SocketAddr, site: &'static Location<'static>) -> io::Result<()> {
    let (hosts, node, port) = (hosts()?, current(), to.port());
    let (is_promised, one_listens) = hosts.state.with(|state| {
        let is_own = state.route(node, to.ip()).is_ok_and(|peer| peer == node);
        let named = !state.host(node).tcp.find(to).is_empty();
        let inside = state.drawn.inside(node, to, named);
        let one_listens = named || !state.host(node).tcp.find(inside).is_empty();
        let is_promised = state.promised.is_there(node, port);
        (is_promised, one_listens || !is_own || port == 0)
    });
    if is_promised && kernels(port).is_none() {
        drop(take(node, port)?);
        return Ok(());
    }
    if one_listens {
        return Ok(());
    }
    if let Some(addr) = kernels(port) {
        let own = TcpListener::in_place_of(addr, site)?;
        let promised =
            |state: &mut crate::host::State| state.promised.0.insert((node.0, port), own);
        drop(hosts.state.with(promised));
        bridge::watch(node, addr);
    }
    Ok(())
}

/// Whether nobody has taken over the one of this port.
pub(super) fn is_left(node: NodeId, port: u16) -> io::Result<bool> {
    let hosts = hosts()?;
    Ok(hosts
        .state
        .with(|state| state.promised.is_there(node, port)))
}

/// The one that is promised for this port of the kernel's.
pub(super) fn take(node: NodeId, port: u16) -> io::Result<Option<TcpListener>> {
    let hosts = hosts()?;
    Ok(hosts
        .state
        .with(|state| state.promised.0.remove(&(node.0, port))))
}

/// Where a socket of this process listens that has this port.
fn kernels(port: u16) -> Option<SocketAddr> {
    let open = std::fs::read_dir("/proc/self/fd").ok()?;
    let names = open.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let listens = |fd| {
        with_socket(fd, |socket| {
            let addr = socket.local_addr().ok()?.as_socket()?;
            (addr.port() == port && socket.is_listener().ok()?).then_some(addr)
        })
    };
    names.filter_map(listens).next()
}
