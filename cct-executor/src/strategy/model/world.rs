//! The world of one iteration, step by step.

use super::{Do, Run, Toy, publish};
use crate::strategy::{Interests, StepEvent, Strategy};
use crate::words::action::{Action, ActionKey};
use crate::words::enabled::{EnabledActions, EnabledSet, Values};
use crate::words::fingerprint::mix;
use crate::words::{Fingerprint, SchedulingPoint, StateParts};

pub(super) struct World<'a> {
    pub(super) toy: &'a Toy,
    pub(super) actions: Vec<Action>,
    pub(super) keys: Vec<u32>,
    pub(super) fresh: Vec<u32>,
    pub(super) next: Vec<usize>,
    pub(super) spawned: Vec<bool>,
    pub(super) locked: [bool; 4],
    /// Locks, and tasks that were picked while they were held.
    pub(super) waiting: Vec<(usize, u32)>,
    pub(super) raised: [bool; 20],
    pub(super) current: Option<u32>,
    pub(super) can_continue: bool,
    pub(super) yielded: bool,
    pub(super) interests: Interests,
    pub(super) tags: Vec<u64>,
    pub(super) fingerprint: u64,
    pub(super) contents: u64,
    /// Sum over the kinds of pending operations.
    pub(super) kinds: u64,
    /// What each cell adds to the contents.
    pub(super) cells: [u64; 8],
    /// Tasks that were enabled (true) or disabled in this step.
    pub(super) changed: Vec<(u32, bool)>,
    pub(super) run: Run,
}

