//! A mutual exclusion lock: a semaphore of one permit around a value.
//!
//! Does not: poison, as tokio's does not; a guard dropped by a panic unlocks.

mod guard;
mod owned_guard;

pub use guard::{MappedMutexGuard, MutexGuard};
pub use owned_guard::{OwnedMappedMutexGuard, OwnedMutexGuard};

use crate::batch_semaphore::Call;
use crate::raw::guarded::{self, AcquireSole, Guarded};
use cct_executor::shim::{OpKind, ResourceKind, block_on};
use pin_project_lite::pin_project;
use std::fmt;
use std::marker::PhantomPinned;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// A lock that is waited for asynchronously, in the order in which it was asked for.
///
/// # Differences from tokio
/// None.
pub struct Mutex<T: ?Sized> {
    pub(crate) inner: Guarded<T>,
}

/// The lock could not be had at once.
#[derive(Debug)]
pub struct TryLockError(pub(crate) ());

impl fmt::Display for TryLockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("operation would block")
    }
}

impl std::error::Error for TryLockError {}

pin_project! {
    /// The future of [`Mutex::lock`].
    struct Lock<'a, T: ?Sized> {
        access: AcquireSole<'a, Mutex<T>>,
        // Not `Unpin`, as tokio's is not.
        #[pin]
        pinned: PhantomPinned,
    }
}

impl<'a, T: ?Sized> Future for Lock<'a, T> {
    type Output = MutexGuard<'a, T>;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let access = ready!(Pin::new(this.access).poll(cx));
        Poll::Ready(MutexGuard { access })
    }
}

#[track_caller]
#[inline]
fn call(kind: OpKind) -> Call {
    Call::write(kind, Location::caller())
}

impl<T> Mutex<T> {
    /// An unlocked mutex around `value`.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Mutex {
            inner: Guarded::new(ResourceKind::Mutex, 1, value),
        }
    }

    /// An unlocked mutex around `value`, for statics.
    #[track_caller]
    pub const fn const_new(value: T) -> Self {
        Mutex {
            inner: Guarded::const_new(ResourceKind::Mutex, 1, value),
        }
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits for the lock.
    ///
    /// # Scheduling points
    /// One, in the first poll.
    ///
    /// # Cancel safety
    /// Dropping the future gives up its place in the queue.
    #[track_caller]
    #[inline]
    pub fn lock(&self) -> impl Future<Output = MutexGuard<'_, T>> {
        Lock {
            access: guarded::sole(self, call(OpKind::Lock)),
            pinned: PhantomPinned,
        }
    }

    /// Waits for the lock; the guard keeps the mutex alive.
    ///
    /// # Scheduling points
    /// One, in the first poll.
    ///
    /// # Cancel safety
    /// Dropping the future gives up its place in the queue.
    #[track_caller]
    #[inline]
    pub fn lock_owned(self: Arc<Self>) -> impl Future<Output = OwnedMutexGuard<T>> {
        let call = call(OpKind::Lock);
        async move {
            OwnedMutexGuard {
                access: guarded::exclusive_owned(self, call).await,
            }
        }
    }

    /// Takes the lock if nobody has it.
    ///
    /// # Scheduling points
    /// One, before it looks, at granularity `sync`.
    ///
    /// # Errors
    /// If the mutex is locked.
    #[track_caller]
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError> {
        let access = guarded::try_sole(self, call(OpKind::TryLock))?;
        Ok(MutexGuard { access })
    }

    /// Takes the lock if nobody has it; the guard keeps the mutex alive.
    ///
    /// # Scheduling points
    /// One, before it looks, at granularity `sync`.
    ///
    /// # Errors
    /// If the mutex is locked.
    #[track_caller]
    pub fn try_lock_owned(self: Arc<Self>) -> Result<OwnedMutexGuard<T>, TryLockError> {
        let access = guarded::try_exclusive_owned(self, call(OpKind::TryLock))?;
        Ok(OwnedMutexGuard { access })
    }

    /// Blocks until the lock is had.
    ///
    /// # Panics
    /// Inside an asynchronous task.
    #[track_caller]
    pub fn blocking_lock(&self) -> MutexGuard<'_, T> {
        block_on(self.lock())
    }

    /// Blocks until the lock is had; the guard keeps the mutex alive.
    ///
    /// # Panics
    /// Inside an asynchronous task.
    #[track_caller]
    pub fn blocking_lock_owned(self: Arc<Self>) -> OwnedMutexGuard<T> {
        block_on(self.lock_owned())
    }

    /// The value, without locking: the borrow proves that nobody else is there.
    pub fn get_mut(&mut self) -> &mut T {
        self.inner.get_mut()
    }
}

impl<T> From<T> for Mutex<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Default> Default for Mutex<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.peek(|value| {
            let mut out = f.debug_struct("Mutex");
            match value {
                Some(value) => out.field("data", &value),
                None => out.field("data", &format_args!("<locked>")),
            };
            out.finish()
        })
    }
}
