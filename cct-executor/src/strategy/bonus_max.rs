//! BonusMaxRL: learns to take what was taken least, and to go where that is still possible.
//!
//! A. Borgarelli, C. Enea, R. Majumdar and S. Nagendra, "Reward augmentation in reinforcement
//! learning for testing distributed systems", OOPSLA 2024, algorithm 2.
//!
//! Guarantee: in states that were not met before, and with probability `eps` in all others, as
//! [`random`](super::random).
//!
//! How: an action `a` in a state `s` has a value `Q(s, a)`, 1 at first, and was taken `V(s, a)`
//! times. The enabled action of highest value is chosen, ties at random; with probability `eps` any.
//! When the iteration is over, from its last decision to its first, `V` is increased and
//! `Q(s, a) := (1 - alpha) Q(s, a) + alpha max(1/V, gamma max Q(s', .))`, with `s'` the state of the
//! next decision; after the last one, the second maximum is 0. Taking the larger of bonus and future
//! instead of their sum keeps values between 0 and 1, and the way to a new state attractive.
//!
//! Departures:
//! - The maximum ranges over actions that were enabled at `s'`, and counts as 1 at least if one of
//!   them was untried when the next decision was taken (and was not the one chosen).
//! - States where only one action was enabled are no decisions, and are not seen.
//! - With `update=step` values change after each decision, as in the paper's artifact, and not at
//!   the end of the iteration, as the paper has it. Then the best action of a state may be another
//!   one the next time that the same iteration comes by, and no iteration is spent in a circle.
//! - Beyond the paper: reaching a `sometimes!` in the `n`th iteration that does gives the decision
//!   before it a bonus of `1/n`, raising a `watermark!` one of 1, where that is more than `1/V`.
//!   Tests without either learn as in the paper.
//! - Values of a data choice that are as good as each other are drawn by weight.
//! - States are told apart by 64 bits, actions of one state by 32, and values have 32 bits. Memory
//!   is bounded: seldom visited states are forgotten, see [`BonusMax::memory_mib`].
//!
//! Measured by `more_cubes_are_seen_than_by_chance` and `the_update_is_that_of_the_paper`.

use super::qtable::marks::Marks;
use super::qtable::policy::Policy;
use super::qtable::settings::{self, Settings, StateView, unless};
use super::qtable::walk::Walk;
use super::qtable::{Counts, Table, saved};
use super::spec::{Entry, Kind, Parameter};
use super::{Flow, Interests, Lanes, StepEvent, Strategy};
use crate::words::seed::Generator;
use crate::words::{EnabledSet, Iteration, IterationEnd, Pick, SchedulingPoint, Seed};

pub(super) const ALPHA: f64 = 0.2;
pub(super) const GAMMA: f64 = 0.95;
pub(super) const EPSILON: f64 = 0.05;

pub(super) const PARAMETERS: [Parameter; 3] = [
    Parameter {
        name: "alpha",
        help: "learning rate (0.2)",
        kind: Kind::Real(0.001, 1.0),
    },
    Parameter {
        name: "gamma",
        help: "discount of what comes later (0.95)",
        kind: Kind::Real(0.0, 1.0),
    },
    Parameter {
        name: "eps",
        help: "probability of a random choice (0.05)",
        kind: Kind::Real(0.0, 1.0),
    },
];

/// Learns by decaying bonuses; see the module's documentation.
#[derive(Clone, Debug)]
pub struct BonusMax {
    alpha: f64,
    gamma: f64,
    epsilon: f64,
    by_step: bool,
    settings: Settings,

    generator: Generator,
    policy: Policy,
    table: Table,
    walk: Walk,
    marks: Marks,
}

impl BonusMax {
    pub(super) const ENTRY: Entry = Entry {
        name: "bonus-max",
        help: "learns to go where something is new, by bonuses that decay with each visit",
        parameters: &{
            let [alpha, gamma, epsilon] = PARAMETERS;
            [
                alpha,
                gamma,
                epsilon,
                settings::UPDATE,
                settings::STATE,
                settings::LANES,
                settings::MEMORY,
            ]
        },
        build: |arguments| {
            let mut bonus_max = BonusMax::with(
                arguments.real("alpha").unwrap_or(ALPHA),
                arguments.real("gamma").unwrap_or(GAMMA),
                arguments.real("eps").unwrap_or(EPSILON),
                Settings::of(arguments, StateView::Full),
            );
            bonus_max.by_step = arguments.word("update") == Some(1);
            Box::new(bonus_max)
        },
    };

