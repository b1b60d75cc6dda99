//! One run: iterations spread over workers, results that do not depend on their number.
//!
//! Every worker takes its iterations in increasing order. A failure at iteration `i` stops workers
//! from beginning anything after `i`, so the failure with the smallest number is always found, and
//! what came after it does not count.

use super::checker::{Checker, Factory, Isolation};
use super::determinism;
use super::driver::Driver;
use super::explain;
use super::result::{Coverage, Origin, Report, StoppedBy};
use crate::execution::core::{Harvest, Sightings, SometimesKey};
use crate::execution::run::{self, Finished, Main};
use crate::execution::sketch::Sketch;
use crate::strategy::{Flow, Lanes, Strategy};
use crate::words::trace::SharedTrace;
use crate::words::{Failure, Iteration, Limit, Outcome, ReplayToken, Seed, Trace, WorldConfig};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Makes the scenario's task, anew for each iteration.
pub(super) type Scenario = Arc<dyn Fn() -> Main + Send + Sync>;

/// Stack of worker threads, which run destructors of user code.
const THREAD_STACK_BYTES: usize = 8 << 20;

/// A run that is about to begin.
pub(crate) struct Campaign {
    pub(super) checker: Checker,
    pub(super) scenario: Scenario,
    factory: Factory,
    seed: Seed,
    replay: Option<ReplayToken>,
}

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
struct Record {
    index: u64,
    steps: u64,
    schedule_hash: u64,
    cut: Option<Limit>,
    checked_twice: bool,
    leaky: bool,
    joined_panics: u64,
}

/// What workers share.
struct Board {
    next: AtomicU64,
    /// The smallest failing iteration so far.
    failed: AtomicU64,
    found: Mutex<Option<Found>>,
    deadline: Option<Instant>,
}

/// What a worker hands in when it is done.
pub(super) struct Yielded {
    records: Vec<Record>,
    harvest: Harvest,
    exhausted: bool,
    all_schedules: Option<u64>,
    described: String,
    out_of_time: bool,
}

/// What the watchdog looks at.
#[derive(Clone)]
pub(super) struct Pulse {
    worker: usize,
    heartbeat: Arc<AtomicU64>,
    trace: Arc<SharedTrace>,
    iteration: Arc<AtomicU64>,
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
fn now() -> Instant {
    Instant::now()
}

impl Campaign {
    pub(super) fn new(
        checker: Checker,
        scenario: Scenario,
        factory: Factory,
        seed: Seed,
        replay: Option<ReplayToken>,
    ) -> Campaign {
        Campaign {
            checker,
            scenario,
            factory,
            seed,
            replay,
        }
    }

    /// Replays, or explores.
    pub(crate) fn run(self) -> Report {
        let begin = now();
        let campaign = Arc::new(self);
        let mut report = match campaign.replay.clone() {
            Some(token) => campaign.replay_token(&token, Origin::Token),
            None => campaign.explore(),
        };
        report.elapsed = begin.elapsed();
        report
    }

    pub(super) fn blank_report(&self) -> Report {
        let mut report = Report::unable(self.checker.name.clone(), String::new());
        report.error = None;
        report.strategy = (self.factory)().describe();
        report.seed = self.seed;
        report.planned = self.checker.iterations;
        report
    }

    fn worker_count(&self, lanes: Lanes) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let wanted = self.checker.workers.unwrap_or(cores);
        let useful = match lanes {
            Lanes::Independent => wanted,
            Lanes::Fixed(lanes) => wanted.min(lanes.max(1) as usize),
        };
        useful
            .min(usize::try_from(self.checker.iterations).unwrap_or(usize::MAX))
            .max(1)
    }

    fn explore(self: &Arc<Self>) -> Report {
        let begin = now();
        let lanes = (self.factory)().lanes();
        let workers = self.worker_count(lanes);
        let board = Arc::new(Board {
            next: AtomicU64::new(0),
            failed: AtomicU64::new(u64::MAX),
            found: Mutex::new(None),
            deadline: self.checker.time_budget.map(|budget| now() + budget),
        });
        let (sender, receiver) = mpsc::channel();
        for worker in 0..workers {
            let (campaign, board, sender) = (self.clone(), board.clone(), sender.clone());
            let body = move || campaign.work(worker, workers, lanes, &board, &sender);
            let spawned = std::thread::Builder::new()
                .name(format!("cct-{worker}"))
                .stack_size(THREAD_STACK_BYTES)
                .spawn(body);
            if let Err(error) = spawned {
                return Report::unable(
                    self.checker.name.clone(),
                    format!("cannot start worker thread {worker}: {error}"),
                );
            }
        }
        drop(sender);
        self.collect(begin, &board, &receiver)
    }

