//! Handles that do not keep a channel open.

use super::bounded::Sender;
use super::chan::{Chan, Tx};
use super::unbounded::UnboundedSender;
use std::fmt;
use std::sync::Arc;

/// Counted as a weak sender as long as it lives.
pub(super) struct WeakTx<T>(Arc<Chan<T>>);

impl<T> WeakTx<T> {
    pub(super) fn new(sender: &Tx<T>) -> Self {
        sender.chan().add_weak();
        WeakTx(sender.chan().clone())
    }
}

impl<T> Clone for WeakTx<T> {
    fn clone(&self) -> Self {
        self.0.add_weak();
        WeakTx(self.0.clone())
    }
}

impl<T> Drop for WeakTx<T> {
    fn drop(&mut self) {
        self.0.remove_weak();
    }
}

macro_rules! weak_sender {
    ($(#[$doc:meta])* $weak:ident, $sender:ident) => {
        $(#[$doc])*
        pub struct $weak<T> {
            inner: WeakTx<T>,
        }

        impl<T> $weak<T> {
            pub(super) fn new(sender: &Tx<T>) -> Self {
                $weak { inner: WeakTx::new(sender) }
            }

            /// A sender of the channel, unless all of them are gone.
            ///
            /// # Scheduling points
            /// One, at granularity `sync`.
            #[track_caller]
            pub fn upgrade(&self) -> Option<$sender<T>> {
                self.inner.0.upgrade().map($sender::from_tx)
            }

            /// How many senders there are.
            #[track_caller]
            pub fn strong_count(&self) -> usize {
                self.inner.0.strong_count()
            }

            /// How many weak senders there are.
            #[track_caller]
            pub fn weak_count(&self) -> usize {
                self.inner.0.weak_count()
            }
        }

        impl<T> Clone for $weak<T> {
            fn clone(&self) -> Self {
                $weak { inner: self.inner.clone() }
            }
        }

        impl<T> fmt::Debug for $weak<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($weak)).finish()
            }
        }
    };
}

weak_sender! {
    /// A handle to a bounded channel that does not keep it open.
    WeakSender, Sender
}

weak_sender! {
    /// A handle to an unbounded channel that does not keep it open.
    WeakUnboundedSender, UnboundedSender
}
