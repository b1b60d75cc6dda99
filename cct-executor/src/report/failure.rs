//! The story of a failure.

use super::at_await::{at_await_text, order_text};
use super::budget::without_budget;
use super::foreign;
use super::panics::{earlier_panics, said, unheard};
use super::shortened::shortened;
use super::steps::steps;
use super::still::{stood_still, timer_overtakes, work_waited};
use super::summary::plural;
use super::tasks::{standstill, tasks};
use super::traced::traced;
use crate::explore::{FailureReport, InOrder, Origin, Report};
use crate::words::explanation::{Explanation, Sharing, Step, TaskState};
use crate::words::{Clock, FailureKind, Granularity};
use std::fmt::Write as _;

/// Lines shown of how things stand at the end.
const SNAPSHOT_MAX: usize = 60;

/// Things outside of the world that are shown.
const OUTSIDE_MAX: usize = 6;
/// A token longer than this does not fit well on a command line.
const LONG_TOKEN: usize = 100_000;

/// The whole story: what failed, under which conditions, who waited for whom, the last steps, and
/// how to see it again.
pub fn failure_text(report: &Report, failure: &FailureReport) -> String {
    let mut out = String::new();
    let explanation = &failure.explanation;
    // It may be of a run that asked for something else.
    let remembered = match failure.origin {
        Origin::Regression(_) => ", as remembered",
        _ => "",
    };
    let (name, class) = (&report.name, failure.kind.class());
    let _ = writeln!(out, "cct: FAILED {name}: {class}{remembered}");
    let _ = writeln!(out, "  {}", said(&failure.kind.to_string()));
    let _ = writeln!(out, "  {}", conditions(report, failure));
    shortened(&mut out, failure);
    if !failure.reproduced {
        out.push_str(
            "  the failing schedule did not fail again when it was replayed: something outside \
             cct's control takes part (wall clock, threads, hash order, state that survives);\n  what \
             follows is of the replay, which went otherwise\n",
        );
    }
    unheard(&mut out, explanation);
    earlier_panics(&mut out, failure);
    work_waited(&mut out, explanation, failure.token.clock);
    without_budget(&mut out, failure);
    shared_locals(&mut out, failure);
    foreign::sayings(&mut out, failure);
    foreign::vain_wakes(&mut out, failure);
    foreign::wakers(&mut out, failure);
    replayed_otherwise(&mut out, failure);
    outside(&mut out, explanation);
    // What is said of threads and of tokio takes every task for one that shares its thread there.
    if of_values(failure) {
        out.push_str(
            "  no choice led to it: it hangs on random values (`rand`, the order of a hash map...), which are \
             others in each\n  iteration, or on what an earlier one left in a static\n",
        );
    } else if !of_closure(explanation) {
        if let Some(at_await) = &failure.at_await {
            out.push_str(&at_await_text(failure, at_await));
        }
        out.push_str(order_text(failure));
        no_matter_of_order(&mut out, failure);
    }
    blocked(&mut out, failure);
    goes_on(&mut out, failure);
    if matches!(failure.kind, FailureKind::LimitReached(_)) {
        stood_still(&mut out, explanation);
    }
    if is_claim(&failure.kind) {
        standstill(&mut out, failure);
        steps(&mut out, report, failure);
        tasks(&mut out, failure);
    } else {
        tasks(&mut out, failure);
        foreign::other_runtimes(&mut out, failure);
        steps(&mut out, report, failure);
    }
    snapshot(&mut out, explanation);
    traced(&mut out, explanation);
    let _ = writeln!(out, "  replay: {}", replay_line(report, failure));
    out
}

/// What makes it a failure that nothing but a limit ends, and where its steps end.
fn goes_on(out: &mut String, failure: &FailureReport) {
    if !failure.kind.lasts() {
        return;
    }
    let mut tasks = failure.explanation.tasks.iter();
    let is_lost = match &failure.kind {
        FailureKind::Hang { task } => tasks.any(|story| story.name == *task && story.unwakeable),
        _ => false,
    };
    if is_lost {
        out.push_str("  nothing can wake it, whatever else goes on: every waker of it is gone\n");
    } else if !matches!(failure.kind, FailureKind::PartialDeadlock { .. }) {
        out.push_str(
            "  in other schedules the test comes to its end, in a tenth of the steps at most; should it be meant to \
             go on, set\n  `max_steps` or `max_time`\n",
        );
    }
    out.push_str(match failure.kind {
        FailureKind::Endless => "  the last of the steps below repeat themselves for ever\n",
        _ => "  the steps below end where these began to wait\n",
    });
}

