//! Bounded draws from a generator, shared by the randomised strategies.
//!
//! 1. A draw costs one output of the generator and one multiplication: no division, no rejection.
//! 2. The price is a bias: a value's odds differ from `1/n` by less than `2^-64`, so a test would
//!    need some `2^128 / n` draws to notice. Every statistical statement here ignores it.

use crate::words::enabled::Values;
use rand::Rng;

/// A value below `n`, uniformly.
#[inline]
pub(super) fn below(generator: &mut impl Rng, n: u32) -> u32 {
    ((u128::from(generator.next_u64()) * u128::from(n)) >> 64) as u32
}

/// As [`below`], for numbers that may be large.
#[inline]
pub(super) fn ticket(generator: &mut impl Rng, n: u64) -> u64 {
    ((u128::from(generator.next_u64()) * u128::from(n)) >> 64) as u64
}

/// A value of a data choice, by weight.
#[inline]
pub(super) fn value(generator: &mut impl Rng, values: &Values<'_>) -> usize {
    if values.weights().is_empty() {
        below(generator, values.count()) as usize
    } else {
        weighted(generator, values.weights())
    }
}

/// An index with probability proportional to its weight.
fn weighted(generator: &mut impl Rng, weights: &[u32]) -> usize {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::odds::assert_distribution;
    use crate::words::Seed;

    #[test]
    fn bounded_draws_are_uniform() {
        for n in [2, 3, 5, 7, 10, 64, 1000] {
            let mut generator = Seed(u64::from(n)).stream("test");
            let mut seen = vec![0; n as usize];
            (0..100_000).for_each(|_| seen[below(&mut generator, n) as usize] += 1);
            assert_distribution(&seen, &vec![1; n as usize]);
        }
    }

    #[test]
    fn values_follow_their_weights() {
        let weights = [1, 5, 0, 94];
        let mut generator = Seed(1).stream("test");
        let mut seen = [0; 4];
        for _ in 0..100_000 {
            seen[value(
                &mut generator,
                &Values {
                    count: 4,
                    weights: &weights,
                    label: "w",
                },
            )] += 1;
        }
        assert_eq!(seen[2], 0);
        assert_distribution(&[seen[0], seen[1], seen[3]], &[1, 5, 94]);
    }

    #[test]
    fn weights_of_zero_are_equal_weights() {
        let mut generator = Seed(2).stream("test");
        let mut seen = [0; 3];
        (0..30_000).for_each(|_| seen[weighted(&mut generator, &[0; 3])] += 1);
        assert_distribution(&seen, &[1; 3]);
    }
}
