//! What a replay tells about a failure: the steps, the tasks, who waits for whom.

use super::wait_graph::find_cycles;
use std::iter::successors;
use std::sync::Arc;

/// The whole story of one iteration.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Explanation {
    /// The steps, first to last.
    pub steps: Vec<Step>,
    /// How many of them are left out in the middle, as there was no room for so many.
    pub left_out: u64,
    /// The tasks that were alive at the end.
    pub tasks: Vec<TaskStory>,
    /// Tasks that wait for each other in a circle, by task number.
    pub cycles: Vec<Vec<u32>>,
    /// Channels with messages that nobody will receive, as they were sent while the receiver was dropped: how many,
    /// and which channel.
    pub left: Vec<(u64, String)>,
    /// What `tracing` and the program had to say.
    pub log: Vec<LogLine>,
    /// What networks, disks and other sources of actions looked like at the end, a line each.
    pub snapshot: Vec<String>,
    /// Hosts and other things outside of the world that were asked for, where nothing answers.
    pub outside: Vec<String>,
    /// Those of the machine's that a test is given which is run once.
    pub of_machine: Vec<String>,
    /// The task whose panic ended the iteration because nobody had asked for it.
    pub unheard: Option<String>,
    /// Other panics of tasks, in order: those that did not end the iteration.
    pub panics: Vec<EarlierPanic>,
    /// Wake-ups by wakers in the hands of other crates that came to nothing, in order.
    pub vain_wakes: Vec<VainWake>,
    /// How often a poll returned `Pending` before a read or write of a stream that could have gone on.
    pub gave_way: u64,
    /// The longest stretch of time, of a second at least, in which nothing could go on before a time limit
    /// was up.
    pub standstill: Option<Standstill>,
    /// How often nothing but a timer could happen.
    pub standstills: u64,
    /// When the last of the timers is due that were running at the end, in virtual nanoseconds; 0 if there were none.
    pub last_deadline_ns: u64,
    /// The step in which a clock was looked at last; 0 if none was.
    pub last_look: u64,
    /// The first poll that was suspended while it had set a thread-local, which others have set or may have seen.
    pub shared_locals: Option<SharedLocals>,
    /// How many threads the program has started.
    pub threads: u64,
    /// How many processes it has started.
    pub processes: u64,
    /// The rolling hash after each decision.
    pub hashes: Vec<u64>,
}

/// A stretch of time in which nothing could go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Standstill {
    /// The last step before it.
    pub step: u64,
    /// How long it was, in virtual nanoseconds.
    pub for_ns: u64,
    /// The task that a timer woke in the end, and that waited for something else as well.
    pub task: String,
    /// The tasks that were alive, and what each waited for.
    pub tasks: Vec<TaskStory>,
}

/// A poll that was suspended while it had set a thread-local.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SharedLocals {
    /// The task's name.
    pub task: String,
    /// What the others have to do with it.
    pub how: Sharing,
    /// `file:line` where it was suspended.
    pub site: String,
}

/// How tasks share a thread-local that one of them had set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sharing {
    /// They have set it, too.
    Changed {
        /// The step in which the one went on, and found that.
        step: u64,
    },
    /// A panic came while the one was suspended, so they may have seen it.
    Seen,
    /// They may see it, as the one is the closure of a blocking task, which on tokio has a thread of its own.
    OfClosure,
}

/// A panic of a task that did not end the iteration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EarlierPanic {
    /// The task's name.
    pub task: String,
    /// The step in which it panicked.
    pub step: u64,
    /// Place and message.
    pub said: String,
}

/// A wake-up of a task that was aborted, and dropped before it went on: whoever else waits for what it told of
/// does not learn of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VainWake {
    /// The task's name.
    pub task: String,
    /// The step in which it was woken.
    pub step: u64,
    /// The task that woke it, if one did.
    pub by: Option<String>,
}

/// What was said through `tracing`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogLine {
    /// The step in which it was said.
    pub step: u64,
    /// Its level.
    pub level: tracing::Level,
    /// Task, level, target, spans, fields.
    pub text: String,
}

/// One step. There may be a million of them: what their texts have in common they share.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// Its number.
    pub step: u64,
    /// Virtual nanoseconds since the world began.
    pub time_ns: u64,
    /// The node.
    pub node: u16,
    /// Its name; empty for the test itself.
    pub node_name: Arc<str>,
    /// Number and name of the task, unless it was a timer or a cancellation.
    pub task: Option<Arc<str>>,
    /// The operation and what it acts on.
    pub what: Arc<str>,
    /// `file:line` of the operation.
    pub site: Option<Arc<str>>,
    /// How many things could have happened instead, itself included.
    pub choices: u32,
    /// The task that ran before could have gone on; or a timer fired although a task was ready.
    pub preempts: bool,
}

