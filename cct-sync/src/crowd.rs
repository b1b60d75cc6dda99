//! Futures that all wait for the same thing: what `Barrier` and `SetOnce` wait on.

use crate::waiters::{Key, WaitList, Wakes};
use cct_executor::shim::{Shared, Waiter};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::task::{Context, Poll};

/// Waiters that are woken together.
pub(crate) struct Crowd {
    list: Shared<WaitList<Option<Waiter>>>,
}

// As for `std::sync::Mutex`: nothing half done is left behind by a panic.
impl UnwindSafe for Crowd {}
impl RefUnwindSafe for Crowd {}

impl Crowd {
    pub(crate) fn new() -> Self {
        Crowd {
            list: Shared::new(WaitList::new()),
        }
    }

    pub(crate) const fn const_new() -> Self {
        Crowd {
            list: Shared::const_new(WaitList::new()),
        }
    }

    /// A place for one waiting future.
    pub(crate) fn place(&self) -> Place<'_> {
        Place {
            crowd: self,
            key: None,
        }
    }

    /// Does `what` while nobody comes or goes, then lets everybody leave if it says so. Returns
    /// the wake-ups owed, in order of arrival.
    pub(crate) fn release<R>(&self, what: impl FnOnce() -> Result<R, R>) -> (R, Wakes) {
        let mut wakes = Wakes::none();
        let result = self.list.with(|list| match what() {
            Ok(result) => {
                while let Some(key) = list.first() {
                    let waiter = list.node(key).take();
                    list.unlink(key);
                    list.owe(&mut wakes, waiter);
                }
                result
            }
            Err(result) => result,
        });
        (result, wakes)
    }

    /// Wakes those that were let go.
    pub(crate) fn wake(&self, mut wakes: Wakes) {
        if let Some(spare) = wakes.wake() {
            self.list.with(|list| list.keep(spare));
        }
    }
}

/// A future's place in the crowd, left when this is dropped.
pub(crate) struct Place<'a> {
    crowd: &'a Crowd,
    key: Option<Key>,
}

impl Place<'_> {
    /// Ready when `done` says so; otherwise the task is woken with the crowd.
    pub(crate) fn poll(&mut self, cx: &Context<'_>, done: impl Fn() -> bool) -> Poll<()> {
        // Made, and dropped when it replaced another, outside of the cell.
        let mut waiter = None;
        loop {
            let step = self.crowd.list.with(|list| {
                if done() {
                    if let Some(key) = self.key.take() {
                        waiter = list.remove(key);
                    }
                    return Some(Poll::Ready(()));
                }
                if let Some(key) = self.key {
                    if list
                        .node(key)
                        .as_ref()
                        .is_some_and(|current| current.will_wake(cx))
                    {
                        return Some(Poll::Pending);
                    }
                }
                waiter.as_ref()?;
                match self.key {
                    Some(key) if list.is_queued(key) => {
                        std::mem::swap(list.node(key), &mut waiter);
                    }
                    // Let go with others but not done itself: to the end of the queue.
                    key => {
                        if let Some(key) = key {
                            // Its waiter was taken when it was let go.
                            list.remove(key);
                        }
                        self.key = Some(list.push(waiter.take()));
                    }
                }
                Some(Poll::Pending)
            });
            match step {
                Some(poll) => return poll,
                None => waiter = Some(Waiter::from_context(cx)),
            }
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            let waiter = self.crowd.list.with(|list| list.remove(key));
            drop(waiter);
        }
    }
}
