//! Nodes: groups of tasks that live and die together, with a clock of their own.
//!
//! 1. Node 0 is the test itself; it cannot crash. A task lives where its spawner lives.
//! 2. A crash happens at a scheduling point. First the sources of actions learn of it, so that what
//!    the node's destructors do is not mistaken for an orderly end; then its suspended polls are run
//!    to their end with every point inert, as at the end of a world; then its futures are dropped.
//! 3. Others are woken by what is dropped, as they would learn of it over a network.
//! 4. The tasks of a paused node stay out of the enabled set; what wakes them is not lost.

use super::core::{Core, NONE, state};
use super::world::{Phase, Running, World};
use crate::raw::stack::Resume;
use crate::raw::task::Body;
use crate::words::fingerprint::{hash_of, mix2};
use crate::words::{Action, NodeId};
use std::rc::Rc;

/// How a node's clock differs from the world's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct NodeClock {
    /// By how much it is ahead.
    pub(crate) ahead_ns: u64,
    /// By how many parts in a million it is fast; negative when it is slow.
    pub(crate) drift_ppm: i32,
    /// By how much the clock of a runtime there is behind that (`own_clocks.rs`).
    pub(crate) behind_ns: u64,
}

/// What a node does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeState {
    /// Its tasks go on.
    Up,
    /// Its tasks stand still.
    Paused,
    /// It has crashed, and has no tasks.
    Down,
}

/// A node that was made explicitly.
pub(crate) struct NodeEntry {
    pub(crate) name: Rc<str>,
    pub(crate) state: NodeState,
    pub(crate) clock: NodeClock,
    /// The number of its main task, for which nobody has a handle.
    pub(crate) main: Option<u64>,
    /// A panic brings the node down, instead of failing the test.
    pub(crate) crash_on_panic: bool,
    /// How often it crashed.
    pub(crate) crashes: u32,
    /// What brought about the latest of its crashes.
    pub(crate) cause: CrashCause,
    digest: u64,
}

/// What brought a crash about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CrashCause {
    /// Somebody asked for it, and knows what it is to be.
    #[default]
    Asked,
    /// A panic of one of its tasks ended the node's process, and not its host.
    Panic,
    /// The node's process was killed, and not its host.
    Killed,
    /// The node's process ended of itself, in order: its main task has returned.
    Returned,
}

/// A node, and what follows its crash when a panic caused it.
#[derive(Clone)]
pub(crate) struct AfterCrash {
    node: NodeId,
    /// What the node has asked for its next crash, and not what follows all by a panic.
    once: bool,
    then: Rc<dyn Fn()>,
}

/// A crash that was asked for, and the task that goes on once it has happened.
#[derive(Clone, Copy)]
pub(crate) struct Crash {
    node: NodeId,
    then: u32,
    cause: CrashCause,
}

impl NodeClock {
    /// What the clock shows at this time of the world.
    #[inline]
    pub(crate) fn shown(self, world_ns: u64) -> u64 {
        let shown = match self.drift_ppm {
            0 => world_ns.saturating_add(self.ahead_ns),
            _ => self.shown_with_drift(world_ns),
        };
        shown.saturating_sub(self.behind_ns)
    }

    fn shown_with_drift(self, world_ns: u64) -> u64 {
        let drift = i128::from(world_ns) * i128::from(self.drift_ppm) / 1_000_000;
        let shown = i128::from(world_ns) + i128::from(self.ahead_ns) + drift;
        u64::try_from(shown.max(0)).unwrap_or(u64::MAX)
    }

    /// The first time of the world at which the clock shows this, or more.
    pub(crate) fn reached(self, shown_ns: u64) -> u64 {
        let shown_ns = shown_ns.saturating_add(self.behind_ns);
        if self.ahead_ns == 0 && self.drift_ppm == 0 {
            return shown_ns;
        }
        let of_node = NodeClock {
            behind_ns: 0,
            ..self
        };
        let passed = i128::from(shown_ns.saturating_sub(self.ahead_ns));
        let rate = 1_000_000 + i128::from(self.drift_ppm);
        let mut world = u64::try_from(passed * 1_000_000 / rate).unwrap_or(u64::MAX);
        while of_node.shown(world) < shown_ns && world < u64::MAX {
            world += 1;
        }
        world
    }
}

