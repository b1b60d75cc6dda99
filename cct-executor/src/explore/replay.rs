//! Replaying a trace.
//!
//! A program that has not failed where its trace ends goes on from there, each in turn: what it has made on the machine's
//! disk, and would remove at its end, would be in the way of every later run. None of that counts.

use crate::execution::{Decider, Stop};
use crate::words::{ActionKind, Decision, DecisionKind, EnabledSet, Pick, SchedulingPoint, Trace};
use std::any::Any;

/// How many steps a program may go on for at least, and how many more for each that it has done.
const GOES_ON_STEPS: u64 = 10_000;
const GOES_ON_TIMES: u64 = 2;

/// Answers with recorded decisions, and notices when the program asks something else.
pub(super) struct Replay {
    decisions: Vec<Decision>,
    next: usize,
    /// Once it goes on: until which step, and how often it has answered.
    beyond: Option<(u64, usize)>,
    stop: Stop,
}

impl Replay {
    pub(super) fn new(trace: &Trace) -> Replay {
        Replay {
            decisions: trace.decisions().to_vec(),
            next: 0,
            beyond: None,
            stop: Stop::End,
        }
    }

    /// Where no decision is left: a fair choice, of what is done and not of what is suffered, and of values the first.
    fn go_on(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Option<Pick> {
        let Some((until, turn)) = &mut self.beyond else {
            let until = GOES_ON_STEPS + point.step.saturating_mul(1 + GOES_ON_TIMES);
            self.beyond = Some((until, 0));
            self.stop = Stop::GoOn;
            return None;
        };
        self.stop = Stop::End;
        if point.step > *until {
            return None;
        }
        *turn += 1;
        let Some(actions) = enabled.actions() else {
            return Some(enabled.pick(0));
        };
        let is_done = |pick: &Pick| {
            let kind = actions.action(*pick).kind();
            matches!(kind, ActionKind::Run | ActionKind::Deliver)
        };
        let done = || enabled.iter().filter(is_done);
        match done().count() {
            0 => Some(enabled.pick(*turn % enabled.len())),
            count => done().nth(*turn % count),
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
        let Some(&recorded) = self.decisions.get(self.next) else {
            return self.go_on(point, enabled);
        };
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
