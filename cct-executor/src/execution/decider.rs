//! Who decides: the engine's side of a strategy, a replay, a byte stream.

use std::any::Any;

use crate::words::{EnabledSet, Interests, Pick, SchedulingPoint, StepEvent};

/// Why a decider has no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    /// The recorded decisions are used up.
    End,
    /// They are, and what comes now counts no more. The program goes on to its end, so that it leaves nothing half done
    /// outside of the world, as a file that it would remove: ask again.
    GoOn,
    /// The recorded decision does not fit what is enabled.
    Diverged(String),
}

/// Answers the engine's questions. Unlike a strategy it may be unable to.
pub(crate) trait Decider {
    /// Chooses; asked only when there are at least two choices.
    /// `None` when there is no answer; [`stop`](Self::stop) says why.
    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Option<Pick>;

    /// Why the last question had no answer.
    fn stop(&mut self) -> Stop {
        Stop::End
    }

    /// Which events [`observe`](Self::observe) is called for.
    fn interests(&self) -> Interests {
        Interests::default()
    }

    /// Whether the run is tried because another one, which is like it, has failed.
    fn follows_failure(&self) -> bool {
        false
    }

    /// Something happened.
    fn observe(&mut self, event: &StepEvent<'_>) {
        let _ = event;
    }

    /// Itself, so that whoever gave it to an iteration gets it back.
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}
