//! Workers: threads that run iterations, and what they tell the run.
//!
//! 1. A worker takes its iterations in increasing order, lane by lane.
//! 2. What it yields is marked with the iteration's number, so that what came after a failure can
//!    be left out.

use super::campaign::Campaign;
use super::checker::Isolation;
use super::determinism;
use super::driver::Driver;
use crate::execution::core::Harvest;
use crate::execution::run::{self, Finished};
use crate::strategy::{Flow, Lanes, Strategy};
use crate::words::trace::SharedTrace;
use crate::words::{Failure, Limit, Outcome, Trace, WorldConfig};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Stack of worker threads, which run destructors of user code.
pub(super) const THREAD_STACK_BYTES: usize = 8 << 20;

/// A failing iteration.
#[derive(Clone)]
pub(super) struct Found {
    pub(super) index: u64,
    pub(super) failure: Failure,
    pub(super) trace: Trace,
    pub(super) schedule_hash: u64,
    pub(super) strategy: String,
}

/// What is kept of every iteration.
pub(super) struct Record {
    pub(super) index: u64,
    pub(super) steps: u64,
    pub(super) schedule_hash: u64,
    pub(super) cut: Option<Limit>,
    pub(super) checked_twice: bool,
    pub(super) leaky: bool,
    pub(super) joined_panics: u64,
}

/// What workers share.
pub(super) struct Board {
    pub(super) next: AtomicU64,
    /// The smallest failing iteration so far.
    pub(super) failed: AtomicU64,
    pub(super) found: Mutex<Option<Found>>,
    pub(super) deadline: Option<Instant>,
}

/// What a worker hands in when it is done.
pub(super) struct Yielded {
    pub(super) records: Vec<Record>,
    pub(super) harvest: Harvest,
    pub(super) exhausted: bool,
    pub(super) all_schedules: Option<u64>,
    pub(super) described: String,
    pub(super) out_of_time: bool,
}

/// What the watchdog looks at.
#[derive(Clone)]
pub(super) struct Pulse {
    pub(super) worker: usize,
    pub(super) heartbeat: Arc<AtomicU64>,
    pub(super) trace: Arc<SharedTrace>,
    pub(super) iteration: Arc<AtomicU64>,
}

pub(super) enum Message {
    Pulse(Pulse),
    Done(Box<Yielded>),
    /// A worker panicked: a bug of ours, or of a strategy.
    Broken(String),
}

#[expect(
    clippy::disallowed_methods,
    reason = "the time budget is about wall-clock time"
)]
pub(super) fn now() -> Instant {
    Instant::now()
}