/// Whether it fails in plain order, and did not in the iterations before, nor does it with the next values.
fn of_values(failure: &FailureReport) -> bool {
    let claims = match failure.kind {
        FailureKind::Panic { .. } | FailureKind::Error { .. } | FailureKind::Broken { .. } => true,
        FailureKind::Deadlock { .. } => !foreign::may_wake(failure),
        _ => false,
    };
    let undecided = failure.token.trace.decisions().is_empty();
    let departs = failure
        .departures
        .as_ref()
        .is_none_or(|all| !all.is_empty());
    let others = [Some(InOrder::Passes), Some(InOrder::FailsByValues)];
    let plain = undecided || !departs && others.contains(&failure.in_order);
    claims && failure.reproduced && plain && failure.iteration() > 0
}

/// Whether it may be due to a closure that would have a thread of its own.
fn of_closure(explanation: &Explanation) -> bool {
    let shared = explanation.shared_locals.as_ref();
    shared.is_some_and(|shared| matches!(shared.how, Sharing::OfClosure))
}

/// That a failure may be due to there being one thread for all tasks.
fn shared_locals(out: &mut String, failure: &FailureReport) {
    let Some(shared) = &failure.explanation.shared_locals else {
        return;
    };
    // At `await` no poll is suspended.
    let at_await = failure.at_await.as_ref();
    let without = at_await.is_some_and(|found| found.same.is_some());
    if without && !matches!(shared.how, Sharing::OfClosure) {
        return;
    }
    let (task, site) = (&shared.task, &shared.site);
    let _ = match shared.how {
        Sharing::Changed { step } => writeln!(
            out,
            "  task {task} was suspended at {site} while it had set a thread-local, and others have set that before it \
             went on in step {step}:\n  on threads each has its own, here all tasks share one; should the failure hang \
             on it, it is none of tokio's"
        ),
        Sharing::Seen => writeln!(
            out,
            "  task {task} was suspended at {site} when another panicked, and had set a thread-local, maybe for the length \
             of a call, which others may have seen:\n  on threads each has its own, here all tasks share one; should the failure hang on it, it \
             is none of tokio's"
        ),
        Sharing::OfClosure => writeln!(
            out,
            "  the closure of task {task} is suspended at {site} and has set a thread-local:\n  on tokio it has a \
             thread of its own, here all tasks share one; should the failure hang on it, it is none of tokio's"
        ),
    };
}

/// Why a run shows nothing of whose iterations none came to its end, and what the first did in the end.
pub(super) fn shows_nothing(report: &Report, error: &str) -> String {
    let mut out = format!("cct: {} shows nothing: {error}\n", report.name);
    if let Some(first) = &report.endless {
        out.push_str("  the end of the first:\n");
        stood_still(&mut out, &first.explanation);
        outside(&mut out, &first.explanation);
        foreign::blocked_channels(&mut out, &first.explanation);
        tasks(&mut out, first);
        steps(&mut out, report, first);
        snapshot(&mut out, &first.explanation);
        traced(&mut out, &first.explanation);
    }
    out
}

/// Whether the program itself says what is wrong. Who waits for whom explains the others.
pub(super) fn is_claim(kind: &FailureKind) -> bool {
    matches!(
        kind,
        FailureKind::Panic { .. }
            | FailureKind::Error { .. }
            | FailureKind::Broken { .. }
            | FailureKind::Abort { .. }
    )
}

/// Tests of other projects may count on the network of the machine.
fn outside(out: &mut String, explanation: &Explanation) {
    let all = &explanation.outside;
    if !all.is_empty() {
        let some: Vec<&str> = all.iter().take(OUTSIDE_MAX).map(String::as_str).collect();
        let more = if all.len() > OUTSIDE_MAX { ", ..." } else { "" };
        let _ = writeln!(
            out,
            "  nothing outside of the world answers, and this was asked for: {}{more}",
            some.join(", ")
        );
    }
}

/// What the same schedule says when it is replayed.
fn replayed_otherwise(out: &mut String, failure: &FailureReport) {
    let Some(again) = &failure.again else {
        return;
    };
    let again = again.to_string().replace('\n', "\n  ");
    let what = if failure.counts_on {
        "replayed, the same schedule fails with other numbers: something counts on from one iteration to the next, such as a\n  \
         static of the test:"
    } else {
        "replayed, the same schedule fails otherwise: state that survives from one iteration to the next takes part,\n  \
         such as a static of the test (or the wall clock, threads, hash order):"
    };
    let _ = writeln!(out, "  {what}\n  {again}");
}

