//! The decisions of one iteration: how they are taken, and what is remembered for the update.
//!
//! 1. In a state that is not known all actions are untried, and in one with more untried actions
//!    than others most draws hit one: a few draws decide then, however many actions are enabled.
//!    The odds are the same as if all values had been looked at.
//! 2. Otherwise all enabled actions are looked at once, and remembered, so that the update can tell
//!    which actions were enabled.
//! 3. Nothing is allocated once the vectors have grown to the length of an iteration.

use super::few::{self, Few};
use super::policy::Policy;
use super::{Arm, State, Table};
use crate::strategy::draw;
use crate::words::enabled::{EnabledActions, Values};
use crate::words::fingerprint::hash_of;
use crate::words::seed::Generator;
use crate::words::{EnabledSet, Pick};

/// Up to so many actions are held in registers, and each of so many arms is compared with all.
const FEW: usize = 16;
const ARMS_FEW: usize = 64;
/// Pairs of actions and arms up to which each pair is compared.
const PAIRS_MAX: usize = 40;

/// One decision.
#[derive(Clone, Copy, Debug)]
pub(in crate::strategy) struct Step {
    /// The state it was taken in.
    pub(in crate::strategy) key: u64,
    /// Where that is in the table, unless it was not known.
    known: Option<State>,
    /// What was chosen.
    pub(in crate::strategy) tag: u32,
    /// Where the enabled actions are in [`Walk::tags`]. None are remembered if a few draws decided.
    first: u32,
    enabled: u32,
    /// Whether an enabled action is untried even after this one.
    untried: bool,
    /// Whether it was a data choice, whose actions are the numbers below `enabled`.
    data: bool,
    /// What the learner wants to remember: a penalty, a bonus.
    pub(in crate::strategy) extra: f32,
    /// What holds in the state.
    pub(in crate::strategy) waypoint: u32,
}

/// The decisions of one iteration.
#[derive(Clone, Debug)]
pub(in crate::strategy) struct Walk {
    pub(in crate::strategy) steps: Vec<Step>,
    tags: Vec<u32>,
    /// What an untried action is worth.
    initial: f32,
    /// Whether all enabled actions are looked at always.
    thorough: bool,
    values: Vec<f32>,
    odds: Vec<f64>,
    /// An open-addressed table of arms, for matching many with many.
    matching: Vec<(u32, u32)>,
    /// What many actions were looked at last, and the sums of their odds. Values do not change
    /// during an iteration.
    latest: Option<(Few<FEW>, [f64; FEW])>,
    /// The state whose arms are in `matching`. They do not change during an iteration.
    matched: Option<State>,
    label: (&'static str, u64),
}

impl Walk {
    pub(in crate::strategy) fn new(initial: f32, thorough: bool) -> Walk {
        Walk {
            steps: Vec::new(),
            tags: Vec::new(),
            initial,
            thorough,
            values: Vec::new(),
            odds: Vec::new(),
            matching: Vec::new(),
            latest: None,
            matched: None,
            label: ("", 0),
        }
    }

    pub(in crate::strategy) fn clear(&mut self) {
        self.steps.clear();
        self.tags.clear();
        self.matched = None;
        self.latest = None;
    }

    /// The last decision, if there was one yet.
    pub(in crate::strategy) fn last(&mut self) -> Option<&mut Step> {
        self.steps.last_mut()
    }

    /// Takes a decision in a state.
    #[inline]
    pub(in crate::strategy) fn pick(
        &mut self,
        table: &Table,
        policy: &Policy,
        key: u64,
        enabled: &EnabledSet<'_>,
        generator: &mut Generator,
    ) -> Pick {
        match enabled {
            EnabledSet::Actions(actions) => {
                self.pick_action(table, policy, key, actions, generator)
            }
            EnabledSet::Values(values) => {
                let key = key.wrapping_add(self.label(values.label()));
                let index = self.pick_value(table, policy, key, values, generator);
                enabled.pick(index)
            }
        }
    }

    fn label(&mut self, label: &'static str) -> u64 {
        if self.label.0 != label {
            self.label = (label, hash_of(label));
        }
        self.label.1
    }

