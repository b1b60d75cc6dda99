//! The half that receives.

use super::error::{RecvError, TryRecvError};
use super::state::Inner;
use cct_executor::shim::{Access, Looks, OpKind, Waiter, block_on};
use cct_executor::task::coop;
use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// Receives the message, by waiting for it as a future. Made by [`channel`](super::channel).
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
    pub(super) inner: Option<Arc<Inner<T>>>,
    /// The last poll returned `Pending`, so that the next one goes on with its operation.
    pub(super) looks: Looks,
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
            if let (_, true) = inner.close(false) {
                inner.resource.resume_point(Location::caller());
            }
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
        let look = (OpKind::Recv, Access::Write);
        ready!(inner.resource.look_point(&mut this.looks, look, site));
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
                    if value.is_none() {
                        inner.resource.outcome(|| "closed".to_owned());
                    }
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
            inner.resource.gave_up(OpKind::Recv, inner.site);
            let (message, woken) = inner.close(true);
            drop(message);
            if woken {
                inner.resource.resume_point(inner.site);
            }
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
