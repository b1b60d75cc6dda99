//! A toy engine for tests: tasks are lists of operations, each one a step.
//!
//! It follows the rules of the enabled set to the letter (order, fresh actions, asking only when
//! there is a choice), so that strategies can be measured without the real engine.

use super::{Flow, StepEvent, Strategy};
use crate::words::action::{Access, Action, ActionId, ActionKey, ActionKind, NodeId, Op, OpKind};
use crate::words::enabled::{EnabledActions, EnabledSet, Values};
use crate::words::{
    Failure, FailureKind, Fingerprint, Iteration, IterationEnd, Limit, Outcome, SchedulingPoint,
    Seed, StateParts,
};
use std::panic::Location;

/// An operation of a toy task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Do {
    /// Something without effect on others.
    Step,
    /// An explicit yield.
    Yield,
    /// Takes a lock; disabled while it is held.
    Lock(usize),
    /// Gives it back.
    Unlock(usize),
    /// Draws one of so many values.
    Choose(u32),
    /// Draws by weight.
    Weighted(&'static [u32]),
    /// Starts a task, which cannot run before.
    Spawn(usize),
    /// Waits for a task to end.
    Join(usize),
    /// Raises a flag.
    Raise(usize),
    /// Yields again and again until the flag is raised.
    SpinUntil(usize),
}

/// A program, and how far one iteration may go.
pub(super) struct Toy {
    tasks: Vec<Vec<Do>>,
    pub(super) limit: u64,
}

/// What happened in one iteration.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Run {
    /// The task of each step.
    pub(super) order: Vec<u32>,
    /// The values drawn.
    pub(super) values: Vec<u32>,
    /// Index and arity of each decision.
    pub(super) picks: Vec<(u32, u32)>,
    /// Decisions about what runs next.
    pub(super) decisions: u64,
    pub(super) stuck: bool,
    pub(super) cut: bool,
}

impl Run {
    /// The step in which a task did its operation `index`.
    pub(super) fn when(&self, task: u32, index: usize) -> Option<usize> {
        let mut steps = self.order.iter().enumerate().filter(|&(_, &t)| t == task);
        steps.nth(index).map(|(step, _)| step)
    }
}

struct World<'a> {
    toy: &'a Toy,
    actions: Vec<Action>,
    keys: Vec<u32>,
    fresh: Vec<u32>,
    next: Vec<usize>,
    spawned: Vec<bool>,
    locked: [bool; 4],
    raised: [bool; 4],
    current: Option<u32>,
    can_continue: bool,
    yielded: bool,
    run: Run,
}

impl Toy {
    pub(super) fn new(tasks: Vec<Vec<Do>>) -> Toy {
        Toy {
            tasks,
            limit: 100_000,
        }
    }

    /// Runs one iteration.
    pub(super) fn run(&mut self, strategy: &mut dyn Strategy, seed: Seed, index: u64) -> Run {
        self.try_run(strategy, seed, index)
            .expect("the strategy is exhausted")
    }

    /// Runs one iteration unless the strategy is exhausted.
    pub(super) fn try_run(
        &mut self,
        strategy: &mut dyn Strategy,
        seed: Seed,
        index: u64,
    ) -> Option<Run> {
        let iteration = Iteration {
            index,
            seed: seed.iteration(index),
        };
        if strategy.begin(&iteration) == Flow::Exhausted {
            return None;
        }
        let mut world = World::new(self);
        world.go(strategy);
        let run = world.run;
        strategy.end(&IterationEnd {
            outcome: match (run.cut, run.stuck) {
                (true, _) => Outcome::Cut(Limit::Steps),
                (false, true) => Outcome::Failed(Failure {
                    kind: FailureKind::Deadlock { waiting: 1 },
                    step: run.order.len() as u64,
                }),
                (false, false) => Outcome::Passed,
            },
            steps: run.order.len() as u64,
            decisions: run.picks.len() as u64,
            schedule_hash: 0,
            fingerprint: Fingerprint(0),
            parts: StateParts::default(),
            waypoint: 0,
        });
        Some(run)
    }
}

