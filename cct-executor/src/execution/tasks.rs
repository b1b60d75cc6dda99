//! The task table: spawning, polling bookkeeping, ending.

use super::core::{Core, NONE, state};
use super::decider::Decider;
use super::nodes::NodeState;
use super::step::{Begun, Lent};
use crate::raw::task::Body;
use crate::words::action::Sort;
use crate::words::fingerprint::{mix, mix2};
use crate::words::{
    Access, Action, ActionId, ActionKey, ActionKind, FailureKind, Limit, NodeId, Op, OpKind,
    StepEvent,
};
use std::any::Any;
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::rc::Rc;

/// A value of a `task_local!`, by the address of its key.
pub(crate) struct Local {
    pub(crate) key: usize,
    pub(crate) value: Rc<dyn Any>,
}

/// What is known of a task besides its action. Just as large as a cache line, and aligned so that it
/// is one.
#[repr(align(64))]
pub(crate) struct Task {
    /// Absent while the task is polled and after its end.
    pub(crate) body: Option<Body>,
    /// Data pointer of its waker; only compared.
    pub(crate) waker: *const (),
    pub(crate) key: u32,
    pub(crate) group: u32,
    /// How many tasks, timers and resources it has made: the last part of their identity.
    pub(crate) made: u32,
    pub(crate) spawn_site: &'static Location<'static>,
    /// What most tasks have nothing of.
    rare: Option<Box<Rare>>,
    /// Runs a blocking closure.
    pub(crate) blocking: bool,
    /// The runtime it belongs to; 0 is the world itself.
    pub(crate) runtime: u16,
}

#[derive(Default)]
struct Rare {
    name: Option<Rc<str>>,
    locals: Vec<Local>,
}

impl Rare {
    fn named(name: Rc<str>) -> Box<Self> {
        Box::new(Rare {
            name: Some(name),
            locals: Vec::new(),
        })
    }
}

impl Task {
    pub(super) fn name(&self) -> Option<&str> {
        self.rare.as_ref()?.name.as_deref()
    }

    /// The values of its `task_local!`s.
    pub(crate) fn locals(&mut self) -> &mut Vec<Local> {
        &mut self.rare.get_or_insert_default().locals
    }

    pub(super) fn take_locals(&mut self) -> Option<Vec<Local>> {
        let rare = self.rare.as_mut()?;
        Some(std::mem::take(&mut rare.locals))
    }
}

const _: () = assert!(size_of::<Task>() == 64, "a task is one cache line");

/// How a task is spawned.
pub(crate) struct Spawn {
    pub(crate) site: &'static Location<'static>,
    pub(crate) name: Option<Rc<str>>,
    /// Affinity group, or [`NONE`].
    pub(crate) group: u32,
    pub(crate) blocking: bool,
    /// Where it lives; where its spawner does, if `None`.
    pub(crate) node: Option<NodeId>,
    /// The runtime it belongs to; where its spawner is, if `None`.
    pub(crate) runtime: Option<u16>,
}

impl Core {
    /// A new identity for something that the running task makes.
    pub(crate) fn new_id(&mut self, maker: u32, tag: u64) -> ActionId {
        if maker == NONE {
            return self.new_id_outside(tag);
        }
        let id = self.actions[maker as usize].id.0;
        let task = self.task(maker);
        task.made += 1;
        let made = task.made;
        ActionId(mix2(id ^ tag, u64::from(made)))
    }

    /// A new identity for something that no task makes, or that should not be known by who makes it.
    /// It counts what has the same origin, and nothing else: what happened before in other places
    /// leaves it alone.
    #[cold]
    fn new_id_outside(&mut self, origin: u64) -> ActionId {
        let made = self.made_outside.count(origin);
        ActionId(mix2(origin, u64::from(made)))
    }

    /// The identity of a new task. What is spawned on a node from outside once it has crashed is
    /// known by the node and how often that crashed, not by the fault, test or other node that
    /// restarts it and what this has done before.
    fn new_task_id(&mut self, parent: u32, on: Option<NodeId>, tag: u64) -> ActionId {
        match on {
            Some(node) if node.0 != 0 => match self.crashes_of(node) {
                0 if parent != NONE => self.new_id(parent, tag),
                crashes => {
                    let node = mix2(tag, u64::from(node.0));
                    self.new_id_outside(mix2(node, u64::from(crashes)))
                }
            },
            _ => self.new_id(parent, tag),
        }
    }

