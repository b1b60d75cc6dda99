//! A toy engine for tests: tasks are lists of operations, each one a step.
//!
//! It follows the rules of the enabled set to the letter (order, fresh actions, asking only when
//! there is a choice) and tells what the engine tells, so that strategies can be measured without
//! the real engine. One thing differs: a task that cannot go on is blocked at once, and not only
//! when it is picked.

pub(super) mod publish;
mod tell;
mod world;

use super::{Flow, Strategy};
use crate::words::{
    Failure, FailureKind, Fingerprint, Iteration, IterationEnd, Limit, Outcome, Seed,
};
use world::World;

/// An operation of a toy task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Do {
    /// Something without effect on others.
    Step,
    /// An explicit yield.
    Yield,
    /// Takes a lock; disabled while it is held.
    Lock(usize),
    /// Takes a lock as tasks of P# do: not before it is picked. If the lock is held then, the task
    /// is blocked until it is the first to be let in, and then has it, whoever else does.
    Take(usize),
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
    /// Looks at a cell.
    Read(usize),
    /// Changes a cell.
    Write(usize),
}

/// A program, and how far one iteration may go.
pub(super) struct Toy {
    tasks: Vec<Vec<Do>>,
    /// Digests do not tell tasks apart by what they do.
    pub(super) alike: bool,
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
    /// Task and position of each operation, in the order in which they were completed.
    pub(super) done: Vec<(u32, usize)>,
    /// Decisions about what runs next.
    pub(super) decisions: u64,
    pub(super) stuck: bool,
    pub(super) cut: bool,
}

impl Run {
    /// Steps so far: as in the engine, a data choice is one.
    fn steps(&self) -> u64 {
        (self.order.len() + self.values.len()) as u64
    }

    /// The step in which a task did its operation `index`.
    pub(super) fn when(&self, task: u32, index: usize) -> Option<usize> {
        let mut steps = self.order.iter().enumerate().filter(|&(_, &t)| t == task);
        steps.nth(index).map(|(step, _)| step)
    }
}

impl Toy {
    pub(super) fn new(tasks: Vec<Vec<Do>>) -> Toy {
        Toy {
            tasks,
            alike: false,
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
            max_steps: self.limit,
        };
        if strategy.begin(&iteration) == Flow::Exhausted {
            return None;
        }
        let mut world = World::new(self, strategy.interests());
        world.begin(strategy);
        world.go(strategy);
        let (fingerprint, parts) = (Fingerprint(world.fingerprint), world.parts());
        let run = world.run;
        strategy.end(&IterationEnd {
            outcome: match (run.cut, run.stuck) {
                (true, _) => Outcome::Cut(Limit::Steps),
                (false, true) => Outcome::Failed(Failure {
                    kind: FailureKind::Deadlock { waiting: 1 },
                    step: run.steps(),
                }),
                (false, false) => Outcome::Passed,
            },
            steps: run.steps(),
            decisions: run.picks.len() as u64,
            schedule_hash: 0,
            fingerprint,
            parts,
            waypoint: 0,
            waypoints: 0,
        });
        Some(run)
    }
}
