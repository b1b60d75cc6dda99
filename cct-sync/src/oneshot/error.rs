//! Errors of `oneshot` channels.

use std::error::Error;
use std::fmt;

/// The sender was dropped without sending, or the receiver had closed.
#[derive(Debug, Eq, PartialEq, Clone)]
pub struct RecvError(pub(super) ());

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("channel closed")
    }
}

impl Error for RecvError {}

/// Why no message could be received at once.
#[derive(Debug, Eq, PartialEq, Clone)]
pub enum TryRecvError {
    /// There is no message now, but one may come.
    Empty,
    /// There is no message, and none will come.
    Closed,
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TryRecvError::Empty => "channel empty",
            TryRecvError::Closed => "channel closed",
        })
    }
}

impl Error for TryRecvError {}
