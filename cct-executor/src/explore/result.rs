//! What a run leaves behind.

use super::endless::Followed;
use super::same::alike;
use crate::execution::harvest::{Sightings, TimeLimit};
use crate::execution::paths::short;
use crate::words::explanation::Explanation;
use crate::words::{Clock, Failure, FailureKind, Limit, ReplayToken, Seed};
use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

/// Of a time limit that has as much left, nobody wants to know what comes of it when it strikes.
const GUARD: Duration = Duration::from_secs(1);

/// The result of [`Checker::run`](crate::Checker::run).
#[derive(Clone, Debug)]
#[must_use = "call assert_passed, or look at it"]
#[non_exhaustive]
pub struct Report {
    /// The test's name.
    pub name: String,
    /// The test as `cargo test` knows it: its path in its crate. `None` where no test is known.
    pub test: Option<String>,
    /// Whether the run heeds variables, `CCT_REPLAY` among them.
    pub heeds_variables: bool,
    /// The command that takes a token, if it is not `cargo test` with `CCT_REPLAY`.
    pub replay_with: Option<String>,
    /// How many rows of what led to a failure its text shows, counted from the end. `None` for the last 25, and
    /// those around faults and departures before them, and cancellations where there is room.
    pub rows: Option<usize>,
    /// The strategy with its parameters.
    pub strategy: String,
    /// When virtual time might move. Where nobody has chosen, strategy `portfolio` has others in some iterations.
    pub clock: Clock,
    /// The run's seed.
    pub seed: Seed,
    /// Iterations that were asked for.
    pub planned: u64,
    /// Iterations that were run and count: on a failure, those up to the failing one.
    pub iterations: u64,
    /// What was explored.
    pub coverage: Coverage,
    /// Why the run stopped.
    pub stopped_by: StoppedBy,
    /// Wall-clock time of the run.
    pub elapsed: Duration,
    /// The part of it that went into searching; the rest explained what was found.
    pub search: Duration,
    /// What failed, if anything did.
    pub failure: Option<FailureReport>,
    /// Why the run could not begin: a bad setting, token or file. Or why it shows nothing: none of its iterations came
    /// to its end, under limits that nobody has chosen.
    pub error: Option<String>,
    /// What the strategy has to say: bounds completed, tables full.
    pub remarks: Vec<String>,
    /// What the user should know besides.
    pub warnings: Vec<String>,
    /// The first iteration was cut at the limit of steps or tasks.
    pub(super) first_was_long: bool,
    /// And would be a failure if others came to their end.
    pub(super) first_would_hang: bool,
    /// What is known of its end in plain order.
    pub(super) followed: Option<Followed>,
    /// How the first iteration ends, where none came to its end.
    pub(crate) endless: Option<Box<FailureReport>>,
}

/// What a run explored, and what not.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Coverage {
    /// Steps of all iterations.
    pub steps: u64,
    /// Distinct schedules.
    pub schedules: u64,
    /// Distinct abstract states, estimated to within 2 % (standard error); only for runs without
    /// a failure.
    pub states: Option<u64>,
    /// How the number of distinct states grew: after so many iterations (powers of two, and all) so
    /// many; only for runs without a failure.
    pub states_by_iteration: Vec<(u64, u64)>,
    /// Iterations that failed.
    pub failing: u64,
    /// Iterations cut short, by limit.
    pub cut: BTreeMap<Limit, u64>,
    /// How many schedules there are, when every one of them was explored.
    pub all_schedules: Option<u64>,
    /// Iterations that were run twice and compared.
    pub checked_twice: u64,
    /// Task panics that were handed to whoever joined the task.
    pub joined_panics: u64,
    /// Iterations in which tasks outlived the scenario.
    pub leaky: u64,
    /// Every `sometimes!` that was evaluated: name, file, line, and how often it was true; only
    /// for runs without a failure.
    pub sometimes: Vec<(&'static str, &'static str, u32, Sightings)>,
    /// Every `watermark!` that was evaluated: name, file, line, and its highest value; only for
    /// runs without a failure.
    pub watermarks: Vec<(&'static str, &'static str, u32, u64)>,
    /// Every `timeout` and `timeout_at` in which something had to be waited for: file, line, and whether it struck; only
    /// for runs without a failure.
    pub time_limits: Vec<(&'static str, u32, TimeLimit)>,
}

