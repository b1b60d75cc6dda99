//! What a report says of other crates: of runtimes, timers and threads that are not of the world.

use crate::explore::{FailureReport, THREAD_NAMES};
use crate::words::FailureKind;
use crate::words::explanation::{Explanation, TaskState, TaskStory, ThreadWait, VainWake};
use std::fmt::Write as _;

/// What crates say where this is not what they are made for, and what to do.
const SAYINGS: [(&[&str], &str); 2] = [
    (
        &["must be called from the context of a Tokio"],
        "  a world is no tokio runtime: tasks, time, sockets and files of tokio itself do not work \
         in it, and no crate\n  that uses them (its channels and locks do); use those of \
         cct_executor and cct_net, through features or a `mod rt` of the program\n",
    ),
    (
        &["executor from within another executor", "inconsistent park"],
        "  blocking calls of this crate keep what they wait with in thread-locals, one for each thread, and \
         all tasks are on one:\n  only one task at a time can be in such a call; use `.await`, or \
         `runtime::Handle::block_on`\n",
    ),
];

/// How many wake-ups in vain are told of, the last ones.
const VAIN_MAX: usize = 3;

/// What the words of another crate's panic mean here.
pub(super) fn sayings(out: &mut String, failure: &FailureReport) {
    let FailureKind::Panic { message, .. } = &failure.kind else {
        return;
    };
    for (words, remedy) in SAYINGS {
        if words.iter().any(|word| message.contains(word)) {
            out.push_str(remedy);
        }
    }
}

/// Wake-ups that a task of those took away with it which were aborted.
pub(super) fn vain_wakes(out: &mut String, failure: &FailureReport) {
    let wakes = &failure.explanation.vain_wakes;
    for VainWake { task, step, by } in wakes.iter().rev().take(VAIN_MAX).rev() {
        let by = by
            .as_ref()
            .map_or_else(String::new, |by| format!(" by task {by}"));
        let _ = writeln!(
            out,
            "  task {task} was woken in step {step}{by}, and dropped before it went on (aborted): that wake-up is \
             lost, unless\n  what the task waited for passes it on"
        );
    }
}

/// What tasks may wait for that is not of the world: such as a timer of another crate, which is woken
/// by a thread of its own after real time, or has not been yet.
pub(super) fn wakers(out: &mut String, failure: &FailureReport) {
    match &failure.kind {
        FailureKind::Uncontrolled {
            thread: Some(thread),
            ..
        } if thread.starts_with(THREAD_NAMES) => out.push_str(
            "  that thread runs other iterations, or another test: they share a static, such as a lock or a \
             channel;\n  make it anew in each iteration\n",
        ),
        FailureKind::Uncontrolled { .. } => out.push_str(
            "  timers, sockets and tasks of other runtimes (async-io, futures-timer, smol...) have threads \
             of their own;\n  use those of tokio (or of cct_executor and cct_net), and spawn_blocking instead of a thread; CCT_PLAIN_TESTS=once has such \
             a\n  test run once, with its threads (on Linux)\n",
        ),
        FailureKind::Deadlock { .. } if failure.explanation.threads > 0 => {
            let _ = writeln!(
                out,
                "  the test, or a crate that it uses, has started threads ({}); what belongs to the world panics \
                 there:\n  where tasks wait for a thread, let it be a spawn_blocking",
                failure.explanation.threads
            );
        }
        FailureKind::Deadlock { .. } | FailureKind::PartialDeadlock { .. } | FailureKind::Hang { .. } | FailureKind::LimitReached(_) => {
            blocked_channels(out, &failure.explanation);
        }
        _ => {}
    }
}

/// What a task may wait for whose thread would be parked.
pub(super) fn blocked_channels(out: &mut String, explanation: &Explanation) {
    if explanation.tasks.iter().any(is_parked) {
        out.push_str(
            "  blocking calls of the channels of std and crossbeam pass over whoever waits on the thread that \
             sends, where all tasks are:\n  between tasks, use channels of tokio (or of cct_sync); across threads, they \
             work\n",
        );
    }
}

/// Who may be at the other end of an unknown waker, though mostly it is nobody: so it is told after all that is known.
pub(super) fn other_runtimes(out: &mut String, failure: &FailureReport) {
    let is_deadlock = matches!(failure.kind, FailureKind::Deadlock { .. });
    if is_deadlock && failure.explanation.threads == 0 && other_runtime_may_wake(failure) {
        out.push_str(
            "    should the waker of another crate be that of a timer or socket of another runtime \
             (async-io, futures-timer, smol...):\n    those are not waited for; use those of cct\n",
        );
    }
}

/// Whether it is not known what may wake the tasks of a deadlock.
pub(super) fn may_wake(failure: &FailureReport) -> bool {
    thread_may_wake(failure) || other_runtime_may_wake(failure)
}

/// Whether a thread of std may wake them, or would, were it not the one where all tasks are.
pub(super) fn thread_may_wake(failure: &FailureReport) -> bool {
    let Explanation { tasks, threads, .. } = &failure.explanation;
    *threads > 0 || tasks.iter().any(is_parked)
}

/// Whether one waits with a waker of another crate, which may be that of a runtime of its own.
pub(super) fn other_runtime_may_wake(failure: &FailureReport) -> bool {
    failure.explanation.tasks.iter().any(waits_for_a_foreigner)
}

fn is_parked(story: &TaskStory) -> bool {
    story.thread_wait == Some(ThreadWait::Park)
}

/// Whether a task waits for something unknown that may still wake it.
fn waits_for_a_foreigner(story: &TaskStory) -> bool {
    let unknown = story.waits.is_empty() && story.thread_wait.is_none() && !story.unwakeable;
    story.state == TaskState::Waiting && unknown
}
