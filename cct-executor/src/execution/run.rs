//! One iteration from beginning to end, and the base loop that switches between stacks.

use super::core::{Core, NONE, state};
use super::decide::Next;
use super::decider::Decider;
use super::helpers;
use super::panics;
use super::record::{Detail, Recorder};
use super::spans;
use super::spawn::Spawn;
use super::stacks::places_as;
use super::step::step_loop;
use super::system::SYSTEM;
use super::waker::TaskWaker;
use super::wakers::Wakers;
use super::world::{Nobody, Phase, Running, WORLD, World};
pub(crate) use crate::raw::entangled::{Entangled, is_refused};
use crate::raw::rest;
use crate::raw::shared::{Entered, Home};
use crate::raw::stack::{Resume, Suspend, Worker};
use crate::raw::task::Body;
use crate::words::explanation::Explanation;
use crate::words::trace::SharedTrace;
use crate::words::{FailureKind, Granularity, IterationEnd, OpKind, Outcome, Trace, WorldConfig};
use cct_interpose::Whereabouts;
use std::backtrace::Backtrace;
use std::cell::Cell;
use std::panic::Location;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How long an explanation waits for a foreign thread before it calls a deadlock a deadlock.
const FOREIGN_PATIENCE: Duration = Duration::from_millis(100);
/// How often it looks, at most.
const FOREIGN_NAPS: u32 = 100;

/// The key of the scenario's own task.
pub(crate) const MAIN: u32 = 0;

/// Distinguishes worlds; never reaches a decision.
static SERIALS: AtomicU64 = AtomicU64::new(1);

/// The scenario's own task, and the place that stands for where it was spawned.
pub(crate) type Main = (Body, &'static Location<'static>);

/// Makes the scenario's own task.
pub(crate) type Scenario = dyn Fn(TaskWaker) -> Main + Send + Sync;

/// The operation at which a task stands, and its place.
pub(crate) type Stands = (OpKind, &'static Location<'static>);

/// What one iteration leaves behind.
pub(crate) struct Finished {
    pub(crate) end: IterationEnd,
    pub(crate) decider: Box<dyn Decider>,
    /// Task panics that whoever joined the task was told of.
    pub(crate) joined_panics: u64,
    /// Tasks alive at the end.
    pub(crate) leaked: u32,
    /// The task that ran last, or would have run next where a limit cut the iteration.
    pub(crate) last_task: Option<String>,
    /// Where tasks stand that are alive, if the iteration failed because of them; each place once. That is their last
    /// operations, and where detail was asked for all they wait for: which is the last in a `select!` is a matter of values.
    pub(crate) stand: Vec<Stands>,
    /// Present when detail was asked for; apart, as an iteration of millions has none.
    pub(crate) explanation: Option<Box<Explanation>>,
}

/// # Panics
/// If this thread runs a world.
#[track_caller]
pub(crate) fn assert_outside() {
    let idle = WORLD.with(|world| world.phase.get() == Phase::Idle);
    assert!(
        idle,
        "a Checker cannot run inside a scenario: call it from an ordinary test or thread"
    );
}

pub(crate) use crate::raw::shared::explores_here;

/// Runs one iteration on this thread.
///
/// # Panics
/// If this thread runs a world already.
pub(crate) fn run(
    config: &WorldConfig,
    decider: Box<dyn Decider>,
    scenario: &Scenario,
    detail: Detail,
) -> Finished {
    let kept = Cell::new(None);
    run_and_tell(config, decider, scenario, detail, &|finished| {
        kept.set(Some(finished));
    });
    kept.take().expect("cct bug: an iteration without an end")
}

/// The same, and tells what the iteration leaves behind before the world closes: a poll that waits for
/// something outside may keep it from closing.
///
/// # Panics
/// If this thread runs a world already.
pub(crate) fn run_and_tell(
    config: &WorldConfig,
    decider: Box<dyn Decider>,
    scenario: &Scenario,
    detail: Detail,
    told: &dyn Fn(Finished),
) {
    panics::install();
    panics::forget();
    WORLD.with(|world| world.run(config, decider, scenario, detail, told));
}

fn prepared<R>(f: impl FnOnce(&mut Core) -> R) -> R {
    WORLD.with(|world| {
        world.prepare();
        world.with(|core, _| f(core))
    })
}

