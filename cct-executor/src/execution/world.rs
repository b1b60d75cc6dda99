//! The one thread-local: the world that this thread runs, if any.
//!
//! Everything user code does reaches the engine through [`WORLD`]. Outside a world the phase is
//! [`Phase::Idle`] and every hook is a no-op.

use super::core::{Core, NONE};
use super::decide::Next;
use super::decider::Decider;
use super::nodes::AfterCrash;
use super::source::Known;
use super::sync_point::Called;
use super::wakers::Wakers;
use crate::raw::guest::Thread;
use crate::raw::local;
use crate::raw::shared::Home;
use crate::raw::slot::Slot;
use crate::raw::stack::{self, Worker};
use crate::words::{EnabledSet, Granularity, Pick, SchedulingPoint};
use cct_interpose::Clocks;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::ptr;
use std::rc::Rc;
use std::task::Waker;

/// Where a world is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// There is none.
    Idle,
    /// The step loop runs.
    Running,
    /// The iteration is over; every hook is inert.
    Closing,
}

/// The poll that is going on. Saved when the poll is suspended, restored when it goes on.
#[derive(Clone, Copy)]
pub(crate) struct Running {
    /// The task, or [`NONE`] between polls.
    pub(crate) key: u32,
    /// Data pointer of the task's own waker; only compared.
    pub(crate) waker: *const (),
    /// Operations left before the poll must return, or [`Running::UNLIMITED`].
    pub(crate) budget: u8,
    /// Blocking calls are allowed here.
    pub(crate) may_block: bool,
    /// No scheduler runs what is polled here, so nobody waits with a wake-up for the poll's end: who
    /// gives way is woken at once.
    pub(crate) unscheduled: bool,
    /// Nothing was done yet since the task was picked.
    pub(crate) untouched: bool,
    /// Tells it from all polls before it, and those of other worlds; 0 between polls.
    pub(crate) poll: u64,
    /// How often it gave way to other threads.
    pub(crate) gave_way: u8,
    /// Id of the ended task whose output is dropped here, or 0: destructors see it as theirs.
    pub(crate) heir_of: u32,
    /// The task is not polled but dropped, before its end.
    pub(crate) cancelled: bool,
}

impl Running {
    pub(crate) const UNLIMITED: u8 = u8::MAX;
    pub(crate) const NOBODY: Running = Running {
        key: NONE,
        waker: ptr::null(),
        budget: Running::UNLIMITED,
        may_block: false,
        unscheduled: false,
        untouched: false,
        poll: 0,
        gave_way: 0,
        heir_of: 0,
        cancelled: false,
    };
}

/// A [`Running`] in its parts: the hot ones change alone, without moving the rest.
pub(crate) struct RunningCell {
    pub(crate) key: Cell<u32>,
    pub(crate) waker: Cell<*const ()>,
    pub(crate) budget: Cell<u8>,
    may_block: Cell<bool>,
    unscheduled: Cell<bool>,
    pub(crate) untouched: Cell<bool>,
    pub(crate) poll: Cell<u64>,
    pub(crate) gave_way: Cell<u8>,
    heir_of: Cell<u32>,
    pub(crate) cancelled: Cell<bool>,
}

