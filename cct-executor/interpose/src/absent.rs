//! Targets on which nothing is interposed.

use crate::system::{Clocks, Peer, Stay, ThreadsStarted, Toward};
use std::backtrace::Backtrace;
use std::convert::Infallible;
use std::time::Duration;

pub(crate) const DEFINED: bool = false;

/// A thread that can be asked where it is, which does not answer.
#[derive(Clone, Copy, Debug)]
pub struct Whereabouts;

impl Whereabouts {
    /// This thread.
    #[must_use]
    pub fn here() -> Whereabouts {
        Whereabouts
    }

    /// Always `None`.
    #[must_use]
    pub fn stack(self) -> Option<Backtrace> {
        None
    }
}

/// The threads with which one is counted: there are none.
#[derive(Clone, Debug)]
pub struct Family(Infallible);

impl Family {
    /// Always `None`.
    #[must_use]
    pub fn of_this_thread() -> Option<Family> {
        None
    }

    /// Cannot be called.
    pub fn adopt(self) {
        match self.0 {}
    }
}

pub(crate) fn keep() {}

pub(crate) fn on_connect(_: fn(i32, Peer<'_>) -> Toward) {}

pub(crate) fn accepts_itself(_: u64) -> bool {
    false
}

pub(crate) fn accepts_no_longer(_: u64) {}

pub(crate) fn on_exit(_: fn(i32)) {}

pub(crate) fn on_fatal(_: fn(crate::Fatal)) -> bool {
    false
}

pub(crate) fn find_parker() {}

pub(crate) fn time_of_others() -> Duration {
    Duration::ZERO
}

pub(crate) fn children_run() -> bool {
    false
}

pub(crate) fn learn_thread_locals() {}

pub(crate) fn forget_loops() {}

pub(crate) fn begin_file_times(_: Clocks) {}

pub(crate) fn copy_thread_locals(into: &mut Vec<u8>) -> usize {
    into.clear();
    0
}

pub(crate) type Clockwork = ();

pub(crate) fn clockwork() {}

pub(crate) fn set_clockwork((): ()) {}

pub(crate) fn clocks_seen() -> Clocks {
    Clocks::ZERO
}

pub(crate) fn clocks_outside() -> Clocks {
    Clocks::ZERO
}

pub(crate) fn go_on_from(_: Clocks) {}

pub(crate) fn welcome_threads(_: bool) {}

pub(crate) fn count_starter(_: bool) {}

pub(crate) fn on_thread_end(_: Stay) {}

pub(crate) fn uncounted<R>(f: impl FnOnce() -> R) -> R {
    f()
}

pub(crate) fn family() -> u64 {
    0
}

pub(crate) fn was_started() -> bool {
    false
}

pub(crate) fn was_controlled() -> bool {
    false
}

pub(crate) fn is_welcome() -> bool {
    false
}

pub(crate) fn threads_started() -> ThreadsStarted {
    ThreadsStarted::default()
}

/// A word of memory that somebody waits for: none, on this target.
#[derive(Clone, Copy, Debug)]
pub struct Word(Infallible);

impl Word {
    /// Where it is.
    pub fn address(self) -> usize {
        match self.0 {}
    }

    /// Whether it has another value by now.
    pub fn has_changed(self) -> bool {
        match self.0 {}
    }

    /// Whether it is part of a static.
    pub fn is_static(self) -> bool {
        match self.0 {}
    }

    /// Whether it is part of a thread-local of this thread.
    pub fn is_thread_local(self) -> bool {
        match self.0 {}
    }

    /// Whether it is the one by which the standard library parks this thread.
    pub fn is_parker(self) -> bool {
        match self.0 {}
    }

    /// Whoever is parked there will go on.
    pub fn unpark(self) {
        match self.0 {}
    }

    /// Whoever is parked there waits in another way from now on.
    pub fn leave(self) {
        match self.0 {}
    }

    /// Blocks the thread until it changes, or for so long. Returns whether it may have changed.
    pub fn block_for(self, _: Duration) -> bool {
        match self.0 {}
    }
}
