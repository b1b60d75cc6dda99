//! Connections between worlds: a server in a thread of `std` that has a runtime of its own, and clients elsewhere.
//!
//! Where a test is run once, as threads take part, each thread that builds a runtime has a world, and so a network.
//! On tokio they all have the machine's. So who connects to a loopback port at which nobody listens here, but in another
//! thread's world, finds a listener here that hands on: each connection to it is one there, and what is sent goes by pipes
//! between the two. Nobody can repeat what such a test does, and nothing here is reached in one that is repeated.
//!
//! Does not: tell a reset from an end, or refuse who connects just as the listener there goes (it is reset). Datagrams go
//! their own way (`udp/elsewhere.rs`), and Unix sockets of other worlds are reached as those of other processes are (`gate`).

use super::TcpListener;
use super::open::{Origin, open};
#[cfg(target_os = "linux")]
use super::promised;
use crate::host::{State, hosts};
use crate::stream::carried::{carry, pipe};
#[cfg(target_os = "linux")]
use cct_executor::node::NodeId;
use cct_executor::node::current;
use cct_executor::shim::{Relative, number_among_relatives, relatives, spawn_on_world};
use cct_executor::task::AbortHandle;
#[cfg(target_os = "linux")]
use cct_executor::time::sleep;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::panic::Location;
#[cfg(target_os = "linux")]
use std::pin::pin;
#[cfg(target_os = "linux")]
use std::time::Duration;

/// How often it is looked whether a listener was taken over in another world, and how many times at most.
#[cfg(target_os = "linux")]
const LOOK: Duration = Duration::from_millis(1);
#[cfg(target_os = "linux")]
const LOOKS_MAX: u32 = 30_000;

/// Listeners that hand on, by what they listen at.
pub(crate) type Bridges = BTreeMap<SocketAddr, AbortHandle>;

/// Somebody is about to connect: if only another world of this test has a listener there, one that hands on is here
/// afterwards.
pub(super) async fn look(to: SocketAddr) -> io::Result<()> {
    if number_among_relatives().is_none() || !to.ip().is_loopback() {
        return Ok(());
    }
    let hosts = hosts()?;
    let listens = || {
        let listens = |state: &mut State| !state.host(current()).tcp.find(to).is_empty();
        hosts.state.with(listens)
    };
    let one_listens = listens();
    // The task that hands on may be gone, with its runtime.
    let bridged = one_listens && hosts.state.with(|state| state.bridges.contains_key(&to));
    if one_listens && !bridged {
        return Ok(());
    }
    match find(to).await {
        // To the kernel somebody listens there already.
        Some(other) if !bridged => match TcpListener::at(to, Location::caller()) {
            Ok(listener) => {
                let task = spawn_on_world(hand_on(listener, other, to)).abort_handle();
                hosts.state.with(|state| state.bridges.insert(to, task));
            }
            // Somebody else was as quick.
            Err(_) if listens() => {}
            Err(error) => return Err(error),
        },
        None if bridged => {
            if let Some(task) = hosts.state.with(|state| state.bridges.remove(&to)) {
                task.abort();
                cct_executor::task::yield_now().await;
            }
        }
        _ => {}
    }
    Ok(())
}

/// A listener of the standard library listens here in the place of whoever takes it over. Should that happen in another
/// world, or the program accept by it, it hands on.
#[cfg(target_os = "linux")]
pub(super) fn watch(node: NodeId, to: SocketAddr) {
    if number_among_relatives().is_none() {
        return;
    }
    let watcher = async move {
        // The thread of another world need not answer: it may wait for the kernel, as for who connects.
        let mut found = pin!(find(to));
        for _ in 0..LOOKS_MAX {
            if !promised::is_left(node, to.port())? {
                return Ok(());
            }
            if promised::program_accepts(to.port()) {
                return promised::hand_on(node, to);
            }
            let mut pause = pin!(sleep(LOOK));
            let answer = cct_executor::select! {
                biased;
                answer = &mut found => answer,
                () = &mut pause => continue,
            };
            if let Some(other) = answer {
                if let Some(listener) = promised::take(node, to.port())? {
                    hand_on(listener, other, to).await;
                }
                return Ok(());
            }
            pause.await;
            found.set(find(to));
        }
        Ok::<(), io::Error>(())
    };
    drop(spawn_on_world(async {
        let _ = watcher.await;
    }));
}

/// The world that has a listener of its own there, of the others.
async fn find(to: SocketAddr) -> Option<Relative> {
    let mut found = None;
    for other in relatives() {
        if found.is_none() && listens_there(other, to).await {
            found = Some(other);
        }
    }
    found
}

/// Whether another world has a listener of its own there.
async fn listens_there(other: Relative, to: SocketAddr) -> bool {
    let (mut tell, mut told) = pipe();
    let asked = other.spawn(async move {
        if listens_here(to) == Some(true) {
            tell.send(&[1]).await;
        }
    });
    asked && told.recv(&mut [0]).await == 1
}

/// Whether the world that runs here has a listener of its own there, on the node of the running task. `None` outside a world.
pub(crate) fn listens_here(to: SocketAddr) -> Option<bool> {
    let hosts = hosts().ok()?;
    let listens = |state: &mut State| {
        let (node, bridged) = (current(), state.bridges.contains_key(&to));
        let named = !state.host(node).tcp.find(to).is_empty();
        let inside = state.drawn.inside(node, to, named);
        #[cfg(target_os = "linux")]
        let bridged = bridged || state.promised.is_there(node, to.port());
        !bridged && !state.host(node).tcp.find(inside).is_empty()
    };
    Some(hosts.state.with(listens))
}

/// Has each connection go on in another world.
async fn hand_on(listener: TcpListener, other: Relative, to: SocketAddr) {
    let _leaves = listener.leaves();
    while let Ok((here, client)) = listener.accept().await {
        let (send, theirs) = pipe();
        let (their_send, ours) = pipe();
        let asked = other.spawn(async move {
            let site = Location::caller();
            if let Ok(there) = open(to, Origin::outside(Some(client)), site).await {
                carry(there, their_send, theirs).await;
            }
        });
        if asked {
            drop(spawn_on_world(carry(here, send, ours)));
        }
    }
}
