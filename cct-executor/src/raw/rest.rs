//! Threads that rest between two steps of their worlds, so that what they hold for a moment only is free.
//!
//! Who spins tells nobody what it waits for: a lock that a task of its own world holds, which goes on when it gives
//! way, or one that another world's thread holds, which must leave no trace. While all others rest, the latter is
//! free. One thread at a time has the *turn* to ask for that, until its next step, or until it waits for anything.
//!
//! 1. Who says that it rests has seen the turn, and makes no step before it has seen its end.
//! 2. A turn that lasts long is taken away: its owner may be in a poll that does not return.
//!
//! Does not: know what is held by who waits for the turn, or for a word of memory, itself. It counts as at rest.

use super::shared::{Home, Other};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::thread;
use std::time::Duration;

/// Who has the turn.
static TURN: AtomicPtr<Home> = AtomicPtr::new(ptr::null_mut());

/// How long a turn lasts at most.
const TURN_MAX: Duration = Duration::from_millis(50);

/// Between two steps of the world that runs here, if any: rests if another thread asks for it.
#[inline]
pub(crate) fn between_steps() {
    if !TURN.load(Ordering::Relaxed).is_null() {
        if let Some(home) = Home::here() {
            home.rest();
        }
    }
}

/// Waits until this is so, more and more patiently; about so long at most, by no clock, as this thread's may be a
/// world's. Returns whether it is.
#[expect(
    clippy::disallowed_methods,
    reason = "waits for foreign threads, decides nothing"
)]
fn is_so_within(limit: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    const SHORT: Duration = Duration::from_micros(50);
    const LONG: Duration = Duration::from_millis(2);
    let (mut waited, mut wait) = (Duration::ZERO, Duration::from_micros(1));
    while !is_so() {
        if waited > limit {
            return false;
        }
        if wait < SHORT {
            thread::yield_now();
        } else {
            thread::sleep(wait);
        }
        waited += wait;
        wait = (wait * 2).min(LONG);
    }
    true
}

impl Home {
    /// Takes the turn, as soon as nobody else has it.
    pub(crate) fn take_turn(&'static self) {
        let own = ptr::from_ref(self).cast_mut();
        let take = |from| {
            let order = Ordering::SeqCst;
            TURN.compare_exchange(from, own, order, order).is_ok()
        };
        while !is_so_within(TURN_MAX, || take(ptr::null_mut())) {
            if take(TURN.load(Ordering::SeqCst)) {
                break;
            }
        }
    }

    /// Waits until all of these rest, wait for a word of memory, or run no world; at most for so long. Returns
    /// those that do not.
    pub(crate) fn wait_for_rest(&self, of: Vec<Other>, limit: Duration) -> Vec<Other> {
        let mut others = of;
        is_so_within(limit, || {
            others.retain(Other::moves);
            others.is_empty()
        });
        others
    }

    /// If this home has the turn, it ends.
    #[inline]
    pub(crate) fn end_turn(&'static self) {
        let own = ptr::from_ref(self).cast_mut();
        if ptr::eq(TURN.load(Ordering::Relaxed), own) {
            let order = Ordering::SeqCst;
            let _ = TURN.compare_exchange(own, ptr::null_mut(), order, order);
        }
    }

    /// The own turn is over, and while another has it, this thread rests.
    #[cold]
    fn rest(&'static self) {
        self.end_turn();
        let whose = || TURN.load(Ordering::SeqCst);
        loop {
            let turn = whose();
            if turn.is_null() {
                return;
            }
            self.says_that_it_rests(true);
            if !is_so_within(TURN_MAX, || whose() != turn) {
                let order = Ordering::SeqCst;
                let _ = TURN.compare_exchange(turn, ptr::null_mut(), order, order);
            }
            // Who takes the turn from here on sees that this thread does not rest, or is seen.
            self.says_that_it_rests(false);
        }
    }
}
