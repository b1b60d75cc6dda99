//! The receivers of both kinds of channels.

use super::chan::Chan;
use super::error::TryRecvError;
use super::receive::Rx;
use cct_executor::shim::block_on;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll};

macro_rules! receiver {
    ($(#[$doc:meta])* $receiver:ident) => {
        $(#[$doc])*
        pub struct $receiver<T> {
            rx: Rx<T>,
        }

        impl<T> $receiver<T> {
            pub(super) fn new(chan: Arc<Chan<T>>) -> Self {
                $receiver { rx: Rx::new(chan) }
            }

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

            /// Refuses further messages and reservations; what was sent, or will be sent with a permit that
            /// was granted before, can still be received.
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
            /// One before looking, unless the last call returned `Pending` in an earlier poll of the task.
            #[track_caller]
            pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
                self.rx.poll_recv(cx, Location::caller())
            }

            /// As [`recv_many`](Self::recv_many), for hand-written polls.
            ///
            /// # Scheduling points
            /// One before looking, unless the last call returned `Pending` in an earlier poll of the task.
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

        impl<T> fmt::Debug for $receiver<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($receiver)).finish_non_exhaustive()
            }
        }
    };
}

receiver! {
    /// Receives from a bounded channel. Made by [`channel`](super::channel).
    Receiver
}

receiver! {
    /// Receives from an unbounded channel. Made by [`unbounded_channel`](super::unbounded_channel).
    UnboundedReceiver
}

impl<T> Receiver<T> {
    /// How many messages could be sent at once: the bound without messages and reservations.
    #[track_caller]
    pub fn capacity(&self) -> usize {
        self.rx.chan().get(|state| state.permits)
    }

    /// The bound given to [`channel`](super::channel).
    pub fn max_capacity(&self) -> usize {
        self.rx.chan().bound
    }
}
