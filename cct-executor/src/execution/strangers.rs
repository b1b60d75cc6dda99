//! Threads that the code has started, in a world whose run nobody will ask for again: they may take part in it.
//!
//! Elsewhere what they do is a failure, as nothing controls when it comes. A test without an attribute that was
//! written for threads, and is run once, is to do what it does on tokio.
//!
//! 1. Wake-ups of theirs are taken between steps, and whoever waits to use what is the world's comes in then.
//! 2. Before time moves, and before a deadlock is one, they are given the machine's time, as long as some live; and
//!    what they take of that passes here as well; all of it, while one lives that waits for time to pass itself, as a
//!    timer's does, unless the clock is frozen. So is what else of the machine's tasks wait for (`machine.rs`).

use super::close::Closing;
use super::core::{Core, NONE};
use super::decider::Decider;
use super::helpers::{self, LOOK};
use super::panics::Panics;
use super::quiet::Quiet;
use super::world::{Phase, Running, WORLD, World};
use crate::raw::afar::{self, Job};
use crate::raw::guest::{self, Luggage, Thread};
use crate::raw::shared::Home;
use cct_interpose::{Place, threads_started};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

/// Steps between two looks at who waits to come in.
const STEPS: u64 = 64;
/// What code of the test has to take of the machine's time without a step, to be noticed where nobody takes part.
const MUCH: Duration = Duration::from_millis(50);
/// How often a thread that waits shows that it does.
const SIGN: Duration = Duration::from_secs(20);

/// As tokio calls the threads of its pool.
const THREAD_NAME: &str = "tokio-rt-worker";

/// Has the thread of this world do something, and waits for what comes of it. `None` if it is not open to others, or
/// ends before.
pub(crate) fn ask<R: Send + 'static>(
    world: u64,
    job: impl FnOnce() -> R + Send + 'static,
) -> Option<R> {
    Home::ask(world, job)
}

/// What a thread has that runs a world.
struct OfTheWorld {
    world: World,
    place: Place,
    panics: Panics,
}

impl Luggage for OfTheWorld {
    fn nothing() -> OfTheWorld {
        OfTheWorld {
            world: World::new(),
            place: Place::default(),
            panics: Panics::default(),
        }
    }

    fn exchange(&mut self) {
        WORLD.with(|world| world.exchange(&self.world));
        self.place.exchange();
        self.panics.exchange();
    }

    fn has_thread(thread: Rc<dyn Thread>) -> u32 {
        WORLD.with(|world| {
            let key = world.running.get().key;
            world.threads.borrow_mut().push((key, thread));
            key
        })
    }

    fn has_none(key: u32) {
        WORLD.with(|world| {
            let mut threads = world.threads.borrow_mut();
            if let Some(at) = threads.iter().rposition(|(of, _)| *of == key) {
                threads.remove(at);
            }
        });
    }

    fn give_way(key: u32) {
        WORLD.with(|world| {
            // Else a task is not enabled while one that it drives is in the middle of a poll.
            assert!(
                world.phase.get() == Phase::Closing,
                "cct bug: a task goes on whose thread is in the middle of another's poll"
            );
            world.stand_aside(key, NONE);
        });
    }
}

/// Runs `job` as a closure of this world that may block, which `spawn` makes a task; on this thread, or where that has a
/// world of its own on the other, while this one waits. `None` if the world is not open to others, or ends before.
pub(crate) fn lend<R>(
    world: u64,
    job: impl FnOnce() -> R,
    spawn: impl FnOnce(Job) + Send + 'static,
) -> Option<R> {
    let start = |job| {
        Home::ask(world, move || spawn(job));
    };
    let came_of_it = match Home::here() {
        Some(_) => afar::lend(job, start),
        None => run_here(job, start),
    };
    match came_of_it? {
        Ok(result) => Some(result),
        Err(payload) if payload.is::<Closing>() => None,
        Err(payload) => resume_unwind(payload),
    }
}

/// Runs `job` as a guest. What is time for one of the two, thread and world, is for the other.
fn run_here<R>(job: impl FnOnce() -> R, start: impl FnOnce(Job)) -> Option<thread::Result<R>> {
    let clock = cct_interpose::clocks_outside().monotonic;
    let mut shown = None;
    let job = || {
        WORLD.with(|world| world.catch_up(clock));
        let came_of_it = catch_unwind(AssertUnwindSafe(job));
        shown = WORLD.with(|world| world.is_free().then(|| world.clocks_at_end()));
        came_of_it.unwrap_or_else(|payload| resume_unwind(payload))
    };
    let came_of_it = guest::run_as_guest::<OfTheWorld, R>(job, start);
    let before = cct_interpose::clocks_outside();
    if let Some(shown) = shown.filter(|shown| shown.monotonic > before.monotonic) {
        cct_interpose::go_on_from(shown);
    }
    came_of_it
}

