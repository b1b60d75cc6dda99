//! Clocks, and sleeping by them.
//!
//! 1. A thread under control sees the clocks of its world.
//! 2. Where one was, and is no more, they go on from where it left them, at the system's pace: they never go back.
//! 3. On any other thread they are the system's.

use super::{Hidden, file_times, threads};
use crate::system::{self, Clocks};
use libc::{c_int, c_long, clockid_t, time_t, timespec};
use std::cell::Cell;
use std::mem::transmute;
use std::sync::OnceLock;
use std::thread::LocalKey;
use std::time::Duration;

pub(super) type GetTime = unsafe extern "C" fn(clockid_t, *mut timespec) -> c_int;
pub(super) type Sleep = unsafe extern "C" fn(*const timespec, *mut timespec) -> c_int;
pub(super) type SleepBy =
    unsafe extern "C" fn(clockid_t, c_int, *const timespec, *mut timespec) -> c_int;

/// What the monotonic clock shows at zero: what it showed when it was first asked for.
static MONOTONIC_ZERO: OnceLock<Duration> = OnceLock::new();

/// A clock of a thread on which there is no world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outside {
    /// What it showed when it was set, counted as in [`Clocks`].
    set_to: Duration,
    /// How far it is ahead of the system's since then.
    ahead_ns: i128,
    /// Whether anyone has looked at it since then.
    seen: bool,
}

impl Outside {
    const fn of_system(set_to: Duration) -> Outside {
        Outside {
            set_to,
            ahead_ns: 0,
            seen: false,
        }
    }

    /// What it shows when the system's shows this.
    fn at(self, real: Duration) -> Duration {
        moved(real, self.ahead_ns)
    }
}

/// What a clock shows so much later, or earlier; at least nothing.
fn moved(time: Duration, by_ns: i128) -> Duration {
    let ns = (time.as_nanos() as i128).saturating_add(by_ns);
    let ns = u128::try_from(ns).unwrap_or(0);
    Duration::new((ns / 1_000_000_000) as u64, (ns % 1_000_000_000) as u32)
}

thread_local! {
    static MONOTONIC: Cell<Outside> =
        const { Cell::new(Outside::of_system(Clocks::ZERO.monotonic)) };
    static WALL: Cell<Outside> = const { Cell::new(Outside::of_system(Clocks::ZERO.wall)) };
}

/// The clock as the system has it.
///
/// # Safety
/// As the C library's.
unsafe fn real_time(clock: clockid_t, time: *mut timespec) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"clock_gettime\0");
    let Some(hidden) = HIDDEN.found() else {
        return -1;
    };
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe { transmute::<*mut libc::c_void, GetTime>(hidden)(clock, time) }
}

/// A clock that shows the time.
#[derive(Clone, Copy)]
enum Kind {
    Monotonic,
    Wall,
}

impl Kind {
    fn of(clock: clockid_t) -> Option<Kind> {
        match clock {
            libc::CLOCK_MONOTONIC
            | libc::CLOCK_MONOTONIC_RAW
            | libc::CLOCK_MONOTONIC_COARSE
            | libc::CLOCK_BOOTTIME => Some(Kind::Monotonic),
            libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => {
                Some(Kind::Wall)
            }
            _ => None,
        }
    }

    fn outside(self) -> &'static LocalKey<Cell<Outside>> {
        match self {
            Kind::Monotonic => &MONOTONIC,
            Kind::Wall => &WALL,
        }
    }

    /// From where [`Clocks`] count.
    fn since(self) -> Duration {
        match self {
            Kind::Monotonic => monotonic_zero(),
            Kind::Wall => Duration::ZERO,
        }
    }

    fn real(self) -> Duration {
        real(match self {
            Kind::Monotonic => libc::CLOCK_MONOTONIC,
            Kind::Wall => libc::CLOCK_REALTIME,
        })
    }

    /// What it shows where there is no world.
    fn shows_outside(self) -> Duration {
        let shown = self.outside().get().at(self.real());
        shown.saturating_sub(self.since())
    }

    /// What it shows, if anyone has looked, or what it was set to.
    fn seen(self) -> Duration {
        let outside = self.outside().get();
        match outside.seen {
            true => self.shows_outside(),
            false => outside.set_to,
        }
    }

    /// One that goes on from there, by the system's.
    fn from(self, set_to: Duration) -> Outside {
        let shown = self.since().saturating_add(set_to).as_nanos() as i128;
        Outside {
            set_to,
            ahead_ns: shown - self.real().as_nanos() as i128,
            seen: false,
        }
    }

    fn go_on_from(self, set_to: Duration) {
        self.outside().set(self.from(set_to));
    }
}

