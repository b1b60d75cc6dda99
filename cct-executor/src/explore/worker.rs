//! Workers: threads that run iterations, and what they tell the run.
//!
//! 1. A worker takes its iterations in increasing order, lane by lane.
//! 2. What it yields is marked with the iteration's number, so that what came after a failure can
//!    be left out.

use super::board::{Board, Found, Message, Pulse, Record, Yielded};
use super::campaign::Campaign;
use super::checker::Isolation;
use super::determinism;
use super::driver::Driver;
use super::hang::{CUTS, CutOff};
use super::processor::Processor;
use super::{thread_of_test, trace_log};
use crate::execution::harvest::Harvest;
use crate::execution::run::{self, Finished};
use crate::execution::{Decider, Detail};
use crate::strategy::{Flow, Lanes, Strategy};
use crate::words::{Outcome, Trace, WorldConfig};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Instant;

/// Stack of worker threads, which run destructors of user code.
pub(super) const THREAD_STACK_BYTES: usize = 8 << 20;
/// Steps of an iteration after which a look at the wall clock costs nothing in comparison.
const LONG: u64 = 256;

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
            trace_log::muted(|| self.iterate(worker, workers, lanes, board, sender))
        }));
        let message = match done {
            Ok(done) => Message::Done(Box::new(done)),
            Err(payload) => Message::Broken(format!(
                "a worker panicked outside the scenario (a bug of strategy `{}`, or of cct): {}",
                (self.factory)().describe(),
                crate::execution::panics::message_of(&*payload)
            )),
        };
        // Should it not have come to iteration 0.
        board.release();
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
            .map(|&lane| Some(Box::new(Driver::new(self.instance(lane)))))
            .collect();
        let pulse = Pulse {
            worker,
            heartbeat: run::heartbeat(),
            trace: run::shared_trace(),
            iteration: Arc::new(AtomicU64::new(u64::MAX)),
            last_words: run::last_words(),
            visitors: run::visitors(),
            processor: Processor::of_this_thread(),
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
            harvest: run::take_harvest(),
            ..Yielded::default()
        };
        let out_of_time = || board.deadline.is_some_and(|deadline| now() >= deadline);
        let mut begun = vec![false; mine.len()];
        let mut turn = 0;
        let mut over = vec![false; mine.len()];
        loop {
            let (slot, index) = match lanes {
                Lanes::Independent => (0, board.next.fetch_add(1, Ordering::Relaxed)),
                Lanes::Fixed(_) => {
                    let slot = turn % mine.len();
                    (slot, (turn / mine.len() * lane_count + mine[slot]) as u64)
                }
            };
            turn += 1;
            if index > 0 && turn == 1 {
                board.wait_for_the_first();
            }
            if index >= self.checker.iterations || index > board.failed.load(Ordering::Acquire) {
                break;
            }
            if over[slot] {
                continue;
            }
            let last = done.records.last();
            let begins = !std::mem::replace(&mut begun[slot], true);
            let long = last.is_some_and(|last| last.steps >= LONG);
            let looks = begins || turn < 3 || turn % 16 == 0 || long;
            // A run that explored nothing would pass: the first iteration needs no budget.
            if index > 0 && looks && out_of_time() {
                done.out_of_time = true;
                break;
            }
            if index > 0 && begins {
                // What the lane is shown leaves nothing, so what is there is put away first.
                if own_thread {
                    done.harvest.merge(run::take_harvest());
                }
                self.prime(&mut drivers[slot], watch);
                if out_of_time() {
                    done.out_of_time = true;
                    break;
                }
            }
            pulse.iteration.store(index, Ordering::Relaxed);
            let driver = drivers[slot]
                .take()
                .expect("cct bug: a lane without its strategy");
            let (driver, flow) = self.one(index, driver, board, &mut done, watch);
            if index == 0 {
                board.release();
            }
            pulse.iteration.store(u64::MAX, Ordering::Relaxed);
            drivers[slot] = Some(driver);
            over[slot] = flow == Flow::Exhausted;
            if !over.contains(&false) {
                done.exhausted = true;
                break;
            }
        }
        for (&lane, driver) in mine.iter().zip(drivers.into_iter().flatten()) {
            done.all_schedules = done.all_schedules.or(driver.strategy.explored_all());
            // The first lane speaks for all, whatever the number of workers.
            if worker == 0 && done.described.is_empty() {
                done.described = described(&*driver.strategy);
                done.remarks = driver.strategy.remarks();
            }
            if self.checker.knowledge.is_some() {
                done.learnt
                    .extend(driver.strategy.save().map(|bytes| (lane, bytes)));
            }
        }
        if own_thread {
            done.harvest.merge(run::take_harvest());
        }
        done
    }

    /// An instance for a lane, with what was learnt in earlier runs.
    fn instance(&self, lane: usize) -> Box<dyn Strategy> {
        let mut strategy = (self.factory)();
        if let Some(piece) = self.knowledge.pieces.get(lane) {
            let loaded = strategy.load(piece);
            loaded.expect("cct bug: a table that was loaded once cannot be loaded again");
        }
        strategy
    }

    /// Lets an instance that wants it see iteration 0, of which nothing else is kept.
    fn prime(&self, slot: &mut Option<Box<Driver>>, watch: Watch<'_>) {
        let Some(mut driver) = slot.take() else {
            return;
        };
        if driver.strategy.primed() && driver.strategy.begin(&self.iteration(0)) == Flow::Continue {
            let mut unkept = Harvest::default();
            watch.pulse.iteration.store(0, Ordering::Relaxed);
            let (finished, _) = self.execute(0, driver, &mut unkept, watch);
            let (end, primed) = (finished.end, finished.decider);
            driver = taken_back(primed);
            driver.strategy.end(&end);
            drop(run::take_harvest());
            watch.pulse.iteration.store(u64::MAX, Ordering::Relaxed);
        }
        *slot = Some(driver);
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
        let check = self.checker.determinism_check && determinism::samples(index);
        let (finished, trace) = self.execute(index, driver, &mut done.harvest, watch);
        let Finished {
            end,
            decider,
            joined_panics,
            leaked,
            ..
        } = finished;
        let mut driver = taken_back(decider);
        driver.assert_answered(&end.outcome);
        driver.strategy.end(&end);
        let mut failure = match &end.outcome {
            Outcome::Failed(failure) => Some(failure.clone()),
            _ => None,
        };
        let mut checked_twice = false;
        // One that takes far longer than all may take together is not run again.
        let check = check && self.is_worth_it(board);
        if let (None, true, Some(trace)) = (&failure, check, &trace) {
            checked_twice = true;
            let world = self.world(index);
            failure = determinism::check(self, &world, trace, end.schedule_hash, watch);
        }
        let cut = matches!(end.outcome, Outcome::Cut(_))
            && determinism::samples(index)
            && self.checker.cut_check;
        if let (None, true, Some(trace)) = (&failure, cut, &trace) {
            failure = determinism::look_into_cut(self, &self.world(index), trace, watch);
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
            failed: failure.is_some(),
            joined_panics,
        });
        let too_long =
            matches!(end.outcome, Outcome::Cut(limit) if limit.is_raised()) && failure.is_none();
        if index == 0 && too_long && self.checker.usual_limits {
            board.stop();
        }
        if let Some(sought) = &board.sought {
            sought.count(done.records.last().and_then(|record| record.cut));
        }
        let was_cut = matches!(end.outcome, Outcome::Cut(_)) && failure.is_none();
        // The iterations of a worker come in order.
        if was_cut && self.judges_hangs() && done.first_cuts.len() < CUTS {
            done.first_cuts.extend(trace.clone().map(|trace| CutOff {
                index,
                trace,
                schedule_hash: end.schedule_hash,
                strategy: described(&*driver.strategy),
            }));
        }
        if let Some(failure) = failure {
            let stop = !self.checker.keep_going;
            board.report(
                stop,
                Found {
                    index,
                    failure,
                    trace: trace.unwrap_or_default(),
                    schedule_hash: end.schedule_hash,
                    strategy: described(&*driver.strategy),
                },
            );
        }
        (driver, Flow::Continue)
    }

    /// Whether less than twice the time has passed that there is.
    fn is_worth_it(&self, board: &Board) -> bool {
        let ends = |deadline: Instant| deadline.checked_add(self.checker.time_budget?);
        board.deadline.and_then(ends).is_none_or(|end| now() < end)
    }

    /// Runs one iteration where it belongs.
    fn execute(
        &self,
        index: u64,
        driver: Box<Driver>,
        harvest: &mut Harvest,
        watch: Watch<'_>,
    ) -> (Finished, Option<Trace>) {
        let world = self.world(index);
        if self.needs_fresh_thread() {
            return self.on_fresh_thread(index, &world, *driver, harvest, watch);
        }
        run::set_iteration(index);
        let finished = run::run(&world, driver, &*self.scenario, Detail::Nothing);
        let sampled = determinism::samples(index);
        let keep = match finished.end.outcome {
            Outcome::Failed(_) => true,
            Outcome::Passed => sampled && self.checker.determinism_check,
            Outcome::Cut(_) => sampled || self.judges_hangs(),
        };
        (finished, keep.then(run::last_trace))
    }

    /// Whether an iteration may not run on this thread: because it was asked for, or because an
    /// earlier one has drawn random bytes here and may have left some, as `HashMap` does, or has left polls.
    pub(super) fn needs_fresh_thread(&self) -> bool {
        let stained = cct_interpose::drawn() || run::has_abandoned();
        self.checker.isolation == Isolation::Thread || stained
    }

    fn on_fresh_thread(
        &self,
        index: u64,
        world: &WorldConfig,
        driver: Driver,
        collected: &mut Harvest,
        watch: Watch<'_>,
    ) -> (Finished, Option<Trace>) {
        let scenario = &*self.scenario;
        let (silent, trace, harvest) = watch.on_fresh_thread(move || {
            run::set_iteration(index);
            let finished = run::run(world, Box::new(driver), scenario, Detail::Nothing);
            let Finished {
                end,
                decider,
                joined_panics,
                leaked,
                ..
            } = finished;
            let silent = (end, taken_back(decider), joined_panics, leaked);
            (silent, run::last_trace(), run::take_harvest())
        });
        let (end, decider, joined_panics, leaked) = silent;
        let finished = Finished {
            end,
            decider,
            joined_panics,
            leaked,
            last_task: None,
            stand: Vec::new(),
            explanation: None,
        };
        collected.merge(harvest);
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
            run::explores_here();
            let _ = self.sender.send(Message::Pulse(Pulse {
                heartbeat: run::heartbeat(),
                trace: run::shared_trace(),
                last_words: run::last_words(),
                visitors: run::visitors(),
                processor: Processor::of_this_thread(),
                ..self.pulse.clone()
            }));
            trace_log::muted(run)
        };
        std::thread::scope(|scope| {
            let thread = thread_of_test("iteration").stack_size(THREAD_STACK_BYTES);
            cct_interpose::uncounted(|| thread.spawn_scoped(scope, body))
                .expect("cannot start a thread for an iteration")
                .join()
                .unwrap_or_else(|payload| std::panic::resume_unwind(payload))
        })
    }
}

/// The driver that was given to an iteration.
fn taken_back(decider: Box<dyn Decider>) -> Box<Driver> {
    let driver = decider.into_any().downcast();
    driver.expect("cct bug: another decider came back")
}

/// A strategy with its parameters, adapted ones included.
pub(super) fn described(strategy: &dyn Strategy) -> String {
    let adapted = strategy.adapted();
    if adapted.is_empty() {
        return strategy.describe();
    }
    format!("{} ({adapted})", strategy.describe())
}
