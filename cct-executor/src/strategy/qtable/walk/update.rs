//! What is learnt from the decisions of an iteration: where they are in the table, and their values.

use super::super::few::{self, Form, UNTRIED};
use super::super::many::ARMS_MASKED;
use super::super::{Arm, State, Table};
use super::{Step, Walk};
use crate::words::EnabledSet;

impl Walk {
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
}
