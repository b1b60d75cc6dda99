//! A process for each iteration: copies of this one, in which the program has not run.
//!
//! 1. The program runs in copies only, until one iteration has failed and its schedule was shortened; the replay,
//!    which tells the failure, is the first thing that runs here.
//! 2. Answers are taken in the order of iterations, so the failure with the smallest number is the one that
//!    counts, and the number of workers changes nothing.
//! 3. Each iteration has an instance of the strategy that has seen no other. It is told how long the first was.

use super::answer::{Answer, End, Names};
use super::order::Order;
use super::plain;
use super::spawned::Spawned;
use crate::execution::Detail;
use crate::execution::fork::{Ended, Forked};
use crate::execution::harvest::Harvest;
use crate::execution::run;
use crate::explore::board::{Found, Record, Yielded};
use crate::explore::campaign::Campaign;
use crate::explore::determinism;
use crate::explore::driver::Driver;
use crate::explore::lasting::judged;
use crate::explore::result::{InOrder, Report};
use crate::explore::watched::{self, Lost};
use crate::explore::worker::{described, now};
use crate::strategy::{Flow, Lanes};
use crate::words::trace::SharedTrace;
use crate::words::{Failure, FailureKind, Outcome, ReplayToken, Trace};
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

/// What is known of a failure before its replay, and if that does not fail.
const FAILS_ONCE: &str = "an iteration failed in a process of its own, and the same decisions do not fail in \
     another one: something takes part that is not under control (threads, files, the wall clock)";

/// What a process is to do.
enum Job {
    /// The iteration of this number; of which the first took so many decisions.
    Search(u64, Option<u64>),
    /// The decisions of this one again.
    Again(u64, Trace),
}

impl Job {
    /// The iteration that it is about.
    fn index(&self) -> u64 {
        match self {
            Job::Search(index, _) | Job::Again(index, _) => *index,
        }
    }
}

/// What has come of a run so far.
pub(super) struct Done {
    pub(super) yielded: Yielded,
    names: Names,
    pub(super) found: Option<Found>,
    /// Decisions of the first iteration, or of the plain one.
    length: Option<u64>,
}

impl Done {
    pub(super) fn new(length: Option<u64>) -> Done {
        Done {
            yielded: Yielded::default(),
            names: Names::default(),
            found: None,
            length,
        }
    }
}

/// One that runs an iteration.
enum Process {
    Forked(Forked),
    Spawned(Spawned),
}

impl Campaign {
    /// Explores with a process for each iteration.
    pub(in crate::explore) fn explore_apart(self: &Arc<Self>) -> Report {
        let begin = now();
        let unable = |message| Report::unable(self.checker.name.clone(), message);
        if let Err(message) = self.not_systematic() {
            return unable(message);
        }
        let mut done = Done::new(None);
        match self.in_turn(self.worker_count(Lanes::Independent), &mut done) {
            Ok(None) => {
                let search = begin.elapsed();
                let found = done.found.as_ref();
                let in_order =
                    found.and_then(|found| self.in_order_apart(&self.world(found.index)));
                let shorter = done.found.as_mut().map(|found| self.shorten_apart(found));
                let mut report = self.merge(vec![done.yielded], done.found);
                report.search = search;
                if let (Some((departures, how)), Some(failure)) =
                    (shorter.flatten(), &mut report.failure)
                {
                    failure.tell(&departures);
                    failure.shortened = Some(how);
                }
                if let (Some(plain), Some(failure)) = (in_order, &mut report.failure) {
                    failure.in_order = Some(InOrder::as_it_fails(&plain, failure));
                }
                report
            }
            Ok(Some(report)) => report,
            Err(message) => unable(message),
        }
    }

    /// # Errors
    /// When the strategy is one of those that take up what earlier iterations decided.
    pub(super) fn not_systematic(&self) -> Result<(), String> {
        let strategy = (self.factory)();
        if !strategy.systematic() {
            return Ok(());
        }
        Err(format!(
            "strategy `{}` takes up what earlier iterations decided, and iterations in processes of their own \
             (isolation = \"process\", and tests without an attribute) tell it nothing: use another one, such as \
             `portfolio`",
            strategy.describe()
        ))
    }

