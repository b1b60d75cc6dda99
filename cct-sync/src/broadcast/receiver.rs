//! The receivers' side.

use super::chan::{Chan, Received};
use super::error::{RecvError, TryRecvError};
use crate::queue::{self, Place};
use cct_executor::shim::{Access, Looks, OpKind, block_on};
use cct_executor::task::coop;
use std::fmt;
use std::future::poll_fn;
use std::panic::Location;
use std::sync::Arc;
use std::task::{Poll, ready};

/// Receives every message sent since it was made, by [`channel`](super::channel),
/// [`Sender::subscribe`](super::Sender::subscribe) or [`resubscribe`](Self::resubscribe).
pub struct Receiver<T> {
    chan: Arc<Chan<T>>,
    /// Position of the next message to receive.
    next: u64,
}

impl<T> Receiver<T> {
    /// For the receiver that the channel counts already.
    pub(super) fn first(chan: Arc<Chan<T>>) -> Self {
        Receiver { chan, next: 0 }
    }

    #[track_caller]
    pub(super) fn join(chan: &Arc<Chan<T>>) -> Self {
        chan.resource
            .listen_point(OpKind::Get, Access::Write, Location::caller());
        let (next, digest) = chan
            .state
            .with(|state| (state.add_receiver(), state.digest()));
        chan.resource.set_state(digest);
        Receiver {
            chan: chan.clone(),
            next,
        }
    }

    /// How many messages were sent that this receiver has not received, those it missed included.
    #[track_caller]
    pub fn len(&self) -> usize {
        self.chan.get(|state| (state.tail() - self.next) as usize)
    }

    /// Whether this receiver has received all messages.
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the two receivers are of one channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.chan, &other.chan)
    }

    /// How many senders there are.
    #[track_caller]
    pub fn sender_strong_count(&self) -> usize {
        self.chan.get(|state| state.senders())
    }

    /// How many weak senders there are.
    #[track_caller]
    pub fn sender_weak_count(&self) -> usize {
        self.chan.get(|state| state.weak_senders())
    }

    /// Whether all senders are gone.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.sender_strong_count() == 0
    }
}

impl<T: Clone> Receiver<T> {
    /// A new receiver, for messages sent from now on.
    ///
    /// # Scheduling points
    /// One before looking at the position.
    #[track_caller]
    pub fn resubscribe(&self) -> Self {
        Receiver::join(&self.chan)
    }

    /// Waits for the next message.
    ///
    /// # Scheduling points
    /// One before looking.
    ///
    /// # Cancel safety
    /// Safe: no message is lost.
    ///
    /// # Errors
    /// When messages were missed, or there are none left and all senders are gone.
    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = Result<T, RecvError>> + use<'_, T> {
        let site = Location::caller();
        async move {
            let chan = &*self.chan;
            let next = &mut self.next;
            let mut place = Place::new(&chan.state, |state| &mut state.receiving);
            let mut waits = chan.resource.waits(OpKind::Recv, site);
            let mut looks = Looks::new();
            poll_fn(|cx| {
                let look = (OpKind::Recv, Access::Write);
                ready!(chan.resource.look_point(&mut looks, look, site));
                let coop = ready!(coop::poll_proceed(cx));
                loop {
                    let poll = place.poll(cx, |state| {
                        state.find(next).map(|found| (found, state.digest()))
                    });
                    if poll.is_pending() {
                        waits.blocked();
                        chan.remark();
                    }
                    let (found, digest) = ready!(poll);
                    let result = match chan.receive(found, digest) {
                        Received::Busy => continue,
                        Received::Message(message) => Ok(message),
                        Received::Lagged(missed) => Err(RecvError::Lagged(missed)),
                        Received::Closed => Err(RecvError::Closed),
                    };
                    if let Err(error) = &result {
                        chan.resource.outcome(|| error.to_string());
                    }
                    coop.made_progress();
                    return Poll::Ready(result);
                }
            })
            .await
        }
    }

    /// Receives the next message if there is one.
    ///
    /// # Scheduling points
    /// One before looking, at granularity `sync`.
    ///
    /// # Errors
    /// When there is no message now, messages were missed, or all senders are gone.
    #[track_caller]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let chan = &*self.chan;
        let next = &mut self.next;
        chan.resource
            .sync_point(OpKind::TryRecv, Access::Write, Location::caller());
        loop {
            let found = chan
                .state
                .with(|state| state.find(next).map(|found| (found, state.digest())));
            let Some((found, digest)) = found else {
                return Err(TryRecvError::Empty);
            };
            return match chan.receive(found, digest) {
                Received::Busy => continue,
                Received::Message(message) => Ok(message),
                Received::Lagged(missed) => Err(TryRecvError::Lagged(missed)),
                Received::Closed => Err(TryRecvError::Closed),
            };
        }
    }

    /// As [`recv`](Self::recv), from code that may block.
    ///
    /// # Panics
    /// In an asynchronous task.
    ///
    /// # Errors
    /// As for [`recv`](Self::recv).
    #[track_caller]
    pub fn blocking_recv(&mut self) -> Result<T, RecvError> {
        block_on(self.recv())
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        /// Tells the senders after the messages are gone, also when dropping one panics.
        struct Tell<'a, T>(&'a Chan<T>);
        impl<T> Drop for Tell<'_, T> {
            fn drop(&mut self) {
                let (last, digest) = self
                    .0
                    .state
                    .with(|state| (state.receivers() == 0, state.digest()));
                self.0.resource.set_state(digest);
                if last {
                    queue::let_go(&self.0.state, |state| &mut state.closing);
                }
            }
        }
        let chan = &*self.chan;
        chan.resource
            .sync_point(OpKind::Drop, Access::Write, chan.site);
        let until = chan.state.with(|state| state.remove_receiver());
        let _tell = Tell(chan);
        let next = &mut self.next;
        while let Some(dropped) = chan.state.with(|state| state.skip(next, until)) {
            drop(dropped);
        }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("broadcast::Receiver")
    }
}