    #[inline]
    fn pick_action(
        &mut self,
        table: &Table,
        policy: &Policy,
        key: u64,
        actions: &EnabledActions<'_>,
        generator: &mut Generator,
    ) -> Pick {
        let known = table.find(key);
        let n = actions.keys.len();
        let tag = |index: usize| actions.action(Pick(index as u32)).id().0 as u32;
        let index = match self.few_draws(table, policy, known, n, generator, tag, below) {
            Some(index) => {
                self.push(key, known, tag(index), 0, true);
                index
            }
            None => match known {
                Some(known) if self.is_few(table, known, n) => match n {
                    ..=2 => self.look_few::<2>(table, policy, known, actions, generator),
                    3..=4 => self.look_few::<4>(table, policy, known, actions, generator),
                    5..=8 => self.look_few::<8>(table, policy, known, actions, generator),
                    _ => self.look_again(table, policy, known, actions, generator),
                },
                _ => self.look_at_all(table, policy, key, known, actions, generator),
            },
        };
        Pick(index as u32)
    }

    #[inline]
    fn is_few(&self, table: &Table, known: State, n: usize) -> bool {
        !self.thorough && n <= FEW && table.arms_len(known) <= ARMS_FEW
    }

    /// Decides by looking at all actions.
    fn look_at_all(
        &mut self,
        table: &Table,
        policy: &Policy,
        key: u64,
        known: Option<State>,
        actions: &EnabledActions<'_>,
        generator: &mut Generator,
    ) -> usize {
        let first = self.tags.len();
        self.tags
            .extend(actions.iter().map(|(_, action)| action.id().0 as u32));
        let untried = self.look(table, known, first);
        let index = policy
            .choose(&self.values, &[], &mut self.odds, generator)
            .unwrap_or_else(|| self.last_known(table, known, first));
        let tag = self.tags[first + index];
        let is_tried = known.is_some_and(|known| table.value(known, tag).is_some());
        let n = self.tags.len() - first;
        self.push(key, known, tag, n, untried > usize::from(!is_tried));
        index
    }

    /// Decides among at most `N` actions, by looking at all.
    #[inline]
    fn look_few<const N: usize>(
        &mut self,
        table: &Table,
        policy: &Policy,
        known: State,
        actions: &EnabledActions<'_>,
        generator: &mut Generator,
    ) -> usize {
        let tags = few::tags(actions);
        let few = Few::<N>::look(table, known, (tags, actions.keys.len()), self.initial);
        let index = match policy {
            Policy::Softmax => few::draw(&few::sums(&few.values), generator),
            _ => policy
                .choose(
                    &few.values[..actions.keys.len()],
                    &[],
                    &mut self.odds,
                    generator,
                )
                .unwrap_or(0),
        };
        self.push_few(
            table,
            known,
            &tags,
            actions.keys.len(),
            index,
            few.leaves_untried(index),
        );
        index
    }

    /// The same for more actions. A state in which many are enabled is often that of the next
    /// decision as well.
    #[inline]
    fn look_again(
        &mut self,
        table: &Table,
        policy: &Policy,
        known: State,
        actions: &EnabledActions<'_>,
        generator: &mut Generator,
    ) -> usize {
        if !matches!(policy, Policy::Softmax) {
            return self.look_few::<FEW>(table, policy, known, actions, generator);
        }
        let (tags, n) = (few::tags(actions), actions.keys.len());
        if !matches!(&self.latest, Some((few, _)) if few.is_of(known, &tags, n)) {
            let few = Few::look(table, known, (tags, n), self.initial);
            let sums = few::sums(&few.values);
            self.latest = Some((few, sums));
        }
        let (few, sums) = self.latest.as_ref().expect("cct bug: it was just set");
        let index = few::draw(sums, generator);
        let untried = few.leaves_untried(index);
        self.push_few(table, known, &tags, n, index, untried);
        index
    }

    #[inline]
    fn push_few<const N: usize>(
        &mut self,
        table: &Table,
        known: State,
        tags: &[u32; N],
        enabled: usize,
        index: usize,
        untried: bool,
    ) {
        let first = self.tags.len() as u32;
        self.tags.extend_from_slice(tags);
        self.steps.push(Step {
            key: table.key(known),
            known: Some(known),
            tag: tags[index],
            first,
            enabled: enabled as u32,
            untried,
            data: false,
            extra: 0.0,
            waypoint: 0,
        });
    }