/// Why a run stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StoppedBy {
    /// All iterations that were asked for were run.
    Iterations,
    /// The time budget was used up.
    TimeBudget,
    /// The strategy had nothing left to explore.
    Exhausted,
    /// An iteration failed.
    Failure,
    /// A replay was asked for, and done.
    Replay,
    /// It could not begin.
    Error,
}

/// Where a failing trace came from.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Origin {
    /// This iteration of the run.
    Iteration(u64),
    /// The token of `CCT_REPLAY` or of [`Checker::replay`](crate::Checker::replay).
    Token,
    /// A remembered failure of an earlier run, with the file it is kept in.
    Regression(String),
}

/// A failure, with what is needed to see it again and to understand it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FailureReport {
    /// What went wrong.
    pub kind: FailureKind,
    /// The step at which it was noticed.
    pub step: u64,
    /// Where the trace came from.
    pub origin: Origin,
    /// The strategy with the parameters it had in that iteration.
    pub strategy: String,
    /// The seed of the failing iteration.
    pub seed: Seed,
    /// Everything a replay needs.
    pub token: ReplayToken,
    /// Steps, tasks and waits, from replaying the trace.
    pub explanation: Explanation,
    /// Whether the replay failed in the same way.
    pub reproduced: bool,
    /// What the replay failed with, where it said something else: what differs is not the schedule.
    pub again: Option<FailureKind>,
    /// Whether that differs in numbers alone, as it does if a library counts its objects through the process and names
    /// them in its errors.
    pub counts_on: bool,
    /// Whether a thread that the program started waits to use something of a world, or was refused it, where a poll does
    /// not return.
    pub threads_wait: bool,
    /// Whether a poll that does not return waits for a thread to end.
    pub joins_thread: bool,
    /// Whether a poll that does not return waits for the machine: for a socket, a pipe, a process or the lock of a file.
    pub awaits_machine: bool,
    /// Whether a thread of the process was refused what belongs to a world, while a poll did not return.
    pub(crate) refused_thread: bool,
    /// Where a poll stood that does not return when it had taken too long, the innermost place first; empty where that
    /// could not be found out. On Linux with the GNU C library, and not with isolation `process`.
    pub stuck_at: Vec<String>,
    /// What came of trying granularity `await` as well; for failures at a finer one that were found
    /// by searching, and come from the order of steps. See
    /// [`Checker::await_check`](crate::Checker::await_check).
    pub at_await: Option<AtAwait>,
    /// What came of the one schedule of strategy `round-robin` at granularity `await`, which is that of tokio's
    /// `current_thread` runtime. Tried where that granularity shows the failure, on the same terms as
    /// [`at_await`](FailureReport::at_await).
    pub in_order: Option<InOrder>,
    /// What came of looking for a shorter schedule with the same failure; where there is one, all the rest
    /// is of that. For failures that were found by searching, and come from the order of steps. See
    /// [`Checker::shrink`](crate::Checker::shrink).
    pub shortened: Option<Shortened>,
    /// Where the schedule, shortened or replayed, departs from the plain one, in order; `None` where this was
    /// not looked at.
    pub departures: Option<Vec<Departure>>,
}

impl FailureReport {
    /// Whether the replay failed as the iteration did, numbers aside.
    pub(crate) fn fails_so_again(&self) -> bool {
        self.reproduced && (self.again.is_none() || self.counts_on)
    }

    /// One that was seen to fail again, of which nothing else is known.
    pub(crate) fn new(
        failure: Failure,
        origin: Origin,
        strategy: String,
        seed: Seed,
        token: ReplayToken,
        explanation: Explanation,
    ) -> FailureReport {
        FailureReport {
            kind: failure.kind,
            step: failure.step,
            origin,
            strategy,
            seed,
            token,
            explanation,
            reproduced: true,
            again: None,
            counts_on: false,
            threads_wait: false,
            joins_thread: false,
            awaits_machine: false,
            refused_thread: false,
            stuck_at: Vec::new(),
            at_await: None,
            in_order: None,
            shortened: None,
            departures: None,
        }
    }
}

/// A decision of a schedule that is not the plain one.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Departure {
    /// The step that it led to.
    pub step: u64,
    /// What happened: task, operation and place, or what was drawn.
    pub taken: String,
    /// What the plain schedule has there.
    pub plain: String,
    /// Whether it is a data choice.
    pub is_value: bool,
}

