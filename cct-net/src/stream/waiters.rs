//! Who waits for one direction of a socket.

use cct_executor::shim::Waiter;
use cct_executor::task::coop::{RestoreOnPending, poll_proceed};
use std::task::{Context, Poll};

/// Tasks to wake: the last one that polled, as tokio has it for `poll_*` methods, and all whose
/// futures wait.
#[derive(Default)]
pub(crate) struct Waiters {
    polled: Option<Waiter>,
    futures: Vec<Waiter>,
}

/// How an operation waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wait {
    /// A `poll_*` method: it takes the place of whoever polled before.
    Poll,
    /// A future of an `async` method: there may be many.
    Future,
}

impl Wait {
    /// Spends budget for a look at what a socket is ready for. As in tokio, `poll_*` methods do,
    /// and futures do not.
    pub(crate) fn spend(self, cx: &mut Context<'_>) -> Poll<Option<RestoreOnPending>> {
        match self {
            Wait::Poll => poll_proceed(cx).map(Some),
            Wait::Future => Poll::Ready(None),
        }
    }
}

impl Waiters {
    pub(crate) fn register(&mut self, cx: &Context<'_>, wait: Wait) {
        match wait {
            Wait::Poll => {
                if !self.polled.as_ref().is_some_and(|w| w.will_wake(cx)) {
                    self.polled = Some(Waiter::from_context(cx));
                }
            }
            Wait::Future => {
                if !self.futures.iter().any(|waiter| waiter.will_wake(cx)) {
                    self.futures.push(Waiter::from_context(cx));
                }
            }
        }
    }

    /// Moves all of them to `to`.
    pub(crate) fn move_to(&mut self, to: &mut Waiters) {
        match self.polled.take() {
            Some(waiter) if to.polled.is_none() => to.polled = Some(waiter),
            Some(waiter) => to.futures.push(waiter),
            None => {}
        }
        to.futures.append(&mut self.futures);
    }

    /// Wakes all, in the order in which they came.
    #[inline]
    pub(crate) fn wake(self) {
        if let Some(waiter) = self.polled {
            waiter.wake();
        }
        if !self.futures.is_empty() {
            self.futures.into_iter().for_each(Waiter::wake);
        }
    }
}
