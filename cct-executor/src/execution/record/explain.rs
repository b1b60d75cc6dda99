//! An explanation, made of what was recorded.

use super::texts::Texts;
use super::{AGAIN, Blocked, Held, RawStep, Recorder, TakenOver, Turn};
use crate::execution::core::{Core, NONE, state};
use crate::execution::paths::place;
use crate::execution::point::resource_task;
use crate::execution::stacks::{self, innermost, nearest};
use crate::execution::wakers::Wakers;
use crate::words::explanation::{
    EarlierPanic, Explanation, Holder, Step, TaskState, TaskStory, Use, Wait,
};
use crate::words::wait_graph::find_cycles;
use crate::words::{Action, ActionKind, OpKind, ResourceKind};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Steps at the end of an iteration whose stacks are made out...
const SHOWN: usize = 100;
/// ...and so many among which those are that a report may show besides.
const MAYBE_SHOWN: usize = 5_000;

/// Whether what goes in at one end of such a resource comes out at another.
fn has_ends(kind: ResourceKind) -> bool {
    use ResourceKind::{Broadcast, Mpsc, Notify, Oneshot, Watch};
    matches!(kind, Mpsc | Oneshot | Watch | Broadcast | Notify)
}

/// The end of a channel at which an operation takes place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    In,
    Out,
    /// Handles of both are closed and dropped.
    Either,
}

impl End {
    fn of(kind: OpKind) -> End {
        use OpKind::{
            Changed, Get, Notified, NotifyLast, NotifyOne, NotifyWaiters, Put, Recv, Reserve, Send,
            Set, TryRecv, TrySend,
        };
        match kind {
            Send | TrySend | Reserve | Put | Set => End::In,
            NotifyOne | NotifyLast | NotifyWaiters => End::In,
            Recv | TryRecv | Changed | Notified | Get => End::Out,
            _ => End::Either,
        }
    }

    /// Whether an operation at the one may be at the other end than one at the other.
    fn may_face(self, other: End) -> bool {
        self != other || self == End::Either
    }
}

/// What faces an end of a channel: the last step of each task there, the last one first. Thousands may wait at one.
type Facing<'a> = BTreeMap<(u32, End), Vec<&'a RawStep>>;

impl Core {
    pub(in crate::execution) fn resource_name(&self, resource: u32) -> Option<String> {
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

    pub(crate) fn short_resource_name(&self, resource: u32) -> String {
        match resource_task(resource) {
            Some(key) => format!("task {}", self.task_name(key)),
            None if resource == 0 => String::new(),
            None => format!("{} {resource}", self.resources[resource as usize].kind),
        }
    }

    /// Turns what was recorded into an explanation. Called when the iteration is over, before the
    /// world closes.
    pub(crate) fn explain(&mut self) -> Option<Explanation> {
        self.note_polled_in_vain();
        let recorder = self.recorder.take()?;
        let raw = &recorder.steps;
        // To make out a stack takes a while: of the many only those that a report is likely to show.
        let preempts = |at: usize| raw.get(at).is_some_and(|step| step.preempts);
        let switches = |at| preempts(at) || preempts(at + 1);
        let shown = |at| at + SHOWN >= raw.len() || at + MAYBE_SHOWN >= raw.len() && switches(at);
        let mut texts = Texts::default();
        let steps = raw.iter().enumerate();
        let steps = steps.map(|(at, raw)| {
            // Whoever watches sees that no poll takes so long.
            self.heartbeat.fetch_add(1, Ordering::Relaxed);
            self.explain_step(raw, shown(at), &mut texts)
        });
        let steps = steps.collect();
        let tasks = self.stories(&recorder);
        let cycles = find_cycles(&tasks);
        let left = recorder.left.iter().filter(|(_, count)| **count > 0);
        let left =
            left.filter_map(|(&resource, &count)| Some((count, self.resource_name(resource)?)));
        let left = left.collect();
        let vain_wakes = recorder.vain_wakes(self);
        let shared_locals = self.shared_locals(&recorder);
        let Recorder {
            hashes,
            left_out,
            log,
            snapshot,
            outside,
            of_machine,
            unheard,
            panics,
            gave_way,
            standstill,
            standstills,
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
            left_out,
            tasks,
            cycles,
            left,
            log,
            snapshot,
            outside,
            of_machine,
            unheard: unheard.map(|key| self.task_name(key)),
            panics,
            vain_wakes,
            gave_way,
            standstill,
            standstills,
            last_deadline_ns: self.timers.last_deadline_ns(),
            last_look: self.looks.last(),
            shared_locals,
            threads: self.helpers.started(),
            processes: self.helpers.processes(),
            hashes,
        })
    }