    /// Adds an action that is not enabled yet.
    #[inline]
    pub(crate) fn add_action(&mut self, sort: Sort, subject: u32, id: ActionId, op: Op) -> u32 {
        let key = self.actions.len() as u32;
        self.actions.push(Action {
            id,
            op,
            tag: 0,
            digest: 0,
            key: ActionKey(key),
            position: Action::NOWHERE,
            subject,
            subject_high: 0,
            sort,
            source: 0,
            node: NodeId(0),
            fresh: false,
            state: 0,
        });
        key
    }

    /// The key that the next spawned task will have.
    #[inline]
    pub(crate) fn next_key(&self) -> u32 {
        self.actions.len() as u32
    }

    /// Adds a task and enables it. Gives the body back where the task limit, its node or its runtime
    /// do not allow it.
    pub(crate) fn spawn(
        &mut self,
        parent: u32,
        spawn: Spawn,
        body: Body,
        decider: &mut dyn Decider,
    ) -> Result<u32, Body> {
        if self.tasks.len() as u32 >= self.config.limits.tasks {
            self.cut(Limit::Tasks);
            return Err(body);
        }
        let node = spawn.node.unwrap_or_else(|| self.node_of(parent));
        if self.node_state(node) == NodeState::Down {
            return Err(body);
        }
        let runtime = spawn.runtime.unwrap_or_else(|| self.runtime_of(parent));
        let Ok(on_runtime) = self.group_on(runtime) else {
            return Err(body);
        };
        let tag = self.sites.tag(spawn.site);
        let id = self.new_task_id(parent, spawn.node, tag);
        let subject = self.tasks.len() as u32;
        let op = Op {
            kind: OpKind::Start,
            access: Access::Write,
            resource: 0,
            site: spawn.site,
        };
        let key = self.add_action(Sort::Run, subject, id, op);
        let action = self.action(key);
        action.node = node;
        action.tag = tag;
        let group = if spawn.group == NONE && !spawn.blocking {
            on_runtime
        } else {
            spawn.group
        };
        let waker = body.waker_data();
        self.tasks.push(Task {
            body: Some(body),
            waker,
            key,
            group,
            made: 0,
            spawn_site: spawn.site,
            rare: spawn.name.map(Rare::named),
            blocking: spawn.blocking,
            runtime,
        });
        self.count_task(key, mix(tag ^ op_digest(OpKind::Start, 0)) | 1);
        if runtime != 0 {
            self.joined_runtime(runtime, key);
        }
        if group != NONE {
            self.action(key).state |= state::GROUPED;
            self.groups[group as usize].members.push(key);
        }
        if self.is_held(key) {
            self.action(key).state |= state::GROUPED;
        }
        self.action(key).state |= state::NOTIFIED;
        self.insert(key);
        self.spin.breaks();
        if self.interests.lifecycle {
            decider.observe(&StepEvent::Spawned {
                task: ActionKey(key),
                id,
                parent: Self::key(parent),
                node,
            });
        }
        Ok(key)
    }

    /// Publishes the operation a task is about to perform. Returns the task's state.
    #[inline(always)]
    pub(crate) fn announce(&mut self, key: u32, op: Op) -> u8 {
        let action = &mut self.actions[key as usize];
        let (kind, resource, state) = (action.op.kind, action.op.resource, action.state);
        action.op = op;
        if kind != op.kind || resource != op.resource {
            self.announce_other(key, op.kind, op.resource, kind);
        }
        state
    }

    /// The rest of [`announce`](Self::announce) where the state changes.
    fn announce_other(&mut self, key: u32, kind: OpKind, resource: u32, before: OpKind) {
        let resource_tag = self.resource_tag(resource);
        let action = &mut self.actions[key as usize];
        let digest = mix(action.tag ^ op_digest(kind, resource_tag));
        let change = digest.wrapping_sub(action.digest);
        action.digest = digest;
        self.point.fingerprint.shift(change);
        if self.interests.parts {
            let kinds = kind_digest(kind).wrapping_sub(kind_digest(before));
            self.pending_changed(change, kinds);
        }
    }

