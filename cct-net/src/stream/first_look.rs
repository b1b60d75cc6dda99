//! The runtime's first look at a new socket, between two polls: before, tasks do not know that it can be
//! written to.

use super::waiters::{Wait, Waiters, Wakes};
use crate::io::{Interest, Ready};
use cct_executor::shim::{self, Shared};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

/// Whether it was looked at, and who waits for that.
#[derive(Default)]
pub(crate) struct FirstLook(Shared<(bool, Waiters)>);

impl FirstLook {
    /// The runtime looks once the poll that is going on is over.
    pub(crate) fn new() -> Arc<FirstLook> {
        let look = Arc::new(FirstLook::default());
        shim::after_poll(&Waker::from(look.clone()));
        look
    }

    /// Ready once it was looked at; calls `blocked` right before it waits.
    pub(crate) fn poll(
        &self,
        cx: &mut Context<'_>,
        wait: Wait<'_>,
        blocked: impl FnOnce(),
    ) -> Poll<()> {
        let over = self.0.with(|(over, waiters)| {
            if !*over {
                waiters.register(cx, Interest::WRITABLE, wait);
            }
            *over
        });
        if over {
            return Poll::Ready(());
        }
        blocked();
        Poll::Pending
    }
}

impl Wake for FirstLook {
    fn wake(self: Arc<Self>) {
        let mut wakes = Wakes::default();
        self.0.with(|(over, waiters)| {
            *over = true;
            waiters.move_to(Ready::WRITABLE, &mut wakes);
        });
        wakes.wake();
    }
}
