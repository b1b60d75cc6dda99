//! Fair stretches of an iteration, in which nothing is held back for ever.
//!
//! What a strategy may do without an end, no world does: take the same value each time somebody retries, or have
//! timers beat whoever is ready. Who asks whether something happens in the end asks in a fair stretch.
//!
//! 1. Values are drawn from the noise seed there, so a token needs no entry for them and a plainer schedule has no
//!    first value for ever either.
//! 2. Timers fire where nothing else can happen.
//! 3. Which of those that are ready goes next stays the strategy's: time stands still until each has had its turn.

use super::core::Core;
use crate::words::Seed;
use crate::words::fingerprint::mix2;
use crate::words::seed::Generator;
use rand::RngExt as _;

pub(crate) struct Fairness {
    /// How many stretches there are now, one in another.
    depth: u32,
    /// Values that a strategy has decided.
    pub(super) decided: u64,
    noise: Generator,
}

impl Fairness {
    pub(super) fn new() -> Fairness {
        Fairness {
            depth: 0,
            decided: 0,
            noise: Seed(0).stream("fair"),
        }
    }

    pub(super) fn is_on(&self) -> bool {
        self.depth > 0
    }

    /// A value below `count`.
    pub(super) fn draw(&mut self, count: u32, weights: &[u32]) -> u32 {
        let sum: u32 = weights.iter().sum();
        if sum == 0 {
            return self.noise.random_range(0..count);
        }
        let mut left = self.noise.random_range(0..sum);
        let is_it = |&weight: &u32| match left.checked_sub(weight) {
            Some(less) => {
                left = less;
                false
            }
            None => true,
        };
        let index = weights.iter().position(is_it);
        index.map_or(0, |index| index as u32)
    }
}

impl Core {
    /// How much a strategy has decided by now beyond the order; `None` where it may always.
    pub(crate) fn values_decided(&self) -> Option<u64> {
        (!self.timers.clock().offers_timers()).then_some(self.fairness.decided)
    }

    pub(crate) fn begin_fairness(&mut self) {
        self.fairness.depth += 1;
        if self.fairness.depth == 1 {
            let seed = mix2(self.config.noise.0, self.point.step);
            self.fairness.noise = Seed(seed).stream("fair");
            self.turn_timers(true);
        }
    }

    pub(crate) fn end_fairness(&mut self) {
        self.fairness.depth = self.fairness.depth.saturating_sub(1);
        if self.fairness.depth == 0 {
            self.turn_timers(false);
        }
    }

    fn turn_timers(&mut self, fair: bool) {
        self.timers.fair = fair;
        self.frozen_or_not();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each as often as its weight has it: with 10,000 draws one is off by more than 300 in less than one run of 10^8.
    #[test]
    fn values_come_in_proportion() {
        let mut fairness = Fairness::new();
        let mut seen = [0_u32; 4];
        for _ in 0..10_000 {
            seen[fairness.draw(4, &[1, 0, 2, 1]) as usize] += 1;
        }
        assert_eq!(seen[1], 0);
        for (seen, expected) in [(seen[0], 2_500), (seen[2], 5_000), (seen[3], 2_500)] {
            assert!(seen.abs_diff(expected) < 300, "{seen} of {expected}");
        }
        let mut seen = [0_u32; 4];
        for _ in 0..10_000 {
            seen[fairness.draw(4, &[]) as usize] += 1;
        }
        for seen in seen {
            assert!(seen.abs_diff(2_500) < 300, "{seen}");
        }
    }
}
