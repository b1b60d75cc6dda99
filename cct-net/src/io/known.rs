//! What the tasks of a socket know of its readiness.

use super::{Interest, Ready};
use crate::stream::state::Readiness;

/// Readiness as tokio keeps it: events add to it, and only an operation that found nothing to do
/// takes from it. In between it may say more than is true.
#[derive(Clone, Copy)]
pub(crate) struct Known {
    ready: Ready,
    events: u32,
}

impl Default for Known {
    fn default() -> Known {
        Known {
            ready: Ready::EMPTY,
            events: 0,
        }
    }
}

/// What an operation was told before it tried.
#[derive(Clone, Copy)]
pub(crate) struct Told {
    pub(crate) ready: Ready,
    events: u32,
}

impl Known {
    /// Supposes something without having been told.
    pub(crate) fn suppose(&mut self, ready: Ready) {
        self.ready |= ready;
    }

    /// An event tells what holds at the moment.
    pub(crate) fn event(&mut self, state: Readiness) {
        self.ready |= Ready::from(state);
        self.events = self.events.wrapping_add(1);
    }

    pub(crate) fn told(&self, interest: Interest) -> Told {
        Told {
            ready: self.ready & Ready::mask(interest),
            events: self.events,
        }
    }

    /// An operation found that it was told too much. What is closed stays so, and what an event has
    /// told since is newer than what the operation found.
    pub(crate) fn disprove(&mut self, told: Told) {
        if told.events == self.events {
            let closed = Ready::READ_CLOSED | Ready::WRITE_CLOSED;
            self.ready = self.ready - (told.ready - closed);
        }
    }

    /// Its share of a fingerprint: five bits.
    pub(crate) fn digest(&self) -> u64 {
        self.ready.bits()
    }
}