impl Step {
    /// How [`what`](Self::what) ends for an operation that returned `Pending` whatever there was, as its poll had
    /// used up its budget.
    pub const NO_BUDGET: &'static str = ", no budget left";
    /// How [`what`](Self::what) ends for an operation that could not go on, and for which the task now waits.
    pub const WAITS: &'static str = ": waits";
    /// [`What`](Self::what) becomes of a task that was aborted.
    pub const DROPPED: &'static str = "drop (aborted)";
}

/// Whether a task could run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TaskState {
    /// It could run.
    Ready,
    /// It could run, and stands in the middle of a poll, before its last operation.
    Suspended,
    /// It waits.
    Waiting,
    /// It could run, but its node is paused.
    Paused,
    /// It could run, but nobody drives its `LocalSet`, or its runtime of one thread.
    Undriven,
    /// It ran, and what it did ended the iteration.
    Running,
}

/// How a thread would wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThreadWait {
    /// It would block, on a lock that cct does not know.
    Lock,
    /// It would be parked.
    Park,
    /// It would sleep.
    Sleep,
    /// It gives way to other threads over and over.
    Spin,
}

/// One task at the end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaskStory {
    /// Its number.
    pub task: u32,
    /// Number and name.
    pub name: String,
    /// `file:line` where it was spawned.
    pub spawned_at: String,
    /// Whether it could run.
    pub state: TaskState,
    /// It is a closure that may block.
    pub closure: bool,
    /// The last operation it announced.
    pub last_op: String,
    /// Others hold no wakers of it: they cannot wake it.
    pub unwakeable: bool,
    /// `file:line` where others took its waker last, and from where that was called, if they ever took it.
    pub waker_taken_at: Option<Vec<String>>,
    /// It waits in the middle of a poll, as a thread does.
    pub thread_wait: Option<ThreadWait>,
    /// `file:line` where it does so, if it is known.
    pub thread_waits_at: Option<String>,
    /// What it waits for.
    pub waits: Vec<Wait>,
    /// How often nothing but a timer could happen since its last step.
    pub standstills: u64,
}

/// One thing a task waits for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wait {
    /// The operation.
    pub op: String,
    /// The resource, and where it was made.
    pub resource: Option<String>,
    /// `file:line` of the operation.
    pub site: String,
    /// Who holds the resource.
    pub holders: Vec<Holder>,
    /// Nobody but the holders can end it, and who they are is certain: it is for a lock, or for a task's end.
    pub exclusive: bool,
    /// What the resource looks like.
    pub state: Option<String>,
    /// What other tasks did last at the other end of a channel, [`USES_MAX`](Self::USES_MAX) of them at most; `None`
    /// for what has no ends.
    pub uses: Option<Vec<Use>>,
    /// What another task did last of what this one waits to do with a stream, a receiver or a timer, after this one
    /// began to wait. Of those that poll, only the last is woken.
    pub overtaken: Option<Use>,
}

/// What a task did last with a resource.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Use {
    /// Number and name of the task.
    pub task: String,
    /// Whether the task has ended since.
    pub ended: bool,
    /// The operation.
    pub op: String,
    /// `file:line` of the operation, unless it was dropped there.
    pub site: Option<String>,
    /// The step.
    pub step: u64,
}

/// Somebody who holds a resource, or the task that is waited for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Holder {
    /// The task's number.
    pub task: Option<u32>,
    /// Number and name.
    pub name: String,
    /// `file:line` where it was acquired.
    pub site: Option<String>,
    /// Whether the task of this name may have given its guard to another, which holds it then: nobody knows who.
    pub may_have_moved: bool,
}

impl Wait {
    /// So many uses of the other end are told.
    pub const USES_MAX: usize = 3;
}

impl Explanation {
    /// Whoever the test waits for: its own task, the one whose end that one waits for and for nothing else, and so on.
    pub fn awaited(&self) -> impl Iterator<Item = &TaskStory> {
        let find = |task| self.tasks.iter().find(|story| story.task == task);
        let next = move |story: &&TaskStory| match &story.waits[..] {
            [wait] if wait.op == "join" && story.state == TaskState::Waiting => wait
                .holders
                .iter()
                .find_map(|holder| holder.task)
                .and_then(find),
            _ => None,
        };
        // A circle of tasks would be a deadlock.
        successors(find(0), next).take(self.tasks.len())
    }

    /// The tasks that wait for each other in circles, and for nothing else, by number: no message, no timer
    /// and no permit of others can set them free.
    pub fn stuck_together(&self) -> Vec<u32> {
        let is_bound = |task: &&TaskStory| matches!(&task.waits[..], [wait] if wait.exclusive);
        let bound: Vec<TaskStory> = self.tasks.iter().filter(is_bound).cloned().collect();
        let mut stuck = find_cycles(&bound).concat();
        stuck.sort_unstable();
        stuck.dedup();
        stuck
    }
}
