//! Which threads a thread has started.
//!
//! Whoever waits may wait for one of them, which nothing but time can tell.

use super::{Hidden, clocks, stay};
use crate::system::{self, Blocks, System, ThreadsStarted};
use libc::{c_int, c_long, c_void, pthread_attr_t, pthread_t};
use std::cell::{Cell, OnceCell};
use std::fmt;
use std::mem::transmute;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

type Body = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
pub(super) type Join = unsafe extern "C" fn(pthread_t, *mut *mut c_void) -> c_int;
type TimedJoin = unsafe extern "C" fn(pthread_t, *mut *mut c_void, *const libc::timespec) -> c_int;
pub(super) type Create =
    unsafe extern "C" fn(*mut pthread_t, *const pthread_attr_t, Option<Body>, *mut c_void) -> c_int;

/// Of the threads of one test, in most programs.
struct Counts {
    /// No other has it in this process.
    number: u64,
    ever: AtomicU64,
    live: AtomicU64,
    /// Processes that were started.
    processes: AtomicU64,
    /// What the clock showed that was furthest of those that have ended, in nanoseconds.
    furthest_ns: AtomicU64,
    /// How often they were said to be, and it was not taken back.
    welcome: AtomicU64,
}

impl Default for Counts {
    fn default() -> Self {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        Counts {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            ever: AtomicU64::new(0),
            live: AtomicU64::new(0),
            processes: AtomicU64::new(0),
            furthest_ns: AtomicU64::new(0),
            welcome: AtomicU64::new(0),
        }
    }
}

thread_local! {
    static COUNTS: OnceCell<Arc<Counts>> = const { OnceCell::new() };
    static WELCOME: Cell<bool> = const { Cell::new(false) };
    /// This thread was started by one whose threads are counted.
    static STARTED: Cell<bool> = const { Cell::new(false) };
    /// This thread was started under control, or by one that was.
    static CONTROLLED: Cell<bool> = const { Cell::new(false) };
    /// This thread is one of those, and has waited for some time to pass.
    static TIMED: Cell<bool> = const { Cell::new(false) };
    /// What this thread starts is none of the program's.
    static UNCOUNTED: Cell<bool> = const { Cell::new(false) };
}

/// Threads that `f` starts are not counted.
pub(crate) fn uncounted<R>(f: impl FnOnce() -> R) -> R {
    let before = UNCOUNTED.replace(true);
    let result = f();
    UNCOUNTED.set(before);
    result
}

/// Where the threads that this one starts are counted: with those that its starter has, or from here on. The process's
/// first thread is the harness's, and starts tests, which have nothing to do with each other.
fn counts() -> Option<Arc<Counts>> {
    if UNCOUNTED.get() {
        return None;
    }
    // Threads may still be started while the thread-locals of this one are dropped.
    let found = COUNTS.try_with(|counts| {
        if system::get().is_some() || !is_first() {
            Some(counts.get_or_init(Arc::default).clone())
        } else {
            counts.get().cloned()
        }
    });
    found.ok().flatten()
}

fn is_first() -> bool {
    // SAFETY: neither call takes anything.
    unsafe { super::call(libc::SYS_gettid, [0; 6]) == c_long::from(libc::getpid()) }
}

pub(crate) fn welcome_threads(welcome: bool) {
    // It may be taken back while the thread-locals of this thread are dropped.
    let _ = COUNTS.try_with(|counts| {
        let counts = &counts.get_or_init(Arc::default).welcome;
        match welcome {
            true => counts.fetch_add(1, Ordering::AcqRel),
            false => counts.fetch_sub(1, Ordering::AcqRel),
        }
    });
}

/// The threads with which one is counted.
#[derive(Clone)]
pub struct Family(Arc<Counts>);

impl fmt::Debug for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Family").field(&self.0.number).finish()
    }
}

impl Family {
    /// That of the threads that this one starts, if those are counted.
    #[must_use]
    pub fn of_this_thread() -> Option<Family> {
        counts().map(Family)
    }

    /// The threads that this one starts are of this family, unless they are of another one already.
    pub fn adopt(self) {
        let _ = COUNTS.try_with(|counts| counts.set(self.0));
    }
}

pub(crate) fn family() -> u64 {
    counts().map_or(0, |counts| counts.number)
}

pub(crate) fn was_started() -> bool {
    STARTED.get()
}

pub(crate) fn is_welcome() -> bool {
    WELCOME.get()
}

pub(crate) fn was_controlled() -> bool {
    CONTROLLED.get()
}

pub(crate) fn count_starter(here: bool) {
    COUNTS.with(|counts| {
        let live = &counts.get_or_init(Arc::default).live;
        match here {
            true => live.fetch_add(1, Ordering::AcqRel),
            false => live.fetch_sub(1, Ordering::AcqRel),
        };
    });
}

