//! The decisions of one iteration: how they are taken, and what is remembered for the update.
//!
//! 1. In a state that is not known all actions are untried, and in one with more untried actions
//!    than others most draws hit one: a few draws decide then, however many actions are enabled.
//!    The odds are the same as if all values had been looked at.
//! 2. Otherwise all arms are looked at once, each puts its value where its action is in the enabled
//!    set, and which were enabled is remembered for the update.
//! 3. Nothing is allocated once the vectors have grown to the length of an iteration.
//!
//! What is learnt from them is in [`update`].

mod update;

use super::few::{Choice, FEW, Few, Form, UNTRIED};
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

    /// How often this was asked of the state in this iteration. Of use where circles are not.
    pub(in crate::strategy) fn times(&mut self, key: u64) -> u32 {
        let times = self.path.position(key, 0);
        *times = times.saturating_add(1);
        *times
    }

    /// Forgets the decisions from this one on.
    pub(in crate::strategy) fn cut(&mut self, first: usize) {
        let mut cut = self.steps.iter().skip(first);
        if let Some(step) = cut.find(|step| step.form == Form::Tags) {
            self.tags.truncate(step.enabled as u32 as usize);
        }
        self.steps.truncate(first);
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
