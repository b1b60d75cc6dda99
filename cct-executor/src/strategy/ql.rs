//! QL: learns from earlier iterations to go where they have not been, by Q-learning.
//!
//! S. Mukherjee, P. Deligiannis, A. Biswas and A. Lal, "Learning-based controlled concurrency
//! testing", OOPSLA 2020; the strategy QL with its optimisations OPT-1 and OPT-2.
//!
//! Guarantee: none beyond that of [`random`](super::random), which it equals in states that were
//! not met before: no enabled action ever has probability 0 (up to `e^-40` of the best one's).
//!
//! How: an action `a` in a state `s` has a value `Q(s, a)`, 0 at first. Enabled actions are chosen
//! with probability proportional to `e^Q`. When the iteration is over, from its last decision to its
//! first, `Q(s, a) := (1 - alpha) Q(s, a) + alpha (R + gamma max Q(s', .))`, with `s'` the state of
//! the next decision, or the last state. `R` is minus the number of visits of `s'` over all
//! iterations (OPT-1; -1 with `visits=off`), times the penalty that user code attached to the
//! decision, if any (OPT-2, see [`observe::penalty`](crate::observe::penalty)).
//!
//! The paper's variants: QL^d is `state=kinds`, which is the default, QL^i `state=inbox`, QL^c
//! `state=custom`, QL^b `visits=off,penalties=off`, and QL-NDN `data=random`.
//!
//! Departures, none of which changes what is learnt but for details:
//! - The maximum ranges over actions that were enabled at `s'`, and counts as 0 if one of them was
//!   untried when the next decision was taken (and was not the one chosen). The paper's formula
//!   ranges over all actions that have a value at `s'`.
//! - States where only one action was enabled are no decisions, and are not seen.
//! - From the 1,000th decision of an iteration on, a state that is met more than 100 times is decided
//!   at random. What is learnt takes effect when the iteration is over; in two tasks that poll and
//!   yield in turns it would go round in one of their loops until it is cut, and next time in the
//!   other. (Not with `visits=off`, `update=step` or `compat=psharp`.)
//! - OPT-2's penalty of 1000 is any number, and is attached to a decision, not to a message type.
//! - Weights of a data choice are its prior: the odds are proportional to weight times `e^Q`.
//! - States are told apart by 64 bits, and values have 32 bits.
//! - Memory is bounded: seldom visited states are forgotten, see [`Ql::memory_mib`].
//! - `compat=psharp` does as the paper's artifact, where that differs: updates from the first
//!   decision to the last, without the last state (so the last decision is not updated); the
//!   maximum over all actions that were ever enabled at `s'`;
//!   everything forgotten after a failure; and a softmax without subtracting the maximum, so that
//!   once all values at a state are below some -700 the action enabled there last is taken (of two
//!   values the first).
//!
//! Measured by `the_string_is_matched_more_often_than_by_chance`,
//! `the_update_is_that_of_the_paper` and `softmax_follows_the_values`.

use super::qtable::policy::Policy;
use super::qtable::settings::{self, Settings, StateView, switch, unless};
use super::qtable::walk::Walk;
use super::qtable::{Counts, State, Table, saved};
use super::spec::{Entry, Kind, Parameter};
use super::{Flow, Interests, Lanes, StepEvent, Strategy, draw};
use crate::words::seed::Generator;
use crate::words::{EnabledSet, Iteration, IterationEnd, Outcome, Pick, SchedulingPoint, Seed};

const ALPHA: f64 = 0.3;
const GAMMA: f64 = 0.7;
/// Decisions of an iteration before loops are looked for.
const PATIENCE: usize = 1_000;
/// A state that is met more often since is in a loop.
const ROUNDS: u32 = 100;
/// What leads out of it.
const ANY: Policy = Policy::Greedy { epsilon: 1.0 };

/// Q-learning; see the module's documentation.
#[derive(Clone, Debug)]
pub struct Ql {
    name: &'static str,
    alpha: f64,
    gamma: f64,
    visits: bool,
    penalties: bool,
    random_data: bool,
    psharp: bool,
    by_step: bool,
    settings: Settings,

    generator: Generator,
    policy: Policy,
    table: Table,
    walk: Walk,
}

impl Ql {
    pub(super) const ENTRY: Entry = Entry {
        name: "ql",
        help: "learns to avoid states that earlier iterations have visited often (Q-learning)",
        parameters: &[
            Parameter {
                name: "alpha",
                help: "learning rate (0.3)",
                kind: Kind::Real(0.001, 1.0),
            },
            Parameter {
                name: "gamma",
                help: "discount of what comes later (0.7)",
                kind: Kind::Real(0.0, 1.0),
            },
            Parameter {
                name: "visits",
                help: "reward less the more often a state was visited, not just -1 (on)",
                kind: Kind::Switch,
            },
            Parameter {
                name: "penalties",
                help: "heed what user code says is costly (on)",
                kind: Kind::Switch,
            },
            Parameter {
                name: "data",
                help: "how values are drawn: by what was learnt, or as `random` does (learn)",
                kind: Kind::Word(&["learn", "random"]),
            },
            Parameter {
                name: "compat",
                help: "`psharp`: as the paper's artifact, where that differs (none)",
                kind: Kind::Word(&["none", "psharp"]),
            },
            settings::STATE,
            settings::LANES,
            settings::MEMORY,
        ],
        build: |arguments| {
            let mut ql = Ql::new()
                .alpha(arguments.real("alpha").unwrap_or(ALPHA))
                .gamma(arguments.real("gamma").unwrap_or(GAMMA))
                .visits(arguments.number("visits") != Some(0))
                .penalties(arguments.number("penalties") != Some(0));
            ql.random_data = arguments.word("data") == Some(1);
            let settings = Settings::of(arguments, StateView::Kinds);
            ql.set(arguments.word("compat") == Some(1), settings);
            Box::new(ql)
        },
    };

