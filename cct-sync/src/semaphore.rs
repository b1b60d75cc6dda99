//! A counting semaphore for user code.
//!
//! Does not: queue or count, see `batch_semaphore`.

mod permit;

pub use permit::{OwnedSemaphorePermit, SemaphorePermit};

use crate::batch_semaphore::{BatchSemaphore, Call};
use cct_executor::shim::{Access, OpKind, ResourceKind, block_on};
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

/// A number of permits, handed out strictly in the order in which they were asked for.
///
/// # Differences from tokio
/// None.
#[derive(Debug)]
pub struct Semaphore {
    inner: BatchSemaphore,
}

/// The semaphore was closed.
#[derive(Debug)]
pub struct AcquireError(pub(crate) ());

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("semaphore closed")
    }
}

impl std::error::Error for AcquireError {}

/// Why permits could not be had at once.
#[derive(Debug, PartialEq, Eq)]
pub enum TryAcquireError {
    /// The semaphore was closed.
    Closed,
    /// There are not enough free permits.
    NoPermits,
}

impl fmt::Display for TryAcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TryAcquireError::Closed => "semaphore closed",
            TryAcquireError::NoPermits => "no permits available",
        })
    }
}

impl std::error::Error for TryAcquireError {}

#[track_caller]
fn call(kind: OpKind) -> Call {
    Call::write(kind, Location::caller())
}

impl Semaphore {
    /// The largest number of permits a semaphore can have.
    pub const MAX_PERMITS: usize = BatchSemaphore::MAX_PERMITS;

    /// A semaphore with this many permits.
    ///
    /// # Panics
    /// If `permits` exceeds [`MAX_PERMITS`](Self::MAX_PERMITS).
    #[track_caller]
    pub fn new(permits: usize) -> Self {
        Semaphore {
            inner: BatchSemaphore::new(ResourceKind::Semaphore, permits),
        }
    }

    /// A semaphore with this many permits, for statics.
    ///
    /// # Panics
    /// If `permits` exceeds [`MAX_PERMITS`](Self::MAX_PERMITS).
    #[track_caller]
    pub const fn const_new(permits: usize) -> Self {
        Semaphore {
            inner: BatchSemaphore::const_new(ResourceKind::Semaphore, permits),
        }
    }

    /// How many permits are free.
    ///
    /// # Scheduling points
    /// One, before it looks, at granularity `sync`.
    #[track_caller]
    pub fn available_permits(&self) -> usize {
        self.inner
            .resource()
            .sync_point(OpKind::Get, Access::Read, Location::caller());
        self.inner.available_permits()
    }

    /// Adds permits: first to those who wait, in their order.
    ///
    /// # Scheduling points
    /// One, before it adds, at granularity `sync`, and one after it at `spawn` if somebody was woken.
    ///
    /// # Panics
    /// If more than [`MAX_PERMITS`](Self::MAX_PERMITS) would be free.
    #[track_caller]
    pub fn add_permits(&self, n: usize) {
        if n > 0 {
            self.sync_point(call(OpKind::Release));
            self.inner.release(n, Location::caller());
        }
    }

    /// Takes up to `n` free permits away for good, and returns how many.
    ///
    /// # Scheduling points
    /// One, before it takes, at granularity `sync`.
    #[track_caller]
    pub fn forget_permits(&self, n: usize) -> usize {
        self.sync_point(call(OpKind::TryAcquire));
        self.inner.forget_permits(n)
    }

