//! How an iteration ended.

use super::config::Limit;
use super::enabled::StateParts;
use super::fingerprint::Fingerprint;
use super::seed::Seed;
use std::fmt;

/// The iteration a strategy is about to drive.
#[derive(Clone, Copy, Debug)]
pub struct Iteration {
    /// Its number within the run, from 0.
    pub index: u64,
    /// Its own seed; the strategy's randomness comes from streams of it.
    pub seed: Seed,
    /// How many steps it may take.
    pub max_steps: u64,
}

/// How one iteration ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The scenario ran to its end.
    Passed,
    /// Something is wrong with the program.
    Failed(Failure),
    /// A limit was reached; nothing is known about the rest.
    Cut(Limit),
}

/// What went wrong, and when.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// What went wrong.
    pub kind: FailureKind,
    /// The step at which it was noticed.
    pub step: u64,
}

/// What can go wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FailureKind {
    /// A task panicked and nobody was told.
    Panic {
        /// The panic's message.
        message: String,
        /// `file:line:column` of the panic, where known.
        location: Option<String>,
    },
    /// The scenario returned an error.
    Error {
        /// The error's `Debug` text.
        message: String,
    },
    /// Tasks wait for each other, or for something that will never come.
    Deadlock {
        /// How many tasks wait.
        waiting: u32,
    },
    /// Tasks wait for each other, and for nothing else, while others went on until a limit.
    PartialDeadlock {
        /// How many tasks wait.
        waiting: u32,
        /// What ended the iteration.
        limit: Limit,
    },
    /// The test waits for what does not come, while timers keep others going until a limit; in other
    /// schedules it comes to its end, or every waker is lost of the task that it waits for.
    Hang {
        /// Name of the task that waits: the test's own, or one whose end it waits for.
        task: String,
    },
    /// The test does the same again and again until a limit; in other schedules it comes to its end.
    Endless,
    /// An `always!` was false.
    Broken {
        /// What should have been true.
        message: String,
        /// `file:line:column` of the `always!`.
        location: String,
    },
    /// Tasks were still alive when the scenario ended (only where the test asks for it).
    Leaked {
        /// How many tasks.
        tasks: u32,
    },
    /// A limit was reached (only where the test asks for it).
    LimitReached(Limit),
    /// A poll did not return.
    Stuck {
        /// Name of the task.
        task: String,
    },
    /// A destructor panicked while another panic unwound, which aborts the process; or a poll ran out of
    /// stack, called `abort`, or made an invalid access to memory, which end it (seen on Linux with the GNU C library, on
    /// x86-64 and AArch64).
    ///
    /// The thread stands still instead, right before it does, and after a panic with it the standard
    /// library's lock on the panic hook: whoever calls `std::panic::set_hook` or `take_hook` from now on waits for
    /// ever. So [`Report::assert_passed`](crate::Report::assert_passed) prints the report and aborts.
    Abort {
        /// What was said by the panic in the destructor, and by the one before it; or what ended it else.
        message: String,
        /// `file:line:column` of the panic in the destructor, if it was one.
        location: Option<String>,
    },
    /// A foreign thread woke a task: concurrency that nothing controls.
    Uncontrolled {
        /// Name of the task that was woken.
        task: String,
        /// Name of the thread, if it has one.
        thread: Option<String>,
    },
    /// The same decisions led to different behaviour.
    Nondeterminism {
        /// The first step that differs, and the likely cause.
        message: String,
    },
}

/// The class of [`FailureKind::Nondeterminism`].
pub(crate) const NONDETERMINISM: &str = "nondeterminism";

impl FailureKind {
    /// Whether nothing ends it but a limit: tasks stand while others go on, or all go round.
    pub(crate) fn lasts(&self) -> bool {
        matches!(
            self,
            FailureKind::Hang { .. } | FailureKind::Endless | FailureKind::PartialDeadlock { .. }
        )
    }

    /// One word for tables and exit codes.
    pub fn class(&self) -> &'static str {
        match self {
            FailureKind::Panic { .. } => "panic",
            FailureKind::Error { .. } => "error",
            FailureKind::Deadlock { .. } => "deadlock",
            FailureKind::PartialDeadlock { .. } => "partial deadlock",
            FailureKind::Hang { .. } => "hang",
            FailureKind::Endless => "endless",
            FailureKind::Broken { .. } => "broken invariant",
            FailureKind::Leaked { .. } => "leaked tasks",
            FailureKind::LimitReached(_) => "limit reached",
            FailureKind::Stuck { .. } => "poll that does not return",
            FailureKind::Abort { .. } => "abort",
            FailureKind::Uncontrolled { .. } => "uncontrolled concurrency",
            FailureKind::Nondeterminism { .. } => NONDETERMINISM,
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FailureKind::Panic {
                message,
                location: Some(at),
            } => {
                write!(f, "panic at {at}: {message}")
            }
            FailureKind::Panic {
                message,
                location: None,
            } => write!(f, "panic: {message}"),
            FailureKind::Error { message } => {
                write!(f, "the scenario returned an error: {message}")
            }
            FailureKind::Deadlock { waiting } => {
                write!(
                    f,
                    "deadlock: {waiting} task(s) wait for what will never come"
                )
            }
            FailureKind::Hang { task } => {
                write!(
                    f,
                    "hang: task {task} waits for what does not come, and the test with it, while timers keep \
                     others going"
                )
            }
            FailureKind::Endless => f.write_str(
                "endless: the test does the same again and again, and never comes to its end",
            ),
            FailureKind::PartialDeadlock { waiting, limit } => {
                write!(
                    f,
                    "partial deadlock: {waiting} task(s) wait for each other and for nothing else, while \
                     others went on until the {limit}"
                )
            }
            FailureKind::Broken { message, location } => {
                write!(f, "broken invariant at {location}: {message}")
            }
            FailureKind::Leaked { tasks } => {
                write!(
                    f,
                    "{tasks} task(s) were still alive when the scenario ended"
                )
            }
            FailureKind::LimitReached(limit) => write!(f, "{limit} reached"),
            FailureKind::Stuck { task } => write!(f, "a poll of task {task} does not return"),
            FailureKind::Abort { message, location } => {
                if let Some(at) = location {
                    write!(f, "panic at {at}: ")?;
                }
                f.write_str(message)
            }
            FailureKind::Uncontrolled { task, thread } => {
                f.write_str("uncontrolled concurrency: a foreign thread ")?;
                if let Some(thread) = thread {
                    write!(f, "(`{thread}`) ")?;
                }
                write!(f, "woke task {task}")
            }
            FailureKind::Nondeterminism { message } => write!(f, "nondeterminism: {message}"),
        }
    }
}

/// What the engine tells about a finished iteration, whatever its outcome.
#[derive(Clone, Debug)]
pub struct IterationEnd {
    /// How it ended.
    pub outcome: Outcome,
    /// Steps done.
    pub steps: u64,
    /// Decisions that were asked of the decider.
    pub decisions: u64,
    /// Rolling hash over all decisions and the states they were taken in.
    pub schedule_hash: u64,
    /// The last abstract state.
    pub fingerprint: Fingerprint,
    /// Its parts.
    pub parts: StateParts,
    /// The highest waypoint whose predicate held in the last state; 0 for none.
    pub waypoint: u32,
    /// How many waypoints were declared.
    pub waypoints: u32,
}
