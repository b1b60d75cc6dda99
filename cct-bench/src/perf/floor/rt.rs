//! What the workloads need: `Rc`, cells, and no checks beyond what keeps it sound on one thread.

use super::exec;
use std::cell::{Cell, RefCell, UnsafeCell};
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

pub(crate) use std::rc::Rc as Shared;

// ---- tasks

struct Slot<T> {
    value: Cell<Option<T>>,
    joiner: Cell<Option<Waker>>,
}

pub(crate) struct Join<T>(Rc<Slot<T>>);

pub(crate) fn spawn<F>(f: F) -> Join<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let slot = Rc::new(Slot {
        value: Cell::new(None),
        joiner: Cell::new(None),
    });
    let theirs = slot.clone();
    exec::spawn_raw(Box::pin(async move {
        theirs.value.set(Some(f.await));
        if let Some(w) = theirs.joiner.take() {
            w.wake();
        }
    }));
    Join(slot)
}

pub(crate) async fn join<T>(h: Join<T>) -> T {
    poll_fn(|cx| match h.0.value.take() {
        Some(v) => Poll::Ready(v),
        None => {
            h.0.joiner.set(Some(cx.waker().clone()));
            Poll::Pending
        }
    })
    .await
}

/// Written out: an `async fn` around `poll_fn` costs about twice the instructions.
pub(crate) struct Yield(bool);

pub(crate) fn yield_now() -> Yield {
    Yield(false)
}

impl Future for Yield {
    type Output = ();
    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

pub(crate) async fn sleep_ms(ms: u64) {
    let at = exec::now() + ms;
    let mut set = false;
    poll_fn(|cx| {
        if exec::now() >= at {
            return Poll::Ready(());
        }
        if !set {
            set = true;
            exec::add_timer(at, cx.waker().clone());
        }
        Poll::Pending
    })
    .await
}

// ---- mutex

pub(crate) struct Mutex {
    locked: Cell<bool>,
    waiting: RefCell<VecDeque<Waker>>,
    value: UnsafeCell<u64>,
}

pub(crate) struct Guard<'a>(&'a Mutex);

impl Mutex {
    pub(crate) fn new(v: u64) -> Mutex {
        Mutex {
            locked: Cell::new(false),
            waiting: RefCell::new(VecDeque::new()),
            value: UnsafeCell::new(v),
        }
    }
}

pub(crate) async fn lock(m: &Mutex) -> Guard<'_> {
    poll_fn(|cx| {
        if !m.locked.replace(true) {
            return Poll::Ready(Guard(m));
        }
        m.waiting.borrow_mut().push_back(cx.waker().clone());
        Poll::Pending
    })
    .await
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.locked.set(false);
        let next = self.0.waiting.borrow_mut().pop_front();
        if let Some(w) = next {
            w.wake();
        }
    }
}
impl Deref for Guard<'_> {
    type Target = u64;
    fn deref(&self) -> &u64 {
        // SAFETY: one guard at a time (`locked`), one thread.
        unsafe { &*self.0.value.get() }
    }
}
impl DerefMut for Guard<'_> {
    fn deref_mut(&mut self) -> &mut u64 {
        // SAFETY: as above.
        unsafe { &mut *self.0.value.get() }
    }
}

// ---- channels

struct Chan {
    buf: RefCell<VecDeque<u64>>,
    cap: usize,
    senders: Cell<usize>,
    receiver: Cell<Option<Waker>>,
    blocked: RefCell<VecDeque<Waker>>,
}

pub(crate) struct Tx(Rc<Chan>);
pub(crate) struct Rx(Rc<Chan>);
pub(crate) type UnboundedTx = Tx;
pub(crate) type UnboundedRx = Rx;

pub(crate) fn channel(cap: usize) -> (Tx, Rx) {
    let c = Rc::new(Chan {
        buf: RefCell::new(VecDeque::new()),
        cap,
        senders: Cell::new(1),
        receiver: Cell::new(None),
        blocked: RefCell::new(VecDeque::new()),
    });
    (Tx(c.clone()), Rx(c))
}

pub(crate) fn unbounded() -> (UnboundedTx, UnboundedRx) {
    channel(usize::MAX)
}

impl Clone for Tx {
    fn clone(&self) -> Tx {
        self.0.senders.set(self.0.senders.get() + 1);
        Tx(self.0.clone())
    }
}
impl Drop for Tx {
    fn drop(&mut self) {
        self.0.senders.set(self.0.senders.get() - 1);
        if self.0.senders.get() > 0 {
            return;
        }
        if let Some(w) = self.0.receiver.take() {
            w.wake();
        }
    }
}

pub(crate) fn usend(tx: &UnboundedTx, v: u64) {
    tx.0.buf.borrow_mut().push_back(v);
    if let Some(w) = tx.0.receiver.take() {
        w.wake();
    }
}

pub(crate) async fn send(tx: &Tx, v: u64) {
    poll_fn(|cx| {
        if tx.0.buf.borrow().len() < tx.0.cap {
            usend(tx, v);
            return Poll::Ready(());
        }
        tx.0.blocked.borrow_mut().push_back(cx.waker().clone());
        Poll::Pending
    })
    .await
}

pub(crate) async fn recv(rx: &mut Rx) -> Option<u64> {
    poll_fn(|cx| {
        let v = rx.0.buf.borrow_mut().pop_front();
        if v.is_some() {
            let next = rx.0.blocked.borrow_mut().pop_front();
            if let Some(w) = next {
                w.wake();
            }
            return Poll::Ready(v);
        }
        if rx.0.senders.get() == 0 {
            return Poll::Ready(None);
        }
        rx.0.receiver.set(Some(cx.waker().clone()));
        Poll::Pending
    })
    .await
}

pub(crate) async fn urecv(rx: &mut UnboundedRx) -> Option<u64> {
    recv(rx).await
}

// ---- pipes

pub(crate) type Wire = tokio::io::DuplexStream;

/// Starts a server; returns the client's end of a pipe to it.
pub(crate) async fn server<F>(_: u64, serve: impl FnOnce(Wire) -> F) -> Wire
where
    F: Future<Output = ()> + 'static,
{
    let (here, there) = tokio::io::duplex(1024);
    drop(spawn(serve(there)));
    here
}

pub(crate) async fn read_exact(wire: &mut Wire, buf: &mut [u8]) -> bool {
    tokio::io::AsyncReadExt::read_exact(wire, buf).await.is_ok()
}

pub(crate) async fn write_all(wire: &mut Wire, buf: &[u8]) -> bool {
    tokio::io::AsyncWriteExt::write_all(wire, buf).await.is_ok()
}
