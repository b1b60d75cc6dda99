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
//! - When the iteration is back in a state in which it has been, the decisions since then are a
//!   circle: they are learnt from at once, from the last to the first, and are done with. The paper
//!   learns at the end only, `update=end` here, and presumes that states are not met twice. Where they
//!   are, its best action is the same each time, and iterations are spent in circles. In programs
//!   whose states tell how far they are, hardly any state comes twice, and it makes no difference.
//!   `update=step` learns after each decision, as the paper's artifact does, which takes many
//!   iterations to carry a value back from the end of a long one.
//! - The maximum ranges over actions that were enabled at `s'`, and counts as 1 at least if one of
//!   them was untried when the next decision was taken (and was not the one chosen).
//! - States where only one action was enabled are no decisions, and are not seen.
//! - Beyond the paper: reaching a `sometimes!` in the `n`th iteration that does gives the decision
//!   before it a bonus of `1/n`, raising a `watermark!` one of 1, where that is more than `1/V`.
//!   Tests without either learn as in the paper.
//! - Values of a data choice that are as good as each other are drawn by weight.
//! - States are told apart by 64 bits, and values have 32 bits. Memory
//!   is bounded: seldom visited states are forgotten, see [`BonusMax::memory_mib`].
//!
//! Measured by `more_cubes_are_seen_than_by_its_rivals`, `the_update_is_that_of_the_paper` and
//! `a_circle_is_learnt_when_it_closes`.

use super::qtable::marks::Marks;
use super::qtable::policy::Policy;
use super::qtable::settings::{self, Settings, StateView, Update, unless};
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
    update: Update,
    settings: Settings,

    generator: Generator,
    policy: Policy,
    table: Table,
    walk: Walk,
    marks: Marks,
    /// Taken in this iteration.
    decisions: usize,
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
            bonus_max.update = Update::of(arguments);
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
            update: Update::default(),
            settings,
            generator: Seed(0).stream("bonus-max"),
            policy: Policy::Greedy { epsilon },
            table: Table::new(Counts::Arms, settings.bytes_max()),
            walk: Walk::new(1.0, false),
            marks: Marks::default(),
            decisions: 0,
        }
    }

    /// When values change (at the end of the iteration and of each circle).
    #[must_use]
    pub fn update(mut self, update: Update) -> BonusMax {
        self.update = update;
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
        BonusMax::with(self.alpha, self.gamma, self.epsilon, self.settings).update(self.update)
    }

    /// Learns from the decisions since this one, the last first, given the best that can be done after
    /// them.
    #[inline]
    fn learn_since(&mut self, first: usize, mut next: f32) {
        for step in (first..self.walk.steps.len()).rev() {
            next = self.walk.take(&mut self.table, step, self.alpha, |bonus| {
                bonus.max(self.gamma * f64::from(next))
            });
        }
    }

    /// What is learnt before the next decision, which is taken in this state.
    #[inline]
    fn learn_before(&mut self, key: u64, enabled: &EnabledSet<'_>) {
        let state = self.walk.key(key, enabled);
        if let Some(first) = self.update.since(&mut self.walk, state) {
            let next = self.walk.best_now(&self.table, key, enabled);
            self.walk.settle_since(&mut self.table, first);
            self.learn_since(first, next);
            self.walk.cut(first);
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
        self.generator = iteration.seed.stream("bonus-max");
        self.walk.clear();
        self.marks.begin();
        self.decisions = 0;
        Flow::Continue
    }

    #[inline]
    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        let key = self.settings.key(point.fingerprint, &point.parts);
        self.decisions += 1;
        self.learn_before(key, enabled);
        let state = self.walk.find(&self.table, key, enabled);
        let (table, generator) = (&self.table, &mut self.generator);
        self.walk
            .pick(table, &self.policy, state, enabled, generator)
    }

    fn observe(&mut self, event: &StepEvent<'_>) {
        let bonus = self.marks.bonus(event);
        if let Some(step) = self.walk.last() {
            step.extra = step.extra.max(bonus);
        }
    }

    fn end(&mut self, _: &IterationEnd) {
        self.walk.settle(&mut self.table);
        self.learn_since(0, 0.0);
        if self.update != Update::End {
            // For an iteration as long as this, whose states become known on the way.
            self.table.make_room(self.decisions + 1);
        }
    }

    fn remarks(&self) -> Vec<String> {
        self.table.remarks(self.settings.memory_mib)
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
#[path = "bonus_max_tests.rs"]
mod tests;