/// What may be the reason of a failure that takes no particular order, or none but tokio's own: random
/// values; or, where it comes at once or in plain order, what is not as on tokio.
fn no_matter_of_order(out: &mut String, failure: &FailureReport) {
    let (claims, fail) = match failure.kind {
        FailureKind::Panic { .. } | FailureKind::Error { .. } | FailureKind::Broken { .. } => {
            (true, "fail")
        }
        // What wakes the tasks on tokio may be the thread of a static, which an earlier test has started.
        FailureKind::Deadlock { .. } => (!foreign::thread_may_wake(failure), "hang"),
        _ => return,
    };
    let undecided = failure.token.trace.decisions().is_empty();
    let in_order = failure.in_order == Some(InOrder::Fails);
    // Each of its choices is the plain one, once it was shortened.
    let no_departure = failure.departures.as_ref().is_some_and(Vec::is_empty);
    let is_plain = no_departure && failure.in_order.is_none();
    if !claims || !failure.reproduced || !(undecided || in_order || is_plain) {
        return;
    }
    // Where one thread was not seen to show it, it takes a switch in the middle of a poll, such as a thread's sleep is.
    let at_await = failure.at_await.as_ref();
    if !in_order && at_await.is_some_and(|found| found.same.is_none()) {
        return;
    }
    // The test passes on tokio all the same, and nothing needs to differ for that.
    if failure.explanation.unheard.is_some() {
        let order = match failure.iteration() {
            0 => "it takes no particular order",
            _ => "it comes in the order of tokio's `current_thread` too",
        };
        let _ = writeln!(out, "  {order}, so the task should panic on tokio as well");
        return;
    }
    let clock = if cct_interpose::CONTROLLED {
        "code takes no time"
    } else {
        "std's clock sees no virtual time pass"
    };
    // What passed before has shown that others pass.
    let order = if failure.iteration() == 0 {
        format!("it takes no particular order, so tokio should {fail} as well")
    } else if is_plain && !undecided {
        format!(
            "it takes no particular order, but perhaps random values (`rand`, the order of a hash map...), so tokio\n  \
             should {fail} as well, now and then"
        )
    } else {
        format!("it {fail}s in the order of tokio's `current_thread` too")
    };
    if !failure.explanation.outside.is_empty() {
        let _ = writeln!(out, "  {order}, unless what was asked for answers there");
        return;
    }
    let started = match failure.explanation.threads {
        0 => String::new(),
        started => format!(" ({started} started)"),
    };
    // Between two sockets of one machine it is there when `write` returns.
    let mut steps = failure.explanation.steps.iter();
    let delivered = steps.any(|step| step.task.is_none() && step.what.starts_with("deliver "));
    let sent = match delivered {
        true => " what is sent arrives later,",
        false => "",
    };
    let woken = match foreign::other_runtime_may_wake(failure) {
        true => {
            "timers and sockets of other runtimes (async-io, futures-timer, smol...) are not waited for,\n  "
        }
        false => "",
    };
    let _ = writeln!(
        out,
        "  {order}. Should tokio pass, this may differ: {clock},{sent}\n  {woken}std's \
         threads{started}, files and sockets are not the world's, and a static keeps what an earlier run left in it"
    );
}

/// Why a poll may not return that does not spin: a lock that the engine cannot see.
fn blocked(out: &mut String, failure: &FailureReport) {
    let FailureKind::Stuck { task: stuck } = &failure.kind else {
        return;
    };
    if failure.threads_wait {
        out.push_str(
            "  a thread that the test started waits to use something of the world, which is not before \
             this poll returns;\n  if the poll waits for that thread, use spawn_blocking instead of \
             a thread\n",
        );
    } else if failure.joins_thread {
        out.push_str(
            "  this poll waits for a thread of std to end; if that waits for another task, which does not go on before \
             this poll returns,\n  use spawn_blocking instead of a thread\n",
        );
    }
    let suspended = failure.explanation.tasks.iter();
    let suspended: Vec<&str> = suspended
        .filter(|story| story.state == TaskState::Suspended && story.name != *stuck)
        .map(|story| story.name.as_str())
        .collect();
    match &failure.stuck_at[..] {
        [] => out.push_str(
            "  it spins or blocks its thread, or has work for longer than `poll_limit` (or CCT_POLL_LIMIT); a debugger on the \
             replay shows where\n",
        ),
        [at, outer @ ..] => {
            let _ = write!(
                out,
                "  it works, spins or waits for longer than `poll_limit` (or CCT_POLL_LIMIT), while which no other task goes on, at {at}"
            );
            for place in outer {
                let _ = write!(out, ",\n    called at {place}");
            }
            out.push('\n');
        }
    }
    if !suspended.is_empty() {
        let _ = writeln!(
            out,
            "  maybe on a lock or channel that cct does not know, whose holder was suspended in the middle \
             of a poll\n  (task {}); at granularity `await` polls are not suspended, at `op` not by reads of \
             streams",
            suspended.join(", task ")
        );
    } else if !failure.threads_wait && !failure.joins_thread {
        out.push_str(if failure.stuck_at.is_empty() {
            "  maybe in a `block_on` of another crate, a channel of std, or an `accept` or `read` of `std::net`, \
             while which no\n  other task goes on; use `runtime::Runtime`, channels and sockets of tokio \
             (or of cct_sync and cct_net)\n"
        } else {
            "  should it wait in a `block_on` of another crate, a channel of std, or an `accept` or `read` of \
             `std::net`, use\n  `runtime::Runtime`, channels and sockets of tokio (or of cct_sync and cct_net)\n"
        });
    }
}

