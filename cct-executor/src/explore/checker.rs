//! The checker: how a scenario is explored, and the builder that says so.

mod prepare;

use super::any_scenario::AnyScenario;
use super::campaign::{Campaign, Scenario};
use super::endless;
use super::patience::Patience;
use super::result::Report;
use super::unfinished::Unfinished;
use crate::strategy::Strategy;
use crate::task::body::{ScenarioResult, main_body};
use crate::words::{Clock, Granularity, ReplayToken, Seed, WorldConfig};
use std::panic::Location;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What iterations share.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Isolation {
    /// A worker runs its iterations on one thread; thread-locals of user code survive.
    #[default]
    None,
    /// Each iteration has a fresh thread.
    Thread,
    /// Each iteration has a fresh process, a copy of one in which the program has not run yet, so that statics
    /// are as they were. For tests with the attribute, on Unix. Strategies do not learn from one iteration to
    /// the next, and schedules that fail are not shortened.
    Process,
}

pub(super) type Factory = Arc<dyn Fn() -> Box<dyn Strategy> + Send + Sync>;

/// Which strategy, as it was asked for.
#[derive(Clone)]
pub(super) enum Chosen {
    Text(String),
    Made(Factory),
}

/// Explores a scenario: runs it many times, each time under another schedule.
///
/// ```
/// use cct_executor::{Checker, spawn, task::yield_now};
/// use std::sync::{Arc, atomic::{AtomicU32, Ordering::SeqCst}};
///
/// let report = Checker::new().iterations(200).run(|| async {
///     let counter = Arc::new(AtomicU32::new(0));
///     let add = |counter: Arc<AtomicU32>| async move {
///         let seen = counter.load(SeqCst);
///         yield_now().await;
///         counter.store(seen + 1, SeqCst);
///     };
///     let other = spawn(add(counter.clone()));
///     add(counter.clone()).await;
///     other.await.unwrap();
///     assert_eq!(counter.load(SeqCst), 2);
/// });
/// assert_eq!(report.failure().unwrap().kind.class(), "panic");
/// ```
///
/// Environment variables override what is set here: `CCT_ITERATIONS`, `CCT_SEED`, `CCT_STRATEGY`,
/// `CCT_GRANULARITY`, `CCT_CLOCK`, `CCT_SPURIOUS_POLLS`, `CCT_PARTIAL_IO`, `CCT_ISOLATION`, `CCT_TIME_BUDGET`,
/// `CCT_MAX_STEPS`, `CCT_POLL_LIMIT`, `CCT_REPLAY`, `CCT_WORKERS`, `CCT_LEARNT`, `CCT_REPORT_ROWS`.
/// A token that is replayed has a granularity and a clock of its own, which count, and says whether there are spurious
/// polls and partial reads and writes.
#[derive(Clone)]
#[must_use = "call run"]
pub struct Checker {
    pub(super) name: String,
    /// The test that this is, as `cargo test` knows it.
    pub(super) test: Option<String>,
    pub(super) place: &'static Location<'static>,
    pub(super) strategy: Chosen,
    pub(super) iterations: u64,
    pub(super) time_budget: Option<Duration>,
    pub(super) seed: Option<Seed>,
    pub(super) workers: Option<usize>,
    pub(super) determinism_check: bool,
    pub(super) await_check: bool,
    pub(super) shrink: bool,
    pub(super) isolation: Isolation,
    pub(super) poll_limit: Duration,
    /// A test in which threads take part is to be run in another way.
    pub(super) gives_way: bool,
    /// Somebody has chosen a limit.
    pub(super) chosen_limits: bool,
    /// Nobody has chosen limits: a run whose first iteration takes more steps or tasks ends there, so that it can
    /// be begun anew with higher ones; and a replay may be one of the latter.
    pub(super) usual_limits: bool,
    /// Nobody has chosen a granularity.
    pub(super) usual_granularity: bool,
    /// Nobody has chosen a clock.
    pub(super) usual_clock: bool,
    pub(super) replay: Option<ReplayToken>,
    pub(super) replay_with: Option<String>,
    pub(super) report_rows: Option<usize>,
    pub(super) world: WorldConfig,
    pub(super) use_environment: bool,
    pub(super) keep_going: bool,
    /// Whether iterations that a limit has cut are looked into. Not where all that counts is whether they end.
    pub(super) cut_check: bool,
    pub(super) knowledge: Option<PathBuf>,
}

