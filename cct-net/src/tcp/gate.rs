//! Connections from outside: who asks the kernel for one to a port at which only a world listens, as a client of the
//! standard library does in a test of a server, or a library of C.
//!
//! The kernel would refuse. In a test that is run once, as threads take part, such a client gets a listener of the kernel's
//! for itself, and what it sends is handed on, as between worlds ([`bridge`]), by two threads that are waited for like the
//! test's. In a test that is repeated the kernel does refuse; where the test fails for that, it is run once.
//!
//! Does not: serve other processes, tell a reset from an end, or show either side the other's port.

use super::bridge::{self, Receiver, Sender, pipe};
use super::open::{Origin, open};
use cct_executor::shim::{Relative, machine_is_refused, on_connect, oneself, relatives};
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::panic::Location;
use std::pin::pin;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Once};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// From the first listener of a world on, it is looked who connects.
pub(super) fn watch() {
    static BEGIN: Once = Once::new();
    BEGIN.call_once(|| on_connect(guide));
}

/// A thread of the process is about to ask the kernel for a connection: where to instead.
fn guide(to: SocketAddr) -> Option<SocketAddr> {
    if !to.ip().is_loopback() {
        return None;
    }
    let world = match (bridge::listens_here(to), oneself()) {
        (Some(true), None) => {
            machine_is_refused(&format_args!(
                "a connection by the kernel to {to}, where only the world listens"
            ));
            return None;
        }
        (Some(false), None) => return None,
        (Some(true), own) => own,
        _ => relatives().into_iter().find(|&world| listens(world, to)),
    };
    opened(to, world?).ok()
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
        let accepted = listener.accept();
        drop(listener);
        accepted.and_then(|(stream, _)| hand_on(stream, to, world))
    })?;
    Ok(at)
}

/// Has a connection go on in that world.
fn hand_on(mut stream: TcpStream, to: SocketAddr, world: Relative) -> io::Result<()> {
    let (mut send, theirs) = pipe();
    let (their_send, mut recv) = pipe();
    world.spawn(async move {
        if let Ok(there) = open(to, Origin::default(), Location::caller()).await {
            bridge::carry(there, their_send, theirs).await;
        }
    });
    let mut reading = stream.try_clone()?;
    start(move || receive(&mut reading, &mut send))?;
    send_on(&mut stream, &mut recv)
}

/// What comes from the kernel goes to the world.
fn receive(stream: &mut TcpStream, send: &mut Sender) -> io::Result<()> {
    let mut bytes = vec![0; 8 * 1024];
    loop {
        let count = stream.read(&mut bytes)?;
        if count == 0 || !block_on(send.send(&bytes[..count])) {
            return Ok(());
        }
    }
}

/// What comes from the world goes to the kernel.
fn send_on(stream: &mut TcpStream, recv: &mut Receiver) -> io::Result<()> {
    let mut bytes = vec![0; 8 * 1024];
    loop {
        let count = block_on(recv.recv(&mut bytes));
        if count == 0 {
            return stream.shutdown(Shutdown::Write);
        }
        stream.write_all(&bytes[..count])?;
    }
}

/// A thread that counts as the test's. What it fails for, both sides learn by the connection's end.
#[expect(
    clippy::disallowed_methods,
    reason = "it blocks in the kernel, and decides nothing"
)]
fn start(body: impl FnOnce() -> io::Result<()> + Send + 'static) -> io::Result<()> {
    let builder = thread::Builder::new().name("cct-gate".to_owned());
    builder.spawn(body).map(drop)
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "it is the thread that is woken, and decides nothing"
)]
fn block_on<R>(future: impl Future<Output = R>) -> R {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(done) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return done;
        }
        thread::park();
    }
}
