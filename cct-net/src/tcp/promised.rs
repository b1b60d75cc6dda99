//! Listeners of the standard library that nobody has made tokio's of yet.
//!
//! A test binds one, tells its address, and leaves it to a task to take it over. Until that has run the kernel
//! queues whoever connects, and so does the world: an attempt that finds nobody at an address looks among the
//! process's own descriptors (where the system lists them, which is Linux). What it finds listens in the world from
//! then on, and whoever takes the listener over gets what is in its queue, be it in the world of another thread of the
//! test ([`bridge`]). If the program accepts by it itself instead, it is handed on to the kernel ([`gate`](crate::gate)). One that is
//! closed is gone at the next attempt.

use super::{TcpListener, bridge};
use crate::gate;
use crate::host::{State, hosts};
use crate::raw::with_socket;
use cct_executor::node::{NodeId, current};
use cct_executor::shim::{accepts_itself, spawn_on_world};
use cct_executor::task::AbortHandle;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::panic::Location;

/// Those of the world, by node and by the kernel's port.
#[derive(Default)]
pub(crate) struct Promised(BTreeMap<(u16, u16), Promise>);

enum Promise {
    /// It has a queue.
    Left(TcpListener),
    /// A task hands on what connects.
    HandedOn(AbortHandle),
}

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
        let one_listens = state.one_listens(node, to);
        let is_promised = state.promised.is_there(node, port);
        (is_promised, one_listens || !is_own || port == 0)
    });
    // One that another world has taken over is handed on by whoever watches it, with its queue.
    if is_promised && kernels(port).is_none() && !is_taken_over(port) {
        drop(take(node, port)?);
        return Ok(());
    }
    if one_listens {
        return Ok(());
    }
    if let Some(kernels) = kernels(port) {
        let own = TcpListener::in_place_of(kernels.addr, site)?;
        let promised = |state: &mut State| promise(state, (node, port), Promise::Left(own));
        drop(hosts.state.with(promised));
        bridge::watch(node, kernels.addr);
    }
    Ok(())
}

fn promise(
    state: &mut State,
    (node, port): (NodeId, u16),
    promise: Promise,
) -> Option<impl Sized + use<>> {
    state.promised.0.insert((node.0, port), promise)
}

/// Whether nobody has taken over the one of this port.
pub(super) fn is_left(node: NodeId, port: u16) -> io::Result<bool> {
    let left = |state: &mut State| {
        let promise = state.promised.0.get(&(node.0, port));
        matches!(promise, Some(Promise::Left(_)))
    };
    Ok(hosts()?.state.with(left))
}

/// The one that is promised for this port of the kernel's.
pub(super) fn take(node: NodeId, port: u16) -> io::Result<Option<TcpListener>> {
    let remove = |state: &mut State| state.promised.0.remove(&(node.0, port));
    Ok(match hosts()?.state.with(remove) {
        Some(Promise::Left(own)) => Some(own),
        Some(Promise::HandedOn(task)) => {
            task.abort();
            None
        }
        None => None,
    })
}

/// The program accepts by the kernel itself.
pub(super) fn hand_on(node: NodeId, addr: SocketAddr) -> io::Result<()> {
    if let Some(own) = take(node, addr.port())? {
        let task = spawn_on_world(gate::hand_on(own, addr)).abort_handle();
        let handed_on = Promise::HandedOn(task);
        let promised = |state: &mut State| promise(state, (node, addr.port()), handed_on);
        drop(hosts()?.state.with(promised));
    }
    Ok(())
}

/// The world is about to end. Who waits in a queue goes to the kernel's, as it would be there if there were no world: only the
/// program can accept by it from now on.
pub(crate) fn hand_on_the_rest() {
    let node = current();
    let Some(hosts) = hosts().ok().filter(|_| gate::is_open()) else {
        return;
    };
    let waited_for = |state: &mut State| {
        let left = state
            .promised
            .0
            .iter()
            .filter_map(|(&(on, port), promise)| {
                let Promise::Left(own) = promise else {
                    return None;
                };
                (on == node.0 && own.has_queue()).then_some(port)
            });
        left.collect::<Vec<_>>()
    };
    for port in hosts.state.with(waited_for) {
        if let Some(kernels) = kernels(port) {
            let _ = hand_on(node, kernels.addr);
        }
    }
}

/// Whether a socket of this process listens that has this port, and the program accepts by it.
pub(crate) fn program_accepts(port: u16) -> bool {
    kernels(port).is_some_and(|kernels| accepts_itself(kernels.cookie))
}

/// A listener of the kernel's.
struct Kernels {
    addr: SocketAddr,
    cookie: u64,
}

/// The socket of this process that listens and has this port, which no world has taken over.
fn kernels(port: u16) -> Option<Kernels> {
    listening(port, |cookie| !gate::is_own(cookie))
}

fn is_taken_over(port: u16) -> bool {
    listening(port, gate::is_own).is_some()
}

fn listening(port: u16, is_it: impl Fn(u64) -> bool) -> Option<Kernels> {
    let open = std::fs::read_dir("/proc/self/fd").ok()?;
    let names = open.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let listens = |fd| {
        with_socket(fd, |socket| {
            let addr = socket.local_addr().ok()?.as_socket()?;
            let cookie = socket.cookie().ok()?;
            let listens = addr.port() == port && socket.is_listener().ok()?;
            (listens && is_it(cookie)).then_some(Kernels { addr, cookie })
        })
    };
    names.filter_map(listens).next()
}
