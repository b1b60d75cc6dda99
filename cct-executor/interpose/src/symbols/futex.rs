//! The system call that blocks threads.
//!
//! The locks of the standard library, and most others, block a thread by `futex`: wait for as long as a
//! word of memory has this value. Whoever changes the word wakes by another call of it.
//!
//! 1. Time limits are by the thread's clock, also where that only goes on after a world.
//! 2. A wake-up is the kernel's as well, as other threads may wait too.

use super::segments::{self, Variable};
use super::{call, clocks, parker, set_errno, threads};
use crate::system::{self, Waited};
use libc::{c_int, c_long, timespec};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A word of memory that somebody waits for.
///
/// It is valid for as long as the call lasts that is about it.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    address: usize,
    expected: u32,
    /// It is the one by which the standard library parks the thread that waits.
    parks: bool,
    /// Only threads of this process use it.
    private: c_int,
}

impl Word {
    /// Where it is.
    pub fn address(self) -> usize {
        self.address
    }

    /// Whether it is the one by which the standard library parks the thread that waits.
    pub fn is_parker(self) -> bool {
        self.parks
    }

    /// The value it had when the wait began.
    pub(super) fn expected(self) -> u32 {
        self.expected
    }

    /// Whether it has another value by now; or, where threads park, whether whoever is parked may go on.
    pub fn has_changed(self) -> bool {
        if self.is_parker() {
            return self.is_unparked();
        }
        // SAFETY: who waits for a word keeps it alive, and whoever changes it does so atomically.
        let word = unsafe { AtomicU32::from_ptr(self.address as *mut u32) };
        word.load(Ordering::Acquire) != self.expected
    }

    /// Whether it is part of a static.
    pub fn is_static(self) -> bool {
        segments::find(self.address) == Some(Variable::Static)
    }

    /// Whether it is part of a thread-local of this thread.
    pub fn is_thread_local(self) -> bool {
        segments::find(self.address) == Some(Variable::ThreadLocal)
    }

    /// Blocks the thread until it changes, or for so long. Returns whether it may have changed.
    pub fn block_for(self, limit: Duration) -> bool {
        if self.is_parker() {
            self.come_back();
        }
        let limit = clocks::timespec_of(limit);
        let wait = c_long::from(libc::FUTEX_WAIT | self.private);
        let (word, expected) = (self.address as c_long, c_long::from(self.expected));
        // SAFETY: the call reads the word and the limit.
        let outcome = unsafe {
            let limit = (&raw const limit) as c_long;
            call(libc::SYS_futex, [word, wait, expected, limit, 0, 0])
        };
        outcome == 0 || self.has_changed()
    }
}

/// The system call of this name.
///
/// # Safety
/// As the system call's.
pub(super) unsafe fn futex(arguments: [c_long; 6]) -> c_long {
    let [address, operation, value, limit, ..] = arguments;
    // SAFETY: the caller's promise.
    let kernel = || unsafe { call(libc::SYS_futex, arguments) };
    let operation = operation as c_int;
    let command = operation & libc::FUTEX_CMD_MASK;
    // Of the two waits this one takes a deadline.
    let is_deadline = command == libc::FUTEX_WAIT_BITSET;
    let clock = match operation & libc::FUTEX_CLOCK_REALTIME {
        0 => libc::CLOCK_MONOTONIC,
        _ => libc::CLOCK_REALTIME,
    };
    let is_wait = is_deadline || command == libc::FUTEX_WAIT;
    // SAFETY: the caller's promise.
    let limit = (is_wait && limit != 0).then(|| unsafe { *(limit as *const timespec) });
    let limit = limit.map(|limit| clocks::of(limit).unwrap_or_default());
    let Some(system) = system::get() else {
        if limit.is_some() {
            threads::note_timed_wait();
        }
        let deadline = limit.filter(|_| is_deadline);
        let Some(real) = deadline.and_then(|shown| clocks::by_system(clock, shown)) else {
            return kernel();
        };
        let real = clocks::timespec_of(real);
        let mut arguments = arguments;
        arguments[3] = (&raw const real) as c_long;
        // SAFETY: the caller's promise, with another deadline.
        return unsafe { call(libc::SYS_futex, arguments) };
    };
    let word = Word {
        address: address as usize,
        expected: value as u32,
        parks: parker::is_at(address as usize),
        private: operation & libc::FUTEX_PRIVATE_FLAG,
    };
    match command {
        libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET => {
            if word.has_changed() {
                set_errno(libc::EAGAIN);
                return -1;
            }
            let limit = limit.map(|limit| match is_deadline {
                true => clocks::until(clock, limit).unwrap_or_default(),
                false => limit,
            });
            match ((system.wait)(word, limit), limit) {
                (Waited::Changed, _) => return 0,
                (Waited::TimedOut, _) => {}
                (Waited::No, None) => return kernel(),
                (Waited::No, Some(limit)) if word.block_for(limit) => return 0,
                (Waited::No, Some(_)) => {}
            }
            set_errno(libc::ETIMEDOUT);
            -1
        }
        libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => {
            let woken = c_long::from((system.wake)(word, value as u32));
            match kernel() {
                failed if failed < 0 => failed,
                others => others + woken,
            }
        }
        _ => kernel(),
    }
}