impl Default for Checker {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}

/// The test that calls, as the harness of the standard library names its threads.
#[expect(
    clippy::disallowed_methods,
    reason = "reports name the test; nothing is decided by it"
)]
pub(super) fn running_test() -> Option<String> {
    let thread = std::thread::current();
    let is_path = |name: &&str| {
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '#');
        *name != "main" && name.chars().all(is_word)
    };
    thread.name().filter(is_path).map(str::to_owned)
}

impl Checker {
    /// 1,000 iterations or 10 seconds of wall clock, whichever comes first; the name is the place
    /// of this call, and the seed derives from the name.
    #[track_caller]
    pub fn new() -> Checker {
        let place = Location::caller();
        Checker {
            name: format!("{}:{}", place.file(), place.line()),
            test: None,
            place,
            strategy: Chosen::Text("portfolio".to_owned()),
            iterations: 1_000,
            time_budget: Some(Duration::from_secs(10)),
            seed: None,
            workers: None,
            determinism_check: true,
            await_check: true,
            shrink: true,
            isolation: Isolation::None,
            poll_limit: Duration::from_secs(10),
            gives_way: false,
            chosen_limits: false,
            usual_limits: false,
            usual_granularity: true,
            usual_clock: true,
            replay: None,
            replay_with: None,
            report_rows: None,
            world: WorldConfig::default(),
            use_environment: true,
            keep_going: false,
            cut_check: true,
            knowledge: None,
        }
    }

    /// The name that reports and tokens carry. The place of a call moves with every line that is
    /// written above it, and with it the seed; a name stays.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The strategy, as text: `random`, `pct:d=3`...
    pub fn strategy_text(mut self, text: &str) -> Self {
        self.strategy = Chosen::Text(text.to_owned());
        self
    }

