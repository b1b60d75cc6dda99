//! A value next to the semaphore that decides who may reach it.

use super::access::{Exclusive, Hold, Joint, Sole};
use crate::batch_semaphore::{Acquire, BatchSemaphore, Call};
use crate::mutex::{Mutex, TryLockError};
use crate::rwlock::RwLock;
use crate::semaphore::AcquireError;
use cct_executor::shim::ResourceKind;
use std::cell::UnsafeCell;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// A value that is reached by who holds permits: one to look, all to change it.
pub(crate) struct Guarded<T: ?Sized> {
    semaphore: BatchSemaphore,
    value: UnsafeCell<T>,
}

/// A lock: something with one [`Guarded`] value inside.
///
/// # Safety
/// `guarded` returns the same value whenever it is called, at one address as long as the lock is
/// not moved.
pub(crate) unsafe trait Lock {
    type Value: ?Sized;

    fn guarded(&self) -> &Guarded<Self::Value>;
}

// SAFETY: a plain field, reached by reference.
unsafe impl<T: ?Sized> Lock for Mutex<T> {
    type Value = T;

    #[inline]
    fn guarded(&self) -> &Guarded<T> {
        &self.inner
    }
}

// SAFETY: as above.
unsafe impl<T: ?Sized> Lock for RwLock<T> {
    type Value = T;

    #[inline]
    fn guarded(&self) -> &Guarded<T> {
        &self.inner
    }
}

impl<T> Guarded<T> {
    #[track_caller]
    pub(crate) fn new(kind: ResourceKind, permits: u32, value: T) -> Self {
        Guarded {
            semaphore: BatchSemaphore::new(kind, permits as usize),
            value: UnsafeCell::new(value),
        }
    }

    #[track_caller]
    pub(crate) const fn const_new(kind: ResourceKind, permits: u32, value: T) -> Self {
        Guarded {
            semaphore: BatchSemaphore::const_new(kind, permits as usize),
            value: UnsafeCell::new(value),
        }
    }

    pub(crate) fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Guarded<T> {
    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    #[inline]
    pub(super) fn value(&self) -> *mut T {
        self.value.get()
    }

    #[inline]
    pub(super) fn semaphore(&self) -> &BatchSemaphore {
        &self.semaphore
    }

    /// How many permits there are. The constructors saw to it that this fits.
    #[inline]
    pub(crate) fn all(&self) -> u32 {
        self.semaphore.initial() as u32
    }

    #[inline]
    fn try_take(&self, permits: u32, call: Call) -> Result<u32, TryLockError> {
        self.semaphore
            .resource()
            .sync_point(call.kind, call.access, call.site);
        self.semaphore
            .try_acquire(permits as usize)
            .map_err(|_| TryLockError(()))?;
        self.semaphore.resource().acquired(call.site);
        Ok(permits)
    }

    /// Shows the value to `look` if nobody is changing it. For `Debug`: not a scheduling point.
    pub(crate) fn peek<R>(&self, look: impl FnOnce(Option<&T>) -> R) -> R {
        struct GiveBack<'a>(&'a BatchSemaphore, &'static Location<'static>);
        impl Drop for GiveBack<'_> {
            fn drop(&mut self) {
                self.0.release(1, self.1);
            }
        }
        if self.semaphore.try_acquire(1).is_err() {
            return look(None);
        }
        let _give_back = GiveBack(&self.semaphore, Location::caller());
        // SAFETY: this function holds a permit until it returns, so nobody has exclusive access.
        look(Some(unsafe { &*self.value.get() }))
    }
}

/// Waits for all permits, to change the value.
#[inline]
pub(crate) fn sole<L: Lock + ?Sized>(lock: &L, call: Call) -> AcquireSole<'_, L> {
    let permits = lock.guarded().all();
    AcquireSole {
        lock,
        acquire: lock.guarded().semaphore.acquire(permits, call),
    }
}

/// The future of [`sole`]. Written out: an `async fn` around another future copies its state once
/// more each time.
#[must_use = "futures do nothing unless awaited"]
pub(crate) struct AcquireSole<'a, L: ?Sized> {
    lock: &'a L,
    acquire: Acquire<'a>,
}