    /// QL with both optimisations: QL^d.
    pub fn new() -> Ql {
        let settings = Settings {
            state: StateView::Kinds,
            usual: StateView::Kinds,
            ..Settings::default()
        };
        Ql {
            name: Self::ENTRY.name,
            alpha: ALPHA,
            gamma: GAMMA,
            visits: true,
            penalties: true,
            random_data: false,
            psharp: false,
            by_step: false,
            settings,
            generator: Seed(0).stream("ql"),
            policy: Policy::Softmax,
            table: Table::new(Counts::States, settings.bytes_max()),
            walk: Walk::new(0.0, false),
        }
    }

    /// The same update under another name, with nothing but visits for a reward.
    pub(super) fn negrl_visits(alpha: f64, gamma: f64, by_step: bool, settings: Settings) -> Ql {
        let mut ql = Ql::new().alpha(alpha).gamma(gamma).penalties(false);
        ql.name = "negrl-visits";
        ql.by_step = by_step;
        ql.set(false, settings);
        ql
    }

    /// The learning rate (0.3).
    ///
    /// # Panics
    /// If it is not above 0 and at most 1.
    #[track_caller]
    #[must_use]
    pub fn alpha(mut self, alpha: f64) -> Ql {
        assert!(alpha > 0.0 && alpha <= 1.0, "ql: alpha is {alpha}");
        self.alpha = alpha;
        self
    }

    /// The discount of what comes later (0.7).
    ///
    /// # Panics
    /// If it is not from 0 to 1.
    #[track_caller]
    #[must_use]
    pub fn gamma(mut self, gamma: f64) -> Ql {
        assert!((0.0..=1.0).contains(&gamma), "ql: gamma is {gamma}");
        self.gamma = gamma;
        self
    }

    /// Whether the reward is minus the number of visits (OPT-1, on), or just -1.
    #[must_use]
    pub fn visits(mut self, on: bool) -> Ql {
        self.visits = on;
        self
    }

    /// Whether what user code says is costly is heeded (OPT-2, on).
    #[must_use]
    pub fn penalties(mut self, on: bool) -> Ql {
        self.penalties = on;
        self
    }

    /// What tells states apart (all that is known but what user code observes).
    #[must_use]
    pub fn state(mut self, view: StateView) -> Ql {
        self.settings.state = view;
        self
    }

    /// How many tables learn side by side (1), each from its share of the iterations. So many
    /// worker threads can be used.
    ///
    /// # Panics
    /// If it is not from 1 to 64.
    #[track_caller]
    #[must_use]
    pub fn lanes(mut self, lanes: u32) -> Ql {
        assert!((1..=64).contains(&lanes), "ql: {lanes} lanes");
        self.settings.lanes = lanes;
        self
    }

    /// How many MiB each table takes at most (256). Beyond it the less visited half of the states
    /// is forgotten, which the report says.
    ///
    /// # Panics
    /// If it is 0.
    #[track_caller]
    #[must_use]
    pub fn memory_mib(mut self, mib: u64) -> Ql {
        assert!(mib > 0, "ql: no memory");
        self.settings.memory_mib = mib;
        self.set(self.psharp, self.settings);
        self
    }

    /// Whether this state was met so often in this iteration that it must be in a loop.
    #[cold]
    fn goes_round(&mut self, key: u64) -> bool {
        let learns_late = self.visits && !self.by_step && !self.psharp;
        learns_late && self.walk.times(key) > ROUNDS
    }

    fn set(&mut self, psharp: bool, settings: Settings) {
        self.psharp = psharp;
        self.settings = settings;
        self.table = Table::new(Counts::States, settings.bytes_max());
        self.walk = Walk::new(0.0, psharp);
        self.policy = match psharp {
            true => Policy::Underflowing,
            false => Policy::Softmax,
        };
    }

    /// The reward of reaching a state that was visited so often, by a decision with this penalty.
    fn reward(&self, visits: u32, penalty: f32) -> f64 {
        let visits = if self.visits { f64::from(visits) } else { 1.0 };
        -visits * f64::from(penalty).max(1.0)
    }

    /// How the value of a decision moves towards what it led to.
    #[inline(always)]
    fn change(&self, step: usize, visits: u32, next: f32) -> impl Fn(f32) -> f32 + use<> {
        let penalty = self.walk.steps[step].extra;
        let target = self.reward(visits, penalty) + self.gamma * f64::from(next);
        let alpha = self.alpha;
        // In 32 bits a value could become infinite only after 10^38 visits.
        move |value| ((1.0 - alpha) * f64::from(value) + alpha * target) as f32
    }