/// Runs a closure that may block: where threads take part, on one of its own, as on tokio. What it keeps in
/// thread-locals is its own there, and whom a channel of the standard library wakes it tells by threads.
pub(crate) fn as_on_a_thread<R: Send + 'static>(closure: impl FnOnce() -> R + Send + 'static) -> R {
    if !WORLD.with(|world| world.open.get()) {
        return closure();
    }
    let namer = WORLD.with(|world| {
        let key = world.running.get().key;
        world.with(|core, _| core.namer(key))
    });
    let name = namer.map_or_else(|| THREAD_NAME.to_owned(), |namer| namer());
    match guest::run_on_a_thread::<OfTheWorld, R>(name, closure) {
        Ok(Ok(result)) => result,
        Ok(Err(payload)) => resume_unwind(payload),
        Err(error) => panic!("the system has no thread for a closure that may block: {error}"),
    }
}

/// Has the thread of this world do something, sooner or later. Returns whether the world is open to others.
pub(crate) fn post(world: u64, job: Job) -> bool {
    Home::leave(world, job)
}

/// The other worlds that are open to others, and that threads of the same test have.
pub(crate) fn relatives(world: u64) -> Vec<u64> {
    Home::relatives(world)
}

/// Whether threads that are not this world's may take part in it.
pub(crate) fn is_open(world: u64) -> bool {
    Home::is_open(world)
}

/// The thread of this world has ended before it: nobody does anything there any more.
pub(crate) fn close(world: u64) {
    Home::close(world);
}

impl Core {
    /// Takes what has come from other threads, and lets them in now and then. Returns whether they ask for more.
    #[cold]
    pub(super) fn see_to_strangers(&mut self, decider: &mut dyn Decider) -> bool {
        let Some(home) = Home::here() else {
            return false;
        };
        if self.point.step % STEPS == 0 {
            if home.has_visitors() {
                home.aside(std::thread::yield_now);
            }
            self.look_at_machine(home);
        }
        self.take_mail(home, decider);
        self.looks.decided = cct_interpose::clocks_outside().monotonic;
        home.has_jobs()
    }

    /// Returns whether anybody was woken.
    fn take_mail(&mut self, home: &'static Home, decider: &mut dyn Decider) -> bool {
        let Some(serial) = self.open.filter(|_| home.has_mail()) else {
            return false;
        };
        let mut any = false;
        for wake in home.take_mail() {
            if wake.serial != serial {
                continue;
            }
            any = true;
            match wake.aborts {
                None => self.wake(wake.key, decider),
                Some(number) if self.task_id(wake.key).0 == number => {
                    self.abort(wake.key, decider);
                }
                // It has ended, and its place is another's.
                Some(_) => {}
            }
        }
        any
    }

    /// Nothing is enabled before a timer fires, if there is one. Returns whether other threads have changed that.
    #[cold]
    pub(super) fn strangers_act_in_time(&mut self, decider: &mut dyn Decider) -> bool {
        let Some((deadline_ns, _)) = self.next_deadline() else {
            return false;
        };
        self.keep_up_with_strangers();
        let left = deadline_ns.saturating_sub(self.point.time_ns);
        self.strangers_act(Some(Duration::from_nanos(left)), decider)
    }

