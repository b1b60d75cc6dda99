//! What ends the process by what a thread does: stacks that overflow, invalid accesses, `abort`, `exit`.
//!
//! The standard library knows the stacks of its own threads only. One that somebody else made overflows
//! without a word.
//!
//! 1. What is called runs as a signal handler does, on the thread's signal stack, which is small. The thread may be in
//!    the middle of an allocation.
//! 2. A signal that is none of theirs goes to whoever handled it before.
//! 3. A thread that code under control has started, where threads do not take part, and that aborts, stops for good
//!    instead: what it met there is not what it would have met outside, and the process is that of other tests too.

use super::{Hidden, threads};
use crate::{Fatal, system};
use libc::{c_int, c_void, sigaction, siginfo_t, ucontext_t};
use std::mem::{MaybeUninit, transmute};
use std::ptr;
use std::sync::OnceLock;

pub(super) type Exit = unsafe extern "C" fn(c_int) -> !;
pub(super) type Abort = unsafe extern "C" fn() -> !;

/// An access so near to where the stack ends by now is one to the stack. Functions with large frames
/// touch each of their pages.
const NEAR: usize = 64 << 10;

const SIGNALS: [c_int; 5] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGABRT,
    libc::SIGILL,
    libc::SIGFPE,
];

type Handler = extern "C" fn(c_int, *mut siginfo_t, *mut c_void);

static TOLD: OnceLock<fn(Fatal)> = OnceLock::new();
static TOLD_OF_EXIT: OnceLock<fn(i32)> = OnceLock::new();
/// Who handled each of the signals before.
static BEFORE: [OnceLock<sigaction>; SIGNALS.len()] = [const { OnceLock::new() }; SIGNALS.len()];

pub(crate) fn on_fatal(told: fn(Fatal)) -> bool {
    TOLD.get_or_init(|| {
        for (signal, slot) in SIGNALS.into_iter().zip(&BEFORE) {
            let mut before = MaybeUninit::uninit();
            // SAFETY: both point to a `sigaction`, of which all zeros are one.
            let outcome = unsafe {
                let mut new: sigaction = MaybeUninit::zeroed().assume_init();
                new.sa_sigaction = handle as Handler as usize;
                new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                sigaction(signal, &raw const new, before.as_mut_ptr())
            };
            if outcome == 0 {
                // SAFETY: the call has written it.
                let _ = slot.set(unsafe { before.assume_init() });
            }
        }
        told
    });
    true
}

pub(crate) fn on_exit(told: fn(i32)) {
    TOLD_OF_EXIT.get_or_init(|| told);
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn exit(code: c_int) -> ! {
    static HIDDEN: Hidden = Hidden::new(b"exit\0");
    if let Some(told) = TOLD_OF_EXIT.get() {
        told(code);
    }
    match HIDDEN.found() {
        // SAFETY: the type of a function of this name.
        Some(hidden) => unsafe { transmute::<*mut c_void, Exit>(hidden)(code) },
        // SAFETY: the call is always sound.
        None => unsafe { libc::_exit(code) },
    }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn abort() -> ! {
    static HIDDEN: Hidden = Hidden::new(b"abort\0");
    if system::get().is_none() && threads::stops_for_good() {
        loop {
            // SAFETY: it takes nothing, and returns when a signal was handled.
            unsafe { libc::pause() };
        }
    }
    match HIDDEN.found() {
        // SAFETY: the type of a function of this name.
        Some(hidden) => unsafe { transmute::<*mut c_void, Abort>(hidden)() },
        // SAFETY: the call is always sound.
        None => unsafe { libc::_exit(128 + libc::SIGABRT) },
    }
}

extern "C" fn handle(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes both to a handler with `SA_SIGINFO`.
    let (address, end) = unsafe {
        let machine = &(*context.cast::<ucontext_t>()).uc_mcontext;
        #[cfg(target_arch = "x86_64")]
        let end = machine.gregs[libc::REG_RSP as usize] as usize;
        #[cfg(target_arch = "aarch64")]
        let end = machine.sp as usize;
        ((*info).si_addr() as usize, end)
    };
    let fatal = match signal {
        libc::SIGSEGV if address.abs_diff(end) < NEAR => Fatal::Stack,
        signal => Fatal::Signal(signal),
    };
    if let Some(told) = TOLD.get() {
        told(fatal);
    }
    pass_on(signal, info, context);
}

/// Lets happen what would have happened.
fn pass_on(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let place = SIGNALS.iter().position(|&one| one == signal);
    let before = place.and_then(|place| BEFORE[place].get());
    let is_called = before.filter(|before| {
        before.sa_flags & libc::SA_SIGINFO != 0
            && ![libc::SIG_DFL, libc::SIG_IGN].contains(&before.sa_sigaction)
    });
    if let Some(before) = is_called {
        // SAFETY: a handler with `SA_SIGINFO` has this type.
        let handler = unsafe { transmute::<usize, Handler>(before.sa_sigaction) };
        return handler(signal, info, context);
    }
    // What caused it is done again when this returns; and `abort` sees to it that it is.
    // SAFETY: all zeros are a `sigaction`, that of the default.
    unsafe {
        let default: sigaction = MaybeUninit::zeroed().assume_init();
        let before = before.map_or(&raw const default, ptr::from_ref);
        sigaction(signal, before, ptr::null_mut());
    }
}
