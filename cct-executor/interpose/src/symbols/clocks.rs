//! Clocks, and sleeping by them.

use super::{Hidden, not_there, set_errno};
use crate::{WALL_CLOCK_ZERO, system};
use libc::{c_int, c_long, clockid_t, time_t, timespec};
use std::mem::transmute;
use std::sync::OnceLock;
use std::time::Duration;

pub(super) type GetTime = unsafe extern "C" fn(clockid_t, *mut timespec) -> c_int;
pub(super) type Sleep = unsafe extern "C" fn(*const timespec, *mut timespec) -> c_int;
pub(super) type SleepBy =
    unsafe extern "C" fn(clockid_t, c_int, *const timespec, *mut timespec) -> c_int;

/// What the monotonic clock shows at zero: what it showed when it was first asked for.
static MONOTONIC_ZERO: OnceLock<Duration> = OnceLock::new();

/// The clock as the system has it.
///
/// # Safety
/// As the C library's.
unsafe fn real_time(clock: clockid_t, time: *mut timespec) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"clock_gettime\0");
    let hidden = HIDDEN.get();
    if hidden.is_null() {
        not_there();
        return -1;
    }
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe { transmute::<*mut libc::c_void, GetTime>(hidden)(clock, time) }
}

/// What a clock shows at zero, if it is one that shows the time.
fn zero_of(clock: clockid_t) -> Option<Duration> {
    match clock {
        libc::CLOCK_MONOTONIC
        | libc::CLOCK_MONOTONIC_RAW
        | libc::CLOCK_MONOTONIC_COARSE
        | libc::CLOCK_BOOTTIME => Some(monotonic_zero()),
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => {
            Some(WALL_CLOCK_ZERO)
        }
        _ => None,
    }
}

fn monotonic_zero() -> Duration {
    *MONOTONIC_ZERO.get_or_init(|| {
        let mut time = timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: there is room for it.
        unsafe { real_time(libc::CLOCK_MONOTONIC, &raw mut time) };
        of(time).unwrap_or_default()
    })
}

/// What this thread's clock shows, if that is not the system's.
fn shown(clock: clockid_t) -> Option<Duration> {
    let system = system::get()?;
    Some(zero_of(clock)? + (system.clock)())
}

/// How long it is until a clock of this thread's shows this.
pub(super) fn until(clock: clockid_t, deadline: Duration) -> Option<Duration> {
    Some(deadline.saturating_sub(shown(clock)?))
}

/// A valid time as a duration.
pub(super) fn of(time: timespec) -> Option<Duration> {
    let nanos = u32::try_from(time.tv_nsec)
        .ok()
        .filter(|&n| n < 1_000_000_000)?;
    Some(Duration::new(u64::try_from(time.tv_sec).ok()?, nanos))
}

pub(super) fn timespec_of(time: Duration) -> timespec {
    timespec {
        tv_sec: time_t::try_from(time.as_secs()).unwrap_or(time_t::MAX),
        tv_nsec: c_long::from(time.subsec_nanos()),
    }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    match shown(clock) {
        Some(shown) if !time.is_null() => {
            // SAFETY: the caller's promise.
            unsafe { time.write(timespec_of(shown)) };
            0
        }
        // SAFETY: the caller's promise.
        _ => unsafe { real_time(clock, time) },
    }
}

/// Sleeps, if that is not the system's to do.
fn slept(time: Duration) -> bool {
    system::get().is_some_and(|system| (system.sleep)(time))
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nanosleep(time: *const timespec, rest: *mut timespec) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"nanosleep\0");
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe {
        if !time.is_null() && of(*time).is_some_and(slept) {
            return 0;
        }
        let hidden = HIDDEN.get();
        if hidden.is_null() {
            set_errno(libc::ENOSYS);
            return -1;
        }
        transmute::<*mut libc::c_void, Sleep>(hidden)(time, rest)
    }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn clock_nanosleep(
    clock: clockid_t,
    flags: c_int,
    time: *const timespec,
    rest: *mut timespec,
) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"clock_nanosleep\0");
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe {
        let asked = if time.is_null() { None } else { of(*time) };
        let left = match asked {
            Some(deadline) if flags & libc::TIMER_ABSTIME != 0 => until(clock, deadline),
            relative => relative.filter(|_| shown(clock).is_some()),
        };
        let absolute = flags & libc::TIMER_ABSTIME != 0;
        let Some(left) = left else {
            return asleep(&HIDDEN, clock, flags, time, rest);
        };
        if slept(left) {
            return 0;
        }
        // A deadline on a clock that is not the system's is none of the system's clock.
        let left = timespec_of(left);
        let (flags, time) = if absolute {
            (0, &raw const left)
        } else {
            (flags, time)
        };
        asleep(&HIDDEN, clock, flags, time, rest)
    }
}

/// Sleeps by the system's clock. Returns the error.
///
/// # Safety
/// As the C library's.
unsafe fn asleep(
    hidden: &Hidden,
    clock: clockid_t,
    flags: c_int,
    time: *const timespec,
    rest: *mut timespec,
) -> c_int {
    let hidden = hidden.get();
    if hidden.is_null() {
        return libc::ENOSYS;
    }
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe { transmute::<*mut libc::c_void, SleepBy>(hidden)(clock, flags, time, rest) }
}