    /// Runs iterations, so many at a time, until enough is known. Returns the report of a thread that was lost.
    pub(super) fn in_turn(
        self: &Arc<Self>,
        workers: usize,
        done: &mut Done,
    ) -> Result<Option<Report>, String> {
        let deadline = self.checker.time_budget;
        let deadline = deadline.and_then(|budget| now().checked_add(budget));
        let (mut running, mut next) = (VecDeque::new(), 0);
        loop {
            // The others are told how long the first was.
            let room = if next == 0 { 1 } else { workers };
            while running.len() < room && next < self.checker.iterations && self.goes_on(done) {
                if next > 0 && deadline.is_some_and(|deadline| now() >= deadline) {
                    done.yielded.out_of_time = true;
                    break;
                }
                running.push_back((next, self.begin(Job::Search(next, done.length))?));
                next += 1;
            }
            let Some((index, process)) = running.pop_front() else {
                return Ok(None);
            };
            let answer = self.answer(index, process, &mut done.names)?;
            let trace = answer.token.clone().map(|token| token.trace);
            if let End::Lost { abort, threads } = answer.end {
                let kind =
                    abort.map(|(message, location)| FailureKind::Abort { message, location });
                let lost = Lost {
                    step: answer.steps,
                    kind,
                    threads,
                    stack: None,
                };
                return Ok(Some(self.lost(index, lost, &trace.unwrap_or_default())));
            }
            self.take(index, answer, trace, done)?;
            if !self.goes_on(done) {
                return Ok(None);
            }
        }
    }

    fn goes_on(&self, done: &Done) -> bool {
        !done.yielded.exhausted && (done.found.is_none() || self.checker.keep_going)
    }

    /// Adds up what an iteration has told.
    fn take(
        self: &Arc<Self>,
        index: u64,
        answer: Answer,
        trace: Option<Trace>,
        done: &mut Done,
    ) -> Result<(), String> {
        if answer.end == End::Exhausted {
            done.yielded.exhausted = true;
            return Ok(());
        }
        let again = match &trace {
            Some(trace) if answer.end != End::Failed => {
                Some(self.again_apart(index, trace.clone(), &mut done.names)?)
            }
            _ => None,
        };
        let cut = match answer.end {
            End::Cut(limit) => Some(limit),
            _ => None,
        };
        let message = match &again {
            _ if answer.end == End::Failed => Some(FAILS_ONCE),
            Some(again) if again.end == End::Failed => Some(FAILS_ONCE),
            Some(again) if cut.is_none() && again.schedule_hash != answer.schedule_hash => Some(
                "the same decisions led to different runs, each in a process of its own: something takes part \
                 that is not under control (threads, files, the wall clock)",
            ),
            _ => None,
        };
        done.length.get_or_insert(answer.decisions);
        done.yielded.harvest.merge(answer.harvest);
        done.yielded.records.push(Record {
            index,
            steps: answer.steps,
            schedule_hash: answer.schedule_hash,
            cut,
            checked_twice: again.is_some() && cut.is_none(),
            leaky: answer.leaky,
            failed: message.is_some(),
            joined_panics: answer.joined_panics,
        });
        if let (Some(message), None) = (message, &done.found) {
            let message = message.to_owned();
            done.found = Some(Found {
                index,
                failure: Failure {
                    kind: FailureKind::Nondeterminism { message },
                    step: answer.steps,
                },
                trace: trace.unwrap_or_default(),
                schedule_hash: answer.schedule_hash,
                strategy: answer.strategy,
            });
        }
        Ok(())
    }

    /// What comes of the same decisions in another process.
    pub(super) fn again_apart(
        self: &Arc<Self>,
        index: u64,
        trace: Trace,
        names: &mut Names,
    ) -> Result<Answer, String> {
        let process = self.begin(Job::Again(index, trace))?;
        self.answer(index, process, names)
    }

    fn begin(self: &Arc<Self>, job: Job) -> Result<Process, String> {
        let process = match &self.plain {
            Some(_) => {
                let (index, order) = (job.index(), self.order(job));
                self.ordered(index, &order).map(Process::Spawned)
            }
            None => Forked::begin(|| self.work_on(job).to_bytes()).map(Process::Forked),
        };
        process.map_err(|error| format!("cannot start a process for an iteration: {error}"))
    }

    fn order(&self, job: Job) -> Order {
        match job {
            Job::Search(index, length) => Order::Search(index, length),
            Job::Again(index, trace) => {
                let name = &self.checker.name;
                let token = ReplayToken::new(name, &self.world(index), trace, 0);
                Order::Again(index, token)
            }
        }
    }

