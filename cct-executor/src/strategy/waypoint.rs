//! WaypointRL: `bonus-max`, led to a target by predicates that hold on the way.
//!
//! A. Borgarelli, C. Enea, R. Majumdar and S. Nagendra, "Reward augmentation in reinforcement
//! learning for testing distributed systems", OOPSLA 2024, algorithms 3 and 4.
//!
//! Guarantee: in states that were not met before, and with probability `eps` in all others, as
//! [`random`](super::random).
//!
//! How: the test places predicates with [`waypoint!`](crate::waypoint). The highest that holds is
//! the active one (0, which always holds, if no other does); each has values and counts of its
//! own. The last predicate is the target. Decisions are taken, and within one predicate values are
//! updated, as [`bonus_max`](super::bonus_max) does. A decision after which another predicate is
//! active (and which was not taken in the target) is worth `max(1/V, gamma (progR + finalR))`
//! instead of `max(1/V, gamma max Q(s', .))`: `progR` is 2 if that predicate is higher and 0 if it is
//! lower, `finalR` is `2 gamma^d` if the iteration reached the target `d` decisions later and 0 if
//! it did not. With `one-time=on` the target stays active once it was reached.
//!
//! Departures, besides those of [`bonus_max`](super::bonus_max), bonuses for `sometimes!` and
//! `watermark!` included:
//! - The target is the last predicate that was declared by the time of a decision, or `target` if
//!   that is given.
//! - `finalR` looks for the next time that the target is reached, the last state included; the paper
//!   counts from the first time, also when that has passed. Distances are those of the iteration
//!   without its circles. Decisions of a circle, which are learnt from before it is over, and with
//!   `update=step` all, have `finalR` only if they led to the target or were followed by it in the
//!   circle.
//!
//! Measured by `waypoints_lead_to_the_target`, `the_update_is_that_of_the_paper` and
//! `circles_do_not_count_as_distance`.

use super::bonus_max::{ALPHA, EPSILON, GAMMA, PARAMETERS};
use super::qtable::marks::Marks;
use super::qtable::policy::Policy;
use super::qtable::settings::{self, Settings, StateView, Update, switch, unless};
use super::qtable::walk::Walk;
use super::qtable::{Counts, Table, saved};
use super::spec::{Entry, Kind, Parameter};
use super::{Flow, Interests, Lanes, StepEvent, Strategy};
use crate::words::fingerprint::mix;
use crate::words::seed::Generator;
use crate::words::{EnabledSet, Iteration, IterationEnd, Pick, SchedulingPoint, Seed};

/// For a higher predicate, and for the target.
const REWARD: f64 = 2.0;

/// Learns to reach a target; see the module's documentation.
#[derive(Clone, Debug)]
pub struct Waypoint {
    alpha: f64,
    gamma: f64,
    epsilon: f64,
    one_time: bool,
    given_target: Option<u32>,
    update: Update,
    settings: Settings,

    generator: Generator,
    policy: Policy,
    table: Table,
    walk: Walk,
    marks: Marks,
    /// The target has been reached and stays active.
    arrived: bool,
    /// The target, as far as it is known; 0 without waypoints.
    target: u32,
    /// Taken in this iteration.
    decisions: usize,
}

impl Waypoint {
    pub(super) const ENTRY: Entry = Entry {
        name: "waypoint",
        help: "learns to reach the last `waypoint!`, from each to the next",
        parameters: &{
            let [alpha, gamma, epsilon] = PARAMETERS;
            [
                alpha,
                gamma,
                epsilon,
                Parameter {
                    name: "one-time",
                    help: "once reached, the target counts as reached for the rest of the iteration (off)",
                    kind: Kind::Switch,
                },
                Parameter {
                    name: "target",
                    help: "which waypoint is the target, from 1 (the last)",
                    kind: Kind::Number(1, 1000),
                },
                settings::UPDATE,
                settings::STATE,
                settings::LANES,
                settings::MEMORY,
            ]
        },
        build: |arguments| {
            let mut waypoint = Waypoint::with(
                arguments.real("alpha").unwrap_or(ALPHA),
                arguments.real("gamma").unwrap_or(GAMMA),
                arguments.real("eps").unwrap_or(EPSILON),
                Settings::of(arguments, StateView::Full),
            );
            waypoint.one_time = arguments.is_on("one-time");
            waypoint.given_target = arguments.number("target").map(|target| target as u32);
            waypoint.update = Update::of(arguments);
            Box::new(waypoint)
        },
    };

    /// With the paper's parameters, over the full state.
    pub fn new() -> Waypoint {
        Waypoint::with(ALPHA, GAMMA, EPSILON, Settings::default())
    }

    /// Whether the target counts as reached for the rest of the iteration (off).
    #[must_use]
    pub fn one_time(mut self, on: bool) -> Waypoint {
        self.one_time = on;
        self
    }

    /// Which waypoint is the target, counted from 1 (the last).
    ///
    /// # Panics
    /// If it is 0.
    #[track_caller]
    #[must_use]
    pub fn target(mut self, waypoint: u32) -> Waypoint {
        assert!(waypoint > 0, "waypoint: waypoints are counted from 1");
        self.given_target = Some(waypoint);
        self
    }

    /// When values change (at the end of the iteration and of each circle).
    #[must_use]
    pub fn update(mut self, update: Update) -> Waypoint {
        self.update = update;
        self
    }

