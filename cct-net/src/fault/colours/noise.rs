//! What is drawn without being a choice of the search.

use cct_executor::nondet;
use cct_executor::words::seed::Generator;
use rand::Rng;

/// A generator.
#[derive(Debug)]
pub(super) struct Noise(pub(super) Generator);

impl Noise {
    pub(super) fn new() -> Noise {
        Noise(nondet::rng())
    }

    /// A number below `n`.
    pub(super) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.0.next_u64()) * n as u128) >> 64) as usize
    }

    /// One of the numbers below `count` for which the condition holds.
    pub(super) fn any(&mut self, count: usize, condition: impl Fn(usize) -> bool) -> Option<usize> {
        let holds = || (0..count).filter(|&n| condition(n));
        match holds().count() {
            0 => None,
            found => holds().nth(self.below(found)),
        }
    }

    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.below(i + 1);
            items.swap(i, j);
        }
    }
}
