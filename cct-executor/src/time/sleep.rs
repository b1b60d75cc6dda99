//! Waiting for a deadline.
//!
//! 1. A `Sleep` is in its world's timer heap only while its state is `Waiting`.
//! 2. Its timer is registered in the first poll, not when it is made.

use super::Instant;
use crate::execution::core::Core;
use crate::execution::run::is_refused;
use crate::execution::strangers;
use crate::execution::timers::TimerId;
use crate::execution::waker::Waiter;
use crate::execution::world::{Phase, WORLD, World, expect_runtime, expect_world};
use crate::shim::spawn_on_world;
use crate::task::{JoinHandle, coop, entered_world};
use crate::words::{Access, Op, OpKind};
use pin_project_lite::pin_project;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// Thirty years: tokio's bound for durations too long to add to the present.
const LONGEST: Duration = Duration::from_secs(86_400 * 365 * 30);

/// A duration that can be added to any present moment.
pub(super) fn bounded(duration: Duration) -> Duration {
    duration.min(LONGEST)
}

/// Waits until the duration has passed, rounded up to whole milliseconds. Zero is over at once.
///
/// # Scheduling points
/// One, in the first poll, if the time has come already. Else that poll waits, which is one too.
///
/// # Cancel safety
/// Safe: the timer is dropped with the future.
///
/// # Panics
/// Outside a world, unless the thread has entered a runtime of one.
#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    let serial = current_world();
    Sleep::at(
        Instant::present() + bounded(duration),
        serial,
        Location::caller(),
    )
}

/// Waits until the deadline, rounded up to whole milliseconds. A past one is over at once.
///
/// # Scheduling points
/// One, in the first poll, if the time has come already. Else that poll waits, which is one too.
///
/// # Cancel safety
/// Safe: the timer is dropped with the future.
///
/// # Panics
/// Outside a world, unless the thread has entered a runtime of one.
#[track_caller]
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep::at(deadline, current_world(), Location::caller())
}

/// The serial of the world that this thread runs; or, where it runs none, of the one whose runtime it has entered.
#[track_caller]
pub(super) fn current_world() -> u64 {
    if let Some(world) = entered_world() {
        return world;
    }
    expect_world(format_args!(
        "timers must be made inside a scenario, as in a test with #[cct_executor::test] or a \
         closure given to Checker::run"
    ));
    expect_runtime("what waits for time to pass");
    WORLD.with(|world| world.serial.get())
}

pin_project! {
    /// The future of [`sleep`] and [`sleep_until`].
    ///
    /// # Scheduling points
    /// One in the first poll, and in the first poll after each [`reset`](Self::reset), if the time has
    /// come already. Else that poll waits, which is one too.
    ///
    /// # Panics
    /// When polled after its world has ended, or on a thread to which that is not open.
    #[project(!Unpin)]
    #[derive(Debug)]
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct Sleep {
        deadline: Instant,
        timer: Timer,
    }
}

/// Its own type so that dropping needs no pinned drop.
struct Timer {
    serial: u64,
    site: &'static Location<'static>,
    state: State,
    /// The scheduling point has been passed.
    started: bool,
    /// Who was told that it is over. They are woken at the next deadline if it is reset, though they
    /// have not polled again: tokio's timers keep the waker, and tasks live by that.
    told: Option<Waiter>,
    /// Waits in its place, where it is polled on a thread that is not its world's.
    there: Option<Box<JoinHandle<()>>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Not registered.
    Idle,
    /// In the world's table of timers; it may have fired.
    Waiting(TimerId),
    /// It has fired, or was due when it was to be registered.
    Elapsed,
}

impl Sleep {
    pub(super) fn at(deadline: Instant, serial: u64, site: &'static Location<'static>) -> Sleep {
        let timer = Timer {
            serial,
            site,
            state: State::Idle,
            started: false,
            told: None,
            there: None,
        };
        Sleep { deadline, timer }
    }

    /// The moment it waits for.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Whether the timer has fired. A `Sleep` that was never polled nor reset has no timer yet.
    pub fn is_elapsed(&self) -> bool {
        self.timer.is_elapsed()
    }

    /// Waits for another deadline from now on. Whoever polled it last is woken then, without a poll in
    /// between; at once when the deadline is past.
    pub fn reset(self: Pin<&mut Self>, deadline: Instant) {
        let this = self.project();
        *this.deadline = deadline;
        this.timer.reset(deadline);
    }

    /// Another deadline, registered only when polled next.
    pub(super) fn reset_unregistered(self: Pin<&mut Self>, deadline: Instant) {
        let this = self.project();
        *this.deadline = deadline;
        this.timer.forget();
        this.timer.told = None;
        this.timer.started = false;
    }

    /// What it limits came to its end before the deadline.
    pub(super) fn note_in_time(self: Pin<&mut Self>) {
        let this = self.project();
        // Where nothing had to be waited for, time could not strike.
        if !matches!(this.timer.state, State::Waiting(_)) {
            return;
        }
        let left = this.deadline.saturating_duration_since(Instant::present());
        this.timer.in_world(|world| {
            world.with(|core, _| core.note_time_limit(this.timer.site, Some(left)));
        });
    }

    /// Where user code waits.
    pub(super) fn site(&self) -> &'static Location<'static> {
        self.timer.site
    }

    /// Whom reports name as waiting.
    pub(super) fn set_site(self: Pin<&mut Self>, site: &'static Location<'static>) {
        self.project().timer.site = site;
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        let deadline = *this.deadline;
        WORLD.with(|world| this.timer.poll(world, deadline, cx))
    }
}

