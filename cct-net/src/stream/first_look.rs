//! The runtime's first look at a new socket, between two polls: before, tasks do not know that it can be
//! written to.

use super::conn::Conn;
use super::ops::End;
use super::state::SideId;
use super::waiters::{Wait, Waiters, Wakes};
use crate::io::{Interest, Ready};
use cct_executor::shim::{self, Shared};
use std::sync::{Arc, Weak};
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

/// The same for the end of a connection that came back from the standard library.
struct Anew(Weak<Conn>, SideId);

impl End {
    /// The runtime learns of the end only now, however long it was there.
    pub(crate) fn look_anew(&self) {
        self.conn.run(|state, _| state.forget(self.id));
        let anew = Anew(Arc::downgrade(&self.conn), self.id);
        shim::after_poll(&Waker::from(Arc::new(anew)));
    }
}

impl Wake for Anew {
    fn wake(self: Arc<Self>) {
        if let Some(conn) = self.0.upgrade() {
            conn.run(|state, fx| state.event(self.1, fx));
        }
    }
}
