//! What is to be done, as bytes, and how to do less of it.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// One operation: what it is, and two bytes that say with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Act {
    /// Which operation.
    pub what: u8,
    /// On which slot or handle.
    pub a: u8,
    /// How.
    pub b: u8,
}

impl Act {
    /// `a`, below `sides`.
    pub fn a(self, sides: usize) -> usize {
        usize::from(self.a) % sides
    }

    /// `b`, below `sides`.
    pub fn b(self, sides: usize) -> usize {
        usize::from(self.b) % sides
    }

    /// The index that `a` means among `of`, if there is any.
    pub fn pick<T>(self, of: &[T]) -> Option<usize> {
        (!of.is_empty()).then(|| self.a(of.len()))
    }
}

/// A setting (such as a capacity) and a list of acts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// What the interpreter begins with; shrinking leaves it alone.
    pub setting: u8,
    /// Whether futures spend the task's budget.
    pub budget: bool,
    /// What is done, in this order.
    pub acts: Vec<Act>,
}

/// Short ones leave traces that can be read, long ones use up the budget of a poll.
const LENGTHS: [usize; 4] = [12, 40, 80, 300];

impl Script {
    /// The script of a seed.
    pub fn random(seed: u64) -> Script {
        let mut dice = Pcg64Mcg::seed_from_u64(seed);
        let [setting, budget, length, _] = dice.next_u32().to_le_bytes();
        let length = LENGTHS[usize::from(length) % LENGTHS.len()];
        let act = |_| {
            let [what, a, b, _] = dice.next_u32().to_le_bytes();
            Act { what, a, b }
        };
        Script {
            setting,
            budget: budget % 2 == 0,
            acts: (0..length).map(act).collect(),
        }
    }

    /// Leaves out acts as long as what is left is `wrong`: halves first, then ever smaller pieces.
    pub fn shrink(mut self, wrong: impl Fn(&Script) -> bool) -> Script {
        let mut size = self.acts.len();
        while size > 0 {
            let before = self.acts.len();
            let mut start = 0;
            while start < self.acts.len() {
                let mut less = self.clone();
                less.acts.drain(start..(start + size).min(self.acts.len()));
                if wrong(&less) {
                    self = less;
                } else {
                    start += size;
                }
            }
            // Single acts are tried again until none can be spared.
            if size > 1 || self.acts.len() == before {
                size /= 2;
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_needed_is_left_out() {
        let script = Script::random(7);
        let needed = [script.acts[3], script.acts[8]];
        let left = script.shrink(|less| needed.iter().all(|act| less.acts.contains(act)));
        assert_eq!(left.acts, needed);
    }

    #[test]
    fn a_seed_is_a_script() {
        assert_eq!(Script::random(1), Script::random(1));
        assert_ne!(Script::random(1), Script::random(2));
    }
}
