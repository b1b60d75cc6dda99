//! The values of few enabled actions, all looked at at once.
//!
//! 1. Arrays of fixed length, and no branch that depends on a tag or a value: what is looked at stays
//!    in registers, and nothing is mispredicted.
//! 2. Places beyond the enabled actions have no odds.

use super::policy::{odds_of, unit};
use super::{Arm, State, Table};
use crate::words::enabled::EnabledActions;
use crate::words::seed::Generator;

/// At most `N` actions that are enabled in a known state.
#[derive(Clone, Debug)]
pub(super) struct Few<const N: usize> {
    state: State,
    len: usize,
    pub(super) tags: [u32; N],
    pub(super) values: [f32; N],
    /// All bits set for those that have an arm.
    tried: [u32; N],
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
    pub(super) fn look(
        table: &Table,
        state: State,
        (tags, len): ([u32; N], usize),
        initial: f32,
    ) -> Few<N> {
        let (mut bits, mut tried) = ([initial.to_bits(); N], [0; N]);
        let mut compare = |arm: &Arm| {
            for i in 0..N {
                let is = u32::from(tags[i] == arm.tag).wrapping_neg();
                bits[i] = bits[i] & !is | arm.value.to_bits() & is;
                tried[i] |= is;
            }
        };
        let (first, others) = table.slices(state);
        first.iter().for_each(&mut compare);
        others.iter().for_each(&mut compare);
        for i in 0..N {
            let beyond = u32::from(i >= len).wrapping_neg();
            bits[i] = bits[i] & !beyond | f32::NEG_INFINITY.to_bits() & beyond;
            tried[i] &= !beyond;
        }
        Few {
            state,
            len,
            tags,
            values: bits.map(f32::from_bits),
            tried,
        }
    }

    /// Whether these are the actions that were looked at, in the same state.
    pub(super) fn is_of(&self, state: State, tags: &[u32; N], len: usize) -> bool {
        self.state == state && self.len == len && self.tags == *tags
    }

    /// Whether some action is untried even after this one.
    #[inline(always)]
    pub(super) fn leaves_untried(&self, index: usize) -> bool {
        let tried = self.tried.iter().map(|tried| tried & 1).sum::<u32>();
        self.len - tried as usize > usize::from(self.tried[index] == 0)
    }
}

/// The odds of the softmax, each added to those before it.
#[inline(always)]
pub(super) fn sums<const N: usize>(values: &[f32; N]) -> [f64; N] {
    let max = values.iter().fold(
        f32::NEG_INFINITY,
        |best, &value| {
            if value > best { value } else { best }
        },
    );
    let mut sums = values.map(|value| odds_of(value, max));
    for i in 1..N {
        sums[i] += sums[i - 1];
    }
    sums
}

/// An index by its odds, given their [`sums`].
#[inline(always)]
pub(super) fn draw<const N: usize>(sums: &[f64; N], generator: &mut Generator) -> usize {
    let drawn = unit(generator) * sums[N - 1];
    let index = sums.iter().filter(|&&sum| sum <= drawn).count();
    if index == N {
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
        }
    }
}
