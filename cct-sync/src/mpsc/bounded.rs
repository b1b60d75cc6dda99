//! Channels with a bound.

use super::chan::{Chan, Tx};
use super::error::{SendError, SendTimeoutError, TrySendError};
use super::permit::{OwnedPermit, Permit, PermitIterator};
use super::receiver::Receiver;
use super::reserve;
use super::weak::WeakSender;
use cct_executor::shim::{Access, OpKind, block_on};
use cct_executor::time;
use std::fmt;
use std::panic::Location;
use std::time::Duration;

/// Makes a channel in which up to `buffer` messages may wait.
///
/// # Panics
/// When `buffer` is 0, or more than `usize::MAX >> 3`.
#[track_caller]
pub fn channel<T>(buffer: usize) -> (Sender<T>, Receiver<T>) {
    const MAX: usize = usize::MAX >> 3;
    assert!(buffer > 0, "mpsc bounded channel requires buffer > 0");
    assert!(
        buffer <= MAX,
        "a semaphore may not have more than MAX_PERMITS permits ({MAX})"
    );
    let chan = Chan::new(buffer);
    let sender = Sender {
        tx: Tx::first(chan.clone()),
    };
    (sender, Receiver::new(chan))
}

/// Sends into a bounded channel. Made by [`channel`].
pub struct Sender<T> {
    tx: Tx<T>,
}

impl<T> Sender<T> {
    pub(super) fn from_tx(tx: Tx<T>) -> Self {
        Sender { tx }
    }

    pub(super) fn tx(&self) -> &Tx<T> {
        &self.tx
    }

    /// Waits for room and sends a message.
    ///
    /// # Scheduling points
    /// One before looking for room, and one before sending at granularity `spawn`; one after it there if the receiver
    /// was woken.
    ///
    /// # Cancel safety
    /// When dropped before completion the message was not sent and is lost, and the place in the
    /// queue is given up.
    ///
    /// # Errors
    /// When the receiver was closed or dropped; gives the message back.
    #[track_caller]
    pub fn send(&self, value: T) -> impl Future<Output = Result<(), SendError<T>>> + use<'_, T> {
        let site = Location::caller();
        async move {
            reserve::send(self.tx.chan(), value, site)
                .await
                .map_err(SendError)
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
    pub fn closed(&self) -> impl Future<Output = ()> + use<'_, T> {
        self.tx.closed(Location::caller())
    }

