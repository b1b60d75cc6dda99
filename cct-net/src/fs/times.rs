//! When files were made, changed and read.
//!
//! 1. Times are those of the clock of the disk's node; programs may set others.
//! 2. Reads are noted as Linux notes them by default (`relatime`).

#![expect(
    clippy::disallowed_types,
    reason = "a type for dates: its values come from the virtual clock"
)]

use super::tree::Tree;
use crate::node::wall_clock::{self, SystemTime};
use std::time::Duration;

/// Times to give to a file, with [`File::set_times`](super::File::set_times).
#[derive(Clone, Debug, Default)]
#[must_use = "give them to a file with File::set_times"]
pub struct FileTimes {
    accessed: Option<SystemTime>,
    modified: Option<SystemTime>,
}

impl FileTimes {
    /// None: what is not set stays as it is.
    pub fn new() -> FileTimes {
        FileTimes::default()
    }

    /// When it was last read.
    pub fn set_accessed(mut self, t: SystemTime) -> FileTimes {
        self.accessed = Some(t);
        self
    }

    /// When it was last changed.
    pub fn set_modified(mut self, t: SystemTime) -> FileTimes {
        self.modified = Some(t);
        self
    }
}

impl Tree {
    /// What the node's clock shows.
    pub(super) fn now(&self) -> SystemTime {
        wall_clock::shown(self.node)
    }
}

/// The times of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Times {
    pub(super) accessed: SystemTime,
    pub(super) modified: SystemTime,
    /// When anything of it was changed, its names and permissions included.
    changed: SystemTime,
    pub(super) created: SystemTime,
}

/// After that long a read is noted in any case.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl Times {
    /// Of what is made now.
    pub(super) fn new(now: SystemTime) -> Times {
        Times {
            accessed: now,
            modified: now,
            changed: now,
            created: now,
        }
    }

    /// It is read. Noted if it was not read since it was changed, or not for a day.
    pub(super) fn read(&mut self, now: SystemTime) {
        let first = self.accessed <= self.modified || self.accessed <= self.changed;
        let old = now
            .duration_since(self.accessed)
            .is_ok_and(|age| age >= DAY);
        if first || old {
            self.accessed = now;
        }
    }

    /// What is in it changes.
    pub(super) fn modify(&mut self, now: SystemTime) {
        self.modified = now;
        self.change(now);
    }

    /// Something about it changes.
    pub(super) fn change(&mut self, now: SystemTime) {
        self.changed = now;
    }

    /// A program says what they are.
    pub(super) fn set(&mut self, times: &FileTimes, now: SystemTime) {
        self.accessed = times.accessed.unwrap_or(self.accessed);
        self.modified = times.modified.unwrap_or(self.modified);
        self.change(now);
    }
}