    /// With the paper's parameters, over the full state.
    pub fn new() -> BonusMax {
        BonusMax::with(ALPHA, GAMMA, EPSILON, Settings::default())
    }

    fn with(alpha: f64, gamma: f64, epsilon: f64, settings: Settings) -> BonusMax {
        BonusMax {
            alpha,
            gamma,
            epsilon,
            by_step: false,
            settings,
            generator: Seed(0).stream("bonus-max"),
            policy: Policy::Greedy { epsilon },
            table: Table::new(Counts::Arms, settings.bytes_max()),
            walk: Walk::new(1.0, false),
            marks: Marks::default(),
        }
    }

    /// Whether values change after each decision, not just at the end of the iteration (off).
    #[must_use]
    pub fn update_by_step(mut self, on: bool) -> BonusMax {
        self.by_step = on;
        self
    }

    /// What tells states apart (all that is known).
    #[must_use]
    pub fn state(mut self, view: StateView) -> BonusMax {
        self.settings.state = view;
        self
    }

    /// How many MiB each table takes at most (256). Beyond it the less visited half of the states
    /// is forgotten, which the report says.
    ///
    /// # Panics
    /// If it is 0.
    #[track_caller]
    #[must_use]
    pub fn memory_mib(mut self, mib: u64) -> BonusMax {
        assert!(mib > 0, "bonus-max: no memory");
        self.settings.memory_mib = mib;
        BonusMax::with(self.alpha, self.gamma, self.epsilon, self.settings)
            .update_by_step(self.by_step)
    }

    /// Learns from a decision, given the best that can be done after it.
    #[inline]
    fn learn(&mut self, step: usize, next: f32) {
        self.walk.take(&mut self.table, step, self.alpha, |bonus| {
            bonus.max(self.gamma * f64::from(next))
        });
    }

    /// Learns from the last decision, given the best that can be done now.
    fn learn_last(&mut self, next: f32) {
        if let Some(step) = self.walk.settle_last(&mut self.table) {
            self.learn(step, next);
        }
    }
}

impl Default for BonusMax {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for BonusMax {
    fn describe(&self) -> String {
        let own = [
            ("alpha", unless(self.alpha, ALPHA)),
            ("gamma", unless(self.gamma, GAMMA)),
            ("eps", unless(self.epsilon, EPSILON)),
            ("update", settings::update(self.by_step)),
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
        self.generator = iteration.seed.stream("bonus-max");
        self.walk.clear();
        self.marks.begin();
        Flow::Continue
    }

    #[inline]
    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        let key = self.settings.key(point.fingerprint, &point.parts);
        if self.by_step {
            let next = self.walk.best_now(&self.table, key, enabled);
            self.learn_last(next);
        }
        let (table, generator) = (&self.table, &mut self.generator);
        self.walk.pick(table, &self.policy, key, enabled, generator)
    }

    fn observe(&mut self, event: &StepEvent<'_>) {
        let bonus = self.marks.bonus(event);
        if let Some(step) = self.walk.last() {
            step.extra = step.extra.max(bonus);
        }
    }

    fn end(&mut self, _: &IterationEnd) {
        if self.by_step {
            self.learn_last(0.0);
            // For an iteration as long as this.
            self.table.make_room(self.walk.steps.len() + 1);
            return;
        }
        self.walk.settle(&mut self.table);
        let mut next = 0.0;
        for step in (0..self.walk.steps.len()).rev() {
            self.learn(step, next);
            next = self.walk.best(&self.table, step);
        }
    }

    fn remarks(&self) -> Vec<String> {
        self.table.remarks(self.settings.memory_mib)
    }

    fn save(&self) -> Option<Vec<u8>> {
        Some(saved::save(
            &self.describe(),
            &self.marks.save(),
            &self.table,
        ))
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), String> {
        let (marks, table) = saved::load(&self.describe(), bytes, &self.table)?;
        (self.marks, self.table) = (Marks::load(&marks), table);
        Ok(())
    }
}

#[cfg(test)]
#[path = "bonus_max_tests.rs"]
mod tests;