impl Core {
    fn entry(&mut self, node: NodeId) -> Option<&mut NodeEntry> {
        self.nodes.get_mut((node.0 as usize).checked_sub(1)?)
    }

    /// A new node. `None` when there are too many.
    pub(crate) fn add_node(&mut self, name: Rc<str>) -> Option<NodeId> {
        let id = NodeId(u16::try_from(self.nodes.len() + 1).ok()?);
        self.node_names.insert(name.clone(), id);
        self.nodes.push(NodeEntry {
            name,
            state: NodeState::Up,
            clock: NodeClock::default(),
            main: None,
            crash_on_panic: false,
            crashes: 0,
            cause: CrashCause::Asked,
            digest: 0,
        });
        Some(id)
    }

    /// The node of a task, of the test itself for no task.
    #[inline]
    pub(crate) fn node_of(&self, key: u32) -> NodeId {
        match self.actions.get(key as usize) {
            Some(action) => action.node,
            None => NodeId(0),
        }
    }

    pub(crate) fn node_state(&self, node: NodeId) -> NodeState {
        let entry = (node.0 as usize)
            .checked_sub(1)
            .and_then(|i| self.nodes.get(i));
        entry.map_or(NodeState::Up, |entry| entry.state)
    }

    /// How often a node crashed.
    pub(crate) fn crashes_of(&self, node: NodeId) -> u32 {
        let entry = (node.0 as usize)
            .checked_sub(1)
            .and_then(|i| self.nodes.get(i));
        entry.map_or(0, |entry| entry.crashes)
    }

    /// The name reports use; empty for the test itself.
    pub(crate) fn node_name(&self, node: NodeId) -> &str {
        let entry = (node.0 as usize)
            .checked_sub(1)
            .and_then(|i| self.nodes.get(i));
        entry.map_or("", |entry| &entry.name)
    }

    /// The clock that a task goes by: of its node, or of its runtime there.
    #[inline(always)]
    pub(crate) fn clock_of(&self, key: u32) -> NodeClock {
        if self.nodes.is_empty() && self.runtimes.is_empty() {
            return NodeClock::default();
        }
        self.clock_there(key)
    }

    #[inline(never)]
    fn clock_there(&self, key: u32) -> NodeClock {
        NodeClock {
            behind_ns: self.behind_ns(self.runtime_of(key)),
            ..self.node_clock(self.node_of(key))
        }
    }

    /// A node's clock.
    pub(crate) fn node_clock(&self, node: NodeId) -> NodeClock {
        let entry = (node.0 as usize)
            .checked_sub(1)
            .and_then(|i| self.nodes.get(i));
        entry.map_or_else(NodeClock::default, |entry| entry.clock)
    }

    /// Whether it is the task that a node's factory has made.
    pub(super) fn is_main_of_its_node(&mut self, key: u32) -> bool {
        let (node, number) = (self.node_of(key), self.task_id(key).0);
        let entry = self.entry(node);
        entry.is_some_and(|entry| entry.main == Some(number))
    }

    /// Changes how a node is configured.
    pub(crate) fn configure_node(&mut self, node: NodeId, change: impl FnOnce(&mut NodeEntry)) {
        if let Some(entry) = self.entry(node) {
            change(entry);
        }
    }

    fn set_node_state(&mut self, node: NodeId, to: NodeState) {
        let Some(entry) = self.entry(node) else {
            return;
        };
        entry.state = to;
        let digest = match to {
            NodeState::Up => 0,
            _ => mix2(hash_of(&*entry.name), to as u64),
        };
        let before = std::mem::replace(&mut entry.digest, digest);
        self.point.fingerprint.shift(digest.wrapping_sub(before));
    }

