//! How one iteration is run: granularity, clock policy, limits.

use super::outcome::FailureKind;
use super::seed::Seed;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Where scheduling points lie.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub enum Granularity {
    /// Only where a poll really returns: what one thread can show, whichever ready task it takes next. Closures of
    /// blocking tasks have threads of their own, and others go on while one waits or sleeps.
    Await,
    /// Also before every asynchronous operation of a shim, as a multi-threaded runtime can show. The default.
    Op,
    /// Also where a task has been spawned, which may run before its spawner goes on; but not where a node is started,
    /// or something on it: so scenarios set themselves up. And, on Linux, after a call that has woken somebody (with a
    /// message, a notification, permits or a lock given back, an end that is closed or dropped), who may act before the
    /// caller goes on; and, at no finer granularity, before a call that changes something, where by another since its
    /// last point the same poll has looked at something, as what it has seen may be true no longer, or changed something
    /// else. And between the two steps of sending to an mpsc channel, where its receiver may be dropped; and where a
    /// oneshot channel is made, for an answer that may have been there since the look for it.
    Spawn,
    /// Also at synchronous operations: `try_*`, unbounded sends, notifications, dropped guards.
    Sync,
    /// Also before atomic operations of other crates, and so inside of their locks, channels and queues, and of
    /// those of the standard library. Takes a build in which their code tells of them, and is the default there:
    /// `cargo cct test --atomics`.
    Atomic,
}

impl Granularity {
    /// Whether it can be had in this build.
    pub(crate) fn is_there(self) -> bool {
        self != Granularity::Atomic || cct_interpose::ATOMICS
    }
}

impl Default for Granularity {
    fn default() -> Self {
        if cct_interpose::ATOMICS {
            Granularity::Atomic
        } else {
            Granularity::Op
        }
    }
}

/// When virtual time may move.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Clock {
    /// Only when nothing else is enabled, like tokio's paused clock. No impossible order is shown.
    ///
    /// Tasks that wait by waking themselves, in a loop over yields, count as nothing once they have
    /// done so for half of the steps that an iteration may have (50,000 at most), and nobody did
    /// anything else. Nor does work of so many steps at one instant keep a timer from firing that would be due if each
    /// of them took a microsecond.
    #[default]
    Strict,
    /// A timer whose deadline lies within this slack of the earliest one may fire while work is
    /// ready: work takes time, and timers may be late relative to each other by the slack. The earliest
    /// one may fire however far away it is.
    Racing(Duration),
    /// The earliest timer of any node may fire at any moment.
    Adversarial,
    /// As `Strict`, but what timers set off takes time: the next timer may fire before it, in its order, as long as no
    /// more than this has passed since the world was idle. So who was woken by a timer, and whatever comes of that, may be
    /// late by this slack, as on any machine, and what is further away never comes first. A timer does not overtake what
    /// was set off together with it: whoever starts something and then sleeps lets it come to its end first. Not while
    /// the clock is paused, nor while more than 64 actions are ready.
    Lagging(Duration),
}

impl Clock {
    /// Whether timers are actions of their own.
    pub(crate) fn offers_timers(self) -> bool {
        self != Clock::Strict
    }

    /// Whether time passes only where the world is idle, but for a slack.
    pub(crate) fn waits_for_work(self) -> bool {
        matches!(self, Clock::Strict | Clock::Lagging(_))
    }
}

/// Bounds on one iteration. Reaching one cuts the iteration; it is counted and shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Steps: one action up to the next scheduling point each.
    pub steps: u64,
    /// Tasks spawned, the main one included.
    pub tasks: u32,
    /// Virtual time that may pass.
    pub time: Duration,
    /// The limit of steps of who has none of his own: less than [`Limits::STEPS`] only where cct itself is tested.
    pub(crate) usual_steps: u64,
}

impl Limits {
    /// The usual limit of steps.
    pub(crate) const STEPS: u64 = 100_000;
    /// The usual limit of tasks.
    pub(crate) const TASKS: u32 = 100_000;
    /// What it is raised to together with the steps. Half as many: should they never end, all are in memory.
    pub(crate) const MORE_TASKS: u32 = 500_000;

    /// The usual limit of virtual time: 35 years, of which 30 are tokio's far future. What repeats more often than every
    /// few hours meets the other limits before.
    pub(crate) const TIME: Duration = Duration::from_secs(35 * 365 * 24 * 3600);

