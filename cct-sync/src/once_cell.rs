//! A cell that is initialised once, by whoever comes first.
//!
//! The one permit of a semaphore is the right to initialise; the semaphore is closed when the
//! value is there.

use crate::batch_semaphore::{BatchSemaphore, Call};
use crate::raw::once::OnceSlot;
use crate::semaphore::TryAcquireError;
use cct_executor::shim::{Access, OpKind, ResourceKind};
use std::fmt;
use std::future::poll_fn;
use std::panic::Location;

/// A cell that is written at most once, possibly by an asynchronous function.
///
/// # Differences from tokio
/// None.
pub struct OnceCell<T> {
    slot: OnceSlot<T>,
    semaphore: BatchSemaphore,
}

/// Why a cell could not be set. Gives back the value.
#[derive(Debug, PartialEq, Eq)]
pub enum SetError<T> {
    /// There is a value already.
    AlreadyInitializedError(T),
    /// Somebody is initialising the cell.
    InitializingError(T),
}

impl<T> SetError<T> {
    /// Whether there was a value already.
    pub fn is_already_init_err(&self) -> bool {
        matches!(self, SetError::AlreadyInitializedError(_))
    }

    /// Whether somebody was initialising the cell.
    pub fn is_initializing_err(&self) -> bool {
        matches!(self, SetError::InitializingError(_))
    }
}

impl<T> fmt::Display for SetError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SetError::AlreadyInitializedError(_) => "AlreadyInitializedError",
            SetError::InitializingError(_) => "InitializingError",
        })
    }
}

impl<T: fmt::Debug> std::error::Error for SetError<T> {}

/// The right to initialise, passed on when this is dropped.
struct Turn<'a> {
    semaphore: &'a BatchSemaphore,
    site: &'static Location<'static>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let resource = self.semaphore.resource();
        resource.sync_point(OpKind::Release, Access::Write, self.site);
        resource.released();
        self.semaphore.release(1, self.site);
    }
}

impl<T> OnceCell<T> {
    /// An empty cell.
    #[track_caller]
    pub fn new() -> Self {
        OnceCell {
            slot: OnceSlot::empty(),
            semaphore: BatchSemaphore::new(ResourceKind::OnceCell, 1),
        }
    }

    /// An empty cell, for statics.
    #[track_caller]
    pub const fn const_new() -> Self {
        OnceCell {
            slot: OnceSlot::empty(),
            semaphore: BatchSemaphore::const_new(ResourceKind::OnceCell, 1),
        }
    }

    /// A cell with this value, if there is one.
    #[track_caller]
    pub fn new_with(value: Option<T>) -> Self {
        match value {
            Some(value) => Self::const_new_with(value),
            None => Self::new(),
        }
    }

    /// A cell with this value, for statics.
    #[track_caller]
    pub const fn const_new_with(value: T) -> Self {
        OnceCell {
            slot: OnceSlot::full(value),
            semaphore: BatchSemaphore::const_new_closed(ResourceKind::OnceCell),
        }
    }

    /// Whether there is a value.
    ///
    /// # Scheduling points
    /// One, before it looks, at granularity `sync`.
    #[track_caller]
    pub fn initialized(&self) -> bool {
        self.get().is_some()
    }