    fn with(alpha: f64, gamma: f64, epsilon: f64, settings: Settings) -> Waypoint {
        Waypoint {
            alpha,
            gamma,
            epsilon,
            one_time: false,
            given_target: None,
            update: Update::default(),
            settings,
            generator: Seed(0).stream("waypoint"),
            policy: Policy::Greedy { epsilon },
            table: Table::new(Counts::Arms, settings.bytes_max()),
            walk: Walk::new(1.0, false).uncapped(),
            marks: Marks::default(),
            arrived: false,
            target: 0,
            decisions: 0,
        }
    }

    /// The active predicate, given the highest that holds.
    #[inline]
    fn active(&mut self, waypoint: u32, declared: u32) -> u32 {
        if self.arrived {
            return self.target;
        }
        self.target = self.given_target.unwrap_or(declared);
        self.arrived = self.one_time && self.target > 0 && waypoint == self.target;
        waypoint
    }

    /// Learns from the decisions since this one, the last first, given the predicate they led to and
    /// the best that can be done after them.
    fn learn_since(&mut self, first: usize, mut to: u32, mut next: f32) {
        let target = self.target;
        let mut target_in = (to == target).then_some(0);
        for step in (first..self.walk.steps.len()).rev() {
            let from = self.walk.steps[step].waypoint;
            let worth = if from == to || from == target {
                self.gamma * f64::from(next)
            } else {
                self.transition(from, to, target_in)
            };
            let worth = |bonus: f64| bonus.max(worth);
            next = self.walk.take(&mut self.table, step, self.alpha, worth);
            target_in = match from == target {
                true => Some(0),
                false => target_in.map(|d: i32| d.saturating_add(1)),
            };
            to = from;
        }
    }

    /// What is learnt before the next decision, which is taken in this state.
    #[inline]
    fn learn_before(&mut self, active: u32, key: u64, enabled: &EnabledSet<'_>) {
        let state = self.walk.key(key, enabled);
        if let Some(first) = self.update.since(&mut self.walk, state) {
            let next = self.walk.best_now(&self.table, key, enabled);
            self.walk.settle_since(&mut self.table, first);
            self.learn_since(first, active, next);
            self.walk.cut(first);
        }
    }

    /// What a decision that led from one predicate to another is worth, apart from its bonus.
    fn transition(&self, from: u32, to: u32, target_in: Option<i32>) -> f64 {
        let progress = if to > from { REWARD } else { 0.0 };
        let arrival = target_in.map_or(0.0, |d| REWARD * power(self.gamma, d));
        self.gamma * (progress + arrival)
    }
}

/// `base^exponent`, the same on every machine.
fn power(base: f64, exponent: i32) -> f64 {
    let (mut square, mut left, mut result) = (base, exponent, 1.0);
    while left > 0 {
        if left & 1 == 1 {
            result *= square;
        }
        square *= square;
        left >>= 1;
    }
    result
}

impl Default for Waypoint {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for Waypoint {
    fn describe(&self) -> String {
        let own = [
            ("alpha", unless(self.alpha, ALPHA)),
            ("gamma", unless(self.gamma, GAMMA)),
            ("eps", unless(self.epsilon, EPSILON)),
            ("one-time", switch(self.one_time, false)),
            ("target", self.given_target.map(|target| target.to_string())),
            ("update", self.update.word()),
        ];
        self.settings.describe(Self::ENTRY.name, &own)
    }

    fn lanes(&self) -> Lanes {
        self.settings.lanes()
    }

    fn interests(&self) -> Interests {
        Interests {
            rewards: true,
            parts: true,
            ..Interests::default()
        }
    }

    fn begin(&mut self, iteration: &Iteration) -> Flow {
        self.generator = iteration.seed.stream("waypoint");
        self.walk.clear();
        self.marks.begin();
        self.decisions = 0;
        self.arrived = false;
        Flow::Continue
    }

    #[inline]
    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        let active = self.active(point.waypoint, point.waypoints);
        let key = self.settings.key(point.fingerprint, &point.parts);
        let key = key.wrapping_add(mix(u64::from(active)));
        self.decisions += 1;
        self.learn_before(active, key, enabled);
        let state = self.walk.find(&self.table, key, enabled);
        let (table, generator) = (&self.table, &mut self.generator);
        let pick = self
            .walk
            .pick(table, &self.policy, state, enabled, generator);
        if let Some(step) = self.walk.last() {
            step.waypoint = active;
        }
        pick
    }

    fn observe(&mut self, event: &StepEvent<'_>) {
        let bonus = self.marks.bonus(event);
        if let Some(step) = self.walk.last() {
            step.extra = step.extra.max(bonus);
        }
    }

    fn end(&mut self, end: &IterationEnd) {
        self.walk.settle(&mut self.table);
        let to = self.active(end.waypoint, end.waypoints);
        self.learn_since(0, to, 0.0);
        if self.update != Update::End {
            // For an iteration as long as this, whose states become known on the way.
            self.table.make_room(self.decisions + 1);
        }
    }

    fn adapted(&self) -> String {
        match self.given_target {
            None if self.target > 0 => format!("target={}", self.target),
            _ => String::new(),
        }
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = self.table.remarks(self.settings.memory_mib);
        if self.target == 0 {
            remarks.push("the test declares no `waypoint!`: this is `bonus-max`".to_owned());
        }
        remarks
    }

    fn save(&self) -> Option<Vec<u8>> {
        Some(saved::save(
            &self.describe(),
            &self.marks.save(),
            &self.walk.numbers,
            &self.table,
        ))
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), String> {
        let (marks, numbers, table) = saved::load(&self.describe(), bytes, &self.table)?;
        (self.marks, self.walk.numbers, self.table) = (Marks::load(&marks), numbers, table);
        Ok(())
    }
}

#[cfg(test)]
#[path = "waypoint_tests.rs"]
mod tests;
