//! Connections between worlds: a server in a thread of `std` that has a runtime of its own, and clients elsewhere.
//!
//! Where a test is run once, as threads take part, each thread that builds a runtime has a world, and so a network.
//! On tokio they all have the machine's. So who connects to a loopback port at which nobody listens here, but in another
//! thread's world, finds a listener here that hands on: each connection to it is one there, and what is sent goes by pipes
//! between the two. Nobody can repeat what such a test does, and nothing here is reached in one that is repeated.
//!
//! Does not: tell a reset from an end, refuse who connects just as the listener there goes (it is reset), or carry
//! datagrams and Unix sockets.

use super::open::{Origin, open};
#[cfg(target_os = "linux")]
use super::promised;
use super::{TcpListener, TcpStream};
use crate::host::{State, hosts};
use crate::stream::conn::Conn;
use crate::stream::state::SideId;
#[cfg(target_os = "linux")]
use cct_executor::node::NodeId;
use cct_executor::node::current;
use cct_executor::shim::{Relative, number_among_relatives, relatives};
use cct_executor::task::{AbortHandle, spawn};
#[cfg(target_os = "linux")]
use cct_executor::time::sleep;
use futures_io::{AsyncRead, AsyncWrite};
use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::panic::Location;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
#[cfg(target_os = "linux")]
use std::time::Duration;