    /// Waits for one permit.
    ///
    /// # Scheduling points
    /// One, in the first poll.
    ///
    /// # Cancel safety
    /// Dropping the future gives up its place in the queue; permits assigned to it go back.
    ///
    /// # Errors
    /// If the semaphore is closed, before or while waiting.
    #[track_caller]
    #[inline]
    pub fn acquire(&self) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        self.acquire_many(1)
    }

    /// Waits for `n` permits. Those that are free or come back are set aside until all are here.
    ///
    /// # Scheduling points
    /// One, in the first poll.
    ///
    /// # Cancel safety
    /// Dropping the future gives up its place in the queue; permits assigned to it go back.
    ///
    /// # Errors
    /// If the semaphore is closed, before or while waiting.
    #[track_caller]
    #[inline]
    pub fn acquire_many(
        &self,
        n: u32,
    ) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        let call = call(OpKind::Acquire);
        async move {
            self.inner.acquire(n, call).await?;
            Ok(SemaphorePermit::new(self, n as usize, call.site))
        }
    }

    /// Waits for one permit; the permit keeps the semaphore alive.
    ///
    /// # Scheduling points
    /// One, in the first poll.
    ///
    /// # Cancel safety
    /// Dropping the future gives up its place in the queue; permits assigned to it go back.
    ///
    /// # Errors
    /// If the semaphore is closed, before or while waiting.
    #[track_caller]
    pub fn acquire_owned(
        self: Arc<Self>,
    ) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        self.acquire_many_owned(1)
    }

    /// Waits for `n` permits; the permits keep the semaphore alive.
    ///
    /// # Scheduling points
    /// One, in the first poll.
    ///
    /// # Cancel safety
    /// Dropping the future gives up its place in the queue; permits assigned to it go back.
    ///
    /// # Errors
    /// If the semaphore is closed, before or while waiting.
    #[track_caller]
    pub fn acquire_many_owned(
        self: Arc<Self>,
        n: u32,
    ) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        let call = call(OpKind::Acquire);
        async move {
            self.inner.acquire(n, call).await?;
            self.inner.resource().movable();
            Ok(OwnedSemaphorePermit::new(self, n as usize, call.site))
        }
    }

    /// Takes one permit if it is free.
    ///
    /// # Scheduling points
    /// One, before it looks, at granularity `sync`.
    ///
    /// # Errors
    /// If no permit is free, or the semaphore is closed.
    #[track_caller]
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many(1)
    }

    /// Takes `n` permits if they are free.
    ///
    /// # Scheduling points
    /// One, before it looks, at granularity `sync`.
    ///
    /// # Errors
    /// If fewer permits are free, or the semaphore is closed.
    #[track_caller]
    pub fn try_acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        let site = self.try_take(n)?;
        Ok(SemaphorePermit::new(self, n as usize, site))
    }

    /// Takes one permit if it is free; the permit keeps the semaphore alive.
    ///
    /// # Scheduling points
    /// One, before it looks, at granularity `sync`.
    ///
    /// # Errors
    /// If no permit is free, or the semaphore is closed.
    #[track_caller]
    pub fn try_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_acquire_many_owned(1)
    }

    /// Takes `n` permits if they are free; the permits keep the semaphore alive.
    ///
    /// # Scheduling points
    /// One, before it looks, at granularity `sync`.
    ///
    /// # Errors
    /// If fewer permits are free, or the semaphore is closed.
    #[track_caller]
    pub fn try_acquire_many_owned(
        self: Arc<Self>,
        n: u32,
    ) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        let site = self.try_take(n)?;
        self.inner.resource().movable();
        Ok(OwnedSemaphorePermit::new(self, n as usize, site))
    }

    /// Blocks until there is a permit.
    ///
    /// # Errors
    /// If the semaphore is closed, before or while waiting.
    ///
    /// # Panics
    /// Inside an asynchronous task.
    #[track_caller]
    pub fn blocking_acquire(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        block_on(self.acquire())
    }

    /// Blocks until there are `n` permits.
    ///
    /// # Errors
    /// If the semaphore is closed, before or while waiting.
    ///
    /// # Panics
    /// Inside an asynchronous task.
    #[track_caller]
    pub fn blocking_acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, AcquireError> {
        block_on(self.acquire_many(n))
    }

    /// Blocks until there is a permit; the permit keeps the semaphore alive.
    ///
    /// # Errors
    /// If the semaphore is closed, before or while waiting.
    ///
    /// # Panics
    /// Inside an asynchronous task.
    #[track_caller]
    pub fn blocking_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, AcquireError> {
        block_on(self.acquire_owned())
    }

    /// Blocks until there are `n` permits; the permits keep the semaphore alive.
    ///
    /// # Errors
    /// If the semaphore is closed, before or while waiting.
    ///
    /// # Panics
    /// Inside an asynchronous task.
    #[track_caller]
    pub fn blocking_acquire_many_owned(
        self: Arc<Self>,
        n: u32,
    ) -> Result<OwnedSemaphorePermit, AcquireError> {
        block_on(self.acquire_many_owned(n))
    }

    /// Makes every acquisition fail from now on, those that wait included.
    ///
    /// # Scheduling points
    /// One, before it closes, at granularity `sync`, and one after it at `spawn` if somebody was woken.
    #[track_caller]
    pub fn close(&self) {
        self.sync_point(call(OpKind::Close));
        self.inner.close(Location::caller());
    }

    /// Whether the semaphore was closed.
    ///
    /// # Scheduling points
    /// One, before it looks, at granularity `sync`.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.inner
            .resource()
            .sync_point(OpKind::Get, Access::Read, Location::caller());
        self.inner.is_closed()
    }

    fn sync_point(&self, call: Call) {
        self.inner
            .resource()
            .sync_point(call.kind, call.access, call.site);
    }

    #[track_caller]
    fn try_take(&self, n: u32) -> Result<&'static Location<'static>, TryAcquireError> {
        let call = call(OpKind::TryAcquire);
        self.sync_point(call);
        self.inner.try_acquire(n as usize)?;
        if n > 0 {
            self.inner.resource().acquired(call.site);
        }
        Ok(call.site)
    }
}
