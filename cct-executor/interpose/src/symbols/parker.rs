//! The word by which the standard library parks a thread.
//!
//! It counts for one thread: parking takes one from it, and whoever unparks sets it, waking the thread if
//! the word says that it is parked. Where several polls are parked on one thread, the word has to say that
//! nobody is ([`Word::leave`]), lest the next one takes one from it again; that somebody was unparked then
//! shows in the word alone. Before a poll goes on, the word is set ([`Word::unpark`]), as it expects.
//! Whoever parks has to reckon with being unparked for no reason, so all may go on when one is meant.
//!
//! 1. The word is found by parking, not by knowing what a thread looks like inside.

use super::futex::Word;
use crate::system::{self, System, Waited};
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Nobody is parked.
const EMPTY: u32 = 0;
/// Whoever parks next goes on at once.
const NOTIFIED: u32 = 1;
const PARKED: u32 = u32::MAX;

thread_local! {
    /// Its address; 0 until it is known.
    static PARKER: Cell<usize> = const { Cell::new(0) };
}

/// Finds out which word it is.
pub(crate) fn find() {
    if PARKER.get() != 0 {
        return;
    }
    let outside = system::get();
    system::set(Some(System {
        wait: |word, _| {
            if word.expected() == PARKED {
                PARKER.set(word.address());
            }
            Waited::TimedOut
        },
        ..System::AS_EVER
    }));
    std::thread::park_timeout(Duration::from_nanos(1));
    if PARKER.get() == 0 {
        // It had been unparked before, and is to be again.
        std::thread::park_timeout(Duration::from_nanos(1));
        #[expect(clippy::disallowed_methods, reason = "it is about the parking of std")]
        std::thread::current().unpark();
    }
    system::set(outside);
}

/// Whether this thread's is here.
pub(super) fn is_at(address: usize) -> bool {
    address == PARKER.get()
}

fn word(address: usize) -> Option<&'static AtomicU32> {
    if address == 0 {
        return None;
    }
    // SAFETY: that of the thread that waits, which asks itself or waits for who does, and so lives for longer than that.
    Some(unsafe { AtomicU32::from_ptr(address as *mut u32) })
}

impl Word {
    /// Whoever is parked there will go on.
    pub fn unpark(self) {
        if let Some(word) = word(self.address()) {
            word.store(NOTIFIED, Ordering::Release);
        }
    }

    /// Whoever is parked there waits in another way from now on.
    pub fn leave(self) {
        if let Some(word) = word(self.address()) {
            let order = Ordering::AcqRel;
            let _ = word.compare_exchange(PARKED, EMPTY, order, Ordering::Relaxed);
        }
    }

    /// Of the parker, which was left: whoever unparks has to wake the kernel's waiters again.
    pub(super) fn come_back(self) {
        if let Some(word) = word(self.address()) {
            let order = Ordering::AcqRel;
            let _ = word.compare_exchange(EMPTY, PARKED, order, Ordering::Relaxed);
        }
    }

    /// Of the parker: whether whoever is parked may go on.
    pub(super) fn is_unparked(self) -> bool {
        word(self.address()).is_some_and(|word| word.load(Ordering::Acquire) == NOTIFIED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "it is about parking")]
    fn looking_for_it_keeps_what_unpark_left() {
        std::thread::current().unpark();
        find();
        let found = PARKER.get();
        assert_ne!(found, 0);
        // Would hang if the token were lost.
        std::thread::park();
        find();
        assert_eq!(PARKER.get(), found);
    }
}
