//! The half that sends.

use super::state::Inner;
use cct_executor::shim::{Access, Looks, OpKind, Waiter};
use cct_executor::task::coop;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

const HAS_SENT: &str = "cct bug: a oneshot sender that has sent";

/// Sends the message. Made by [`channel`](super::channel).
pub struct Sender<T> {
    /// `None` once the message was sent.
    pub(super) inner: Option<Arc<Inner<T>>>,
    /// The last poll returned `Pending`, so that the next one goes on with its operation.
    pub(super) looks: Looks,
}

/// A call of [`Sender::closed`], which may be given up while it waits.
struct ClosedCall<'a, T> {
    sender: &'a mut Sender<T>,
    site: &'static Location<'static>,
}

impl<T> Drop for ClosedCall<'_, T> {
    fn drop(&mut self) {
        if self.sender.looks.have_begun() {
            let resource = &self.sender.inner().resource;
            resource.gave_up(OpKind::Closed, self.site);
        }
    }
}

impl<T> Sender<T> {
    fn inner(&self) -> &Inner<T> {
        self.inner.as_ref().expect(HAS_SENT)
    }

    /// Sends the message. Never waits.
    ///
    /// # Scheduling points
    /// One before sending, at granularity `sync`, and one after it at `spawn` if somebody was woken.
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
            Err(Some(value)) => {
                inner.resource.outcome(|| "nobody receives".to_owned());
                Err(value)
            }
            Ok(true) => {
                inner.resource.resume_point(Location::caller());
                Ok(())
            }
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
            self.looks = Looks::new();
            let call = ClosedCall { sender: self, site };
            std::future::poll_fn(|cx| call.sender.poll_closed_at(cx, site)).await;
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
    /// One before looking, unless the last call returned `Pending` in an earlier poll of the task.
    #[track_caller]
    pub fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.poll_closed_at(cx, Location::caller())
    }

    fn poll_closed_at(
        &mut self,
        cx: &mut Context<'_>,
        site: &'static Location<'static>,
    ) -> Poll<()> {
        // Not by `inner`, which borrows all of it.
        let inner = self.inner.as_ref().expect(HAS_SENT);
        let look = (OpKind::Closed, Access::Read);
        ready!(inner.resource.look_point(&mut self.looks, look, site));
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
            inner.resource.blocked(OpKind::Closed, site);
        }
        if closed {
            self.looks = Looks::new();
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
            if let Ok(true) = inner.complete(None) {
                inner.resource.resume_point(inner.site);
            }
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
