//! A lock without a guard: it can be left, and taken again, in the middle of what it guards.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

#[derive(Default)]
pub(super) struct Door {
    taken: Mutex<bool>,
    free: Condvar,
}

impl Door {
    pub(super) const fn new() -> Door {
        Door {
            taken: Mutex::new(false),
            free: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, bool> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Blocks the thread until nobody has it.
    pub(super) fn take(&self) {
        let mut taken = self.state();
        while *taken {
            taken = self
                .free
                .wait(taken)
                .unwrap_or_else(PoisonError::into_inner);
        }
        *taken = true;
    }

    /// For who has it.
    pub(super) fn leave(&self) {
        *self.state() = false;
        self.free.notify_one();
    }

    pub(super) fn is_taken(&self) -> bool {
        *self.state()
    }
}
