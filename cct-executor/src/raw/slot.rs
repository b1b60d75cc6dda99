//! A box that is taken out of its place while it is used.
//!
//! One look tells whether it is there and free, where a `RefCell<Option<Box<T>>>` takes two.
//!
//! Does not: know what is in it.

use std::cell::Cell;
use std::mem::{self, ManuallyDrop};
use std::ops::{Deref, DerefMut};

/// A place for a box.
pub(crate) struct Slot<T>(Cell<Option<Box<T>>>);

impl<T> Slot<T> {
    pub(crate) const fn new() -> Self {
        Slot(Cell::new(None))
    }

    /// Puts a value in, or none; what was in is dropped.
    pub(crate) fn put(&self, value: Option<Box<T>>) {
        self.0.set(value);
    }

    /// Exchanges what is in two places.
    pub(crate) fn swap(&self, other: &Slot<T>) {
        self.0.swap(&other.0);
    }

    /// The value, unless there is none or it is in use. It is back when the result is dropped, in a
    /// panic too.
    #[inline(always)]
    pub(crate) fn lend(&self) -> Option<InUse<'_, T>> {
        self.0.take().map(|value| InUse {
            value: ManuallyDrop::new(value),
            slot: &self.0,
        })
    }
}

/// The value of a [`Slot`], in use.
pub(crate) struct InUse<'a, T> {
    value: ManuallyDrop<Box<T>>,
    slot: &'a Cell<Option<Box<T>>>,
}

impl<T> Deref for InUse<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for InUse<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T> Drop for InUse<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: taken once, as this is dropped once.
        let value = unsafe { ManuallyDrop::take(&mut self.value) };
        // The place is empty, unless somebody put another one in: then that is kept from being
        // dropped here, which the compiler need not know how to do.
        mem::forget(self.slot.replace(Some(value)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_in_use_cannot_be_had_again_and_comes_back_after_a_panic() {
        let slot = Slot::new();
        assert!(slot.lend().is_none());
        slot.put(Some(Box::new(1)));
        let thrown = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut value = slot.lend().expect("it is there");
            *value += 1;
            assert!(slot.lend().is_none(), "it is in use");
            panic!("on purpose");
        }));
        assert!(thrown.is_err());
        assert_eq!(slot.lend().as_deref(), Some(&2));
    }
}
