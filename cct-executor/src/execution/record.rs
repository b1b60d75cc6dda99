//! Rich detail, gathered only while a failing trace is replayed: exploring pays nothing for it.

mod again;
mod explain;
mod notes;
mod room;
mod texts;
mod vain;

use super::locals::KnownLocals;
use super::wakers::Wakers;
use super::world::WORLD;
use crate::words::explanation::{LogLine, Standstill, ThreadWait};
use crate::words::{Action, ActionKind, OpKind};
use std::backtrace::Backtrace;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::Location;
use std::rc::Rc;
use vain::VainWakes;

type Site = &'static Location<'static>;

/// Labels of choices that a report leaves out begin with it.
const UNTOLD: char = '~';

/// One thing an operation waits for.
#[derive(Clone, Copy, PartialEq)]
struct Blocked {
    kind: OpKind,
    resource: u32,
    site: Site,
}

/// That somebody holds a resource.
#[derive(Clone, Copy)]
struct Held {
    key: u32,
    site: Site,
    /// By a value that may be given to another task, since then.
    movable: Option<Since>,
}

/// A moment, by how many steps were recorded and tasks spawned by then.
#[derive(Clone, Copy)]
struct Since {
    steps: usize,
    spawns: u64,
}

/// A task that waits, and since when.
#[derive(Clone, Copy)]
struct Waiter {
    key: u32,
    site: Site,
    step: u64,
}

/// A timer that one task waited for, and another polled later: it wakes the latter alone.
#[derive(Clone, Copy)]
struct TakenOver {
    from: u32,
    by: u32,
    site: Site,
    step: u64,
}

/// What is recorded of an iteration beside its decisions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Detail {
    Nothing,
    /// All that an outcome can be judged by.
    Story,
    /// For a reader: also the stacks in which wakers were taken.
    Stacks,
}

/// Collects what an explanation needs.
#[derive(Default)]
pub(crate) struct Recorder {
    steps: Vec<RawStep>,
    /// How many steps there was no room for.
    left_out: u64,
    /// The rolling hash after each decision, to find where two runs part.
    pub(crate) hashes: Vec<u64>,
    holders: BTreeMap<u32, Vec<Held>>,
    /// How many tasks were spawned, and which was the last one that a task has.
    spawns: u64,
    last_spawn: BTreeMap<u32, u64>,
    blocked: BTreeMap<u32, Vec<Blocked>>,
    /// Who began to wait last for a resource, to do this.
    waited_last: BTreeMap<(u32, OpKind), Waiter>,
    /// What resources look like.
    remarks: BTreeMap<u32, String>,
    /// What lies in resources and will never be taken out.
    left: BTreeMap<u32, u64>,
    log: Vec<LogLine>,
    snapshot: Vec<String>,
    outside: Vec<String>,
    of_machine: Vec<String>,
    /// The task whose panic ended the iteration because nobody had asked for it.
    unheard: Option<u32>,
    /// Panics that a join handle could still tell of: task, step and what it said.
    panics: Vec<(u32, u64, String)>,
    last: Option<u32>,
    /// Tasks that have begun.
    polled: BTreeSet<u32>,
    /// Tasks whose poll returned before the operation that they have published.
    published: BTreeSet<u32>,
    /// Polls that returned `Pending` before an operation that could have gone on.
    gave_way: u64,
    /// Tasks that waited for a timer which another one has polled since, and when.
    taken_over: Vec<TakenOver>,
    /// Tasks that a timer has woken.
    timed: BTreeSet<u32>,
    /// A timer has woken what may have been any task.
    timed_others: bool,
    /// Tasks with a time limit, which has not struck, for something that they waited for when they were polled last.
    limited: BTreeSet<u32>,
    vain_wakes: VainWakes,
    /// Of the poll that begins, until its first step.
    turn: Turn,
    /// Where its task left the waker that has woken it, or the last one before.
    left_at: Option<Rc<Backtrace>>,
    /// Who holds wakers of tasks, when that is over.
    pub(crate) wakers: Option<Wakers>,
    /// Tasks that wait as threads do.
    pub(crate) thread_waits: BTreeMap<u32, (ThreadWait, Option<Backtrace>)>,
    /// Which steps used a resource.
    uses: BTreeMap<u32, Vec<usize>>,
    /// The task in whose poll the iteration ended.
    stopped: Option<u32>,
    /// Of the last decision, until the step that it led to.
    choices: Option<u32>,
    /// The longest stretch of time in which nothing could go on.
    pub(super) standstill: Option<Standstill>,
    /// How often nothing but a timer could happen: in all, and before each task's last step.
    pub(super) standstills: u64,
    standstills_before: BTreeMap<u32, u64>,
    /// What is seen of thread-locals, if they are looked at: to copy them takes longer than most polls.
    pub(super) locals: Option<Box<KnownLocals>>,
}

