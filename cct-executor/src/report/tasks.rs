//! Who was alive at the end, and what each waited for.
//!
//! Where the program itself says what is wrong, this is background, and shorter.

use super::failure::is_claim;
use crate::explore::FailureReport;
use crate::words::Granularity;
use crate::words::explanation::{Explanation, TaskState, TaskStory, ThreadWait, Use, Wait};
use std::fmt::Write as _;
use std::time::Duration;

/// Tasks shown.
const TASKS_MAX: usize = 30;
/// Tasks shown as background.
const FEW_TASKS: usize = 10;
/// Channels shown with messages that nobody receives.
const LEFT_MAX: usize = 3;

pub(super) fn tasks(out: &mut String, failure: &FailureReport) {
    let explanation = &failure.explanation;
    if explanation.tasks.is_empty() {
        return;
    }
    let brief = is_claim(&failure.kind);
    let most = if brief { FEW_TASKS } else { TASKS_MAX };
    out.push_str("\n  tasks at the end:\n");
    for story in explanation.tasks.iter().take(most) {
        task(out, story, brief);
    }
    if explanation.tasks.len() > most {
        let _ = writeln!(out, "    ... and {} more", explanation.tasks.len() - most);
    }
    cycles(out, explanation);
    for (count, channel) in explanation.left.iter().take(LEFT_MAX) {
        let _ = writeln!(
            out,
            "    {count} message(s) in {channel} were sent while its receiver was dropped: nobody receives them, and what \
             they hold,\n      such as the sender of an answer, stays there as long as there is a sender"
        );
    }
    if !explanation.left.is_empty() && failure.token.granularity > Granularity::Op {
        out.push_str(
            "    tokio's own `send` lets this happen where tasks run on several threads: it looks for the receiver, and then \
             puts what it\n      sends; CCT_GRANULARITY=op leaves it out\n",
        );
    }
}

/// Who waits for whom in a circle.
fn cycles(out: &mut String, explanation: &Explanation) {
    let cycles = &explanation.cycles;
    for cycle in cycles {
        let [only] = cycle[..] else {
            let names: Vec<String> = cycle
                .iter()
                .chain(cycle.first())
                .map(|&number| name(explanation, number))
                .collect();
            let _ = writeln!(out, "    CYCLE: task {}", names.join(" waits for task "));
            continue;
        };
        // Of a larger circle it is a part that says nothing more.
        if cycles
            .iter()
            .any(|other| other.len() > 1 && other.contains(&only))
        {
            continue;
        }
        let _ = write!(
            out,
            "    CYCLE: task {} waits for what it holds itself",
            name(explanation, only)
        );
        let behind = queues_behind(explanation, only);
        let _ = match behind {
            Some(writer) => writeln!(
                out,
                ": to read once more it queues behind task {}, which waits to write",
                writer.name
            ),
            None => writeln!(out),
        };
    }
}

fn name(explanation: &Explanation, number: u32) -> String {
    let story = explanation.tasks.iter().find(|story| story.task == number);
    story.map_or_else(|| number.to_string(), |story| story.name.clone())
}

/// Who waits to write what this task waits to read.
fn queues_behind(explanation: &Explanation, number: u32) -> Option<&TaskStory> {
    let mut tasks = explanation.tasks.iter();
    let story = tasks.clone().find(|story| story.task == number)?;
    let read = story.waits.iter().find(|wait| wait.op == "read")?;
    tasks.find(|other| {
        let mut waits = other.waits.iter();
        waits.any(|wait| wait.op == "write" && wait.resource == read.resource)
    })
}

/// What everybody waited for while nothing could go on, if somebody gave up in the end.
pub(super) fn standstill(out: &mut String, failure: &FailureReport) {
    let Some(standstill) = &failure.explanation.standstill else {
        return;
    };
    let _ = writeln!(
        out,
        "\n  after step {} nothing could go on for {:?}, until a timer woke task {}, which waited for something \
         else, too; tasks then:",
        standstill.step,
        Duration::from_millis(standstill.for_ns / 1_000_000),
        standstill.task
    );
    // Who sleeps, and who waits for the end of others, waits for what will come, if there is anybody else.
    let in_vain = |story: &&TaskStory| {
        let mut waits = story.waits.iter();
        story.waits.is_empty() || waits.any(|wait| !matches!(&*wait.op, "sleep" | "join"))
    };
    let mut stories: Vec<&TaskStory> = standstill.tasks.iter().filter(in_vain).collect();
    if stories.is_empty() {
        stories = standstill.tasks.iter().collect();
    }
    for story in stories.iter().take(FEW_TASKS) {
        task(out, story, true);
    }
    if stories.len() > FEW_TASKS {
        let _ = writeln!(out, "    ... and {} more", stories.len() - FEW_TASKS);
    }
}

