//! The system call that blocks threads.
//!
//! The locks of the standard library, and most others, block a thread by `futex`: wait for as long as a
//! word of memory has this value. Whoever changes the word wakes by another call of it.
//!
//! 1. Waits with a time limit are the kernel's.
//! 2. A wake-up is the kernel's as well, as other threads may wait too.

use super::call;
use super::segments::{self, Variable};
use crate::blocking;
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
    /// Only threads of this process use it.
    private: c_int,
}

impl Word {
    /// Where it is.
    pub fn address(self) -> usize {
        self.address
    }

    /// The value it had when the wait began.
    pub fn expected(self) -> u32 {
        self.expected
    }

    /// Whether it has another value by now.
    pub fn has_changed(self) -> bool {
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
        let limit = timespec {
            tv_sec: limit.as_secs() as libc::time_t,
            tv_nsec: c_long::from(limit.subsec_nanos()),
        };
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
pub(crate) unsafe fn futex(arguments: [c_long; 6]) -> c_long {
    let [address, operation, value, limit, ..] = arguments;
    // SAFETY: the caller's promise.
    let kernel = || unsafe { call(libc::SYS_futex, arguments) };
    let Some(blocking) = blocking::get() else {
        return kernel();
    };
    let operation = operation as c_int;
    let word = Word {
        address: address as usize,
        expected: value as u32,
        private: operation & libc::FUTEX_PRIVATE_FLAG,
    };
    match operation & libc::FUTEX_CMD_MASK {
        libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET if limit == 0 => {
            if !word.has_changed() && (blocking.wait)(word) {
                return 0;
            }
            kernel()
        }
        libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => {
            let woken = c_long::from((blocking.wake)(word, value as u32));
            match kernel() {
                failed if failed < 0 => failed,
                others => others + woken,
            }
        }
        _ => kernel(),
    }
}
