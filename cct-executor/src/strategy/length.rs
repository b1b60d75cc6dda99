//! How long a program is, as far as earlier iterations tell: over so many decisions strategies spread what they change.

use crate::words::{IterationEnd, Outcome};

/// The instances among which the iterations are shared of strategies that learn this.
pub(super) const LANES: u32 = 8;

/// The most decisions that an iteration took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Length {
    /// Of one that ended by itself.
    ended: u64,
    /// Of one that was cut by a limit: it says little, and counts while there are no others.
    cut: u64,
}

impl Length {
    /// In decisions; 0 while nothing is known.
    pub(super) fn decisions(self) -> u64 {
        if self.ended > 0 { self.ended } else { self.cut }
    }

    /// An iteration of so many decisions is over.
    pub(super) fn learn(&mut self, decisions: u64, end: &IterationEnd) {
        let most = match end.outcome {
            Outcome::Cut(_) => &mut self.cut,
            _ => &mut self.ended,
        };
        *most = decisions.max(*most);
    }

    /// What is known from elsewhere.
    pub(super) fn expect(&mut self, decisions: u64) {
        self.ended = decisions;
    }
}
