//! A lock without a guard: it can be left, and taken again, in the middle of what it guards.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

pub(super) struct Door {
    state: Mutex<State>,
    free: Condvar,
}

struct State {
    taken: bool,
    /// How many threads are to be woken: to wake nobody would be a call of the system in every iteration.
    waiting: u32,
}

impl Door {
    pub(super) const fn new() -> Door {
        Door {
            state: Mutex::new(State {
                taken: false,
                waiting: 0,
            }),
            free: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Blocks the thread until nobody has it.
    pub(super) fn take(&self) {
        let mut state = self.state();
        while state.taken {
            state.waiting += 1;
            state = self
                .free
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
        state.taken = true;
    }

    /// For who has it.
    pub(super) fn leave(&self) {
        let mut state = self.state();
        state.taken = false;
        if state.waiting > 0 {
            self.free.notify_one();
        }
    }

    pub(super) fn is_taken(&self) -> bool {
        self.state().taken
    }
}