struct RawStep {
    step: u64,
    time_ns: u64,
    key: u32,
    kind: OpKind,
    resource: u32,
    site: Option<Site>,
    value: Option<(&'static str, u32)>,
    /// What the action's source says of it.
    note: Option<String>,
    /// What came of it, if not what one expects.
    outcome: Option<String>,
    /// Where it was taken, where its operation knows no place, or none but that of its resource; of a poll for what
    /// cct does not know, where that was waited for.
    stack: Option<Rc<Backtrace>>,
    choices: u32,
    preempts: bool,
    /// What became of a task that was picked other than for its pending operation.
    turn: Turn,
    /// It was told `Pending`, whatever there was.
    no_budget: bool,
    /// It could not go on, and its task waits for it.
    waits: bool,
}

/// What a step does with its task.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum Turn {
    /// It performs the operation that it has published.
    #[default]
    Performs,
    /// It waited for nothing that cct knows of: the operation is an old one.
    Again,
    /// It is dropped.
    Aborted,
}

impl Recorder {
    /// For an iteration of which so much is recorded.
    pub(crate) fn noting(detail: Detail) -> Recorder {
        Recorder {
            locals: (detail == Detail::Stacks).then(Box::default),
            ..Recorder::default()
        }
    }

    /// A decision was taken, among so many choices.
    pub(crate) fn decision(&mut self, choices: u32, rolling: u64) {
        self.hashes.push(rolling);
        self.choices = Some(choices);
    }

    /// A task's poll begins: what it waited for is settled anew. `yielded`: it gave way before.
    pub(crate) fn begin_poll(&mut self, key: u32, yielded: bool, aborted: bool) {
        self.vain_wakes.begin_poll(key, aborted);
        self.limited.remove(&key);
        let timed = self.timed.remove(&key) || self.timed_others;
        let waited = self.blocked.remove(&key).is_some_and(|waits| {
            // No deadline was reached: it also waits for something of another crate, which woke it.
            timed || waits.iter().any(|wait| wait.kind != OpKind::Sleep)
        });
        let published = self.published.remove(&key) || self.polled.insert(key);
        self.turn = match (aborted, published || waited || yielded) {
            (true, _) => Turn::Aborted,
            (false, true) => Turn::Performs,
            (false, false) => Turn::Again,
        };
        self.left_at = (self.turn == Turn::Again)
            .then(|| WORLD.with(|world| world.wakers.borrow().stack_of(key)))
            .flatten();
    }

    /// The steps that used a resource, the last one first.
    fn last_uses_of(&self, resource: u32) -> impl Iterator<Item = &RawStep> {
        let uses = self.uses.get(&resource).into_iter().flatten().rev();
        uses.map(|&index| &self.steps[index])
    }

    /// A timer fires, and wakes this task, or somebody of whom nothing is known.
    pub(crate) fn timer_wakes(&mut self, task: Option<u32>) {
        match task {
            Some(key) => {
                self.timed.insert(key);
            }
            None => self.timed_others = true,
        }
    }

    /// Whether the task waits for the end of a time and for something else: that cct knows, or within a time limit.
    pub(super) fn waits_not_only_for_time(&self, key: u32) -> bool {
        let waits = self.blocked.get(&key).map_or(&[][..], |waits| &waits[..]);
        let sleeps = waits.iter().filter(|wait| wait.kind == OpKind::Sleep);
        let sleeps = sleeps.count();
        sleeps < waits.len() || sleeps == 1 && self.limited.contains(&key)
    }