fn task(out: &mut String, story: &TaskStory, brief: bool) {
    let state = match story.state {
        TaskState::Ready => "could run".to_owned(),
        TaskState::Suspended => format!("could run, in the middle of a poll: {}", story.last_op),
        TaskState::Waiting => "waits".to_owned(),
        TaskState::Paused => "could run, but its node is paused".to_owned(),
        TaskState::Undriven => {
            "could run, but nobody drives its `LocalSet` or its runtime: neither is awaited, and no `block_on` runs"
                .to_owned()
        }
        TaskState::Running => format!("was running; last operation: {}", story.last_op),
    };
    let _ = writeln!(
        out,
        "    task {} (spawned at {}): {state}",
        story.name, story.spawned_at
    );
    if story.waits.is_empty() && story.state == TaskState::Waiting {
        let who = match story.thread_wait {
            Some(how) => return thread_wait(out, story, how),
            None if story.unwakeable && story.waker_taken_at.is_none() => {
                "; its poll returned `Pending` and left its waker with nobody: nothing can wake it"
            }
            None if story.unwakeable => "; every waker of it is gone, and nothing can wake it",
            None => " (a waker of another crate)",
        };
        let _ = writeln!(
            out,
            "      for something cct does not know{who}; last operation: {}",
            story.last_op
        );
        let mut places = story.waker_taken_at.iter().flatten();
        if let Some(innermost) = places.next() {
            let _ = writeln!(out, "        its waker was last taken at {innermost}");
        }
        for place in places {
            let called = if place == "..." { "" } else { "called at " };
            let _ = writeln!(out, "          {called}{place}");
        }
    }
    for wait in &story.waits {
        let _ = writeln!(out, "      {}", wait_text(wait));
        if !brief {
            uses(out, wait);
        }
    }
}

/// What a task waits for as a thread does.
fn thread_wait(out: &mut String, story: &TaskStory, how: ThreadWait) {
    let how = match how {
        ThreadWait::Lock => {
            "where its thread would block:\n      \
             for a lock of `std` or of another crate, maybe, that a task holds which waits; or itself"
        }
        ThreadWait::Sleep => "where its thread sleeps",
        ThreadWait::Park => "where its thread would be parked until somebody unparks it",
        ThreadWait::Spin => {
            "where it spins with `std::thread::yield_now`:\n      \
             for a lock of another crate, maybe, that a task holds which waits"
        }
    };
    let place = match &story.thread_waits_at {
        Some(place) => format!("at {place}, "),
        None => format!("after {}, ", story.last_op),
    };
    let _ = writeln!(out, "      {place}in the middle of a poll, {how}");
}

/// Who is at the other end of a channel, or came after a task at the end of a stream or at a timer.
fn uses(out: &mut String, wait: &Wait) {
    let uses = wait.uses.as_deref();
    if uses.is_some_and(<[Use]>::is_empty) {
        out.push_str("        no other task has used its other end\n");
    }
    for used in uses.unwrap_or_default() {
        let _ = writeln!(out, "        last used by task {}", use_text(used));
    }
    if let Some(used) = &wait.overtaken {
        let _ = writeln!(
            out,
            "        the same was done later by task {}\n        (of tasks that poll one timer, receiver or \
             `JoinHandle`, or a stream for one thing, only the last is woken)",
            use_text(used)
        );
    }
}

fn use_text(used: &Use) -> String {
    let ended = if used.ended { ", which has ended" } else { "" };
    let site = used.site.as_ref().map(|site| format!(" at {site}"));
    format!(
        "{}{ended}: {}{} in step {}",
        used.task,
        used.op,
        site.unwrap_or_default(),
        used.step
    )
}

fn wait_text(wait: &Wait) -> String {
    let mut text = format!("{} at {}", wait.op, wait.site);
    if let Some(resource) = &wait.resource {
        let _ = write!(text, " for {resource}");
    }
    for holder in &wait.holders {
        if let Some(site) = &holder.site {
            let name = &holder.name;
            let _ = match holder.may_have_moved {
                true => write!(
                    text,
                    ", held by whoever has the guard that task {name} took at {site}"
                ),
                false => write!(text, ", held by task {name} since {site}"),
            };
        }
    }
    if let Some(state) = &wait.state {
        let _ = write!(text, ": {state}");
    }
    text
}