impl<'a> World<'a> {
    pub(super) fn new(toy: &'a Toy, interests: Interests) -> World<'a> {
        let n = toy.tasks.len();
        let mut spawned = vec![true; n];
        for op in toy.tasks.iter().flatten() {
            if let Do::Spawn(task) = *op {
                spawned[task] = false;
            }
        }
        World {
            toy,
            actions: (0..n as u32).map(publish::action).collect(),
            keys: Vec::new(),
            fresh: Vec::new(),
            next: vec![0; n],
            spawned,
            locked: [false; 4],
            waiting: Vec::new(),
            raised: [false; 20],
            current: None,
            can_continue: false,
            yielded: false,
            interests,
            tags: (0..n as u32).map(|task| toy.tag(task)).collect(),
            fingerprint: 0,
            contents: 0,
            kinds: 0,
            cells: [0; 8],
            changed: Vec::new(),
            run: Run::default(),
        }
    }

    /// Enables the tasks that nobody spawns.
    pub(super) fn begin(&mut self, strategy: &mut dyn Strategy) {
        for task in 0..self.toy.tasks.len() as u32 {
            if self.spawned[task as usize] {
                self.announce(task);
                self.tell_spawned(task, None, strategy);
            }
            self.refresh(task);
            if self.spawned[task as usize] {
                self.known_enabled(task);
            }
        }
        self.tell_changed(None, strategy);
    }

    /// Publishes the next operation of a task.
    fn announce(&mut self, task: u32) {
        let op = self.pending(task).map(Do::op);
        let action = &mut self.actions[task as usize];
        let digest = op.map_or(0, |op| publish::digest(self.tags[task as usize], &op));
        let kind = |op: &crate::words::Op| mix(op.kind as u64 + 1);
        if action.digest != 0 {
            self.kinds = self.kinds.wrapping_sub(kind(&action.op));
        }
        self.kinds = self.kinds.wrapping_add(op.as_ref().map_or(0, kind));
        self.fingerprint = self
            .fingerprint
            .wrapping_sub(std::mem::replace(&mut action.digest, digest))
            .wrapping_add(digest);
        action.op = op.unwrap_or(action.op);
    }

    pub(super) fn parts(&self) -> StateParts {
        StateParts {
            contents: self.contents,
            observed: 0,
            pending: self
                .actions
                .iter()
                .fold(0, |sum, a| sum.wrapping_add(a.digest)),
            kinds: self.kinds,
        }
    }

    /// Adds to what resources hold.
    fn add_contents(&mut self, digest: u64) {
        self.contents = self.contents.wrapping_add(digest);
        self.fingerprint = self.fingerprint.wrapping_add(digest);
    }

    fn pending(&self, task: u32) -> Option<Do> {
        self.toy.tasks[task as usize]
            .get(self.next[task as usize])
            .copied()
    }

    /// Puts a task into the enabled set or takes it out.
    fn refresh(&mut self, task: u32) {
        let enabled = self.spawned[task as usize]
            && self.waiting.iter().all(|&(_, waiter)| waiter != task)
            && match self.pending(task) {
                None => false,
                Some(Do::Lock(lock)) => !self.locked[lock],
                Some(Do::Join(other)) => self.pending(other as u32).is_none(),
                Some(_) => true,
            };
        match (
            enabled,
            self.actions[task as usize].position != Action::NOWHERE,
        ) {
            (true, false) => {
                self.insert(task);
                self.changed.push((task, true));
            }
            (false, true) => {
                self.remove(task);
                self.changed.push((task, false));
            }
            _ => {}
        }
    }

    fn insert(&mut self, task: u32) {
        let action = &mut self.actions[task as usize];
        action.position = self.keys.len() as u32;
        self.keys.push(task);
        if !std::mem::replace(&mut action.fresh, true) {
            self.fresh.push(task);
        }
    }

    fn remove(&mut self, task: u32) {
        let action = &mut self.actions[task as usize];
        let position = std::mem::replace(&mut action.position, Action::NOWHERE);
        self.keys.swap_remove(position as usize);
        if let Some(&moved) = self.keys.get(position as usize) {
            self.actions[moved as usize].position = position;
        }
    }

    pub(super) fn go(&mut self, strategy: &mut dyn Strategy) {
        while !self.keys.is_empty() {
            if self.run.order.len() as u64 == self.toy.limit {
                self.run.cut = true;
                return;
            }
            let task = if self.keys.len() == 1 {
                self.tell_forced(self.keys[0], strategy);
                self.keys[0]
            } else {
                self.ask(strategy)
            };
            self.step(task, strategy);
        }
        self.run.stuck = (0..self.toy.tasks.len() as u32)
            .any(|task| self.spawned[task as usize] && self.pending(task).is_some());
    }

    fn point(&self) -> SchedulingPoint {
        SchedulingPoint {
            step: self.run.steps(),
            time_ns: 0,
            fingerprint: Fingerprint(self.fingerprint),
            parts: self.parts(),
            waypoint: 0,
            waypoints: 0,
            current: self.current.map(ActionKey),
            can_continue: self.can_continue,
            yielded: self.yielded,
            may_cancel: false,
        }
    }

    fn ask(&mut self, strategy: &mut dyn Strategy) -> u32 {
        let enabled = EnabledSet::Actions(EnabledActions {
            keys: &self.keys,
            actions: &self.actions,
            fresh: &self.fresh,
        });
        let pick = strategy.pick(&self.point(), &enabled);
        self.run.picks.push((pick.0, self.keys.len() as u32));
        self.run.decisions += 1;
        for task in self.fresh.drain(..) {
            self.actions[task as usize].fresh = false;
        }
        self.keys[pick.0 as usize]
    }

    fn draw(&mut self, strategy: &mut dyn Strategy, count: u32, weights: &'static [u32]) {
        let values = EnabledSet::Values(Values {
            count,
            weights,
            label: "toy",
        });
        self.run.values.push(0);
        let pick = strategy.pick(&self.point(), &values);
        self.run.picks.push((pick.0, count));
        *self.run.values.last_mut().expect("just pushed") = pick.0;
    }

    fn step(&mut self, task: u32, strategy: &mut dyn Strategy) {
        let op = self
            .pending(task)
            .expect("an enabled task has an operation");
        if self.interests.steps {
            let action = &self.actions[task as usize];
            strategy.observe(&StepEvent::Step {
                action: action.key,
                op: &action.op,
            });
        }
        self.run.order.push(task);
        self.current = Some(task);
        self.can_continue = false;
        self.yielded = false;
        let mut done = true;
        match op {
            Do::Step | Do::Join(_) | Do::Read(_) => {}
            Do::Yield => self.yielded = true,
            Do::Take(lock) if self.locked[lock] => self.waiting.push((lock, task)),
            Do::Lock(lock) | Do::Take(lock) => {
                self.locked[lock] = true;
                self.fingerprint = self.fingerprint.wrapping_add(publish::held(lock));
            }
            Do::Unlock(lock) => {
                if std::mem::replace(&mut self.locked[lock], false) {
                    self.fingerprint = self.fingerprint.wrapping_sub(publish::held(lock));
                }
                let first = self
                    .waiting
                    .iter()
                    .position(|&(awaited, _)| awaited == lock);
                if let Some(first) = first {
                    self.waiting.remove(first);
                }
            }
            Do::Choose(count) => self.draw(strategy, count, &[]),
            Do::Weighted(weights) => self.draw(strategy, weights.len() as u32, weights),
            Do::Spawn(child) => {
                self.spawned[child] = true;
                self.announce(child as u32);
                self.tell_spawned(child as u32, Some(task), strategy);
            }
            Do::Raise(flag) => {
                if !std::mem::replace(&mut self.raised[flag], true) {
                    self.add_contents(publish::raised(flag));
                }
            }
            Do::Write(cell) => {
                let writer = self.tags[task as usize];
                let now = publish::written(cell, writer, self.next[task as usize]);
                let before = std::mem::replace(&mut self.cells[cell], now);
                self.add_contents(now.wrapping_sub(before));
            }
            Do::SpinUntil(flag) => {
                done = self.raised[flag];
                self.yielded = !done;
            }
        }
        if done {
            self.run.done.push((task, self.next[task as usize]));
            self.next[task as usize] += 1;
        }
        self.announce(task);
        if self.yielded {
            self.remove(task);
        }
        let ended = self.pending(task).is_none();
        if ended || matches!(op, Do::Lock(_) | Do::Take(_) | Do::Unlock(_) | Do::Spawn(_)) {
            (0..self.toy.tasks.len() as u32).for_each(|task| self.refresh(task));
        } else {
            self.refresh(task);
        }
        self.can_continue =
            !self.yielded && self.actions[task as usize].position != Action::NOWHERE;
        if let Do::Spawn(child) = op {
            self.known_enabled(child as u32);
        }
        if ended {
            self.changed.retain(|&(changed, _)| changed != task);
        }
        self.tell_changed(Some(task), strategy);
        if ended {
            self.current = None;
            self.tell_exited(task, strategy);
        }
    }
}
