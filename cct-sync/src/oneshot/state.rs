//! What both halves share, and the two events that end a channel.

use cct_executor::shim::{Resource, Shared, Waiter};
use std::fmt;
use std::panic::Location;

pub(super) struct Inner<T> {
    pub(super) resource: Resource,
    /// Where the channel was made; stands for the place of a drop, which has none.
    pub(super) site: &'static Location<'static>,
    pub(super) state: Shared<State<T>>,
}

pub(super) struct State<T> {
    pub(super) value: Option<T>,
    /// The sender sent or was dropped before the receiver closed.
    pub(super) complete: bool,
    /// The receiver closed or was dropped.
    pub(super) closed: bool,
    /// The sender, if it waits for the receiver to close.
    pub(super) sender: Option<Waiter>,
    /// The receiver, if it waits for the message.
    pub(super) receiver: Option<Waiter>,
}

impl<T> State<T> {
    #[inline]
    pub(super) fn digest(&self) -> u64 {
        u64::from(self.value.is_some())
            | u64::from(self.complete) << 1
            | u64::from(self.closed) << 2
    }

    /// Whether the receiver has nothing to wait for.
    #[inline]
    pub(super) fn has_ended(&self) -> bool {
        self.complete || self.closed
    }
}

impl<T> Inner<T> {
    /// The sender's last act: whether the receiver was woken. `Err` gives the value back when the receiver had closed.
    #[inline]
    pub(super) fn complete(&self, value: Option<T>) -> Result<bool, Option<T>> {
        let (receiver, digest) = self.state.with(|state| {
            if state.closed {
                return Err(value);
            }
            state.complete = true;
            state.value = value;
            Ok((state.receiver.take(), state.digest()))
        })?;
        self.resource.set_state(digest);
        let woken = receiver.is_some();
        if let Some(receiver) = receiver {
            receiver.wake();
        }
        Ok(woken)
    }

    /// The receiver wants no message. `drain` also takes one that is there. Returns whether the sender was woken, too.
    pub(super) fn close(&self, drain: bool) -> (Option<T>, bool) {
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
        let woken = sender.is_some();
        if let Some(sender) = sender {
            sender.wake();
        }
        (value, woken)
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
