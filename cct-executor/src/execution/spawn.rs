//! Spawning: a task's identity, its entries in the tables, its first place in the enabled set.

use super::core::{Core, NONE, state};
use super::decider::Decider;
use super::nodes::NodeState;
use super::pending::op_digest;
use super::tasks::{Rare, Task};
use crate::raw::task::Body;
use crate::words::action::Sort;
use crate::words::fingerprint::{mix, mix2};
use crate::words::{Access, Action, ActionId, ActionKey, Limit, NodeId, Op, OpKind, StepEvent};
use std::panic::Location;
use std::rc::Rc;

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
        let may_begin = runtime == 0 || self.joined_runtime(runtime, key);
        if group != NONE {
            self.action(key).state |= state::GROUPED;
            self.groups[group as usize].members.push(key);
        }
        if self.is_held(key) {
            self.action(key).state |= state::GROUPED;
        }
        if may_begin {
            self.action(key).state |= state::NOTIFIED;
            self.insert(key);
        }
        self.spin.breaks();
        if let Some(recorder) = &mut self.recorder {
            recorder.spawned(parent);
        }
        if self.interests.lifecycle {
            decider.observe(&StepEvent::Spawned {
                task: ActionKey(key),
                id,
                parent: Self::key(parent),
                node,
            });
        }
        if !may_begin && self.interests.readiness {
            decider.observe(&StepEvent::Blocked(ActionKey(key)));
        }
        Ok(key)
    }
}
