//! What all machines of a program may look at: the part of a specification that no machine knows.

use cct_executor::observe;
use cct_executor::words::fingerprint::hash_of;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// Shared by the machines of one world, which run one at a time.
#[derive(Default)]
pub(super) struct Monitor<T>(Arc<Mutex<T>>);

impl<T> Clone for Monitor<T> {
    fn clone(&self) -> Self {
        Monitor(self.0.clone())
    }
}

impl<T: Hash> Monitor<T> {
    /// Looks at it, or changes it. The closure must not send: that is a scheduling point. What is
    /// there afterwards is part of the program's state.
    pub(super) fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        let mut own = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let result = f(&mut own);
        observe::observe("monitor", hash_of(&*own));
        result
    }
}
