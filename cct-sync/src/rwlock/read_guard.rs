//! The reader's guard that borrows its lock.

use crate::batch_semaphore::BatchSemaphore;
use crate::guard_traits::guard_traits;
use crate::raw::access::Joint;
use std::marker::PhantomData;

/// Shared access to the value of a lock, given back when this is dropped.
///
/// # Scheduling points
/// One when dropped, before it unlocks, at granularity `sync`.
#[clippy::has_significant_drop]
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    pub(super) access: Joint<&'a BatchSemaphore, T>,
    pub(super) marker: PhantomData<&'a T>,
}

guard_traits!(impl[T: ?Sized] RwLockReadGuard<'_, T> => T);

impl<'a, T: ?Sized> RwLockReadGuard<'a, T> {
    /// Narrows the guard to a part of the value.
    #[inline]
    pub fn map<F, U: ?Sized>(this: Self, f: F) -> RwLockReadGuard<'a, U>
    where
        F: FnOnce(&T) -> &U,
    {
        RwLockReadGuard {
            access: this.access.map(f),
            marker: PhantomData,
        }
    }

    /// Narrows the guard to a part of the value, if there is such a part.
    ///
    /// # Errors
    /// The guard itself, when `f` returns `None`.
    #[inline]
    pub fn try_map<F, U: ?Sized>(this: Self, f: F) -> Result<RwLockReadGuard<'a, U>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
    {
        match this.access.try_map(f) {
            Ok(access) => Ok(RwLockReadGuard {
                access,
                marker: PhantomData,
            }),
            Err(access) => Err(RwLockReadGuard {
                access,
                marker: PhantomData,
            }),
        }
    }
}
