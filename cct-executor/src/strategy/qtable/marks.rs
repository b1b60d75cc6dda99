//! Bonuses for what user code reports: a `sometimes!` reached, a watermark raised.
//!
//! Owns what earlier iterations have reported. What the bonus is added to is the learner's.

use super::saved::Mark;
use crate::words::StepEvent;
use crate::words::fingerprint::hash_of;

#[derive(Clone, Copy, Debug)]
struct Name {
    hash: u64,
    /// In how many iterations it was reached.
    iterations: u64,
    /// The highest value.
    highest: u64,
    /// Whether this iteration has reached it.
    now: bool,
}

/// What was reached, by name. A few names at most, so they are searched one by one.
#[derive(Clone, Debug, Default)]
pub(in crate::strategy) struct Marks {
    names: Vec<Name>,
}

impl Marks {
    pub(in crate::strategy) fn begin(&mut self) {
        self.names.iter_mut().for_each(|name| name.now = false);
    }

    /// The bonus for an event, from 0 to 1: for the `n`th iteration that reaches something `1/n`,
    /// once in an iteration; for a new maximum 1.
    pub(in crate::strategy) fn bonus(&mut self, event: &StepEvent<'_>) -> f32 {
        match *event {
            StepEvent::Reached { name } => {
                let name = self.name(hash_of(name));
                if std::mem::replace(&mut name.now, true) {
                    return 0.0;
                }
                name.iterations += 1;
                1.0 / name.iterations as f32
            }
            StepEvent::Watermark { name, value } => {
                // A `sometimes!` of the same name is something else.
                let name = self.name(!hash_of(name));
                let known = name.iterations > 0;
                name.iterations += 1;
                if known && value <= name.highest {
                    return 0.0;
                }
                name.highest = value;
                1.0
            }
            _ => 0.0,
        }
    }

    fn name(&mut self, hash: u64) -> &mut Name {
        let known = self.names.iter().position(|name| name.hash == hash);
        let at = known.unwrap_or_else(|| {
            self.names.push(Name {
                hash,
                iterations: 0,
                highest: 0,
                now: false,
            });
            self.names.len() - 1
        });
        &mut self.names[at]
    }

    pub(in crate::strategy) fn save(&self) -> Vec<Mark> {
        let names = self.names.iter();
        names
            .map(|name| (name.hash, name.iterations, name.highest))
            .collect()
    }

    pub(in crate::strategy) fn load(saved: &[Mark]) -> Marks {
        let name = |&(hash, iterations, highest): &Mark| Name {
            hash,
            iterations,
            highest,
            now: false,
        };
        Marks {
            names: saved.iter().map(name).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bonuses_decay_and_new_maxima_count() {
        let mut marks = Marks::default();
        let reached = StepEvent::Reached { name: "leader" };
        let term = |value| StepEvent::Watermark {
            name: "leader",
            value,
        };
        for n in 1..4_u8 {
            marks.begin();
            assert_eq!(marks.bonus(&reached), 1.0 / f32::from(n));
            assert_eq!(marks.bonus(&reached), 0.0);
        }
        let rises = [3, 3, 2, 4].map(|value| marks.bonus(&term(value)));
        assert_eq!(rises, [1.0, 0.0, 0.0, 1.0]);
        let mut again = Marks::load(&marks.save());
        assert_eq!(again.bonus(&reached), 0.25);
        assert_eq!(again.bonus(&term(4)), 0.0);
        assert_eq!(again.bonus(&StepEvent::UserOp("x")), 0.0);
    }
}
