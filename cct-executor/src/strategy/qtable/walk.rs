//! The decisions of one iteration: how they are taken, and what is remembered for the update.
//!
//! 1. In a state that is not known all actions are untried, and in one with more untried actions
//!    than others most draws hit one: a few draws decide then, however many actions are enabled.
//!    The odds are the same as if all values had been looked at.
//! 2. Otherwise all arms are looked at once, each puts its value where its action is in the enabled
//!    set, and which were enabled is remembered for the update.
//! 3. Nothing is allocated once the vectors have grown to the length of an iteration.

use super::few::{self, Choice, FEW, Few, Form, UNTRIED};
use super::many::{ARMS_MASKED, Many};
use super::numbers::Numbers;
use super::path::Path;
use super::policy::Policy;
use super::{Arm, State, Table};
use crate::strategy::draw;
use crate::words::enabled::{EnabledActions, Values};
use crate::words::fingerprint::hash_of;
use crate::words::seed::Generator;
use crate::words::{EnabledSet, Pick};

/// One decision.
#[derive(Clone, Copy, Debug)]
pub(in crate::strategy) struct Step {
    /// The state it was taken in.
    pub(in crate::strategy) key: u64,
    /// Which of the state's arms were enabled, in this form.
    enabled: u64,
    form: Form,
    /// Where the state is in the table, unless it was not known.
    known: Option<State>,
    /// What was chosen.
    pub(in crate::strategy) tag: u32,
    /// Which of the state's arms that is, or [`UNTRIED`].
    arm: u32,
    /// Whether an enabled action is untried even after this one.
    untried: bool,
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
    /// Whether nothing is ever worth more.
    capped: bool,
    /// Whether all enabled actions are looked at always.
    thorough: bool,
    pub(in crate::strategy) numbers: Numbers,
    many: Many,
    label: (&'static str, u64),
    path: Path,
}

impl Walk {
    pub(in crate::strategy) fn new(initial: f32, thorough: bool) -> Walk {
        Walk {
            steps: Vec::new(),
            tags: Vec::new(),
            initial,
            capped: true,
            thorough,
            numbers: Numbers::new(),
            many: Many::default(),
            label: ("", 0),
            path: Path::default(),
        }
    }

    /// The same where actions may be worth more than those that are untried.
    pub(in crate::strategy) fn uncapped(self) -> Walk {
        Walk {
            capped: false,
            ..self
        }
    }

    pub(in crate::strategy) fn clear(&mut self) {
        self.steps.clear();
        self.tags.clear();
        self.many.clear();
        self.path.clear();
        self.numbers.begin();
    }

    /// The last decision, if there was one yet.
    pub(in crate::strategy) fn last(&mut self) -> Option<&mut Step> {
        self.steps.last_mut()
    }

