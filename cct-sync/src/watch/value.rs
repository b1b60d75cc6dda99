//! The value, and references to it.

use std::ops::Deref;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Access to the value. While it exists, sending blocks.
#[derive(Debug)]
pub struct Ref<'a, T> {
    guard: RwLockReadGuard<'a, T>,
    has_changed: bool,
}

impl<'a, T> Ref<'a, T> {
    pub(super) fn new(guard: RwLockReadGuard<'a, T>, has_changed: bool) -> Self {
        Ref { guard, has_changed }
    }

    /// Whether the receiver had not seen this value before. False for a sender's reference.
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }
}

impl<T> Deref for Ref<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.guard
    }
}

/// Locks for reading. A panic in a closure that changed the value does not poison it, as in tokio.
pub(super) fn read<T>(value: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    value.read().unwrap_or_else(PoisonError::into_inner)
}

/// Locks for writing.
pub(super) fn write<T>(value: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    value.write().unwrap_or_else(PoisonError::into_inner)
}
