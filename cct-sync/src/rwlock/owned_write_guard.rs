//! The writer's guards that share ownership of their lock.

use super::{OwnedRwLockReadGuard, RwLock, reading};
use crate::guard_traits::guard_traits;
use crate::raw::access::Exclusive;
use cct_executor::shim::Access;
use std::sync::Arc;

/// Sole access to the value of a lock, given back when this is dropped; the lock lives until then.
///
/// # Scheduling points
/// One when dropped, before it unlocks, at granularity `sync`; `downgrade` and its kin likewise.
#[clippy::has_significant_drop]
pub struct OwnedRwLockWriteGuard<T: ?Sized> {
    pub(super) access: Exclusive<Arc<RwLock<T>>, T>,
}

guard_traits!(impl[T: ?Sized] mut OwnedRwLockWriteGuard<T> => T);

impl<T: ?Sized> OwnedRwLockWriteGuard<T> {
    fn reading(&self) -> Access {
        reading(self.access.owner().inner.all())
    }

    /// Narrows the guard to a part of the value.
    #[inline]
    pub fn map<F, U: ?Sized>(this: Self, f: F) -> OwnedRwLockMappedWriteGuard<T, U>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        OwnedRwLockMappedWriteGuard {
            access: this.access.map(f),
        }
    }

    /// Narrows the guard to a part of the value, if there is such a part.
    ///
    /// # Errors
    /// The guard itself, when `f` returns `None`.
    #[inline]
    pub fn try_map<F, U: ?Sized>(
        this: Self,
        f: F,
    ) -> Result<OwnedRwLockMappedWriteGuard<T, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        match this.access.try_map(f) {
            Ok(access) => Ok(OwnedRwLockMappedWriteGuard { access }),
            Err(access) => Err(OwnedRwLockWriteGuard { access }),
        }
    }

    /// Lets readers in, narrowed to a part of the value; no writer comes between.
    #[inline]
    pub fn downgrade_map<F, U: ?Sized>(this: Self, f: F) -> OwnedRwLockReadGuard<T, U>
    where
        F: FnOnce(&T) -> &U,
    {
        let reading = this.reading();
        OwnedRwLockReadGuard {
            access: this.access.downgrade_map(reading, f),
        }
    }

    /// Lets readers in, narrowed to a part of the value, if there is such a part.
    ///
    /// # Errors
    /// The guard itself, when `f` returns `None`.
    #[inline]
    pub fn try_downgrade_map<F, U: ?Sized>(
        this: Self,
        f: F,
    ) -> Result<OwnedRwLockReadGuard<T, U>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
    {
        let reading = this.reading();
        match this.access.try_downgrade_map(reading, f) {
            Ok(access) => Ok(OwnedRwLockReadGuard { access }),
            Err(access) => Err(OwnedRwLockWriteGuard { access }),
        }
    }

    /// The same guard as one that was narrowed, to the whole value.
    #[inline]
    pub fn into_mapped(this: Self) -> OwnedRwLockMappedWriteGuard<T> {
        OwnedRwLockMappedWriteGuard {
            access: this.access,
        }
    }

    /// Lets readers in; no writer comes between.
    pub fn downgrade(self) -> OwnedRwLockReadGuard<T> {
        let reading = self.reading();
        OwnedRwLockReadGuard {
            access: self.access.downgrade(reading),
        }
    }

    /// The lock.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        this.access.owner()
    }
}

/// Sole access to a part of the value of a lock, given back when this is dropped; the lock lives
/// until then.
///
/// # Scheduling points
/// One when dropped, before it unlocks, at granularity `sync`.
#[clippy::has_significant_drop]
pub struct OwnedRwLockMappedWriteGuard<T: ?Sized, U: ?Sized = T> {
    access: Exclusive<Arc<RwLock<T>>, U>,
}

guard_traits!(impl[T: ?Sized, U: ?Sized] mut OwnedRwLockMappedWriteGuard<T, U> => U);

impl<T: ?Sized, U: ?Sized> OwnedRwLockMappedWriteGuard<T, U> {
    /// Narrows the guard further.
    #[inline]
    pub fn map<F, V: ?Sized>(this: Self, f: F) -> OwnedRwLockMappedWriteGuard<T, V>
    where
        F: FnOnce(&mut U) -> &mut V,
    {
        OwnedRwLockMappedWriteGuard {
            access: this.access.map(f),
        }
    }

    /// Narrows the guard further, if there is such a part.
    ///
    /// # Errors
    /// The guard itself, when `f` returns `None`.
    #[inline]
    pub fn try_map<F, V: ?Sized>(
        this: Self,
        f: F,
    ) -> Result<OwnedRwLockMappedWriteGuard<T, V>, Self>
    where
        F: FnOnce(&mut U) -> Option<&mut V>,
    {
        match this.access.try_map(f) {
            Ok(access) => Ok(OwnedRwLockMappedWriteGuard { access }),
            Err(access) => Err(OwnedRwLockMappedWriteGuard { access }),
        }
    }

    /// The lock.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        this.access.owner()
    }
}
