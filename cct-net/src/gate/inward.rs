//! Clients that are the kernel's, of listeners that are a world's. In this process each gets a listener of the kernel's
//! for itself.

use super::outward::is_for_a_task;
use super::pumps::{Kernels, pump, start};
use crate::stream::carried::{Receiver, Sender, carry, pipe};
use crate::tcp::begun;
use crate::tcp::bridge::listens_here;
use crate::tcp::open::{Origin, open};
use crate::tcp::promised;
use crate::unix::{self, UnixStream};
use cct_executor::shim::{
    Peer, Relative, Toward, accepts_no_longer, machine_is_open, machine_is_refused, on_connect,
    oneself, relatives,
};
use socket2::Socket;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::RawFd;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;

/// What a client of the kernel's has connected to, or wants to.
#[derive(Clone)]
pub(super) enum To {
    Tcp(SocketAddr),
    Path(PathBuf),
}

impl To {
    /// Has a client connect to it in the world that runs here, and go on there.
    async fn enter(self, client: Option<SocketAddr>, send: Sender, recv: Receiver) {
        let site = Location::caller();
        match self {
            To::Tcp(to) => {
                if let Ok(there) = open(to, Origin::outside(client), site).await {
                    carry(there, send, recv).await;
                }
            }
            To::Path(path) => {
                let name = unix::SocketAddr::default();
                if let Ok(there) = UnixStream::connect_here(name, &path, site).await {
                    carry(there, send, recv).await;
                }
            }
        }
    }
}

/// From now on it is looked who connects.
pub(crate) fn watch() {
    on_connect(guide);
}

/// A thread of the process is about to ask the kernel for a connection.
fn guide(fd: RawFd, to: Peer<'_>) -> Toward {
    match to {
        Peer::Address(_) if is_for_a_task() => Toward::There,
        Peer::Address(to) if begun::note(fd, to) => Toward::Elsewhere,
        Peer::Address(to) if to.ip().is_loopback() => guide_to(to),
        Peer::Address(_) => Toward::There,
        Peer::Path(path) => {
            note_path(path);
            Toward::There
        }
    }
}

fn guide_to(to: SocketAddr) -> Toward {
    let here = listens_here(to);
    let world = match here {
        Some(true) => oneself(),
        _ => relatives().into_iter().find(|&world| listens(world, to)),
    };
    match world {
        None if here == Some(true) => {
            machine_is_refused(&format_args!(
                "to connect by the kernel to {to}, where only the world listens"
            ));
            Toward::Nobody
        }
        // There is one of the kernel's as well.
        Some(_) if promised::program_accepts(to.port()) => Toward::There,
        Some(world) => opened(to, world).map_or(Toward::Nobody, Toward::Instead),
        None => Toward::There,
    }
}

/// The kernel finds nobody at the path of a socket of the world, unless that is open, where it listens itself.
fn note_path(path: &Path) {
    if !machine_is_open() && unix::listens_here(path) {
        machine_is_refused(&format_args!(
            "to connect by the kernel to {}, where only the world listens",
            path.display()
        ));
    }
}

/// Whether that world has a listener there.
fn listens(world: Relative, to: SocketAddr) -> bool {
    let (tell, told) = sync_channel(1);
    let asked = world.spawn(async move {
        let _ = tell.send(listens_here(to) == Some(true));
    });
    asked && told.recv().unwrap_or(false)
}

/// Where the kernel listens for one connection to there.
fn opened(to: SocketAddr, world: Relative) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(SocketAddr::new(to.ip(), 0))?;
    let at = listener.local_addr()?;
    start(move || {
        let (stream, _) = listener.accept()?;
        drop(listener);
        hand_on(stream.into(), To::Tcp(to), world)
    })?;
    Ok(at)
}

/// Has a connection go on in that world.
fn hand_on(stream: Kernels, to: To, world: Relative) -> io::Result<()> {
    let (send, theirs) = pipe();
    let (their_send, recv) = pipe();
    world.spawn(to.enter(stream.peer(), their_send, theirs));
    pump(stream, send, recv)
}

/// Who is in the queue of this listener, which does not block, connects to the world's.
pub(super) fn take_queue(listener: &Socket, to: &To) -> io::Result<()> {
    let Some(world) = oneself() else {
        return Ok(());
    };
    let taken = loop {
        match listener.accept() {
            Ok((stream, _)) => {
                let to = to.clone();
                start(move || hand_on(stream.into(), to, world))?;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    accepts_no_longer(listener.cookie()?);
    taken
}