    fn pending_changed(&mut self, pending: u64, kinds: u64) {
        let parts = &mut self.point.parts;
        parts.pending = parts.pending.wrapping_add(pending);
        parts.kinds = parts.kinds.wrapping_add(kinds);
    }

    /// A task begins to count in the fingerprint, or ceases to.
    fn count_task(&mut self, key: u32, digest: u64) {
        let action = &mut self.actions[key as usize];
        let change = digest.wrapping_sub(action.digest);
        let kind = kind_digest(action.op.kind);
        action.digest = digest;
        self.point.fingerprint.shift(change);
        if self.interests.parts {
            let kinds = if digest == 0 {
                kind.wrapping_neg()
            } else {
                kind
            };
            self.pending_changed(change, kinds);
        }
    }

    /// A task was picked: what is needed to poll it.
    #[inline(always)]
    pub(crate) fn begin_poll(&mut self, key: u32, decider: &mut dyn Decider) -> Begun {
        let action = &mut self.actions[key as usize];
        let aborted = action.state & state::ABORTED != 0;
        let yielded = action.state & state::YIELDED != 0;
        action.state = action.state & !(state::NOTIFIED | state::YIELDED) | state::RUNNING;
        let subject = action.subject;
        self.begins(key);
        if self.watched {
            if let Some(recorder) = &mut self.recorder {
                recorder.begin_poll(key, yielded, aborted);
                self.begin_locals();
            }
            self.tell_step(key, decider);
        }
        let task = &mut self.tasks[subject as usize];
        Begun {
            key,
            waker: task.waker,
            aborted,
            body: task
                .body
                .take()
                .map(ManuallyDrop::new)
                .expect("cct bug: a task without a body was picked"),
        }
    }

    /// A poll returned `Pending`.
    #[inline(always)]
    pub(crate) fn end_poll(&mut self, key: u32, body: Lent, decider: &mut dyn Decider) {
        self.sweep();
        let action = &mut self.actions[key as usize];
        let was = action.state;
        action.state = was & !state::RUNNING;
        let before = self.tasks[action.subject as usize]
            .body
            .replace(ManuallyDrop::into_inner(body));
        debug_assert!(before.is_none(), "cct bug: a task has two bodies");
        std::mem::forget(before); // there is none, and the compiler need not know how to drop it
        // A blocking wait in the middle of the poll may have used up the wake-up of an abort.
        let notified = was & (state::NOTIFIED | state::ABORTED) != 0;
        if self.closely || was & state::GROUPED != 0 {
            return self.end_poll_closely(key, notified, decider);
        }
        if notified && action.position == Action::NOWHERE {
            action.position = self.enabled.len() as u32;
            self.enabled.push(key);
            if self.interests.fresh && !action.fresh {
                action.fresh = true;
                self.fresh.push(key);
            }
        }
    }

    /// The rest of [`end_poll`](Self::end_poll), where more than the enabled set has to know.
    #[cold]
    fn end_poll_closely(&mut self, key: u32, notified: bool, decider: &mut dyn Decider) {
        if self.actions[key as usize].state & state::GROUPED != 0 {
            self.end_group_turn(key);
        }
        self.spin.polled(key, notified);
        if notified || self.spurious_wake() {
            self.insert(key);
            if self.interests.readiness {
                decider.observe(&StepEvent::Enabled(ActionKey(key)));
            }
        } else if self.interests.readiness {
            decider.observe(&StepEvent::Blocked(ActionKey(key)));
        }
    }

    /// A task is over. The caller drops the result outside.
    pub(crate) fn exit(&mut self, key: u32, decider: &mut dyn Decider) -> Option<Vec<Local>> {
        self.sweep();
        self.spin.breaks();
        self.count_task(key, 0);
        let action = self.action(key);
        action.state = action.state & state::GROUPED | state::DONE;
        if action.state & state::GROUPED != 0 {
            self.end_group_turn(key);
            if let Some(driver) = self.left_group(key) {
                self.wake(driver, decider);
            }
        }
        if !self.runtimes.is_empty() {
            self.left_runtime(key, decider);
        }
        if self.last() == key {
            self.set_last(NONE);
        }
        if self.interests.lifecycle {
            decider.observe(&StepEvent::Exited(ActionKey(key)));
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.exited(key);
        }
        let task = self.task(key);
        task.take_locals()
    }

