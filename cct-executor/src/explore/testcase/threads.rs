//! Tests in which threads of `std` take part: what those do nobody can repeat.
//!
//! Where tests without an attribute are run, so that a project need not be changed, such a test is run once, as they
//! are: in plain order, in a world that threads may use. What its one run says counts. Elsewhere it is a failure, and
//! who wrote the test can use `spawn_blocking`.
//!
//! So is one that asks for what is the machine's, such as a process, and fails as no explored world has it; and one that
//! leaves files behind whose names have the time or a random number in them, and finds them where it is run again.
//!
//! The run has a process of its own where one can be had, as iterations have run in this one.

use super::{Judged, TestCase};
use crate::execution::helpers::nap;
use crate::explore::THREAD_NAMES;
use crate::explore::apart;
use crate::explore::checker::Checker;
use crate::explore::env::{PlainTests, Settings};
use crate::explore::result::{FailureReport, InOrder, Report};
use crate::explore::same::alike;
use crate::words::explanation::ThreadWait;
use crate::words::{FailureKind, ReplayToken};
use cct_interpose::threads_started;
use std::path::PathBuf;
use std::time::Duration;

/// How often it is looked for threads that wait for time to pass, if there are threads at all.
const LOOKS: u32 = 20;
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// How a test is to be run in which threads take part.
pub(crate) struct ToRunOnce {
    pub(crate) start_paused: bool,
    pub(crate) to: Told,
}

/// Whom the run is for.
pub(crate) enum Told {
    /// Whoever reads the test's line; which says why.
    Here(String),
    /// Who started this process, and looks there.
    File(PathBuf),
    /// What the test prints is all that is to be printed.
    Nobody,
}

/// Whether a test in which threads take part is to be run once.
pub(super) fn are_welcome(settings: &Settings) -> bool {
    // A failure that is remembered may come of them as well, but who gives a token wants it replayed; a process that was
    // started for that only says so.
    let is_to_be_replayed = settings.replay.is_some() && settings.apart.is_none();
    let wanted = settings.plain_tests != PlainTests::Refuse && !is_to_be_replayed;
    cct_interpose::CONTROLLED && wanted
}

/// What the report says is better said by one run in which threads take part, whoever started them; and why.
pub(super) fn take_part(report: &Report, settings: &Settings) -> Option<String> {
    take_part_of(report, settings, started)
}

/// As [`take_part`], where those that live count only if the failing iteration has started them: the others may be another
/// test's, with which this one has nothing to do.
pub(super) fn its_own_take_part(report: &Report, settings: &Settings) -> Option<String> {
    take_part_of(report, settings, |failure| failure.explanation.threads)
}

fn take_part_of(
    report: &Report,
    settings: &Settings,
    started: fn(&FailureReport) -> u64,
) -> Option<String> {
    let welcome = are_welcome(settings);
    match &report.failure {
        Some(failure) if welcome => why(failure, started(failure), false),
        None if welcome => waited_for(report.endless.as_deref()?),
        _ => None,
    }
}

/// Why a test is to be run once of which no iteration comes to its end, as this one does not: it may wait for what only such
/// a run has.
pub(super) fn waited_for(endless: &FailureReport) -> Option<String> {
    why(endless, endless.explanation.threads, true)
}

/// Why the test is to be run once, beside so many threads, if it is; and whether it fails so in any order.
fn why(failure: &FailureReport, threads: u64, in_any: bool) -> Option<String> {
    if let Some(what) = asks_the_machine(failure) {
        return Some(machine_is_asked(what, failure));
    }
    if matches!(failure.kind, FailureKind::Stuck { .. }) && failure.awaits_machine {
        return Some(machine_is_asked(
            "what a socket, a pipe or a process brings",
            failure,
        ));
    }
    if meets_what_was_left(failure) {
        return Some(is_there_already(failure));
    }
    if failure.explanation.processes > 0 && (in_any || in_any_order(failure)) {
        return Some(machine_is_asked("a process that it starts", failure));
    }
    if closures_wait_as_threads(failure) {
        return Some(waits_as_thread(failure));
    }
    let comes_of_threads = match &failure.kind {
        FailureKind::Uncontrolled { thread, .. } => thread
            .as_ref()
            .is_none_or(|thread| !thread.starts_with(THREAD_NAMES)),
        FailureKind::Stuck { .. } => {
            failure.joins_thread || failure.refused_thread || (threads > 0 && failure.threads_wait)
        }
        FailureKind::Nondeterminism { .. } => threads > 0,
        // In plain order already: so it is where what the world has is refused to a thread; or it depends on how fast
        // the thread comes to that.
        _ => threads > 0 && (in_any || in_plain_order(failure) || !failure.reproduced),
    };
    comes_of_threads.then(|| threads_do(failure))
}

