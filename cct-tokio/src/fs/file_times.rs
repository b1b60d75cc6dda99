//! Dates for a file.

#![expect(
    clippy::disallowed_types,
    reason = "a type for dates: its values come from the caller"
)]

use std::time::SystemTime;

/// The dates that a file is to have, see [`std::fs::FileTimes`].
#[derive(Debug, Clone, Default)]
#[must_use = "must be applied to a file via `File::set_times` to have any effect"]
pub struct FileTimes(std::fs::FileTimes);

impl FileTimes {
    /// None is set.
    pub fn new() -> FileTimes {
        FileTimes::default()
    }

    /// When it was last read.
    pub fn set_accessed(self, t: SystemTime) -> FileTimes {
        FileTimes(self.0.set_accessed(t))
    }

    /// When it was last changed.
    pub fn set_modified(self, t: SystemTime) -> FileTimes {
        FileTimes(self.0.set_modified(t))
    }

    /// When it was made.
    #[cfg(any(windows, target_vendor = "apple"))]
    pub fn set_created(self, t: SystemTime) -> FileTimes {
        #[cfg(target_vendor = "apple")]
        use std::os::darwin::fs::FileTimesExt as _;
        #[cfg(windows)]
        use std::os::windows::fs::FileTimesExt as _;

        FileTimes(self.0.set_created(t))
    }

    pub(super) fn into_std(self) -> std::fs::FileTimes {
        self.0
    }
}
