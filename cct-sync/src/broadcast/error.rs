//! Errors of `broadcast` channels.

use std::error::Error;
use std::fmt;

/// There is no receiver; gives the message back.
#[derive(Debug)]
pub struct SendError<T>(pub T);

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("channel closed")
    }
}

impl<T: fmt::Debug> Error for SendError<T> {}

/// Why no message was received.
#[derive(Debug, PartialEq, Eq, Clone)]
pub enum RecvError {
    /// All senders are gone, and every message was received.
    Closed,
    /// So many messages were dropped before this receiver got to them. The next one it receives is
    /// the oldest that is left.
    Lagged(u64),
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecvError::Closed => f.write_str("channel closed"),
            RecvError::Lagged(missed) => write!(f, "channel lagged by {missed}"),
        }
    }
}

impl Error for RecvError {}

/// Why no message could be received at once.
#[derive(Debug, PartialEq, Eq, Clone)]
pub enum TryRecvError {
    /// There is no message now, but one may come.
    Empty,
    /// All senders are gone, and every message was received.
    Closed,
    /// So many messages were dropped before this receiver got to them. The next one it receives is
    /// the oldest that is left.
    Lagged(u64),
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TryRecvError::Empty => f.write_str("channel empty"),
            TryRecvError::Closed => f.write_str("channel closed"),
            TryRecvError::Lagged(missed) => write!(f, "channel lagged by {missed}"),
        }
    }
}

impl Error for TryRecvError {}