    fn answer(&self, index: u64, process: Process, names: &mut Names) -> Result<Answer, String> {
        let process = match process {
            Process::Forked(process) => process,
            Process::Spawned(process) => {
                let mut answer = match Answer::of_spawned(process, names) {
                    // With what it has drawn the test has not come to that world.
                    Err(plain::Lost::NoWorld(status))
                        if status.success() && self.is_later_world() =>
                    {
                        Answer::of(End::Passed)
                    }
                    answer => answer.map_err(|lost| lost.to_string())?,
                };
                let failed = answer.end == End::Failed;
                answer.token = answer.token.filter(|_| failed || self.samples(index));
                return Ok(answer);
            }
        };
        let ended = match process.wait() {
            Ok(Ended::Said(bytes)) => match Answer::from_bytes(&bytes, names) {
                Some(answer) => return Ok(answer),
                None => "without an answer (a bug of the strategy, or of cct)".to_owned(),
            },
            Ok(Ended::Exited(status)) => format!("with exit status {status}"),
            Ok(Ended::Killed(signal)) => format!("by signal {signal}"),
            Err(error) => format!("in a way that the system cannot tell: {error}"),
        };
        Err(format!(
            "iteration {index} ended its process {ended}. Remedy: see what it does by running the test for \
             {} iterations without isolation = \"process\"",
            index + 1
        ))
    }

    /// What a process does: the one thing that ever runs in it.
    fn work_on(self: &Arc<Self>, job: Job) -> Answer {
        let index = job.index();
        let trace = Arc::new(OnceLock::<Arc<SharedTrace>>::new());
        let (campaign, shared) = (self.clone(), trace.clone());
        let body = move |tell: &dyn Fn(Answer)| {
            let _ = shared.set(run::shared_trace());
            campaign.untold(|| tell(campaign.one_apart(job)));
        };
        let told = watched::on_fresh_thread(self.checker.patience(), body);
        told.map(|told| told.told).unwrap_or_else(|lost| {
            let trace = trace.get().map(|trace| trace.snapshot());
            Answer {
                steps: lost.step,
                token: Some(self.token_of(index, trace.unwrap_or_default())),
                ..Answer::of(End::lost(lost.kind, lost.threads))
            }
        })
    }

    fn one_apart(&self, job: Job) -> Answer {
        match job {
            Job::Search(index, length) => self.search_one(index, length),
            Job::Again(index, trace) => {
                run::set_iteration(index);
                let finished = self.again(&self.world(index), &trace, Detail::Story);
                let explanation = *finished.explanation.unwrap_or_default();
                let end = finished.end;
                let outcome = judged(end.outcome, &explanation);
                drop(run::take_harvest());
                Answer {
                    schedule_hash: end.schedule_hash,
                    ..Answer::of(End::from(&outcome))
                }
            }
        }
    }

    fn search_one(&self, index: u64, length: Option<u64>) -> Answer {
        let mut strategy = (self.factory)();
        if let Some(length) = length {
            strategy.expect_decisions(length);
        }
        if strategy.begin(&self.iteration(index)) == Flow::Exhausted {
            return Answer::of(End::Exhausted);
        }
        run::set_iteration(index);
        let world = self.world(index);
        let finished = run::run(
            &world,
            Box::new(Driver::new(strategy)),
            &*self.scenario,
            Detail::Nothing,
        );
        let driver = finished.decider.into_any().downcast::<Driver>();
        let driver = driver.expect("cct bug: another decider came back");
        let end = finished.end;
        let failed = matches!(end.outcome, Outcome::Failed(_));
        Answer {
            steps: end.steps,
            decisions: end.decisions,
            schedule_hash: end.schedule_hash,
            joined_panics: finished.joined_panics,
            leaky: finished.leaked > 0,
            strategy: described(&*driver.strategy),
            token: (failed || self.samples(index)).then(|| self.token_of(index, run::last_trace())),
            harvest: run::take_harvest(),
            end: End::from(&end.outcome),
        }
    }

    /// Whether this iteration is run twice.
    fn samples(&self, index: u64) -> bool {
        determinism::samples(index) && self.checker.determinism_check
    }

    fn token_of(&self, index: u64, trace: Trace) -> ReplayToken {
        ReplayToken::new(&self.checker.name, &self.world(index), trace, 0)
    }
}

impl Answer {
    /// One that says nothing else.
    pub(super) fn of(end: End) -> Answer {
        Answer {
            end,
            steps: 0,
            decisions: 0,
            schedule_hash: 0,
            joined_panics: 0,
            leaky: false,
            strategy: String::new(),
            token: None,
            harvest: Harvest::default(),
        }
    }
}

impl From<&Outcome> for End {
    fn from(outcome: &Outcome) -> End {
        match outcome {
            Outcome::Passed => End::Passed,
            Outcome::Failed(_) => End::Failed,
            Outcome::Cut(limit) => End::Cut(*limit),
        }
    }
}