    /// Nothing is enabled, and nothing will be before so much time has passed, or at all. Returns whether other
    /// threads have changed that.
    #[cold]
    pub(super) fn strangers_act(
        &mut self,
        within: Option<Duration>,
        decider: &mut dyn Decider,
    ) -> bool {
        let Some(home) = Home::here().filter(|_| self.open.is_some()) else {
            return false;
        };
        self.keep_up_with_strangers();
        let (mut waited, mut quiet) = (Duration::ZERO, Quiet::new());
        let (mut sign, begin_ns) = (SIGN, self.point.time_ns);
        loop {
            let awaited = self.machine.is_awaited();
            // By its own time one that is some timer's may do much that nobody here is woken by.
            let started = threads_started();
            let outside = started.processes > 0 || self.is_the_machines();
            let timed = !self.looks.frozen && (started.timed > 0 || outside);
            // Where nobody outside is known it is a deadlock.
            let watched = outside && self.machine.is_watched();
            // In this order: one that ends may have acted before.
            let goes_on = match within {
                Some(time) => waited < time && (awaited || timed || self.helpers.may_act()),
                None if self.is_the_machines() => true,
                None => {
                    let anybody = awaited || watched || self.helpers.live();
                    anybody && !quiet.is_for_ever(waited)
                }
            };
            if goes_on && waited >= sign {
                // Whoever watches sees that it is known what for.
                self.heartbeat.fetch_add(1, Ordering::Relaxed);
                sign = waited + SIGN;
            }
            self.look_at_machine(home);
            let acted = self.take_mail(home, decider) || home.has_jobs();
            // Who waits for a word is woken by none of that.
            if acted || self.notice_changes(decider) {
                self.helpers.have_acted();
                let now = cct_interpose::clocks_outside().monotonic;
                self.has_waited_for_strangers(Duration::ZERO, now);
                return true;
            }
            if !goes_on {
                return false;
            }
            self.helpers.look();
            let before = cct_interpose::clocks_outside().monotonic;
            let left = within.map_or(Duration::MAX, |time| time.saturating_sub(waited));
            let look = self.machine.look_after(waited).min(left).max(LOOK);
            home.aside(|| helpers::nap(look));
            let after = cct_interpose::clocks_outside().monotonic;
            let took = after.saturating_sub(before).max(LOOK);
            self.has_waited_for_strangers(took, after);
            let passed = Duration::from_nanos(self.point.time_ns.saturating_sub(begin_ns));
            waited = (waited + took).max(passed);
        }
    }

    /// What the code of this world took of the machine's time has passed here as well, up to the next deadline.
    fn keep_up_with_strangers(&mut self) {
        if self.open.is_some() && self.any_take_part() {
            let now = cct_interpose::clocks_outside().monotonic;
            self.has_waited_for_strangers(Duration::ZERO, now);
        }
    }

    /// Whether anybody may take part that goes by the machine's time.
    fn any_take_part(&self) -> bool {
        let threads = self.helpers.live();
        threads
            || threads_started().processes > 0
            || self.machine.is_awaited()
            || self.is_the_machines()
    }

    /// Threads that may take part were waited for, by the machine's time: it passes here as well, up to the next
    /// deadline, unless the clock is frozen. They count by the machine's clock, behind which that of the world is not to
    /// be: what one of them does after a second would be too early here.
    fn has_waited_for_strangers(&mut self, time: Duration, now: Duration) {
        if self.looks.frozen {
            return;
        }
        let time_ns = self.point.time_ns.saturating_add(time.as_nanos() as u64);
        let time_ns = time_ns.max(self.outside_ns(now));
        let deadline_ns = self
            .next_deadline()
            .map_or(u64::MAX, |(deadline_ns, _)| deadline_ns);
        self.advance_to(time_ns.min(deadline_ns));
    }
}

impl Core {
    /// Whether a task is not to be polled on the thread on which others wait, parked, for what it may have to say: who
    /// tells by threads who waits, as channels of the standard library do, would pass over them there.
    fn leaves_thread_alone(&mut self, key: u32) -> bool {
        let is_free = self.group_of(key) == NONE && !self.task(key).blocking;
        is_free && self.is_thread_parked()
    }

    /// What the clock of this world would show were it that of a thread started here, while the machine's shows this.
    fn outside_ns(&self, clock: Duration) -> u64 {
        let since = clock.saturating_sub(cct_interpose::clocks_at_zero().monotonic);
        let ahead_ns = self.looks.behind_ns + self.looks.jumped_ns;
        ahead_ns.saturating_add(since.as_nanos() as u64)
    }

    /// How far the clock of this world is behind another thread's.
    fn behind(&self, clock: Duration) -> Duration {
        if self.looks.frozen {
            return Duration::ZERO;
        }
        let since = clock.saturating_sub(cct_interpose::clocks_at_zero().monotonic);
        since.saturating_sub(Duration::from_nanos(self.point.time_ns))
    }
}