    /// A strategy of your own; the closure makes one instance for each lane or worker.
    pub fn strategy<S: Strategy + 'static>(
        mut self,
        make: impl Fn() -> S + Send + Sync + 'static,
    ) -> Self {
        self.strategy = Chosen::Made(Arc::new(move || Box::new(make())));
        self
    }

    pub(super) fn patience(&self) -> Patience {
        Patience::new(self.poll_limit, self.gives_way)
    }

    /// The same for one iteration in plain order, that of tokio's `current_thread`.
    pub(super) fn in_plain_order(&self) -> Checker {
        let plain = self
            .clone()
            .use_environment(false)
            .strategy_text("round-robin")
            .granularity(Granularity::Await)
            .isolation(Isolation::None)
            .iterations(1)
            .determinism_check(false)
            .await_check(false)
            .shrink(false);
        Checker {
            cut_check: false,
            ..plain
        }
    }

    /// What it may take it shares with so many others.
    #[cfg(unix)]
    pub(super) fn share_among(&mut self, all: u32) {
        self.iterations = self.iterations.div_ceil(u64::from(all));
        self.time_budget = self.time_budget.map(|budget| budget / all);
    }

    /// How many iterations at most, and at least 1.
    pub fn iterations(mut self, iterations: u64) -> Self {
        self.iterations = iterations;
        self
    }

    /// How much wall-clock time at most; `None` for no bound.
    pub fn time_budget(mut self, budget: Option<Duration>) -> Self {
        self.time_budget = budget;
        self
    }

    /// The run's seed.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = Some(seed);
        self
    }

    /// How many threads run iterations, from 1 to 1024; by default as many as there are cores. Changes nothing
    /// but the time it takes.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// When virtual time may move. Unless it is chosen, as [`Clock::Strict`] has it, and with strategy `portfolio` as
    /// [`Clock::Lagging`] of two milliseconds has it in every fifth iteration.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.usual_clock = false;
        self.world.clock = clock;
        self
    }

    /// Where scheduling points lie. Unless it is chosen, they lie where [`Granularity::Op`] has them, and with strategy
    /// `portfolio` where [`Granularity::Spawn`] has them in every fifth iteration.
    pub fn granularity(mut self, granularity: Granularity) -> Self {
        self.usual_granularity = false;
        self.world.granularity = granularity;
        self
    }

    /// Steps an iteration may take, at least 1.
    pub fn max_steps(mut self, steps: u64) -> Self {
        self.chosen_limits = true;
        self.world.limits.steps = steps;
        self
    }

    /// What is taken for the usual limit of steps, and a tenth of what it is raised to. For cct's own tests of programs
    /// that reach it.
    #[doc(hidden)]
    pub fn usual_steps(mut self, steps: u64) -> Self {
        self.world.limits.usual_steps = steps;
        self.world.limits.steps = steps;
        self
    }

    /// Tasks an iteration may spawn.
    pub fn max_tasks(mut self, tasks: u32) -> Self {
        self.chosen_limits = true;
        self.world.limits.tasks = tasks;
        self
    }

    /// Virtual time an iteration may take.
    pub fn max_time(mut self, time: Duration) -> Self {
        self.chosen_limits = true;
        self.world.limits.time = time;
        self
    }

    /// Whether tasks that outlive the scenario, and were not aborted, are a failure.
    pub fn fail_on_leak(mut self, fail: bool) -> Self {
        self.world.fail_on_leak = fail;
        self
    }

    /// Whether reaching a limit is a failure.
    pub fn fail_on_limit(mut self, fail: bool) -> Self {
        self.world.fail_on_limit = fail;
        self
    }

    /// Whether a sample of iterations is run twice and compared, as long as less than twice the
    /// [time budget](Checker::time_budget) has passed.
    pub fn determinism_check(mut self, check: bool) -> Self {
        self.determinism_check = check;
        self
    }

    /// Whether a failure at a finer granularity is looked for at granularity `await` as well, for
    /// about a second at most, so that the report says whether it takes threads, and if not, whether
    /// it takes another order than tokio's. See
    /// [`FailureReport::at_await`](crate::FailureReport::at_await).
    pub fn await_check(mut self, check: bool) -> Self {
        self.await_check = check;
        self
    }

    /// Whether a shorter schedule with the same failure is looked for; after three seconds no further one is
    /// tried. It is by default; report and token are of that one then. See
    /// [`FailureReport::shortened`](crate::FailureReport::shortened). Without it a replay does not say where its
    /// schedule departs from the plain one, either.
    pub fn shrink(mut self, shrink: bool) -> Self {
        self.shrink = shrink;
        self
    }

    /// What iterations share.
    pub fn isolation(mut self, isolation: Isolation) -> Self {
        self.isolation = isolation;
        self
    }

    /// Whether tokio's cooperative budget of 128 operations a poll is kept. It is by default.
    pub fn coop_budget(mut self, keep: bool) -> Self {
        self.world.coop_budget = keep;
        self
    }

    /// Whether tasks are now and then polled without having been woken, and operations return
    /// `Pending` once although they could go on.
    pub fn spurious_polls(mut self, spurious: bool) -> Self {
        self.world.spurious_polls = spurious;
        self
    }

    /// Whether a read of a stream of `cct-net` (TCP or Unix) may return less than is there, and a write take less than
    /// there is room for: all, half or one byte, a choice of the strategy. Streams may do so anywhere, and over a network
    /// they do; between two sockets of one machine they hardly ever do with small messages, and many a test counts on
    /// that. So it is not by default.
    pub fn partial_io(mut self, partial: bool) -> Self {
        self.world.partial_io = partial;
        self
    }

    /// Whether a task that calls `yield_now`, and the scenario's own when it wakes itself otherwise, goes on only when
    /// no other task is ready, but after 244 steps at the latest. So it is on tokio's `current_thread` runtime, and tests
    /// for that count on it: one `yield_now`, and all others have got as far as they can. Of those that have yielded the
    /// scenario's own task goes first. It is not so by default, but for `#[tokio::test]` of `cct-tokio`, unless
    /// flavor `multi_thread` is given.
    pub fn lasting_yields(mut self, lasting: bool) -> Self {
        self.world.lasting_yields = lasting;
        self
    }

    /// Whether time has gone a microsecond further than the deadline when a timer fires, unless the clock is paused: three
    /// sleeps of 20 ms are over after one of 60 ms, as deadlines are rounded up to milliseconds, and what is to be over now
    /// (`sleep(0)`, the first tick of an interval) is over a millisecond later. So it is with tokio on any machine. It is
    /// not by default, where time is what sleeps add up to, but for `#[tokio::test]` of `cct-tokio` and in tests without
    /// an attribute.
    pub fn late_timers(mut self, late: bool) -> Self {
        self.world.late_timers = late;
        self
    }

    /// Whether the clock starts frozen, so that `time::advance` may be called at once.
    pub fn start_paused(mut self, paused: bool) -> Self {
        self.world.start_paused = paused;
        self
    }

    /// How long one poll may take before the watchdog reports it: by the wall clock if it waits for something; of the
    /// processor while it works, as a busy machine gives it less (where the system tells, as Linux does), and six times
    /// as long by the clock at most.
    pub fn poll_limit(mut self, limit: Duration) -> Self {
        self.poll_limit = limit;
        self
    }

    /// Whether to explore past failures. They are counted in the report's coverage; the first one
    /// is explained.
    pub fn keep_going(mut self, keep_going: bool) -> Self {
        self.keep_going = keep_going;
        self
    }

    /// A file with what the strategy has learnt: read, if it exists, before the run, and written
    /// after it, so that a later run goes on learning.
    pub fn learnt(mut self, file: impl Into<PathBuf>) -> Self {
        self.knowledge = Some(file.into());
        self
    }

    /// Replays one trace instead of exploring.
    pub fn replay(mut self, token: ReplayToken) -> Self {
        self.replay = Some(token);
        self
    }

    /// Whether environment variables override what is set here. They do by default.
    pub fn use_environment(mut self, use_it: bool) -> Self {
        self.use_environment = use_it;
        self
    }

    /// Explores the scenario. A run of which no iteration came to its end, under limits that nobody has chosen, shows
    /// nothing and has not [passed](Report::passed); [`Report::error`] says so.
    ///
    /// # Panics
    /// Inside a scenario. Bad settings do not panic; see [`Report::error`].
    #[track_caller]
    pub fn run<F, Fut>(self, scenario: F) -> Report
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future + 'static,
        Fut::Output: ScenarioResult,
    {
        self.run_any(AnyScenario::new(scenario))
    }

    #[track_caller]
    fn run_any(self, scenario: AnyScenario) -> Report {
        let mut report = self.clone().explore(scenario.clone());
        if !endless::may_be_meant(&report, &self) {
            endless::look(&mut report, self, scenario);
        }
        report
    }

    /// The same, whether or not an iteration comes to its end.
    #[track_caller]
    pub(crate) fn explore(self, scenario: AnyScenario) -> Report {
        crate::execution::run::assert_outside();
        let _until_explored = Unfinished::new(&self.name);
        let name = self.name.clone();
        match self.campaign(scenario) {
            Ok(campaign) => campaign.run(),
            Err(error) => Report::unable(name, error),
        }
    }

    /// What is to be done.
    ///
    /// # Errors
    /// If the settings are no good.
    pub(super) fn campaign(self, scenario: AnyScenario) -> Result<Campaign, String> {
        let place = self.place;
        let scenario: Scenario = Arc::new(move |task| (main_body(scenario.start(), task), place));
        let test = self.test.clone().or_else(running_test);
        (Checker { test, ..self }).prepare(scenario)
    }
}