    /// A task panicked; `heard` tells whether its join handle can still deliver the news.
    pub(crate) fn panicked(&mut self, key: u32, kind: FailureKind, heard: bool) {
        if heard {
            if let Some(recorder) = &mut self.recorder {
                recorder.panicked(key, self.point.step, kind.to_string());
            }
            self.unobserved.push((key, kind));
        } else {
            self.fail_unheard(key, kind);
        }
    }

    /// A panic that nobody asked for, or that of the scenario itself.
    pub(crate) fn fail_unheard(&mut self, key: u32, kind: FailureKind) {
        if self.end.is_none() && self.actions[key as usize].subject != 0 {
            if let Some(recorder) = &mut self.recorder {
                recorder.unheard(key);
            }
        }
        self.fail(kind);
    }

    /// The join handle delivered a panic.
    pub(crate) fn panic_observed(&mut self, key: u32) {
        self.unobserved.retain(|(task, _)| *task != key);
        self.joined_panics += 1;
    }

    /// The join handle of a task that panicked was dropped unasked. One that goes down in the panic of
    /// its owner does not count yet: that panic is the failure, should somebody hear of it.
    pub(crate) fn panic_ignored(&mut self, key: u32) {
        if std::thread::panicking() {
            return;
        }
        if let Some(at) = self.unobserved.iter().position(|(task, _)| *task == key) {
            let (_, kind) = self.unobserved.remove(at);
            self.fail_unheard(key, kind);
        }
    }

    /// Whether a blocked task is polled although nobody woke it.
    #[inline]
    fn spurious_wake(&mut self) -> bool {
        self.config.spurious_polls && rand::RngExt::random_ratio(&mut self.noise, 1, 8)
    }

    /// A task is to be dropped instead of polled at its next turn.
    pub(crate) fn abort(&mut self, key: u32, decider: &mut dyn Decider) {
        if !self.is_alive(key) {
            return;
        }
        let task = self.task(key);
        if task.blocking && task.body.is_none() {
            return; // a blocking closure that has begun runs to its end
        }
        self.action(key).state |= state::ABORTED;
        self.wake(key, decider);
    }

    /// The id of a task, as user code sees it: the number that reports give the task.
    pub(crate) fn task_id(&self, key: u32) -> crate::task::Id {
        crate::task::Id(u64::from(self.actions[key as usize].subject))
    }

    /// What reports call an action.
    pub(crate) fn name_of_action(&self, key: u32) -> String {
        match self.actions[key as usize].kind() {
            ActionKind::Run => self.task_name(key),
            _ => self.actions[key as usize].op.kind.name().to_owned(),
        }
    }

    /// The name reports use.
    pub(crate) fn task_name(&self, key: u32) -> String {
        let action = &self.actions[key as usize];
        let task = &self.tasks[action.subject as usize];
        let mut text = match task.name() {
            Some(name) => format!("{} `{name}`", action.subject),
            None if action.subject == 0 => "0 `main`".to_owned(),
            None => format!("{}", action.subject),
        };
        let node = self.node_name(action.node);
        if !node.is_empty() && task.name() != Some(node) {
            text.push_str(" on ");
            text.push_str(node);
        }
        text
    }
}

/// What an operation's kind alone contributes to the state.
#[inline]
fn kind_digest(kind: OpKind) -> u64 {
    const DIGESTS: [u64; 64] = {
        let mut digests = [0; 64];
        let mut kind = 0;
        while kind < digests.len() {
            digests[kind] = mix(kind as u64 + 1);
            kind += 1;
        }
        digests
    };
    DIGESTS[kind as usize]
}

/// What an operation contributes to its task's digest.
#[inline]
fn op_digest(kind: OpKind, resource_tag: u64) -> u64 {
    resource_tag
        .rotate_left(17)
        .wrapping_add((kind as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}