/// Whether a closure that may block was parked in the end. A channel of the standard library, in which it may wait, tells who
/// waits by the thread, which it does not share on tokio.
fn closures_wait_as_threads(failure: &FailureReport) -> bool {
    let mut tasks = failure.explanation.tasks.iter();
    tasks.any(|task| task.closure && task.thread_wait == Some(ThreadWait::Park))
}

/// Why a `main` that was explored is to be run once, if it is, and its name.
pub(crate) fn is_better_run_once(report: &Report) -> Option<String> {
    let settings = Settings::from_env().ok()?;
    let why = take_part(report, &settings)?;
    Some(format!("cct: {}: {why}\n", report.name))
}

fn machine_is_asked(what: &str, failure: &FailureReport) -> String {
    format!(
        "it asks for what is the machine's ({what}), which nobody can repeat (explored, it ends in: {}): run once, in \
         plain order, and not explored; with something in its place it is",
        failure.kind.class()
    )
}

/// How the reason begins where it is a file.
pub(crate) const IS_THERE_ALREADY: &str = "a file that it makes is there already";

fn is_there_already(failure: &FailureReport) -> String {
    format!(
        "{IS_THERE_ALREADY}: it is named by the time or at random, which are the same whenever a schedule \
         is run, and left behind (explored, it ends in: {}). So it is run once, at the machine's time, which nobody can \
         repeat, in plain order, and not explored; with its files removed, or in a folder of the crate `tempfile`, it is",
        failure.kind.class()
    )
}

fn waits_as_thread(failure: &FailureReport) -> String {
    format!(
        "a closure of spawn_blocking waits as a thread does (explored, it ends in: {}), and what it waits for, as a channel \
         of std, may tell who waits by threads, of which all tasks share one: run once, in plain order, where closures have threads \
         of their own, which nobody can repeat, and not explored; with a channel of tokio it is",
        failure.kind.class()
    )
}

fn threads_do(failure: &FailureReport) -> String {
    format!(
        "threads of std take part, which nobody can repeat (explored, it ends in: {}): run once, in plain order, and not explored; with \
         spawn_blocking instead of threads it is",
        failure.kind.class()
    )
}

/// What the report says of a process of this test's own may be better said by one run, as time went on to the next timer
/// while a thread, by its own clock, may have been about to do what a task waits for: one that is some timer's, as it waits
/// for time to pass itself. In another replay, which gives such threads the time that passes, they do not, and it fails as
/// before: then it is none of theirs.
pub(super) fn may_overtake(
    report: &Report,
    settings: &Settings,
    patiently: impl FnOnce(ReplayToken) -> Report,
) -> Option<String> {
    let failure = report.failure.as_ref()?;
    let hangs = matches!(
        failure.kind,
        FailureKind::Deadlock { .. } | FailureKind::PartialDeadlock { .. }
    );
    let may = are_welcome(settings)
        && started(failure) > 0
        && failure.explanation.standstills > 0
        && is_any_timed();
    if !may {
        return None;
    }
    // It may be waited for as long as it takes, and a limit of a thread's may be up much later.
    if hangs {
        return Some(threads_do(failure));
    }
    let again = patiently(failure.token.clone()).failure;
    let fails_so = again.is_some_and(|again| alike(&failure.kind, &again.kind));
    (!fails_so).then(|| threads_do(failure))
}

