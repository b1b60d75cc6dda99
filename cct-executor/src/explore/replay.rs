//! Replaying a trace.

use crate::execution::{Decider, Stop};
use crate::words::{Decision, DecisionKind, EnabledSet, Pick, SchedulingPoint, Trace};
use std::any::Any;

/// Answers with recorded decisions, and notices when the program asks something else.
pub(super) struct Replay {
    decisions: Vec<Decision>,
    next: usize,
    stop: Stop,
}

impl Replay {
    pub(super) fn new(trace: &Trace) -> Replay {
        Replay {
            decisions: trace.decisions().to_vec(),
            next: 0,
            stop: Stop::End,
        }
    }
}

fn what(kind: DecisionKind) -> &'static str {
    match kind {
        DecisionKind::Schedule => "enabled actions",
        DecisionKind::Value => "values of a data choice",
    }
}

impl Decider for Replay {
    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Option<Pick> {
        let recorded = *self.decisions.get(self.next)?;
        let kind = match enabled {
            EnabledSet::Actions(_) => DecisionKind::Schedule,
            EnabledSet::Values(_) => DecisionKind::Value,
        };
        if kind != recorded.kind || enabled.len() != recorded.arity as usize {
            self.stop = Stop::Diverged(format!(
                "replay diverged at step {} (decision {} of {}): the trace chooses among {} {}, \
                 now there are {} {}. The program has changed since the trace was recorded, or it \
                 does not behave the same twice",
                point.step,
                self.next + 1,
                self.decisions.len(),
                recorded.arity,
                what(recorded.kind),
                enabled.len(),
                what(kind),
            ));
            return None;
        }
        self.next += 1;
        Some(enabled.pick(recorded.index as usize))
    }

    fn stop(&mut self) -> Stop {
        self.stop.clone()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
