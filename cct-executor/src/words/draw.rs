//! Bounded draws from a generator: values of data choices, by whoever decides them.
//!
//! 1. A draw costs one output of the generator and one multiplication: no division, no rejection.
//! 2. The price is a bias: a value's odds differ from `1/n` by less than `2^-64`, so a test would
//!    need some `2^128 / n` draws to notice. Every statistical statement about strategies ignores it.
//!
//! Measured where strategies draw (`strategy/draw.rs`).

use super::enabled::Values;
use rand::Rng;

/// A value below `n`, uniformly.
#[inline]
pub(crate) fn below(generator: &mut impl Rng, n: u32) -> u32 {
    ((u128::from(generator.next_u64()) * u128::from(n)) >> 64) as u32
}

/// A value of a data choice, by weight. Not inlined: it would weigh on every pick among actions.
#[inline(never)]
pub(crate) fn value(generator: &mut impl Rng, values: &Values<'_>) -> usize {
    if values.weights().is_empty() {
        below(generator, values.count()) as usize
    } else {
        weighted(generator, values.weights())
    }
}

/// An index with probability proportional to its weight.
pub(crate) fn weighted(generator: &mut impl Rng, weights: &[u32]) -> usize {
    let mut left = below(generator, weights.iter().sum());
    for (index, &weight) in weights.iter().enumerate() {
        match left.checked_sub(weight) {
            Some(rest) => left = rest,
            None => return index,
        }
    }
    // Reached only when all weights are 0, which is as good as all being equal.
    below(generator, weights.len() as u32) as usize
}
