//! A schedule as what it does otherwise than the plain one.
//!
//! The plain schedule is that of strategy `round-robin`: a task goes on until it waits, then the one comes
//! that became ready first; of values the first is taken; there are no faults and no cancellations. Any
//! schedule is that one and a list of *departures*: at this place, that action or value instead. So a
//! schedule gets plainer as departures are left out, and what remains is what the failure takes.
//!
//! 1. A place is told by what happened there, not by when: the last action, how many steps it has taken, and
//!    how many decisions there were since. So a departure still finds its place when earlier ones are gone.
//! 2. A departure whose action is not enabled at its place has no effect.

use crate::execution::{Decider, Stop};
use crate::explore::replay::Replay;
use crate::strategy::{RoundRobin, Strategy};
use crate::words::{
    ActionId, ActionKey, EnabledSet, Interests, Pick, SchedulingPoint, StepEvent, Trace,
};
use std::any::Any;
use std::collections::BTreeMap;

/// Where a decision is taken.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct Place {
    /// The action that took the last step.
    last: u64,
    /// How many it has taken.
    steps: u32,
    /// How many decisions have been taken since.
    decisions: u32,
}

/// One of the choices, by what it is: those that are alike are told apart by their order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Wanted {
    id: ActionId,
    rank: usize,
}

/// A decision that is not the plain one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departure {
    place: Place,
    wanted: Wanted,
    /// The step that came of it.
    pub(super) step: u64,
}

/// What is taken where it is not the plain choice.
enum Source {
    Trace(Replay),
    Departures(BTreeMap<Place, Wanted>),
}

/// Follows the plain schedule but for some departures, and keeps those that had an effect.
pub(super) struct Guide {
    plain: RoundRobin,
    source: Source,
    /// Of each action, by key: its id, as far as known, and its steps.
    acted: Vec<(u64, u32)>,
    last: ActionKey,
    decisions: u32,
    pub(super) departures: Vec<Departure>,
}

impl Departure {
    /// At the place of this one, what the other takes.
    pub(super) fn to(&self, other: &Departure) -> Departure {
        Departure {
            wanted: other.wanted,
            ..*self
        }
    }
}

impl Wanted {
    fn of(pick: Pick, enabled: &EnabledSet<'_>) -> Wanted {
        let id = enabled.id(pick);
        let before = enabled.iter().take_while(|&other| other != pick);
        let rank = before.filter(|&other| enabled.id(other) == id).count();
        Wanted { id, rank }
    }

    fn find(self, enabled: &EnabledSet<'_>) -> Option<Pick> {
        let mut alike = enabled.iter().filter(|&pick| enabled.id(pick) == self.id);
        alike.nth(self.rank)
    }
}

impl Guide {
    fn new(source: Source) -> Guide {
        Guide {
            plain: RoundRobin::new(),
            source,
            acted: Vec::new(),
            last: ActionKey::from_index(0),
            decisions: 0,
            departures: Vec::new(),
        }
    }

    /// Replays a trace, and finds out where it departs from the plain schedule.
    pub(super) fn along(trace: &Trace) -> Guide {
        Guide::new(Source::Trace(Replay::new(trace)))
    }

    /// The plain schedule but for these departures.
    pub(super) fn with(departures: &[Departure]) -> Guide {
        let pairs = departures.iter().map(|one| (one.place, one.wanted));
        Guide::new(Source::Departures(pairs.collect()))
    }

    fn acted(&mut self, key: ActionKey) -> &mut (u64, u32) {
        let index = key.index();
        if index >= self.acted.len() {
            self.acted.resize(index + 1, (0, 0));
        }
        &mut self.acted[index]
    }

    /// The place of the decision that is asked for.
    fn place(&mut self) -> Place {
        let (last, steps) = *self.acted(self.last);
        let decisions = self.decisions;
        self.decisions += 1;
        Place {
            last,
            steps,
            decisions,
        }
    }
}

impl Decider for Guide {
    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Option<Pick> {
        let plain = self.plain.pick(point, enabled);
        let place = self.place();
        let pick = match &mut self.source {
            Source::Trace(replay) => replay.pick(point, enabled)?,
            Source::Departures(wanted) => {
                let wanted = wanted.get(&place);
                let found = wanted.and_then(|wanted| wanted.find(enabled));
                found.unwrap_or(plain)
            }
        };
        if pick != plain {
            self.departures.push(Departure {
                place,
                wanted: Wanted::of(pick, enabled),
                // A value is drawn in the middle of a step that has been counted.
                step: point.step + u64::from(enabled.actions().is_some()),
            });
        }
        if let Some(actions) = enabled.actions() {
            let action = actions.action(pick);
            self.acted(action.key()).0 = action.id().0;
            if pick != plain {
                self.plain.instead(actions, plain, pick);
            }
        }
        Some(pick)
    }

    fn stop(&mut self) -> Stop {
        match &mut self.source {
            Source::Trace(replay) => replay.stop(),
            Source::Departures(_) => Stop::End,
        }
    }

    fn interests(&self) -> Interests {
        Interests {
            lifecycle: true,
            steps: true,
            ..self.plain.interests()
        }
    }

    fn observe(&mut self, event: &StepEvent<'_>) {
        match *event {
            StepEvent::Spawned { task, id, .. } => self.acted(task).0 = id.0,
            StepEvent::Step { action, .. } => {
                self.acted(action).1 += 1;
                (self.last, self.decisions) = (action, 0);
            }
            _ => {}
        }
        self.plain.observe(event);
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
