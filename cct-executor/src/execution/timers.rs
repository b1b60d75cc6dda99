//! Deadlines and the clock: the one place where time moves.
//!
//! 1. Timers fire in order of (deadline, registration) when the world is idle.
//! 2. A timer never fires before its deadline, as the virtual clock shows it.
//! 3. Deadlines are whole milliseconds, rounded up, as in tokio.
//! 4. Only under the clock policies `racing`, `adversarial` and `lagging` are timers actions of their own; under the
//!    last they are optional, so that time moves as under `strict` where nothing else can happen.

mod heap;
mod late;

pub(super) use heap::Due;
pub(crate) use heap::Timers;

use super::core::{Core, NONE, state};
use super::decider::Decider;
use super::waker::Waiter;
use crate::words::action::Sort;
use crate::words::{Access, Action, ActionId, Limit, Op, OpKind};
use heap::{SHELVED, Timer};
use std::panic::Location;

/// Index of a timer in its world.
pub(crate) type TimerId = u32;

/// How much later than its deadline a timer fires, where timers are late: less than a tick, but no tick's beginning.
const LATE_NS: u64 = 1_000;
/// Nanoseconds in a tick of tokio's timer.
const TICK_NS: u64 = 1_000_000;

/// A deadline this far away (29 years) stands for "never".
const NEVER_NS: u64 = 29 * 365 * 24 * 3600 * 1_000_000_000;

impl Core {
    /// The tick at which a deadline is over.
    fn rounded(deadline_ns: u64) -> u64 {
        deadline_ns.div_ceil(TICK_NS).saturating_mul(TICK_NS)
    }

    /// Registers a timer, or finds that it is due already.
    pub(crate) fn add_timer(
        &mut self,
        deadline_ns: u64,
        owner: u32,
        site: &'static Location<'static>,
    ) -> Option<TimerId> {
        let (mut runtime, mut behind_ns) = (0, 0);
        if !self.runtimes.is_empty() {
            runtime = self.runtime_of(owner);
            behind_ns = self.behind_ns(runtime);
        }
        // Ticks are those of the clock that it goes by.
        let deadline_ns = Self::rounded(deadline_ns.saturating_sub(behind_ns)) + behind_ns;
        if deadline_ns <= self.timers.elapsed_ns {
            return None;
        }
        let timer = match self.timers.free.pop() {
            Some(timer) => timer,
            None => {
                let new = Timer {
                    deadline_ns: 0,
                    place: NONE,
                    action: NONE,
                    waiter: None,
                    stem: 0,
                    runtime: 0,
                };
                self.timers.timers.push(new);
                self.timers.timers.len() as TimerId - 1
            }
        };
        let entry = &mut self.timers.timers[timer as usize];
        (entry.deadline_ns, entry.runtime) = (deadline_ns, runtime);
        if self.timers.clock.offers_timers() {
            let tag = self.sites.tag(site);
            let id = ActionId(self.new_id(owner, tag).0);
            let op = Op {
                kind: OpKind::Fire,
                access: Access::Write,
                resource: 0,
                site,
            };
            let action = self.add_action(Sort::Fire, timer, id, op);
            self.timers.timers[timer as usize].action = action;
            self.timers.timers[timer as usize].stem = self.timers.late.stem(self.last());
        }
        self.timers.push(timer, deadline_ns);
        if runtime != 0 {
            self.timer_goes_on(timer, runtime);
        }
        self.alerted |= self.timers.dirty;
        Some(timer)
    }

    /// Whether a timer has fired; if not, `waiter` is woken when it does. A waiter that was
    /// replaced is returned, to be dropped outside.
    pub(crate) fn poll_timer(
        &mut self,
        timer: TimerId,
        waiter: impl FnOnce(Option<&Waiter>) -> Option<Waiter>,
    ) -> (bool, Option<Waiter>) {
        let entry = &mut self.timers.timers[timer as usize];
        if entry.place == NONE {
            return (true, entry.waiter.take());
        }
        match waiter(entry.waiter.as_ref()) {
            Some(new) => (false, entry.waiter.replace(new)),
            None => (false, None),
        }
    }

    /// Forgets a timer. Its waiter is returned, to be dropped outside.
    #[inline(always)]
    pub(crate) fn drop_timer(&mut self, timer: TimerId) -> Option<Waiter> {
        if self.timers.timers[timer as usize].place == SHELVED {
            self.take_from_shelf(timer);
        }
        self.timers.take(timer);
        self.alerted |= self.timers.dirty;
        self.retire_action(timer);
        self.timers.free.push(timer);
        self.timers.timers[timer as usize].waiter.take()
    }

