//! The functions of the C library that are defined here in its place.
//!
//! 1. They do what the C library's do for every thread that has no seed, `errno` included: they call
//!    them.
//! 2. They neither allocate nor lock by themselves, but for those that start and join threads, where a message has
//!    buffers that lie nowhere, where files are noted in a world, and where a FIFO is opened there.
#![expect(
    unsafe_code,
    reason = "symbols of the C library are defined, and those they hide are called"
)]

#[cfg(cct_atomics)]
mod atomics;
mod clocks;
mod fatal;
mod fifo;
mod file_times;
mod files;
mod futex;
mod locals;
mod machine;
mod outside;
mod parker;
mod processes;
mod segments;
mod signals;
mod sockets;
mod stay;
mod threads;
#[cfg(any(test, cct_atomics))]
mod vain;
mod waits;
mod whereabouts;
mod written;

pub(crate) use clocks::{
    Clockwork, clocks_outside, clocks_seen, clockwork, go_on_from, set_clockwork,
};
pub(crate) use fatal::{on_exit, on_fatal};
pub(crate) use file_times::begin as begin_file_times;
pub use futex::Word;
pub(crate) use locals::{copy as copy_thread_locals, learn as learn_thread_locals};
pub(crate) use parker::find as find_parker;
pub(crate) use processes::time_of_others;
pub(crate) use sockets::{accepts_itself, accepts_no_longer, on_connect};
pub(crate) use stay::on_thread_end;
pub use threads::Family;
pub(crate) use threads::{
    count_starter, family, is_welcome, threads_started, uncounted, was_controlled, was_started,
    welcome_threads,
};
pub(crate) use waits::children_run;
pub use whereabouts::Whereabouts;

use crate::{stream, system};
use libc::{c_char, c_int, c_long, c_uint, c_void, size_t, ssize_t};
use std::mem::transmute;
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Whether the symbols are defined on this target.
pub(crate) const DEFINED: bool = true;

type GetRandom = unsafe extern "C" fn(*mut c_void, size_t, c_uint) -> ssize_t;
type GetEntropy = unsafe extern "C" fn(*mut c_void, size_t) -> c_int;
type Yield = unsafe extern "C" fn() -> c_int;
/// Variadic in C. With seven arguments of one word each, it is called in the same way on x86-64 and
/// AArch64 under Linux, and reading arguments that were not passed is what the C library's does too.
type Syscall =
    unsafe extern "C" fn(c_long, c_long, c_long, c_long, c_long, c_long, c_long) -> c_long;

/// Makes the linker take in what is defined here. The standard library refers to `getrandom` weakly,
/// which alone would not.
pub(crate) fn keep() {
    let symbols = (
        getrandom as GetRandom,
        getentropy as GetEntropy,
        syscall as Syscall,
        clocks::clock_gettime as clocks::GetTime,
        clocks::nanosleep as clocks::Sleep,
        clocks::clock_nanosleep as clocks::SleepBy,
        sched_yield as Yield,
        threads::pthread_create as threads::Create,
        threads::pthread_join as threads::Join,
        signals::kill as signals::Kill,
        signals::raise as signals::Raise,
        processes::fork as processes::Fork,
        processes::posix_spawnp as processes::Spawn,
        fatal::exit as fatal::Exit,
        fatal::abort as fatal::Abort,
        files::statx as files::Statx,
        files::unlink as files::Unlink,
        files::chmod as files::Chmod,
        files::rename as files::Rename,
    );
    std::hint::black_box(symbols);
    sockets::keep();
    waits::keep();
    written::keep();
    #[cfg(cct_atomics)]
    atomics::keep();
}

/// Another world begins on this thread: what loops have looked at in vain was none of its.
pub(crate) fn forget_loops() {
    #[cfg(cct_atomics)]
    atomics::forget();
}

/// A function of the C library that is hidden by the one of the same name here.
struct Hidden {
    name: &'static [u8],
    found: AtomicPtr<c_void>,
}