    /// The task waits for something for no longer than a time.
    fn limited(&mut self, key: u32) {
        self.limited.insert(key);
    }

    /// What a task waited for in the middle of a poll has come.
    pub(crate) fn unblocked(&mut self, key: u32) {
        self.blocked.remove(&key);
    }

    /// The task that ran last, unless it waits for something that cct knows.
    pub(crate) fn last_to_go_on(&self) -> Option<u32> {
        self.last.filter(|last| !self.blocked.contains_key(last))
    }

    /// A step is taken. `overtakes`: the task of [`last_to_go_on`](Self::last_to_go_on) is enabled.
    pub(crate) fn step(&mut self, step: u64, time_ns: u64, action: &Action, overtakes: bool) {
        let choices = self.choices.take().unwrap_or(1);
        let key = action.key.0;
        let preempts = action.kind() == ActionKind::Run
            && choices > 1
            && overtakes
            && self.last_to_go_on().is_some_and(|last| last != key);
        if action.kind() == ActionKind::Run {
            self.last = Some(key);
            self.standstills_before.insert(key, self.standstills);
        }
        let turn = std::mem::take(&mut self.turn);
        let stack = self.left_at.take();
        self.push(RawStep {
            step,
            time_ns,
            key,
            kind: action.op.kind,
            resource: action.op.resource,
            site: Some(action.op.site),
            value: None,
            note: None,
            outcome: None,
            stack,
            choices,
            preempts,
            turn,
            no_budget: false,
            waits: false,
        });
    }

    /// The step just taken happened although a task was ready, as a timer's may.
    pub(crate) fn overtakes_work(&mut self) {
        if let Some(step) = self.steps.last_mut() {
            step.preempts = true;
        }
    }