    /// Sends a message if there is room.
    ///
    /// # Scheduling points
    /// One before looking for room, at granularity `sync`; one before sending at `spawn`, and one after it there if the
    /// receiver was woken.
    ///
    /// # Errors
    /// When there is no room now, or the receiver was closed or dropped; gives the message back.
    #[inline]
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        let chan = self.tx.chan();
        let site = Location::caller();
        chan.resource
            .sync_point(OpKind::TrySend, Access::Write, site);
        chan.try_push(message, site)
            .map_err(|(message, closed)| refusal(closed, message))
    }

    /// As [`send`](Self::send), but waits only until `timeout` has passed since the first poll.
    ///
    /// # Scheduling points
    /// One before looking for room, one when the timer is first waited for, and one before sending at
    /// granularity `spawn`.
    ///
    /// # Cancel safety
    /// As for [`send`](Self::send).
    ///
    /// # Panics
    /// Outside a world, which has no timers, when first polled.
    ///
    /// # Errors
    /// When there was no room in time, or the receiver was closed or dropped; gives the message
    /// back.
    #[track_caller]
    pub fn send_timeout(
        &self,
        value: T,
        timeout: Duration,
    ) -> impl Future<Output = Result<(), SendTimeoutError<T>>> + use<'_, T> {
        let site = Location::caller();
        async move {
            let chan = self.tx.chan();
            match time::timeout(timeout, reserve::reserve(chan, 1, site)).await {
                Ok(Ok(())) => {
                    chan.push_late(value, site);
                    Ok(())
                }
                Ok(Err(_)) => Err(SendTimeoutError::Closed(value)),
                Err(_) => Err(SendTimeoutError::Timeout(value)),
            }
        }
    }

    /// As [`send`](Self::send), from code that may block.
    ///
    /// # Panics
    /// In an asynchronous task.
    ///
    /// # Errors
    /// When the receiver was closed or dropped; gives the message back.
    #[track_caller]
    pub fn blocking_send(&self, value: T) -> Result<(), SendError<T>> {
        block_on(self.send(value))
    }

    /// Whether the receiver was closed or dropped.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.tx.is_closed()
    }

    /// Waits for room for one message and reserves it.
    ///
    /// # Scheduling points
    /// One before looking for room.
    ///
    /// # Cancel safety
    /// When dropped before completion, the place in the queue is given up.
    ///
    /// # Errors
    /// When the receiver was closed or dropped.
    #[track_caller]
    pub fn reserve(
        &self,
    ) -> impl Future<Output = Result<Permit<'_, T>, SendError<()>>> + use<'_, T> {
        let site = Location::caller();
        async move {
            let chan = self.tx.chan();
            reserve::reserve(chan, 1, site)
                .await
                .map_err(|_| SendError(()))?;
            Ok(Permit::new(chan))
        }
    }

    /// Waits for room for `n` messages and reserves it. Room that comes free is kept for the
    /// sender that waits first, also if it is not enough for it yet.
    ///
    /// # Scheduling points
    /// One before looking for room.
    ///
    /// # Cancel safety
    /// When dropped before completion, the place in the queue is given up.
    ///
    /// # Errors
    /// When the receiver was closed or dropped, or the channel never has so much room.
    #[track_caller]
    pub fn reserve_many(
        &self,
        n: usize,
    ) -> impl Future<Output = Result<PermitIterator<'_, T>, SendError<()>>> + use<'_, T> {
        let site = Location::caller();
        async move {
            let chan = self.tx.chan();
            reserve::reserve(chan, n, site)
                .await
                .map_err(|_| SendError(()))?;
            Ok(PermitIterator::new(chan, n))
        }
    }

    /// Waits for room for one message and reserves it; the permit contains the sender.
    ///
    /// # Scheduling points
    /// One before looking for room.
    ///
    /// # Cancel safety
    /// When dropped before completion, the place in the queue is given up and the sender dropped.
    ///
    /// # Errors
    /// When the receiver was closed or dropped.
    #[track_caller]
    pub fn reserve_owned(
        self,
    ) -> impl Future<Output = Result<OwnedPermit<T>, SendError<()>>> + use<T> {
        let site = Location::caller();
        async move {
            reserve::reserve(self.tx.chan(), 1, site)
                .await
                .map_err(|_| SendError(()))?;
            Ok(OwnedPermit::new(self.tx))
        }
    }

    /// Reserves room for one message if there is room.
    ///
    /// # Scheduling points
    /// One before looking, at granularity `sync`.
    ///
    /// # Errors
    /// When there is no room now, or the receiver was closed or dropped.
    #[track_caller]
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        self.try_take(1).map_err(|closed| refusal(closed, ()))?;
        Ok(Permit::new(self.tx.chan()))
    }

    /// Reserves room for `n` messages if there is so much.
    ///
    /// # Scheduling points
    /// One before looking, at granularity `sync`.
    ///
    /// # Errors
    /// When there is less room now, also if there never is so much, or the receiver was closed or
    /// dropped.
    #[track_caller]
    pub fn try_reserve_many(&self, n: usize) -> Result<PermitIterator<'_, T>, TrySendError<()>> {
        if n > self.max_capacity() {
            return Err(TrySendError::Full(()));
        }
        self.try_take(n).map_err(|closed| refusal(closed, ()))?;
        Ok(PermitIterator::new(self.tx.chan(), n))
    }

    /// Reserves room for one message if there is room; the permit contains the sender.
    ///
    /// # Scheduling points
    /// One before looking, at granularity `sync`.
    ///
    /// # Errors
    /// When there is no room now, or the receiver was closed or dropped; gives the sender back.
    #[track_caller]
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        match self.try_take(1) {
            Ok(()) => Ok(OwnedPermit::new(self.tx)),
            Err(closed) => Err(refusal(closed, self)),
        }
    }

    #[track_caller]
    fn try_take(&self, count: usize) -> Result<(), bool> {
        let chan = self.tx.chan();
        chan.resource
            .sync_point(OpKind::TrySend, Access::Write, Location::caller());
        chan.try_take_permits(count)
    }

    /// Whether the two senders are of one channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        self.tx.same_channel(&other.tx)
    }

    /// How many messages could be sent at once: the bound without messages and reservations.
    #[track_caller]
    pub fn capacity(&self) -> usize {
        self.tx.chan().get(|state| state.permits)
    }

    /// A handle that does not keep the channel open.
    #[must_use = "Downgrade creates a WeakSender without destroying the original non-weak sender."]
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender::new(&self.tx)
    }

    /// The bound given to [`channel`].
    pub fn max_capacity(&self) -> usize {
        self.tx.chan().bound
    }

    /// How many senders there are.
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        self.tx.chan().strong_count()
    }

    /// How many weak senders there are.
    #[track_caller]
    pub fn weak_count(&self) -> usize {
        self.tx.chan().weak_count()
    }
}

fn refusal<V>(closed: bool, value: V) -> TrySendError<V> {
    if closed {
        TrySendError::Closed(value)
    } else {
        TrySendError::Full(value)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Sender {
            tx: self.tx.clone(),
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}
