//! Rich detail, gathered only while a failing trace is replayed: exploring pays nothing for it.

use super::core::{Core, NONE, state};
use super::point::resource_task;
use crate::words::explanation::{
    EarlierPanic, Explanation, Holder, LogLine, Step, TaskState, TaskStory, ThreadWait, Use, Wait,
    find_cycles,
};
use crate::words::{Action, ActionKind, OpKind, ResourceKind};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::Location;

type Site = &'static Location<'static>;

/// Labels of choices that a report leaves out begin with it.
const UNTOLD: char = '~';

/// One thing an operation waits for.
#[derive(Clone, Copy)]
struct Blocked {
    kind: OpKind,
    resource: u32,
    site: Site,
}

/// Collects what an explanation needs.
#[derive(Default)]
pub(crate) struct Recorder {
    steps: Vec<RawStep>,
    /// The rolling hash after each decision, to find where two runs part.
    pub(crate) hashes: Vec<u64>,
    holders: BTreeMap<u32, Vec<(u32, Site)>>,
    blocked: BTreeMap<u32, Vec<Blocked>>,
    /// What resources look like.
    remarks: BTreeMap<u32, String>,
    log: Vec<LogLine>,
    snapshot: Vec<String>,
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
    /// Tasks that a timer has woken.
    timed: BTreeSet<u32>,
    /// A timer has woken what may have been any task.
    timed_others: bool,
    /// Of the poll that begins, until its first step.
    turn: Turn,
    /// Tasks of which others held wakers, and hold none any more.
    pub(crate) unwakeable: BTreeSet<u32>,
    /// Tasks that wait as threads do.
    pub(crate) thread_waits: BTreeMap<u32, ThreadWait>,
    /// Which steps used a resource; known when the iteration is over.
    uses: BTreeMap<u32, Vec<usize>>,
    /// The task in whose poll the iteration ended.
    stopped: Option<u32>,
    /// Of the last decision, until the step that it led to.
    choices: Option<u32>,
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
    choices: u32,
    preempts: bool,
    /// What became of a task that was picked other than for its pending operation.
    turn: Turn,
}