impl<'a> World<'a> {
    fn new(toy: &'a Toy) -> World<'a> {
        let n = toy.tasks.len();
        let mut spawned = vec![true; n];
        for op in toy.tasks.iter().flatten() {
            if let Do::Spawn(task) = *op {
                spawned[task] = false;
            }
        }
        let mut world = World {
            toy,
            actions: (0..n as u32).map(action).collect(),
            keys: Vec::new(),
            fresh: Vec::new(),
            next: vec![0; n],
            spawned,
            locked: [false; 4],
            raised: [false; 4],
            current: None,
            can_continue: false,
            yielded: false,
            run: Run::default(),
        };
        (0..n as u32).for_each(|task| world.refresh(task));
        world
    }

    fn pending(&self, task: u32) -> Option<Do> {
        self.toy.tasks[task as usize]
            .get(self.next[task as usize])
            .copied()
    }

    /// Puts a task into the enabled set or takes it out.
    fn refresh(&mut self, task: u32) {
        let enabled = self.spawned[task as usize]
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
            (true, false) => self.insert(task),
            (false, true) => self.remove(task),
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

    fn go(&mut self, strategy: &mut dyn Strategy) {
        while !self.keys.is_empty() {
            if self.run.order.len() as u64 == self.toy.limit {
                self.run.cut = true;
                return;
            }
            let task = if self.keys.len() == 1 {
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
            step: self.run.order.len() as u64,
            time_ns: 0,
            fingerprint: Fingerprint(0),
            parts: StateParts::default(),
            waypoint: 0,
            current: self.current.map(ActionKey),
            can_continue: self.can_continue,
            yielded: self.yielded,
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
        let pick = strategy.pick(&self.point(), &values);
        self.run.picks.push((pick.0, count));
        self.run.values.push(pick.0);
    }

    fn step(&mut self, task: u32, strategy: &mut dyn Strategy) {
        let op = self
            .pending(task)
            .expect("an enabled task has an operation");
        if strategy.interests().steps {
            let action = &self.actions[task as usize];
            strategy.observe(&StepEvent::Step {
                action: action.key,
                op: &action.op,
            });
        }
        self.current = Some(task);
        self.can_continue = false;
        self.yielded = false;
        let mut done = true;
        match op {
            Do::Step | Do::Join(_) => {}
            Do::Yield => self.yielded = true,
            Do::Lock(lock) => self.locked[lock] = true,
            Do::Unlock(lock) => self.locked[lock] = false,
            Do::Choose(count) => self.draw(strategy, count, &[]),
            Do::Weighted(weights) => self.draw(strategy, weights.len() as u32, weights),
            Do::Spawn(child) => self.spawned[child] = true,
            Do::Raise(flag) => self.raised[flag] = true,
            Do::SpinUntil(flag) => {
                done = self.raised[flag];
                self.yielded = !done;
            }
        }
        self.run.order.push(task);
        self.next[task as usize] += usize::from(done);
        if self.yielded {
            self.remove(task);
        }
        let ended = self.pending(task).is_none();
        if ended || matches!(op, Do::Lock(_) | Do::Unlock(_) | Do::Spawn(_)) {
            (0..self.toy.tasks.len() as u32).for_each(|task| self.refresh(task));
        } else {
            self.refresh(task);
        }
        self.can_continue =
            !self.yielded && self.actions[task as usize].position != Action::NOWHERE;
        if ended {
            self.current = None;
        }
    }
}

fn action(task: u32) -> Action {
    Action {
        id: ActionId(u64::from(task)),
        op: Op {
            kind: OpKind::User,
            access: Access::Write,
            resource: 0,
            site: Location::caller(),
        },
        digest: 0,
        key: ActionKey(task),
        position: Action::NOWHERE,
        subject: task,
        kind: ActionKind::Run,
        node: NodeId(0),
        fresh: false,
        state: 0,
    }
}
