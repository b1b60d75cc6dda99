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

use super::what::What;
use crate::execution::{Decider, Stop};
use crate::explore::replay::Replay;
use crate::strategy::{Random, RoundRobin, Strategy};
use crate::words::fingerprint::mix2;
use crate::words::{
    ActionId, ActionKey, EnabledSet, Interests, Pick, SchedulingPoint, StepEvent, Trace,
};
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
#[cfg(unix)]
use std::sync::Arc;

/// Where a decision is taken. No two of an iteration are the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct Place {
    /// What the action that took the last step is known by.
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
#[derive(Clone, Debug)]
pub(in crate::explore) struct Departure {
    place: Place,
    wanted: Wanted,
    /// The step that came of it.
    pub(super) step: u64,
    /// What was taken, and what the plain schedule has there.
    pub(in crate::explore) taken: What,
    pub(in crate::explore) plain: What,
}

/// What is taken where it is not the plain choice.
enum Source {
    Trace(Replay),
    Departures(BTreeMap<Place, Wanted>),
}

/// Follows the plain schedule but for some departures, and keeps those that had an effect.
pub(in crate::explore) struct Guide {
    plain: RoundRobin,
    source: Source,
    /// Departures that are like one of these are looked for,
    patterns: Vec<Departure>,
    /// and could have been taken here.
    pub(in crate::explore) others: Vec<Departure>,
    /// Of each action, by key: what it is known by, and its steps.
    acted: Vec<(u64, u32)>,
    /// How many actions have this id.
    alike: BTreeMap<u64, u32>,
    /// The id of the only choice, which is about to be taken unasked.
    forced: Option<ActionId>,
    last: ActionKey,
    decisions: u32,
    pub(in crate::explore) departures: Vec<Departure>,
    /// After this step there are no departures, and values are drawn.
    fair: Option<(u64, Random)>,
}

impl Departure {
    fn new(place: Place, step: u64, plain: Pick, pick: Pick, enabled: &EnabledSet<'_>) -> Self {
        Departure {
            place,
            wanted: Wanted::of(pick, enabled),
            step,
            taken: What::of(pick, enabled),
            plain: What::of(plain, enabled),
        }
    }

    /// Takes back what `Display` gives, which says nothing of what the choices were.
    #[cfg(unix)]
    pub(in crate::explore) fn read(text: &str) -> Option<Departure> {
        let numbers: Option<Vec<u64>> = text.split(',').map(|one| one.parse().ok()).collect();
        let [last, steps, decisions, id, rank, step] = numbers?[..] else {
            return None;
        };
        let unknown = What::Told(Arc::default());
        Some(Departure {
            place: Place {
                last,
                steps: steps.try_into().ok()?,
                decisions: decisions.try_into().ok()?,
            },
            wanted: Wanted {
                id: ActionId(id),
                rank: rank.try_into().ok()?,
            },
            step,
            taken: unknown.clone(),
            plain: unknown,
        })
    }

    /// The same, with what another process said that was taken, and that the plain schedule has there.
    #[cfg(unix)]
    pub(in crate::explore) fn telling(self, taken: What, plain: What) -> Departure {
        Departure {
            taken,
            plain,
            ..self
        }
    }

    /// At the place of this one, what the other takes.
    pub(super) fn to(&self, other: &Departure) -> Departure {
        Departure {
            wanted: other.wanted,
            ..self.clone()
        }
    }
}

impl fmt::Display for Departure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at, wanted) = (self.place, self.wanted);
        write!(f, "{},{},{},", at.last, at.steps, at.decisions)?;
        write!(f, "{},{},{}", wanted.id.0, wanted.rank, self.step)
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
            patterns: Vec::new(),
            others: Vec::new(),
            acted: Vec::new(),
            alike: BTreeMap::new(),
            forced: None,
            last: ActionKey::from_index(0),
            decisions: 0,
            departures: Vec::new(),
            fair: None,
        }
    }

    /// Replays a trace, and finds out where it departs from the plain schedule.
    pub(in crate::explore) fn along(trace: &Trace) -> Guide {
        Guide::new(Source::Trace(Replay::new(trace)))
    }

    /// The plain schedule but for these departures.
    pub(super) fn with(departures: &[Departure]) -> Guide {
        let pairs = departures.iter().map(|one| (one.place, one.wanted));
        Guide::new(Source::Departures(pairs.collect()))
    }

    /// Finds out where else the same actions could have overtaken each other.
    pub(super) fn looking_for(mut self, patterns: &[Departure]) -> Guide {
        self.patterns = patterns.to_vec();
        self
    }

    /// After this step there are no departures, and values are drawn, where the plain schedule has the first.
    pub(in crate::explore) fn fair_after(mut self, step: u64) -> Guide {
        self.fair = Some((step, Random::new()));
        self
    }

    /// What else could be taken here, as elsewhere.
    fn note_others(&mut self, place: Place, step: u64, plain: Pick, enabled: &EnabledSet<'_>) {
        if !self
            .patterns
            .iter()
            .any(|like| like.place.last == place.last)
        {
            return;
        }
        for wanted in self.patterns.iter().map(|like| like.wanted) {
            if let Some(pick) = wanted.find(enabled).filter(|&pick| pick != plain) {
                self.others
                    .push(Departure::new(place, step, plain, pick, enabled));
            }
        }
    }

    fn acted(&mut self, key: ActionKey) -> &mut (u64, u32) {
        let index = key.index();
        if index >= self.acted.len() {
            self.acted.resize(index + 1, (0, 0));
        }
        &mut self.acted[index]
    }

    /// Learns the id of an action. Those that are alike are told apart by their order: a place is one.
    fn know(&mut self, key: ActionKey, id: ActionId) {
        if self.acted(key).0 != 0 {
            return;
        }
        let before = self.alike.entry(id.0).or_default();
        let known_by = match *before {
            0 => id.0,
            before => mix2(id.0, u64::from(before)),
        };
        *before += 1;
        self.acted(key).0 = known_by;
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
        self.forced = None;
        let place = self.place();
        // A value is drawn in the middle of a step that has been counted.
        let step = point.step + u64::from(enabled.actions().is_some());
        let fair = self.fair.as_mut().filter(|(after, _)| step > *after);
        let pick = match (fair, &mut self.source) {
            (Some(_), _) if enabled.actions().is_some() => plain,
            (Some((_, random)), _) => random.pick(point, enabled),
            (None, Source::Trace(replay)) => replay.pick(point, enabled)?,
            (None, Source::Departures(wanted)) => {
                let wanted = wanted.get(&place);
                let found = wanted.and_then(|wanted| wanted.find(enabled));
                found.unwrap_or(plain)
            }
        };
        if pick != plain {
            let departure = Departure::new(place, step, plain, pick, enabled);
            self.departures.push(departure);
        }
        self.note_others(place, step, plain, enabled);
        if let Some(actions) = enabled.actions() {
            let action = actions.action(pick);
            self.know(action.key(), action.id());
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

    fn follows_failure(&self) -> bool {
        true
    }

    fn interests(&self) -> Interests {
        Interests {
            lifecycle: true,
            steps: true,
            forced: true,
            ..self.plain.interests()
        }
    }

    fn observe(&mut self, event: &StepEvent<'_>) {
        match *event {
            StepEvent::Spawned { task, id, .. } => self.know(task, id),
            StepEvent::Forced { id, .. } => self.forced = Some(id),
            StepEvent::Step { action, .. } => {
                if let Some(id) = self.forced.take() {
                    self.know(action, id);
                }
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
