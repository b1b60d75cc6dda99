//! Threads that rest between two steps of their worlds, so that what they hold for a moment only is free.
//!
//! Who spins tells nobody what it waits for: a lock that a task of its own world holds, which goes on when it gives
//! way, or one that another world's thread holds, which must leave no trace. While all others rest, the latter is
//! free. One thread at a time has the *turn* to ask for that, until its next step, or until it waits for anything.
//!
//! 1. Who rests for a turn has seen it, and makes no step before it is over. A world that begins during a turn sees
//!    it, too, as its door has been looked at since.
//! 2. Who has rested makes a step before it rests again, however soon somebody else has the turn.
//! 3. A turn that lasts long is taken away: its owner may be in a poll that does not return.
//!
//! Does not: know what is held by who waits for the turn, or for a word of memory, itself. It counts as at rest.

use super::shared::{Home, Other};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// The number of the turn that somebody has, or 0.
static TURN: AtomicU64 = AtomicU64::new(0);

/// How long a turn lasts at most. On a busy machine it takes long until all others have come to rest.
const TURN_MAX: Duration = Duration::from_secs(1);

/// Between two steps of the world that runs here, if any: rests if another thread asks for it.
#[inline]
pub(crate) fn between_steps() {
    if TURN.load(Ordering::Relaxed) != 0 {
        rest_here();
    }
}

/// Apart, so that a step pays for one look and nothing else.
#[cold]
#[inline(never)]
fn rest_here() {
    if let Some(home) = Home::here() {
        home.rest();
    }
}

/// Gives the turn to another one, or to nobody. Returns whether it was this one's.
fn pass(from: u64, to: u64) -> bool {
    let order = Ordering::SeqCst;
    TURN.compare_exchange(from, to, order, order).is_ok()
}

/// Waits until this is so, more and more patiently; about so long at most, by no clock, as this thread's may be a
/// world's. Returns whether it is.
#[expect(
    clippy::disallowed_methods,
    reason = "waits for foreign threads, decides nothing"
)]
fn is_so_within(limit: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    /// Turns are shorter than a sleep, most often.
    const LOOKS: u32 = 64;
    const MICROSECOND: Duration = Duration::from_micros(1);
    const LONG: Duration = Duration::from_millis(2);
    let (mut waited, mut wait, mut looks) = (Duration::ZERO, MICROSECOND, 0);
    while !is_so() {
        if waited > limit {
            return false;
        }
        looks += 1;
        if looks < LOOKS {
            thread::yield_now();
        } else {
            wait = (wait * 2).min(LONG);
            thread::sleep(wait);
        }
        waited += wait;
    }
    true
}

impl Home {
    /// Takes the turn, as soon as nobody else has it.
    pub(crate) fn take_turn(&self) {
        static TURNS: AtomicU64 = AtomicU64::new(1);
        let own = TURNS.fetch_add(1, Ordering::Relaxed);
        while !is_so_within(TURN_MAX, || pass(0, own)) {
            if pass(TURN.load(Ordering::SeqCst), own) {
                break;
            }
        }
        self.turn.store(own, Ordering::Relaxed);
    }

    /// Waits until all of these rest for this home's turn, wait for a word of memory, or run no world; at most for so
    /// long. Returns those that do not.
    pub(crate) fn wait_for_rest(&self, of: Vec<Other>, limit: Duration) -> Vec<Other> {
        let turn = self.turn.load(Ordering::Relaxed);
        let mut others = of;
        is_so_within(limit, || {
            others.retain(|other| other.moves_in(turn));
            others.is_empty()
        });
        others
    }

    /// If this home has the turn, it ends.
    #[inline]
    pub(crate) fn end_turn(&self) {
        let own = self.turn.load(Ordering::Relaxed);
        if own != 0 {
            pass(own, 0);
            self.turn.store(0, Ordering::Relaxed);
        }
    }

    /// The thread has waited for a word, and goes on in the middle of a step: not before a turn is over for which it
    /// counted as at rest.
    pub(crate) fn go_on(&self) {
        self.note_blocked(0);
        if TURN.load(Ordering::SeqCst) != 0 {
            self.rest();
        }
    }

    /// The own turn is over, and while another has it, this thread rests.
    fn rest(&self) {
        self.end_turn();
        let turn = TURN.load(Ordering::SeqCst);
        if turn == 0 {
            return;
        }
        self.rests_for.store(turn, Ordering::SeqCst);
        if !is_so_within(TURN_MAX, || TURN.load(Ordering::SeqCst) != turn) {
            pass(turn, 0);
        }
    }
}