    /// Takes a node's tasks out of the enabled set, or puts them back.
    pub(crate) fn pause_node(&mut self, node: NodeId, pause: bool) {
        let (from, to) = if pause {
            (NodeState::Up, NodeState::Paused)
        } else {
            (NodeState::Paused, NodeState::Up)
        };
        if node.0 == 0 || self.node_state(node) != from {
            return;
        }
        self.set_node_state(node, to);
        self.sweep();
        for subject in 0..self.tasks.len() {
            let key = self.tasks[subject].key;
            if self.actions[key as usize].node != node {
                continue;
            }
            let alone = self.tasks[subject].group == NONE;
            let action = &mut self.actions[key as usize];
            if pause {
                action.state |= state::GROUPED;
            } else if alone {
                action.state &= !state::GROUPED;
            }
            if pause && action.position != Action::NOWHERE {
                action.state |= state::HIDDEN;
                self.remove(key);
            } else if !pause && action.state & state::HIDDEN != 0 {
                action.state &= !state::HIDDEN;
                self.insert(key);
            }
        }
    }

    /// A node is up again after a crash.
    pub(crate) fn node_up(&mut self, node: NodeId) {
        self.set_node_state(node, NodeState::Up);
    }

    /// Asks for a crash; `then` is the task that goes on without a decision afterwards.
    fn ask_for_crash(&mut self, node: NodeId, then: u32, cause: CrashCause) {
        self.queue_crash(Crash { node, then, cause });
    }

    fn queue_crash(&mut self, crash: Crash) {
        if crash.node.0 != 0 && self.node_state(crash.node) != NodeState::Down {
            self.crashes.push(crash);
            self.alert();
        }
    }

    /// What brought about the latest crash of the node.
    pub(crate) fn crash_cause(&mut self, node: NodeId) -> CrashCause {
        self.entry(node)
            .map_or(CrashCause::Asked, |entry| entry.cause)
    }

    /// The panic of a task, if its node takes panics as crashes.
    pub(crate) fn panic_is_crash(&mut self, key: u32) -> bool {
        let node = self.node_of(key);
        let crashes = self.entry(node).is_some_and(|entry| entry.crash_on_panic);
        if crashes {
            self.queue_crash(Crash {
                node,
                then: NONE,
                cause: CrashCause::Panic,
            });
        }
        crashes
    }

    /// Takes a task of the node out of the tables, as far as it is there.
    fn take_task_of(&mut self, subject: usize, node: NodeId) -> Option<(u32, Body)> {
        let key = self.tasks[subject].key;
        if self.actions[key as usize].node != node {
            return None;
        }
        let body = self.tasks[subject].take_body()?;
        self.remove(key);
        Some((key, body))
    }
}

impl World {
    /// Brings down the nodes that are to crash. Returns the task that goes on, if any. Runs on the
    /// thread's own stack, while no poll is in progress.
    pub(crate) fn crash_nodes(&self) -> u32 {
        let mut then = NONE;
        while let Some(crash) = self.with(|core, _| {
            let over = core.end.is_some() || core.crashes.is_empty();
            (!over).then(|| core.crashes.remove(0))
        }) {
            then = crash.then;
            if self.with(|core, _| core.node_state(crash.node)) != NodeState::Down {
                self.with(|core, _| {
                    core.configure_node(crash.node, |entry| entry.cause = crash.cause);
                });
                self.crash_node(crash.node);
                self.follow_up(crash.node, crash.cause);
            }
        }
        let alive = self.with(|core, _| then != NONE && core.is_alive(then));
        if alive { then } else { NONE }
    }

    /// Notes what follows the node's crashes by panic.
    pub(crate) fn after_crash(&self, node: NodeId, then: impl Fn() + 'static) {
        self.will_follow(node, false, then);
    }

    /// Notes what follows the node's next crash, whatever its cause.
    pub(crate) fn after_next_crash(&self, node: NodeId, then: impl Fn() + 'static) {
        self.will_follow(node, true, then);
    }

    fn will_follow(&self, node: NodeId, once: bool, then: impl Fn() + 'static) {
        let then = Rc::new(then);
        let hook = AfterCrash { node, once, then };
        self.after_crash.borrow_mut().push(hook);
    }