    pub(crate) fn value(
        &mut self,
        step: u64,
        time_ns: u64,
        key: u32,
        (label, value): (&'static str, u32),
        site: Option<Site>,
    ) {
        let choices = self.choices.take().unwrap_or(1);
        if label.starts_with(UNTOLD) {
            return;
        }
        self.push(RawStep {
            step,
            time_ns,
            key,
            kind: OpKind::User,
            resource: 0,
            site,
            value: Some((label, value)),
            note: None,
            outcome: None,
            stack: None,
            choices,
            preempts: false,
            turn: Turn::Performs,
            no_budget: false,
            waits: false,
        });
    }

    pub(crate) fn blocked(&mut self, key: u32, kind: OpKind, resource: u32, site: Site) {
        let step = self.steps.last().map_or(0, |step| step.step);
        let waiter = Waiter { key, site, step };
        self.waited_last.insert((resource, kind), waiter);
        let wait = Blocked {
            kind,
            resource,
            site,
        };
        if let Some(step) = self.steps.last_mut() {
            let of = (step.turn, step.key, step.kind, step.resource);
            step.waits |= of == (Turn::Performs, key, kind, resource);
        }
        let waits = self.blocked.entry(key).or_default();
        // A poll may look at one thing several times, as a loop around a `select!` does.
        if !waits.contains(&wait) {
            waits.push(wait);
        }
    }

    /// What tasks wait for, and where.
    pub(crate) fn all_waits(&self) -> impl Iterator<Item = (OpKind, Site)> {
        let waits = self.blocked.values().flatten();
        waits.map(|wait| (wait.kind, wait.site))
    }

    /// What a task waited for with a future that is dropped now.
    fn gave_up(&mut self, key: u32, wait: Blocked) {
        if let Some(waits) = self.blocked.get_mut(&key) {
            waits.retain(|other| *other != wait);
            if waits.is_empty() {
                self.blocked.remove(&key);
            }
        }
    }

    /// A timer that one task waits for is polled by another.
    fn taken_over(&mut self, new: TakenOver) {
        self.taken_over
            .retain(|old| old.site != new.site || (old.from != new.from && old.from != new.by));
        self.taken_over.push(new);
    }

    /// A timer is dropped, and nobody waits for it any more.
    fn timer_gone(&mut self, key: u32, site: Site) {
        let wait = Blocked {
            kind: OpKind::Sleep,
            resource: 0,
            site,
        };
        self.gave_up(key, wait);
    }

    pub(crate) fn acquired(&mut self, resource: u32, holder: u32, site: Site) {
        self.holders.entry(resource).or_default().push(Held {
            key: holder,
            site,
            movable: None,
        });
    }

    /// A task has spawned another.
    pub(crate) fn spawned(&mut self, parent: u32) {
        self.spawns += 1;
        self.last_spawn.insert(parent, self.spawns);
    }

    /// What this task has acquired last of the resource it may give to another task.
    pub(crate) fn movable(&mut self, resource: u32, holder: u32) {
        let (steps, spawns) = (self.steps.len(), self.spawns);
        let holders = self.holders.get_mut(&resource).into_iter().flatten();
        let mut of_it = holders.rev().filter(|held| held.key == holder);
        if let Some(held) = of_it.next() {
            held.movable = Some(Since { steps, spawns });
        }
    }

    pub(crate) fn released(&mut self, resource: u32, holder: u32) {
        if let Some(holders) = self.holders.get_mut(&resource) {
            let at = holders
                .iter()
                .position(|held| held.key == holder)
                .unwrap_or(0);
            if at < holders.len() {
                holders.remove(at);
            }
        }
    }

    pub(crate) fn exited(&mut self, key: u32) {
        self.blocked.remove(&key);
        if self.last == Some(key) {
            self.last = None;
        }
    }

    /// The iteration is over, in the middle of this task's poll.
    pub(crate) fn stopped(&mut self, key: u32) {
        self.stopped = Some(key);
    }

    /// Says more about the last step.
    pub(crate) fn note(&mut self, note: String) {
        if let Some(step) = self.steps.last_mut() {
            step.note = Some(note);
        }
    }

    /// The last step was taken here.
    pub(super) fn taken_at(&mut self, stack: Option<Backtrace>) {
        if let Some(step) = self.steps.last_mut() {
            step.stack = stack.map(Rc::new);
        }
    }

    /// A task has waited as a thread does, and goes on with the last step.
    pub(super) fn waited_as_thread(&mut self, key: u32, stack: Option<Backtrace>) {
        let told = self.thread_waits.remove(&key);
        let stack = stack.or(told.and_then(|(_, stack)| stack));
        let waited = |step: &&mut RawStep| {
            step.key == key && matches!(step.kind, OpKind::Block | OpKind::Yield)
        };
        if let Some(step) = self.steps.last_mut().filter(waited) {
            step.stack = stack.map(Rc::new);
        }
    }

    /// The last step was taken here, if it is this task's on this resource.
    pub(super) fn called_from(&mut self, key: u32, resource: u32, stack: Option<Backtrace>) {
        let step = self.steps.last();
        if step.is_some_and(|step| (step.key, step.resource) == (key, resource)) {
            self.taken_at(stack);
        }
    }

    /// Says of the last step that it has no budget, if it is this task's.
    fn no_budget(&mut self, key: u32) {
        if let Some(step) = self.steps.last_mut().filter(|step| step.key == key) {
            step.no_budget = true;
        }
    }

    /// A panic that nobody asked for ends the iteration.
    pub(crate) fn unheard(&mut self, key: u32) {
        self.unheard = Some(key);
    }

    /// A task has panicked, which need not end the iteration.
    pub(crate) fn panicked(&mut self, key: u32, step: u64, said: String) {
        self.panics.push((key, step, said));
    }

    /// What sources have to say at the end.
    pub(crate) fn snapshot(&mut self, lines: Vec<String>, outside: Vec<String>) {
        self.snapshot.extend(lines);
        self.outside.extend(outside);
    }

    /// Something of the machine's was refused that a test is given which is run once.
    pub(crate) fn refused_machine(&mut self, what: String) {
        if !self.of_machine.contains(&what) {
            self.of_machine.push(what);
        }
    }

    pub(crate) fn log(&mut self, line: LogLine) {
        self.log.push(line);
    }
}

/// What a task does that waited for something of another crate, as reports have it.
pub(crate) const AGAIN: &str = "poll again";