impl RunningCell {
    const fn new() -> Self {
        RunningCell {
            key: Cell::new(Running::NOBODY.key),
            waker: Cell::new(Running::NOBODY.waker),
            budget: Cell::new(Running::NOBODY.budget),
            may_block: Cell::new(Running::NOBODY.may_block),
            unscheduled: Cell::new(Running::NOBODY.unscheduled),
            untouched: Cell::new(Running::NOBODY.untouched),
            poll: Cell::new(Running::NOBODY.poll),
            gave_way: Cell::new(Running::NOBODY.gave_way),
            heir_of: Cell::new(Running::NOBODY.heir_of),
            cancelled: Cell::new(Running::NOBODY.cancelled),
        }
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> Running {
        Running {
            key: self.key.get(),
            waker: self.waker.get(),
            budget: self.budget.get(),
            may_block: self.may_block.get(),
            unscheduled: self.unscheduled.get(),
            untouched: self.untouched.get(),
            poll: self.poll.get(),
            gave_way: self.gave_way.get(),
            heir_of: self.heir_of.get(),
            cancelled: self.cancelled.get(),
        }
    }

    #[inline(always)]
    pub(crate) fn set(&self, running: Running) {
        self.key.set(running.key);
        self.waker.set(running.waker);
        self.budget.set(running.budget);
        self.may_block.set(running.may_block);
        self.unscheduled.set(running.unscheduled);
        self.untouched.set(running.untouched);
        self.poll.set(running.poll);
        self.gave_way.set(running.gave_way);
        self.heir_of.set(running.heir_of);
        self.cancelled.set(running.cancelled);
    }

    #[inline(always)]
    pub(crate) fn replace(&self, running: Running) -> Running {
        let before = self.get();
        self.set(running);
        before
    }
}

/// The tables and who decides.
pub(crate) struct Engine {
    pub(crate) core: Core,
    pub(crate) decider: Box<dyn Decider>,
}

/// Stacks, and those of them that are free.
#[derive(Default)]
pub(crate) struct Workers {
    /// Boxed, so that taking one out and putting it back moves a pointer.
    pub(crate) workers: Vec<Option<Box<Worker>>>,
    pub(crate) idle: Vec<u32>,
}

pub(crate) struct World {
    /// Unique among all worlds of the process, 0 when idle. Only compared.
    pub(crate) serial: Cell<u64>,
    pub(crate) phase: Cell<Phase>,
    pub(crate) running: RunningCell,
    /// The number of the last poll that has begun. Only compared.
    polls: Cell<u64>,
    pub(crate) granularity: Cell<Granularity>,
    /// Whether what is closing is a node only: others learn of it.
    pub(crate) dying: Cell<bool>,
    /// Whether a blocking closure waits for the last time: see `task::last_waits`.
    pub(crate) gives_up: Cell<bool>,
    /// Whether operations are recorded in detail.
    pub(crate) recording: Cell<bool>,
    /// The number of the span in which the world is as a whole, or 0.
    pub(super) around: Cell<u64>,
    /// Who holds wakers of tasks; only while recording.
    pub(crate) wakers: ManuallyDrop<RefCell<Wakers>>,
    /// Whether synchronous operations may be points, are recorded, or (while something closes) counted.
    pub(crate) sync_points: Cell<bool>,
    /// The last synchronous operation; at granularity `spawn`.
    pub(super) called: Cell<Option<Called>>,
    /// Whether spurious polls were asked for.
    pub(crate) spurious: Cell<bool>,
    /// Whether it is a world around code that is no scenario's: nobody watches it, and what panics there is
    /// shown at once.
    pub(crate) lone: Cell<bool>,
    /// That code has ended, and the thread is there for others who use the world.
    pub(crate) left: Cell<bool>,
    /// What the clocks of the next world show at its beginning.
    pub(crate) clocks: Cell<Clocks>,
    /// Whether threads that are not the world's may take part.
    pub(crate) open: Cell<bool>,
    /// Those on which tasks run jobs of their own, each with the task.
    pub(super) threads: ManuallyDrop<RefCell<Vec<OfTask>>>,
    /// The worker whose stack executes.
    pub(crate) worker: Cell<u32>,
    /// What the base loop is to run next, or [`NONE`] at the end.
    pub(crate) next_key: Cell<u32>,
    /// It is left to the base loop to decide that.
    pub(super) undecided: Cell<bool>,
    /// Scheduling points passed while closing.
    pub(crate) inert_points: Cell<u32>,
    /// What the system's clock showed last.
    pub(crate) clock_ns: Cell<u64>,
    pub(crate) home: Cell<Option<&'static Home>>,
    /// Made when the thread runs its first world, dropped when the thread ends.
    engine: ManuallyDrop<Slot<Engine>>,
    pub(crate) deferred: ManuallyDrop<RefCell<Vec<Waker>>>,
    /// Something is left to do at the end of a poll: `deferred`, or `advanced`.
    pub(crate) has_deferred: Cell<bool>,
    /// The task in whose poll the clock was moved by hand, until that poll ends; or [`NONE`].
    pub(crate) advanced: Cell<u32>,
    pub(crate) workers: ManuallyDrop<RefCell<Workers>>,
    /// Polls were left where they stood, with what they have in thread-locals.
    pub(crate) abandoned: Cell<bool>,
    /// Where actions of other crates come from.
    pub(crate) sources: ManuallyDrop<RefCell<Vec<Known>>>,
    /// What follows the crash of a node.
    pub(crate) after_crash: ManuallyDrop<RefCell<Vec<AfterCrash>>>,
}

thread_local! {
    /// Made at compile time and without destructor, so that reaching it is one addition.
    static OF_THIS_THREAD: World = const { World::new() };

    /// Cleans up behind [`WORLD`] when the thread ends.
    static CLEANER: Cleaner = const { Cleaner };
}

/// The world of this thread.
pub(crate) struct Here;

pub(crate) static WORLD: Here = Here;

impl Here {
    #[inline(always)]
    pub(crate) fn with<R>(&self, f: impl FnOnce(&World) -> R) -> R {
        local::with(&OF_THIS_THREAD, f)
    }

