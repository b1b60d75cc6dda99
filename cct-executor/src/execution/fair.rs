//! Fair stretches of an iteration, in which nothing is held back for ever.
//!
//! What a strategy may do without an end, no world does: take the same value each time somebody retries, or have
//! timers beat whoever is ready. Who asks whether something happens in the end asks in a fair stretch.
//!
//! 1. Values are drawn from the noise seed there, so a token needs no entry for them and a plainer schedule has no
//!    first value for ever either.
//! 2. Timers fire where nothing else can happen.
//! 3. Which of those that are ready goes next stays the strategy's: time stands still until each has had its turn.

use super::core::Core;
use crate::words::enabled::Values;
use crate::words::fingerprint::mix2;
use crate::words::seed::Generator;
use crate::words::{Seed, draw};

pub(crate) struct Fairness {
    /// How many stretches there are now, one in another.
    depth: u32,
    /// Values that a strategy has decided.
    pub(super) decided: u64,
    noise: Generator,
}

impl Fairness {
    pub(super) fn new() -> Fairness {
        Fairness {
            depth: 0,
            decided: 0,
            noise: Seed(0).stream("fair"),
        }
    }

    pub(super) fn is_on(&self) -> bool {
        self.depth > 0
    }

    pub(super) fn draw(&mut self, values: &Values<'_>) -> u32 {
        draw::value(&mut self.noise, values) as u32
    }
}

impl Core {
    /// How much a strategy has decided by now beyond the order; `None` where it may always.
    pub(crate) fn values_decided(&self) -> Option<u64> {
        (!self.timers.clock().offers_timers()).then_some(self.fairness.decided)
    }

    pub(crate) fn begin_fairness(&mut self) {
        self.fairness.depth += 1;
        if self.fairness.depth == 1 {
            let seed = mix2(self.config.noise.0, self.point.step);
            self.fairness.noise = Seed(seed).stream("fair");
            self.turn_timers(true);
        }
    }

    pub(crate) fn end_fairness(&mut self) {
        self.fairness.depth = self.fairness.depth.saturating_sub(1);
        if self.fairness.depth == 0 {
            self.turn_timers(false);
        }
    }

    fn turn_timers(&mut self, fair: bool) {
        self.timers.fair = fair;
        self.frozen_or_not();
    }
}