/// The trace of the last iteration this thread ran.
pub(crate) fn last_trace() -> Trace {
    shared_trace().snapshot()
}

/// This thread's trace, for a watchdog.
pub(crate) fn shared_trace() -> Arc<SharedTrace> {
    prepared(|core| core.trace.shared().clone())
}

/// This thread's count of steps in the iteration that runs, for a watchdog.
pub(crate) fn heartbeat() -> Arc<AtomicU64> {
    prepared(|core| core.heartbeat.clone())
}

/// Whether other threads wait to use what belongs to a thread's world, or that thread waits for one, for a watchdog.
#[derive(Clone, Copy)]
pub(crate) struct Visitors {
    home: &'static Home,
    thread: Whereabouts,
}

impl Visitors {
    /// What holds at this moment.
    pub(crate) fn now(self) -> Entangled {
        self.home.entangled()
    }

    /// That thread is lost: others that run worlds do not wait for what it may hold.
    pub(crate) fn give_up(self) {
        self.home.note_lost();
    }

    /// Where that thread is, which must not have ended; `None` where it cannot tell. Between two functions there may be
    /// nothing to be seen of what called them, so it is asked several times.
    pub(crate) fn stack(self) -> Option<Backtrace> {
        const TIMES: u32 = 40;
        let mut stacks = (0..TIMES).map_while(|_| self.thread.stack());
        stacks.find(|stack| !places_as(stack, "").is_empty())
    }
}

/// Those of this thread's worlds.
pub(crate) fn visitors() -> Visitors {
    Visitors {
        home: WORLD.with(World::prepare),
        thread: Whereabouts::here(),
    }
}

/// Whether polls were left on this thread where they stood. What they keep in thread-locals, as that an
/// executor of another crate runs here, is there for good.
pub(crate) fn has_abandoned() -> bool {
    WORLD.with(|world| world.abandoned.get())
}

/// Where this thread leaves its last words before a panic that would abort the process.
pub(crate) fn last_words() -> super::last_words::LastWords {
    super::last_words::last_words()
}

/// Says which iteration comes next, so that what is collected is filed under it.
pub(crate) fn set_iteration(index: u64) {
    prepared(|core| core.set_iteration(index));
}

/// Takes what this thread has collected over its iterations.
pub(crate) fn take_harvest() -> super::harvest::Harvest {
    prepared(Core::take_harvest)
}

impl World {
    fn run(
        &self,
        config: &WorldConfig,
        decider: Box<dyn Decider>,
        scenario: &Scenario,
        detail: Detail,
        told: &dyn Fn(Finished),
    ) {
        assert!(
            self.phase.get() == Phase::Idle,
            "cct bug: a world inside a world"
        );
        let home = self.prepare();
        home.note_scenario(ptr::from_ref(scenario).addr());
        let mut entered = home.enter();
        rest::between_steps();
        let serial = SERIALS.fetch_add(1, Ordering::Relaxed);
        let (interests, explain) = (decider.interests(), detail != Detail::Nothing);
        drop(self.swap_decider(decider));
        self.with(|core, _| {
            let recorder = explain.then(|| Box::new(Recorder::noting(detail)));
            core.reset(config, interests, recorder);
        });
        let open = self.open.get().then_some(serial);
        self.with(|core, _| {
            core.open = open;
            core.helpers.any = open.is_some();
            core.alerted = open.is_some();
        });
        if open.is_some() {
            home.open_to_others(serial);
        }
        self.serial.set(serial);
        self.number_polls(serial);
        self.granularity.set(config.granularity);
        self.recording.set(explain);
        // Of those that were left where they stood.
        self.threads.borrow_mut().clear();
        self.around.set(spans::innermost());
        self.wakers.replace(Wakers::noting(detail));
        self.sync_points
            .set(explain || config.granularity >= Granularity::Spawn);
        self.called.set(None);
        self.spurious.set(config.spurious_polls);
        self.freeze_clock(config.start_paused);
        self.with(|core, _| core.begin_time());
        self.advanced.set(NONE);
        self.running.set(Running::NOBODY);
        self.phase.set(Phase::Running);
        self.clock_ns.set(0);
        cct_interpose::begin(config.noise.number("system"), SYSTEM, self.clocks.get());
        self.start(scenario, home, serial);
        self.base_loop();
        if explain {
            entered = self.wait_for_foreigners(home, entered);
        }
        if open.is_none() {
            self.report_foreign_wakes(home, serial);
        }
        if explain {
            self.tell_sources(|source| {
                let (lines, outside) = (source.snapshot(), source.outside());
                self.with(|core, _| {
                    if let Some(recorder) = &mut core.recorder {
                        recorder.snapshot(lines, outside);
                    }
                });
            });
        }
        if explain {
            let wakers = self.wakers.take();
            self.with(|core, _| {
                if let Some(recorder) = &mut core.recorder {
                    recorder.wakers = Some(wakers);
                }
            });
        }
        home.end_turn();
        let failed = self.with(|core, _| matches!(core.end, Some(Outcome::Failed(_))));
        told(self.conclude(explain));
        if open.is_some() {
            home.open_to_others(0);
        } else if failed {
            self.let_threads_end(home);
        }
        self.close();
        let left = self.lone.get().then(|| self.clocks_at_end());
        cct_interpose::end();
        if let Some(clocks) = left {
            cct_interpose::go_on_from(clocks);
        }
        self.serial.set(0);
        drop(entered);
    }