    /// Where this thread's world lies.
    pub(super) fn address(&self) -> usize {
        self.with(|world| std::ptr::from_ref(world).addr())
    }
}

struct Cleaner;

impl Drop for Cleaner {
    fn drop(&mut self) {
        WORLD.with(|world| {
            if world.phase.get() != Phase::Idle {
                return; // A lone world that nobody has ended: its polls stand where they are.
            }
            world.engine.put(None);
            drop(world.deferred.take());
            drop(world.wakers.take());
            drop(world.workers.take());
            drop(world.sources.take());
            drop(world.after_crash.take());
            if let Some(home) = world.home.take() {
                home.give_back();
            }
        });
    }
}

/// Stands in while no iteration runs.
pub(crate) struct Nobody;

impl Decider for Nobody {
    fn pick(&mut self, _: &SchedulingPoint, _: &EnabledSet<'_>) -> Option<Pick> {
        None
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Tests of tokio programs expect these words of a panic.
pub(crate) const AS_TOKIO_SAYS: &str = "as tokio says it: there is no reactor running, must be called from the context of a Tokio 1.x runtime";

/// Panics, in the caller's name, unless this thread runs a world.
#[track_caller]
pub(crate) fn expect_world(needs: std::fmt::Arguments<'_>) {
    // Not in the closure, which would be the place of the panic.
    if WORLD.with(|world| world.phase.get()) == Phase::Idle {
        panic!("there is no world here: {needs} ({AS_TOKIO_SAYS})");
    }
}

/// Panics, in the caller's name, where there is a world but no current runtime: around the runtimes of a test without an
/// attribute.
#[track_caller]
pub(crate) fn expect_runtime(what: &str) {
    if WORLD.with(World::is_around_runtimes) {
        panic!(
            "there is no current runtime here: {what} must be called within `block_on`, or while a runtime is entered \
             ({AS_TOKIO_SAYS})"
        );
    }
}

/// The thread on which a task runs a job of its own.
pub(super) type OfTask = (u32, Rc<dyn Thread>);

impl World {
    /// Whether what runs is code around which there is a world, outside of its runtimes.
    pub(crate) fn is_around_runtimes(&self) -> bool {
        let key = self.running.get().key;
        self.is_code_around(key)
            && self.is_running()
            && self.is_free()
            && !self.with(|core, _| core.has_entered(key))
    }

    /// Exchanges all there is with another one.
    pub(super) fn exchange(&self, other: &World) {
        let World {
            serial,
            phase,
            running,
            polls,
            granularity,
            dying,
            gives_up,
            recording,
            around,
            wakers,
            sync_points,
            called,
            spurious,
            lone,
            left,
            clocks,
            open,
            threads,
            worker,
            next_key,
            undecided,
            inert_points,
            clock_ns,
            home,
            engine,
            deferred,
            has_deferred,
            advanced,
            workers,
            abandoned,
            sources,
            after_crash,
        } = self;
        let before = running.replace(other.running.get());
        other.running.set(before);
        engine.swap(&other.engine);
        serial.swap(&other.serial);
        phase.swap(&other.phase);
        polls.swap(&other.polls);
        granularity.swap(&other.granularity);
        dying.swap(&other.dying);
        gives_up.swap(&other.gives_up);
        recording.swap(&other.recording);
        around.swap(&other.around);
        sync_points.swap(&other.sync_points);
        called.swap(&other.called);
        spurious.swap(&other.spurious);
        lone.swap(&other.lone);
        left.swap(&other.left);
        clocks.swap(&other.clocks);
        open.swap(&other.open);
        threads.swap(&other.threads);
        worker.swap(&other.worker);
        next_key.swap(&other.next_key);
        undecided.swap(&other.undecided);
        inert_points.swap(&other.inert_points);
        clock_ns.swap(&other.clock_ns);
        home.swap(&other.home);
        has_deferred.swap(&other.has_deferred);
        advanced.swap(&other.advanced);
        abandoned.swap(&other.abandoned);
        wakers.swap(&other.wakers);
        deferred.swap(&other.deferred);
        workers.swap(&other.workers);
        sources.swap(&other.sources);
        after_crash.swap(&other.after_crash);
    }

    /// Begins with numbers that no other world has.
    pub(crate) fn number_polls(&self, serial: u64) {
        self.polls.set(serial << 32);
    }

    /// A number for a poll that begins, which only tells it from others.
    #[inline(always)]
    pub(crate) fn next_poll(&self) -> u64 {
        let number = self.polls.get() + 1;
        self.polls.set(number);
        number
    }

    pub(super) const fn new() -> World {
        World {
            serial: Cell::new(0),
            phase: Cell::new(Phase::Idle),
            running: RunningCell::new(),
            polls: Cell::new(0),
            granularity: Cell::new(Granularity::Op),
            dying: Cell::new(false),
            gives_up: Cell::new(false),
            recording: Cell::new(false),
            around: Cell::new(0),
            wakers: ManuallyDrop::new(RefCell::new(Wakers::NONE)),
            sync_points: Cell::new(false),
            called: Cell::new(None),
            spurious: Cell::new(false),
            lone: Cell::new(false),
            left: Cell::new(false),
            clocks: Cell::new(Clocks::ZERO),
            open: Cell::new(false),
            threads: ManuallyDrop::new(RefCell::new(Vec::new())),
            worker: Cell::new(NONE),
            next_key: Cell::new(NONE),
            undecided: Cell::new(false),
            inert_points: Cell::new(0),
            clock_ns: Cell::new(0),
            home: Cell::new(None),
            engine: ManuallyDrop::new(Slot::new()),
            deferred: ManuallyDrop::new(RefCell::new(Vec::new())),
            has_deferred: Cell::new(false),
            advanced: Cell::new(NONE),
            workers: ManuallyDrop::new(RefCell::new(Workers {
                workers: Vec::new(),
                idle: Vec::new(),
            })),
            abandoned: Cell::new(false),
            sources: ManuallyDrop::new(RefCell::new(Vec::new())),
            after_crash: ManuallyDrop::new(RefCell::new(Vec::new())),
        }
    }

    /// Runs `f` on the tables. No user code may run inside.
    #[inline(always)]
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut Core, &mut dyn Decider) -> R) -> R {
        let Some(mut engine) = self.engine.lend() else {
            unprepared()
        };
        let engine = &mut *engine;
        f(&mut engine.core, &mut *engine.decider)
    }

