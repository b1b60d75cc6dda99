//! Who may be late under the clock that lags: tasks that are ready because a timer fired, and those whom they have woken or
//! spawned since.
//!
//! A timer overtakes what other timers have set off, and never what stems from the same firing as itself: whoever starts
//! something and sleeps lets it come to its end first, as tests mean by a short sleep.

use super::heap::Timer;
use crate::execution::core::Core;
use crate::words::Action;
use crate::words::action::Sort;

/// Where more are ready, none is late: to look at all of them at every decision would be dear.
const MOST_READY: usize = 64;

#[derive(Default)]
pub(in crate::execution) struct Late {
    keys: Vec<u32>,
    /// For each of them, by its key, the number of the firing that set it off; 0 for all others.
    stems: Vec<u32>,
    /// How many firings there were.
    firings: u32,
    /// Something else than a task has acted since the last look.
    others_acted: bool,
}

impl Late {
    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    pub(super) fn clear(&mut self) {
        for key in self.keys.drain(..) {
            self.stems[key as usize] = 0;
        }
        self.others_acted = false;
    }

    /// The number of the firing from which it stems that this task runs, or 0.
    #[inline]
    pub(super) fn stem(&self, key: u32) -> u32 {
        self.stems.get(key as usize).copied().unwrap_or(0)
    }

    fn add(&mut self, key: u32, stem: u32) {
        let place = key as usize;
        if self.stems.len() <= place {
            self.stems.resize(place + 1, 0);
        }
        if self.stems[place] == 0 {
            self.stems[place] = stem;
            self.keys.push(key);
        }
    }

    /// A timer fired, and this task is ready for that.
    pub(super) fn sets_off(&mut self, key: u32) {
        self.firings += 1;
        self.add(key, self.firings);
    }

    /// A task that is ready has cause to be from one that stems from elsewhere: it is late no more.
    fn has_more_cause(&mut self, key: u32, by: u32) {
        let stem = self.stem(key);
        if stem != 0 && stem != self.stem(by) {
            self.stems[key as usize] = 0;
            self.keys.retain(|&late| late != key);
        }
    }

    /// What comes of what happens now has not been set off by the task that ran last.
    pub(in crate::execution) fn others_act(&mut self) {
        self.others_acted = true;
    }
}

impl Core {
    /// A task is woken that is ready already.
    #[cold]
    pub(in crate::execution) fn wake_the_late(&mut self, key: u32) {
        let by = self.last();
        if by != key {
            self.timers.late.has_more_cause(key, by);
        }
    }

    /// Brings up to date who is late, after one task has run at most.
    pub(super) fn see_who_is_late(&mut self) {
        if self.looks.frozen || self.enabled.len() > MOST_READY {
            return self.timers.late.clear();
        }
        let (last, actions) = (self.last(), &self.actions);
        let late = &mut self.timers.late;
        let cause = match std::mem::take(&mut late.others_acted) {
            true => 0,
            false => late.stem(last),
        };
        late.keys.retain(|&key| {
            let is_ready = actions[key as usize].position != Action::NOWHERE;
            if !is_ready {
                late.stems[key as usize] = 0;
            }
            is_ready
        });
        if cause > 0 {
            for &key in &self.enabled {
                if actions[key as usize].sort == Sort::Run {
                    late.add(key, cause);
                }
            }
        }
    }

    /// Whether all that is ready stems from other firings than the timers that are due next.
    pub(super) fn is_all_late(&self) -> bool {
        let ready = self.enabled.len() - self.optional as usize;
        let late = &self.timers.late;
        let set_by_none = |timer: &Timer| late.keys.iter().all(|&key| late.stem(key) != timer.stem);
        ready > 0 && ready == late.keys.len() && self.timers.all_due_first(set_by_none)
    }
}
