//! Strategies: who chooses. One file each; pure (no I/O, no clock, no budget, no printing).
//!
//! A [`Strategy`] is told about an iteration, asked at every decision that has at least two
//! choices, and told how the iteration ended. Data choices come through the same [`pick`] as
//! scheduling, so that a learner treats all nondeterminism alike.
//!
//! 1. The only randomness is a stream of the iteration's seed.
//! 2. Whatever carries over from one iteration to the next stays within a *lane*: a fixed number of
//!    strategy instances (see [`Strategy::lanes`]), each with its own share of the iterations. The
//!    number of worker threads therefore changes nothing.
//!
//! [`pick`]: Strategy::pick

use crate::words::{
    ActionId, ActionKey, EnabledSet, Fingerprint, Iteration, IterationEnd, NodeId, Op, Pick,
    SchedulingPoint,
};

/// Whether a strategy has anything left to explore.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// Run this iteration.
    Continue,
    /// Everything was explored; do not run it.
    Exhausted,
}

/// How a strategy's instances share the iterations of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lanes {
    /// Nothing carries over: any instance may run any iteration.
    Independent,
    /// This many instances; instance `i` runs iterations `i`, `i + n`, `i + 2n`... in order.
    Fixed(u32),
}

/// What happened, for strategies that ask to be told (see [`Strategy::interests`]).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum StepEvent<'a> {
    /// A task was spawned; it is enabled.
    Spawned {
        /// The new task.
        task: ActionKey,
        /// Its identity across iterations.
        id: ActionId,
        /// Who spawned it, if a task did.
        parent: Option<ActionKey>,
        /// Where it runs.
        node: NodeId,
    },
    /// An action became enabled (again).
    Enabled(ActionKey),
    /// A task's poll returned `Pending`: it waits.
    Blocked(ActionKey),
    /// A task ended.
    Exited(ActionKey),
    /// The running task sent something to, or woke, another one.
    Sent {
        /// The receiver that became enabled.
        to: ActionKey,
    },
    /// A step begins: this action is about to perform this operation.
    Step {
        /// The action.
        action: ActionKey,
        /// Its operation.
        op: &'a Op,
    },
    /// User code observed a value with `observe`.
    Observed {
        /// The key given by the user.
        key: &'static str,
        /// Hash of the value.
        value: u64,
        /// The state after the observation.
        fingerprint: Fingerprint,
    },
    /// User code placed a mark for strategies (`seal` and `unseal` of delaying explorers).
    UserOp(&'static str),
}

/// Which events a strategy wants; the others cost nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Interests {
    /// [`StepEvent::Spawned`] and [`StepEvent::Exited`].
    pub lifecycle: bool,
    /// [`StepEvent::Enabled`], [`StepEvent::Blocked`] and [`StepEvent::Sent`].
    pub readiness: bool,
    /// [`StepEvent::Step`].
    pub steps: bool,
    /// [`StepEvent::Observed`] and [`StepEvent::UserOp`].
    pub observations: bool,
}

/// Chooses decisions, and may learn across iterations.
pub trait Strategy: Send {
    /// Its name with all parameters, as a user would write it: `pct:d=3`.
    fn describe(&self) -> String;

    /// How instances share the iterations.
    fn lanes(&self) -> Lanes {
        Lanes::Independent
    }

    /// Which events [`observe`](Self::observe) is called for.
    fn interests(&self) -> Interests {
        Interests::default()
    }

    /// An iteration is about to begin.
    fn begin(&mut self, iteration: &Iteration) -> Flow;

    /// Chooses. Asked only when there are at least two choices.
    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick;

    /// Something happened.
    fn observe(&mut self, event: &StepEvent<'_>) {
        let _ = event;
    }

    /// The iteration is over.
    fn end(&mut self, end: &IterationEnd) {
        let _ = end;
    }

    /// How many schedules exist, once all have been explored.
    fn explored_all(&self) -> Option<u64> {
        None
    }

    /// Parameters that this instance has adapted, for reports (`k=1200`); empty if none.
    fn adapted(&self) -> String {
        String::new()
    }
}
