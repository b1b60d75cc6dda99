//! A cell that is set once and can be waited for.

use crate::crowd::Crowd;
use crate::raw::once::OnceSlot;
use cct_executor::shim::{Access, Looks, OpKind, Resource, ResourceKind};
use std::fmt;
use std::future::poll_fn;
use std::panic::Location;
use std::task::{Poll, ready};

/// A cell that can be set once; tasks wait until it is.
///
/// # Differences from tokio
/// None.
pub struct SetOnce<T> {
    resource: Resource,
    waiting: Crowd,
    slot: OnceSlot<T>,
}

/// The cell had a value already. Gives back the one that came too late.
#[derive(Debug, PartialEq, Eq)]
pub struct SetOnceError<T>(pub T);

impl<T> fmt::Display for SetOnceError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SetOnceError")
    }
}

impl<T: fmt::Debug> std::error::Error for SetOnceError<T> {}

impl<T> SetOnce<T> {
    /// An empty cell.
    #[track_caller]
    pub fn new() -> Self {
        Self::with_slot(OnceSlot::empty())
    }

    /// An empty cell, for statics.
    #[track_caller]
    pub const fn const_new() -> Self {
        SetOnce {
            resource: Resource::const_new(ResourceKind::SetOnce),
            waiting: Crowd::const_new(),
            slot: OnceSlot::empty(),
        }
    }

    /// A cell with this value, if there is one.
    #[track_caller]
    pub fn new_with(value: Option<T>) -> Self {
        Self::with_slot(value.map_or(OnceSlot::empty(), OnceSlot::full))
    }

    /// A cell with this value, for statics.
    #[track_caller]
    pub const fn const_new_with(value: T) -> Self {
        SetOnce {
            resource: Resource::const_new(ResourceKind::SetOnce),
            waiting: Crowd::const_new(),
            slot: OnceSlot::full(value),
        }
    }

    #[track_caller]
    fn with_slot(slot: OnceSlot<T>) -> Self {
        SetOnce {
            resource: Resource::new(ResourceKind::SetOnce),
            waiting: Crowd::new(),
            slot,
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

    /// The value, if it was set.
    ///
    /// # Scheduling points
    /// One, before it looks, at granularity `sync`.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        self.resource
            .sync_point(OpKind::Get, Access::Read, Location::caller());
        self.slot.get()
    }

    /// Sets the value and wakes those who wait for it.
    ///
    /// # Scheduling points
    /// One, before it looks, at granularity `sync`, and one after it at `spawn` if somebody was woken.
    ///
    /// # Errors
    /// If there is a value already.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), SetOnceError<T>> {
        self.resource
            .sync_point(OpKind::Set, Access::Write, Location::caller());
        // While the crowd stands still, so that of two setters the second finds the value.
        let (result, wakes) = self.waiting.release(|| match self.slot.set(value) {
            Ok(()) => Ok(Ok(())),
            Err(value) => Err(Err(SetOnceError(value))),
        });
        if result.is_ok() {
            self.resource.set_state(1);
        }
        let any = wakes.len() > 0;
        self.waiting.wake(wakes);
        if any {
            self.resource.resume_point(Location::caller());
        }
        result
    }

    /// The value, if it was set.
    pub fn into_inner(self) -> Option<T> {
        self.slot.into_inner()
    }

    /// Waits until there is a value.
    ///
    /// # Scheduling points
    /// One, in the first poll.
    ///
    /// # Cancel safety
    /// Safe: waiting leaves no trace.
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = &T> {
        let site = Location::caller();
        async move {
            let mut looks = Looks::new();
            let mut place = self.waiting.place();
            let mut waits = self.resource.waits(OpKind::Wait, site);
            poll_fn(|cx| {
                let look = (OpKind::Wait, Access::Read);
                ready!(self.resource.look_point(&mut looks, look, site));
                if !self.slot.is_full() {
                    let waited = place.poll(cx, || self.slot.is_full());
                    if waited.is_pending() {
                        waits.blocked();
                    }
                    ready!(waited);
                }
                Poll::Ready(self.slot.get().expect("cct bug: woken without a value"))
            })
            .await
        }
    }
}

impl<T> Default for SetOnce<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for SetOnce<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetOnce")
            .field("value", &self.slot.get())
            .finish()
    }
}

impl<T: Clone> Clone for SetOnce<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        Self::new_with(self.slot.get().cloned())
    }
}

impl<T: PartialEq> PartialEq for SetOnce<T> {
    fn eq(&self, other: &Self) -> bool {
        self.slot.get() == other.slot.get()
    }
}

impl<T: Eq> Eq for SetOnce<T> {}

impl<T> From<T> for SetOnce<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self::new_with(Some(value))
    }
}
