//! The enabled set: what may happen now, as strategies see it.
//!
//! 1. Its order is a pure function of the decisions taken so far: actions are appended when they
//!    become enabled, and the last one takes the place of one that leaves.
//! 2. A [`Pick`] can only be obtained from a set, so an answer out of range cannot be written.
//! 3. A strategy is asked only when there are at least two things to choose from.

use super::action::{Action, ActionId, ActionKey, ActionKind};
use super::fingerprint::{Fingerprint, hash_of, mix2};

/// An answer: one member of the enabled set it came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pick(pub(crate) u32);

/// Parts of the abstract state. Each is a sum of digests, as is the fingerprint itself, so that a
/// part is left out by subtracting it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StateParts {
    /// What resources hold: queue lengths and contents, permits, values set.
    pub contents: u64,
    /// What user code observed; 0 when it observes nothing.
    pub observed: u64,
    /// The pending operations of all tasks: what they do, to which resource, and where the task was
    /// spawned.
    pub pending: u64,
    /// The pending operations once more, by [`OpKind`](super::action::OpKind) only. No part of the
    /// fingerprint: it may take the place of `pending` for a coarser state.
    pub kinds: u64,
}

/// Where a decision is taken.
#[derive(Clone, Copy, Debug, Default)]
pub struct SchedulingPoint {
    /// Steps done so far in this iteration.
    pub step: u64,
    /// Virtual nanoseconds since the world began.
    pub time_ns: u64,
    /// The abstract state, the running task's next operation included.
    pub fingerprint: Fingerprint,
    /// The parts of it that abstractions leave out or single out. Nothing unless the strategy asked
    /// for them with [`Interests::parts`](super::Interests::parts).
    pub parts: StateParts,
    /// The highest waypoint whose predicate holds, counted from 1; 0 when none does.
    pub waypoint: u32,
    /// How many waypoints were declared so far.
    pub waypoints: u32,
    /// The task that ran last, if it is still alive.
    pub current: Option<ActionKey>,
    /// The task that ran last is in the middle of a poll and could simply go on; or an operation of it has returned
    /// `Pending` for this decision alone.
    pub can_continue: bool,
    /// The task that ran last has just yielded explicitly.
    pub yielded: bool,
    /// The cancellation of a future is enabled.
    pub may_cancel: bool,
}

/// The choices at one decision.
#[derive(Clone, Copy, Debug)]
pub enum EnabledSet<'a> {
    /// Which action happens next.
    Actions(EnabledActions<'a>),
    /// Which value a data choice takes.
    Values(Values<'a>),
}

/// The enabled actions.
#[derive(Clone, Copy, Debug)]
pub struct EnabledActions<'a> {
    // References to the tables themselves: pointer and length of one that was just pushed to would
    // be loaded as one unit, which stalls until the push has left the store buffer.
    pub(crate) keys: &'a Vec<u32>,
    pub(crate) actions: &'a Vec<Action>,
    pub(crate) fresh: &'a Vec<u32>,
}

/// The values of a data choice: `0..count`.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    pub(crate) count: u32,
    /// Relative weights, empty when all are equal; their sum fits in a `u32`.
    pub(crate) weights: &'a [u32],
    pub(crate) label: &'static str,
}

impl<'a> EnabledSet<'a> {
    /// How many choices there are; at least 2 when a strategy is asked.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        match self {
            EnabledSet::Actions(a) => a.keys.len(),
            EnabledSet::Values(v) => v.count as usize,
        }
    }

    /// The pick of the choice at `index`.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    #[inline]
    #[track_caller]
    pub fn pick(&self, index: usize) -> Pick {
        assert!(index < self.len(), "pick {index} of {} choices", self.len());
        Pick(index as u32)
    }

    /// All picks, in the set's order.
    pub fn iter(&self) -> impl Iterator<Item = Pick> + use<> {
        (0..self.len() as u32).map(Pick)
    }

    /// The stable identity of a choice: the action's, or one derived from label and value.
    #[inline]
    pub fn id(&self, pick: Pick) -> ActionId {
        match self {
            EnabledSet::Actions(a) => a.action(pick).id,
            EnabledSet::Values(v) => {
                ActionId(mix2(hash_of(v.label), u64::from(pick.0) ^ 0x5641_4C55))
            }
        }
    }

    /// What picking it does.
    #[inline]
    pub fn kind(&self, pick: Pick) -> ActionKind {
        match self {
            EnabledSet::Actions(a) => a.action(pick).kind(),
            EnabledSet::Values(_) => ActionKind::Value(pick.0),
        }
    }

    /// The enabled actions, when this is not a data choice.
    #[inline]
    pub fn actions(&self) -> Option<&EnabledActions<'a>> {
        match self {
            EnabledSet::Actions(a) => Some(a),
            EnabledSet::Values(_) => None,
        }
    }
}

impl<'a> EnabledActions<'a> {
    /// The action behind a pick.
    #[inline]
    pub fn action(&self, pick: Pick) -> &'a Action {
        &self.actions[self.keys[pick.0 as usize] as usize]
    }

    /// The pick of an action, if it is enabled. Constant time.
    #[inline]
    pub fn find(&self, key: ActionKey) -> Option<Pick> {
        let position = self.actions.get(key.index())?.position;
        (position != Action::NOWHERE).then_some(Pick(position))
    }

    /// Picks and actions, in the set's order.
    pub fn iter(&self) -> impl Iterator<Item = (Pick, &'a Action)> + '_ {
        self.keys
            .iter()
            .enumerate()
            .map(|(i, &key)| (Pick(i as u32), &self.actions[key as usize]))
    }

    /// The actions that have become enabled since the last decision that was asked of the
    /// strategy, each once. Some may be disabled again. Data choices in between do not clear the list. The running task that may simply go on is
    /// not repeated here if it was enabled at the last decision. Empty unless the strategy asked
    /// for it with [`Interests::fresh`](super::Interests::fresh).
    pub fn fresh(&self) -> impl Iterator<Item = ActionKey> + '_ {
        self.fresh.iter().map(|&key| ActionKey(key))
    }

    /// Whether this action is [`fresh`](Self::fresh), and no other.
    #[inline]
    pub fn only_fresh(&self, key: ActionKey) -> bool {
        matches!(self.fresh.as_slice(), [fresh] if *fresh == key.0)
    }

    /// Whether there are any [`fresh`](Self::fresh) actions.
    #[inline]
    pub fn has_fresh(&self) -> bool {
        !self.fresh.is_empty()
    }
}

impl Values<'_> {
    /// How many values there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The relative weight of a value (1 when all are equal).
    pub fn weight(&self, pick: Pick) -> u32 {
        self.weights.get(pick.0 as usize).copied().unwrap_or(1)
    }

    /// Relative weights of all values; empty when they are equal.
    pub fn weights(&self) -> &[u32] {
        self.weights
    }

    /// What the choice is about.
    pub fn label(&self) -> &'static str {
        self.label
    }
}