    /// From the last decision, which led to this state, from which this is the best.
    fn learn_last(&mut self, state: Option<State>, next: f32) {
        let visits = state.map_or(1, |state| self.table.visits(state));
        if let Some(last) = self.walk.steps.len().checked_sub(1) {
            self.walk.settle_since(&mut self.table, last);
            let change = self.change(last, visits, next);
            self.walk.change(&mut self.table, last, change);
        }
    }

    /// Counts that the last state was reached.
    fn reach(&mut self, end: &IterationEnd) -> Option<State> {
        let key = self.settings.key(end.fingerprint, &end.parts);
        self.table.reach(key)
    }

    /// From the last decision to the first.
    fn learn(&mut self, end: &IterationEnd) {
        let last = self.reach(end);
        let mut visits = last.map_or(1, |last| self.table.visits(last));
        let mut next = 0.0;
        for step in (0..self.walk.steps.len()).rev() {
            let change = self.change(step, visits, next);
            next = self.walk.revalue(&mut self.table, step, change);
            let state = self.walk.state(step);
            visits = state.map_or(1, |state| self.table.visits(state));
        }
    }

    /// As the artifact: from the first decision to the last but one.
    fn learn_as_psharp(&mut self, end: &IterationEnd) {
        for step in 0..self.walk.steps.len() {
            self.walk.register(&mut self.table, step);
        }
        for step in 1..self.walk.steps.len() {
            let state = self.walk.state(step);
            let arms = state.into_iter().flat_map(|state| self.table.arms(state));
            let next = arms.map(|arm| arm.value).fold(f32::NEG_INFINITY, f32::max);
            let next = if next.is_finite() { next } else { 0.0 };
            let visits = state.map_or(1, |state| self.table.visits(state));
            let change = self.change(step - 1, visits, next);
            self.walk.change(&mut self.table, step - 1, change);
        }
        if matches!(end.outcome, Outcome::Failed(_)) {
            self.table.clear();
        }
    }
}

impl Default for Ql {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for Ql {
    fn describe(&self) -> String {
        let penalties = self.name == Self::ENTRY.name;
        let own = [
            ("alpha", unless(self.alpha, ALPHA)),
            ("gamma", unless(self.gamma, GAMMA)),
            ("visits", switch(self.visits, true)),
            ("penalties", switch(self.penalties, penalties)),
            ("update", settings::by_step(self.by_step)),
            ("data", self.random_data.then(|| "random".to_owned())),
            ("compat", self.psharp.then(|| "psharp".to_owned())),
        ];
        self.settings.describe(self.name, &own)
    }

    fn lanes(&self) -> Lanes {
        self.settings.lanes()
    }

    fn interests(&self) -> Interests {
        Interests {
            rewards: self.penalties,
            parts: true,
            ..Interests::default()
        }
    }

    fn begin(&mut self, iteration: &Iteration) -> Flow {
        self.generator = iteration.seed.stream("ql");
        self.walk.clear();
        Flow::Continue
    }

    #[inline]
    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        if let (true, EnabledSet::Values(values)) = (self.random_data, enabled) {
            return enabled.pick(draw::value(&mut self.generator, values));
        }
        let key = self.settings.key(point.fingerprint, &point.parts);
        let best = self
            .by_step
            .then(|| self.walk.best_now(&self.table, key, enabled));
        let key = self.walk.key(key, enabled);
        let known = self.table.reach(key);
        if let Some(best) = best {
            self.learn_last(known, best);
        }
        let in_loop = self.walk.steps.len() >= PATIENCE && self.goes_round(key);
        let policy = if in_loop { &ANY } else { &self.policy };
        let (table, generator) = (&self.table, &mut self.generator);
        self.walk
            .pick(table, policy, (key, known), enabled, generator)
    }

    fn observe(&mut self, event: &StepEvent<'_>) {
        if let (StepEvent::Penalty { amount, .. }, Some(step)) = (event, self.walk.last()) {
            step.extra += *amount as f32;
        }
    }

    fn end(&mut self, end: &IterationEnd) {
        if self.by_step {
            let last = self.reach(end);
            self.learn_last(last, 0.0);
        } else if self.psharp {
            self.learn_as_psharp(end);
        } else {
            self.learn(end);
        }
        // States become known on the way: for an iteration as long as this.
        self.table.make_room(2 * self.walk.steps.len() + 2);
    }

    fn remarks(&self) -> Vec<String> {
        self.table.remarks(self.settings.memory_mib)
    }

    fn save(&self) -> Option<Vec<u8>> {
        Some(saved::save(
            &self.describe(),
            &[],
            &self.walk.numbers,
            &self.table,
        ))
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), String> {
        (_, self.walk.numbers, self.table) = saved::load(&self.describe(), bytes, &self.table)?;
        Ok(())
    }
}

#[cfg(test)]
#[path = "ql_tests.rs"]
mod tests;
