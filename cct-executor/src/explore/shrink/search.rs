//! The search for a shorter schedule, whoever runs the attempts.

use super::given::{Given, Tried};
use super::guide::Departure;
use super::reduce::{Attempt, bypass, reduce};
use crate::explore::same::alike;
use crate::explore::worker::now;
use crate::words::{Failure, FailureKind, Outcome};
use std::time::{Duration, Instant};

/// Schedules that are tried.
const ATTEMPTS: u64 = 2_000;
/// After that no further one is tried, if so many were...
const PATIENCE: Duration = Duration::from_secs(3);
const FEW: u64 = 100;
/// ...and none after that: an attempt may take long, and the machine be busy.
const PATIENCE_MAX: Duration = Duration::from_secs(10);
/// Other places at which two actions may overtake each other that are tried.
const PLACES: usize = 50;

/// Runs an attempt. `None` if it was lost.
pub(in crate::explore) type Tries<'a> = Box<dyn Fn(Given) -> Option<Tried> + 'a>;

/// A search for a shorter schedule.
pub(super) struct Search<'a> {
    tries: Tries<'a>,
    sought: FailureKind,
    /// Where tasks stood at the end of the schedule that was found.
    stood: Vec<String>,
    begin: Instant,
    pub(super) attempts: u64,
    /// How often the schedule that was found departs from the plain one.
    pub(super) departures: u64,
    /// The last one that failed in the same way.
    pub(super) best: Tried,
}

impl<'a> Search<'a> {
    /// From the schedule that was found. `None` if it does not fail as is sought.
    pub(super) fn begin(tries: Tries<'a>, sought: FailureKind, found: Tried) -> Option<Search<'a>> {
        let search = Search {
            tries,
            sought,
            stood: found.stand.clone(),
            begin: now(),
            attempts: 0,
            departures: found.departures.len() as u64,
            best: found,
        };
        search.is_it(&search.best).then_some(search)
    }

    /// Returns whether it was not cut short.
    pub(super) fn run(&mut self) -> bool {
        let all = self.best.departures.clone();
        let (mut needed, mut complete) = reduce(all, &mut |fewer| self.attempt(fewer));
        while complete && needed.len() > 1 {
            let count = needed.len();
            // Many strategies come to a task by way of others.
            (needed, complete) = bypass(needed, Departure::to, &mut |fewer| self.attempt(fewer));
            if complete && needed.len() == count {
                (needed, complete) = self.elsewhere(needed);
            }
            if !complete || needed.len() == count {
                break;
            }
            (needed, complete) = reduce(needed, &mut |fewer| self.attempt(fewer));
        }
        complete
    }

    /// Of two departures one will do, maybe, if the same actions overtake each other at another place.
    fn elsewhere(&mut self, needed: Vec<Departure>) -> (Vec<Departure>, bool) {
        for at in 1..needed.len() {
            let (before, after) = (&needed[..at - 1], &needed[at + 1..]);
            let looking = Given {
                patterns: needed[at - 1..=at].to_vec(),
                ..Given::with(before)
            };
            let Some(tried) = (self.tries)(looking) else {
                return (needed, false);
            };
            for other in tried.others.iter().take(PLACES) {
                let fewer = [before, std::slice::from_ref(other), after].concat();
                match self.attempt(&fewer) {
                    Attempt::Fails(used) => return (used, true),
                    Attempt::Passes => {}
                    Attempt::OutOfTime => return (needed, false),
                }
            }
        }
        (needed, true)
    }

    fn attempt(&mut self, departures: &[Departure]) -> Attempt<Departure> {
        if self.attempts >= ATTEMPTS || self.took_long() {
            return Attempt::OutOfTime;
        }
        self.attempts += 1;
        match (self.tries)(Given::with(departures)) {
            None => Attempt::OutOfTime, // a thread was lost: that is enough
            Some(tried) if self.is_it(&tried) && self.lasts(departures, &tried) => {
                self.best = tried;
                Attempt::Fails(self.best.departures.clone())
            }
            Some(_) => Attempt::Passes,
        }
    }

    fn took_long(&self) -> bool {
        let taken = now().saturating_duration_since(self.begin);
        taken >= PATIENCE_MAX || taken >= PATIENCE && self.attempts >= FEW
    }

    /// Whether it is no matter of the values that are drawn once the test hangs, nor of who is held back.
    fn lasts(&self, departures: &[Departure], tried: &Tried) -> bool {
        let Outcome::Failed(Failure {
            kind:
                FailureKind::Hang { .. } | FailureKind::Endless | FailureKind::PartialDeadlock { .. },
            step,
        }) = tried.outcome
        else {
            return true;
        };
        let fairly = Given {
            fair_after: Some(step),
            ..Given::with(departures)
        };
        (self.tries)(fairly).is_some_and(|fairly| self.is_it(&fairly))
    }

    /// Whether this is the failure that was found: for tasks that wait, at no other places.
    fn is_it(&self, tried: &Tried) -> bool {
        tried.kind().is_some_and(|kind| alike(&self.sought, kind))
            && tried.stand.iter().all(|place| self.stood.contains(place))
    }
}
