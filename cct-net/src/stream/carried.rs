//! Streams that are carried on to somewhere else: to another world, or to the kernel.
//!
//! What is sent goes by pipes, whose ends are in two threads.

use super::conn::Conn;
use super::listening::Listening;
use super::ops::End;
use super::state::SideId;
use crate::host::hosts;
use cct_executor::shim::spawn_on_world;
use futures_io::{AsyncRead, AsyncWrite};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

/// How much is on its way at most.
const ROOM: usize = 64 * 1024;

/// A stream that can be.
pub(crate) trait Carried {
    type Read: AsyncRead + Unpin + Send + 'static;
    type Write: AsyncWrite + Unpin + Send;

    fn end(&self) -> &End;
    fn halves(self) -> (Self::Read, Self::Write);
}

/// Sends on what the stream receives, and the reverse, until both are over. What it has received by now counts as
/// on its way, also where nobody has polled this yet.
pub(crate) fn carry(
    stream: impl Carried,
    outgoing: Sender,
    incoming: Receiver,
) -> impl Future<Output = ()> {
    let leaves = Leaves::new(By::Conn(
        Arc::downgrade(&stream.end().conn),
        stream.end().id,
    ));
    both_ways(stream, outgoing, incoming, leaves)
}

async fn both_ways(
    stream: impl Carried,
    mut outgoing: Sender,
    mut incoming: Receiver,
    leaves: Leaves,
) {
    let (mut read, mut write) = stream.halves();
    let reading = spawn_on_world(async move {
        let mut bytes = vec![0; 8 * 1024];
        loop {
            let got = poll_fn(|cx| Pin::new(&mut read).poll_read(cx, &mut bytes)).await;
            leaves.0.sends.store(true, Relaxed);
            match got {
                Ok(count) if count > 0 && outgoing.send(&bytes[..count]).await => {}
                _ => break,
            }
            leaves.0.sends.store(false, Relaxed);
        }
        drop(outgoing);
        drop(leaves);
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

/// By what something leaves for another world.
#[derive(Clone)]
enum By {
    /// What one end of a connection is told is carried on.
    Conn(Weak<Conn>, SideId),
    /// Who is in the queue of a listener is handed on.
    Queue(Weak<Listening>),
}

/// What is carried on to another world.
#[derive(Clone)]
pub(crate) struct Leaving {
    by: By,
    /// It was told something, which is not sent yet.
    sends: Arc<AtomicBool>,
}

impl Leaving {
    /// Whether anything is on its way, or will be.
    pub(crate) fn goes_on(&self) -> bool {
        self.sends.load(Relaxed)
            || match &self.by {
                By::Conn(conn, id) => {
                    let has_news =
                        |conn: Arc<Conn>| conn.state.with(|state| state.has_news_for(*id));
                    conn.upgrade().is_some_and(has_news)
                }
                By::Queue(listening) => listening
                    .upgrade()
                    .is_some_and(|listening| listening.has_queue()),
            }
    }
}

/// The world knows what leaves it, until this is dropped.
pub(crate) struct Leaves(Leaving);

impl Leaves {
    /// Whoever connects to this listener.
    pub(crate) fn by_queue(listening: &Arc<Listening>) -> Leaves {
        Leaves::new(By::Queue(Arc::downgrade(listening)))
    }

    fn new(by: By) -> Leaves {
        let leaving = Leaving {
            by,
            sends: Arc::default(),
        };
        if let Ok(hosts) = hosts() {
            let one = leaving.clone();
            hosts.state.with(|state| state.leaving.push(one));
        }
        Leaves(leaving)
    }
}

impl Drop for Leaves {
    fn drop(&mut self) {
        if let Ok(hosts) = hosts() {
            let others = |one: &Leaving| !Arc::ptr_eq(&one.sends, &self.0.sends);
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

pub(crate) struct Sender(Arc<Mutex<Way>>);

pub(crate) struct Receiver(Arc<Mutex<Way>>);

pub(crate) fn pipe() -> (Sender, Receiver) {
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
    pub(crate) async fn send(&mut self, mut bytes: &[u8]) -> bool {
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
    pub(crate) async fn recv(&mut self, into: &mut [u8]) -> usize {
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
