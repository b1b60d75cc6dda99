//! The one place where a strategy becomes a decider.

use crate::execution::Decider;
use crate::strategy::Strategy;
use crate::words::{EnabledSet, Interests, Outcome, Pick, SchedulingPoint, StepEvent};
use std::any::Any;

/// A strategy that drives an iteration. It always has an answer.
pub(super) struct Driver {
    pub(super) strategy: Box<dyn Strategy>,
    /// It is asked something. When the iteration is over, it has panicked over that.
    pub(super) is_asked: bool,
}

impl Driver {
    pub(super) fn new(strategy: Box<dyn Strategy>) -> Driver {
        Driver {
            strategy,
            is_asked: false,
        }
    }

    /// An iteration that has come to this was not ended by a strategy that panicked.
    ///
    /// # Panics
    /// If it was.
    pub(super) fn assert_answered(&self, outcome: &Outcome) {
        let Outcome::Failed(failure) = outcome else {
            return;
        };
        assert!(!self.is_asked, "{}", failure.kind);
    }
}

impl Decider for Driver {
    #[inline]
    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Option<Pick> {
        self.is_asked = true;
        let pick = self.strategy.pick(point, enabled);
        self.is_asked = false;
        Some(pick)
    }

    fn interests(&self) -> Interests {
        self.strategy.interests()
    }

    fn observe(&mut self, event: &StepEvent<'_>) {
        self.is_asked = true;
        self.strategy.observe(event);
        self.is_asked = false;
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
