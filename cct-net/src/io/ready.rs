//! What a socket is ready for.

use super::Interest;
use crate::stream::state::Readiness;
use std::fmt;
use std::ops::{BitAnd, BitOr, BitOrAssign, Sub};

/// What a socket is ready for.
///
/// # Differences from tokio
/// As there, readiness is what was told last, and may be more than is true
/// until an operation finds out; but it is told at once, where tokio is told by and by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ready(u8);

impl Ready {
    /// For nothing.
    pub const EMPTY: Ready = Ready(0);
    /// Something can be read.
    pub const READABLE: Ready = Ready(1);
    /// Something can be written.
    pub const WRITABLE: Ready = Ready(2);
    /// Nothing more will come.
    pub const READ_CLOSED: Ready = Ready(4);
    /// Nothing more can be written.
    pub const WRITE_CLOSED: Ready = Ready(8);
    /// There is an error.
    pub const ERROR: Ready = Ready(16);
    /// There is urgent data.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub const PRIORITY: Ready = Ready(32);
    /// Everything.
    pub const ALL: Ready = Ready(if cfg!(any(target_os = "linux", target_os = "android")) {
        63
    } else {
        31
    });

    /// What belongs to an interest. For who waits for what is no socket of ours.
    #[doc(hidden)]
    pub fn mask(interest: Interest) -> Ready {
        let part = |is: bool, ready: Ready| if is { ready } else { Ready::EMPTY };
        let ready = part(interest.is_readable(), Ready::READABLE | Ready::READ_CLOSED)
            | part(
                interest.is_writable(),
                Ready::WRITABLE | Ready::WRITE_CLOSED,
            )
            | part(interest.is_error(), Ready::ERROR);
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let ready = ready | part(interest.is_priority(), Ready::PRIORITY | Ready::READ_CLOSED);
        ready
    }

    pub(crate) fn bits(self) -> u64 {
        u64::from(self.0)
    }

    /// Whether it is for nothing.
    pub fn is_empty(self) -> bool {
        self == Ready::EMPTY
    }

    /// Whether a read would not wait.
    pub fn is_readable(self) -> bool {
        self.contains(Ready::READABLE) || self.is_read_closed()
    }

    /// Whether a write would not wait.
    pub fn is_writable(self) -> bool {
        self.contains(Ready::WRITABLE) || self.is_write_closed()
    }

    /// Whether nothing more will come.
    pub fn is_read_closed(self) -> bool {
        self.contains(Ready::READ_CLOSED)
    }

    /// Whether nothing more can be written.
    pub fn is_write_closed(self) -> bool {
        self.contains(Ready::WRITE_CLOSED)
    }

    /// Whether there is urgent data.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn is_priority(self) -> bool {
        self.contains(Ready::PRIORITY)
    }

    /// Whether there is an error.
    pub fn is_error(self) -> bool {
        self.contains(Ready::ERROR)
    }

    fn contains(self, other: Ready) -> bool {
        self & other == other
    }
}

impl From<Readiness> for Ready {
    fn from(state: Readiness) -> Ready {
        let flags = [
            (state.readable, Ready::READABLE),
            (state.writable, Ready::WRITABLE),
            (state.read_closed, Ready::READ_CLOSED),
            (state.write_closed, Ready::WRITE_CLOSED),
            (state.error, Ready::ERROR),
        ];
        let flags = flags.iter().filter(|flag| flag.0);
        flags.fold(Ready::EMPTY, |ready, flag| ready | flag.1)
    }
}

impl BitOr for Ready {
    type Output = Ready;

    fn bitor(self, other: Ready) -> Ready {
        Ready(self.0 | other.0)
    }
}

impl BitOrAssign for Ready {
    fn bitor_assign(&mut self, other: Ready) {
        self.0 |= other.0;
    }
}

impl BitAnd for Ready {
    type Output = Ready;

    fn bitand(self, other: Ready) -> Ready {
        Ready(self.0 & other.0)
    }
}

impl Sub for Ready {
    type Output = Ready;

    fn sub(self, other: Ready) -> Ready {
        Ready(self.0 & !other.0)
    }
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut told = f.debug_struct("Ready");
        told.field("is_readable", &self.is_readable())
            .field("is_writable", &self.is_writable())
            .field("is_read_closed", &self.is_read_closed())
            .field("is_write_closed", &self.is_write_closed())
            .field("is_error", &self.is_error());
        #[cfg(any(target_os = "linux", target_os = "android"))]
        told.field("is_priority", &self.is_priority());
        told.finish()
    }
}