impl Timer {
    fn poll(&mut self, world: &World, deadline: Instant, cx: &mut Context<'_>) -> Poll<()> {
        if world.phase.get() == Phase::Idle || world.serial.get() != self.serial {
            return self.poll_elsewhere(deadline, cx);
        }
        let op = Op {
            kind: OpKind::Sleep,
            access: Access::Read,
            resource: 0,
            site: self.site,
        };
        if !self.started || !world.is_running() {
            self.started = true;
            // Where it is going to wait, the poll is about to end, and that is a point already. It must
            // not be suspended for another: it may hold a lock of another make.
            ready!(world.point_unless(op, |core, key| {
                deadline > Instant::of_world(core.clock_of(key).shown(core.timers_elapsed_ns()))
            }));
        }
        let budget = ready!(coop::poll_proceed(cx));
        let mut unused = Some(Waiter::from_context(cx));
        let (elapsed, replaced) =
            world.with(|core, _| self.poll_registered(core, world, deadline, cx, &mut unused));
        drop(replaced);
        if !elapsed {
            return Poll::Pending;
        }
        self.told = unused;
        budget.made_progress();
        Poll::Ready(())
    }

    /// On a thread that is not its world's: a task of that world waits.
    #[cold]
    fn poll_elsewhere(&mut self, deadline: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let begin = || {
            let there = move || spawn_on_world(sleep_until(deadline));
            strangers::ask(self.serial, there).map(Box::new)
        };
        let there = self.there.take().or_else(begin);
        if let Some(mut there) = there {
            let ended = Pin::new(&mut *there).poll(cx);
            let Poll::Ready(ended) = ended else {
                self.there = Some(there);
                return Poll::Pending;
            };
            if ended.is_ok() {
                self.state = State::Elapsed;
                return Poll::Ready(());
            }
        }
        is_refused();
        panic!(
            "this timer belongs to another world: it can be polled only on the thread of the \
             iteration that made it, and not after its end"
        )
    }

    /// Whether it is over, and a waiter to be dropped outside the core.
    fn poll_registered(
        &mut self,
        core: &mut Core,
        world: &World,
        deadline: Instant,
        cx: &Context<'_>,
        waiter: &mut Option<Waiter>,
    ) -> (bool, Option<Waiter>) {
        if self.state == State::Idle {
            self.register(core, world, deadline);
        }
        let State::Waiting(timer) = self.state else {
            return (true, None);
        };
        let (elapsed, replaced) = core.poll_timer(timer, |old| match old {
            Some(old) if old.will_wake(cx) => None,
            _ => waiter.take(),
        });
        if elapsed {
            self.state = State::Elapsed;
            // A fired timer has no waiter.
            core.drop_timer(timer);
        } else if let (true, Some(key)) = (world.recording.get(), world.current()) {
            if let Some(from) = replaced
                .as_ref()
                .and_then(Waiter::task)
                .filter(|&from| from != key)
            {
                core.note_taken_over(from, key, self.site);
            }
            core.note_blocked(key, OpKind::Sleep, 0, self.site);
        }
        (elapsed, replaced)
    }

    fn register(&mut self, core: &mut Core, world: &World, deadline: Instant) {
        let owner = world.running.get().key;
        let deadline_ns = core.clock_of(owner).reached(deadline.since_beginning_ns());
        self.state = match core.add_timer(deadline_ns, owner, self.site) {
            Some(timer) => State::Waiting(timer),
            None => State::Elapsed,
        };
    }

    fn is_elapsed(&self) -> bool {
        match self.state {
            State::Idle => false,
            State::Elapsed => true,
            State::Waiting(timer) => self
                .in_world(|world| world.with(|core, _| core.poll_timer(timer, |_| None).0))
                .unwrap_or(false),
        }
    }

    fn reset(&mut self, deadline: Instant) {
        let told = self.told.take();
        let waiter = self.forget().or(told);
        self.started = false;
        let due = WORLD.with(|world| {
            if !world.is_live() || world.serial.get() != self.serial {
                return waiter;
            }
            world.with(|core, _| {
                self.register(core, world, deadline);
                match self.state {
                    // Whoever waits need not poll again to be woken at the new deadline.
                    State::Waiting(timer) => core.poll_timer(timer, |_| waiter).1,
                    _ => waiter,
                }
            })
        });
        if let Some(waiter) = due {
            waiter.wake();
        }
    }

    /// Leaves the table of timers. Returns who was waiting.
    fn forget(&mut self) -> Option<Waiter> {
        if let Some(there) = self.there.take() {
            there.abort();
        }
        let State::Waiting(timer) = std::mem::replace(&mut self.state, State::Idle) else {
            return None;
        };
        self.in_world(|world| world.with(|core, _| core.drop_timer(timer)))?
    }

    /// Runs `f` if the timer's world still runs on this thread.
    fn in_world<R>(&self, f: impl FnOnce(&World) -> R) -> Option<R> {
        WORLD.with(|world| {
            let here = world.is_live() && world.serial.get() == self.serial;
            here.then(|| f(world))
        })
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        let waiter = self.forget();
        if let Some(key) = waiter.as_ref().and_then(Waiter::task) {
            // Another task may have dropped it, as queues of timers do.
            self.in_world(|world| {
                if world.recording.get() {
                    world.with(|core, _| core.note_timer_gone(key, self.site));
                }
            });
        }
        drop(waiter);
    }
}

impl std::fmt::Debug for Timer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Timer")
            .field("elapsed", &self.is_elapsed())
            .finish_non_exhaustive()
    }
}