/// A schedule that was made shorter, as an account of the one that was found.
///
/// The plain schedule is that of strategy `round-robin`: first in, first out, as in tokio's `current_thread`
/// runtime, and the first of the values of each data choice. A schedule *departs* from it where something
/// else is picked. Of the departures as many are left out as the failure does not take.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Shortened {
    /// The schedule that was found.
    pub found: ReplayToken,
    /// The step at which that failed.
    pub step: u64,
    /// How often that departs from the plain one.
    pub departures: u64,
    /// Schedules that were tried.
    pub attempts: u64,
    /// Whether the search was not cut short: none of the departures can be left out alone.
    pub complete: bool,
}

/// Whether something that failed at a finer granularity fails at granularity `await` as well, where
/// polls are never suspended: if it does, it takes no threads.
///
/// Strategy, seed and settings are those of the run. (A strategy of your own is not asked again;
/// `random` stands in for it.)
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct AtAwait {
    /// Schedules that were tried.
    pub schedules: u64,
    /// How many of them a limit cut.
    pub cut: u64,
    /// Whether these are all schedules there are.
    pub all: bool,
    /// Whether wall-clock time ended the search.
    pub out_of_time: bool,
    /// The first schedule with the same failure, counted from 1: the same kind, and where it has a
    /// place in the source, the same place.
    pub same: Option<u64>,
    /// The first schedule with another failure, and that failure.
    pub other: Option<(u64, FailureKind)>,
}

/// What came of it when tasks went on in the order in which they became ready.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum InOrder {
    /// It passes.
    Passes,
    /// It fails in the same way.
    Fails,
    /// It passes with the first of all values, and fails in the same way with some that are drawn: those of the
    /// strategy, such as where a `select!` begins, or of `rand`.
    FailsByValues,
    /// It fails in the same way with the first of all values, and passes with all that were drawn.
    FailsByFirstValues,
    /// It fails in another way, or was cut.
    Otherwise,
}

impl InOrder {
    /// Where plain order fails so, and this is told.
    pub(super) fn as_it_fails(plain: &FailureKind, told: &FailureReport) -> InOrder {
        match alike(plain, &told.kind) {
            true => InOrder::Fails,
            false => InOrder::Otherwise,
        }
    }
}

impl FailureReport {
    /// The number of the failing iteration; 0 for replays.
    pub fn iteration(&self) -> u64 {
        match self.origin {
            Origin::Iteration(index) => index,
            _ => 0,
        }
    }
}

impl Report {
    /// The failure, if there was one.
    pub fn failure(&self) -> Option<&FailureReport> {
        self.failure.as_ref()
    }

    /// Iterations that were run and count.
    pub fn iterations(&self) -> u64 {
        self.iterations
    }

    /// Why the run could not begin, if it could not, or shows nothing, as none of its iterations came to its end.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Whether the run began, shows something, and nothing failed.
    pub fn passed(&self) -> bool {
        self.failure.is_none() && self.error.is_none()
    }

    /// Iterations that reached a limit.
    pub fn cut(&self) -> u64 {
        self.coverage.cut.values().sum()
    }

    /// Names of each `sometimes!` that was evaluated but never true.
    pub fn never_reached(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.coverage
            .sometimes
            .iter()
            .filter(|s| s.3.reached == 0)
            .map(|s| s.0)
    }

    /// Each time limit that never struck, though less than a second was left once, by file and line as reports have them,
    /// with what was left at least. Longer ones guard tests.
    pub fn never_struck(&self) -> impl Iterator<Item = (&'static str, u32, Duration)> + '_ {
        let limits = self.coverage.time_limits.iter();
        let never = limits.filter(|(_, _, limit)| limit.struck == 0 && limit.margin < GUARD);
        never.map(|&(file, line, limit)| (short(file), line, limit.margin))
    }
}

impl Report {
    /// Aborts the process where the program would have done so; see [`FailureKind::Abort`].
    pub(crate) fn abort_if_due(&self) {
        let kind = self.failure.as_ref().map(|failure| &failure.kind);
        if matches!(kind, Some(FailureKind::Abort { .. })) {
            // Not by a macro: the test harness would keep what it prints.
            let _ = std::io::stderr().write_all(self.text().as_bytes());
            std::process::abort();
        }
    }
}
