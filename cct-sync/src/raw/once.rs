//! A place that is written at most once, and read by anybody after that.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU8, Ordering};

/// Nobody has written.
const EMPTY: u8 = 0;
/// One thread is writing; it alone may touch the value.
const WRITING: u8 = 1;
/// The value is there for good; as long as the slot is shared it is only read.
const FULL: u8 = 2;

/// A value that may still be missing.
pub(crate) struct OnceSlot<T> {
    state: AtomicU8,
    /// Invariant: `Some` exactly when `state` is `FULL`, or, with `WRITING`, nobody's business.
    value: UnsafeCell<Option<T>>,
}

// SAFETY: the value may be put there by one thread and taken by another (`Send`), and is read by
// many (`Sync`). `state` orders the one write before all reads.
unsafe impl<T: Send + Sync> Sync for OnceSlot<T> {}

impl<T> OnceSlot<T> {
    pub(crate) const fn empty() -> Self {
        OnceSlot {
            state: AtomicU8::new(EMPTY),
            value: UnsafeCell::new(None),
        }
    }

    pub(crate) const fn full(value: T) -> Self {
        OnceSlot {
            state: AtomicU8::new(FULL),
            value: UnsafeCell::new(Some(value)),
        }
    }

    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.state.load(Ordering::Acquire) == FULL
    }

    #[inline]
    pub(crate) fn get(&self) -> Option<&T> {
        if !self.is_full() {
            return None;
        }
        // SAFETY: the write happened before `FULL` was seen, and there is no other while the slot
        // is shared.
        unsafe { (*self.value.get()).as_ref() }
    }

    /// Writes the value, or returns it when somebody else has written or is writing.
    pub(crate) fn set(&self, value: T) -> Result<(), T> {
        let claim =
            self.state
                .compare_exchange(EMPTY, WRITING, Ordering::Acquire, Ordering::Relaxed);
        if claim.is_err() {
            return Err(value);
        }
        // SAFETY: only one thread ever gets from `EMPTY` to `WRITING`, and nobody reads before
        // `FULL`. What is overwritten is `None`, so no destructor runs.
        unsafe { *self.value.get() = Some(value) };
        self.state.store(FULL, Ordering::Release);
        Ok(())
    }

    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut().as_mut()
    }

    pub(crate) fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }
}
