//! The writer's guards that borrow their lock.

use super::{RwLockReadGuard, reading};
use crate::batch_semaphore::BatchSemaphore;
use crate::guard_traits::guard_traits;
use crate::raw::access::Exclusive;
use std::marker::PhantomData;

/// Sole access to the value of a lock, given back when this is dropped.
///
/// # Scheduling points
/// One when dropped, before it unlocks, at granularity `sync`; `downgrade` and its kin likewise.
#[clippy::has_significant_drop]
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    pub(super) access: Exclusive<&'a BatchSemaphore, T>,
    /// How many readers the lock lets in.
    pub(super) readers: u32,
    pub(super) marker: PhantomData<&'a mut T>,
}

guard_traits!(impl[T: ?Sized] mut RwLockWriteGuard<'_, T> => T);

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Narrows the guard to a part of the value.
    #[inline]
    pub fn map<F, U: ?Sized>(this: Self, f: F) -> RwLockMappedWriteGuard<'a, U>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        RwLockMappedWriteGuard {
            access: this.access.map(f),
            marker: PhantomData,
        }
    }

    /// Narrows the guard to a part of the value, if there is such a part.
    ///
    /// # Errors
    /// The guard itself, when `f` returns `None`.
    #[inline]
    pub fn try_map<F, U: ?Sized>(this: Self, f: F) -> Result<RwLockMappedWriteGuard<'a, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        match this.access.try_map(f) {
            Ok(access) => Ok(RwLockMappedWriteGuard {
                access,
                marker: PhantomData,
            }),
            Err(access) => Err(RwLockWriteGuard { access, ..this }),
        }
    }

    /// Lets readers in, narrowed to a part of the value; no writer comes between.
    #[inline]
    pub fn downgrade_map<F, U: ?Sized>(this: Self, f: F) -> RwLockReadGuard<'a, U>
    where
        F: FnOnce(&T) -> &U,
    {
        let access = this.access.downgrade_map(reading(this.readers), f);
        RwLockReadGuard {
            access,
            marker: PhantomData,
        }
    }

    /// Lets readers in, narrowed to a part of the value, if there is such a part.
    ///
    /// # Errors
    /// The guard itself, when `f` returns `None`.
    #[inline]
    pub fn try_downgrade_map<F, U: ?Sized>(this: Self, f: F) -> Result<RwLockReadGuard<'a, U>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
    {
        match this.access.try_downgrade_map(reading(this.readers), f) {
            Ok(access) => Ok(RwLockReadGuard {
                access,
                marker: PhantomData,
            }),
            Err(access) => Err(RwLockWriteGuard { access, ..this }),
        }
    }

    /// The same guard as one that was narrowed, to the whole value.
    #[inline]
    pub fn into_mapped(this: Self) -> RwLockMappedWriteGuard<'a, T> {
        RwLockMappedWriteGuard {
            access: this.access,
            marker: PhantomData,
        }
    }

    /// Lets readers in; no writer comes between.
    pub fn downgrade(self) -> RwLockReadGuard<'a, T> {
        let access = self.access.downgrade(reading(self.readers));
        RwLockReadGuard {
            access,
            marker: PhantomData,
        }
    }
}

/// Sole access to a part of the value of a lock, given back when this is dropped.
///
/// # Scheduling points
/// One when dropped, before it unlocks, at granularity `sync`.
#[clippy::has_significant_drop]
pub struct RwLockMappedWriteGuard<'a, T: ?Sized> {
    access: Exclusive<&'a BatchSemaphore, T>,
    marker: PhantomData<&'a mut T>,
}

guard_traits!(impl[T: ?Sized] mut RwLockMappedWriteGuard<'_, T> => T);

impl<'a, T: ?Sized> RwLockMappedWriteGuard<'a, T> {
    /// Narrows the guard further.
    #[inline]
    pub fn map<F, U: ?Sized>(this: Self, f: F) -> RwLockMappedWriteGuard<'a, U>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        RwLockMappedWriteGuard {
            access: this.access.map(f),
            marker: PhantomData,
        }
    }

    /// Narrows the guard further, if there is such a part.
    ///
    /// # Errors
    /// The guard itself, when `f` returns `None`.
    #[inline]
    pub fn try_map<F, U: ?Sized>(this: Self, f: F) -> Result<RwLockMappedWriteGuard<'a, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        match this.access.try_map(f) {
            Ok(access) => Ok(RwLockMappedWriteGuard {
                access,
                marker: PhantomData,
            }),
            Err(access) => Err(RwLockMappedWriteGuard {
                access,
                marker: PhantomData,
            }),
        }
    }
}