/// What a step does with its task.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
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
    /// A decision was taken, among so many choices.
    pub(crate) fn decision(&mut self, choices: u32, rolling: u64) {
        self.hashes.push(rolling);
        self.choices = Some(choices);
    }

    /// A task's poll begins: what it waited for is settled anew. `yielded`: it gave way before.
    pub(crate) fn begin_poll(&mut self, key: u32, yielded: bool, aborted: bool) {
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
        }
        self.steps.push(RawStep {
            step,
            time_ns,
            key,
            kind: action.op.kind,
            resource: action.op.resource,
            site: Some(action.op.site),
            value: None,
            note: None,
            choices,
            preempts,
            turn: std::mem::take(&mut self.turn),
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
        self.steps.push(RawStep {
            step,
            time_ns,
            key,
            kind: OpKind::User,
            resource: 0,
            site,
            value: Some((label, value)),
            note: None,
            choices,
            preempts: false,
            turn: Turn::Performs,
        });
    }

    pub(crate) fn blocked(&mut self, key: u32, kind: OpKind, resource: u32, site: Site) {
        self.blocked.entry(key).or_default().push(Blocked {
            kind,
            resource,
            site,
        });
    }

    pub(crate) fn acquired(&mut self, resource: u32, holder: u32, site: Site) {
        self.holders
            .entry(resource)
            .or_default()
            .push((holder, site));
    }

    pub(crate) fn released(&mut self, resource: u32, holder: u32) {
        if let Some(holders) = self.holders.get_mut(&resource) {
            let at = holders
                .iter()
                .position(|(task, _)| *task == holder)
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

    /// A panic that nobody asked for ends the iteration.
    pub(crate) fn unheard(&mut self, key: u32) {
        self.unheard = Some(key);
    }

    /// A task has panicked, which need not end the iteration.
    pub(crate) fn panicked(&mut self, key: u32, step: u64, said: String) {
        self.panics.push((key, step, said));
    }

    /// What sources have to say at the end.
    pub(crate) fn snapshot(&mut self, lines: Vec<String>) {
        self.snapshot.extend(lines);
    }

    pub(crate) fn log(&mut self, line: LogLine) {
        self.log.push(line);
    }
}

/// Whether what goes in at one end of such a resource comes out at another.
fn has_ends(kind: ResourceKind) -> bool {
    use ResourceKind::{Broadcast, Mpsc, Notify, Oneshot, Watch};
    matches!(kind, Mpsc | Oneshot | Watch | Broadcast | Notify)
}

/// Whether an operation may be one at the other end than that which waits. Handles of both are closed
/// and dropped.
fn may_be_other(waiting: OpKind, other: OpKind) -> bool {
    use OpKind::{Changed, Get, Notified, Notify, Recv, Reserve, Send, Set, TryRecv, TrySend};
    let goes_in = |kind| matches!(kind, Send | TrySend | Reserve | Set | Notify);
    let comes_out = |kind| matches!(kind, Recv | TryRecv | Changed | Notified | Get);
    !(goes_in(waiting) && goes_in(other) || comes_out(waiting) && comes_out(other))
}

/// `file:line`, as reports have it.
pub(crate) fn place(site: Site) -> String {
    format!("{}:{}", short(site.file()), site.line())
}

/// The path of a file; in a crate from a registry, from the crate's folder on, as the rest fills a line.
fn short(file: &str) -> &str {
    let in_registry = file.split_once("/registry/src/");
    let in_crate = in_registry.and_then(|(_, file)| file.split_once('/'));
    in_crate.map_or(file, |(_, file)| file)
}

impl Core {
    /// Notes that the running task is about to wait for a resource.
    #[cold]
    pub(crate) fn note_blocked(&mut self, key: u32, kind: OpKind, resource: u32, site: Site) {
        if let Some(recorder) = &mut self.recorder {
            recorder.blocked(key, kind, resource, site);
        }
    }

    /// Notes what a resource looks like.
    #[cold]
    pub(crate) fn note_remark(&mut self, resource: u32, text: String) {
        if let Some(recorder) = &mut self.recorder {
            recorder.remarks.insert(resource, text);
        }
    }

    /// Notes that the running poll returns before the operation that it has published.
    #[cold]
    pub(crate) fn note_deferred(&mut self, key: u32) {
        if let Some(recorder) = &mut self.recorder {
            recorder.published.insert(key);
        }
    }

    /// Notes that the running poll is to return before an operation that could go on.
    #[cold]
    pub(crate) fn note_gave_way(&mut self) {
        if let Some(recorder) = &mut self.recorder {
            recorder.gave_way += 1;
        }
    }

    /// Notes that an action is performed.
    #[cold]
    pub(crate) fn record_step(&mut self, key: u32) {
        let Some(recorder) = &mut self.recorder else {
            return;
        };
        let overtakes = recorder
            .last_to_go_on()
            .is_some_and(|last| self.actions[last as usize].position != Action::NOWHERE);
        recorder.step(
            self.point.step,
            self.point.time_ns,
            &self.actions[key as usize],
            overtakes,
        );
    }

    /// Notes that an action is performed on behalf of a task, if it is known which.
    pub(super) fn record_step_for(&mut self, action: u32, task: Option<u32>) {
        self.record_step(action);
        if self.recorder.is_none() {
            return;
        }
        if let Some(key) = task {
            let note = format!("for task {}", self.task_name(key));
            self.note(note);
        }
    }

    fn resource_name(&self, resource: u32) -> Option<String> {
        if let Some(key) = resource_task(resource) {
            return Some(format!("task {}", self.task_name(key)));
        }
        let entry = self
            .resources
            .get(resource as usize)
            .filter(|_| resource != 0)?;
        Some(format!(
            "{} {resource} made at {}",
            entry.kind,
            place(self.resource_sites[resource as usize])
        ))
    }

    fn short_resource_name(&self, resource: u32) -> String {
        match resource_task(resource) {
            Some(key) => format!("task {}", self.task_name(key)),
            None if resource == 0 => String::new(),
            None => format!("{} {resource}", self.resources[resource as usize].kind),
        }
    }

    /// Turns what was recorded into an explanation. Called when the iteration is over, before the
    /// world closes.
    pub(crate) fn explain(&mut self) -> Option<Explanation> {
        let mut recorder = self.recorder.take()?;
        for (index, step) in recorder.steps.iter().enumerate() {
            if step.turn == Turn::Performs {
                recorder.uses.entry(step.resource).or_default().push(index);
            }
        }
        let steps = recorder
            .steps
            .iter()
            .map(|raw| self.explain_step(raw))
            .collect();
        let tasks: Vec<_> = self
            .tasks
            .iter()
            .filter(|task| self.is_alive(task.key))
            .map(|task| self.explain_task(task.key, &recorder))
            .collect();
        let cycles = find_cycles(&tasks);
        let Recorder {
            hashes,
            log,
            snapshot,
            unheard,
            panics,
            gave_way,
            ..
        } = *recorder;
        let panics = panics
            .into_iter()
            .filter(|(key, ..)| Some(*key) != unheard)
            .map(|(key, step, said)| EarlierPanic {
                task: self.task_name(key),
                step,
                said,
            })
            .collect();
        Some(Explanation {
            steps,
            tasks,
            cycles,
            log,
            snapshot,
            unheard: unheard.map(|key| self.task_name(key)),
            panics,
            gave_way,
            hashes,
        })
    }

    fn explain_step(&self, raw: &RawStep) -> Step {
        let action = self.actions.get(raw.key as usize);
        let task = action
            .filter(|a| a.kind() == ActionKind::Run)
            .map(|a| self.task_name(a.key.0));
        let what = match (&raw.note, raw.value) {
            (Some(note), _) => format!("{} {note}", raw.kind),
            (None, Some(("choose", value))) => format!("choose = {value}"),
            (None, Some((label, value))) => format!("choose {label} = {value}"),
            (None, None) if raw.turn == Turn::Again => "poll again".to_owned(),
            (None, None) if raw.turn == Turn::Aborted => "drop (aborted)".to_owned(),
            (None, None) => format!("{} {}", raw.kind, self.short_resource_name(raw.resource)),
        };
        Step {
            step: raw.step,
            time_ns: raw.time_ns,
            node: action.map_or(0, |a| a.node.0),
            node_name: self.node_name(self.node_of(raw.key)).to_owned(),
            task,
            what: what.trim_end().to_owned(),
            site: raw.site.map(place),
            choices: raw.choices,
            preempts: raw.preempts,
        }
    }

    fn explain_task(&self, key: u32, recorder: &Recorder) -> TaskStory {
        let action = &self.actions[key as usize];
        let task = &self.tasks[action.subject as usize];
        let runs = action.state & (state::RUNNING | state::FROZEN) == state::RUNNING;
        let enabled = action.position != Action::NOWHERE || runs;
        let waits = recorder
            .blocked
            .get(&key)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let waits: Vec<Wait> = waits
            .iter()
            .map(|blocked| Wait {
                op: blocked.kind.name().to_owned(),
                resource: self.resource_name(blocked.resource),
                site: place(blocked.site),
                holders: self.explain_holders(blocked.resource, recorder),
                exclusive: self.is_exclusive(blocked.resource),
                state: recorder.remarks.get(&blocked.resource).cloned(),
                uses: self.explain_uses(key, blocked, recorder),
                overtaken: self.explain_overtaking(key, blocked, recorder),
            })
            .collect();
        TaskStory {
            task: action.subject,
            name: self.task_name(key),
            spawned_at: place(task.spawn_site),
            state: match enabled {
                _ if recorder.stopped == Some(key) => TaskState::Running,
                true if action.state & state::FROZEN != 0 => TaskState::Suspended,
                true => TaskState::Ready,
                false => TaskState::Waiting,
            },
            last_op: format!("{} at {}", action.op.kind, place(action.op.site)),
            unwakeable: recorder.unwakeable.contains(&key),
            thread_wait: recorder.thread_waits.get(&key).copied(),
            waits,
        }
    }

    /// Whether only who holds it can give it free.
    fn is_exclusive(&self, resource: u32) -> bool {
        let lock = |kind| matches!(kind, ResourceKind::Mutex | ResourceKind::RwLock);
        let entry = || self.resources.get(resource as usize);
        resource_task(resource).is_some()
            || resource != 0 && entry().is_some_and(|entry| lock(entry.kind))
    }

    /// What others did last at the other end of a channel.
    fn explain_uses(
        &self,
        waiting: u32,
        blocked: &Blocked,
        recorder: &Recorder,
    ) -> Option<Vec<Use>> {
        let resource = blocked.resource;
        let entry = self.resources.get(resource as usize);
        entry.filter(|entry| resource != 0 && has_ends(entry.kind))?;
        let mut users = BTreeSet::from([waiting]);
        let others = recorder
            .last_uses_of(resource)
            .filter(|step| may_be_other(blocked.kind, step.kind) && users.insert(step.key));
        Some(others.map(|step| self.explain_use(step)).collect())
    }

    /// Who did the same with a stream after this task had begun to wait.
    fn explain_overtaking(
        &self,
        waiting: u32,
        blocked: &Blocked,
        recorder: &Recorder,
    ) -> Option<Use> {
        let resource = blocked.resource;
        let entry = self.resources.get(resource as usize);
        let stream = matches!(blocked.kind, OpKind::Read | OpKind::Write | OpKind::Flush);
        entry.filter(|entry| stream && resource != 0 && entry.kind == ResourceKind::Socket)?;
        let mut uses = recorder.last_uses_of(resource);
        let last = uses.find(|step| step.kind == blocked.kind);
        let last = last.filter(|step| step.key != waiting);
        last.map(|step| self.explain_use(step))
    }

    fn explain_use(&self, step: &RawStep) -> Use {
        Use {
            task: self.task_name(step.key),
            ended: !self.is_alive(step.key),
            op: step.kind.name().to_owned(),
            // A handle is dropped where no code says so.
            site: step.site.filter(|_| step.kind != OpKind::Drop).map(place),
            step: step.step,
        }
    }

    fn explain_holders(&self, resource: u32, recorder: &Recorder) -> Vec<Holder> {
        if let Some(key) = resource_task(resource) {
            let subject = self.actions[key as usize].subject;
            return vec![Holder {
                task: Some(subject),
                name: self.task_name(key),
                site: None,
            }];
        }
        let holders = recorder
            .holders
            .get(&resource)
            .map(Vec::as_slice)
            .unwrap_or_default();
        holders
            .iter()
            .map(|&(key, site)| match key {
                NONE => Holder {
                    task: None,
                    name: "nobody".into(),
                    site: Some(place(site)),
                },
                key => Holder {
                    task: Some(self.actions[key as usize].subject),
                    name: self.task_name(key),
                    site: Some(place(site)),
                },
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn paths_into_a_registry_begin_at_the_crate() {
        let file = "/root/.cargo/registry/src/index.crates.io-1949/ractor-0.15.13/src/actor.rs";
        assert_eq!(short(file), "ractor-0.15.13/src/actor.rs");
        assert_eq!(short("src/registry/src/a.rs"), "src/registry/src/a.rs");
        assert_eq!(short("tests/it.rs"), "tests/it.rs");
    }
}
