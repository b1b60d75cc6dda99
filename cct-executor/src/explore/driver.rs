//! The one place where a strategy becomes a decider.

use crate::execution::Decider;
use crate::strategy::Strategy;
use crate::words::{EnabledSet, Interests, Pick, SchedulingPoint, StepEvent};
use std::any::Any;

/// A strategy that drives an iteration. It always has an answer.
pub(super) struct Driver {
    pub(super) strategy: Box<dyn Strategy>,
}

impl Decider for Driver {
    #[inline]
    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Option<Pick> {
        Some(self.strategy.pick(point, enabled))
    }

    fn interests(&self) -> Interests {
        self.strategy.interests()
    }

    fn observe(&mut self, event: &StepEvent<'_>) {
        self.strategy.observe(event);
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