    /// The value, if there is one.
    ///
    /// # Scheduling points
    /// One, before it looks, at granularity `sync`.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        self.semaphore
            .resource()
            .sync_point(OpKind::Get, Access::Read, Location::caller());
        self.slot.get()
    }

    /// The value, if there is one, to be changed.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.slot.get_mut()
    }

    /// Sets the value, if nobody did or is about to.
    ///
    /// # Scheduling points
    /// One, before it looks, at granularity `sync`.
    ///
    /// # Errors
    /// If there is a value already, or somebody is initialising the cell.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), SetError<T>> {
        self.semaphore
            .resource()
            .sync_point(OpKind::Set, Access::Write, Location::caller());
        match self.semaphore.try_acquire(1) {
            Ok(()) => {
                self.publish(value, Location::caller());
                Ok(())
            }
            Err(TryAcquireError::NoPermits) if !self.slot.is_full() => {
                Err(SetError::InitializingError(value))
            }
            Err(_) => Err(SetError::AlreadyInitializedError(value)),
        }
    }

    /// The value; made by `f` if there is none. While somebody makes it, others wait; if the
    /// maker is cancelled or panics, the next one in line makes it.
    ///
    /// # Scheduling points
    /// One, in the first poll; one before the new value is published, at granularity `sync`.
    ///
    /// # Cancel safety
    /// Safe for the cell. What `f` did so far is lost.
    #[track_caller]
    pub fn get_or_init<F, Fut>(&self, f: F) -> impl Future<Output = &T>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = T>,
    {
        let call = self.init_call();
        async move {
            match self.turn(call).await {
                Ok(value) => value,
                Err(turn) => {
                    let value = f().await;
                    self.complete(value, turn)
                }
            }
        }
    }

    /// The value; made by `f` if there is none. While somebody makes it, others wait; if the
    /// maker fails, is cancelled or panics, the next one in line makes it.
    ///
    /// # Scheduling points
    /// One, in the first poll; one before the new value is published, at granularity `sync`.
    ///
    /// # Cancel safety
    /// Safe for the cell. What `f` did so far is lost.
    ///
    /// # Errors
    /// The error of `f`; the cell is still empty then.
    #[track_caller]
    pub fn get_or_try_init<E, F, Fut>(&self, f: F) -> impl Future<Output = Result<&T, E>>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        let call = self.init_call();
        async move {
            match self.turn(call).await {
                Ok(value) => Ok(value),
                Err(turn) => {
                    let value = f().await?;
                    Ok(self.complete(value, turn))
                }
            }
        }
    }

    /// The value, if there is one.
    pub fn into_inner(self) -> Option<T> {
        self.slot.into_inner()
    }

    /// Takes the value out and leaves an empty cell.
    #[track_caller]
    pub fn take(&mut self) -> Option<T> {
        std::mem::take(self).into_inner()
    }
}

impl<T> OnceCell<T> {
    #[track_caller]
    fn init_call(&self) -> Call {
        Call::write(OpKind::Init, Location::caller())
    }

    /// The value, or the right to make it.
    async fn turn(&self, mut call: Call) -> Result<&T, Turn<'_>> {
        poll_fn(|_| {
            // A value that is there stays there, so the operation is known to change nothing.
            if self.slot.is_full() {
                call.access = Access::Read;
            }
            self.semaphore
                .resource()
                .point(call.kind, call.access, call.site)
        })
        .await;
        if let Some(value) = self.slot.get() {
            return Ok(value);
        }
        match self.semaphore.acquire_past_point(1, call).await {
            Ok(()) => Err(Turn {
                semaphore: &self.semaphore,
                site: call.site,
            }),
            Err(_) => Ok(self
                .slot
                .get()
                .expect("cct bug: a cell was closed without a value")),
        }
    }

    fn complete(&self, value: T, turn: Turn<'_>) -> &T {
        let resource = self.semaphore.resource();
        resource.sync_point(OpKind::Init, Access::Write, turn.site);
        // The permit is not given back: the semaphore is closed, and stays empty.
        let site = turn.site;
        std::mem::forget(turn);
        resource.released();
        self.publish(value, site)
    }

    /// Writes the value. The caller has taken the permit.
    fn publish(&self, value: T, site: &'static Location<'static>) -> &T {
        let written = self.slot.set(value);
        assert!(written.is_ok(), "cct bug: a cell was initialised twice");
        self.semaphore.close(site);
        self.slot
            .get()
            .expect("cct bug: the value was just written")
    }
}

impl<T> Default for OnceCell<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceCell")
            .field("value", &self.slot.get())
            .finish()
    }
}

impl<T: Clone> Clone for OnceCell<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        Self::new_with(self.slot.get().cloned())
    }
}

impl<T: PartialEq> PartialEq for OnceCell<T> {
    fn eq(&self, other: &Self) -> bool {
        self.slot.get() == other.slot.get()
    }
}

impl<T: Eq> Eq for OnceCell<T> {}

impl<T> From<T> for OnceCell<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self::const_new_with(value)
    }
}