    fn pick_value(
        &mut self,
        table: &Table,
        policy: &Policy,
        key: u64,
        values: &Values<'_>,
        generator: &mut Generator,
    ) -> usize {
        let known = table.find(key);
        let n = values.count() as usize;
        let weighted = !values.weights().is_empty();
        let quick = match known {
            Some(_) if weighted => None,
            _ => {
                let propose = |generator: &mut Generator, _| draw::value(generator, values);
                self.few_draws(table, policy, known, n, generator, |i| i as u32, propose)
            }
        };
        let (index, looked, untried) = quick.map_or_else(
            || {
                self.values.clear();
                self.values.resize(n, self.initial);
                let mut untried = n;
                for arm in known.iter().flat_map(|&known| table.arms(known)) {
                    if let Some(value) = self.values.get_mut(arm.tag as usize) {
                        *value = arm.value;
                        untried -= 1;
                    }
                }
                let odds = &mut self.odds;
                let index = policy
                    .choose(&self.values, values.weights(), odds, generator)
                    .unwrap_or(if n == 2 { 0 } else { n - 1 });
                let is_tried = known.is_some_and(|s| table.value(s, index as u32).is_some());
                (index, n, untried > usize::from(!is_tried))
            },
            |index| (index, 0, true),
        );
        self.push(key, known, index as u32, looked, untried);
        if let Some(step) = self.steps.last_mut() {
            step.data = true;
        }
        index
    }

