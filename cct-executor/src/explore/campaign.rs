//! One run: iterations spread over workers, results that do not depend on their number.
//!
//! Every worker takes its iterations in increasing order. A failure at iteration `i` stops workers
//! from beginning anything after `i`, so the failure with the smallest number is always found, and
//! what came after it does not count.

use super::apart;
#[cfg(unix)]
use super::apart::PlainWorld;
use super::board::{Board, Found, Message, Pulse, Record, Yielded};
use super::checker::{Checker, Factory, Isolation};
use super::explain;
use super::hang::{CutOff, LookedAt};
use super::knowledge::{self, Knowledge};
use super::patience::Seen;
use super::result::{Coverage, Origin, Report, StoppedBy};
use super::thread_of_test;
use super::trace_log::{self, Surroundings};
use super::watched::Lost;
use super::worker::{THREAD_STACK_BYTES, now};
use crate::execution::harvest::Harvest;
use crate::execution::room;
use crate::execution::run::{self, Entangled};
use crate::execution::sketch::Sketch;
use crate::strategy::Lanes;
use crate::words::{Clock, Granularity, Iteration, Limit, ReplayToken, Seed, Trace, WorldConfig};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// Makes the scenario's task, anew for each iteration.
pub(super) type Scenario = Arc<crate::execution::run::Scenario>;

/// How far work lags behind the clock where it does: as long as the shortest sleep of tokio takes at most, so that who sleeps
/// and works in step with others gets out of it.
const SLACK: Duration = Duration::from_millis(2);

/// The iterations of one lane.
#[derive(Clone, Copy)]
struct Share {
    lanes: u32,
    lane: u32,
}

impl Share {
    fn of(lanes: Lanes, lane: u32) -> Option<Share> {
        match lanes {
            Lanes::Fixed(lanes) => Some(Share { lanes, lane }),
            Lanes::Independent => None,
        }
    }

    fn has(self, index: u64) -> bool {
        index % u64::from(self.lanes) == u64::from(self.lane)
    }
}

/// A run that is about to begin.
pub(crate) struct Campaign {
    pub(super) checker: Checker,
    pub(super) scenario: Scenario,
    pub(super) factory: Factory,
    pub(super) seed: Seed,
    /// See [`Strategy::systematic`](crate::strategy::Strategy::systematic).
    systematic: bool,
    /// Whose iterations are at granularity `spawn`.
    finer: Option<Share>,
    /// Whose iterations have a clock that lags.
    lagging: Option<Share>,
    replay: Option<ReplayToken>,
    pub(super) knowledge: Knowledge,
    /// The world that is explored, of a test without an attribute.
    #[cfg(unix)]
    pub(super) plain: Option<PlainWorld>,
    pub(super) surroundings: Surroundings,
}

impl Campaign {
    pub(super) fn new(
        checker: Checker,
        scenario: Scenario,
        factory: Factory,
        seed: Seed,
        replay: Option<ReplayToken>,
        knowledge: Knowledge,
    ) -> Campaign {
        let strategy = factory();
        let mixes = checker.usual_granularity && checker.world.granularity == Granularity::Op;
        let share = |lane| Share::of(strategy.lanes(), lane);
        let finer = strategy.finer_lane().filter(|_| mixes).and_then(share);
        let usual_clock = checker.usual_clock && checker.world.clock == Clock::Strict;
        let lagging = strategy.lagging_lane().filter(|_| usual_clock);
        let lagging = lagging.and_then(share);
        let systematic = strategy.systematic();
        Campaign {
            checker,
            scenario,
            factory,
            systematic,
            finer,
            lagging,
            seed,
            replay,
            knowledge,
            #[cfg(unix)]
            plain: None,
            surroundings: Surroundings::of_this_thread().where_one_is_made(apart::is_heard()),
        }
    }

