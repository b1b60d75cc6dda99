//! Queues of futures that all wait for the same thing, inside the state of a channel.
//!
//! A node is a waiter, or `None` once it was let go.

use crate::waiters::{Key, WaitList, Wakes};
use cct_executor::shim::{Shared, Waiter};
use std::task::{Context, Poll};

/// Waiters that are let go together.
pub(crate) type Queue = WaitList<Option<Waiter>>;

impl Queue {
    /// Lets everybody go, in order of arrival.
    #[inline]
    pub(crate) fn let_go(&mut self, wakes: &mut Wakes) {
        while let Some(key) = self.first() {
            let waiter = self.node(key).take();
            self.unlink(key);
            self.owe(wakes, waiter);
        }
    }

    /// Lets the future wait on, or anew if it was let go; its node is `key`. If `waiter` is needed
    /// for that but empty, nothing happens, and the result is false. What comes out of the queue is
    /// in `waiter` afterwards.
    fn enter(
        &mut self,
        key: &mut Option<Key>,
        waiter: &mut Option<Waiter>,
        cx: &Context<'_>,
    ) -> bool {
        if let Some(current) = (*key).and_then(|key| self.node(key).as_ref()) {
            if current.will_wake(cx) {
                return true;
            }
        }
        if waiter.is_none() {
            return false;
        }
        match *key {
            Some(key) if self.node(key).is_some() => std::mem::swap(self.node(key), waiter),
            _ => {
                if let Some(key) = key.take() {
                    self.remove(key);
                }
                *key = Some(self.push(waiter.take()));
            }
        }
        true
    }
}

/// Lets everybody in a queue of the state in `cell` go, and wakes them.
pub(crate) fn let_go<S>(cell: &Shared<S>, queue: fn(&mut S) -> &mut Queue) {
    let mut wakes = Wakes::none();
    cell.with(|state| queue(state).let_go(&mut wakes));
    if let Some(spare) = wakes.wake() {
        cell.with(|state| queue(state).keep(spare));
    }
}

/// A future's place in a queue of the state in `cell`, left when this is dropped.
pub(crate) struct Place<'a, S> {
    cell: &'a Shared<S>,
    queue: fn(&mut S) -> &mut Queue,
    key: Option<Key>,
}

impl<'a, S> Place<'a, S> {
    #[inline]
    pub(crate) fn new(cell: &'a Shared<S>, queue: fn(&mut S) -> &mut Queue) -> Self {
        Place {
            cell,
            queue,
            key: None,
        }
    }

    /// Ready when `done` yields something; otherwise the task is woken when the queue is let go.
    #[inline]
    pub(crate) fn poll<R>(
        &mut self,
        cx: &Context<'_>,
        mut done: impl FnMut(&mut S) -> Option<R>,
    ) -> Poll<R> {
        // Made, and dropped when it replaced another, outside of the cell.
        let mut waiter = None;
        loop {
            let step = self.cell.with(|state| match done(state) {
                Some(result) => {
                    if let Some(key) = self.key.take() {
                        waiter = (self.queue)(state).remove(key);
                    }
                    Some(Poll::Ready(result))
                }
                None => (self.queue)(state)
                    .enter(&mut self.key, &mut waiter, cx)
                    .then_some(Poll::Pending),
            });
            match step {
                Some(poll) => return poll,
                None => waiter = Some(Waiter::from_context(cx)),
            }
        }
    }
}

impl<S> Drop for Place<'_, S> {
    #[inline]
    fn drop(&mut self) {
        if let Some(key) = self.key {
            let waiter = self.cell.with(|state| (self.queue)(state).remove(key));
            drop(waiter);
        }
    }
}
