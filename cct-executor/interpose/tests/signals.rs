//! What C's `raise` does with signals that are a world's, and with those that the thread blocks.
#![cfg(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
#![expect(unsafe_code, reason = "functions of C are called")]

use cct_interpose::{Clocks, System, begin, end};
use std::cell::Cell;
use std::mem::zeroed;
use std::ptr;

thread_local! {
    static TAKEN: Cell<i32> = const { Cell::new(0) };
}

#[test]
fn what_is_blocked_waits_for_the_thread() {
    let system = System {
        signal: |number, _| {
            TAKEN.set(number);
            true
        },
        ..System::AS_EVER
    };
    begin(7, system, Clocks::ZERO);
    let (number, other) = (libc::SIGUSR1, libc::SIGUSR2);
    // SAFETY: there is one set, of which all zeroes are a value; nobody else uses what is blocked on this thread.
    unsafe {
        let mut set: libc::sigset_t = zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, number);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut());
        assert_eq!(libc::raise(other), 0);
        assert_eq!(TAKEN.replace(0), other);
        assert_eq!(libc::raise(number), 0);
        assert_eq!(TAKEN.get(), 0);
        let mut found = 0;
        assert_eq!(libc::sigwait(&raw const set, &raw mut found), 0);
        assert_eq!(found, number);
    }
    end();
}
