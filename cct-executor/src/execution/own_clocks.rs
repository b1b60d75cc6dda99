//! Clocks that are paused in runtimes of one thread: each is that runtime's own, as in tokio, and stands while nobody
//! drives it. So simulators have many hosts on one thread, each with a runtime, and one after the other goes on for a while.
//!
//! 1. Such a clock is behind the world's by as much as passed there while it stood.
//! 2. While it stands the runtime's timers lie on a shelf, and none of them fires.
//! 3. The world's clock is frozen while the world's own is paused, or that of a runtime that is driven.

use super::core::{Core, NONE};
use super::runtimes::RuntimeEntry;
use super::timers::{Due, TimerId};
use super::world::World;

/// The clock of a runtime.
#[derive(Default)]
pub(super) struct OwnClock {
    /// How far it was behind the world's when it went on last.
    behind_ns: u64,
    paused: bool,
    /// When it came to stand, on the world's, if it does.
    since_ns: Option<u64>,
    /// Its timers meanwhile, with the times of the world at which they would have fired.
    shelf: Vec<Due>,
}

impl Core {
    /// How far the clock of a runtime is behind the world's.
    #[inline]
    pub(super) fn behind_ns(&self, runtime: u16) -> u64 {
        let entry = self.runtimes.entry(runtime);
        let clock = entry.and_then(|entry| entry.clock.as_ref());
        clock.map_or(0, |clock| {
            let stands_for_ns = match clock.since_ns {
                Some(since_ns) => self.point.time_ns - since_ns,
                None => 0,
            };
            clock.behind_ns + stands_for_ns
        })
    }

    /// Somebody begins to drive the runtime.
    pub(super) fn clock_goes_on(&mut self, runtime: u16) {
        let now_ns = self.point.time_ns;
        let entry = self.runtimes.entry_mut(runtime);
        let Some(clock) = entry.and_then(|entry| entry.clock.as_mut()) else {
            return;
        };
        if let Some(since_ns) = clock.since_ns.take() {
            let stood_for_ns = now_ns - since_ns;
            clock.behind_ns += stood_for_ns;
            let shelf = std::mem::take(&mut clock.shelf);
            self.timers.take_back(shelf, stood_for_ns);
        }
        self.freeze_or_not();
    }

    /// Nobody drives the runtime any more.
    pub(super) fn clock_stands(&mut self, runtime: u16) {
        let now_ns = self.point.time_ns;
        let entry = self.runtimes.entry_mut(runtime);
        let Some(clock) = entry.and_then(|entry| entry.clock.as_mut()) else {
            return;
        };
        if clock.paused {
            clock.since_ns = Some(now_ns);
            clock.shelf = self.timers.shelve(runtime);
        }
        self.freeze_or_not();
    }

    /// A timer was set for the runtime. Should its clock stand, the timer does not go on either.
    pub(super) fn timer_goes_on(&mut self, timer: TimerId, runtime: u16) {
        let now_ns = self.point.time_ns;
        let entry = self.runtimes.entry_mut(runtime);
        let Some(clock) = entry.and_then(|entry| entry.clock.as_mut()) else {
            return;
        };
        if let Some(since_ns) = clock.since_ns {
            let due = self.timers.shelve_one(timer, now_ns - since_ns);
            clock.shelf.push(due);
        }
    }

    /// A timer on a shelf is dropped.
    #[cold]
    pub(super) fn take_from_shelf(&mut self, timer: TimerId) {
        let runtime = self.timers.no_more_shelved(timer);
        let entry = self.runtimes.entry_mut(runtime);
        if let Some(clock) = entry.and_then(|entry| entry.clock.as_mut()) {
            clock.shelf.retain(|due| due.timer != timer);
        }
    }

    /// A runtime of one thread is built with a paused clock.
    pub(crate) fn begin_paused(&mut self, runtime: u16) {
        let since_ns = Some(self.point.time_ns);
        if let Some(entry) = self.runtimes.entry_mut(runtime) {
            entry.clock = Some(Box::new(OwnClock {
                paused: true,
                since_ns,
                ..OwnClock::default()
            }));
        }
    }

    /// The runtime whose own clock a task goes by, or would if it were paused there.
    fn clocked(&self, key: u32) -> Option<u16> {
        let runtime = self.runtime_of(key);
        let entry = self.runtimes.entry(runtime)?;
        entry.has_one_thread().then_some(runtime)
    }

    /// Whether the clock is paused that a task goes by.
    pub(super) fn is_paused(&self, key: u32) -> bool {
        match self.clocked(key).and_then(|it| self.runtimes.entry(it)) {
            Some(entry) => entry.clock.as_ref().is_some_and(|clock| clock.paused),
            None => self.runtimes.paused,
        }
    }

    /// Pauses the clock that a task goes by, or lets it go on. Returns whether it was paused.
    pub(crate) fn pause_clock_of(&mut self, key: u32, paused: bool) -> bool {
        let was_paused = self.is_paused(key);
        let runtime = self.clocked(key);
        match runtime.and_then(|it| Some((it, self.runtimes.entry_mut(it)?))) {
            Some((runtime, entry)) => {
                let driven = entry.is_driven();
                entry.clock.get_or_insert_default().paused = paused;
                match paused {
                    true if !(driven || was_paused) => self.clock_stands(runtime),
                    false if !driven => self.clock_goes_on(runtime),
                    _ => {}
                }
            }
            None => self.runtimes.paused = paused,
        }
        self.freeze_or_not();
        was_paused
    }

    fn freeze_or_not(&mut self) {
        let is_paused = |entry: &RuntimeEntry| {
            let clock = entry.clock.as_ref();
            entry.is_driven() && clock.is_some_and(|clock| clock.paused)
        };
        let frozen = self.runtimes.paused || self.runtimes.entries().any(is_paused);
        if std::mem::replace(&mut self.looks.frozen, frozen) != frozen {
            self.frozen_or_not();
        }
    }
}

impl World {
    /// The task that runs, or none.
    fn key_here(&self) -> u32 {
        self.current().unwrap_or(NONE)
    }

    /// Whether `time::advance` may move tokio's clock.
    pub(crate) fn has_paused_clock(&self) -> bool {
        let key = self.key_here();
        self.with(|core, _| core.is_paused(key))
    }

    /// Pauses tokio's clock, or lets it go on. Returns whether it was paused.
    pub(crate) fn freeze_clock(&self, paused: bool) -> bool {
        let key = self.key_here();
        self.with(|core, _| core.pause_clock_of(key, paused))
    }
}