    /// Who is alive, and what each waits for.
    pub(in crate::execution) fn stories(&self, recorder: &Recorder) -> Vec<TaskStory> {
        let alive = self.tasks.iter().filter(|task| self.is_alive(task.key));
        let mut facing = Facing::new();
        alive
            .map(|task| self.explain_task(task.key, recorder, &mut facing))
            .collect()
    }

    /// Of the package whose test this is, as the compiler names it.
    fn folder(&self) -> String {
        let main = self.tasks.first();
        main.map_or_else(String::new, |main| stacks::folder(main.spawn_site.file()))
    }

    /// Where a step was taken. A stack is made out on request.
    fn site_of(&self, step: &RawStep, in_full: bool) -> Option<String> {
        let Some(stack) = &step.stack else {
            return step.site.map(place);
        };
        let stack = in_full.then_some(stack);
        if step.resource == 0 && step.turn != Turn::Again {
            let found = stack.and_then(|stack| innermost(stack, &self.folder()));
            // An atomic operation has no place of its own, but that of the operation before.
            let known = step.site.filter(|_| step.kind != OpKind::Atomic);
            return found.or(known.map(place));
        }
        let nearest = stack.and_then(|stack| nearest(stack, &self.folder()));
        nearest.or(step.site.map(place))
    }

    /// When a task's timer is due, if it has one.
    fn sleeps_until(&self, key: u32) -> Option<String> {
        let mut deadlines = self.timers.deadlines_of(key);
        let first = deadlines.next()?;
        let only = deadlines.next().is_none();
        only.then(|| format!("until {:?}", Duration::from_nanos(first)))
    }

    fn explain_step(&self, raw: &RawStep, shown: bool, texts: &mut Texts) -> Step {
        let action = self.actions.get(raw.key as usize);
        let task = action
            .filter(|a| a.kind() == ActionKind::Run)
            .map(|a| texts.task(self, a.key.0));
        let site = match raw.stack {
            Some(_) => self.site_of(raw, shown).map(Arc::from),
            None => raw.site.map(|site| texts.site(site)),
        };
        Step {
            step: raw.step,
            time_ns: raw.time_ns,
            node: action.map_or(0, |a| a.node.0),
            node_name: texts.node(self, self.node_of(raw.key)),
            task,
            what: texts.operation(self, raw),
            site,
            choices: raw.choices,
            preempts: raw.preempts,
        }
    }

    /// What an operation does.
    pub(super) fn operation(&self, raw: &RawStep) -> String {
        let what = match (&raw.note, raw.value) {
            (Some(note), _) => format!("{} {note}", raw.kind),
            (None, Some(("choose", value))) => format!("choose = {value}"),
            (None, Some((label, value))) => format!("choose {label} = {value}"),
            (None, None) if raw.turn == Turn::Again => AGAIN.to_owned(),
            (None, None) if raw.turn == Turn::Aborted => Step::DROPPED.to_owned(),
            (None, None) => format!("{} {}", raw.kind, self.short_resource_name(raw.resource)),
        };
        let mut what = what.trim_end().to_owned();
        if let Some(outcome) = &raw.outcome {
            what.push_str(": ");
            what.push_str(outcome);
        } else if raw.waits {
            what.push_str(Step::WAITS);
        }
        if raw.no_budget {
            what.push_str(Step::NO_BUDGET);
        }
        what
    }

