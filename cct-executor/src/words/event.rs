//! What the engine tells strategies besides asking them.

use super::action::{ActionId, ActionKey, NodeId, Op};
use super::enabled::StateParts;
use super::fingerprint::Fingerprint;

/// What happened, for strategies that ask to be told (see `Strategy::interests`).
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
    /// A task that yielded will be enabled once the scenario's own has had a poll, and has its place in the queue from now on.
    Due(ActionKey),
    /// Where a runtime of tokio's parks, or looks at its driver: nothing was enabled but what is optional, or whoever had
    /// yielded has waited long enough. What is enabled next was told before.
    Parked {
        /// Steps done so far in this iteration.
        step: u64,
    },
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
    /// Only one action is enabled, and it is taken unasked.
    Forced {
        /// The action's identity across iterations.
        id: ActionId,
        /// The state in which it is taken, as in a [`SchedulingPoint`](super::SchedulingPoint).
        fingerprint: Fingerprint,
        /// The parts of it, if asked for.
        parts: StateParts,
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
    /// User code says that what was last chosen is costly (a failure it injects, say): for learners
    /// the last decision costs so many times what another would.
    Penalty {
        /// What it is.
        name: &'static str,
        /// How much.
        amount: u32,
    },
    /// A `sometimes!` was true.
    Reached {
        /// Its name.
        name: &'static str,
    },
    /// User code measured something of which more is progress.
    Watermark {
        /// What is measured.
        name: &'static str,
        /// The present value.
        value: u64,
    },
}

/// Which events a strategy wants; the others cost nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Interests {
    /// [`StepEvent::Spawned`] and [`StepEvent::Exited`].
    pub lifecycle: bool,
    /// [`StepEvent::Enabled`], [`StepEvent::Blocked`], [`StepEvent::Due`], [`StepEvent::Parked`] and
    /// [`StepEvent::Sent`].
    pub readiness: bool,
    /// [`StepEvent::Step`].
    pub steps: bool,
    /// [`StepEvent::Forced`].
    pub forced: bool,
    /// [`StepEvent::Observed`], [`StepEvent::UserOp`], [`StepEvent::Penalty`],
    /// [`StepEvent::Reached`] and [`StepEvent::Watermark`].
    pub observations: bool,
    /// [`StepEvent::Penalty`], [`StepEvent::Reached`] and [`StepEvent::Watermark`], which are rarer
    /// than all observations.
    pub rewards: bool,
    /// [`EnabledActions::fresh`](super::enabled::EnabledActions::fresh).
    pub fresh: bool,
    /// [`SchedulingPoint::parts`](super::enabled::SchedulingPoint::parts).
    pub parts: bool,
}