impl<'a, L: Lock + ?Sized> Future for AcquireSole<'a, L> {
    type Output = Sole<'a, L>;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        granted(ready!(Pin::new(&mut self.acquire).poll(cx)));
        Poll::Ready(Sole::new(self.lock, self.acquire.call().site))
    }
}

/// Waits for all permits.
#[inline]
pub(crate) async fn exclusive<L: Lock + ?Sized>(
    lock: &L,
    call: Call,
) -> Exclusive<&BatchSemaphore, L::Value> {
    sole(lock, call).await.into_exclusive()
}

/// Waits for one permit.
#[inline]
pub(crate) async fn joint<L: Lock + ?Sized>(
    lock: &L,
    call: Call,
) -> Joint<&BatchSemaphore, L::Value> {
    granted(lock.guarded().semaphore.acquire(1, call).await);
    let Guarded { semaphore, value } = lock.guarded();
    Joint::new(value.get(), Hold::new(semaphore, 1, call))
}

/// Waits for all permits; the access keeps the lock alive.
#[inline]
pub(crate) async fn exclusive_owned<L: Lock + ?Sized>(
    lock: Arc<L>,
    call: Call,
) -> Exclusive<Arc<L>, L::Value> {
    let permits = lock.guarded().all();
    granted(lock.guarded().semaphore.acquire(permits, call).await);
    lock.guarded().semaphore.resource().movable();
    let value = lock.guarded().value.get();
    Exclusive::new(value, Hold::new(lock, permits, call))
}

/// Waits for one permit; the access keeps the lock alive.
#[inline]
pub(crate) async fn joint_owned<L: Lock + ?Sized>(
    lock: Arc<L>,
    call: Call,
) -> Joint<Arc<L>, L::Value> {
    granted(lock.guarded().semaphore.acquire(1, call).await);
    lock.guarded().semaphore.resource().movable();
    let value = lock.guarded().value.get();
    Joint::new(value, Hold::new(lock, 1, call))
}

/// Takes all permits if they are free.
#[inline]
pub(crate) fn try_sole<L: Lock + ?Sized>(
    lock: &L,
    call: Call,
) -> Result<Sole<'_, L>, TryLockError> {
    lock.guarded().try_take(lock.guarded().all(), call)?;
    Ok(Sole::new(lock, call.site))
}

/// Takes one permit if it is free.
#[inline]
pub(crate) fn try_joint<L: Lock + ?Sized>(
    lock: &L,
    call: Call,
) -> Result<Joint<&BatchSemaphore, L::Value>, TryLockError> {
    let permits = lock.guarded().try_take(1, call)?;
    let Guarded { semaphore, value } = lock.guarded();
    Ok(Joint::new(value.get(), Hold::new(semaphore, permits, call)))
}

/// Takes all permits if they are free; the access keeps the lock alive.
#[inline]
pub(crate) fn try_exclusive_owned<L: Lock + ?Sized>(
    lock: Arc<L>,
    call: Call,
) -> Result<Exclusive<Arc<L>, L::Value>, TryLockError> {
    let permits = lock.guarded().try_take(lock.guarded().all(), call)?;
    lock.guarded().semaphore.resource().movable();
    let value = lock.guarded().value.get();
    Ok(Exclusive::new(value, Hold::new(lock, permits, call)))
}

/// Takes one permit if it is free; the access keeps the lock alive.
#[inline]
pub(crate) fn try_joint_owned<L: Lock + ?Sized>(
    lock: Arc<L>,
    call: Call,
) -> Result<Joint<Arc<L>, L::Value>, TryLockError> {
    let permits = lock.guarded().try_take(1, call)?;
    lock.guarded().semaphore.resource().movable();
    let value = lock.guarded().value.get();
    Ok(Joint::new(value, Hold::new(lock, permits, call)))
}

#[inline]
fn granted(result: Result<(), AcquireError>) {
    assert!(
        result.is_ok(),
        "cct bug: the semaphore of a lock was closed"
    );
}
