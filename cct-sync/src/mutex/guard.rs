//! Guards that borrow their mutex.

use super::Mutex;
use crate::batch_semaphore::BatchSemaphore;
use crate::guard_traits::guard_traits;
use crate::raw::access::{Exclusive, Sole};
use std::marker::PhantomData;

/// A locked mutex, which unlocks when this is dropped.
///
/// # Scheduling points
/// One when dropped, before it unlocks, at granularity `sync`.
#[clippy::has_significant_drop]
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized> {
    pub(super) access: Sole<'a, Mutex<T>>,
}

guard_traits!(impl[T: ?Sized] mut MutexGuard<'_, T> => T);

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Narrows the guard to a part of the value.
    #[inline]
    pub fn map<U, F>(this: Self, f: F) -> MappedMutexGuard<'a, U>
    where
        U: ?Sized,
        F: FnOnce(&mut T) -> &mut U,
    {
        MappedMutexGuard {
            access: this.access.into_exclusive().map(f),
            marker: PhantomData,
        }
    }

    /// Narrows the guard to a part of the value, if there is such a part.
    ///
    /// # Errors
    /// The guard itself, when `f` returns `None`.
    #[inline]
    pub fn try_map<U, F>(this: Self, f: F) -> Result<MappedMutexGuard<'a, U>, Self>
    where
        U: ?Sized,
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        match this.access.try_map(f) {
            Ok(access) => Ok(MappedMutexGuard {
                access,
                marker: PhantomData,
            }),
            Err(access) => Err(MutexGuard { access }),
        }
    }

    /// The mutex.
    #[inline]
    pub fn mutex(this: &Self) -> &'a Mutex<T> {
        this.access.lock()
    }
}

/// A locked mutex and a part of its value; unlocks when this is dropped.
///
/// # Scheduling points
/// One when dropped, before it unlocks, at granularity `sync`.
#[clippy::has_significant_drop]
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MappedMutexGuard<'a, T: ?Sized> {
    access: Exclusive<&'a BatchSemaphore, T>,
    marker: PhantomData<&'a mut T>,
}

guard_traits!(impl[T: ?Sized] mut MappedMutexGuard<'_, T> => T);

impl<'a, T: ?Sized> MappedMutexGuard<'a, T> {
    /// Narrows the guard further.
    #[inline]
    pub fn map<U, F>(this: Self, f: F) -> MappedMutexGuard<'a, U>
    where
        U: ?Sized,
        F: FnOnce(&mut T) -> &mut U,
    {
        MappedMutexGuard {
            access: this.access.map(f),
            marker: PhantomData,
        }
    }

    /// Narrows the guard further, if there is such a part.
    ///
    /// # Errors
    /// The guard itself, when `f` returns `None`.
    #[inline]
    pub fn try_map<U, F>(this: Self, f: F) -> Result<MappedMutexGuard<'a, U>, Self>
    where
        U: ?Sized,
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        match this.access.try_map(f) {
            Ok(access) => Ok(MappedMutexGuard {
                access,
                marker: PhantomData,
            }),
            Err(access) => Err(MappedMutexGuard {
                access,
                marker: PhantomData,
            }),
        }
    }
}