    /// Takes a decision in a state: its [key](Self::key), and where it is in the table.
    #[inline(always)]
    pub(in crate::strategy) fn pick(
        &mut self,
        table: &Table,
        policy: &Policy,
        state: (u64, Option<State>),
        enabled: &EnabledSet<'_>,
        generator: &mut Generator,
    ) -> Pick {
        match enabled {
            EnabledSet::Actions(actions) => {
                self.pick_action(table, policy, state, actions, generator)
            }
            EnabledSet::Values(values) => {
                let index = self.pick_value(table, policy, state, values, generator);
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

    #[inline(always)]
    fn pick_action(
        &mut self,
        table: &Table,
        policy: &Policy,
        (key, known): (u64, Option<State>),
        actions: &EnabledActions<'_>,
        generator: &mut Generator,
    ) -> Pick {
        self.numbers.meet(actions.actions);
        let n = actions.keys.len();
        let choice = match known {
            _ if self.thorough => self.look_at_all(table, policy, known, actions, generator),
            None => Choice::by_chance(below(generator, n), UNTRIED),
            Some(known) => {
                let arms = table.arms(known);
                let numbers = &self.numbers;
                if policy.is_sparse(arms, n, self.initial) {
                    let tag = |index: usize| numbers.of(actions.keys[index]);
                    few_draws(arms, policy, generator, tag, |g| below(g, n))
                } else if n <= FEW && arms.len() <= ARMS_MASKED && !numbers.are_shared() {
                    let position = |number| numbers.position(number, actions.actions);
                    let few = Few::look(n, arms, position, self.initial);
                    few.choice(few.choose(policy, generator))
                } else {
                    self.look_at_all(table, policy, Some(known), actions, generator)
                }
            }
        };
        let tag = self.numbers.of(actions.keys[choice.index]);
        self.push(key, known, tag, &choice);
        Pick(choice.index as u32)
    }

    /// Decides by looking at all actions.
    #[inline(never)]
    fn look_at_all(
        &mut self,
        table: &Table,
        policy: &Policy,
        known: Option<State>,
        actions: &EnabledActions<'_>,
        generator: &mut Generator,
    ) -> Choice {
        let arms = known.map_or(&[][..], |known| table.arms(known));
        let tags = actions.keys.iter();
        let tags = tags.map(|&key| self.numbers.of(key));
        self.many.look(policy, (known, arms), tags, self.initial);
        let index = self.many.draw(policy, generator);
        let index = index.unwrap_or_else(|| self.last_known(arms));
        let mut choice = self.many.choice(index);
        if self.thorough || arms.len() > ARMS_MASKED {
            choice.form = Form::Tags;
            choice.enabled = self.tags.len() as u64 | (actions.keys.len() as u64) << 32;
            self.tags.extend_from_slice(self.many.tags());
        }
        choice
    }

    #[inline(never)]
    fn pick_value(
        &mut self,
        table: &Table,
        policy: &Policy,
        (key, known): (u64, Option<State>),
        values: &Values<'_>,
        generator: &mut Generator,
    ) -> usize {
        let arms = known.map_or(&[][..], |known| table.arms(known));
        let n = values.count() as usize;
        let weighted = !values.weights().is_empty();
        let choice = match n {
            _ if self.thorough => self.look_at_values(arms, policy, values, generator),
            _ if arms.is_empty() => Choice::by_chance(draw::value(generator, values), UNTRIED),
            _ if weighted => self.look_at_values(arms, policy, values, generator),
            _ if policy.is_sparse(arms, n, self.initial) => few_draws(
                arms,
                policy,
                generator,
                |i| i as u32,
                |g| draw::value(g, values),
            ),
            2..=FEW if arms.len() <= ARMS_MASKED => {
                let position = |value| if value < n as u32 { value } else { u32::MAX };
                let few = Few::look(n, arms, position, self.initial);
                few.choice(few.choose(policy, generator))
            }
            _ => self.look_at_values(arms, policy, values, generator),
        };
        self.push(key, known, choice.index as u32, &choice);
        choice.index
    }

    /// Decides by looking at all values of a data choice.
    fn look_at_values(
        &mut self,
        arms: &[Arm],
        policy: &Policy,
        values: &Values<'_>,
        generator: &mut Generator,
    ) -> Choice {
        let n = values.count();
        self.many.look_at_values(arms, n, self.initial);
        let index = self.many.draw_value(policy, values, generator);
        let index = index.unwrap_or(if n == 2 { 0 } else { n as usize - 1 });
        let mut choice = self.many.choice(index);
        if self.thorough || arms.len() > ARMS_MASKED {
            choice.form = Form::Below;
            choice.enabled = u64::from(n);
        }
        choice
    }

    /// Of the actions that were looked at the one that became known last.
    #[cold]
    fn last_known(&self, arms: &[Arm]) -> usize {
        let tags = self.many.tags();
        let index = |arm: &Arm| tags.iter().position(|&tag| tag == arm.tag);
        arms.iter().filter_map(index).next_back().unwrap_or(0)
    }

    #[inline(always)]
    fn push(&mut self, key: u64, known: Option<State>, tag: u32, choice: &Choice) {
        self.steps.push(Step {
            key,
            enabled: choice.enabled,
            form: choice.form,
            known,
            tag,
            arm: choice.arm,
            untried: choice.untried,
            extra: 0.0,
            waypoint: 0,
        });
    }

    /// The best value among the actions that were enabled at a decision. As long as one of them was
    /// untried when it was taken, that is at least the initial value.
    #[inline]
    pub(in crate::strategy) fn best(&self, table: &Table, step: usize) -> f32 {
        let step = &self.steps[step];
        if step.untried && self.capped {
            return self.initial;
        }
        let Some(known) = step.known else {
            return self.initial;
        };
        let arms = table.arms(known);
        let mut best = match step.untried {
            true => self.initial,
            false => f32::NEG_INFINITY,
        };
        let mut consider = |value: f32| best = if value > best { value } else { best };
        match step.form {
            Form::Lanes => {
                let lanes = step.enabled.to_le_bytes().into_iter();
                let arms = lanes.filter_map(|lane| arms.get(usize::from(lane)));
                arms.for_each(|arm| consider(arm.value));
            }
            Form::Mask => {
                let mut mask = step.enabled;
                while mask != 0 {
                    consider(arms[mask.trailing_zeros() as usize].value);
                    mask &= mask - 1;
                }
            }
            Form::Tags | Form::Below => {
                let enabled = arms.iter().filter(|arm| self.is_among(step, arm.tag));
                enabled.for_each(|arm| consider(arm.value));
            }
        }
        // Otherwise its arms were not stored, or forgotten.
        if best > f32::NEG_INFINITY {
            best
        } else {
            self.initial
        }
    }

    /// Changes the value of what was chosen at a decision.
    pub(in crate::strategy) fn change(
        &mut self,
        table: &mut Table,
        step: usize,
        change: impl FnOnce(f32) -> f32,
    ) {
        if let Some((state, arm)) = self.arm(table, step) {
            let value = table.value_mut(state, arm);
            *value = change(*value);
        }
    }

    /// The same where it does not matter any more which arms were enabled.
    #[inline(always)]
    fn change_one(&mut self, table: &mut Table, step: usize, change: impl Fn(f32) -> f32) {
        let Step {
            known, tag, arm, ..
        } = self.steps[step];
        let Some(state) = known else {
            return;
        };
        if arm != UNTRIED {
            let value = table.value_mut(state, arm as usize);
            *value = change(*value);
            return;
        }
        let initial = self.initial;
        let first = || Arm {
            tag,
            value: change(initial),
        };
        if !table.add_first(state, first) {
            self.change(table, step, change);
        }
    }

    /// The same, and returns the [best](Self::best).
    ///
    /// What is best among the others does not depend on the decisions that came later, unless these
    /// were taken in the same state. So it is known when the new value is.
    #[inline(always)]
    pub(in crate::strategy) fn revalue(
        &mut self,
        table: &mut Table,
        step: usize,
        change: impl Fn(f32) -> f32,
    ) -> f32 {
        let Step {
            form,
            untried,
            enabled,
            ..
        } = self.steps[step];
        if untried && self.capped {
            self.change_one(table, step, change);
            return self.initial;
        }
        if form != Form::Lanes || untried {
            self.change(table, step, change);
            return self.best(table, step);
        }
        let Some((state, arm)) = self.arm(table, step) else {
            return self.initial;
        };
        let arms = table.arms_mut(state);
        let lanes = enabled.to_le_bytes().map(usize::from);
        let values = lanes.map(|lane| match arms.get(lane) {
            Some(other) if lane != arm => other.value,
            _ => f32::NEG_INFINITY,
        });
        let others = few::best(&values);
        let value = change(arms[arm].value);
        arms[arm].value = value;
        if others > value { others } else { value }
    }

    /// The key of a state when this is to be decided in it, and where it is in the table.
    #[inline(always)]
    pub(in crate::strategy) fn find(
        &mut self,
        table: &Table,
        key: u64,
        enabled: &EnabledSet<'_>,
    ) -> (u64, Option<State>) {
        let key = self.key(key, enabled);
        (key, table.find(key))
    }

    /// What a state is known as when this is to be decided in it.
    #[inline]
    pub(in crate::strategy) fn key(&mut self, key: u64, enabled: &EnabledSet<'_>) -> u64 {
        match enabled {
            EnabledSet::Actions(_) => key,
            EnabledSet::Values(values) => key.wrapping_add(self.label(values.label())),
        }
    }

    /// The best value among what is enabled in a state, in the table as it is now.
    pub(in crate::strategy) fn best_now(
        &mut self,
        table: &Table,
        key: u64,
        enabled: &EnabledSet<'_>,
    ) -> f32 {
        let Some(state) = table.find(self.key(key, enabled)) else {
            return self.initial;
        };
        if let EnabledSet::Actions(actions) = enabled {
            self.numbers.meet(actions.actions);
        }
        let is_enabled = |arm: &&Arm| match enabled {
            EnabledSet::Actions(actions) => {
                let mut keys = actions.keys.iter();
                keys.any(|&key| self.numbers.of(key) == arm.tag)
            }
            EnabledSet::Values(values) => arm.tag < values.count(),
        };
        let (mut tried, mut best) = (0, f32::NEG_INFINITY);
        for arm in table.arms(state).iter().filter(is_enabled) {
            tried += 1;
            best = best.max(arm.value);
        }
        match tried < enabled.len() {
            true => best.max(self.initial),
            false => best,
        }
    }

    /// Makes the states of the decisions from this one on known, if that can be, without forgetting
    /// others: for what is learnt before the end of the iteration.
    pub(in crate::strategy) fn settle_since(&mut self, table: &mut Table, first: usize) {
        self.many.clear();
        for step in &mut self.steps[first..] {
            step.known = step.known.or_else(|| table.insert(step.key));
        }
    }

    /// The decision that was taken in this state, if one was; the next one is taken in it, too. Of
    /// use if circles are [cut out](Self::cut) so that no state is on the path twice.
    #[inline]
    pub(in crate::strategy) fn circle(&mut self, key: u64) -> Option<usize> {
        let end = self.steps.len();
        let position = self.path.position(key, end as u32);
        let before = *position as usize;
        if self.steps.get(before).is_some_and(|step| step.key == key) {
            return Some(before);
        }
        *position = end as u32;
        None
    }

    /// Forgets the decisions from this one on.
    pub(in crate::strategy) fn cut(&mut self, first: usize) {
        let mut cut = self.steps.iter().skip(first);
        if let Some(step) = cut.find(|step| step.form == Form::Tags) {
            self.tags.truncate(step.enabled as u32 as usize);
        }
        self.steps.truncate(first);
    }

    /// Whether an action is one of those that are remembered.
    fn is_among(&self, step: &Step, tag: u32) -> bool {
        match step.form {
            Form::Below => u64::from(tag) < step.enabled,
            _ => self.tags_of(step).contains(&tag),
        }
    }

    /// The actions that were enabled at a decision about what runs next, if they are remembered.
    fn tags_of(&self, step: &Step) -> &[u32] {
        match step.form {
            Form::Tags => {
                let (first, len) = (step.enabled as u32, step.enabled >> 32);
                &self.tags[first as usize..][..len as usize]
            }
            _ => &[],
        }
    }

    /// Gives the initial value to all actions that were enabled at a decision and have none.
    pub(in crate::strategy) fn register(&self, table: &mut Table, step: usize) {
        let Some(state) = self.steps[step].known else {
            return;
        };
        let step = &self.steps[step];
        let mut register = |tag| {
            if table.value(state, tag).is_none() {
                table.set(state, tag, self.initial);
            }
        };
        match step.form {
            Form::Below => (0..step.enabled as u32).for_each(&mut register),
            _ => self.tags_of(step).iter().copied().for_each(&mut register),
        }
    }

    /// Makes all states known that can be, after forgetting others if they need room.
    #[inline]
    pub(in crate::strategy) fn settle(&mut self, table: &mut Table) {
        if table.make_room(self.steps.len() + 1) {
            return self.settle_anew(table);
        }
        for step in &mut self.steps {
            if step.known.is_none() {
                step.known = table.insert(step.key);
            }
        }
    }

    /// The same after states were forgotten, and with them their arms.
    #[cold]
    fn settle_anew(&mut self, table: &mut Table) {
        for step in &mut self.steps {
            step.known = table.insert(step.key);
            let arms = step.known.map_or(0, |known| table.arms_len(known));
            if step.arm as usize >= arms {
                step.arm = UNTRIED;
            }
            match step.form {
                Form::Lanes if arms == 0 => step.enabled = few::UNKNOWN,
                Form::Mask if arms < ARMS_MASKED => step.enabled &= (1 << arms) - 1,
                _ => {}
            }
        }
    }

    /// Where the arm of what was chosen is, known from now on; `None` if it cannot be.
    #[inline]
    pub(in crate::strategy) fn arm(
        &mut self,
        table: &mut Table,
        step: usize,
    ) -> Option<(State, usize)> {
        let step = &mut self.steps[step];
        let state = step.known?;
        if step.arm == UNTRIED {
            let arm = Arm {
                tag: step.tag,
                value: self.initial,
            };
            let known = table.position(state, step.tag);
            step.arm = known.or_else(|| table.add_arm(state, arm))? as u32;
            match step.form {
                Form::Lanes => step.enabled = few::filled(step.enabled, step.arm),
                Form::Mask if step.arm < u64::BITS => step.enabled |= 1 << step.arm,
                _ => {}
            }
        }
        Some((state, step.arm as usize))
    }

    /// Counts a decision, and moves its value towards what it is `worth`, given its bonus: 1 over how
    /// often it was taken, or what is remembered of it if that is more.
    #[inline]
    pub(in crate::strategy) fn take(
        &mut self,
        table: &mut Table,
        step: usize,
        alpha: f64,
        worth: impl Fn(f64) -> f64,
    ) -> f32 {
        let Some((state, arm)) = self.arm(table, step) else {
            return self.best(table, step);
        };
        let taken = table.take(state, arm);
        let bonus = (1.0 / f64::from(taken)).max(f64::from(self.steps[step].extra));
        self.revalue(table, step, |value| {
            ((1.0 - alpha) * f64::from(value) + alpha * worth(bonus)) as f32
        })
    }

    /// Where the state of a decision is, once [settled](Self::settle).
    #[inline]
    pub(in crate::strategy) fn state(&self, step: usize) -> Option<State> {
        self.steps[step].known
    }
}

/// Decides among choices in a state by drawing until a draw is kept. If most of them are untried
/// that takes two draws or fewer on average.
#[inline]
fn few_draws(
    arms: &[Arm],
    policy: &Policy,
    generator: &mut Generator,
    tag: impl Fn(usize) -> u32,
    propose: impl Fn(&mut Generator) -> usize,
) -> Choice {
    let any = policy.strays(generator);
    loop {
        let index = propose(generator);
        let tag = tag(index);
        let known = arms.iter().position(|arm| arm.tag == tag);
        let value = known.map(|arm| arms[arm].value);
        if any || policy.keeps(value, generator) {
            return Choice::by_chance(index, known.map_or(UNTRIED, |arm| arm as u32));
        }
    }
}

#[inline]
fn below(generator: &mut Generator, n: usize) -> usize {
    draw::below(generator, n as u32) as usize
}

#[cfg(test)]
#[path = "walk_tests.rs"]
mod tests;
