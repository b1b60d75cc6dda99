//! A lock for one writer or many readers: a semaphore around a value, of which a reader takes one
//! permit and a writer all.
//!
//! As permits go out in order, a reader that comes after a waiting writer waits too, even while
//! others read.

mod owned_read_guard;
mod owned_write_guard;
mod read_guard;
mod write_guard;

pub use owned_read_guard::OwnedRwLockReadGuard;
pub use owned_write_guard::{OwnedRwLockMappedWriteGuard, OwnedRwLockWriteGuard};
pub use read_guard::RwLockReadGuard;
pub use write_guard::{RwLockMappedWriteGuard, RwLockWriteGuard};

use crate::batch_semaphore::Call;
use crate::mutex::TryLockError;
use crate::raw::guarded::{self, Guarded};
use cct_executor::shim::{Access, OpKind, ResourceKind, block_on};
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;

/// As many readers as anybody asked for.
const MAX_READERS: u32 = u32::MAX >> 3;

/// A lock for one writer or many readers, handed out in the order in which it was asked for.
///
/// # Differences from tokio
/// None.
pub struct RwLock<T: ?Sized> {
    pub(crate) inner: Guarded<T>,
}

/// How a reader with one of `readers` permits presents itself.
fn reading(readers: u32) -> Access {
    // Where permits are scarce, readers stand in each other's way.
    if readers == MAX_READERS {
        Access::Read
    } else {
        Access::Write
    }
}

impl<T> RwLock<T> {
    /// An unlocked lock around `value`.
    #[track_caller]
    pub fn new(value: T) -> RwLock<T> {
        RwLock {
            inner: Guarded::new(ResourceKind::RwLock, MAX_READERS, value),
        }
    }

    /// An unlocked lock around `value` that lets at most `max_reads` readers in at a time.
    ///
    /// # Panics
    /// If `max_reads` is 0 or exceeds `u32::MAX >> 3`.
    #[track_caller]
    pub fn with_max_readers(value: T, max_reads: u32) -> RwLock<T> {
        assert_ne!(max_reads, 0, "a RwLock may not be created with 0 readers");
        assert!(
            max_reads <= MAX_READERS,
            "a RwLock may not be created with more than {MAX_READERS} readers"
        );
        RwLock {
            inner: Guarded::new(ResourceKind::RwLock, max_reads, value),
        }
    }

    /// An unlocked lock around `value`, for statics.
    #[track_caller]
    pub const fn const_new(value: T) -> RwLock<T> {
        RwLock {
            inner: Guarded::const_new(ResourceKind::RwLock, MAX_READERS, value),
        }
    }

    /// As [`with_max_readers`](Self::with_max_readers), for statics.
    ///
    /// # Panics
    /// If `max_reads` is 0 or exceeds `u32::MAX >> 3`.
    #[track_caller]
    pub const fn const_with_max_readers(value: T, max_reads: u32) -> RwLock<T> {
        assert!(max_reads != 0, "a RwLock may not be created with 0 readers");
        assert!(
            max_reads <= MAX_READERS,
            "a RwLock may not be created with so many readers"
        );
        RwLock {
            inner: Guarded::const_new(ResourceKind::RwLock, max_reads, value),
        }
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    #[track_caller]
    #[inline]
    fn reader(&self, kind: OpKind) -> Call {
        Call {
            site: Location::caller(),
            kind,
            access: reading(self.inner.all()),
        }
    }

    /// Waits until the value may be read.
    ///
    /// # Scheduling points
    /// One, in the first poll.
    ///
    /// # Cancel safety
    /// Dropping the future gives up its place in the queue.
    #[track_caller]
    #[inline]
    pub fn read(&self) -> impl Future<Output = RwLockReadGuard<'_, T>> {
        let call = self.reader(OpKind::ReadLock);
        async move {
            RwLockReadGuard {
                access: guarded::joint(self, call).await,
                marker: PhantomData,
            }
        }
    }

    /// Waits until the value may be read; the guard keeps the lock alive.
    ///
    /// # Scheduling points
    /// One, in the first poll.
    ///
    /// # Cancel safety
    /// Dropping the future gives up its place in the queue.
    #[track_caller]
    #[inline]
    pub fn read_owned(self: Arc<Self>) -> impl Future<Output = OwnedRwLockReadGuard<T>> {
        let call = self.reader(OpKind::ReadLock);
        async move {
            OwnedRwLockReadGuard {
                access: guarded::joint_owned(self, call).await,
            }
        }
    }

