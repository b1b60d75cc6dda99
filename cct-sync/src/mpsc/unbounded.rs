//! Channels without a bound.

use super::chan::{Chan, Tx, UNBOUNDED};
use super::error::SendError;
use super::receiver::UnboundedReceiver;
use super::weak::WeakUnboundedSender;
use cct_executor::shim::{Access, OpKind};
use std::fmt;
use std::panic::Location;

/// Makes a channel in which any number of messages may wait.
#[track_caller]
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let chan = Chan::new(UNBOUNDED);
    let sender = UnboundedSender {
        tx: Tx::first(chan.clone()),
    };
    (sender, UnboundedReceiver::new(chan))
}

/// Sends into an unbounded channel. Made by [`unbounded_channel`].
pub struct UnboundedSender<T> {
    tx: Tx<T>,
}

impl<T> UnboundedSender<T> {
    pub(super) fn from_tx(tx: Tx<T>) -> Self {
        UnboundedSender { tx }
    }

    /// Sends a message. Never waits.
    ///
    /// # Scheduling points
    /// One before looking whether the channel is closed, at granularity `sync`; one before sending at `spawn`, and one
    /// after it there if the receiver was woken.
    ///
    /// # Errors
    /// When the receiver was closed or dropped.
    #[inline]
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        let chan = self.tx.chan();
        let site = Location::caller();
        chan.resource.sync_point(OpKind::Send, Access::Write, site);
        chan.try_push(message, site)
            .map_err(|(message, _)| SendError(message))
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

    /// Whether the receiver was closed or dropped.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.tx.is_closed()
    }

    /// Whether the two senders are of one channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        self.tx.same_channel(&other.tx)
    }

    /// A handle that does not keep the channel open.
    #[must_use = "Downgrade creates a WeakSender without destroying the original non-weak sender."]
    pub fn downgrade(&self) -> WeakUnboundedSender<T> {
        WeakUnboundedSender::new(&self.tx)
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

impl<T> Clone for UnboundedSender<T> {
    fn clone(&self) -> Self {
        UnboundedSender {
            tx: self.tx.clone(),
        }
    }
}

impl<T> fmt::Debug for UnboundedSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnboundedSender").finish_non_exhaustive()
    }
}