    /// Whether there are tables, and nobody is at them.
    pub(crate) fn is_free(&self) -> bool {
        self.engine.lend().is_some()
    }

    /// Makes sure that there are tables, and a home.
    pub(crate) fn prepare(&self) -> &'static Home {
        if let Some(home) = self.home.get() {
            return home;
        }
        CLEANER.with(|_| ());
        let core = Core::new();
        let home = Home::obtain(core.heartbeat.clone());
        let engine = Engine {
            core,
            decider: Box::new(Nobody),
        };
        self.engine.put(Some(Box::new(engine)));
        self.home.set(Some(home));
        home
    }

    /// Replaces who decides.
    pub(crate) fn swap_decider(&self, decider: Box<dyn Decider>) -> Box<dyn Decider> {
        match self.engine.lend() {
            Some(mut engine) => std::mem::replace(&mut engine.decider, decider),
            None => unprepared(),
        }
    }

    /// Whether a world runs, and not for closing.
    #[inline]
    pub(crate) fn is_running(&self) -> bool {
        self.phase.get() == Phase::Running
    }

    /// Whether the tables are kept up to date: a world runs, also while one of its nodes goes down.
    #[inline]
    pub(crate) fn is_live(&self) -> bool {
        self.is_running() || self.dying.get()
    }

    /// The task that is being polled.
    #[inline]
    pub(crate) fn current(&self) -> Option<u32> {
        let key = self.running.get().key;
        (key != NONE).then_some(key)
    }

    /// Whether an operation returns `Pending` although it could go on.
    #[inline]
    pub(crate) fn spurious_pending(&self) -> bool {
        self.spurious.get()
            && self.is_running()
            && self.with(|core, _| rand::RngExt::random_ratio(&mut core.noise, 1, 16))
    }

    /// Wakes a task of this world.
    #[inline]
    pub(crate) fn wake(&self, key: u32) {
        if self.is_live() {
            self.with(|core, decider| core.wake(key, decider));
        }
    }

    /// Decides what runs next. `current` may simply go on; see [`Core::next`].
    pub(crate) fn decide(&self, current: u32) -> Next {
        if current == NONE && self.open.get() && stack::on_guest() {
            // It may take long until anything can happen here, and the guest may be needed elsewhere.
            self.undecided.set(true);
            return Next::End;
        }
        loop {
            match self.with(|core, decider| core.next(current, decider)) {
                Next::Wake => self.wake_due(),
                next => return next,
            }
        }
    }

    /// Does what has to happen outside the tables: applies source actions that were picked, wakes
    /// the foreign wakers of timers and cancellations that have fired.
    #[cold]
    pub(crate) fn wake_due(&self) {
        self.apply_sources();
        self.do_jobs();
        if self.with(|core, _| core.timers.due.is_empty()) {
            return;
        }
        let due = self.with(|core, _| std::mem::take(&mut core.timers.due));
        // User code runs in the middle of a decision: it is no task's, and passes no points.
        let running = self.running.replace(Running::NOBODY);
        due.into_iter().for_each(super::waker::Waiter::wake);
        self.running.set(running);
    }
}

#[cold]
fn unprepared() -> ! {
    panic!(
        "the tables of the world are in use, or this thread never ran one: a strategy must not ask the world that it \
         decides for; or else it is a bug of cct"
    )
}