    /// Replays, or explores.
    pub(crate) fn run(self) -> Report {
        room::wants_as_this_thread();
        let begin = now();
        tracing::trace!(target: "cct", test = self.checker.name.as_str(), seed = %self.seed, "run begins");
        let campaign = Arc::new(self);
        let mut report = match campaign.replay.clone() {
            Some(token) => campaign.replay_token(&token, Origin::Token),
            None => campaign.explore(),
        };
        // What else is tried would run in this process, where the program has run by now.
        if campaign.replay.is_none() && !campaign.is_apart() {
            if let Some(failure) = &mut report.failure {
                campaign.shorten(failure);
            }
            campaign.try_await(&mut report);
        }
        report.elapsed = begin.elapsed();
        tracing::trace!(target: "cct", test = report.name.as_str(), iterations = report.iterations, "run ends");
        report
    }

    /// Whether each iteration has a process of its own.
    pub(super) fn is_apart(&self) -> bool {
        self.checker.isolation == Isolation::Process
    }

    /// Runs iterations that nobody reads about: heard in a process of their own, and otherwise muted.
    pub(super) fn untold<R>(&self, run: impl FnOnce() -> R) -> R {
        match self.is_apart() {
            true => self.surroundings.around(run),
            false => trace_log::muted(run),
        }
    }

    /// Runs the iteration that a report tells of.
    pub(super) fn told<R>(&self, run: impl FnOnce() -> R) -> R {
        let listens = self.is_apart() || self.replay.is_some();
        match listens && self.surroundings.hear() {
            true => self.surroundings.around(run),
            false => trace_log::with_log(run),
        }
    }

    pub(super) fn blank_report(&self) -> Report {
        let mut report = Report::unable(self.checker.name.clone(), String::new());
        report.error = None;
        report.test = self.checker.test.clone();
        report.heeds_variables = self.checker.use_environment;
        report.replay_with = self.checker.replay_with.clone();
        report.rows = self.checker.report_rows;
        report.strategy = (self.factory)().describe();
        report.clock = self.checker.world.clock;
        report.seed = self.seed;
        report.planned = self.checker.iterations;
        report
    }

    pub(super) fn worker_count(&self, lanes: Lanes) -> usize {
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
        #[cfg(unix)]
        if self.is_apart() {
            return self.explore_apart();
        }
        let begin = now();
        // A budget beyond what the clock can count is none.
        let budget = self.checker.time_budget;
        let deadline = budget.and_then(|budget| now().checked_add(budget));
        let board = Arc::new(Board::new(deadline, None));
        match self.start(&board) {
            Ok(receiver) => self.collect(begin, &board, &receiver),
            Err(message) => Report::unable(self.checker.name.clone(), message),
        }
    }

    /// Starts the workers. They hand in what they did, and hang up.
    pub(super) fn start(
        self: &Arc<Self>,
        board: &Arc<Board>,
    ) -> Result<mpsc::Receiver<Message>, String> {
        let lanes = (self.factory)().lanes();
        let workers = self.worker_count(lanes);
        let (sender, receiver) = mpsc::channel();
        for worker in 0..workers {
            let (campaign, shared, sender) = (self.clone(), board.clone(), sender.clone());
            let body = move || {
                run::explores_here();
                campaign.work(worker, workers, lanes, &shared, &sender);
            };
            let thread = thread_of_test(&worker.to_string()).stack_size(THREAD_STACK_BYTES);
            if let Err(error) = cct_interpose::uncounted(|| thread.spawn(body)) {
                board.stop();
                return Err(format!("cannot start worker thread {worker}: {error}"));
            }
        }
        Ok(receiver)
    }

