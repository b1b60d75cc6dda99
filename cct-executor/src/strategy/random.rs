//! Uniform random choice: a fair walk through the schedules, and the baseline of every comparison.
//!
//! As used in P. Thomson, A. Donaldson and A. Betts, "Concurrency testing using schedule bounding:
//! an empirical study", PPoPP 2014, and as the "Random" of all later papers.
//!
//! Guarantee: at each decision every choice has the same probability, so a schedule whose decisions
//! have `c1, c2, ...` choices is taken with probability at least `1 / (c1 c2 ...)`. It is fair: a
//! task that stays enabled runs with probability 1.
//!
//! Departures: a data choice with weights is drawn by weight. The draw itself is biased by less
//! than `2^-64` (see the module `draw`). A cancellation that is drawn is put off for a while, and the
//! draw repeated (see the module `patience`): where futures may be cancelled, the guarantee holds for
//! everything else.
//!
//! Measured by `picks_are_uniform` below, a chi-square test with a false alarm in 10^9.

use super::draw;
use super::patience::Patience;
use super::spec::Entry;
use super::{Flow, Strategy};
use crate::words::seed::Generator;
use crate::words::{EnabledSet, Iteration, Pick, SchedulingPoint, Seed};

/// Picks uniformly from the enabled set.
#[derive(Clone, Debug)]
pub struct Random {
    generator: Generator,
    patience: Patience,
}

impl Random {
    pub(super) const ENTRY: Entry = Entry {
        name: "random",
        help: "every enabled action with the same probability",
        parameters: &[],
        build: |_| Box::new(Random::new()),
    };

    /// A uniform random walk.
    pub fn new() -> Self {
        Random {
            generator: Seed(0).stream("random"),
            patience: Patience::new(),
        }
    }
}

impl Default for Random {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for Random {
    fn describe(&self) -> String {
        Self::ENTRY.name.to_owned()
    }

    fn begin(&mut self, iteration: &Iteration) -> Flow {
        self.generator = iteration.seed.stream("random");
        self.patience.begin(iteration.seed);
        Flow::Continue
    }

    #[inline]
    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        let mut pick = draw::any(&mut self.generator, enabled);
        while point.may_cancel && self.patience.puts_off(enabled, pick) {
            pick = draw::any(&mut self.generator, enabled);
        }
        pick
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::model::{Do, Toy};
    use crate::strategy::odds::assert_distribution;

    /// Three tasks of one step each: six schedules, 1/6 each.
    #[test]
    fn picks_are_uniform() {
        let mut toy = Toy::new(vec![vec![Do::Step]; 3]);
        let mut strategy = Random::new();
        let mut seen = [0; 9];
        for index in 0..60_000 {
            let run = toy.run(&mut strategy, Seed(7), index);
            seen[(run.order[0] * 3 + run.order[1]) as usize] += 1;
        }
        let [_, a, b, c, _, d, e, f, _] = seen;
        assert_distribution(&[a, b, c, d, e, f], &[1; 6]);
    }

    #[test]
    fn weights_decide_data_choices() {
        let mut toy = Toy::new(vec![vec![Do::Weighted(&[9, 1]), Do::Choose(3)]]);
        let mut strategy = Random::new();
        let mut seen = [0; 6];
        for index in 0..60_000 {
            let run = toy.run(&mut strategy, Seed(8), index);
            seen[(run.values[0] * 3 + run.values[1]) as usize] += 1;
        }
        assert_distribution(&seen, &[9, 9, 9, 1, 1, 1]);
    }
}
