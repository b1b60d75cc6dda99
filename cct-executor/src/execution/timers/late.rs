//! Who may be late under the clock that lags: tasks that are ready because a timer fired, and those whom they have woken or
//! spawned since.
//!
//! A timer overtakes what other timers have set off, and never what stems from the same firing as itself: whoever starts
//! something and sleeps lets it come to its end first, as tests mean by a short sleep.

use crate::execution::core::{Core, NONE};
use crate::words::Action;
use crate::words::action::Sort;

/// Where more are ready, none is late: to look at all of them at every decision would be dear.
const MOST_READY: usize = 64;

/// The stem of what no timer has set off.
const NO_STEM: u32 = u32::MAX;

#[derive(Default)]
pub(in crate::execution) struct Late {
    /// All tasks that are ready, as long as one of them is late.
    keys: Vec<u32>,
    /// For each of them, by its key, the number of the firing that set it off, or [`NO_STEM`]; 0 for all others.
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

    /// For a new world.
    pub(super) fn reset(&mut self) {
        self.clear();
        self.firings = 0;
    }

    pub(super) fn clear(&mut self) {
        for key in self.keys.drain(..) {
            self.stems[key as usize] = 0;
        }
        self.others_acted = false;
    }

    /// The number of the firing from which it stems that this task runs; 0 or [`NO_STEM`] where that is none.
    #[inline]
    pub(super) fn stem(&self, key: u32) -> u32 {
        self.stems.get(key as usize).copied().unwrap_or(0)
    }

    /// The stem of what comes of a task that runs.
    fn stem_by(&self, key: u32) -> u32 {
        match self.stem(key) {
            0 => NO_STEM,
            stem => stem,
        }
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

    /// What comes of what happens now has not been set off by the task that ran last.
    pub(in crate::execution) fn others_act(&mut self) {
        self.others_acted = true;
    }
}

impl Core {
    /// A task is woken that is ready already: it is late no more but as a part of what woke it last.
    #[cold]
    pub(in crate::execution) fn wake_the_late(&mut self, key: u32) {
        let by = self.last();
        let late = &mut self.timers.late;
        if by != key && late.stem(key) != 0 {
            late.stems[key as usize] = late.stem_by(by);
        }
    }

    /// Brings up to date who is late, after one task has run at most.
    pub(super) fn see_who_is_late(&mut self) {
        let late = &mut self.timers.late;
        if late.is_empty() {
            return;
        }
        if self.looks.frozen || self.enabled.len() > MOST_READY {
            return late.clear();
        }
        let others_acted = std::mem::take(&mut late.others_acted);
        let (goes_on, mut has_ended) = (late.stem_by(self.last), NO_STEM);
        let (stems, actions) = (&mut late.stems, &self.actions);
        late.keys.retain(|&key| {
            let is_ready = actions[key as usize].position != Action::NOWHERE;
            if !is_ready {
                has_ended = std::mem::take(&mut stems[key as usize]);
            }
            is_ready
        });
        let cause = match self.last {
            _ if others_acted => NO_STEM,
            NONE => has_ended,
            _ => goes_on,
        };
        for &key in &self.enabled {
            if actions[key as usize].sort == Sort::Run {
                late.add(key, cause);
            }
        }
        if late.keys.iter().all(|&key| late.stem(key) == NO_STEM) {
            late.clear();
        }
    }

    /// Whether all that is ready stems from other firings than the timers that are due next.
    pub(super) fn is_all_late(&self) -> bool {
        let ready = self.enabled.len() - self.optional as usize;
        let late = &self.timers.late;
        let stems = || late.keys.iter().map(|&key| late.stem(key));
        ready > 0
            && ready == late.keys.len()
            && stems().all(|stem| stem != NO_STEM)
            && self
                .timers
                .all_due_first(|timer| stems().all(|stem| stem != timer.stem))
    }
}