    /// Waits for the workers, and watches that they get on.
    fn collect(
        self: &Arc<Self>,
        begin: Instant,
        board: &Board,
        receiver: &mpsc::Receiver<Message>,
    ) -> Report {
        let mut yields = Vec::new();
        let mut pulses: Vec<(Pulse, (u64, u64), Instant, Seen)> = Vec::new();
        let patience = self.checker.patience();
        let look = patience.look();
        loop {
            match receiver.recv_timeout(look) {
                Ok(Message::Pulse(pulse)) => {
                    pulses.retain(|(old, ..)| old.worker != pulse.worker);
                    pulses.push((pulse, (u64::MAX, 0), now(), Seen::default()));
                }
                Ok(Message::Done(done)) => yields.push(*done),
                Ok(Message::Broken(message)) => {
                    board.stop();
                    return Report::unable(self.checker.name.clone(), message);
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    for (pulse, last, looked, seen) in &mut pulses {
                        let iteration = pulse.iteration.load(Ordering::Relaxed);
                        let beat = (iteration, pulse.heartbeat.load(Ordering::Relaxed));
                        if let Some(kind) = pulse.last_words.take() {
                            board.stop();
                            pulse.visitors.give_up();
                            let lost = Lost {
                                step: beat.1,
                                kind: Some(kind),
                                threads: Entangled::default(),
                                stack: None,
                            };
                            return self.lost(iteration, lost, &pulse.trace.snapshot());
                        }
                        let after = looked.elapsed();
                        *looked = now();
                        if beat != *last || iteration == u64::MAX {
                            (*last, *seen) = (beat, Seen::default());
                            continue;
                        }
                        seen.again(after, &pulse.processor);
                        let threads = pulse.visitors.now();
                        if patience.is_over(seen, threads) {
                            board.stop();
                            let lost = Lost {
                                step: beat.1,
                                kind: None,
                                threads,
                                stack: pulse.visitors.stack(),
                            };
                            pulse.visitors.give_up();
                            return self.lost(iteration, lost, &pulse.trace.snapshot());
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

    /// A poll does not return, or would abort the process. Its thread is lost; the trace is not.
    pub(super) fn lost(self: &Arc<Self>, iteration: u64, lost: Lost, trace: &Trace) -> Report {
        let mut report = self.blank_report();
        report.iterations = iteration + 1;
        report.stopped_by = StoppedBy::Failure;
        let origin = Origin::Iteration(iteration);
        report.failure = Some(explain::lost(
            self,
            self.world(iteration),
            origin,
            lost,
            trace,
        ));
        report
    }

    /// Adds up what the workers did, as far as it counts.
    pub(super) fn merge(self: &Arc<Self>, yields: Vec<Yielded>, found: Option<Found>) -> Report {
        let mut report = self.blank_report();
        let keeps_going = self.checker.keep_going;
        let last = match &found {
            Some(found) if !keeps_going => found.index,
            _ => u64::MAX,
        };
        let whole = found.is_none() || keeps_going;
        let mut harvest = Harvest::default();
        let mut learnt = Vec::new();
        let (mut records, mut cuts) = (Vec::new(), Vec::<CutOff>::new());
        let mut schedules = Vec::new();
        let coverage = &mut report.coverage;
        // Lanes end one by one.
        let exhausted = yields.iter().all(|done| done.exhausted);
        let mut out_of_time = false;
        for done in yields {
            out_of_time |= done.out_of_time;
            coverage.all_schedules = coverage.all_schedules.or(done.all_schedules);
            harvest.merge(done.harvest);
            learnt.extend(done.learnt);
            report.remarks.extend(done.remarks);
            if !done.described.is_empty() {
                report.strategy = done.described;
            }
            cuts.extend(done.first_cuts);
            for record in done.records.iter().filter(|record| record.index <= last) {
                report.iterations += 1;
                coverage.add(record);
                report.first_was_long |=
                    record.index == 0 && record.cut.is_some_and(Limit::is_raised);
                schedules.push(record.schedule_hash);
            }
            records.extend(done.records);
        }
        schedules.sort_unstable();
        schedules.dedup();
        coverage.schedules = schedules.len() as u64;
        if whole {
            coverage.add_harvest(harvest, report.iterations);
        }
        if let Some(found) = &found {
            let (test, iteration) = (self.checker.name.as_str(), found.index);
            tracing::trace!(target: "cct", test, iteration, "iteration failed");
        }
        report.stopped_by = if found.is_some() && !keeps_going {
            StoppedBy::Failure
        } else if exhausted {
            StoppedBy::Exhausted
        } else if out_of_time && report.iterations < report.planned {
            StoppedBy::TimeBudget
        } else {
            StoppedBy::Iterations
        };
        if report.iterations == 0 {
            report.error = Some(format!(
                "strategy `{}` has nothing to explore: it is exhausted before its first iteration",
                report.strategy
            ));
        }
        report.warnings.extend(self.keep_learnt(learnt));
        let found = found.or_else(|| match self.look_at_cuts(&records, cuts) {
            LookedAt::Hangs(found) => Some(found),
            LookedAt::WouldHang => {
                report.first_would_hang = report.first_was_long;
                None
            }
            LookedAt::Nothing => None,
        });
        report.failure = found.map(|found| explain::explain(self, &found));
        report
    }

    /// Writes down what the lanes have learnt. Returns what went wrong.
    fn keep_learnt(&self, mut learnt: Vec<(usize, Vec<u8>)>) -> Option<String> {
        let path = self.checker.knowledge.as_ref()?;
        learnt.sort_unstable_by_key(|(lane, _)| *lane);
        let pieces: Vec<_> = learnt.into_iter().map(|(_, piece)| piece).collect();
        let strategy = (self.factory)().describe();
        knowledge::write(path, &self.checker.name, &strategy, &pieces).err()
    }

    /// The configuration of one iteration's world.
    pub(super) fn world(&self, index: u64) -> WorldConfig {
        let noisy = if self.systematic { 0 } else { index };
        WorldConfig {
            noise: Seed(self.seed.iteration(noisy).0 ^ 0x006e_6f69_7365),
            granularity: match self.finer.is_some_and(|share| share.has(index)) {
                true => Granularity::Spawn,
                false => self.checker.world.granularity,
            },
            clock: match self.lagging.is_some_and(|share| share.has(index)) {
                true => Clock::Lagging(SLACK),
                false => self.checker.world.clock,
            },
            ..self.checker.world.clone()
        }
    }

    pub(super) fn iteration(&self, index: u64) -> Iteration {
        Iteration {
            index,
            seed: self.seed.iteration(index),
            max_steps: self.checker.world.limits.steps,
        }
    }
}

impl Coverage {
    fn add(&mut self, record: &Record) {
        self.steps += record.steps;
        self.checked_twice += u64::from(record.checked_twice);
        self.leaky += u64::from(record.leaky);
        self.failing += u64::from(record.failed);
        self.joined_panics += record.joined_panics;
        if let Some(limit) = record.cut {
            *self.cut.entry(limit).or_default() += 1;
        }
    }

    fn add_harvest(&mut self, harvest: Harvest, iterations: u64) {
        let mut states = Sketch::new();
        for (span, more) in harvest.states {
            states.merge(&more);
            let upto = 1_u64.checked_shl(span).unwrap_or(u64::MAX).min(iterations);
            self.states_by_iteration.push((upto, states.count()));
        }
        self.states = Some(states.count());
        let sometimes = harvest.sometimes.into_iter();
        self.sometimes = sometimes
            .map(|((name, file, line), reached)| (name, file, line, reached))
            .collect();
        let watermarks = harvest.watermarks.into_iter();
        self.watermarks = watermarks
            .map(|((name, file, line), mark)| (name, file, line, mark))
            .collect();
        let limits = harvest.time_limits.into_iter();
        self.time_limits = limits
            .map(|((file, line), limit)| (file, line, limit))
            .collect();
    }
}

impl Report {
    /// A run that could not begin.
    pub(super) fn unable(name: String, error: String) -> Report {
        Report {
            name,
            test: None,
            heeds_variables: false,
            replay_with: None,
            rows: None,
            strategy: String::new(),
            clock: Clock::default(),
            seed: Seed(0),
            planned: 0,
            iterations: 0,
            coverage: Coverage::default(),
            stopped_by: StoppedBy::Error,
            elapsed: Duration::ZERO,
            search: Duration::ZERO,
            failure: None,
            remarks: Vec::new(),
            error: Some(error),
            warnings: Vec::new(),
            first_was_long: false,
            first_would_hang: false,
            followed: None,
            endless: None,
        }
    }
}
