//! The senders' side.

use super::chan::Chan;
use super::error::SendError;
use super::receiver::Receiver;
use crate::queue::Place;
use crate::waiters::Wakes;
use cct_executor::shim::{Access, Looks, OpKind};
use std::fmt;
use std::future::poll_fn;
use std::panic::Location;
use std::sync::Arc;
use std::task::ready;

/// Makes a channel that keeps `capacity` messages, rounded up to a power of two.
///
/// # Panics
/// When `capacity` is 0, or more than `usize::MAX / 2`.
#[track_caller]
pub fn channel<T: Clone>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let chan = Chan::new(capacity, 1);
    (Sender { chan: chan.clone() }, Receiver::first(chan))
}

/// Sends to all receivers. Made by [`channel`], [`Sender::new`] or by cloning.
pub struct Sender<T> {
    chan: Arc<Chan<T>>,
}

impl<T> Sender<T> {
    /// A sender without a receiver.
    ///
    /// # Panics
    /// When `capacity` is 0, or more than `usize::MAX / 2`.
    #[track_caller]
    pub fn new(capacity: usize) -> Self {
        Sender {
            chan: Chan::new(capacity, 0),
        }
    }

    /// Sends a message; returns the number of receivers that are to get it. Never waits: the
    /// oldest message makes room.
    ///
    /// # Scheduling points
    /// One before sending, at granularity `sync`, and one after it at `spawn` if somebody was woken.
    ///
    /// # Errors
    /// When there is no receiver; gives the message back.
    #[inline]
    #[track_caller]
    pub fn send(&self, value: T) -> Result<usize, SendError<T>> {
        let chan = &*self.chan;
        chan.resource
            .sync_point(OpKind::Send, Access::Write, Location::caller());
        let mut wakes = Wakes::none();
        let (result, digest) = chan
            .state
            .with(|state| (state.push(value, &mut wakes), state.digest()));
        let (receivers, dropped) = result.map_err(|message| {
            chan.resource.outcome(|| "nobody receives".to_owned());
            SendError(message)
        })?;
        let any = wakes.len() > 0;
        chan.settle(digest, &mut wakes);
        drop(dropped);
        if any {
            chan.resource.resume_point(Location::caller());
        }
        Ok(receivers)
    }

    /// A new receiver, for messages sent from now on.
    ///
    /// # Scheduling points
    /// One before looking at the position.
    #[track_caller]
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver::join(&self.chan)
    }

    /// A handle that does not keep the channel open.
    #[must_use = "Downgrade creates a WeakSender without destroying the original non-weak sender."]
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender::new(&self.chan)
    }

    /// How many messages some receiver has yet to receive.
    #[track_caller]
    pub fn len(&self) -> usize {
        self.chan.get(|state| state.len())
    }

    /// Whether all messages were received by all receivers.
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many receivers there are.
    #[track_caller]
    pub fn receiver_count(&self) -> usize {
        self.chan.get(|state| state.receivers())
    }

    /// Whether the two senders are of one channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.chan, &other.chan)
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
                let poll = place.poll(cx, |state| state.is_closed().then_some(()));
                if poll.is_pending() {
                    waits.blocked();
                }
                poll
            })
            .await
        }
    }

    /// How many senders there are.
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        self.chan.get(|state| state.senders())
    }

    /// How many weak senders there are.
    #[track_caller]
    pub fn weak_count(&self) -> usize {
        self.chan.get(|state| state.weak_senders())
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.chan.state.with(|state| state.add_sender());
        self.chan.remark();
        Sender {
            chan: self.chan.clone(),
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let chan = &*self.chan;
        chan.resource
            .sync_point(OpKind::Drop, Access::Write, chan.site);
        let mut wakes = Wakes::none();
        let digest = chan.state.with(|state| {
            state.remove_sender(&mut wakes);
            state.digest()
        });
        chan.remark();
        let any = wakes.len() > 0;
        chan.settle(digest, &mut wakes);
        if any {
            chan.resource.resume_point(chan.site);
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("broadcast::Sender")
    }
}

/// A handle that does not keep a channel open.
pub struct WeakSender<T> {
    chan: Arc<Chan<T>>,
}

impl<T> WeakSender<T> {
    fn new(chan: &Arc<Chan<T>>) -> Self {
        chan.state.with(|state| state.add_weak());
        WeakSender { chan: chan.clone() }
    }

    /// A sender of the channel, unless all of them are gone.
    ///
    /// # Scheduling points
    /// One, at granularity `sync`.
    #[must_use]
    #[track_caller]
    pub fn upgrade(&self) -> Option<Sender<T>> {
        self.chan
            .resource
            .sync_point(OpKind::Get, Access::Write, Location::caller());
        let alive = self.chan.state.with(|state| state.add_sender());
        self.chan.remark();
        alive.then(|| Sender {
            chan: self.chan.clone(),
        })
    }

    /// How many senders there are.
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        self.chan.get(|state| state.senders())
    }

    /// How many weak senders there are.
    #[track_caller]
    pub fn weak_count(&self) -> usize {
        self.chan.get(|state| state.weak_senders())
    }
}

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> Self {
        WeakSender::new(&self.chan)
    }
}

impl<T> Drop for WeakSender<T> {
    fn drop(&mut self) {
        self.chan
            .resource
            .sync_point(OpKind::Drop, Access::Write, self.chan.site);
        self.chan.state.with(|state| state.remove_weak());
    }
}

impl<T> fmt::Debug for WeakSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("broadcast::WeakSender")
    }
}