    fn start(&self, scenario: &Scenario, home: &'static Home, serial: u64) {
        let key = self.with(|core, _| core.next_key());
        let (main, site) = scenario(TaskWaker { home, serial, key });
        self.with(|core, decider| {
            let spawn = Spawn {
                site,
                name: None,
                group: NONE,
                blocking: false,
                node: None,
                runtime: None,
            };
            let spawned = core.spawn(NONE, spawn, main, decider);
            assert!(spawned.is_ok(), "max_tasks must be at least 1");
        });
    }

    /// Switches between stacks until the iteration is over.
    fn base_loop(&self) {
        let mut next = self.decide_at_base();
        while next != NONE {
            let frozen = self.with(|core, _| core.worker_of(next));
            let (worker, how) = match frozen {
                NONE => match self.idle_worker() {
                    Ok(worker) => (worker, Resume::Run(next)),
                    Err(error) => return self.out_of_stacks(&error),
                },
                frozen => (frozen, Resume::Continue),
            };
            self.resume_worker(worker, how);
            next = self.next_key.get();
            if next == NONE && self.undecided.take() {
                next = self.decide_at_base();
            }
            if next == NONE && self.with(|core, _| !core.crashes.is_empty()) {
                next = self.crash_nodes();
                if next == NONE {
                    next = self.decide_at_base();
                }
            }
        }
    }

    /// Decides while no poll is in progress. [`NONE`] at the end.
    fn decide_at_base(&self) -> u32 {
        loop {
            match self.decide(NONE) {
                Next::Run(key) => return key,
                Next::Crash => match self.crash_nodes() {
                    NONE => {}
                    then => return then,
                },
                _ => return NONE,
            }
        }
    }

    /// Runs a worker until it is idle or frozen.
    #[inline(always)]
    pub(crate) fn resume_worker(&self, index: u32, how: Resume) {
        let slot = index as usize;
        let mut worker = self.workers.borrow_mut().workers[slot]
            .take()
            .expect("cct bug: a worker runs twice");
        self.worker.set(index);
        let suspend = worker.resume(how);
        let mut workers = self.workers.borrow_mut();
        workers.workers[slot] = Some(worker);
        if suspend == Suspend::Idle {
            workers.idle.push(index);
        }
    }

    fn idle_worker(&self) -> std::io::Result<u32> {
        let mut workers = self.workers.borrow_mut();
        if let Some(index) = workers.idle.pop() {
            let slot = &mut workers.workers[index as usize];
            if slot.as_ref().is_some_and(|worker| worker.has_room()) {
                return Ok(index);
            }
            *slot = Some(Box::new(Worker::new(index, step_loop)?));
            return Ok(index);
        }
        let index = workers.workers.len() as u32;
        let worker = Worker::new(index, step_loop)?;
        workers.workers.push(Some(Box::new(worker)));
        Ok(index)
    }

    #[cold]
    fn out_of_stacks(&self, error: &std::io::Error) {
        let stacks = self.workers.borrow().workers.len();
        let message = format!(
            "no memory for another stack ({error}); {stacks} polls are suspended at once. \
             Lower the number of tasks, or use granularity `await`"
        );
        self.with(|core, _| core.fail(FailureKind::Error { message }));
    }

