//! What other threads ask of a world that is open to them.
//!
//! 1. A job is kept only for a world that is open, and dropped when that closes: nobody waits for it in vain.
//! 2. Who lends a job does nothing until it is over.

use super::shared::{Home, lock};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread;

/// Something that the world's thread is to do, between two steps.
pub(crate) type Job = Box<dyn FnOnce() + Send>;

/// A job that was lent, and where its outcome goes.
struct Lent<J, R> {
    job: J,
    outcome: *mut Option<thread::Result<R>>,
    /// Dropped last: then it is over.
    _over: Sender<()>,
}

impl<J: FnOnce() -> R, R> Lent<J, R> {
    fn run(self) {
        let Lent {
            job,
            outcome,
            _over,
        } = self;
        let came_of_it = catch_unwind(AssertUnwindSafe(job));
        // SAFETY: who lent it waits for `_over`, and keeps the outcome's place until then.
        unsafe { *outcome = Some(came_of_it) };
    }
}

/// What a thread may be given that may not be sent.
struct Given<T>(T);

// SAFETY: see `lend`, which alone makes one.
unsafe impl<T> Send for Given<T> {}

impl<T: FnOnce()> Given<T> {
    fn call(self) {
        (self.0)();
    }
}

/// Waits until a job is over, also where whoever lent it unwinds.
struct UntilOver(Receiver<()>);

impl Drop for UntilOver {
    fn drop(&mut self) {
        let _ = self.0.recv();
    }
}

/// Has another thread run `job`, and waits for what comes of it: `start` is to see to that, and may drop what it is
/// given. `None` if it did. The job may be what must not be sent, such as a future, or keep what this thread owns.
pub(crate) fn lend<R>(
    job: impl FnOnce() -> R,
    start: impl FnOnce(Job),
) -> Option<thread::Result<R>> {
    let (over, is_over) = channel();
    let mut outcome = None;
    let lent = Lent {
        job,
        outcome: &raw mut outcome,
        _over: over,
    };
    // Dropped before what the job reaches.
    let until_over = UntilOver(is_over);
    let given = Given(move || lent.run());
    let job: Box<dyn FnOnce() + Send + '_> = Box::new(move || given.call());
    // SAFETY: the job is run or dropped before `until_over` is, and so before anything ends that it borrows. (If it is
    // forgotten, that waits for ever.) This thread touches nothing of it meanwhile, and the channel orders what both do,
    // so it is as if this thread ran it; but for what tells threads apart, as thread-locals do.
    let job = unsafe { std::mem::transmute::<Box<dyn FnOnce() + Send + '_>, Job>(job) };
    start(job);
    drop(until_over);
    outcome
}

pub(super) struct Afar {
    asked: Mutex<Asked>,
    /// There are jobs.
    any: AtomicBool,
}

struct Asked {
    /// The world that is open, or 0.
    world: u64,
    /// Whose thread has it.
    family: u64,
    jobs: Vec<Job>,
}

impl Afar {
    pub(super) const fn new() -> Afar {
        Afar {
            asked: Mutex::new(Asked {
                world: 0,
                family: 0,
                jobs: Vec::new(),
            }),
            any: AtomicBool::new(false),
        }
    }

    /// From now on this world is open to others, or with 0 none.
    pub(super) fn open(&self, world: u64) {
        let left = {
            let mut asked = lock(&self.asked);
            (asked.world, asked.family) = (world, cct_interpose::family());
            self.any.store(false, Ordering::Release);
            std::mem::take(&mut asked.jobs)
        };
        drop(left);
    }
}

impl Home {
    /// Whether anything was asked of the world that runs here.
    pub(crate) fn has_jobs(&self) -> bool {
        self.afar.any.load(Ordering::Acquire)
    }

    pub(crate) fn take_jobs(&self) -> Vec<Job> {
        let mut asked = lock(&self.afar.asked);
        self.afar.any.store(false, Ordering::Release);
        std::mem::take(&mut asked.jobs)
    }

    /// Whether this world is open to others.
    pub(crate) fn is_open(world: u64) -> bool {
        world != 0 && Home::all().any(|home| lock(&home.afar.asked).world == world)
    }

    /// From now on this world is open to nobody, and what was asked of it is dropped.
    pub(crate) fn close(world: u64) {
        if let Some(home) = Home::all().find(|home| lock(&home.afar.asked).world == world) {
            home.afar.open(0);
        }
    }

    /// The worlds that are open to others, and that threads have which belong to this one; without this one.
    pub(crate) fn relatives(world: u64) -> Vec<u64> {
        let ours = |asked: &Asked| asked.world != 0 && asked.family == cct_interpose::family();
        let worlds = Home::all().filter_map(|home| {
            let asked = lock(&home.afar.asked);
            ours(&asked).then_some(asked.world)
        });
        let mut worlds: Vec<u64> = worlds.filter(|&other| other != world).collect();
        worlds.sort_unstable();
        worlds
    }

    /// Asks the thread of this world to do something, sooner or later. Returns whether the world is open to others.
    pub(crate) fn leave(world: u64, job: Job) -> bool {
        let open = Home::all().find(|home| lock(&home.afar.asked).world == world);
        let Some(home) = open.filter(|_| world != 0) else {
            return false;
        };
        let mut asked = lock(&home.afar.asked);
        let is_open = asked.world == world;
        if is_open {
            asked.jobs.push(job);
            home.afar.any.store(true, Ordering::Release);
        }
        is_open
    }

    /// Asks the thread of this world to do something, and waits for what comes of it. `None` if it is not open to
    /// others, or ends before.
    pub(crate) fn ask<R: Send + 'static>(
        world: u64,
        job: impl FnOnce() -> R + Send + 'static,
    ) -> Option<R> {
        let (tell, told) = sync_channel(1);
        let job = move || {
            let _ = tell.send(job());
        };
        Home::leave(world, Box::new(job)).then(|| told.recv().ok())?
    }
}
