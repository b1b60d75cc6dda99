//! The values of few enabled actions, all looked at at once.
//!
//! 1. Arrays of fixed length, and no branch that depends on a tag or a value: what is looked at stays
//!    in registers, and nothing is mispredicted.
//! 2. Places beyond the enabled actions have no odds.

use super::Arm;
use super::policy::{odds_of, unit};
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

/// The 32 bits of each enabled action's identity.
#[inline(always)]
pub(super) fn tags<const N: usize>(actions: &EnabledActions<'_>) -> [u32; N] {
    let mut tags = [0; N];
    for (tag, &key) in tags.iter_mut().zip(actions.keys) {
        *tag = actions.actions[key as usize].id().0 as u32;
    }
    tags
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
        let (mut mask, mut untried) = (0, self.len);
        for &arm in &self.arms {
            let tried = arm != UNTRIED;
            mask |= u64::from(tried) << (arm & 63);
            untried -= usize::from(tried);
        }
        let arm = self.arms[index];
        Choice {
            index,
            arm,
            mask,
            enabled: 0,
            untried: untried > usize::from(arm == UNTRIED),
        }
    }
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

#[inline(always)]
fn best<const N: usize>(values: &[f32; N]) -> f32 {
    let better = |best, &value: &f32| if value > best { value } else { best };
    values.iter().fold(f32::NEG_INFINITY, better)
}

/// The odds of the softmax, each added to those before it.
#[inline(always)]
pub(super) fn sums<const N: usize>(values: &[f32; N]) -> [f64; N] {
    let best = best(values);
    added(values.map(|value| odds_of(value, best)))
}

/// The odds of the best, or of any, which all are the same; each added to those before it.
#[inline(always)]
pub(super) fn greedy_sums<const N: usize>(values: &[f32; N], any: bool) -> [f64; N] {
    let least = if any { f32::MIN } else { best(values) };
    added(values.map(|value| f64::from(u8::from(value >= least))))
}

#[inline(always)]
fn added<const N: usize>(mut odds: [f64; N]) -> [f64; N] {
    for i in 1..N {
        odds[i] += odds[i - 1];
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
            assert_eq!(Some(draw(&sums(&values), &mut other)), expected);
            values[n - 1] = values[0];
            let policy = Policy::Greedy { epsilon: 0.2 };
            let expected = policy.choose(&values[..n], &[], &mut odds, &mut one);
            let sums = greedy_sums(&values, policy.strays(&mut other));
            assert_eq!(Some(draw(&sums, &mut other)), expected);
        }
    }
}