    /// What threads of an iteration that is over before its time are about to do, they should find as it was: one that tells
    /// somebody what it has done panics if that is gone, and in some pools a panic ends the process.
    #[cold]
    fn let_threads_end(&self, home: &'static Home) {
        let mut looks = self.with(|core, _| core.helpers.last_looks());
        while looks > 0 && cct_interpose::threads_started().live > 0 {
            home.aside(|| helpers::nap(helpers::LOOK));
            looks -= 1;
        }
        self.with(|core, _| core.helpers.looked_last());
    }

    /// Before a deadlock is called one: a foreign thread may be about to wake a task.
    fn wait_for_foreigners(&self, home: &'static Home, entered: Entered) -> Entered {
        let deadlock = self.with(
            |core, _| matches!(&core.end, Some(Outcome::Failed(f)) if f.kind.class() == "deadlock"),
        );
        if !deadlock {
            return entered;
        }
        drop(entered);
        // Then it could be a world of another worker alone, by way of a static, and those have no reason to wait.
        let nobody = cct_interpose::CONTROLLED && cct_interpose::threads_started().anywhere == 0;
        let patience = match nobody {
            true => FOREIGN_PATIENCE / 20,
            false => FOREIGN_PATIENCE,
        };
        // On a busy machine a nap takes much longer. The thread's own clock is the world's here.
        let now = || cct_interpose::clocks_outside().monotonic;
        let end = now() + patience;
        for _ in 0..FOREIGN_NAPS {
            if now() > end || home.has_mail_for(self.serial.get()) {
                break;
            }
            #[expect(
                clippy::disallowed_methods,
                reason = "waits for foreign threads, decides nothing"
            )]
            std::thread::sleep(FOREIGN_PATIENCE / FOREIGN_NAPS);
        }
        home.enter()
    }

    /// A wake-up from a foreign thread means that something is beyond control.
    fn report_foreign_wakes(&self, home: &'static Home, serial: u64) {
        if !home.has_mail() {
            return;
        }
        let mail = home.take_mail();
        if let Some(wake) = mail.into_iter().find(|wake| wake.serial == serial) {
            self.with(|core, _| {
                let task = core.task_name(wake.key);
                let thread = wake.thread;
                core.end = None;
                core.fail(FailureKind::Uncontrolled { task, thread });
            });
        }
    }

    fn conclude(&self, explain: bool) -> Finished {
        let decider = self.swap_decider(Box::new(Nobody));
        self.with(|core, _| {
            let leaked = core.left_alone();
            let outcome = core.end.clone();
            let outcome = outcome.expect("cct bug: an iteration without an end");
            // The story takes what is recorded.
            let stand = core.standing();
            let (end, explanation) = match core.decided.take() {
                Some(decided) => *decided,
                None => (core.so_far(outcome), core.explain()),
            };
            Finished {
                end,
                decider,
                joined_panics: core.joined_panics,
                leaked,
                last_task: (explain && core.last() != NONE)
                    .then(|| core.name_of_action(core.last())),
                stand,
                explanation: explanation.map(Box::new),
            }
        })
    }
}

impl Core {
    fn standing(&self) -> Vec<Stands> {
        let Some(Outcome::Failed(failure)) = &self.end else {
            return Vec::new();
        };
        let (FailureKind::Deadlock { .. } | FailureKind::Leaked { .. }) = failure.kind else {
            return Vec::new();
        };
        let tasks = self.tasks.iter().map(|task| task.key);
        let ops = tasks
            .filter(|&key| self.is_alive(key))
            .map(|key| &self.actions[key as usize].op);
        let mut stand: Vec<Stands> = ops.map(|op| (op.kind, op.site)).collect();
        if let Some(recorder) = &self.recorder {
            stand.extend(recorder.all_waits());
        }
        stand.sort_unstable();
        stand.dedup();
        stand
    }

    /// How many tasks are alive and nobody has ended them: one that was aborted is on its way out.
    pub(super) fn left_alone(&self) -> u32 {
        let ends = |key: u32| self.actions[key as usize].state & (state::DONE | state::ABORTED);
        self.tasks.iter().filter(|task| ends(task.key) == 0).count() as u32
    }
}
