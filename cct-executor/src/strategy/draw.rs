//! Bounded draws from a generator, shared by the randomised strategies.
//!
//! The draws that others need too are in [`words::draw`](crate::words::draw), which says what they cost.

pub(super) use crate::words::draw::{below, value};
use crate::words::{EnabledSet, Pick};
use rand::Rng;

/// As [`below`], for numbers that may be large.
#[inline]
pub(super) fn ticket(generator: &mut impl Rng, n: u64) -> u64 {
    ((u128::from(generator.next_u64()) * u128::from(n)) >> 64) as u64
}

/// Any choice: actions uniformly, values by weight.
#[inline(always)]
pub(super) fn any(generator: &mut impl Rng, enabled: &EnabledSet<'_>) -> Pick {
    enabled.pick(match enabled {
        EnabledSet::Actions(_) => below(generator, enabled.len() as u32) as usize,
        EnabledSet::Values(values) => value(generator, values),
    })
}

/// The first `k` of `0..n` after the shuffle that the P# artifact uses: each place, from the last to
/// the second, swaps with one drawn among *all* places. Not uniform, which is the point: figures
/// that were measured with it can be compared. They are left in `list`.
pub(super) fn biased_distinct(generator: &mut impl Rng, n: u32, k: usize, list: &mut Vec<u32>) {
    list.clear();
    list.extend(0..n);
    for place in (1..list.len()).rev() {
        let other = below(generator, n) as usize;
        list.swap(place, other);
    }
    list.truncate(k);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::odds::assert_distribution;
    use crate::words::Seed;
    use crate::words::draw::weighted;
    use crate::words::enabled::Values;

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

    /// Of three numbers the first one left is 0, 1, 2 in 9, 10 and 8 of 27 cases, weighted by what
    /// the nine pairs of swaps lead to: 3, 3 and 3 if the shuffle were fair.
    #[test]
    fn the_biased_shuffle_is_that_of_the_artifact() {
        let mut expect = [0; 3];
        for first in 0..3 {
            for second in 0..3 {
                let mut list = [0, 1, 2];
                list.swap(2, first);
                list.swap(1, second);
                expect[list[0]] += 1;
            }
        }
        let mut generator = Seed(3).stream("test");
        let (mut seen, mut list) = ([0; 3], Vec::new());
        for _ in 0..30_000 {
            biased_distinct(&mut generator, 3, 1, &mut list);
            seen[list[0] as usize] += 1;
        }
        assert_distribution(&seen, &expect);
        biased_distinct(&mut generator, 3, 7, &mut list);
        list.sort_unstable();
        assert_eq!(list, [0, 1, 2]);
    }
}