    fn retire_action(&mut self, timer: TimerId) {
        let action = std::mem::replace(&mut self.timers.timers[timer as usize].action, NONE);
        if action != NONE {
            self.hide_timer(action);
            self.action(action).state |= state::DONE;
            self.timers.eligible.retain(|&t| t != timer);
        }
    }

    /// Brings the enabled timer actions up to date.
    #[inline]
    pub(crate) fn timers_changed(&mut self) {
        if self.timers.dirty {
            self.refresh_timers();
        }
    }

    #[cold]
    fn refresh_timers(&mut self) {
        let before = std::mem::take(&mut self.timers.eligible);
        let lags = self.timers.lag();
        if lags {
            self.see_who_is_late();
        }
        // Who is late may be another one after each step.
        self.timers.dirty = !self.timers.late.is_empty();
        if !lags || self.is_all_late() {
            self.timers.find_eligible();
        }
        for &timer in &before {
            let action = self.timers.timers[timer as usize].action;
            if action != NONE && !self.timers.eligible.contains(&timer) {
                self.hide_timer(action);
            }
        }
        for i in 0..self.timers.eligible.len() {
            let timer = self.timers.eligible[i];
            let action = self.timers.timers[timer as usize].action;
            if !self.is_enabled(action) {
                self.insert(action);
                self.optional += u32::from(lags);
            }
        }
    }

    fn is_enabled(&self, action: u32) -> bool {
        self.actions[action as usize].position != Action::NOWHERE
    }

    /// Takes a timer's action out of the enabled set, if it is there.
    fn hide_timer(&mut self, action: u32) {
        if self.is_enabled(action) {
            self.remove(action);
            self.optional -= u32::from(self.timers.lag());
        }
    }

    /// Which timers may fire while work is ready hangs on whether the clock is frozen.
    pub(super) fn frozen_or_not(&mut self) {
        self.timers.dirty = self.timers.clock.offers_timers();
        self.alerted |= self.timers.dirty;
    }

    /// A waker of foreign make is to be woken outside the core.
    pub(crate) fn due(&mut self, waiter: Waiter) {
        self.timers.due.push(waiter);
        self.alert();
    }

    /// Fires one timer: takes it out and wakes whoever waits for it.
    fn fire(&mut self, timer: TimerId, decider: &mut dyn Decider) {
        self.timers.take(timer);
        self.alerted |= self.timers.dirty;
        self.retire_action(timer);
        if self.recorder.is_some() {
            self.note_timer(timer);
        }
        match self.timers.timers[timer as usize].waiter.take() {
            None => {}
            Some(waiter) => match waiter.task() {
                Some(key) => self.wake_in_time(key, decider),
                None => self.due(waiter),
            },
        }
    }

    /// A timer wakes a task.
    fn wake_in_time(&mut self, key: u32, decider: &mut dyn Decider) {
        let may_be_late = self.timers.lag() && !self.is_enabled(key);
        self.wake(key, decider);
        if may_be_late && self.is_enabled(key) {
            self.timers.late.sets_off(key);
        }
    }

    /// A timer's action was picked while other work may be ready.
    pub(crate) fn fire_early(&mut self, action: u32, decider: &mut dyn Decider) {
        let lags = self.timers.lag();
        self.optional -= u32::from(lags);
        let timer = self.actions[action as usize].subject;
        let waiter = self.timers.timers[timer as usize].waiter.as_ref();
        self.record_step_for(action, waiter.and_then(Waiter::task));
        self.note_early_timer();
        if !self.advance_to(self.just_after(timer)) {
            return;
        }
        match lags {
            true => self.fire_due(decider),
            false => self.fire(timer, decider),
        }
    }

    /// The earliest deadline, and the task that its timer wakes, if that is known.
    pub(super) fn next_deadline(&self) -> Option<(u64, Option<u32>)> {
        let first = self.timers.first()?;
        let waiter = self.timers.timers[first.timer as usize].waiter.as_ref();
        Some((first.deadline_ns, waiter.and_then(Waiter::task)))
    }

