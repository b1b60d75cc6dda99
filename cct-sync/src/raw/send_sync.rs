//! Which locks and guards may cross threads. The bounds are tokio's.
//!
//! Guards hold raw pointers, so nothing is derived. A guard that can reach `&mut T` moves a `T`,
//! and one that can reach `&T` shares it; a guard that owns its lock may also be the one that
//! drops the value, wherever it is dropped.

use crate::mutex::{MappedMutexGuard, Mutex, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard};
use crate::rwlock::{
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock,
    RwLockMappedWriteGuard, RwLockReadGuard, RwLockWriteGuard,
};

// SAFETY: one access at a time, which may come from any thread: the value moves between threads.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

// SAFETY: as for `Mutex`, and several threads may look at the value at once.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

// SAFETY: a guard of a mutex stands for `&mut T`; sending it sends a `T`.
unsafe impl<T: ?Sized + Send> Send for MutexGuard<'_, T> {}
// SAFETY: a shared guard gives `&T`, and its lock to be locked.
unsafe impl<T: ?Sized + Send + Sync> Sync for MutexGuard<'_, T> {}

// SAFETY: as for `MutexGuard`; the value may be dropped with the guard, which sends it.
unsafe impl<T: ?Sized + Send> Send for OwnedMutexGuard<T> {}
// SAFETY: as for `MutexGuard`.
unsafe impl<T: ?Sized + Send + Sync> Sync for OwnedMutexGuard<T> {}

// SAFETY: the guard stands for `&mut T` and reaches nothing else.
unsafe impl<T: ?Sized + Send> Send for MappedMutexGuard<'_, T> {}
// SAFETY: a shared guard gives `&T` and reaches nothing else.
unsafe impl<T: ?Sized + Sync> Sync for MappedMutexGuard<'_, T> {}

// SAFETY: the guard stands for `&mut U` and may be the one that drops the `T`.
unsafe impl<T: ?Sized + Send, U: ?Sized + Send> Send for OwnedMappedMutexGuard<T, U> {}
// SAFETY: a shared guard gives `&U`; the bounds on `T` are tokio's, stricter than needed.
unsafe impl<T, U> Sync for OwnedMappedMutexGuard<T, U>
where
    T: ?Sized + Send + Sync,
    U: ?Sized + Send + Sync,
{
}

// SAFETY: the guard stands for `&T`.
unsafe impl<T: ?Sized + Sync> Send for RwLockReadGuard<'_, T> {}
// SAFETY: a shared guard gives `&T`; `Send` is tokio's bound, stricter than needed.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLockReadGuard<'_, T> {}

// SAFETY: the guard stands for `&U`, shares the lock, and may be the one that drops the `T`.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Sync> Send for OwnedRwLockReadGuard<T, U> {}
// SAFETY: a shared guard gives `&U`, and its lock to be locked.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Send + Sync> Sync for OwnedRwLockReadGuard<T, U> {}

// SAFETY: the guard stands for `&mut T`, and for `&T` once it is downgraded.
unsafe impl<T: ?Sized + Send + Sync> Send for RwLockWriteGuard<'_, T> {}
// SAFETY: a shared guard gives `&T`.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLockWriteGuard<'_, T> {}

// SAFETY: as for `RwLockWriteGuard`; shares the lock, and may be the one that drops the `T`.
unsafe impl<T: ?Sized + Send + Sync> Send for OwnedRwLockWriteGuard<T> {}
// SAFETY: a shared guard gives `&T`, and its lock to be locked.
unsafe impl<T: ?Sized + Send + Sync> Sync for OwnedRwLockWriteGuard<T> {}

// SAFETY: the guard stands for `&mut T`.
unsafe impl<T: ?Sized + Send + Sync> Send for RwLockMappedWriteGuard<'_, T> {}
// SAFETY: a shared guard gives `&T`.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLockMappedWriteGuard<'_, T> {}

// SAFETY: the guard stands for `&mut U`, shares the lock, and may be the one that drops the `T`.
unsafe impl<T, U> Send for OwnedRwLockMappedWriteGuard<T, U>
where
    T: ?Sized + Send + Sync,
    U: ?Sized + Send + Sync,
{
}
// SAFETY: a shared guard gives `&U`, and its lock to be locked.
unsafe impl<T, U> Sync for OwnedRwLockMappedWriteGuard<T, U>
where
    T: ?Sized + Send + Sync,
    U: ?Sized + Send + Sync,
{
}
