//! The senders' side.

use super::chan::{Chan, Version};
use super::error::SendError;
use super::receiver::Receiver;
use super::value::Ref;
use crate::queue::Place;
use cct_executor::shim::{Access, Looks, OpKind};
use cct_executor::task::coop;
use std::fmt;
use std::future::poll_fn;
use std::panic::Location;
use std::sync::Arc;
use std::task::ready;

/// Makes a channel that holds `init`, which counts as seen.
#[track_caller]
pub fn channel<T>(init: T) -> (Sender<T>, Receiver<T>) {
    let chan = Chan::new(init, 1);
    (
        Sender { chan: chan.clone() },
        Receiver::new(chan, Version::INITIAL),
    )
}

/// Changes the value. Made by [`channel`], [`Sender::new`] or by cloning.
pub struct Sender<T> {
    chan: Arc<Chan<T>>,
}

impl<T> Sender<T> {
    /// A sender without a receiver.
    #[track_caller]
    pub fn new(init: T) -> Self {
        Sender {
            chan: Chan::new(init, 0),
        }
    }

    /// Replaces the value and wakes those who wait for a new one.
    ///
    /// # Scheduling points
    /// One before looking for receivers, at granularity `sync`, and one after it at `spawn` if somebody was woken.
    ///
    /// # Errors
    /// When there is no receiver; the value stays as it was.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.chan
            .resource
            .sync_point(OpKind::Set, Access::Write, Location::caller());
        if self.chan.state.with(|state| state.receivers) == 0 {
            return Err(SendError(value));
        }
        let before = self.replace(value, Location::caller());
        drop(before);
        Ok(())
    }

    /// Changes the value in place and wakes those who wait for a new one, also without receivers.
    /// If `modify` panics, nobody is woken.
    ///
    /// # Scheduling points
    /// One before changing, at granularity `sync`, and one after it at `spawn` if somebody was woken.
    #[track_caller]
    pub fn send_modify<F>(&self, modify: F)
    where
        F: FnOnce(&mut T),
    {
        self.send_if_modified(|value| {
            modify(value);
            true
        });
    }

    /// As [`send_modify`](Self::send_modify), but it counts as a new value only when `modify`
    /// returns true. Returns what it returned.
    ///
    /// # Scheduling points
    /// One before changing, at granularity `sync`, and one after it at `spawn` if somebody was woken.
    #[track_caller]
    pub fn send_if_modified<F>(&self, modify: F) -> bool
    where
        F: FnOnce(&mut T) -> bool,
    {
        self.chan
            .resource
            .sync_point(OpKind::Set, Access::Write, Location::caller());
        self.chan.modify(modify, Location::caller())
    }

    /// Replaces the value, also without receivers; returns the one before.
    ///
    /// # Scheduling points
    /// One before replacing, at granularity `sync`, and one after it at `spawn` if somebody was woken.
    #[track_caller]
    pub fn send_replace(&self, value: T) -> T {
        self.chan
            .resource
            .sync_point(OpKind::Set, Access::Write, Location::caller());
        self.replace(value, Location::caller())
    }

    fn replace(&self, mut value: T, site: &'static Location<'static>) -> T {
        let swap = |current: &mut T| {
            std::mem::swap(current, &mut value);
            true
        };
        self.chan.modify(swap, site);
        value
    }

    /// Looks at the value.
    ///
    /// # Scheduling points
    /// One before looking, at granularity `sync`.
    #[track_caller]
    pub fn borrow(&self) -> Ref<'_, T> {
        let site = Location::caller();
        self.chan
            .resource
            .sync_point(OpKind::Get, Access::Read, site);
        Ref::new(
            self.chan.value.read(self.chan.call(OpKind::Get, site)),
            false,
        )
    }

    /// Whether there is no receiver.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.receiver_count() == 0
    }

    /// Waits until there is no receiver.
    ///
    /// # Scheduling points
    /// One before looking.
    ///
    /// # Cancel safety
    /// Safe: nothing is lost.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> + use<'_, T> {
        let site = Location::caller();
        async move {
            let chan = &*self.chan;
            let mut place = Place::new(&chan.state, |state| &mut state.closing);
            let mut waits = chan.resource.waits(OpKind::Closed, site);
            let mut looks = Looks::new();
            poll_fn(|cx| {
                let look = (OpKind::Closed, Access::Read);
                ready!(chan.resource.look_point(&mut looks, look, site));
                let coop = ready!(coop::poll_proceed(cx));
                let poll = place.poll(cx, |state| (state.receivers == 0).then_some(()));
                match poll.is_ready() {
                    true => coop.made_progress(),
                    false => waits.blocked(),
                }
                poll
            })
            .await
        }
    }

    /// A new receiver, for which the current value counts as seen.
    ///
    /// # Scheduling points
    /// One before looking at the version.
    #[track_caller]
    pub fn subscribe(&self) -> Receiver<T> {
        self.chan
            .resource
            .listen_point(OpKind::Get, Access::Write, Location::caller());
        let seen = self.chan.add_receiver();
        Receiver::new(self.chan.clone(), seen)
    }

    /// How many receivers there are.
    #[track_caller]
    pub fn receiver_count(&self) -> usize {
        self.chan.get(|state| state.receivers)
    }

    /// How many senders there are.
    #[track_caller]
    pub fn sender_count(&self) -> usize {
        self.chan.get(|state| state.senders)
    }

    /// Whether the two senders are of one channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.chan, &other.chan)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.chan.add_sender();
        Sender {
            chan: self.chan.clone(),
        }
    }
}

impl<T: Default> Default for Sender<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.chan.remove_sender();
    }
}

impl<T: fmt::Debug> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("value", &self.chan.value)
            .finish_non_exhaustive()
    }
}