pub(super) fn real(clock: clockid_t) -> Duration {
    let mut time = timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: there is room for it.
    unsafe { real_time(clock, &raw mut time) };
    of(time).unwrap_or_default()
}

fn monotonic_zero() -> Duration {
    *MONOTONIC_ZERO.get_or_init(|| real(libc::CLOCK_MONOTONIC))
}

pub(crate) fn clocks_seen() -> Clocks {
    file_times::stop();
    Clocks {
        monotonic: Kind::Monotonic.seen(),
        wall: Kind::Wall.seen(),
    }
}

pub(crate) fn clocks_outside() -> Clocks {
    Clocks {
        monotonic: Kind::Monotonic.shows_outside(),
        wall: Kind::Wall.shows_outside(),
    }
}

pub(crate) fn go_on_from(clocks: Clocks) {
    Kind::Monotonic.go_on_from(clocks.monotonic);
    Kind::Wall.go_on_from(clocks.wall);
}

/// The clocks of a thread, where there is no world.
pub(crate) type Clockwork = (Outside, Outside);

/// Those of this thread, and what sets another one's to them.
pub(crate) fn clockwork() -> Clockwork {
    (MONOTONIC.get(), WALL.get())
}

/// Those of a thread that this one starts. They go on from what this one's show: where those are a world's in which threads
/// may take part, as time has passed there that has not outside.
pub(super) fn clockwork_of_started(takes_part: bool) -> Clockwork {
    let Some(system) = system::get().filter(|_| takes_part) else {
        return clockwork();
    };
    let (zero, passed) = (system::zero(), (system.start)());
    (
        Kind::Monotonic.from(zero.monotonic + passed),
        Kind::Wall.from(zero.wall + passed),
    )
}

pub(crate) fn set_clockwork((monotonic, wall): Clockwork) {
    MONOTONIC.set(monotonic);
    WALL.set(wall);
}

/// What this thread's clock shows, if that is not the system's.
fn shown(clock: clockid_t) -> Option<Duration> {
    let kind = Kind::of(clock)?;
    if let Some(system) = system::get() {
        let zero = system::zero();
        let zero = match kind {
            Kind::Monotonic => monotonic_zero() + zero.monotonic,
            Kind::Wall => zero.wall,
        };
        return Some(zero + (system.clock)());
    }
    let outside = kind.outside().get();
    (outside.ahead_ns != 0).then(|| outside.at(real(clock)))
}

/// The date that this thread's clock shows, if that is not the system's. Nobody has looked.
pub(super) fn date_unlooked() -> Option<Duration> {
    match system::get() {
        Some(system) => Some(system::zero().wall + (system.unlooked)()),
        None => {
            let outside = Kind::Wall.outside().get();
            (outside.ahead_ns != 0).then(|| outside.at(Kind::Wall.real()))
        }
    }
}

/// Somebody looks at a clock.
fn look(clock: clockid_t) {
    if let (Some(kind), None) = (Kind::of(clock), system::get()) {
        let cell = kind.outside();
        cell.set(Outside {
            seen: true,
            ..cell.get()
        });
    }
}

/// What the system's clock shows when this thread's shows this, if that is another one.
pub(super) fn by_system(clock: clockid_t, shown: Duration) -> Option<Duration> {
    let ahead_ns = Kind::of(clock)?.outside().get().ahead_ns;
    (ahead_ns != 0).then(|| moved(shown, -ahead_ns))
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
    look(clock);
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
        threads::note_timed_wait();
        let Some(hidden) = HIDDEN.found() else {
            return -1;
        };
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
    threads::note_timed_wait();
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe { transmute::<*mut libc::c_void, SleepBy>(hidden)(clock, flags, time, rest) }
}