/// What the test has asked for that is the machine's, and that it is given where it is run once, if it fails as often as it
/// is refused.
fn asks_the_machine(failure: &FailureReport) -> Option<&str> {
    let is_first = failure.iteration() == 0;
    let asked = failure.explanation.of_machine.first()?;
    (is_first || in_plain_order(failure) || !failure.reproduced).then_some(asked)
}

/// What an `io::Error` says of a file that is not to be made again.
const THERE_ALREADY: [&str; 2] = ["File exists (os error 17)", "AlreadyExists"];

/// Whether the test fails in whatever order, for a file that an earlier run of it may have left.
fn meets_what_was_left(failure: &FailureReport) -> bool {
    let text = failure.kind.to_string();
    in_any_order(failure) && THERE_ALREADY.iter().any(|said| text.contains(said))
}

/// How many threads the program has started. Those of a pool in a static an earlier iteration may have started, or another
/// test.
fn started(failure: &FailureReport) -> u64 {
    let here = failure.explanation.threads;
    here.max(threads_started().controlled)
}

/// Whether a poll does not return, and may wait for others that run at the same time in other iterations: the program has
/// no threads of its own for which it might.
pub(super) fn may_wait_for_workers(failure: &FailureReport) -> bool {
    let is_stuck = matches!(failure.kind, FailureKind::Stuck { .. });
    is_stuck && !failure.joins_thread && started(failure) == 0
}

/// Whether any thread of the program waits for time to pass. One that was started just now has not come to it.
fn is_any_timed() -> bool {
    (0..LOOKS).any(|look| {
        if look > 0 {
            nap(BETWEEN_LOOKS);
        }
        threads_started().timed > 0
    })
}

/// Whether the failure takes no order but the plain one.
fn in_plain_order(failure: &FailureReport) -> bool {
    failure.token.trace.decisions().is_empty()
        || matches!(failure.in_order, Some(InOrder::Fails | InOrder::Otherwise))
        || failure.departures.as_ref().is_some_and(Vec::is_empty)
}

/// Whether the failure may come of something else than the order.
fn in_any_order(failure: &FailureReport) -> bool {
    let varies = matches!(failure.kind, FailureKind::Nondeterminism { .. });
    varies || in_plain_order(failure) || !failure.reproduced
}

/// Runs the test once in a process, if it can be asked for; or says that it is to be run here.
pub(super) fn once(case: TestCase, why: &str, start_paused: bool, asks: bool) -> Judged {
    let why = format!("cct: {}: {why}\n", case.name);
    match asks.then(|| apart::ask_once(case.path())).flatten() {
        Some(once) => Judged::OnceApart { once, why },
        None => Judged::Once(ToRunOnce {
            start_paused,
            to: Told::Here(why),
        }),
    }
}

impl TestCase {
    /// How a test is run whose parameters are there once.
    ///
    /// # Errors
    /// When it is not to be run so.
    pub(crate) fn with_what_is_there_once(self, checker: &Checker) -> Result<ToRunOnce, String> {
        let settings = Settings::from_env().map_err(|error| error.to_string())?;
        let name = self.name;
        if !are_welcome(&settings) {
            return Err(format!(
                "{name}: each run of a test begins with clones of its parameters, and one of these is not `Clone`, `Send`, \
                 `Sync` and `'static`: it can be run once by `cargo cct test` on Linux, and neither explored nor replayed. \
                 Remedy: `#[derive(Clone)]` on its type, or make it in the test's body"
            ));
        }
        let why = format!(
            "cct: {name}: each run begins with clones of the test's parameters, and one of these is not `Clone`, `Send`, `Sync` \
             and `'static`: run once, in plain order, and not explored; with `#[derive(Clone)]` on its type it is\n"
        );
        Ok(ToRunOnce {
            start_paused: checker.world.start_paused,
            to: Told::Here(why),
        })
    }
}

/// How the test is to be run, if this process was started to run it once.
pub(super) fn asked_for(settings: &Settings, start_paused: bool) -> Option<ToRunOnce> {
    let file = settings
        .apart
        .as_ref()
        .filter(|file| apart::is_once(file))?;
    Some(ToRunOnce {
        start_paused,
        to: Told::File(file.clone()),
    })
}