    fn explain_task<'a>(
        &self,
        key: u32,
        recorder: &'a Recorder,
        facing: &mut Facing<'a>,
    ) -> TaskStory {
        let action = &self.actions[key as usize];
        let task = &self.tasks[action.subject as usize];
        let runs = action.state & (state::RUNNING | state::FROZEN) == state::RUNNING;
        let hidden = action.position == Action::NOWHERE && action.state & state::HIDDEN != 0;
        let undriven = task.group != NONE && self.groups[task.group as usize].driver == NONE;
        let enabled = action.position != Action::NOWHERE || runs || hidden || self.is_resting(key);
        let waits = recorder
            .blocked
            .get(&key)
            .map(Vec::as_slice)
            .unwrap_or_default();
        // Whoever has a waker may wake it for what is not known here: what cct waits for itself needs none.
        let wakers = recorder.wakers.as_ref();
        let only_these = wakers.is_none_or(|wakers| wakers.none_of(key));
        let waits: Vec<Wait> = waits
            .iter()
            .map(|blocked| Wait {
                op: blocked.kind.name().to_owned(),
                resource: self.resource_name(blocked.resource),
                site: recorder
                    .last_uses_of(blocked.resource)
                    .find(|step| (step.key, step.kind) == (key, blocked.kind))
                    .filter(|step| step.stack.is_some())
                    .and_then(|step| self.site_of(step, true))
                    .unwrap_or_else(|| place(blocked.site)),
                holders: self.explain_holders(blocked.resource, recorder),
                exclusive: only_these
                    && self.is_exclusive(blocked.resource)
                    && !recorder
                        .held(blocked.resource)
                        .any(|held| held.movable.is_some()),
                state: match blocked.kind {
                    OpKind::Sleep => self.sleeps_until(key),
                    OpKind::Join => resource_task(blocked.resource)
                        .filter(|&joined| !self.is_alive(joined))
                        .map(|_| "it has ended".to_owned()),
                    _ => recorder.remarks.get(&blocked.resource).cloned(),
                },
                uses: self.explain_uses(key, blocked, recorder, facing),
                overtaken: self.explain_overtaking(key, blocked, recorder),
            })
            .collect();
        let thread_wait = recorder.thread_waits.get(&key);
        // Who waits for what is known needs no other clue, and to make one out takes a while.
        let unknown = !enabled && waits.is_empty() && thread_wait.is_none();
        let wakers = recorder.wakers.as_ref().filter(|_| unknown);
        let taken_at = |wakers: &Wakers| {
            wakers
                .ever_taken(key)
                .then(|| wakers.taken_at(key, &self.folder()))
        };
        TaskStory {
            task: action.subject,
            name: self.task_name(key),
            spawned_at: place(task.spawn_site),
            state: match enabled {
                _ if recorder.stopped == Some(key) => TaskState::Running,
                true if hidden && self.is_held(key) => TaskState::Paused,
                true if hidden && undriven => TaskState::Undriven,
                true if action.state & state::FROZEN != 0 => TaskState::Suspended,
                true => TaskState::Ready,
                false => TaskState::Waiting,
            },
            closure: task.blocking,
            last_op: format!("{} at {}", action.op.kind, place(action.op.site)),
            unwakeable: wakers.is_some_and(|wakers| wakers.none_of(key)),
            waker_taken_at: wakers.map_or_else(|| Some(Vec::new()), taken_at),
            thread_wait: thread_wait.map(|&(how, _)| how),
            thread_waits_at: self.waits_as_thread_at(key, recorder),
            waits,
            standstills: recorder.standstills
                - recorder.standstills_before.get(&key).copied().unwrap_or(0),
        }
    }

    /// Where a task waits as a thread does, if it is known.
    pub(in crate::execution) fn waits_as_thread_at(
        &self,
        key: u32,
        recorder: &Recorder,
    ) -> Option<String> {
        let (_, stack) = recorder.thread_waits.get(&key)?;
        innermost(stack.as_ref()?, &self.folder())
    }

    /// Whether only who holds it can give it free.
    fn is_exclusive(&self, resource: u32) -> bool {
        let lock = |kind| matches!(kind, ResourceKind::Mutex | ResourceKind::RwLock);
        let entry = || self.resources.get(resource as usize);
        resource_task(resource).is_some()
            || resource != 0 && entry().is_some_and(|entry| lock(entry.kind))
    }

    /// What others did last at the other end of a channel.
    fn explain_uses<'a>(
        &self,
        waiting: u32,
        blocked: &Blocked,
        recorder: &'a Recorder,
        facing: &mut Facing<'a>,
    ) -> Option<Vec<Use>> {
        let resource = blocked.resource;
        let entry = self.resources.get(resource as usize);
        let entry = entry.filter(|entry| resource != 0 && has_ends(entry.kind))?;
        let end = End::of(blocked.kind);
        // Who goes on has done something before, and a future that is no longer notified is no end of anything.
        let is_use = |step: &RawStep| match step.kind {
            OpKind::Resume => false,
            OpKind::Drop => entry.kind != ResourceKind::Notify,
            _ => true,
        };
        let facing = facing.entry((resource, end)).or_insert_with(|| {
            let mut users = BTreeSet::new();
            recorder
                .last_uses_of(resource)
                .filter(|step| is_use(step) && end.may_face(End::of(step.kind)))
                .filter(|step| users.insert(step.key))
                .collect()
        });
        let others = facing.iter().filter(|step| step.key != waiting);
        let last = others.take(Wait::USES_MAX);
        Some(last.map(|step| self.explain_use(step)).collect())
    }

    /// Who did the same with a stream, a receiver or a timer after this task had begun to wait.
    fn explain_overtaking(
        &self,
        waiting: u32,
        blocked: &Blocked,
        recorder: &Recorder,
    ) -> Option<Use> {
        let resource = blocked.resource;
        if blocked.kind == OpKind::Sleep {
            let of_it = |over: &&TakenOver| over.from == waiting && over.site == blocked.site;
            let over = recorder.taken_over.iter().find(of_it)?;
            return Some(Use {
                task: self.task_name(over.by),
                ended: !self.is_alive(over.by),
                op: blocked.kind.name().to_owned(),
                site: Some(place(over.site)),
                step: over.step,
            });
        }
        let kind = match resource_task(resource) {
            Some(_) => ResourceKind::Task,
            None => {
                let entry = self.resources.get(resource as usize);
                entry.filter(|_| resource != 0)?.kind
            }
        };
        // Whoever waits at a receiver, or for a task, leaves a waker in the place of the one that was there.
        if matches!(
            kind,
            ResourceKind::Mpsc | ResourceKind::Oneshot | ResourceKind::Task
        ) {
            let last = recorder.waited_last.get(&(resource, blocked.kind))?;
            return (last.key != waiting).then(|| Use {
                task: self.task_name(last.key),
                ended: !self.is_alive(last.key),
                op: blocked.kind.name().to_owned(),
                site: Some(place(last.site)),
                step: last.step,
            });
        }
        let stream = matches!(blocked.kind, OpKind::Read | OpKind::Write | OpKind::Flush);
        if !stream || kind != ResourceKind::Socket {
            return None;
        }
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
            site: self
                .site_of(step, true)
                .filter(|_| step.kind != OpKind::Drop),
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
                may_have_moved: false,
            }];
        }
        let holders = recorder.held(resource);
        holders
            .map(|held| match held.key {
                NONE => Holder {
                    task: None,
                    name: "nobody".into(),
                    site: Some(place(held.site)),
                    may_have_moved: false,
                },
                key => {
                    let subject = self.actions[key as usize].subject;
                    let gone = !self.is_alive(held.key);
                    let moved = recorder.may_have_moved(held) || held.movable.is_some() && gone;
                    Holder {
                        task: (!moved).then_some(subject),
                        name: self.task_name(key),
                        site: Some(place(held.site)),
                        may_have_moved: moved,
                    }
                }
            })
            .collect()
    }
}

impl Recorder {
    fn held(&self, resource: u32) -> impl Iterator<Item = &Held> {
        self.holders.get(&resource).into_iter().flatten()
    }

    /// Whether a task may have given away what it holds so: it has spawned or sent something since, or that is not known.
    fn may_have_moved(&self, held: &Held) -> bool {
        let Some(since) = held.movable else {
            return false;
        };
        let sends = |step: &RawStep| step.key == held.key && step.kind == OpKind::Send;
        let last_spawn = self.last_spawn.get(&held.key);
        last_spawn.is_some_and(|&last| last > since.spawns)
            || self.left_out > 0
            || self.steps.iter().skip(since.steps).any(sends)
    }
}
