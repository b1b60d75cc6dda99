//! The values of many choices.
//!
//! 1. The arms of a state go into a small hash table, so that each choice is found in one probe. It
//!    serves all decisions of an iteration in that state, as arms do not change during one.
//! 2. What was looked at last stays: a state in which many actions are enabled is often that of the
//!    next decision as well.

use super::few::{self, Choice, Form, UNTRIED};
use super::policy::{Policy, odds_of};
use super::{Arm, State};
use crate::words::enabled::Values;
use crate::words::seed::Generator;

/// Arms that a mask can tell apart.
pub(super) const ARMS_MASKED: usize = 64;
/// So many odds are computed at once.
const LANES: usize = 4;
const SLOTS_MIN: usize = 128;

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// The tag, and above it the generation; free unless that is the present one.
    is: u64,
    value: f32,
    arm: u32,
}

/// What was looked at.
#[derive(Clone, Debug, Default)]
pub(super) struct Many {
    slots: Vec<Slot>,
    generation: u32,
    /// The state whose arms are in `slots`.
    matched: Option<State>,
    /// The state whose values are in the following, if they are of an action each.
    looked: Option<State>,
    tags: Vec<u32>,
    len: usize,
    /// A multiple of [`LANES`]; those beyond `len` have no odds.
    pub(super) values: Vec<f32>,
    arms: Vec<u32>,
    /// The odds of the softmax, each added to those before it; or of any policy, not added.
    odds: Vec<f64>,
    mask: u64,
    untried: usize,
}

impl Many {
    /// An iteration begins: values may have changed.
    pub(super) fn clear(&mut self) {
        self.matched = None;
        self.looked = None;
    }

    /// Looks at these actions, as this policy will.
    pub(super) fn look(
        &mut self,
        policy: &Policy,
        (state, arms): (Option<State>, &[Arm]),
        tags: impl ExactSizeIterator<Item = u32> + Clone,
        initial: f32,
    ) {
        if state.is_some() && self.looked == state && tags.clone().eq(self.tags.iter().copied()) {
            return;
        }
        self.looked = state;
        self.tags.clear();
        self.tags.extend(tags);
        self.prepare(self.tags.len());
        self.match_arms(state, arms);
        let (generation, last) = (u64::from(self.generation) << 32, self.slots.len() - 1);
        let lanes = self.values.iter_mut().zip(&mut self.arms);
        for ((value, of), &tag) in lanes.zip(&self.tags) {
            let is = generation | u64::from(tag);
            let mut at = tag as usize & last;
            while self.slots[at].is != is && self.slots[at].is >= generation {
                at = (at + 1) & last;
            }
            let slot = self.slots[at];
            let found = slot.is == is;
            *value = if found { slot.value } else { initial };
            *of = if found { slot.arm } else { UNTRIED };
        }
        self.count();
        if matches!(policy, Policy::Softmax) {
            self.add_up();
        }
    }

    /// Looks at these values of a data choice.
    pub(super) fn look_at_values(&mut self, arms: &[Arm], count: u32, initial: f32) {
        self.looked = None;
        self.prepare(count as usize);
        self.values[..self.len].fill(initial);
        for (position, arm) in (0..).zip(arms) {
            let at = arm.tag as usize;
            if at < self.len {
                (self.values[at], self.arms[at]) = (arm.value, position);
            }
        }
        self.count();
    }

    /// Places for so many.
    fn prepare(&mut self, len: usize) {
        self.len = len;
        self.values.clear();
        self.values
            .resize(len.next_multiple_of(LANES), f32::NEG_INFINITY);
        self.arms.clear();
        self.arms.resize(len, UNTRIED);
    }

    fn match_arms(&mut self, state: Option<State>, arms: &[Arm]) {
        if state.is_some() && self.matched == state {
            return;
        }
        self.matched = state;
        let slots = (4 * arms.len()).next_power_of_two().max(SLOTS_MIN);
        if slots > self.slots.len() || self.generation == u32::MAX {
            self.generation = 0;
            self.slots.clear();
            self.slots.resize(slots, Slot::default());
        }
        self.generation += 1;
        let (generation, last) = (u64::from(self.generation) << 32, self.slots.len() - 1);
        for (position, arm) in (0..).zip(arms) {
            let mut at = arm.tag as usize & last;
            while self.slots[at].is >= generation {
                at = (at + 1) & last;
            }
            self.slots[at] = Slot {
                is: generation | u64::from(arm.tag),
                value: arm.value,
                arm: position,
            };
        }
    }

    fn count(&mut self) {
        let bit = |&arm: &u32| u64::from(arm != UNTRIED) << (arm & 63);
        self.mask = self.arms.iter().map(bit).fold(0, |mask, bit| mask | bit);
        self.untried = self.arms.iter().filter(|&&arm| arm == UNTRIED).count();
    }

    fn add_up(&mut self) {
        let mut best = [f32::NEG_INFINITY; LANES];
        for values in self.values.chunks_exact(LANES) {
            for (best, &value) in best.iter_mut().zip(values) {
                *best = if value > *best { value } else { *best };
            }
        }
        let best = few::best(&best);
        self.odds.clear();
        self.odds.resize(self.values.len(), 0.0);
        let mut sum = 0.0;
        let lanes = self.odds.chunks_exact_mut(LANES);
        for (sums, values) in lanes.zip(self.values.chunks_exact(LANES)) {
            let odds: [f64; LANES] = std::array::from_fn(|i| odds_of(values[i], best));
            let added = few::added(odds);
            for (to, added) in sums.iter_mut().zip(added) {
                *to = sum + added;
            }
            sum += added[LANES - 1];
        }
    }

    /// One of what was [looked](Self::look) at.
    pub(super) fn draw(&mut self, policy: &Policy, generator: &mut Generator) -> Option<usize> {
        if matches!(policy, Policy::Softmax) {
            return Some(few::draw(&self.odds, generator));
        }
        let values = &self.values[..self.len];
        policy.choose(values, &[], &mut self.odds, generator)
    }

    /// One of the values that were [looked](Self::look_at_values) at.
    pub(super) fn draw_value(
        &mut self,
        policy: &Policy,
        values: &Values<'_>,
        generator: &mut Generator,
    ) -> Option<usize> {
        let own = &self.values[..self.len];
        policy.choose(own, values.weights(), &mut self.odds, generator)
    }

    /// What there is to say of one of them as a choice.
    pub(super) fn choice(&self, index: usize) -> Choice {
        let arm = self.arms[index];
        Choice {
            index,
            arm,
            enabled: self.mask,
            form: Form::Mask,
            untried: self.untried > usize::from(arm == UNTRIED),
        }
    }

    /// The actions that were looked at.
    pub(super) fn tags(&self) -> &[u32] {
        &self.tags
    }
}
