//! Failures that may come of what earlier iterations, or other tests, have left in statics.
//!
//! Elsewhere a test runs once in a process. A counter in a static, or a runtime that is made once for all, can make
//! the second iteration fail, under any schedule. So a failing schedule is replayed in a process in which the
//! program has not run yet. If it does not fail there, the test is explored with a process for each iteration, and
//! what comes of that counts. There, too, the test's own subscriber hears what is traced, as elsewhere none does, and a test
//! may look at that.
//!
//! The reverse is a program that makes something once for all and fails while that is new: it fails in a new
//! process, and in this one never again. What the replay here tells is another run then, so processes tell it.
//!
//! And a thread that is made once for all is nobody's where another test has made it, and waited for by none; in a new
//! process it is the test's own, which says that threads take part.

use super::threads::may_wait_for_workers;
use crate::explore::THREAD_NAMES;
use crate::explore::apart::{self, Says, Task, Verdict};
use crate::explore::env::Settings;
use crate::explore::result::{FailureReport, Origin, Report};
use crate::explore::trace_log::Surroundings;
use crate::words::FailureKind;

const UNHEARD: &str = ", or because nobody hears what it traces while it is explored";

/// What is to be said of a failure.
pub(super) enum Doubt {
    None,
    /// There is none: it fails so in a process of its own, in which no thread takes part.
    Stands,
    /// It did not count; this does.
    Apart(Verdict),
    /// In a process of its own it came of threads, which others have started here; why it is to be run once.
    Threads(String),
    Note(String),
}

/// Tries a failure in a process of its own.
pub(super) fn look(report: &Report, test: &str, settings: &Settings) -> Doubt {
    let Some(failure) = &report.failure else {
        return Doubt::None;
    };
    // A replay of a poll that does not return may take as long as it did; and that a foreign thread came later elsewhere
    // says nothing, unless it ran another iteration.
    let can_be_told = match &failure.kind {
        FailureKind::Stuck { .. } => false,
        FailureKind::Uncontrolled { thread, .. } => {
            let thread = thread.as_ref();
            thread.is_some_and(|thread| thread.starts_with(THREAD_NAMES))
        }
        _ => true,
    };
    let is_remembered = matches!(failure.origin, Origin::Regression(_));
    let was_found = is_remembered || matches!(failure.origin, Origin::Iteration(_));
    let was_found = was_found && settings.replay.is_none();
    if was_found && may_wait_for_workers(failure) {
        return without_workers(test, failure);
    }
    if !(was_found && can_be_told) {
        return Doubt::None;
    }
    let Some(verdict) = apart::ask(test, &Task::Replay(&failure.token)) else {
        return Doubt::None;
    };
    if let Says::Threads(why) = verdict.says {
        return Doubt::Threads(why);
    }
    let fails_there = matches!(verdict.says, Says::Failed(_));
    let listens = Surroundings::of_this_thread().hear();
    if fails_there && listens && !is_told_by(&failure.kind, &verdict.text) {
        return Doubt::Apart(verdict.with(&[format!(
            "while it was explored, and nobody heard what it traces, it failed otherwise: {}",
            failure.kind
        )]));
    }
    // Here nobody can try again what would end the process.
    let aborts = matches!(failure.kind, FailureKind::Abort { .. });
    if fails_there && (aborts || failure.fails_so_again()) {
        return Doubt::Stands;
    }
    let what = match &failure.kind {
        kind @ FailureKind::Nondeterminism { .. } => kind.class().to_owned(),
        kind => kind
            .to_string()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned(),
    };
    if fails_there {
        return the_first_time_only(test, failure, &what);
    }
    let varies = matches!(failure.kind, FailureKind::Nondeterminism { .. });
    match apart::ask(test, &Task::Explore) {
        // What differs from process to process is told better by the report of one.
        Some(Verdict {
            says: Says::Failed(class),
            ..
        }) if varies && class == failure.kind.class() => Doubt::None,
        Some(Verdict {
            says: Says::Threads(why),
            ..
        }) => Doubt::Threads(why),
        Some(verdict) if verdict.says != Says::Unable => {
            let unheard = if listens { UNHEARD } else { "" };
            Doubt::Apart(verdict.with(&[why_apart(failure, &what, unheard)]))
        }
        _ => Doubt::Note(
            "this schedule does not fail in a process of its own: what was left in a static, or elsewhere in the \
             process, by an iteration before it or by another test takes part. Set it anew where the test begins"
                .to_owned(),
        ),
    }
}

/// Why a failure did not count that a process of its own does not show.
fn why_apart(failure: &FailureReport, what: &str, unheard: &str) -> String {
    if let Origin::Regression(file) = &failure.origin {
        return format!(
            "what is remembered in {file} failed again ({what}) because of what was left in a static, or elsewhere in \
             the process, by an earlier run of it or by another test{unheard}: alone in a process its schedule does not \
             fail. So each iteration had a process of its own. If the failure is mended, delete its line"
        );
    }
    // Some are run twice.
    let by = match failure.iteration() {
        0 => "an earlier run of it",
        _ => "an iteration before it",
    };
    format!(
        "in one process, iteration {} failed ({what}) because of what was left in a static, or elsewhere in the process, \
         by {by} or by another test{unheard}: alone in a process its schedule does not fail. So each iteration had a \
         process of its own; isolation = \"process\" does so from the beginning",
        failure.iteration() + 1,
    )
}

/// Iterations that run at the same time may wait for each other, at what they share.
fn without_workers(test: &str, failure: &FailureReport) -> Doubt {
    match apart::ask(test, &Task::Explore) {
        Some(Verdict {
            says: Says::Threads(why),
            ..
        }) => Doubt::Threads(why),
        // It is the same without them.
        Some(Verdict {
            says: Says::Failed(class),
            ..
        }) if class == failure.kind.class() => Doubt::None,
        Some(verdict) if verdict.says != Says::Unable => Doubt::Apart(verdict.with(&[format!(
            "in one process, a poll of iteration {} waited for a lock of another iteration that ran at the same time: \
             they share what lies in a static. So each iteration had a process of its own; isolation = \"process\" does so \
             from the beginning, and with workers = 1 there is no other",
            failure.iteration() + 1,
        )])),
        _ => Doubt::None,
    }
}

/// Whether a report tells a panic at the same place.
fn is_told_by(kind: &FailureKind, report: &str) -> bool {
    match kind {
        FailureKind::Panic {
            location: Some(place),
            ..
        } => report.contains(&format!("panic at {place}")),
        _ => true,
    }
}

/// A failure that a new process shows as well, and this one not twice.
fn the_first_time_only(test: &str, failure: &FailureReport, what: &str) -> Doubt {
    let which = match &failure.origin {
        Origin::Regression(file) => format!("what is remembered in {file}"),
        _ => format!("iteration {}", failure.iteration() + 1),
    };
    match apart::ask(test, &Task::Explore) {
        Some(Verdict {
            says: Says::Threads(why),
            ..
        }) => Doubt::Threads(why),
        Some(verdict) if matches!(verdict.says, Says::Failed(_)) => {
            Doubt::Apart(verdict.with(&[format!(
                "in one process, {which} failed ({what}) and its schedule does not fail so again there: what \
                 the program makes once, in a static, is there the second time. So each iteration had a process of \
                 its own; isolation = \"process\" does so from the beginning"
            )]))
        }
        _ => Doubt::Note(
            "this schedule fails in a new process, but not so again in one in which it has run: what the program \
             makes once, in a static, is there the second time"
                .to_owned(),
        ),
    }
}
