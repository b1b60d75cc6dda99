//! The enabled set, and the decision who is next.
//!
//! 1. An action is in the set exactly when its `position` is not [`Action::NOWHERE`].
//! 2. A running task is not in the set, but for the moment of a decision in the middle of its poll.
//! 3. With one choice there is no decision, and nothing is recorded.

use super::core::{Core, NONE, state};
use super::decider::{Decider, Stop};
use crate::words::enabled::EnabledActions;
use crate::words::{
    Action, ActionKey, ActionKind, Decision, DecisionKind, EnabledSet, FailureKind, Fingerprint,
    Limit, SchedulingPoint, StepEvent,
};

/// What the loop does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// This task runs. It is no longer in the enabled set.
    Run(u32),
    /// Wakers of foreign make, or source actions, are due: see to them outside the core, then decide
    /// again.
    Wake,
    /// A node is to crash: leave this stack, which may be the node's.
    Crash,
    /// The iteration is over; `Core::end` says how.
    End,
}

impl Core {
    /// Puts an action into the enabled set, unless it is there.
    #[inline]
    pub(crate) fn insert(&mut self, key: u32) {
        let action = &mut self.actions[key as usize];
        if action.position != Action::NOWHERE {
            return;
        }
        if action.state & state::GROUPED != 0 && !self.may_show(key) {
            return;
        }
        let action = &mut self.actions[key as usize];
        action.position = self.enabled.len() as u32;
        self.enabled.push(key);
        if self.interests.fresh && !action.fresh {
            action.fresh = true;
            self.fresh.push(key);
        }
    }

    /// Takes an action out of the enabled set, if it is there.
    #[inline]
    pub(crate) fn remove(&mut self, key: u32) {
        let action = &mut self.actions[key as usize];
        let position = std::mem::replace(&mut action.position, Action::NOWHERE);
        if position == Action::NOWHERE {
            return;
        }
        self.enabled.swap_remove(position as usize);
        if let Some(&moved) = self.enabled.get(position as usize) {
            self.actions[moved as usize].position = position;
        }
    }

    /// Wakes a task.
    #[inline]
    pub(crate) fn wake(&mut self, key: u32, decider: &mut dyn Decider) {
        let Some(action) = self.actions.get_mut(key as usize) else {
            return;
        };
        if action.state & (state::RUNNING | state::DONE | state::NOTIFIED) != 0 {
            action.state |= state::NOTIFIED;
            return;
        }
        action.state |= state::NOTIFIED;
        self.insert(key);
        if self.interests.readiness {
            decider.observe(&StepEvent::Enabled(ActionKey(key)));
            // A timer that fires wakes without anybody sending.
            let sender = self.actions.get(self.last as usize);
            if self.last != key && sender.is_some_and(|a| a.state & state::RUNNING != 0) {
                decider.observe(&StepEvent::Sent { to: ActionKey(key) });
            }
        }
    }

    /// Decides what happens next and takes it out of the enabled set. Timers and cancellations
    /// are applied on the spot. `current` is the task in the middle of a poll that may go on; the
    /// caller has put it into the set.
    #[inline]
    pub(crate) fn next(&mut self, current: u32, decider: &mut dyn Decider) -> Next {
        loop {
            if self.end.is_some() {
                return Next::End;
            }
            if self.is_due() {
                return Next::Wake;
            }
            if !self.crashes.is_empty() {
                return Next::Crash;
            }
            self.timers_changed();
            let key = match self.enabled.len() {
                n if n == self.optional as usize => {
                    if self.idle(decider) {
                        continue;
                    }
                    return Next::End;
                }
                1 => self.enabled[0],
                _ => match self.ask(current, decider) {
                    Some(key) => key,
                    None => return Next::End,
                },
            };
            if !self.count_step() {
                self.last = key; // who would have been next: a watchdog asks
                return Next::End;
            }
            self.remove(key);
            match self.actions[key as usize].kind {
                ActionKind::Run => return Next::Run(key),
                ActionKind::Fire => self.fire_early(key, decider),
                ActionKind::Deliver | ActionKind::Fault => {
                    self.performs(key, decider);
                    self.picked_source(key);
                }
                _ => self.fire_cancel(key, decider),
            }
        }
    }

    /// Whether something has to happen outside before the next decision.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        !self.timers.due.is_empty() || !self.applying.is_empty()
    }

    /// Asks the decider; there are at least two choices.
    #[inline]
    fn ask(&mut self, current: u32, decider: &mut dyn Decider) -> Option<u32> {
        let last = self.last;
        let point = SchedulingPoint {
            step: self.steps,
            time_ns: self.now_ns,
            fingerprint: Fingerprint(self.fingerprint),
            parts: self.parts_asked(),
            waypoint: self.waypoint,
            waypoints: self.waypoints.len() as u32,
            current: Self::key(last),
            can_continue: current != NONE,
            yielded: last != NONE && self.actions[last as usize].state & state::YIELDED != 0,
        };
        let set = EnabledSet::Actions(EnabledActions {
            keys: &self.enabled,
            actions: &self.actions,
            fresh: &self.fresh,
        });
        let pick = match decider.pick(&point, &set) {
            Ok(pick) => pick,
            Err(stop) => {
                self.stop(stop);
                return None;
            }
        };
        let arity = self.enabled.len() as u32;
        let Some(&key) = self.enabled.get(pick.0 as usize) else {
            panic!("cct bug: pick {} of {arity} enabled actions", pick.0);
        };
        for fresh in self.fresh.drain(..) {
            self.actions[fresh as usize].fresh = false;
        }
        self.record(Decision {
            kind: DecisionKind::Schedule,
            index: pick.0,
            arity,
        });
        Some(key)
    }

    /// Writes a decision down.
    #[inline]
    pub(crate) fn record(&mut self, decision: Decision) {
        self.trace.push(decision);
        self.decisions += 1;
        // A value drawn and the decision after it have no step in between to mix them.
        self.rolling = self
            .rolling
            .rotate_left(23)
            .wrapping_add(u64::from(decision.index) << 32 | u64::from(decision.arity));
        if let Some(recorder) = &mut self.recorder {
            recorder.decision(decision, self.rolling);
        }
    }

    /// The decider has no answer.
    #[cold]
    pub(crate) fn stop(&mut self, stop: Stop) {
        match stop {
            Stop::End => self.cut(Limit::Decisions),
            Stop::Diverged(message) => self.fail(FailureKind::Nondeterminism { message }),
        }
    }

    /// Nothing is enabled: moves time to the next deadline, or ends the iteration. Returns whether
    /// to go on.
    #[cold]
    fn idle(&mut self, decider: &mut dyn Decider) -> bool {
        if self.advance_to_next_timer(decider) {
            return true;
        }
        if self.end.is_none() {
            self.quiescent();
        }
        false
    }

    /// Nothing can ever happen again.
    fn quiescent(&mut self) {
        if let Some((_, kind)) = self.unobserved.first() {
            // The first cause; that others then wait for ever is its consequence.
            let kind = kind.clone();
            return self.fail(kind);
        }
        let waiting = self
            .actions
            .iter()
            .filter(|a| a.kind == ActionKind::Run && a.state & state::DONE == 0)
            .count();
        self.fail(FailureKind::Deadlock {
            waiting: waiting as u32,
        });
    }
}