    /// For a test that takes more than is usual, and has no limits of its own.
    pub(crate) fn raise(&mut self) {
        self.steps = self.more_steps();
        self.tasks = Limits::MORE_TASKS;
    }

    /// What the usual limit of steps is raised to for a test that takes more, and has no limit of its own.
    pub(crate) fn more_steps(&self) -> u64 {
        self.usual_steps.saturating_mul(10)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            steps: Limits::STEPS,
            tasks: Limits::TASKS,
            time: Limits::TIME,
            usual_steps: Limits::STEPS,
        }
    }
}

/// The limit that cut an iteration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub enum Limit {
    /// [`Limits::steps`].
    Steps,
    /// [`Limits::tasks`].
    Tasks,
    /// [`Limits::time`].
    Time,
    /// The decider asked to stop, as a replay does at the end of a partial token.
    Decisions,
}

impl Limit {
    /// Whether [`Limits::raise`] moves it.
    pub(crate) fn is_raised(self) -> bool {
        matches!(self, Limit::Steps | Limit::Tasks)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Limit::Steps => "step limit",
            Limit::Tasks => "task limit",
            Limit::Time => "virtual time limit",
            Limit::Decisions => "end of the decisions",
        })
    }
}

/// Everything about a world that changes how the program behaves in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorldConfig {
    /// Where scheduling points lie.
    pub granularity: Granularity,
    /// When virtual time may move.
    pub clock: Clock,
    /// Bounds on the iteration.
    pub limits: Limits,
    /// After how many steps to stop, as at the step limit: for a replay of a beginning. What the
    /// program meets on the way depends on its limits, which therefore stay.
    pub stop_after: Option<u64>,
    /// Whether the clock starts frozen, as with tokio's `start_paused`.
    pub start_paused: bool,
    /// Whether tokio's cooperative budget of 128 operations a poll is kept.
    pub coop_budget: bool,
    /// Whether tasks are now and then polled without having been woken, and operations return
    /// `Pending` once although they could go on.
    pub spurious_polls: bool,
    /// Whether streams now and then read or write less than they could.
    pub partial_io: bool,
    /// Whether a task that yields goes on only when no other is ready, or has waited for some time, as on
    /// tokio's `current_thread` runtime.
    pub lasting_yields: bool,
    /// Whether time has gone a little further than the deadline when a timer fires, as on any machine, unless the
    /// clock is frozen.
    pub late_timers: bool,
    /// Places (`file:line:column`) of panics of tasks that are no failure though nobody asks for them.
    pub expected_panics: Arc<[String]>,
    /// Whether a panic of a task is no failure, though nobody asks for it, when the scenario's own task is in the middle
    /// of its last poll and ends well: it has seen no more of it than of one after its end.
    pub forgives_at_end: bool,
    /// Whether errors of sockets are the machine's, known by their numbers, as programs for tokio look for those; others
    /// name what is wrong.
    pub numbered_errors: bool,
    /// Whether tasks that outlive the scenario are a failure.
    pub fail_on_leak: bool,
    /// Whether reaching a limit is a failure.
    pub fail_on_limit: bool,
    /// Whether the machine's time passes too where nothing but the next timer can happen, for a replay that is to show
    /// whether threads of the program act meanwhile. Ends, as at the time limit, where they may and it would take long.
    pub patient: bool,
    /// Seed of `nondet::rng` and of the spurious polls.
    pub noise: Seed,
}

impl Default for WorldConfig {
    fn default() -> Self {
        WorldConfig {
            granularity: Granularity::default(),
            clock: Clock::default(),
            limits: Limits::default(),
            stop_after: None,
            start_paused: false,
            coop_budget: true,
            spurious_polls: false,
            partial_io: false,
            lasting_yields: false,
            late_timers: false,
            expected_panics: Arc::default(),
            forgives_at_end: false,
            numbered_errors: false,
            fail_on_leak: false,
            fail_on_limit: false,
            patient: false,
            noise: Seed(0),
        }
    }
}

impl WorldConfig {
    /// Whether this panic of a task is no failure though nobody asks for it.
    pub(crate) fn expects(&self, kind: &FailureKind) -> bool {
        match kind {
            FailureKind::Panic {
                location: Some(place),
                ..
            } => self.expected_panics.contains(place),
            _ => false,
        }
    }
}