impl World {
    /// Polls a task on the thread of whoever drives its runtime or its set, if that has one of its own; or on that of such
    /// polls. Returns whether it did.
    #[cold]
    pub(super) fn poll_on_its_thread(&self, key: u32, poll: &mut dyn FnMut()) -> bool {
        let mut driver = self.with(|core, _| core.driver_of(key));
        while driver != NONE {
            let thread = {
                let threads = self.threads.borrow();
                let of_the_driver = threads.iter().rev().find(|(of, _)| *of == driver);
                of_the_driver.map(|(_, thread)| thread.clone())
            };
            if let Some(thread) = thread {
                return thread.run(poll);
            }
            driver = self.with(|core, _| core.driver_of(driver));
        }
        let elsewhere = self.with(|core, _| core.leaves_thread_alone(key));
        elsewhere
            && self
                .thread_for_polls()
                .is_some_and(|thread| thread.run(poll))
    }

    /// That of a runtime of several threads, for what must not be polled on this one. `None` if the system has none.
    fn thread_for_polls(&self) -> Option<Rc<dyn Thread>> {
        let mut threads = self.threads.borrow_mut();
        if let Some((_, thread)) = threads.iter().find(|(of, _)| *of == NONE) {
            return Some(thread.clone());
        }
        let made = guest::thread_for_polls::<OfTheWorld>(THREAD_NAME).ok()?;
        threads.push((NONE, made.clone()));
        Some(made)
    }

    /// Does what other threads have asked for.
    #[cold]
    pub(super) fn do_jobs(&self) {
        let Some(home) = Home::here().filter(|_| self.open.get()) else {
            return;
        };
        let running = self.running.replace(Running::NOBODY);
        home.take_jobs().into_iter().for_each(|job| job());
        self.running.set(running);
    }

    /// The running task waits for a thread to end. Returns whether it was waited for: it has, then.
    pub(super) fn join_stranger(&self, has_ended: &mut dyn FnMut() -> bool) -> bool {
        let Some(home) = Home::here().filter(|_| self.open.get()) else {
            return false;
        };
        while !has_ended() {
            // What else is ready goes on meanwhile.
            if !self.sleep_for(LOOK) {
                return false;
            }
            self.with(|core, _| {
                home.aside(|| helpers::nap(LOOK));
                let now = cct_interpose::clocks_outside().monotonic;
                core.has_waited_for_strangers(Duration::ZERO, now);
            });
        }
        self.catch_up(threads_started().furthest);
        true
    }

    /// Somebody is about to look at the time, or sets a timer by it. What the code of the running task took of the machine's
    /// time has passed for those who take part and go by that, and so it has here: else it would pass after a timer was set,
    /// and count for it. Where nobody does yet, only work that takes long by itself passes for any.
    #[inline]
    pub(crate) fn keep_up(&self) {
        if self.open.get() {
            self.keep_up_with_strangers();
        }
    }

    #[cold]
    fn keep_up_with_strangers(&self) {
        let key = self.running.get().key;
        if key == NONE || !(self.is_free() && self.is_running()) {
            return;
        }
        let behind_ns = self.with(|core, _| {
            let now = cct_interpose::clocks_outside().monotonic;
            let works = now.saturating_sub(core.looks.decided) >= MUCH;
            if core.looks.frozen || !(works || core.any_take_part()) {
                return 0;
            }
            core.outside_ns(now).saturating_sub(core.point.time_ns)
        });
        if behind_ns > 0 {
            self.move_clock(key, Duration::from_nanos(behind_ns));
        }
    }

    /// What the clock shows to a thread that is about to be started. From here on that of the world is not behind the thread's.
    #[cold]
    pub(super) fn clock_of_started(&self) -> Duration {
        let shown = self.system_clock();
        if self.open.get() && self.is_free() {
            self.with(|core, _| {
                if !core.looks.frozen {
                    let outside_ns = core.outside_ns(cct_interpose::clocks_outside().monotonic);
                    core.looks.jumped_ns += core.point.time_ns.saturating_sub(outside_ns);
                }
            });
        }
        shown
    }

    /// A thread's clock may be ahead: time passes at once for who has a world of its own, and sleeps there. Where that is
    /// the machine's, it has passed here as well.
    fn catch_up(&self, clock: Duration) {
        if !self.is_running() {
            return;
        }
        let (ahead, waits) = self.with(|core, _| (core.behind(clock), core.is_the_machines()));
        if !ahead.is_zero() && threads_started().processes == 0 && !waits {
            self.sleep_for(ahead);
        }
    }
}
