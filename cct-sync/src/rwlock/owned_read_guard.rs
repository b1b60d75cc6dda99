//! The reader's guard that shares ownership of its lock.

use super::RwLock;
use crate::guard_traits::guard_traits;
use crate::raw::access::Joint;
use std::sync::Arc;

/// Shared access to the value of a lock, given back when this is dropped; the lock lives until
/// then.
///
/// # Scheduling points
/// One when dropped, before it unlocks, at granularity `sync`.
#[clippy::has_significant_drop]
pub struct OwnedRwLockReadGuard<T: ?Sized, U: ?Sized = T> {
    pub(super) access: Joint<Arc<RwLock<T>>, U>,
}

guard_traits!(impl[T: ?Sized, U: ?Sized] OwnedRwLockReadGuard<T, U> => U);

impl<T: ?Sized, U: ?Sized> OwnedRwLockReadGuard<T, U> {
    /// Narrows the guard to a part of the value.
    #[inline]
    pub fn map<F, V: ?Sized>(this: Self, f: F) -> OwnedRwLockReadGuard<T, V>
    where
        F: FnOnce(&U) -> &V,
    {
        OwnedRwLockReadGuard {
            access: this.access.map(f),
        }
    }

    /// Narrows the guard to a part of the value, if there is such a part.
    ///
    /// # Errors
    /// The guard itself, when `f` returns `None`.
    #[inline]
    pub fn try_map<F, V: ?Sized>(this: Self, f: F) -> Result<OwnedRwLockReadGuard<T, V>, Self>
    where
        F: FnOnce(&U) -> Option<&V>,
    {
        match this.access.try_map(f) {
            Ok(access) => Ok(OwnedRwLockReadGuard { access }),
            Err(access) => Err(OwnedRwLockReadGuard { access }),
        }
    }

    /// The lock.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        this.access.owner()
    }
}
