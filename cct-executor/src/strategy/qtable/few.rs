//! The values of few enabled actions, all looked at at once.
//!
//! 1. Arrays of fixed length, and no branch that depends on a tag or a value: what is looked at stays
//!    in registers, and nothing is mispredicted.
//! 2. Places beyond the enabled actions have no odds.

use super::Arm;
use super::policy::{counts, odds_of, unit};
use crate::words::enabled::EnabledActions;
use crate::words::seed::Generator;

/// The position of an action that has no arm.
pub(super) const UNTRIED: u32 = u32::MAX;

/// At most `N` actions that are enabled in a known state of at most 64 arms.
#[derive(Clone, Debug)]
pub(super) struct Few<const N: usize> {
    len: usize,
    pub(super) values: [f32; N],
    /// Which arm each is, if any.
    pub(super) arms: [u32; N],
}

/// The 32 bits of each enabled action's identity; in the places beyond, those of the last.
#[inline(always)]
pub(super) fn tags<const N: usize>(actions: &EnabledActions<'_>) -> [u32; N] {
    let last = actions.keys.len() - 1;
    std::array::from_fn(|i| {
        let key = actions.keys[i.min(last)];
        actions.actions[key as usize].id().0 as u32
    })
}

impl<const N: usize> Few<N> {
    /// Looks up the values of the first so many.
    #[inline(always)]
    pub(super) fn look(arms: &[Arm], tags: [u32; N], len: usize, initial: f32) -> Few<N> {
        let (mut bits, mut positions) = ([initial.to_bits(); N], [UNTRIED; N]);
        for (position, arm) in (0..).zip(arms) {
            for i in 0..N {
                let is = u32::from(tags[i] == arm.tag).wrapping_neg();
                bits[i] = bits[i] & !is | arm.value.to_bits() & is;
                positions[i] = positions[i] & !is | position & is;
            }
        }
        for i in 0..N {
            let beyond = u32::from(i >= len).wrapping_neg();
            bits[i] = bits[i] & !beyond | f32::NEG_INFINITY.to_bits() & beyond;
            positions[i] |= beyond;
        }
        Few {
            len,
            values: bits.map(f32::from_bits),
            arms: positions,
        }
    }

    /// What there is to say of one of them as a choice.
    #[inline(always)]
    pub(super) fn choice(&self, index: usize) -> Choice {
        let untried: u32 = self.arms.iter().map(|&arm| u32::from(arm == UNTRIED)).sum();
        let untried = untried as usize - (N - self.len);
        let arm = self.arms[index];
        Choice {
            index,
            arm,
            mask: mask(&self.arms),
            enabled: 0,
            untried: untried > usize::from(arm == UNTRIED),
        }
    }
}

/// The arms among these, a bit each.
#[inline(always)]
pub(super) fn mask(arms: &[u32]) -> u64 {
    let bit = |&arm: &u32| u64::from(arm != UNTRIED) << (arm & 63);
    arms.iter().map(bit).fold(0, |mask, bit| mask | bit)
}

/// What was chosen, and among what.
pub(super) struct Choice {
    pub(super) index: usize,
    /// Which arm it is, or [`UNTRIED`].
    pub(super) arm: u32,
    /// The state's arms that were enabled, a bit each.
    pub(super) mask: u64,
    /// How many actions are to be remembered instead, as there are too many arms for a mask.
    pub(super) enabled: usize,
    /// Whether something is untried even after this.
    pub(super) untried: bool,
}

impl Choice {
    /// By draws that met untried actions often enough not to look at all.
    #[inline(always)]
    pub(super) fn by_chance(index: usize, arm: u32) -> Choice {
        Choice {
            index,
            arm,
            mask: 0,
            enabled: 0,
            untried: true,
        }
    }
}

/// The greatest of them. By halves: one after the other takes longer than all else.
#[inline(always)]
pub(super) fn best<const N: usize>(values: &[f32; N]) -> f32 {
    let mut values = *values;
    let mut half = N / 2;
    while half > 0 {
        for i in 0..half {
            let other = values[i + half];
            values[i] = if other > values[i] { other } else { values[i] };
        }
        half /= 2;
    }
    values[0]
}

/// An index by the odds of the softmax.
///
/// Values fall with every visit, so often a single one has odds. That is what the processor comes to
/// expect, and the sums are off the path that leads to the next step. The draw is made all the same.
#[inline(always)]
pub(super) fn softmax<const N: usize>(values: &[f32; N], generator: &mut Generator) -> usize {
    let best = best(values);
    let bit = |(i, &value): (usize, &f32)| u32::from(counts(value, best)) << i;
    let counting = values.iter().enumerate().map(bit).fold(0, |a, b| a | b);
    if counting.is_power_of_two() {
        unit(generator);
        return counting.trailing_zeros() as usize;
    }
    draw(&sums(values, best), generator)
}

/// The odds of the softmax, each added to those before it.
#[inline(always)]
fn sums<const N: usize>(values: &[f32; N], best: f32) -> [f64; N] {
    added(values.map(|value| odds_of(value, best)))
}

/// The odds of the best, or of any, which all are the same; each added to those before it.
#[inline(always)]
pub(super) fn greedy_sums<const N: usize>(values: &[f32; N], any: bool) -> [f64; N] {
    let least = if any { f32::MIN } else { best(values) };
    added(values.map(|value| f64::from(u8::from(value >= least))))
}

/// Each added to those before it, in as many rounds as `N` has bits.
#[inline(always)]
pub(super) fn added<const N: usize>(mut odds: [f64; N]) -> [f64; N] {
    let mut distance = 1;
    while distance < N {
        let before = odds;
        for i in distance..N {
            odds[i] = before[i] + before[i - distance];
        }
        distance *= 2;
    }
    odds
}

/// An index by its odds, given their [`sums`].
#[inline(always)]
pub(super) fn draw(sums: &[f64], generator: &mut Generator) -> usize {
    let drawn = unit(generator) * sums.last().copied().unwrap_or(0.0);
    let index = sums.iter().filter(|&&sum| sum <= drawn).count();
    if index == sums.len() {
        // The product was rounded up to the sum of all.
        return sums.iter().position(|&sum| sum == drawn).unwrap_or(0);
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::qtable::policy::Policy;
    use crate::words::Seed;
    use rand::Rng;

    /// The same draw leads to the same choice, however many places are empty.
    #[test]
    fn few_values_are_chosen_from_as_many_are() {
        let (mut one, mut other) = (Seed(5).stream("test"), Seed(5).stream("test"));
        let mut random = Seed(6).stream("test");
        let mut odds = Vec::new();
        for _ in 0..20_000 {
            let n = 1 + random.next_u64() as usize % 8;
            let scale = [0.1, 3.0, 50.0][random.next_u64() as usize % 3];
            let mut values = [f32::NEG_INFINITY; 8];
            for value in &mut values[..n] {
                *value = (-scale * unit(&mut random)) as f32;
            }
            let expected = Policy::Softmax.choose(&values[..n], &[], &mut odds, &mut one);
            let mut third = other.clone();
            assert_eq!(Some(softmax(&values, &mut third)), expected);
            assert_eq!(
                Some(draw(&sums(&values, best(&values)), &mut other)),
                expected
            );
            assert_eq!(third, other);
            values[n - 1] = values[0];
            let policy = Policy::Greedy { epsilon: 0.2 };
            let expected = policy.choose(&values[..n], &[], &mut odds, &mut one);
            let sums = greedy_sums(&values, policy.strays(&mut other));
            assert_eq!(Some(draw(&sums, &mut other)), expected);
        }
    }
}
