//! Clients that are the kernel's, of listeners that are a world's. Each gets a listener of the kernel's for itself.

use super::pumps::{pump, start};
use crate::tcp::bridge::{self, pipe};
use crate::tcp::open::{Origin, open};
use crate::tcp::promised;
use cct_executor::shim::{
    Relative, Toward, accepts_no_longer, machine_is_refused, on_connect, oneself, relatives,
};
use socket2::SockRef;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::panic::Location;
use std::sync::Once;
use std::sync::mpsc::sync_channel;

/// From the first listener of a world on, it is looked who connects.
pub(in crate::tcp) fn watch() {
    static BEGIN: Once = Once::new();
    BEGIN.call_once(|| on_connect(guide));
}

/// A thread of the process is about to ask the kernel for a connection.
fn guide(to: SocketAddr) -> Toward {
    if !to.ip().is_loopback() {
        return Toward::There;
    }
    let here = bridge::listens_here(to);
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

/// Whether that world has a listener there.
fn listens(world: Relative, to: SocketAddr) -> bool {
    let (tell, told) = sync_channel(1);
    let asked = world.spawn(async move {
        let _ = tell.send(bridge::listens_here(to) == Some(true));
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
        hand_on(stream, to, world)
    })?;
    Ok(at)
}

/// Has a connection go on in that world.
fn hand_on(stream: TcpStream, to: SocketAddr, world: Relative) -> io::Result<()> {
    let (send, theirs) = pipe();
    let (their_send, recv) = pipe();
    world.spawn(async move {
        if let Ok(there) = open(to, Origin::default(), Location::caller()).await {
            bridge::carry(there, their_send, theirs).await;
        }
    });
    pump(stream, send, recv)
}

/// The world has taken over a listener of the kernel's. Who has connected to that before connects to the world's.
pub(in crate::tcp) fn take_queue(listener: &TcpListener) -> io::Result<()> {
    let socket = SockRef::from(listener);
    let cookie = socket.cookie()?;
    let (own, to) = (oneself(), listener.local_addr()?);
    let taken = loop {
        match (own, socket.nonblocking()?) {
            (Some(world), true) => match listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(false)?;
                    start(move || hand_on(stream, to, world))?;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break Ok(()),
                Err(error) => break Err(error),
            },
            _ => break Ok(()),
        }
    };
    accepts_no_longer(cookie);
    taken
}