/// How much is on its way at most.
const ROOM: usize = 64 * 1024;

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
        Some(other) if !bridged => match TcpListener::bind(to).await {
            Ok(listener) => {
                let task = spawn(hand_on(listener, other, to)).abort_handle();
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
        for _ in 0..LOOKS_MAX {
            if !promised::is_left(node, to.port())? {
                return Ok(());
            }
            if promised::program_accepts(to.port()) {
                return promised::hand_on(node, to);
            }
            if let Some(other) = find(to).await {
                if let Some(listener) = promised::take(node, to.port())? {
                    hand_on(listener, other, to).await;
                }
                return Ok(());
            }
            sleep(LOOK).await;
        }
        Ok::<(), io::Error>(())
    };
    drop(spawn(watcher));
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
pub(super) fn listens_here(to: SocketAddr) -> Option<bool> {
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
    while let Ok((here, _)) = listener.accept().await {
        let (send, theirs) = pipe();
        let (their_send, ours) = pipe();
        let asked = other.spawn(async move {
            let site = Location::caller();
            if let Ok(there) = open(to, Origin::default(), site).await {
                carry(there, their_send, theirs).await;
            }
        });
        if asked {
            drop(spawn(carry(here, send, ours)));
        }
    }
}

/// Sends on what the stream receives, and the reverse, until both are over.
pub(super) async fn carry(stream: TcpStream, mut outgoing: Sender, mut incoming: Receiver) {
    let leaving = Leaving::of(&stream);
    let (mut read, mut write) = stream.into_split();
    let reading = spawn(async move {
        let mut bytes = vec![0; 8 * 1024];
        loop {
            let got = poll_fn(|cx| Pin::new(&mut read).poll_read(cx, &mut bytes)).await;
            leaving.sends.store(true, Relaxed);
            match got {
                Ok(count) if count > 0 && outgoing.send(&bytes[..count]).await => {}
                _ => break,
            }
            leaving.sends.store(false, Relaxed);
        }
        drop(outgoing);
        leaving.is_over();
    });
    let mut bytes = vec![0; 8 * 1024];
    loop {
        let count = incoming.recv(&mut bytes).await;
        let mut left = &bytes[..count];
        while !left.is_empty() {
            match poll_fn(|cx| Pin::new(&mut write).poll_write(cx, left)).await {
                Ok(written) => left = &left[written..],
                Err(_) => return,
            }
        }
        if count == 0 {
            break;
        }
    }
    let _ = poll_fn(|cx| Pin::new(&mut write).poll_close(cx)).await;
    let _ = reading.await;
}

/// What one end of a connection is told is carried on to another world.
#[derive(Clone)]
pub(crate) struct Leaving {
    conn: Weak<Conn>,
    id: SideId,
    /// It was told something, which is not sent yet.
    sends: Arc<AtomicBool>,
}

impl Leaving {
    fn of(stream: &TcpStream) -> Leaving {
        let end = stream.end();
        let leaving = Leaving {
            conn: Arc::downgrade(&end.conn),
            id: end.id,
            sends: Arc::default(),
        };
        if let Ok(hosts) = hosts() {
            let one = leaving.clone();
            hosts.state.with(|state| state.leaving.push(one));
        }
        leaving
    }

    /// Whether it is being carried on, or will be.
    pub(crate) fn goes_on(&self) -> bool {
        let has_news = |conn: Arc<Conn>| conn.state.with(|state| state.has_news_for(self.id));
        self.sends.load(Relaxed) || self.conn.upgrade().is_some_and(has_news)
    }

    fn is_over(&self) {
        if let Ok(hosts) = hosts() {
            let others = |one: &Leaving| !Arc::ptr_eq(&one.sends, &self.sends);
            hosts.state.with(|state| state.leaving.retain(others));
        }
    }
}

/// Bytes on their way between two threads.
#[derive(Default)]
struct Way {
    bytes: VecDeque<u8>,
    over: bool,
    sender: Option<Waker>,
    receiver: Option<Waker>,
}

pub(super) struct Sender(Arc<Mutex<Way>>);

pub(super) struct Receiver(Arc<Mutex<Way>>);

pub(super) fn pipe() -> (Sender, Receiver) {
    let way = Arc::new(Mutex::new(Way::default()));
    (Sender(way.clone()), Receiver(way))
}

fn lock(way: &Mutex<Way>) -> MutexGuard<'_, Way> {
    way.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Nothing is sent or received any more, but for what is on its way.
fn end(way: &Mutex<Way>) {
    let wakers = {
        let mut way = lock(way);
        way.over = true;
        [way.sender.take(), way.receiver.take()]
    };
    wakers.into_iter().flatten().for_each(Waker::wake);
}

impl Sender {
    /// Returns whether anybody is there to receive them.
    pub(super) async fn send(&mut self, mut bytes: &[u8]) -> bool {
        poll_fn(|cx| self.poll_send(cx, &mut bytes)).await
    }

    fn poll_send(&self, cx: &Context<'_>, bytes: &mut &[u8]) -> Poll<bool> {
        let mut way = lock(&self.0);
        if way.over {
            return Poll::Ready(false);
        }
        let count = bytes.len().min(ROOM - way.bytes.len());
        let (now, later) = bytes.split_at(count);
        way.bytes.extend(now);
        *bytes = later;
        let is_all = later.is_empty();
        if !is_all {
            way.sender = Some(cx.waker().clone());
        }
        let receiver = way.receiver.take();
        drop(way);
        receiver.into_iter().for_each(Waker::wake);
        if is_all {
            Poll::Ready(true)
        } else {
            Poll::Pending
        }
    }
}

impl Receiver {
    /// How many came; 0 at the end.
    pub(super) async fn recv(&mut self, into: &mut [u8]) -> usize {
        poll_fn(|cx| self.poll_recv(cx, into)).await
    }

    fn poll_recv(&self, cx: &Context<'_>, into: &mut [u8]) -> Poll<usize> {
        let mut way = lock(&self.0);
        let count = into.len().min(way.bytes.len());
        if count == 0 && !way.over {
            way.receiver = Some(cx.waker().clone());
            return Poll::Pending;
        }
        for (to, byte) in into.iter_mut().zip(way.bytes.drain(..count)) {
            *to = byte;
        }
        let sender = way.sender.take();
        drop(way);
        sender.into_iter().for_each(Waker::wake);
        Poll::Ready(count)
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        end(&self.0);
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        end(&self.0);
    }
}
