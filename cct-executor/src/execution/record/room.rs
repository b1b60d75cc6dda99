//! How many steps there is room for. A poll that is never suspended may do as much as it likes, and a step takes some
//! hundred bytes.
//!
//! 1. What is kept of too many are the first, the last, and in between the last one of each task: it says where the task
//!    stands.

use super::{RawStep, Recorder, Turn};
use std::collections::BTreeSet;
use std::ops::Range;

/// Of the first and of the last, so many are kept at least.
const KEPT: usize = 250_000;

impl Recorder {
    /// A step, for which there is room made.
    pub(super) fn push(&mut self, step: RawStep) {
        if self.steps.len() >= 3 * KEPT {
            self.leave_out(KEPT..2 * KEPT);
        }
        if step.value.is_none() && step.turn == Turn::Performs {
            let uses = self.uses.entry(step.resource).or_default();
            uses.push(self.steps.len());
        }
        self.steps.push(step);
    }

    /// Keeps of these only what is the last of its task.
    fn leave_out(&mut self, range: Range<usize>) {
        let before = self.steps.len();
        let mut later: BTreeSet<u32> = self.steps[range.end..].iter().map(|s| s.key).collect();
        let mut last = vec![false; range.len()];
        for at in range.clone().rev() {
            last[at - range.start] = later.insert(self.steps[at].key);
        }
        let mut at = 0;
        self.steps.retain(|_| {
            at += 1;
            let inside = range.contains(&(at - 1));
            !inside || last[at - 1 - range.start]
        });
        self.left_out += (before - self.steps.len()) as u64;
        self.uses.clear();
        for (at, step) in self.steps.iter().enumerate() {
            if step.value.is_none() && step.turn == Turn::Performs {
                self.uses.entry(step.resource).or_default().push(at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::OpKind;

    fn step(number: u64, key: u32, resource: u32) -> RawStep {
        RawStep {
            step: number,
            time_ns: 0,
            key,
            kind: OpKind::Lock,
            resource,
            site: None,
            value: None,
            note: None,
            outcome: None,
            stack: None,
            choices: 1,
            preempts: false,
            turn: Turn::Performs,
            no_budget: false,
            waits: false,
        }
    }

    #[test]
    fn of_too_many_steps_the_middle_is_left_out_but_for_where_tasks_stand() {
        let mut recorder = Recorder::default();
        let all = 7 * KEPT as u64;
        // The second task does something twice in the middle, and the third one at the end as well.
        let stands = 2 * KEPT as u64 - 5;
        let twice = [(stands - 7, 1), (stands, 1), (stands - 1, 2), (all - 1, 2)];
        for number in 0..all {
            let other = twice.iter().find(|one| one.0 == number);
            let key = other.map_or(0, |one| one.1);
            recorder.push(step(number, key, key + 10));
        }
        let kept = recorder.steps.len() as u64;
        assert_eq!(kept + recorder.left_out, all);
        assert!(kept <= 3 * KEPT as u64, "{kept}");
        assert_eq!(recorder.steps[KEPT - 1].step, KEPT as u64 - 1);
        let last = &recorder.steps[kept as usize - KEPT..];
        assert_eq!(last[0].step, all - KEPT as u64);
        let of =
            |resource| -> Vec<u64> { recorder.last_uses_of(resource).map(|s| s.step).collect() };
        assert_eq!(of(11), [stands], "the last one alone");
        assert_eq!(of(12).first(), Some(&(all - 1)));
    }
}