    fn follow_up(&self, node: NodeId, cause: CrashCause) {
        let hooks = self.after_crash.borrow().clone();
        self.after_crash
            .borrow_mut()
            .retain(|hook| !(hook.node == node && hook.once));
        let of_it = || hooks.iter().filter(|hook| hook.node == node);
        // What it has asked for is what would follow a panic too: not twice.
        let asked = of_it().find(|hook| hook.once);
        let panics = of_it().filter(|_| asked.is_none() && cause == CrashCause::Panic);
        asked
            .into_iter()
            .chain(panics)
            .for_each(|hook| (hook.then)());
    }

    #[cold]
    fn crash_node(&self, node: NodeId) {
        self.with(|core, _| {
            core.pause_node(node, false);
            core.set_node_state(node, NodeState::Down);
            core.configure_node(node, |entry| entry.crashes += 1);
        });
        self.tell_sources(|source| source.node_down(node));
        let sync_points = self.sync_points.replace(true);
        self.phase.set(Phase::Closing);
        self.dying.set(true);
        let count = self.with(|core, _| core.tasks.len());
        for subject in 0..count {
            self.inert_points.set(0);
            let worker = self.with(|core, _| {
                let key = core.tasks[subject].key;
                let ours = core.actions[key as usize].node == node;
                if ours {
                    core.remove(key);
                }
                if ours { core.take_worker(key) } else { NONE }
            });
            if worker != NONE {
                self.resume_worker(worker, Resume::Continue);
            }
        }
        self.finish_suspended(|core, key| core.actions[key as usize].node == node);
        for subject in 0..count {
            let Some((key, mut body)) = self.with(|core, _| core.take_task_of(subject, node))
            else {
                continue;
            };
            self.inert_points.set(0);
            self.running.set(Running {
                key,
                ..Running::NOBODY
            });
            super::close::quietly(|| body.cancel());
            super::close::quietly(|| drop(body));
            let locals = self.with(|core, decider| core.exit(key, decider));
            super::close::quietly(|| drop(locals));
            self.running.set(Running::NOBODY);
        }
        self.dying.set(false);
        self.phase.set(Phase::Running);
        self.sync_points.set(sync_points);
        self.with(|core, _| {
            if core.node_of(core.last()) == node {
                core.set_last(NONE);
            }
        });
    }

    /// Takes a node's tasks out of the enabled set, or puts them back, and tells the sources.
    pub(crate) fn pause_now(&self, node: NodeId, pause: bool) {
        self.with(|core, _| core.pause_node(node, pause));
        self.tell_sources(|source| source.node_paused(node, pause));
    }

    /// Crashes a node now, as seen by the task that asks; the caller's own node when the caller is
    /// about to be dropped.
    pub(crate) fn crash_now(&self, node: NodeId, cause: CrashCause) {
        let key = self.running.get().key;
        let on_stack = key != NONE && crate::raw::stack::on_worker() && !std::thread::panicking();
        let asked = self.with(|core, _| {
            let before = core.crashes.len();
            core.ask_for_crash(node, if on_stack { key } else { NONE }, cause);
            core.crashes.len() > before
        });
        if asked && on_stack {
            self.leave_for_crash(key);
        }
    }
}

impl Core {
    /// Whether the action belongs to a node that is paused.
    pub(crate) fn is_held(&self, key: u32) -> bool {
        let node = self.actions[key as usize].node;
        node.0 != 0 && self.node_state(node) == NodeState::Paused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_and_its_inverse_agree() {
        for (ahead_ns, drift_ppm) in [(0, 0), (5_000_000, 0), (0, 100), (17, -300), (999, 1_000)] {
            let clock = NodeClock {
                ahead_ns,
                drift_ppm,
                behind_ns: 0,
            };
            for world in [0, 1, 999, 1_000_000, 123_456_789_123] {
                let reached = clock.reached(clock.shown(world));
                assert!(reached <= world, "{clock:?} {world}");
                assert!(clock.shown(reached) >= clock.shown(world));
            }
        }
        assert_eq!(
            NodeClock {
                ahead_ns: 0,
                drift_ppm: 1000,
                behind_ns: 0,
            }
            .shown(1_000_000),
            1_001_000
        );
    }
}