    /// Waits for the workers, and watches that they get on.
    fn collect(
        self: &Arc<Self>,
        begin: Instant,
        board: &Board,
        receiver: &mpsc::Receiver<Message>,
    ) -> Report {
        let mut yields = Vec::new();
        let mut pulses: Vec<(Pulse, (u64, u64), Instant)> = Vec::new();
        let look =
            (self.checker.poll_limit / 4).clamp(Duration::from_millis(5), Duration::from_secs(1));
        loop {
            match receiver.recv_timeout(look) {
                Ok(Message::Pulse(pulse)) => {
                    pulses.retain(|(old, ..)| old.worker != pulse.worker);
                    pulses.push((pulse, (u64::MAX, 0), now()));
                }
                Ok(Message::Done(done)) => yields.push(*done),
                Ok(Message::Broken(message)) => {
                    board.failed.store(0, Ordering::Release);
                    return Report::unable(self.checker.name.clone(), message);
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    for (pulse, seen, since) in &mut pulses {
                        let iteration = pulse.iteration.load(Ordering::Relaxed);
                        let beat = (iteration, pulse.heartbeat.load(Ordering::Relaxed));
                        if beat != *seen || iteration == u64::MAX {
                            (*seen, *since) = (beat, now());
                        } else if since.elapsed() >= self.checker.poll_limit {
                            // Nobody is to begin anything more.
                            board.failed.store(0, Ordering::Release);
                            return self.stuck(beat.0, beat.1, &pulse.trace.snapshot());
                        }
                    }
                }
            }
        }
        let search = begin.elapsed();
        let found = board
            .found
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        Report {
            search,
            ..self.merge(yields, found)
        }
    }

    /// A poll does not return. Its thread is lost; the trace is not.
    fn stuck(self: &Arc<Self>, iteration: u64, step: u64, trace: &Trace) -> Report {
        let mut report = self.blank_report();
        report.iterations = iteration + 1;
        report.stopped_by = StoppedBy::Failure;
        let origin = Origin::Iteration(iteration);
        report.failure = Some(explain::stuck(
            self,
            self.world(iteration),
            origin,
            step,
            trace,
        ));
        report
    }

    /// Adds up what the workers did, as far as it counts.
    fn merge(self: &Arc<Self>, yields: Vec<Yielded>, found: Option<Found>) -> Report {
        let mut report = self.blank_report();
        let last = found.as_ref().map_or(u64::MAX, |found| found.index);
        let mut states = Sketch::new();
        let mut sometimes: BTreeMap<SometimesKey, Sightings> = BTreeMap::new();
        let mut schedules = Vec::new();
        let coverage = &mut report.coverage;
        let (mut exhausted, mut out_of_time) = (false, false);
        for done in yields {
            exhausted |= done.exhausted;
            out_of_time |= done.out_of_time;
            coverage.all_schedules = coverage.all_schedules.or(done.all_schedules);
            states.merge(&done.harvest.states);
            for (key, seen) in done.harvest.sometimes {
                let total = sometimes.entry(key).or_default();
                total.evaluated += seen.evaluated;
                total.reached += seen.reached;
            }
            if !done.described.is_empty() {
                report.strategy = done.described;
            }
            for record in done.records.iter().filter(|record| record.index <= last) {
                report.iterations += 1;
                coverage.add(record);
                schedules.push(record.schedule_hash);
            }
        }
        schedules.sort_unstable();
        schedules.dedup();
        coverage.schedules = schedules.len() as u64;
        coverage.states = found.is_none().then(|| states.count());
        coverage.sometimes = sometimes
            .into_iter()
            .map(|((name, file, line), s)| (name, file, line, s))
            .collect();
        report.stopped_by = if found.is_some() {
            StoppedBy::Failure
        } else if exhausted {
            StoppedBy::Exhausted
        } else if out_of_time && report.iterations < report.planned {
            StoppedBy::TimeBudget
        } else {
            StoppedBy::Iterations
        };
        report.failure = found.map(|found| explain::explain(self, &found));
        report
    }

    /// The body of a worker thread.
    fn work(
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

    /// The configuration of one iteration's world.
    pub(super) fn world(&self, index: u64) -> WorldConfig {
        WorldConfig {
            noise: Seed(self.seed.iteration(index).0 ^ 0x006e_6f69_7365),
            ..self.checker.world.clone()
        }
    }

    pub(super) fn iteration(&self, index: u64) -> Iteration {
        Iteration {
            index,
            seed: self.seed.iteration(index),
        }
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

impl Coverage {
    fn add(&mut self, record: &Record) {
        self.steps += record.steps;
        self.checked_twice += u64::from(record.checked_twice);
        self.leaky += u64::from(record.leaky);
        self.joined_panics += record.joined_panics;
        if let Some(limit) = record.cut {
            *self.cut.entry(limit).or_default() += 1;
        }
    }
}

impl Report {
    /// A run that could not begin.
    pub(super) fn unable(name: String, error: String) -> Report {
        Report {
            name,
            strategy: String::new(),
            seed: Seed(0),
            planned: 0,
            iterations: 0,
            coverage: Coverage::default(),
            stopped_by: StoppedBy::Error,
            elapsed: Duration::ZERO,
            search: Duration::ZERO,
            failure: None,
            error: Some(error),
            warnings: Vec::new(),
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
