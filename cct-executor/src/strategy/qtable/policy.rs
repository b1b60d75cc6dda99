//! How a value becomes a choice.

use super::Arm;
use super::exp::{exp, exp_above_least};
use crate::words::seed::Generator;
use rand::Rng;

/// How much worse than the best an action may be to be looked at: beyond it its odds are below what
/// a draw of 53 bits can tell from 0.
const NEGLIGIBLE: f64 = -40.0;

/// The rule by which a learner chooses among actions of known value.
#[derive(Clone, Debug)]
pub(in crate::strategy) enum Policy {
    /// With probability proportional to `e^value`. Initial values must be 0, and others below.
    Softmax,
    /// As [`Softmax`](Policy::Softmax), in plain 64-bit arithmetic: no odds may be left.
    Underflowing,
    /// The best with this probability missing from 1, otherwise any. Ties are broken at random.
    Greedy {
        /// The probability of any.
        epsilon: f64,
    },
}

/// A number from 0 to below 1.
#[inline]
pub(in crate::strategy) fn unit(generator: &mut Generator) -> f64 {
    (generator.next_u64() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
}

impl Policy {
    /// Chooses among all values. `weights`, if any, are those of a data choice: odds (softmax), or
    /// odds among the best (greedy), are proportional to them. `None` if there are no odds left.
    pub(in crate::strategy) fn choose(
        &self,
        values: &[f32],
        weights: &[u32],
        odds: &mut Vec<f64>,
        generator: &mut Generator,
    ) -> Option<usize> {
        if let (Policy::Softmax, []) = (self, weights) {
            odds.clear();
            return softmax(values, odds, generator);
        }
        let prior = |i: usize| weights.get(i).map_or(1.0, |&weight| f64::from(weight));
        let best = |positive: bool| {
            let candidates = values.iter().enumerate();
            candidates
                .filter(|(i, _)| !positive || prior(*i) > 0.0)
                .fold(f32::NEG_INFINITY, |best, (_, &value)| best.max(value))
        };
        odds.clear();
        match self {
            Policy::Softmax => {
                let mut max = best(!weights.is_empty());
                let even = max == f32::NEG_INFINITY; // All weights are 0, as if there were none.
                if even {
                    max = best(false);
                }
                odds.extend(values.iter().enumerate().map(|(i, &value)| {
                    let below = f64::from(value) - f64::from(max);
                    let prior = if even { 1.0 } else { prior(i) };
                    if below > NEGLIGIBLE && prior > 0.0 {
                        exp(below.min(0.0)) * prior
                    } else {
                        0.0
                    }
                }));
            }
            Policy::Underflowing => {
                odds.extend(values.iter().map(|&value| exp(f64::from(value).min(0.0))));
            }
            Policy::Greedy { epsilon } => {
                let any = unit(generator) < *epsilon;
                let even = !weights.is_empty() && weights.iter().all(|&weight| weight == 0);
                let best = best(!weights.is_empty() && !even);
                odds.extend(values.iter().enumerate().map(|(i, &value)| {
                    let prior = if even { 1.0 } else { prior(i) };
                    if any || value == best { prior } else { 0.0 }
                }));
            }
        }
        draw_by_odds(odds, generator)
    }

    /// Whether there are so few arms beside untried choices, all of them worse, that drawing until a
    /// draw is kept takes two draws or fewer on average. Two choices at least stay untried then.
    #[inline(always)]
    pub(super) fn is_sparse(&self, arms: &[Arm], choices: usize, initial: f32) -> bool {
        let softmax = matches!(self, Policy::Softmax);
        choices >= 2 * arms.len() + 2 && (softmax || arms.iter().all(|arm| arm.value < initial))
    }

    /// Whether an action that was drawn at random is kept, if untried actions have the best value.
    /// `None` stands for an untried one.
    #[inline]
    pub(in crate::strategy) fn keeps(&self, value: Option<f32>, generator: &mut Generator) -> bool {
        match (self, value) {
            (_, None) => true,
            (Policy::Softmax | Policy::Underflowing, Some(value)) => {
                let value = f64::from(value);
                value > NEGLIGIBLE && unit(generator) < exp(value.min(0.0))
            }
            (Policy::Greedy { .. }, Some(_)) => false,
        }
    }

    /// Whether the next choice is made without looking at values.
    #[inline]
    pub(in crate::strategy) fn strays(&self, generator: &mut Generator) -> bool {
        matches!(self, Policy::Greedy { epsilon } if unit(generator) < *epsilon)
    }
}

/// The softmax without weights: by far the most frequent case.
#[inline]
fn softmax(values: &[f32], odds: &mut Vec<f64>, generator: &mut Generator) -> Option<usize> {
    let max = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    odds.extend(values.iter().map(|&value| odds_of(value, max)));
    draw_by_odds(odds, generator)
}

/// A value above which an action has odds that can be told from 0, if this is the best.
#[inline(always)]
pub(super) fn least_that_counts(best: f32) -> f32 {
    best + NEGLIGIBLE as f32
}

/// The odds of an action, where those of the best one are 1. No branch depends on the value: which
/// way it went could not be foreseen.
#[inline(always)]
pub(super) fn odds_of(value: f32, best: f32) -> f64 {
    let below = f64::from(value) - f64::from(best);
    let counts = below > NEGLIGIBLE;
    let odds = exp_above_least(if counts { below } else { NEGLIGIBLE });
    f64::from_bits(odds.to_bits() & u64::from(counts).wrapping_neg())
}

/// An index with probability proportional to its odds.
fn draw_by_odds(odds: &[f64], generator: &mut Generator) -> Option<usize> {
    let total: f64 = odds.iter().sum();
    draw_below(unit(generator) * total, odds)
}

/// The index at which the sum of odds exceeds this number.
#[inline]
fn draw_below(mut left: f64, odds: &[f64]) -> Option<usize> {
    let mut last = None;
    for (index, &odds) in odds.iter().enumerate() {
        if odds > 0.0 {
            if left < odds {
                return Some(index);
            }
            left -= odds;
            last = Some(index);
        }
    }
    last
}
