//! When the next offer is: moments drawn from a ladder.

use cct_executor::shim;
use std::time::Duration;

/// For how many moments an offer stands.
const SLOT: u64 = 16;

/// How moments are drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// The greatest number of moments is below two to this power.
    pub(super) rungs: u32,
    /// How much virtual time in which nothing happens is one moment.
    pub(super) quiet: Duration,
}

/// When something is due: at a moment, or at a time if that comes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Due {
    moment: u64,
    pub(super) time_ns: u64,
}

impl Due {
    pub(super) fn is_over(self, moment: u64, now_ns: u64) -> bool {
        self.moment <= moment || self.time_ns <= now_ns
    }
}

impl Pace {
    /// Draws how many moments pass: a rung of the ladder, then a number between it and the next.
    pub(super) fn draw(self, label: &'static str) -> u64 {
        let rung = shim::choose(self.rungs, label);
        let moments = (1 << rung) + u64::from(shim::choose(1 << rung, label));
        shim::tell_choice(|| format!("{moments} moments"));
        moments
    }

    /// So many moments from now.
    pub(super) fn due(self, moments: u64, now: u64) -> Due {
        let quiet_ns = u64::try_from(self.quiet.as_nanos()).unwrap_or(u64::MAX);
        Due {
            moment: now.saturating_add(moments),
            time_ns: shim::world_time_ns().saturating_add(quiet_ns.saturating_mul(moments)),
        }
    }

    /// When an offer that is made now is taken back.
    pub(super) fn slot(self, now: u64) -> Due {
        self.due(SLOT, now)
    }
}
