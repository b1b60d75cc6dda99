//! What one thread hands over to another, which waits for it.
//!
//! Channels of the standard library park who waits, and so take what the thread was unparked for. That may be for one of
//! the polls that were suspended on it while they were parked, which would never hear of it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A way for one thing at a time.
pub(super) fn handover<T>() -> (Giver<T>, Taker<T>) {
    let place = Arc::new(Place {
        state: Mutex::new(State {
            value: None,
            over: false,
        }),
        changed: Condvar::new(),
    });
    (Giver(place.clone()), Taker(place))
}

struct Place<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    value: Option<T>,
    /// One of the two is gone.
    over: bool,
}

impl<T> Place<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) {
        self.state().over = true;
        self.changed.notify_one();
    }
}

pub(super) struct Giver<T>(Arc<Place<T>>);

pub(super) struct Taker<T>(Arc<Place<T>>);

impl<T> Giver<T> {
    /// Gives it back where nobody is there to take it.
    pub(super) fn give(&self, value: T) -> Result<(), T> {
        let mut state = self.0.state();
        if state.over {
            return Err(value);
        }
        state.value = Some(value);
        drop(state);
        self.0.changed.notify_one();
        Ok(())
    }
}

impl<T> Taker<T> {
    /// Waits until something is given. `None` if nothing will be.
    pub(super) fn take(&self) -> Option<T> {
        let mut state = self.0.state();
        while state.value.is_none() && !state.over {
            let waited = self.0.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        state.value.take()
    }
}

impl<T> Drop for Giver<T> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl<T> Drop for Taker<T> {
    fn drop(&mut self) {
        self.0.end();
    }
}
