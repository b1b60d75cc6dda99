//! Channels for one message.
//!
//! tokio's `oneshot`. The [`Receiver`] is itself the future of the message.
//!
//! 1. The first of two events decides: the sender completes (sends, or is dropped), or the
//!    receiver closes. After the one the other has no effect.
//! 2. A message that was sent before the receiver closed can still be received.
//!
//! # Differences from tokio
//! None.

use cct_executor::shim::{Access, OpKind, Resource, ResourceKind, Shared, Waiter, block_on};
use cct_executor::task::coop;
use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use error::{RecvError, TryRecvError};

/// Errors of `oneshot` channels.
pub mod error {
    use std::error::Error;
    use std::fmt;

    /// The sender was dropped without sending, or the receiver had closed.
    #[derive(Debug, Eq, PartialEq, Clone)]
    pub struct RecvError(pub(super) ());

    impl fmt::Display for RecvError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("channel closed")
        }
    }

    impl Error for RecvError {}

    /// Why no message could be received at once.
    #[derive(Debug, Eq, PartialEq, Clone)]
    pub enum TryRecvError {
        /// There is no message now, but one may come.
        Empty,
        /// There is no message, and none will come.
        Closed,
    }

    impl fmt::Display for TryRecvError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(match self {
                TryRecvError::Empty => "channel empty",
                TryRecvError::Closed => "channel closed",
            })
        }
    }

    impl Error for TryRecvError {}
}

/// Makes a channel for one message.
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let inner = Arc::new(Inner {
        resource: Resource::new(ResourceKind::Oneshot),
        site: Location::caller(),
        state: Shared::new(State {
            value: None,
            complete: false,
            closed: false,
            sender: None,
            receiver: None,
        }),
    });
    let sender = Sender {
        inner: Some(inner.clone()),
        waiting: false,
    };
    (
        sender,
        Receiver {
            inner: Some(inner),
            waiting: false,
        },
    )
}

struct Inner<T> {
    resource: Resource,
    /// Where the channel was made; stands for the place of a drop, which has none.
    site: &'static Location<'static>,
    state: Shared<State<T>>,
}

struct State<T> {
    value: Option<T>,
    /// The sender sent or was dropped before the receiver closed.
    complete: bool,
    /// The receiver closed or was dropped.
    closed: bool,
    /// The sender, if it waits for the receiver to close.
    sender: Option<Waiter>,
    /// The receiver, if it waits for the message.
    receiver: Option<Waiter>,
}

impl<T> State<T> {
    #[inline]
    fn digest(&self) -> u64 {
        u64::from(self.value.is_some())
            | u64::from(self.complete) << 1
            | u64::from(self.closed) << 2
    }
}

impl<T> Inner<T> {
    /// The sender's last act. `Err` gives the value back when the receiver had closed.
    #[inline]
    fn complete(&self, value: Option<T>) -> Result<(), Option<T>> {
        let (receiver, digest) = self.state.with(|state| {
            if state.closed {
                return Err(value);
            }
            state.complete = true;
            state.value = value;
            Ok((state.receiver.take(), state.digest()))
        })?;
        self.resource.set_state(digest);
        if let Some(receiver) = receiver {
            receiver.wake();
        }
        Ok(())
    }

    /// The receiver wants no message. `drain` also takes one that is there.
    fn close(&self, drain: bool) -> Option<T> {
        let (value, sender, receiver, digest) = self.state.with(|state| {
            state.closed = true;
            let value = if drain { state.value.take() } else { None };
            let (sender, receiver) = match state.complete {
                true => (None, None),
                // As in tokio, the sender is woken again when the receiver is dropped later.
                false => (state.sender.clone(), state.receiver.take()),
            };
            (value, sender, receiver, state.digest())
        });
        drop(receiver);
        self.resource.set_state(digest);
        if let Some(sender) = sender {
            sender.wake();
        }
        value
    }
}

impl<T> fmt::Debug for Inner<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (complete, closed) = self.state.with(|state| (state.complete, state.closed));
        f.debug_struct("Inner")
            .field("is_complete", &complete)
            .field("is_closed", &closed)
            .finish_non_exhaustive()
    }
}

/// Sends the message. Made by [`channel`].
pub struct Sender<T> {
    /// `None` once the message was sent.
    inner: Option<Arc<Inner<T>>>,
    /// The last poll returned `Pending`, so that the next one goes on with its operation.
    waiting: bool,
}

impl<T> Sender<T> {
    fn inner(&self) -> &Inner<T> {
        self.inner
            .as_ref()
            .expect("cct bug: a oneshot sender that has sent")
    }

    /// Sends the message. Never waits.
    ///
    /// # Scheduling points
    /// One before sending, at granularity `sync`.
    ///
    /// # Errors
    /// When the receiver was closed or dropped; gives the message back.
    #[inline]
    #[track_caller]
    pub fn send(mut self, t: T) -> Result<(), T> {
        let Some(inner) = self.inner.take() else {
            return Err(t);
        };
        inner
            .resource
            .sync_point(OpKind::Send, Access::Write, Location::caller());
        match inner.complete(Some(t)) {
            Err(Some(value)) => Err(value),
            _ => Ok(()),
        }
    }

