//! Channels without a bound.

use super::chan::{Chan, Tx, UNBOUNDED};
use super::error::{SendError, TryRecvError};
use super::receive::Rx;
use super::weak::WeakUnboundedSender;
use cct_executor::shim::{Access, OpKind, block_on};
use std::fmt;
use std::panic::Location;
use std::task::{Context, Poll};

/// Makes a channel in which any number of messages may wait.
#[track_caller]
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let chan = Chan::new(UNBOUNDED);
    let sender = UnboundedSender {
        tx: Tx::first(chan.clone()),
    };
    (sender, UnboundedReceiver { rx: Rx::new(chan) })
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
    /// One before sending, at granularity `sync`.
    ///
    /// # Errors
    /// When the receiver was closed or dropped.
    #[inline]
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        let chan = self.tx.chan();
        chan.resource
            .sync_point(OpKind::Send, Access::Write, Location::caller());
        chan.try_push(message)
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

/// Receives from an unbounded channel. Made by [`unbounded_channel`].
pub struct UnboundedReceiver<T> {
    rx: Rx<T>,
}

impl<T> UnboundedReceiver<T> {
    /// Waits for a message; `None` when there is none and none will come.
    ///
    /// # Scheduling points
    /// One before looking.
    ///
    /// # Cancel safety
    /// Safe: no message is lost.
    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = Option<T>> + use<'_, T> {
        self.rx.recv(Location::caller())
    }

    /// Waits for messages, then puts as many as there are, up to `limit`, into `buffer`. Returns
    /// how many; 0 when none will come, or `limit` is 0.
    ///
    /// # Scheduling points
    /// One before looking.
    ///
    /// # Cancel safety
    /// Safe: no message is lost.
    #[track_caller]
    pub fn recv_many<'a>(
        &'a mut self,
        buffer: &'a mut Vec<T>,
        limit: usize,
    ) -> impl Future<Output = usize> + use<'a, T> {
        self.rx.recv_many(buffer, limit, Location::caller())
    }

    /// Receives a message if there is one.
    ///
    /// # Scheduling points
    /// One before looking, at granularity `sync`.
    ///
    /// # Errors
    /// When there is none now, or none will come.
    #[track_caller]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.rx.try_recv()
    }

    /// As [`recv`](Self::recv), from code that may block.
    ///
    /// # Panics
    /// In an asynchronous task.
    #[track_caller]
    pub fn blocking_recv(&mut self) -> Option<T> {
        block_on(self.recv())
    }

    /// As [`recv_many`](Self::recv_many), from code that may block.
    ///
    /// # Panics
    /// In an asynchronous task.
    #[track_caller]
    pub fn blocking_recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
        block_on(self.recv_many(buffer, limit))
    }

    /// Refuses further messages; those that were sent can still be received.
    ///
    /// # Scheduling points
    /// One before closing, at granularity `sync`.
    #[track_caller]
    pub fn close(&mut self) {
        self.rx.close();
    }

    /// Whether no more messages can be sent: closed, or without senders.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.rx.is_closed()
    }

    /// Whether no message waits.
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.rx.len() == 0
    }

    /// How many messages wait.
    #[track_caller]
    pub fn len(&self) -> usize {
        self.rx.len()
    }

    /// As [`recv`](Self::recv), for hand-written polls. Only the waker of the last call is woken.
    ///
    /// # Scheduling points
    /// One before looking, unless the last call returned `Pending`.
    #[track_caller]
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.rx.poll_recv(cx, Location::caller())
    }

    /// As [`recv_many`](Self::recv_many), for hand-written polls.
    ///
    /// # Scheduling points
    /// One before looking, unless the last call returned `Pending`.
    #[track_caller]
    pub fn poll_recv_many(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut Vec<T>,
        limit: usize,
    ) -> Poll<usize> {
        self.rx
            .poll_recv_many(cx, buffer, limit, Location::caller())
    }

    /// How many senders there are.
    #[track_caller]
    pub fn sender_strong_count(&self) -> usize {
        self.rx.chan().strong_count()
    }

    /// How many weak senders there are.
    #[track_caller]
    pub fn sender_weak_count(&self) -> usize {
        self.rx.chan().weak_count()
    }
}

impl<T> fmt::Debug for UnboundedReceiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnboundedReceiver").finish_non_exhaustive()
    }
}