/// Those that live and were started under control, or by such a thread.
static CONTROLLED_LIVE: AtomicU64 = AtomicU64::new(0);
/// A thread of the harness's is one of those, as long as this lives.
pub(super) struct Controlled;

impl Controlled {
    pub(super) fn begin() -> Controlled {
        CONTROLLED_LIVE.fetch_add(1, Ordering::AcqRel);
        Controlled
    }
}

impl Drop for Controlled {
    fn drop(&mut self) {
        CONTROLLED_LIVE.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Those of them that have waited for some time to pass.
static TIMED_LIVE: AtomicU64 = AtomicU64::new(0);
/// All that live and are counted.
static LIVE: AtomicU64 = AtomicU64::new(0);

pub(crate) fn threads_started() -> ThreadsStarted {
    let read = |counts: &OnceCell<Arc<Counts>>| {
        let read = |count: &AtomicU64| count.load(Ordering::Acquire);
        counts.get().map_or([0; 4], |counts| {
            [
                read(&counts.ever),
                read(&counts.live),
                read(&counts.processes),
                read(&counts.furthest_ns),
            ]
        })
    };
    let [ever, live, processes, furthest_ns] = COUNTS.with(read);
    ThreadsStarted {
        ever,
        live,
        processes,
        furthest: Duration::from_nanos(furthest_ns),
        controlled: CONTROLLED_LIVE.load(Ordering::Acquire),
        timed: TIMED_LIVE.load(Ordering::Acquire),
        anywhere: LIVE.load(Ordering::Acquire),
    }
}

/// This thread has started a process.
pub(super) fn note_process() {
    if let Some(counts) = counts() {
        counts.processes.fetch_add(1, Ordering::AcqRel);
    }
}

/// This thread waits for some time to pass, or for somebody as long as that.
pub(super) fn note_timed_wait() {
    if CONTROLLED.get() && !TIMED.replace(true) {
        TIMED_LIVE.fetch_add(1, Ordering::AcqRel);
    }
}

/// A thread that was started.
struct Started {
    body: Body,
    argument: *mut c_void,
    counts: Arc<Counts>,
    welcome: bool,
    controlled: bool,
    clocks: clocks::Clockwork,
}

impl Drop for Started {
    fn drop(&mut self) {
        lives_no_more(&self.counts, self.controlled);
    }
}

fn lives_no_more(counts: &Counts, controlled: bool) {
    counts.live.fetch_sub(1, Ordering::AcqRel);
    LIVE.fetch_sub(1, Ordering::AcqRel);
    if controlled {
        CONTROLLED_LIVE.fetch_sub(1, Ordering::AcqRel);
    }
    if TIMED.replace(false) {
        TIMED_LIVE.fetch_sub(1, Ordering::AcqRel);
    }
}

/// This thread is about to do nothing any more, if it is one that was started under control where threads were not
/// welcome. Returns whether it is.
pub(super) fn stops_for_good() -> bool {
    let counts = COUNTS.try_with(|counts| counts.get().cloned());
    let Some(counts) = counts.ok().flatten() else {
        return false;
    };
    let stops = CONTROLLED.get() && !WELCOME.get();
    if stops {
        lives_no_more(&counts, true);
    }
    stops
}

/// This thread is that of a copy of the process.
pub(super) fn is_a_copy() {
    CONTROLLED.set(false);
}

/// The body of a thread that is counted.
///
/// # Safety
/// The argument is a boxed [`Started`], which nobody else has.
unsafe extern "C" fn counted(argument: *mut c_void) -> *mut c_void {
    // SAFETY: the caller's promise.
    let started = unsafe { Box::from_raw(argument.cast::<Started>()) };
    let _ = COUNTS.try_with(|counts| counts.set(started.counts.clone()));
    WELCOME.set(started.welcome);
    STARTED.set(true);
    CONTROLLED.set(started.controlled);
    clocks::set_clockwork(started.clocks);
    // SAFETY: as whoever started the thread has promised.
    let returned = unsafe { (started.body)(started.argument) };
    let ends_ns = clocks::clocks_outside().monotonic.as_nanos() as u64;
    started
        .counts
        .furthest_ns
        .fetch_max(ends_ns, Ordering::AcqRel);
    drop(started);
    stay::after_body(returned);
    returned
}

/// The body of a thread of the process's first one: of the harness's for a test.
///
/// # Safety
/// The argument is a boxed body with its argument, which nobody else has.
unsafe extern "C" fn of_the_harness(argument: *mut c_void) -> *mut c_void {
    // SAFETY: the caller's promise.
    let (body, argument) = *unsafe { Box::from_raw(argument.cast::<(Body, *mut c_void)>()) };
    // SAFETY: as whoever started the thread has promised.
    let returned = unsafe { body(argument) };
    stay::after_test(returned);
    returned
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn pthread_create(
    thread: *mut pthread_t,
    attributes: *const pthread_attr_t,
    body: Option<Body>,
    argument: *mut c_void,
) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"pthread_create\0");
    let Some(hidden) = HIDDEN.found() else {
        return libc::ENOSYS;
    };
    // SAFETY: the type of a function of this name.
    let create = unsafe { transmute::<*mut c_void, Create>(hidden) };
    let (Some(body), Some(counts)) = (body, counts()) else {
        if let Some(body) = body.filter(|_| !UNCOUNTED.get() && is_first()) {
            let tests = Box::into_raw(Box::new((body, argument)));
            // SAFETY: as below.
            return unsafe {
                let outcome = create(thread, attributes, Some(of_the_harness), tests.cast());
                if outcome != 0 {
                    drop(Box::from_raw(tests));
                }
                outcome
            };
        }
        // SAFETY: the caller's promise.
        return unsafe { create(thread, attributes, body, argument) };
    };
    counts.ever.fetch_add(1, Ordering::AcqRel);
    counts.live.fetch_add(1, Ordering::AcqRel);
    LIVE.fetch_add(1, Ordering::AcqRel);
    let welcome = counts.welcome.load(Ordering::Acquire) > 0;
    let controlled = CONTROLLED.get() || system::get().is_some();
    if controlled {
        CONTROLLED_LIVE.fetch_add(1, Ordering::AcqRel);
    }
    let started = Box::into_raw(Box::new(Started {
        body,
        argument,
        counts,
        welcome,
        controlled,
        clocks: clocks::clockwork_of_started(welcome),
    }));
    // SAFETY: the caller's promise; and the new thread, if there is one, owns the argument.
    unsafe {
        let outcome = create(thread, attributes, Some(counted), started.cast());
        if outcome != 0 {
            drop(Box::from_raw(started));
        }
        outcome
    }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn pthread_join(thread: pthread_t, value: *mut *mut c_void) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"pthread_join\0");
    static TRIES: Hidden = Hidden::new(b"pthread_tryjoin_np\0");
    static TIMED: Hidden = Hidden::new(b"pthread_timedjoin_np\0");
    let Some(hidden) = HIDDEN.found() else {
        return libc::ENOSYS;
    };
    let tries = TRIES.get();
    // SAFETY: the type of functions of these names, and the caller's promise.
    let call = |hidden| unsafe { transmute::<*mut c_void, Join>(hidden)(thread, value) };
    let mut outcome = libc::EBUSY;
    let mut has_ended = || {
        outcome = call(tries);
        if outcome == libc::EBUSY {
            // SAFETY: the caller's promise.
            outcome = unsafe { stay::join(thread, value) }.unwrap_or(outcome);
        }
        outcome != libc::EBUSY
    };
    let system = system::get().filter(|_| !tries.is_null());
    if system.is_some_and(|system| (system.join)(&mut has_ended)) {
        return outcome;
    }
    let _joins = system.map(Joins::begin);
    // What a thread joins that has started any has been counted; the harness joins what has ended.
    let is_counted = COUNTS.try_with(|counts| counts.get().is_some());
    let may_stay = stay::may_be() || is_counted.unwrap_or(false);
    let timed = TIMED.get();
    if tries.is_null() || timed.is_null() || !may_stay {
        return call(hidden);
    }
    // Ever longer: whoever watches this thread sees whether it does anything by the time that it takes.
    let mut moment_ns = 1_000_000;
    while !has_ended() {
        let soon = in_a_moment(moment_ns);
        moment_ns = SECOND_NS.min(2 * moment_ns);
        // SAFETY: the type of a function of this name, and the caller's promise.
        let ended =
            unsafe { transmute::<*mut c_void, TimedJoin>(timed)(thread, value, &raw const soon) };
        if ended != libc::ETIMEDOUT {
            return ended;
        }
    }
    outcome
}

/// The thread blocks until another one has ended.
struct Joins(System);

impl Joins {
    fn begin(system: System) -> Joins {
        (system.blocks)(Blocks::Thread);
        Joins(system)
    }
}

impl Drop for Joins {
    fn drop(&mut self) {
        (self.0.blocks)(Blocks::No);
    }
}

const SECOND_NS: c_long = 1_000_000_000;

/// When to look again whether a thread stays: what the system's clock shows after so long, a second at most.
fn in_a_moment(moment_ns: c_long) -> libc::timespec {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let into = (&raw mut time).expose_provenance() as c_long;
    let clock = c_long::from(libc::CLOCK_REALTIME);
    // SAFETY: the system call writes the time there.
    unsafe { super::call(libc::SYS_clock_gettime, [clock, into, 0, 0, 0, 0]) };
    let later = time.tv_nsec + moment_ns;
    time.tv_sec += later / SECOND_NS;
    time.tv_nsec = later % SECOND_NS;
    time
}
