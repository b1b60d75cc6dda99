//! The enabled set, and the decision who is next.
//!
//! 1. An action is in the set exactly when its `position` is not [`Action::NOWHERE`].
//! 2. A running task is not in the set, but for the moment of a decision in the middle of its poll,
//!    and from then on, if it was told to go on and stands last, until anything else happens to the
//!    set (`sweep`): most often this is the next such decision.
//! 3. With one choice there is no decision, and nothing is recorded. A poll in whose middle no more may be suspended
//!    is the only choice.

use super::core::{Core, NONE, state};
use super::decider::{Decider, Stop};
use crate::words::action::Sort;
use crate::words::enabled::EnabledActions;
use crate::words::{
    Action, ActionKey, Decision, DecisionKind, EnabledSet, FailureKind, Limit, Outcome, StepEvent,
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

/// What became of a pick.
pub(super) enum Picked {
    /// This task runs.
    Run(u32),
    /// Something happens that is no task's.
    Other(Sort, u32),
    /// That would be one step too many.
    Over,
}

/// What happens where nothing is ready.
enum Idle {
    /// Something is, by now.
    GoOn,
    /// A future that waits is cancelled.
    Cancel,
    /// The iteration is over.
    End,
}

impl Core {
    /// Takes the running task out of the enabled set, where it may linger.
    #[inline(always)]
    pub(crate) fn sweep(&mut self) {
        if self.lingers {
            self.sweep_last();
        }
    }

    #[inline(never)]
    fn sweep_last(&mut self) {
        self.lingers = false;
        if let Some(last) = self.enabled.pop() {
            self.actions[last as usize].position = Action::NOWHERE;
        }
    }

    /// Puts an action into the enabled set, unless it is there.
    #[inline]
    pub(crate) fn insert(&mut self, key: u32) {
        self.sweep();
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
        self.sweep();
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
            if self.timers.lag() {
                self.wake_the_late(key);
            }
            return;
        }
        action.state |= state::NOTIFIED;
        self.insert(key);
        if self.interests.readiness {
            decider.observe(&StepEvent::Enabled(ActionKey(key)));
            // A timer that fires wakes without anybody sending.
            let last = self.last();
            let sender = self.actions.get(last as usize);
            if last != key && sender.is_some_and(|a| a.state & state::RUNNING != 0) {
                decider.observe(&StepEvent::Sent { to: ActionKey(key) });
            }
        }
    }

    /// Decides what happens next and takes it out of the enabled set. Timers and cancellations
    /// are applied on the spot. `current` is the task in the middle of a poll that may go on; the
    /// caller has put it into the set.
    pub(crate) fn next(&mut self, current: u32, decider: &mut dyn Decider) -> Next {
        self.next_inlined(current, decider)
    }

    /// [`next`](Self::next) for the step loop, where the call itself would show.
    #[inline(always)]
    pub(crate) fn next_inlined(&mut self, current: u32, decider: &mut dyn Decider) -> Next {
        loop {
            if self.alerted {
                if let Some(next) = self.see_to_alert(decider) {
                    return next;
                }
            }
            let position = match self.enabled.len() {
                n if n == self.optional as usize => match self.idle(decider) {
                    Idle::GoOn => {
                        self.tell_parked(decider);
                        continue;
                    }
                    Idle::End => return Next::End,
                    Idle::Cancel => match self.ask_if_several(decider) {
                        Some(position) => position,
                        None => return Next::End,
                    },
                },
                1 => {
                    if self.interests.forced {
                        self.tell_forced(self.enabled[0], decider);
                    }
                    0
                }
                _ if current != NONE && self.suspends_no_more() => {
                    if self.interests.forced {
                        self.tell_forced(current, decider);
                    }
                    self.actions[current as usize].position as usize
                }
                _ => match self.ask(current, decider) {
                    Some(position) => position,
                    None => return Next::End,
                },
            };
            match self.take_picked(position, current) {
                Picked::Run(key) => return Next::Run(key),
                Picked::Over => return Next::End,
                Picked::Other(sort, key) => self.fire_picked(sort, key, decider),
            }
        }
    }

    /// Counts the step in which the action at this position happens, and takes it out of the enabled
    /// set; but `current`, which goes on, lingers there as the last.
    #[inline(always)]
    pub(super) fn take_picked(&mut self, position: usize, current: u32) -> Picked {
        let key = self.enabled[position];
        if !self.count_step() {
            self.set_last(key); // who would have been next: a watchdog asks
            return Picked::Over;
        }
        if key == current && position + 1 == self.enabled.len() {
            self.lingers = true;
            return Picked::Run(key);
        }
        match self.take_at(position, key) {
            Sort::Run => Picked::Run(key),
            sort => Picked::Other(sort, key),
        }
    }

    /// Something was picked that is no task's.
    #[inline(never)]
    pub(super) fn fire_picked(&mut self, sort: Sort, key: u32, decider: &mut dyn Decider) {
        self.spin.breaks();
        if sort != Sort::Fire {
            self.timers.late.others_act();
        }
        match sort {
            Sort::Run => {}
            Sort::Fire => self.fire_early(key, decider),
            Sort::Deliver | Sort::Fault => {
                self.performs(key, decider);
                self.picked_source(key);
            }
            Sort::Cancel => self.fire_cancel(key, decider),
        }
    }

    /// Takes the action at this position out of the enabled set, and says what it is.
    #[inline(always)]
    fn take_at(&mut self, position: usize, key: u32) -> Sort {
        // The last one takes its place, be it itself: whether it is the last is random, and a branch on
        // that would be mispredicted as often.
        if let Some(&moved) = self.enabled.last() {
            self.enabled[position] = moved;
            self.enabled.pop();
            self.actions[moved as usize].position = position as u32;
        }
        let action = &mut self.actions[key as usize];
        action.position = Action::NOWHERE;
        action.sort
    }

    /// What has to happen before the next decision, if anything: the alert stands until there is
    /// nothing left.
    #[cold]
    fn see_to_alert(&mut self, decider: &mut dyn Decider) -> Option<Next> {
        if std::mem::take(&mut self.spin.due) && self.end.is_none() {
            self.time_passes(decider);
        }
        if self.end.is_some() {
            return Some(Next::End);
        }
        if !self.timers.due.is_empty() || !self.applying.is_empty() {
            return Some(Next::Wake);
        }
        if !self.crashes.is_empty() {
            return Some(Next::Crash);
        }
        self.timers_changed();
        let somebody_rests = self.see_to_rests(decider);
        self.alerted = self.see_to_parked(decider) || somebody_rests || self.timers.dirty;
        if self.open.is_some() {
            self.alerted = true;
            return self.see_to_strangers(decider).then_some(Next::Wake);
        }
        None
    }

    /// There is only one choice, and the strategy wants to know.
    #[cold]
    pub(crate) fn tell_forced(&self, key: u32, decider: &mut dyn Decider) {
        decider.observe(&StepEvent::Forced {
            id: self.actions[key as usize].id,
            fingerprint: self.point.fingerprint,
            parts: self.point.parts,
        });
    }

    /// Asks the decider which position it is; there are at least two choices.
    #[inline(always)]
    pub(super) fn ask(&mut self, current: u32, decider: &mut dyn Decider) -> Option<usize> {
        self.point.can_continue = current != NONE || self.gave_way_only();
        let pick = loop {
            let set = EnabledSet::Actions(EnabledActions {
                keys: &self.enabled,
                actions: &self.actions,
                fresh: &self.fresh,
            });
            match decider.pick(&self.point, &set) {
                Some(pick) => break pick,
                None if self.goes_on(decider.stop()) => {}
                None => return None,
            }
        };
        let arity = self.enabled.len() as u32;
        if pick.0 >= arity {
            out_of_range(pick.0, arity);
        }
        if !self.fresh.is_empty() {
            self.forget_fresh();
        }
        self.record(Decision {
            kind: DecisionKind::Schedule,
            index: pick.0,
            arity,
        });
        Some(pick.0 as usize)
    }

    /// Whether the task that ran last has returned `Pending` for this decision alone, and could as well have gone on: to
    /// a strategy that is the middle of a poll.
    #[inline(always)]
    fn gave_way_only(&mut self) -> bool {
        let (key, step) = self.gave_way;
        step == self.point.step && key != NONE && self.could_have_gone_on(key)
    }

    #[cold]
    fn could_have_gone_on(&mut self, key: u32) -> bool {
        let goes_on = key == self.last() && self.actions[key as usize].position != Action::NOWHERE;
        if goes_on && std::mem::take(&mut self.actions[key as usize].fresh) {
            self.fresh.retain(|&fresh| fresh != key);
        }
        goes_on
    }

    /// As [`ask`](Self::ask), where no task is ready and there may be one choice only.
    #[cold]
    fn ask_if_several(&mut self, decider: &mut dyn Decider) -> Option<usize> {
        if self.enabled.len() > 1 {
            return self.ask(NONE, decider);
        }
        if self.interests.forced {
            self.tell_forced(self.enabled[0], decider);
        }
        Some(0)
    }

    /// What was fresh has been seen.
    fn forget_fresh(&mut self) {
        for fresh in self.fresh.drain(..) {
            self.actions[fresh as usize].fresh = false;
        }
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
        if self.watched {
            self.tell_decision(decision.arity);
        }
    }

    #[inline(never)]
    fn tell_decision(&mut self, arity: u32) {
        if let Some(recorder) = &mut self.recorder {
            recorder.decision(arity, self.rolling);
        }
    }

    /// The decider has no answer. Whether it is to be asked again.
    #[cold]
    pub(crate) fn goes_on(&mut self, stop: Stop) -> bool {
        match stop {
            Stop::End => self.cut(Limit::Decisions),
            Stop::GoOn => {
                let end = self.so_far(Outcome::Cut(Limit::Decisions));
                self.decided = Some(Box::new((end, self.explain())));
            }
            Stop::Diverged(message) => self.fail(FailureKind::Nondeterminism { message }),
        }
        self.end.is_none()
    }

    /// Nothing is enabled that is not optional: moves time to the next deadline, has a future
    /// cancelled, or ends the iteration.
    #[cold]
    fn idle(&mut self, decider: &mut dyn Decider) -> Idle {
        if self.words_have_changed(false, decider)
            || self.end_rests(decider)
            || self.spinner_goes_on(false, decider)
            || self.stand_ends()
        {
            return Idle::GoOn;
        }
        if self.cancels_rather(decider) {
            return Idle::Cancel;
        }
        if self.end.is_some() {
            return Idle::End;
        }
        if self.open.is_some() && self.strangers_act_in_time(decider) {
            return Idle::GoOn;
        }
        if self.time_goes_on(decider) {
            return Idle::GoOn;
        }
        if self.end.is_some() {
            return Idle::End;
        }
        if self.cancels.any_armed() {
            return Idle::Cancel;
        }
        if self.spinner_goes_on(true, decider) || self.words_have_changed(true, decider) {
            return Idle::GoOn;
        }
        if self.open.is_some() && self.strangers_act(None, decider) {
            return Idle::GoOn;
        }
        self.quiescent();
        Idle::End
    }

    /// The world goes on after nothing was left to do, or after rests.
    #[cold]
    pub(super) fn tell_parked(&self, decider: &mut dyn Decider) {
        if self.interests.readiness {
            decider.observe(&StepEvent::Parked {
                step: self.point.step,
            });
        }
    }

    /// Nothing can ever happen again.
    fn quiescent(&mut self) {
        self.held_back_no_more();
        if let Some((key, kind)) = self.unobserved.first().cloned() {
            // The first cause; that others then wait for ever is its consequence.
            return self.fail_unheard(key, kind);
        }
        let waiting = self
            .actions
            .iter()
            .filter(|a| a.sort == Sort::Run && a.state & state::DONE == 0)
            .count();
        self.fail(FailureKind::Deadlock {
            waiting: waiting as u32,
        });
    }
}

#[cold]
#[inline(never)]
fn out_of_range(pick: u32, arity: u32) -> ! {
    panic!("cct bug: pick {pick} of {arity} enabled actions")
}