    /// Waits until the receiver is closed or dropped.
    ///
    /// # Scheduling points
    /// One before looking.
    ///
    /// # Cancel safety
    /// Safe: nothing is lost.
    #[track_caller]
    pub fn closed(&mut self) -> impl Future<Output = ()> + use<'_, T> {
        let site = Location::caller();
        async move {
            self.waiting = false;
            std::future::poll_fn(|cx| self.poll_closed_at(cx, site)).await;
        }
    }

    /// Whether the receiver was closed or dropped.
    ///
    /// # Scheduling points
    /// One before looking, at granularity `sync`.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        let inner = self.inner();
        inner
            .resource
            .sync_point(OpKind::Get, Access::Read, Location::caller());
        inner.state.with(|state| state.closed)
    }

    /// As [`closed`](Self::closed), for hand-written polls. Only the waker of the last call is
    /// woken.
    ///
    /// # Scheduling points
    /// One before looking, unless the last call returned `Pending`.
    #[track_caller]
    pub fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.poll_closed_at(cx, Location::caller())
    }

    fn poll_closed_at(
        &mut self,
        cx: &mut Context<'_>,
        site: &'static Location<'static>,
    ) -> Poll<()> {
        if !self.waiting {
            ready!(
                self.inner()
                    .resource
                    .point(OpKind::Close, Access::Read, site)
            );
            self.waiting = true;
        }
        let inner = self.inner();
        let coop = ready!(coop::poll_proceed(cx));
        // Made, and dropped when it was not used or replaced another, outside of the cell.
        let mut waiter = Some(Waiter::from_context(cx));
        let closed = inner.state.with(|state| {
            if !state.closed {
                std::mem::swap(&mut state.sender, &mut waiter);
            }
            state.closed
        });
        if closed {
            coop.made_progress();
        } else {
            inner.resource.blocked(OpKind::Close, site);
        }
        self.waiting = !closed;
        if closed {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if let Some(inner) = &self.inner {
            inner
                .resource
                .sync_point(OpKind::Drop, Access::Write, inner.site);
            // When the receiver has closed there is nothing to tell.
            let _ = inner.complete(None);
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("inner", &self.inner)
            .finish()
    }
}

/// Receives the message, by waiting for it as a future. Made by [`channel`].
///
/// # Scheduling points
/// One in the first poll.
///
/// # Cancel safety
/// Polling `&mut receiver` is safe to give up: the message stays.
///
/// # Panics
/// When polled after it was ready.
pub struct Receiver<T> {
    /// `None` once the message, or the news that there is none, was received.
    inner: Option<Arc<Inner<T>>>,
    /// The last poll returned `Pending`, so that the next one goes on with its operation.
    waiting: bool,
}

impl<T> Receiver<T> {
    /// Refuses a message that was not sent yet; one that was can still be received.
    ///
    /// # Scheduling points
    /// One before closing, at granularity `sync`.
    #[track_caller]
    pub fn close(&mut self) {
        if let Some(inner) = &self.inner {
            inner
                .resource
                .sync_point(OpKind::Close, Access::Write, Location::caller());
            inner.close(false);
        }
    }

    /// Whether the receiver has yielded its result.
    pub fn is_terminated(&self) -> bool {
        self.inner.is_none()
    }

    /// Whether there is no message to receive.
    ///
    /// # Scheduling points
    /// One before looking, at granularity `sync`.
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        let Some(inner) = &self.inner else {
            return true;
        };
        inner
            .resource
            .sync_point(OpKind::Get, Access::Read, Location::caller());
        inner.state.with(|state| state.value.is_none())
    }

    /// Receives the message if it is there.
    ///
    /// # Scheduling points
    /// One before looking, at granularity `sync`.
    ///
    /// # Errors
    /// When it is not there yet, or will not come.
    #[track_caller]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let Some(inner) = &self.inner else {
            return Err(TryRecvError::Closed);
        };
        inner
            .resource
            .sync_point(OpKind::TryRecv, Access::Write, Location::caller());
        let (ended, value, digest) = inner
            .state
            .with(|state| (state.has_ended(), state.value.take(), state.digest()));
        if !ended {
            return Err(TryRecvError::Empty);
        }
        inner.resource.set_state(digest);
        self.inner = None;
        value.ok_or(TryRecvError::Closed)
    }

    /// Waits for the message, from code that may block.
    ///
    /// # Panics
    /// In an asynchronous task.
    ///
    /// # Errors
    /// When the sender was dropped without sending, or the receiver had closed.
    #[track_caller]
    pub fn blocking_recv(self) -> Result<T, RecvError> {
        block_on(self)
    }
}

impl<T> State<T> {
    /// Whether the receiver has nothing to wait for.
    #[inline]
    fn has_ended(&self) -> bool {
        self.complete || self.closed
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, RecvError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let Some(inner) = &this.inner else {
            panic!("called after complete")
        };
        // An `await` has no place of its own that could be asked for.
        let site = inner.site;
        if !this.waiting {
            ready!(inner.resource.point(OpKind::Recv, Access::Write, site));
            this.waiting = true;
        }
        let coop = ready!(coop::poll_proceed(cx));
        // Made, and dropped when it replaced another, outside of the cell.
        let mut waiter = None;
        loop {
            let result = inner.state.with(|state| {
                if state.has_ended() {
                    return Some(Ok((state.value.take(), state.digest())));
                }
                if !state
                    .receiver
                    .as_ref()
                    .is_some_and(|current| current.will_wake(cx))
                {
                    waiter.as_ref()?;
                    std::mem::swap(&mut state.receiver, &mut waiter);
                }
                Some(Err(()))
            });
            match result {
                None => waiter = Some(Waiter::from_context(cx)),
                Some(Err(())) => {
                    inner.resource.blocked(OpKind::Recv, site);
                    return Poll::Pending;
                }
                Some(Ok((value, digest))) => {
                    inner.resource.set_state(digest);
                    coop.made_progress();
                    this.inner = None;
                    return Poll::Ready(value.ok_or(RecvError(())));
                }
            }
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if let Some(inner) = &self.inner {
            inner
                .resource
                .sync_point(OpKind::Drop, Access::Write, inner.site);
            let message = inner.close(true);
            drop(message);
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("inner", &self.inner)
            .finish()
    }
}
