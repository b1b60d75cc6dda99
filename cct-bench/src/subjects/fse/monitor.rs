//! What all machines of a program may look at: the part of a specification that no machine knows.

use std::sync::{Arc, Mutex, PoisonError};

/// Shared by the machines of one world, which run one at a time.
#[derive(Default)]
pub(super) struct Monitor<T>(Arc<Mutex<T>>);

impl<T> Clone for Monitor<T> {
    fn clone(&self) -> Self {
        Monitor(self.0.clone())
    }
}

impl<T> Monitor<T> {
    /// Looks at it, or changes it. The closure must not send: that is a scheduling point.
    pub(super) fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
