//! What one waits for.

use std::fmt;
use std::io;
use std::ops::{BitOr, BitOrAssign};

const READABLE: u8 = 1;
const WRITABLE: u8 = 2;
const ERROR: u8 = 4;
#[cfg(any(target_os = "linux", target_os = "android"))]
const PRIORITY: u8 = 8;

/// What to wait for at a socket. Never empty.
///
/// # Differences from tokio
/// Urgent data is not modelled: no socket of the simulated network is ready for it before nothing more will come.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Interest(u8);

impl Interest {
    /// That something can be read, or that nothing more will come.
    pub const READABLE: Interest = Interest(READABLE);
    /// That something can be written, or never again.
    pub const WRITABLE: Interest = Interest(WRITABLE);
    /// That there is an error.
    pub const ERROR: Interest = Interest(ERROR);

    /// That there is urgent data, or that nothing more will come.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub const PRIORITY: Interest = Interest(PRIORITY);

    /// Whether it includes reading.
    pub const fn is_readable(self) -> bool {
        self.0 & READABLE != 0
    }

    /// Whether it includes writing.
    pub const fn is_writable(self) -> bool {
        self.0 & WRITABLE != 0
    }

    /// Whether it includes errors.
    pub const fn is_error(self) -> bool {
        self.0 & ERROR != 0
    }

    /// Whether it includes urgent data.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub const fn is_priority(self) -> bool {
        self.0 & PRIORITY != 0
    }

    /// `try_io` of tokio knows of one interest at a time: no socket is ready for several.
    pub(crate) fn check_single(self) -> io::Result<()> {
        match self.0.is_power_of_two() {
            true => Ok(()),
            false => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    /// Both.
    #[must_use = "this returns the result of the operation, without modifying the original"]
    pub const fn add(self, other: Interest) -> Interest {
        Interest(self.0 | other.0)
    }

    /// What is in `self` but not in `other`; `None` if that is nothing.
    #[must_use = "this returns the result of the operation, without modifying the original"]
    pub fn remove(self, other: Interest) -> Option<Interest> {
        let left = self.0 & !other.0;
        (left != 0).then_some(Interest(left))
    }
}

impl BitOr for Interest {
    type Output = Interest;

    fn bitor(self, other: Interest) -> Interest {
        self.add(other)
    }
}

impl BitOrAssign for Interest {
    fn bitor_assign(&mut self, other: Interest) {
        *self = self.add(other);
    }
}

impl fmt::Debug for Interest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (self.is_readable(), "READABLE"),
            (self.is_writable(), "WRITABLE"),
            #[cfg(any(target_os = "linux", target_os = "android"))]
            (self.is_priority(), "PRIORITY"),
            (self.is_error(), "ERROR"),
        ];
        let names: Vec<&str> = names.iter().filter(|n| n.0).map(|n| n.1).collect();
        f.write_str(&names.join(" | "))
    }
}
