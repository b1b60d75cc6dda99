//! URW: tasks run with odds proportional to what they have ahead, so that all interleavings are
//! equally likely.
//!
//! H. Zhao, D. Wolff, U. Mathur and A. Roychoudhury, "Selectively uniform concurrency testing",
//! ASPLOS 2025, where it is the special case in which all events are interesting.
//!
//! Guarantee: if tasks block nowhere but for their spawning, and always do as much as in the first
//! iteration, every interleaving has the same probability.
//!
//! How: the run's first iteration is a random walk that counts the events of each task. Afterwards
//! a task is picked with odds proportional to its remaining events, where those of the tasks that
//! it is still to spawn count as its own: at a spawn that much weight moves from parent to child.
//!
//! Departures:
//! - An instance knows one profile, whatever later iterations do. A task that has done all it did
//!   there has weight 1, and one that did not exist there has the mean of all spawned ones.
//! - A task that waits has no weight; it is as if it were absent.
//! - A timer that may fire and a future that may be cancelled have weight 1. A cancellation that is
//!   drawn is put off for a while (see the module `patience`).
//! - Data choices, unknown to the paper, are uniform, or by weight.
//!
//! Measured by `interleavings_of_unequal_tasks_are_uniform` and `spawned_tasks_count_for_their_parent`
//! below, with a false alarm in 10^9.

use super::patience::Patience;
use super::profile::{Profile, Weights};
use super::shares::Shares;
use super::spec::Entry;
use super::{Flow, Interests, StepEvent, Strategy, draw};
use crate::words::enabled::EnabledActions;
use crate::words::seed::Generator;
use crate::words::{ActionKey, EnabledSet, Iteration, IterationEnd, Pick, SchedulingPoint, Seed};

/// Uniform random walk over interleavings.
#[derive(Clone, Debug)]
pub struct Urw {
    picks: Generator,
    values: Generator,
    patience: Patience,
    /// This iteration is being profiled.
    profiling: bool,
    profile: Profile,
    weights: Weights,
    /// By [`ActionKey::index`]: events ahead.
    ahead: Vec<u64>,
    /// Those of the enabled tasks, and of some that were.
    shares: Shares,
}

impl Urw {
    pub(super) const ENTRY: Entry = Entry {
        name: "urw",
        help: "odds by remaining steps, so that all interleavings are alike; profiles one iteration",
        parameters: &[],
        build: |_| Box::new(Urw::new()),
    };

    /// A uniform walk.
    pub fn new() -> Self {
        Urw {
            picks: Seed(0).stream("urw.picks"),
            values: Seed(0).stream("urw.values"),
            patience: Patience::new(),
            profiling: false,
            profile: Profile::default(),
            weights: Weights::default(),
            ahead: Vec::new(),
            shares: Shares::new(),
        }
    }

    /// An enabled action, with the weight that it has now.
    #[inline]
    fn admit(&mut self, key: ActionKey) {
        let ahead = self.ahead.get(key.index()).copied().unwrap_or(1);
        self.shares.set(key, ahead.max(1));
    }

    #[cold]
    fn admit_all(&mut self, enabled: &EnabledActions<'_>) {
        enabled
            .iter()
            .for_each(|(_, action)| self.admit(action.key()));
    }

    #[inline]
    fn next(&mut self, point: &SchedulingPoint, enabled: &EnabledActions<'_>) -> Pick {
        for key in enabled.fresh() {
            self.admit(key);
        }
        if let (true, Some(key)) = (point.can_continue, point.current) {
            self.admit(key);
        }
        loop {
            if self.shares.total() == 0 {
                self.admit_all(enabled);
            }
            let key = self.shares.draw(&mut self.picks);
            if let Some(pick) = enabled.find(key) {
                return pick;
            }
            self.shares.set(key, 0);
        }
    }

    #[inline]
    fn ahead(&mut self, key: ActionKey) -> &mut u64 {
        if key.index() >= self.ahead.len() {
            self.grow(key.index());
        }
        &mut self.ahead[key.index()]
    }

    #[cold]
    fn grow(&mut self, index: usize) {
        self.ahead.resize((index + 1).next_power_of_two(), 1);
    }
}

impl Default for Urw {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for Urw {
    fn describe(&self) -> String {
        Self::ENTRY.name.to_owned()
    }

    fn primed(&self) -> bool {
        true
    }