impl Hidden {
    /// The name ends with a zero byte.
    const fn new(name: &'static [u8]) -> Hidden {
        Hidden {
            name,
            found: AtomicPtr::new(ptr::null_mut()),
        }
    }

    #[inline]
    fn get(&self) -> *mut c_void {
        let found = self.found.load(Ordering::Relaxed);
        if found.is_null() { self.find() } else { found }
    }

    /// If it is there; `errno` says so if it is not.
    #[inline]
    fn found(&self) -> Option<*mut c_void> {
        let found = self.get();
        if found.is_null() {
            set_errno(libc::ENOSYS);
            return None;
        }
        Some(found)
    }

    #[cold]
    fn find(&self) -> *mut c_void {
        // SAFETY: the name ends with a zero byte.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr().cast::<c_char>()) };
        self.found.store(found, Ordering::Relaxed);
        found
    }
}

fn set_errno(error: c_int) {
    // SAFETY: `errno` is this thread's.
    unsafe { *libc::__errno_location() = error };
}

/// The system call of this number, as the C library makes it.
///
/// # Safety
/// As the C library's.
pub(crate) unsafe fn call(number: c_long, arguments: [c_long; 6]) -> c_long {
    static HIDDEN: Hidden = Hidden::new(b"syscall\0");
    let Some(hidden) = HIDDEN.found() else {
        return -1;
    };
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: the type of a function of this name, and the caller's promise.
    unsafe { transmute::<*mut c_void, Syscall>(hidden)(number, a, b, c, d, e, f) }
}

/// Fills a caller's buffer, if this thread's bytes derive from a seed, or the process's.
///
/// # Safety
/// The buffer has room for so many bytes.
unsafe fn filled(buffer: *mut c_void, length: size_t) -> bool {
    if length == 0 || buffer.is_null() {
        return stream::fill(&mut []) || outside::is_given();
    }
    // Memory that was never written may not be looked at as bytes.
    // SAFETY: the caller's promise.
    let bytes = unsafe {
        ptr::write_bytes(buffer.cast::<u8>(), 0, length);
        slice::from_raw_parts_mut(buffer.cast::<u8>(), length)
    };
    stream::fill(bytes) || outside::fill(bytes)
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn getrandom(buffer: *mut c_void, length: size_t, flags: c_uint) -> ssize_t {
    static HIDDEN: Hidden = Hidden::new(b"getrandom\0");
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe {
        if filled(buffer, length) {
            return ssize_t::try_from(length).unwrap_or(ssize_t::MAX);
        }
        let Some(hidden) = HIDDEN.found() else {
            return -1;
        };
        transmute::<*mut c_void, GetRandom>(hidden)(buffer, length, flags)
    }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn getentropy(buffer: *mut c_void, length: size_t) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"getentropy\0");
    const MOST: size_t = 256;
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe {
        if length <= MOST && filled(buffer, length) {
            return 0;
        }
        let Some(hidden) = HIDDEN.found() else {
            return -1;
        };
        transmute::<*mut c_void, GetEntropy>(hidden)(buffer, length)
    }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn sched_yield() -> c_int {
    if system::get().is_some_and(|system| (system.give_way)()) {
        return 0;
    }
    // Not by the C library's, which does this and nothing else.
    // SAFETY: the system call has no arguments.
    unsafe { call(libc::SYS_sched_yield, [0; 6]) as c_int }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn syscall(
    number: c_long,
    a: c_long,
    b: c_long,
    c: c_long,
    d: c_long,
    e: c_long,
    f: c_long,
) -> c_long {
    let arguments = [a, b, c, d, e, f];
    // SAFETY: the caller's promise.
    unsafe {
        match number {
            libc::SYS_getrandom if filled(a as *mut c_void, b as size_t) => b,
            libc::SYS_futex => futex::futex(arguments),
            _ => match sockets::called(number, arguments) {
                Some(result) => result,
                None => call(number, arguments),
            },
        }
    }
}