impl Campaign {
    /// The body of a worker thread.
    pub(super) fn work(
        &self,
        worker: usize,
        workers: usize,
        lanes: Lanes,
        board: &Board,
        sender: &mpsc::Sender<Message>,
    ) {
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let silent = tracing::Dispatch::none();
            tracing::dispatcher::with_default(&silent, || {
                self.iterate(worker, workers, lanes, board, sender)
            })
        }));
        let message = match done {
            Ok(done) => Message::Done(Box::new(done)),
            Err(payload) => Message::Broken(format!(
                "a worker panicked outside the scenario (a bug of the strategy, or of cct): {}",
                crate::execution::panics::message_of(&*payload)
            )),
        };
        let _ = sender.send(message);
    }

    fn iterate(
        &self,
        worker: usize,
        workers: usize,
        lanes: Lanes,
        board: &Board,
        sender: &mpsc::Sender<Message>,
    ) -> Yielded {
        let lane_count = match lanes {
            Lanes::Independent => 1,
            Lanes::Fixed(n) => n.max(1) as usize,
        };
        let mine: Vec<usize> = match lanes {
            Lanes::Independent => vec![0],
            Lanes::Fixed(_) => (worker..lane_count).step_by(workers).collect(),
        };
        let mut drivers: Vec<Option<Box<Driver>>> = mine
            .iter()
            .map(|_| {
                Some(Box::new(Driver {
                    strategy: (self.factory)(),
                }))
            })
            .collect();
        let pulse = Pulse {
            worker,
            heartbeat: run::heartbeat(),
            trace: run::shared_trace(),
            iteration: Arc::new(AtomicU64::new(u64::MAX)),
        };
        let watch = Watch {
            sender,
            pulse: &pulse,
        };
        let own_thread = self.checker.isolation == Isolation::None;
        if own_thread {
            let _ = sender.send(Message::Pulse(pulse.clone()));
        }
        let mut done = Yielded {
            records: Vec::new(),
            harvest: run::take_harvest(),
            exhausted: false,
            all_schedules: None,
            described: String::new(),
            out_of_time: false,
        };
        let mut turn = 0;
        loop {
            let (slot, index) = match lanes {
                Lanes::Independent => (0, board.next.fetch_add(1, Ordering::Relaxed)),
                Lanes::Fixed(_) => {
                    let slot = turn % mine.len();
                    (slot, (turn / mine.len() * lane_count + mine[slot]) as u64)
                }
            };
            turn += 1;
            if index >= self.checker.iterations || index > board.failed.load(Ordering::Acquire) {
                break;
            }
            if board
                .deadline
                .is_some_and(|deadline| turn % 16 == 1 && now() >= deadline)
            {
                done.out_of_time = true;
                break;
            }
            pulse.iteration.store(index, Ordering::Relaxed);
            let driver = drivers[slot]
                .take()
                .expect("cct bug: a lane without its strategy");
            let (driver, flow) = self.one(index, driver, board, &mut done, watch);
            pulse.iteration.store(u64::MAX, Ordering::Relaxed);
            done.exhausted |= flow == Flow::Exhausted;
            drivers[slot] = Some(driver);
            if flow == Flow::Exhausted {
                break;
            }
        }
        for driver in drivers.into_iter().flatten() {
            done.all_schedules = done.all_schedules.or(driver.strategy.explored_all());
            // The first lane speaks for all, whatever the number of workers.
            if worker == 0 && done.described.is_empty() {
                done.described = described(&*driver.strategy);
            }
        }
        if own_thread {
            done.harvest = run::take_harvest();
        }
        done
    }

    /// Runs one iteration, twice if it is to be checked.
    fn one(
        &self,
        index: u64,
        mut driver: Box<Driver>,
        board: &Board,
        done: &mut Yielded,
        watch: Watch<'_>,
    ) -> (Box<Driver>, Flow) {
        if driver.strategy.begin(&self.iteration(index)) == Flow::Exhausted {
            return (driver, Flow::Exhausted);
        }
        let world = self.world(index);
        let check = self.checker.determinism_check && determinism::samples(index);
        let (finished, trace) = match self.checker.isolation {
            Isolation::None => {
                let finished = run::run(&world, driver, (self.scenario)(), false);
                let failed = matches!(finished.end.outcome, Outcome::Failed(_));
                (finished, (failed || check).then(run::last_trace))
            }
            Isolation::Thread => self.on_fresh_thread(world.clone(), *driver, done, watch),
        };
        let Finished {
            end,
            decider,
            joined_panics,
            leaked,
            ..
        } = finished;
        let mut driver: Box<Driver> = decider
            .into_any()
            .downcast()
            .expect("cct bug: another decider came back");
        driver.strategy.end(&end);
        let mut failure = match &end.outcome {
            Outcome::Failed(failure) => Some(failure.clone()),
            _ => None,
        };
        let mut checked_twice = false;
        if let (None, true, Some(trace)) = (&failure, check, &trace) {
            checked_twice = true;
            failure = determinism::check(self, &world, trace, end.schedule_hash, watch);
        }
        done.records.push(Record {
            index,
            steps: end.steps,
            schedule_hash: end.schedule_hash,
            cut: if let Outcome::Cut(limit) = end.outcome {
                Some(limit)
            } else {
                None
            },
            checked_twice,
            leaky: leaked > 0,
            joined_panics,
        });
        if let Some(failure) = failure {
            board.report(Found {
                index,
                failure,
                trace: trace.unwrap_or_default(),
                schedule_hash: end.schedule_hash,
                strategy: described(&*driver.strategy),
            });
        }
        (driver, Flow::Continue)
    }

    fn on_fresh_thread(
        &self,
        world: WorldConfig,
        driver: Driver,
        done: &mut Yielded,
        watch: Watch<'_>,
    ) -> (Finished, Option<Trace>) {
        let strategy = driver.strategy;
        let scenario = &self.scenario;
        let (silent, trace, harvest) = watch.on_fresh_thread(move || {
            let finished = run::run(&world, Box::new(Driver { strategy }), scenario(), false);
            let Finished {
                end,
                decider,
                joined_panics,
                leaked,
                ..
            } = finished;
            let driver: Box<Driver> = decider
                .into_any()
                .downcast()
                .expect("cct bug: another decider came back");
            let silent = (end, driver.strategy, joined_panics, leaked);
            (silent, run::last_trace(), run::take_harvest())
        });
        let (end, strategy, joined_panics, leaked) = silent;
        let decider = Box::new(Driver { strategy });
        let finished = Finished {
            end,
            decider,
            joined_panics,
            leaked,
            last_task: None,
            explanation: None,
        };
        done.harvest.merge(harvest);
        (finished, Some(trace))
    }
}

/// A worker's line to the watchdog.
#[derive(Clone, Copy)]
pub(super) struct Watch<'a> {
    sender: &'a mpsc::Sender<Message>,
    pulse: &'a Pulse,
}

impl Watch<'_> {
    /// Runs an iteration on a thread of its own, which the watchdog watches instead.
    pub(super) fn on_fresh_thread<R: Send>(self, run: impl FnOnce() -> R + Send) -> R {
        let body = move || {
            let _ = self.sender.send(Message::Pulse(Pulse {
                heartbeat: run::heartbeat(),
                trace: run::shared_trace(),
                ..self.pulse.clone()
            }));
            tracing::dispatcher::with_default(&tracing::Dispatch::none(), run)
        };
        std::thread::scope(|scope| {
            std::thread::Builder::new()
                .stack_size(THREAD_STACK_BYTES)
                .spawn_scoped(scope, body)
                .expect("cannot start a thread for an iteration")
                .join()
                .unwrap_or_else(|payload| std::panic::resume_unwind(payload))
        })
    }
}

impl Board {
    fn report(&self, found: Found) {
        let mut slot = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if slot
            .as_ref()
            .is_none_or(|earlier| found.index < earlier.index)
        {
            self.failed.fetch_min(found.index, Ordering::AcqRel);
            *slot = Some(found);
        }
    }
}

/// A strategy with its parameters, adapted ones included.
fn described(strategy: &dyn Strategy) -> String {
    let adapted = strategy.adapted();
    if adapted.is_empty() {
        return strategy.describe();
    }
    format!("{} ({adapted})", strategy.describe())
}