fn conditions(report: &Report, failure: &FailureReport) -> String {
    let place = match &failure.origin {
        Origin::Iteration(index) => {
            format!("iteration {} of {}", index + 1, report.planned)
        }
        Origin::Token => "a replayed token".to_owned(),
        Origin::Regression(file) => format!("the schedule remembered in {file}"),
    };
    let (step, token) = match &failure.shortened {
        Some(shortened) => (shortened.step, &shortened.found),
        None => (failure.step, &failure.token),
    };
    let finer = match token.granularity {
        Granularity::Spawn => ", granularity spawn",
        Granularity::Sync => ", granularity sync",
        Granularity::Atomic => ", granularity atomic",
        _ => "",
    };
    let clock = match token.clock {
        Clock::Strict => String::new(),
        // The default strategy has it now and then, where it makes no difference.
        Clock::Lagging(_) if !timer_overtakes(&failure.explanation) => String::new(),
        clock => format!(", clock {clock}"),
    };
    format!(
        "at step {step} of {place}; strategy {}{finer}{clock}, seed {}, {}",
        failure.strategy,
        report.seed,
        plural(
            token.trace.decisions().len() as u64,
            "decision",
            "decisions"
        )
    )
}

/// The node's name, or its number where it has none.
pub(super) fn node(step: &Step) -> String {
    match &*step.node_name {
        "" => format!("n{}", step.node),
        name => name.to_owned(),
    }
}

const A_MINUTE: u64 = 60_000_000_000;
const A_SECOND: u64 = 1_000_000_000;

/// Virtual time, in the largest unit that keeps it whole; in seconds from a minute on, and from a second on where it is
/// not whole in milliseconds.
pub(super) fn time_text(ns: u64) -> String {
    match ns {
        _ if ns >= A_MINUTE || ns >= A_SECOND && ns % 1_000_000 != 0 => {
            let seconds = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
            format!("{}s", seconds.trim_end_matches('0').trim_end_matches('.'))
        }
        _ if ns % 1_000_000 == 0 => format!("{}ms", ns / 1_000_000),
        _ if ns % 1_000 == 0 => format!("{}us", ns / 1_000),
        _ => format!("{ns}ns"),
    }
}

fn snapshot(out: &mut String, explanation: &Explanation) {
    if explanation.snapshot.is_empty() {
        return;
    }
    out.push_str("\n  network and disks at the end:\n");
    for line in explanation.snapshot.iter().take(SNAPSHOT_MAX) {
        let _ = writeln!(out, "    {line}");
    }
    if explanation.snapshot.len() > SNAPSHOT_MAX {
        let more = explanation.snapshot.len() - SNAPSHOT_MAX;
        let _ = writeln!(out, "    ... and {more} more");
    }
}

/// One line for a shell. It names one test: a token fits no other, and those whose names merely
/// contain this one's would complain.
fn replay_line(report: &Report, failure: &FailureReport) -> String {
    let token = failure.token.to_string();
    if !report.heeds_variables {
        return format!("`Checker::replay` with the token {token}");
    }
    if let Some(with) = &report.replay_with {
        return with_command(with, &token, report.test.as_deref());
    }
    let command = match &report.test {
        Some(test) => format!("cargo test {test} -- --exact"),
        None => "and the same command again".to_owned(),
    };
    if token.len() > LONG_TOKEN {
        return format!("save the next line in a file and run CCT_REPLAY=@FILE {command}\n{token}");
    }
    format!("CCT_REPLAY={token} {command}")
}

/// The same for a command that takes a token.
fn with_command(command: &str, token: &str, test: Option<&str>) -> String {
    let arguments = match test {
        Some(test) => format!("{test} -- --exact"),
        None => "and the same arguments again".to_owned(),
    };
    if token.len() > LONG_TOKEN {
        return format!(
            "save the next line in a file and run {command} @FILE {arguments}\n{token}"
        );
    }
    format!("{command} {token} {arguments}")
}