    /// Decides by drawing until a draw is kept, if that takes two draws or fewer on average.
    #[inline]
    #[expect(
        clippy::too_many_arguments,
        reason = "two ways to draw, and what they need"
    )]
    fn few_draws(
        &self,
        table: &Table,
        policy: &Policy,
        known: Option<State>,
        n: usize,
        generator: &mut Generator,
        tag: impl Fn(usize) -> u32,
        propose: impl Fn(&mut Generator, usize) -> usize,
    ) -> Option<usize> {
        if self.thorough {
            return None;
        }
        let Some(known) = known else {
            return Some(propose(generator, n));
        };
        // At least two actions stay untried, whichever is chosen.
        let few = n >= 2 * table.arms_len(known) + 2;
        if !few
            || table
                .best(known)
                .is_some_and(|best| best.value >= self.initial)
        {
            return None;
        }
        let any = policy.strays(generator);
        loop {
            let index = propose(generator, n);
            if any || policy.keeps(table.value(known, tag(index)), generator) {
                return Some(index);
            }
        }
    }

    /// Of the actions from `first` on the one that became known last.
    #[cold]
    fn last_known(&self, table: &Table, known: Option<State>, first: usize) -> usize {
        let arms = known.into_iter().flat_map(|known| table.arms(known));
        let index = |arm: Arm| self.tags[first..].iter().position(|&tag| tag == arm.tag);
        arms.filter_map(index).last().unwrap_or(0)
    }

    #[inline]
    fn push(&mut self, key: u64, known: Option<State>, tag: u32, enabled: usize, untried: bool) {
        self.steps.push(Step {
            key,
            known,
            tag,
            first: self.tags.len().saturating_sub(enabled) as u32,
            enabled: enabled as u32,
            untried,
            data: false,
            extra: 0.0,
            waypoint: 0,
        });
    }

    /// Looks up the values of all actions from `first` on; returns how many of them are untried.
    fn look(&mut self, table: &Table, known: Option<State>, first: usize) -> usize {
        let tags = &self.tags[first..];
        self.values.clear();
        self.values.resize(tags.len(), self.initial);
        let Some(known) = known else {
            return tags.len();
        };
        let arms = table.arms_len(known);
        let mut untried = tags.len();
        if arms * tags.len() <= PAIRS_MAX {
            for arm in table.arms(known) {
                for (value, &tag) in self.values.iter_mut().zip(tags) {
                    if tag == arm.tag {
                        *value = arm.value;
                        untried -= 1;
                    }
                }
            }
            return untried;
        }
        let slots = (2 * arms).next_power_of_two();
        let shift = 32 - slots.trailing_zeros();
        let start = |tag: u32| (tag.wrapping_mul(0x9E37_79B9) >> shift) as usize;
        if self.matched != Some(known) {
            self.matched = Some(known);
            self.matching.clear();
            self.matching.resize(slots, (0, u32::MAX));
            for arm in table.arms(known) {
                let mut at = start(arm.tag);
                while self.matching[at].1 != u32::MAX {
                    at = (at + 1) & (slots - 1);
                }
                // No value has these bits: it is a NaN.
                self.matching[at] = (arm.tag, arm.value.to_bits());
            }
        }
        for (value, &tag) in self.values.iter_mut().zip(tags) {
            let mut at = start(tag);
            loop {
                let (found, bits) = self.matching[at];
                if bits == u32::MAX {
                    break;
                }
                if found == tag {
                    *value = f32::from_bits(bits);
                    untried -= 1;
                    break;
                }
                at = (at + 1) & (slots - 1);
            }
        }
        untried
    }

    /// The best value among the actions that were enabled at a decision. As long as one of them was
    /// untried when it was taken, that is at least the initial value.
    #[inline]
    pub(in crate::strategy) fn best(&self, table: &Table, step: usize) -> f32 {
        let step = &self.steps[step];
        if step.enabled == 0 {
            return self.initial;
        }
        let Some(known) = step.known else {
            return self.initial;
        };
        // The arms are sorted.
        if step.untried
            && table
                .best(known)
                .is_none_or(|best| best.value <= self.initial)
        {
            return self.initial;
        }
        let is_enabled = |arm: &&Arm| {
            if step.data {
                arm.tag < step.enabled
            } else {
                self.tags_of(step).contains(&arm.tag)
            }
        };
        let (first, others) = table.slices(known);
        let best = first.iter().find(is_enabled);
        let initial = if step.untried {
            self.initial
        } else {
            f32::NEG_INFINITY
        };
        match best.or_else(|| others.iter().find(is_enabled)) {
            Some(arm) => arm.value.max(initial),
            // Its arms were not stored, or forgotten.
            None => self.initial,
        }
    }

    /// The actions that were enabled at a decision about what runs next and were looked at.
    fn tags_of(&self, step: &Step) -> &[u32] {
        let first = step.first as usize;
        &self.tags[first..first + step.enabled as usize]
    }

    /// Gives the initial value to all actions that were enabled at a decision and have none.
    pub(in crate::strategy) fn register(&self, table: &mut Table, step: usize) {
        let Some(state) = self.steps[step].known else {
            return;
        };
        let step = &self.steps[step];
        let mut register = |tag| {
            if table.value(state, tag).is_none() {
                table.set_in_place(state, tag, self.initial);
            }
        };
        if step.data {
            (0..step.enabled).for_each(&mut register);
        } else {
            self.tags_of(step).iter().copied().for_each(&mut register);
        }
    }

    /// Makes all states known that can be, after forgetting others if they need room.
    #[inline]
    pub(in crate::strategy) fn settle(&mut self, table: &mut Table) {
        let forgot = table.make_room(self.steps.len() + 1);
        for step in &mut self.steps {
            if forgot || step.known.is_none() {
                step.known = table.insert(step.key);
            }
        }
    }

    /// Counts a decision, and moves its value towards what it is `worth`, given its bonus: 1 over how
    /// often it was taken, or what is remembered of it if that is more.
    #[inline]
    pub(in crate::strategy) fn take(
        &self,
        table: &mut Table,
        step: usize,
        alpha: f64,
        worth: impl Fn(f64) -> f64,
    ) {
        let step = &self.steps[step];
        if let Some(state) = step.known {
            let taken = table.take(state, step.tag, self.initial);
            let bonus = (1.0 / f64::from(taken)).max(f64::from(step.extra));
            let old = f64::from(table.value(state, step.tag).unwrap_or(self.initial));
            let value = (1.0 - alpha) * old + alpha * worth(bonus);
            table.set(state, step.tag, value as f32);
        }
    }

    /// Where the state of a decision is, once [settled](Self::settle).
    #[inline]
    pub(in crate::strategy) fn state(&self, step: usize) -> Option<State> {
        self.steps[step].known
    }
}

#[inline]
fn below(generator: &mut Generator, n: usize) -> usize {
    draw::below(generator, n as u32) as usize
}

#[cfg(test)]
#[path = "walk_tests.rs"]
mod tests;
