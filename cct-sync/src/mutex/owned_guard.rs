//! Guards that share ownership of their mutex.

use super::Mutex;
use crate::guard_traits::guard_traits;
use crate::raw::access::Exclusive;
use std::sync::Arc;

/// A locked mutex, which unlocks when this is dropped and lives until then.
///
/// # Scheduling points
/// One when dropped, before it unlocks, at granularity `sync`.
#[clippy::has_significant_drop]
pub struct OwnedMutexGuard<T: ?Sized> {
    pub(super) access: Exclusive<Arc<Mutex<T>>, T>,
}

guard_traits!(impl[T: ?Sized] mut OwnedMutexGuard<T> => T);

impl<T: ?Sized> OwnedMutexGuard<T> {
    /// Narrows the guard to a part of the value.
    #[inline]
    pub fn map<U, F>(this: Self, f: F) -> OwnedMappedMutexGuard<T, U>
    where
        U: ?Sized,
        F: FnOnce(&mut T) -> &mut U,
    {
        OwnedMappedMutexGuard {
            access: this.access.map(f),
        }
    }

    /// Narrows the guard to a part of the value, if there is such a part.
    ///
    /// # Errors
    /// The guard itself, when `f` returns `None`.
    #[inline]
    pub fn try_map<U, F>(this: Self, f: F) -> Result<OwnedMappedMutexGuard<T, U>, Self>
    where
        U: ?Sized,
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        match this.access.try_map(f) {
            Ok(access) => Ok(OwnedMappedMutexGuard { access }),
            Err(access) => Err(OwnedMutexGuard { access }),
        }
    }

    /// The mutex.
    #[inline]
    pub fn mutex(this: &Self) -> &Arc<Mutex<T>> {
        this.access.owner()
    }
}

/// A locked mutex and a part of its value; unlocks when this is dropped and lives until then.
///
/// # Scheduling points
/// One when dropped, before it unlocks, at granularity `sync`.
#[clippy::has_significant_drop]
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct OwnedMappedMutexGuard<T: ?Sized, U: ?Sized = T> {
    access: Exclusive<Arc<Mutex<T>>, U>,
}

guard_traits!(impl[T: ?Sized, U: ?Sized] mut OwnedMappedMutexGuard<T, U> => U);

impl<T: ?Sized, U: ?Sized> OwnedMappedMutexGuard<T, U> {
    /// Narrows the guard further.
    #[inline]
    pub fn map<S, F>(this: Self, f: F) -> OwnedMappedMutexGuard<T, S>
    where
        S: ?Sized,
        F: FnOnce(&mut U) -> &mut S,
    {
        OwnedMappedMutexGuard {
            access: this.access.map(f),
        }
    }

    /// Narrows the guard further, if there is such a part.
    ///
    /// # Errors
    /// The guard itself, when `f` returns `None`.
    #[inline]
    pub fn try_map<S, F>(this: Self, f: F) -> Result<OwnedMappedMutexGuard<T, S>, Self>
    where
        S: ?Sized,
        F: FnOnce(&mut U) -> Option<&mut S>,
    {
        match this.access.try_map(f) {
            Ok(access) => Ok(OwnedMappedMutexGuard { access }),
            Err(access) => Err(OwnedMappedMutexGuard { access }),
        }
    }
}
