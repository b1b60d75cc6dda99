//! The value behind its lock, and references to it.
//!
//! Outside a world a thread that finds the lock taken waits as for any lock. Inside, its holder is
//! a task that was suspended meanwhile, on this very thread: so the poll is suspended too, until
//! the holder lets go.
//!
//! Does not: wake those who wait for a new value.

use crate::queue::{Place, Queue};
use cct_executor::shim::{OpKind, Resource, Shared, in_task, suspend_until};
use std::fmt;
use std::future::poll_fn;
use std::ops::Deref;
use std::panic::{Location, RefUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{
    LockResult, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult,
};

/// How an operation on the value presents itself when it has to wait.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) resource: &'a Resource,
    pub(super) kind: OpKind,
    pub(super) site: &'static Location<'static>,
}

pub(super) struct Value<T> {
    lock: RwLock<T>,
    suspended: Suspended,
}

/// Polls that are suspended because the value is locked.
struct Suspended {
    any: AtomicBool,
    queue: Shared<Queue>,
}

impl RefUnwindSafe for Suspended {}

impl<T> Value<T> {
    pub(super) fn new(value: T) -> Self {
        let suspended = Suspended {
            any: AtomicBool::new(false),
            queue: Shared::new(Queue::new()),
        };
        Value {
            lock: RwLock::new(value),
            suspended,
        }
    }

    /// Locks for reading.
    #[inline]
    pub(super) fn read(&self, call: Call<'_>) -> Locked<'_, RwLockReadGuard<'_, T>> {
        self.suspended
            .lock(call, || self.lock.try_read(), || self.lock.read())
    }

    /// Locks for writing.
    #[inline]
    pub(super) fn write(&self, call: Call<'_>) -> Locked<'_, RwLockWriteGuard<'_, T>> {
        self.suspended
            .lock(call, || self.lock.try_write(), || self.lock.write())
    }
}

impl<T: fmt::Debug> fmt::Debug for Value<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lock.fmt(f)
    }
}

/// A guard; who waits for it goes on when it is dropped.
pub(super) struct Locked<'a, G> {
    pub(super) guard: G,
    /// Dropped after the guard.
    _resume: Resume<'a>,
}

impl Suspended {
    /// A panic in a closure that changed the value does not poison it, as in tokio.
    #[inline]
    fn lock<G>(
        &self,
        call: Call<'_>,
        attempt: impl Fn() -> TryLockResult<G>,
        block: impl FnOnce() -> LockResult<G>,
    ) -> Locked<'_, G> {
        let attempt = || match attempt() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        let guard = match attempt() {
            Some(guard) => guard,
            None if in_task() => self.wait(call, attempt),
            None => block().unwrap_or_else(PoisonError::into_inner),
        };
        Locked {
            guard,
            _resume: Resume(self),
        }
    }

    #[cold]
    fn wait<G>(&self, call: Call<'_>, attempt: impl Fn() -> Option<G>) -> G {
        let mut place = Place::new(&self.queue, |queue| queue);
        suspend_until(poll_fn(|cx| {
            let poll = place.poll(cx, |_| {
                self.any.store(true, Ordering::Relaxed);
                attempt()
            });
            if poll.is_pending() {
                call.resource.blocked(call.kind, call.site);
            }
            poll
        }))
    }
}

struct Resume<'a>(&'a Suspended);

impl Drop for Resume<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.0.any.load(Ordering::Relaxed) {
            self.0.any.store(false, Ordering::Relaxed);
            crate::queue::let_go(&self.0.queue, |queue| queue);
        }
    }
}

/// Access to the value. While it exists, sending blocks.
pub struct Ref<'a, T> {
    locked: Locked<'a, RwLockReadGuard<'a, T>>,
    has_changed: bool,
}

impl<'a, T> Ref<'a, T> {
    pub(super) fn new(locked: Locked<'a, RwLockReadGuard<'a, T>>, has_changed: bool) -> Self {
        Ref {
            locked,
            has_changed,
        }
    }

    /// Whether the receiver had not seen this value before. False for a sender's reference.
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }
}

impl<T> Deref for Ref<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.locked.guard
    }
}

impl<T: fmt::Debug> fmt::Debug for Ref<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ref")
            .field("inner", &self.locked.guard)
            .field("has_changed", &self.has_changed)
            .finish()
    }
}
