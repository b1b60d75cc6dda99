//! Yields of the scenario's own task that last, as on tokio's `current_thread` runtime.
//!
//! There the future of `block_on` is polled again, after it has woken itself, when the queue of ready tasks is
//! empty, or 61 polls later. Tests for that runtime count on it: one `yield_now`, and all others have got as far
//! as they can.
//!
//! 1. Only the scenario's own task rests, and only where [`WorldConfig`](crate::words::WorldConfig) says so. It does
//!    when its poll ends and it has been woken already.
//! 2. A rest ends when nothing else is enabled, before time moves, or after [`STEPS`].

use super::core::Core;
use super::decider::Decider;
use super::run::MAIN;
use crate::words::{Action, ActionKey, StepEvent};

/// tokio's 61 polls, with four scheduling points each. Who waits in a loop over yields for what the scenario does
/// next would never leave the world idle.
const STEPS: u64 = 61 * 4;
/// While nobody rests.
pub(super) const NEVER: u64 = u64::MAX;

impl Core {
    /// Whether a task whose poll has ended, and which was woken already, rests first.
    pub(super) fn rests(&mut self, key: u32) -> bool {
        let rests = key == MAIN && self.config.lasting_yields;
        if rests {
            self.rests_until = self.point.step + STEPS;
            self.stop_at = self.stop_at.min(self.rests_until);
        }
        rests
    }

    /// What this task has deferred in its poll has been woken: where that is itself, it rests.
    pub(super) fn rests_after_all(&mut self, key: u32, decider: &mut dyn Decider) {
        let woken = self.actions[key as usize].position != Action::NOWHERE;
        if woken && self.rests(key) {
            self.remove(key);
            if self.interests.readiness {
                decider.observe(&StepEvent::Blocked(ActionKey(key)));
            }
        }
    }

    /// The rest ends, if there is one.
    pub(super) fn end_rest(&mut self, decider: &mut dyn Decider) -> bool {
        let rested = std::mem::replace(&mut self.rests_until, NEVER) != NEVER;
        if rested {
            self.insert(MAIN);
            if self.interests.readiness {
                decider.observe(&StepEvent::Enabled(ActionKey(MAIN)));
            }
        }
        rested
    }

    /// Whether the rest has lasted long enough.
    pub(super) fn rest_is_overlong(&self) -> bool {
        self.point.step > self.rests_until
    }

    /// Ends a rest that has lasted long enough.
    pub(super) fn end_overlong_rest(&mut self, decider: &mut dyn Decider) {
        if self.rest_is_overlong() {
            self.end_rest(decider);
        }
    }
}
