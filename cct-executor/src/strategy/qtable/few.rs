//! The values of few enabled actions, all looked at at once.
//!
//! 1. Each arm of the state knows where its action is in the enabled set, and puts its value there.
//! 2. What follows is compiled for each number of actions, without a branch that depends on a value
//!    but one.

use super::Arm;
use super::policy::{Policy, least_that_counts, odds_of, unit};
use crate::words::seed::Generator;

/// The arm of an action that has none.
pub(super) const UNTRIED: u32 = u32::MAX;
/// So many actions are few.
pub(super) const FEW: usize = 8;
/// A power of two, above [`FEW`]; the last lane takes what is not enabled.
const LANES: usize = 16;
/// The highest bit of each of eight bytes: arms are below 128, and it is set for no arm.
const NO_ARM: u64 = 0x8080_8080_8080_8080;

/// Some actions that are enabled in a known state of at most 64 arms.
pub(super) struct Few {
    len: usize,
    values: [f32; LANES],
    /// Which arm each is; 255 for none.
    arms: [u8; LANES],
}

impl Few {
    /// Looks up the values of the first so many. `position` says where an arm's action is: below
    /// [`FEW`], or all bits set.
    #[inline(always)]
    pub(super) fn look(
        len: usize,
        arms: &[Arm],
        position: impl Fn(u32) -> u32,
        initial: f32,
    ) -> Few {
        let mut few = Few {
            len,
            values: [initial; LANES],
            arms: [u8::MAX; LANES],
        };
        for (number, arm) in (0_u8..).zip(arms) {
            // Not the lesser of two: that would be a branch, which cannot be foreseen.
            let lane = position(arm.tag) as usize & (LANES - 1);
            few.values[lane] = arm.value;
            few.arms[lane] = number;
        }
        few
    }

    /// Which of them is to be taken.
    #[inline(always)]
    pub(super) fn choose(&self, policy: &Policy, generator: &mut Generator) -> usize {
        match self.len {
            2 => self.choose_among::<2>(policy, generator),
            3 => self.choose_among::<3>(policy, generator),
            4 => self.choose_among::<4>(policy, generator),
            5 => self.choose_among::<5>(policy, generator),
            6 => self.choose_among::<6>(policy, generator),
            7 => self.choose_among::<7>(policy, generator),
            _ => self.choose_among::<FEW>(policy, generator),
        }
    }

    #[inline(always)]
    fn choose_among<const N: usize>(&self, policy: &Policy, generator: &mut Generator) -> usize {
        let values: [f32; N] = std::array::from_fn(|lane| self.values[lane]);
        match policy {
            Policy::Greedy { .. } => {
                draw(&greedy_sums(&values, policy.strays(generator)), generator)
            }
            _ => softmax(&values, generator),
        }
    }

    /// What there is to say of one of them as a choice.
    #[inline(always)]
    pub(super) fn choice(&self, index: usize) -> Choice {
        let [a, b, c, d, e, f, g, h, ..] = self.arms;
        let among = u64::MAX >> (64 - 8 * self.len);
        // A value of a data choice may have been possible at another visit, and not be at this.
        let lanes = u64::from_le_bytes([a, b, c, d, e, f, g, h]) | !among;
        let others = among & !(255 << (8 * index));
        let arm = self.arms[index & (LANES - 1)];
        Choice {
            index,
            // 255 becomes [`UNTRIED`].
            arm: i32::from(arm as i8) as u32,
            enabled: filled(lanes, arm.into()),
            form: Form::Lanes,
            untried: lanes & others & NO_ARM != 0,
        }
    }
}

/// How [`Choice::enabled`] says which of a state's arms were enabled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// Those in the eight bytes, of which some may be the same. 255 is no arm.
    Lanes,
    /// A bit each.
    Mask,
    /// Those of the actions that are remembered: where, and in the upper half how many.
    Tags,
    /// Those of the values below this.
    Below,
}

/// Lanes of no arm: nothing is known of any.
pub(super) const UNKNOWN: u64 = u64::MAX;

/// Lanes with an arm in the place of those that have none.
#[inline(always)]
pub(super) fn filled(lanes: u64, arm: u32) -> u64 {
    let empty = (lanes & NO_ARM) / 128 * 255;
    let arms = u64::from(arm.min(255)) * 0x0101_0101_0101_0101;
    lanes & !empty | arms & empty
}

/// What was chosen, and among what.
pub(super) struct Choice {
    pub(super) index: usize,
    /// Which arm it is, or [`UNTRIED`].
    pub(super) arm: u32,
    pub(super) enabled: u64,
    pub(super) form: Form,
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
            enabled: UNKNOWN,
            form: Form::Lanes,
            untried: true,
        }
    }
}

/// The greatest of them. By halves: one after the other takes longer than all else.
#[inline(always)]
pub(super) fn best<const N: usize>(values: &[f32; N]) -> f32 {
    let mut values = *values;
    let mut left = N;
    while left > 1 {
        let half = left / 2;
        for i in 0..half {
            let other = values[left - half + i];
            values[i] = if other > values[i] { other } else { values[i] };
        }
        left -= half;
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
    let least = least_that_counts(best);
    let bit = |(i, &value): (usize, &f32)| u32::from(value > least) << i;
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
    use crate::words::Seed;
    use rand::Rng;

    /// The same draw leads to the same choice as among many.
    fn as_many_are<const N: usize>() {
        let (mut one, mut other) = (Seed(5).stream("test"), Seed(5).stream("test"));
        let mut random = Seed(6).stream("test");
        let mut odds = Vec::new();
        for _ in 0..3_000 {
            let scale = [0.1, 3.0, 50.0][random.next_u64() as usize % 3];
            let mut values = [0.0; N].map(|_: f32| (-scale * unit(&mut random)) as f32);
            let expected = Policy::Softmax.choose(&values, &[], &mut odds, &mut one);
            let mut third = other.clone();
            assert_eq!(Some(softmax(&values, &mut third)), expected);
            let sums = sums(&values, best(&values));
            assert_eq!(Some(draw(&sums, &mut other)), expected);
            assert_eq!(third, other);
            values[N - 1] = values[0];
            let policy = Policy::Greedy { epsilon: 0.2 };
            let expected = policy.choose(&values, &[], &mut odds, &mut one);
            let sums = greedy_sums(&values, policy.strays(&mut other));
            assert_eq!(Some(draw(&sums, &mut other)), expected);
        }
    }

    #[test]
    fn few_values_are_chosen_from_as_many_are() {
        as_many_are::<2>();
        as_many_are::<3>();
        as_many_are::<5>();
        as_many_are::<7>();
        as_many_are::<8>();
    }

    #[test]
    fn arms_find_their_lanes() {
        let arm = |tag, value| Arm { tag, value };
        let arms = [
            arm(7, -1.0),
            arm(1, -2.0),
            arm(u32::MAX, -3.0),
            arm(2, -4.0),
        ];
        let mut few = Few::look(3, &arms, |tag| tag, 0.0);
        assert_eq!(few.values[..3], [0.0, -2.0, -4.0]);
        let choice = few.choice(2);
        assert_eq!((choice.arm, choice.untried), (3, true));
        let choice = few.choice(0);
        assert_eq!((choice.arm, choice.untried), (UNTRIED, false));
        assert_eq!(filled(choice.enabled, 4), 0x0404_0404_0403_0104);
        few.len = 8;
        assert!(few.choice(0).untried);
    }
}