    /// Waits until the value may be changed.
    ///
    /// # Scheduling points
    /// One, in the first poll.
    ///
    /// # Cancel safety
    /// Dropping the future gives up its place in the queue.
    #[track_caller]
    #[inline]
    pub fn write(&self) -> impl Future<Output = RwLockWriteGuard<'_, T>> {
        let call = Call::write(OpKind::WriteLock, Location::caller());
        async move {
            let access = guarded::exclusive(self, call).await;
            RwLockWriteGuard {
                access,
                readers: self.inner.all(),
                marker: PhantomData,
            }
        }
    }

    /// Waits until the value may be changed; the guard keeps the lock alive.
    ///
    /// # Scheduling points
    /// One, in the first poll.
    ///
    /// # Cancel safety
    /// Dropping the future gives up its place in the queue.
    #[track_caller]
    #[inline]
    pub fn write_owned(self: Arc<Self>) -> impl Future<Output = OwnedRwLockWriteGuard<T>> {
        let call = Call::write(OpKind::WriteLock, Location::caller());
        async move {
            OwnedRwLockWriteGuard {
                access: guarded::exclusive_owned(self, call).await,
            }
        }
    }

    /// Lets the caller read, if nobody writes or waits to.
    ///
    /// # Scheduling points
    /// One, before it looks, at granularity `sync`.
    ///
    /// # Errors
    /// If the caller would have to wait.
    #[track_caller]
    pub fn try_read(&self) -> Result<RwLockReadGuard<'_, T>, TryLockError> {
        let access = guarded::try_joint(self, self.reader(OpKind::TryLock))?;
        Ok(RwLockReadGuard {
            access,
            marker: PhantomData,
        })
    }

    /// Lets the caller read, if nobody writes or waits to; the guard keeps the lock alive.
    ///
    /// # Scheduling points
    /// One, before it looks, at granularity `sync`.
    ///
    /// # Errors
    /// If the caller would have to wait.
    #[track_caller]
    pub fn try_read_owned(self: Arc<Self>) -> Result<OwnedRwLockReadGuard<T>, TryLockError> {
        let call = self.reader(OpKind::TryLock);
        Ok(OwnedRwLockReadGuard {
            access: guarded::try_joint_owned(self, call)?,
        })
    }

    /// Lets the caller write, if nobody reads or writes.
    ///
    /// # Scheduling points
    /// One, before it looks, at granularity `sync`.
    ///
    /// # Errors
    /// If the caller would have to wait.
    #[track_caller]
    pub fn try_write(&self) -> Result<RwLockWriteGuard<'_, T>, TryLockError> {
        let call = Call::write(OpKind::TryLock, Location::caller());
        let access = guarded::try_sole(self, call)?.into_exclusive();
        Ok(RwLockWriteGuard {
            access,
            readers: self.inner.all(),
            marker: PhantomData,
        })
    }

    /// Lets the caller write, if nobody reads or writes; the guard keeps the lock alive.
    ///
    /// # Scheduling points
    /// One, before it looks, at granularity `sync`.
    ///
    /// # Errors
    /// If the caller would have to wait.
    #[track_caller]
    pub fn try_write_owned(self: Arc<Self>) -> Result<OwnedRwLockWriteGuard<T>, TryLockError> {
        let call = Call::write(OpKind::TryLock, Location::caller());
        Ok(OwnedRwLockWriteGuard {
            access: guarded::try_exclusive_owned(self, call)?,
        })
    }

    /// Blocks until the value may be read.
    ///
    /// # Panics
    /// Inside an asynchronous task.
    #[track_caller]
    pub fn blocking_read(&self) -> RwLockReadGuard<'_, T> {
        block_on(self.read())
    }

    /// Blocks until the value may be changed.
    ///
    /// # Panics
    /// Inside an asynchronous task.
    #[track_caller]
    pub fn blocking_write(&self) -> RwLockWriteGuard<'_, T> {
        block_on(self.write())
    }

    /// The value, without locking: the borrow proves that nobody else is there.
    pub fn get_mut(&mut self) -> &mut T {
        self.inner.get_mut()
    }
}

impl<T> From<T> for RwLock<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Default> Default for RwLock<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.peek(|value| {
            let mut out = f.debug_struct("RwLock");
            match value {
                Some(value) => out.field("data", &value),
                None => out.field("data", &format_args!("<locked>")),
            };
            out.finish()
        })
    }
}
