//! Which tasks of a set have ended, in the order in which they did.

use crate::raw::shared::Shared;
use crate::shim::Waiter;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

/// Shared by a set and the wakers of its tasks.
#[derive(Clone, Default)]
pub(super) struct Ended(Arc<Shared<State>>);

#[derive(Default)]
struct State {
    queue: VecDeque<u64>,
    idle: BTreeSet<u64>,
    waiter: Option<Waiter>,
}

impl State {
    fn pop(&mut self) -> Option<u64> {
        let number = self.queue.pop_front()?;
        self.idle.insert(number);
        Some(number)
    }
}

/// The waker of one task of a set.
struct Member {
    number: u64,
    ended: Ended,
}

impl Wake for Member {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let waiter = self.ended.0.with(|state| {
            if !state.idle.remove(&self.number) {
                return None;
            }
            state.queue.push_back(self.number);
            state.waiter.take()
        });
        if let Some(waiter) = waiter {
            waiter.wake();
        }
    }
}

impl Ended {
    /// A new task is idle.
    pub(super) fn insert(&self, number: u64) {
        self.0.with(|state| state.idle.insert(number));
    }

    /// What wakes the set on behalf of a task.
    pub(super) fn waker(&self, number: u64) -> Waker {
        Waker::from(Arc::new(Member {
            number,
            ended: self.clone(),
        }))
    }

    /// The task that ended first, as [`pop`](Self::pop), and whom to wake when the next one does. What
    /// the waker before does when it is dropped comes after this look.
    pub(super) fn pop_or_wait(&self, cx: &Context<'_>) -> Option<u64> {
        let waiter = Waiter::from_context(cx);
        let (old, number) = self.0.with(|state| {
            let old = state.waiter.replace(waiter);
            (old, state.pop())
        });
        drop(old);
        number
    }

    /// The task that ended first. It is idle from now on.
    pub(super) fn pop(&self) -> Option<u64> {
        self.0.with(State::pop)
    }

    /// A task was joined.
    pub(super) fn remove(&self, number: u64) {
        self.0.with(|state| {
            if !state.idle.remove(&number) {
                state.queue.retain(|&queued| queued != number);
            }
        });
    }

    /// Forgets all tasks.
    pub(super) fn clear(&self) {
        self.0.with(|state| {
            state.queue.clear();
            state.idle.clear();
        });
    }
}