    fn interests(&self) -> Interests {
        Interests {
            lifecycle: true,
            steps: true,
            fresh: true,
            ..Interests::default()
        }
    }

    fn begin(&mut self, iteration: &Iteration) -> Flow {
        self.picks = iteration.seed.stream("urw.picks");
        self.values = iteration.seed.stream("urw.values");
        self.patience.begin(iteration.seed);
        self.ahead.fill(1);
        self.shares.clear();
        self.profiling = iteration.index == 0;
        if self.profiling {
            self.profile.clear();
        }
        Flow::Continue
    }

    #[inline]
    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        match enabled {
            EnabledSet::Values(values) => enabled.pick(draw::value(&mut self.values, values)),
            EnabledSet::Actions(actions) => loop {
                let pick = if self.profiling {
                    enabled.pick(draw::below(&mut self.picks, enabled.len() as u32) as usize)
                } else {
                    self.next(point, actions)
                };
                if !point.may_cancel || !self.patience.puts_off(enabled, pick) {
                    return pick;
                }
            },
        }
    }

    #[inline]
    fn observe(&mut self, event: &StepEvent<'_>) {
        if self.profiling {
            return self.profile.take_in(event);
        }
        match *event {
            StepEvent::Step { action, .. } => {
                let ahead = self.ahead(action);
                *ahead = ahead.saturating_sub(1);
            }
            StepEvent::Spawned {
                task, id, parent, ..
            } => {
                let weight = self.profile.weight(&self.weights, task, id);
                *self.ahead(task) = weight;
                if let Some(parent) = parent {
                    let ahead = self.ahead(parent);
                    *ahead = ahead.saturating_sub(weight);
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, _: &IterationEnd) {
        if self.profiling {
            self.profile.finish();
            self.profile.weigh_all(&mut self.weights);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::model::{Do, Toy};
    use crate::strategy::odds::assert_distribution;
    use std::collections::BTreeMap;

    /// Asserts that there are so many interleavings, all alike.
    fn assert_uniform(tasks: Vec<Vec<Do>>, interleavings: usize) {
        let mut toy = Toy::new(tasks);
        let mut strategy = Urw::new();
        toy.run(&mut strategy, Seed(31), 0);
        let mut seen = BTreeMap::<_, u64>::new();
        for index in 1..20_001 {
            *seen
                .entry(toy.run(&mut strategy, Seed(31), index).order)
                .or_default() += 1;
        }
        assert_eq!(seen.len(), interleavings);
        let counts: Vec<u64> = seen.into_values().collect();
        assert_distribution(&counts, &vec![1; interleavings]);
    }

    /// 8! / (1! 2! 5!) interleavings.
    #[test]
    fn interleavings_of_unequal_tasks_are_uniform() {
        assert_uniform(
            vec![vec![Do::Step], vec![Do::Yield; 2], vec![Do::Step; 5]],
            168,
        );
    }

    /// Task 0 spawns the others at its first and second step. Of 3 + 2 + 2 events, as the hook
    /// formula for forests has it: 7! / (7 * 4 * 1 * 2 * 1 * 2 * 1).
    #[test]
    fn spawned_tasks_count_for_their_parent() {
        let main = vec![Do::Spawn(1), Do::Spawn(2), Do::Step];
        assert_uniform(vec![main, vec![Do::Step; 2], vec![Do::Step; 2]], 45);
    }

    #[test]
    fn weights_move_to_children_and_never_vanish() {
        let main = vec![Do::Spawn(1), Do::Step];
        let mut toy = Toy::new(vec![main, vec![Do::Step; 3]]);
        let mut strategy = Urw::new();
        toy.run(&mut strategy, Seed(1), 0);
        assert_eq!(
            strategy.profile.weight(
                &strategy.weights,
                ActionKey::from_index(0),
                crate::words::ActionId(0)
            ),
            5
        );
        assert_eq!(
            strategy.profile.weight(
                &strategy.weights,
                ActionKey::from_index(9),
                crate::words::ActionId(9)
            ),
            3
        );
        toy.run(&mut strategy, Seed(1), 1);
        assert_eq!(strategy.ahead[..2], [0, 0]);
        strategy.admit(ActionKey::from_index(1));
        assert_eq!(
            strategy.shares.total(),
            1 + strategy.shares.get(ActionKey::from_index(0))
        );
    }
}