    /// Moves time to the earliest deadline and fires what is due. Returns whether there was one
    /// within the limit.
    pub(crate) fn advance_to_next_timer(&mut self, decider: &mut dyn Decider) -> bool {
        let Some(first) = self.timers.first() else {
            return false;
        };
        let deadline_ns = first.deadline_ns;
        let limit = self.config.limits.time;
        if deadline_ns >= NEVER_NS && u128::from(deadline_ns) > limit.as_nanos() {
            // `sleep(Duration::MAX)` and its like wait for ever: no reason to call it a limit.
            return false;
        }
        if !self.advance_to(self.just_after(first.timer)) {
            return false;
        }
        self.timers.was_idle(self.point.time_ns);
        self.fire_due(decider);
        true
    }

    /// What the clock shows when a timer fires.
    fn just_after(&self, timer: TimerId) -> u64 {
        let timer = &self.timers.timers[timer as usize];
        let mut clock_ns = self.point.time_ns;
        if !self.runtimes.is_empty() {
            clock_ns -= self.behind_ns(timer.runtime);
        }
        timer.deadline_ns.saturating_add(self.late_ns(clock_ns))
    }

    /// How long after a deadline a timer fires where the clock shows this. Once it is frozen, it moves by whole ticks.
    fn late_ns(&self, clock_ns: u64) -> u64 {
        match self.looks.frozen {
            true => clock_ns % TICK_NS,
            false if self.config.late_timers => LATE_NS,
            false => 0,
        }
    }

    /// Moves time to the beginning of a tick, as it is where a clock begins.
    pub(super) fn round_time(&mut self) {
        self.advance_to(Self::rounded(self.point.time_ns));
    }

    /// The clock moves by as much, if it stays within its tick: no timer is due for that, and no deadline another one.
    /// So a look that is there for what is traced alone, and not taken while nobody hears it, changes nothing.
    pub(super) fn creep(&mut self, by_ns: u64) {
        let to_ns = self.point.time_ns.saturating_add(by_ns);
        if to_ns < Self::rounded(self.point.time_ns) {
            self.advance_to(to_ns);
        }
    }

    /// The clock is where a program finds it that begins.
    pub(super) fn begin_time(&mut self) {
        self.advance_to(self.late_ns(0));
    }

    /// Notes whom a timer wakes.
    #[cold]
    fn note_timer(&mut self, timer: TimerId) {
        let waiter = self.timers.timers[timer as usize].waiter.as_ref();
        if let (Some(recorder), Some(waiter)) = (&mut self.recorder, waiter) {
            recorder.timer_wakes(waiter.task());
        }
    }

    /// Notes that the timer which fires overtakes work, if there is any.
    fn note_early_timer(&mut self) {
        if let Some(recorder) = &mut self.recorder {
            let mut ready = self.enabled.iter();
            if ready.any(|&key| self.actions[key as usize].sort == Sort::Run) {
                recorder.overtakes_work();
            }
        }
    }

    /// Up to where timers have fired.
    pub(crate) fn timers_elapsed_ns(&self) -> u64 {
        self.timers.elapsed_ns
    }

    /// Fires every timer whose deadline is over.
    pub(crate) fn fire_due(&mut self, decider: &mut dyn Decider) {
        self.timers.elapsed_ns = self.point.time_ns;
        while let Some(first) = self.timers.first() {
            if first.deadline_ns > self.point.time_ns {
                break;
            }
            self.fire(first.timer, decider);
        }
    }

    /// Moves the clock; what has become due meanwhile fires with [`fire_due`](Self::fire_due).
    pub(crate) fn advance_by_hand(&mut self, by_ns: u64) -> bool {
        let elapsed_ns = self.timers.elapsed_ns;
        let within = self.advance_to(self.point.time_ns.saturating_add(by_ns));
        self.timers.elapsed_ns = elapsed_ns;
        within
    }

    /// Moves the clock; it never goes back. Returns false when the time limit is passed.
    pub(crate) fn advance_to(&mut self, time_ns: u64) -> bool {
        let limit_ns = u64::try_from(self.config.limits.time.as_nanos()).unwrap_or(u64::MAX);
        if time_ns > limit_ns {
            self.cut(Limit::Time);
            return false;
        }
        let by_ns = time_ns.saturating_sub(self.point.time_ns);
        self.looks.time_moved(by_ns);
        self.point.time_ns += by_ns;
        self.timers.elapsed_ns = self.point.time_ns;
        true
    }
}
