//! Why a task has no output.

use super::id::Id;
use std::any::Any;
use std::fmt;
use std::sync::Mutex;

/// A task was cancelled or panicked.
pub struct JoinError {
    /// Boxed, as outputs are moved often and errors are rare: so they fit into registers.
    reason: Box<Reason>,
}

struct Reason {
    id: Id,
    repr: Repr,
}

enum Repr {
    Cancelled,
    /// In a mutex so that the error is `Sync`, as tokio's is.
    Panic(Mutex<Box<dyn Any + Send + 'static>>),
}

impl JoinError {
    pub(crate) fn cancelled(id: Id) -> JoinError {
        Self::new(id, Repr::Cancelled)
    }

    pub(crate) fn panic(id: Id, payload: Box<dyn Any + Send + 'static>) -> JoinError {
        Self::new(id, Repr::Panic(Mutex::new(payload)))
    }

    #[cold]
    fn new(id: Id, repr: Repr) -> JoinError {
        JoinError {
            reason: Box::new(Reason { id, repr }),
        }
    }

    /// Whether the task was cancelled.
    pub fn is_cancelled(&self) -> bool {
        matches!(self.reason.repr, Repr::Cancelled)
    }

    /// Whether the task panicked.
    pub fn is_panic(&self) -> bool {
        matches!(self.reason.repr, Repr::Panic(_))
    }

    /// What the task panicked with.
    ///
    /// # Panics
    /// If the task did not panic.
    #[track_caller]
    pub fn into_panic(self) -> Box<dyn Any + Send + 'static> {
        self.try_into_panic()
            .expect("`JoinError` reason is not a panic.")
    }

    /// What the task panicked with.
    ///
    /// # Errors
    /// The error itself when the task did not panic.
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send + 'static>, JoinError> {
        match *self.reason {
            Reason {
                repr: Repr::Panic(payload),
                ..
            } => Ok(payload
                .into_inner()
                .unwrap_or_else(std::sync::PoisonError::into_inner)),
            Reason { id, .. } => Err(Self::cancelled(id)),
        }
    }

    /// The id of the task.
    pub fn id(&self) -> Id {
        self.reason.id
    }

    fn message(payload: &Mutex<Box<dyn Any + Send>>) -> Option<String> {
        let payload = payload.lock().ok()?;
        payload.downcast_ref::<String>().cloned().or_else(|| {
            payload
                .downcast_ref::<&'static str>()
                .map(ToString::to_string)
        })
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason.repr {
            Repr::Cancelled => write!(f, "task {} was cancelled", self.id()),
            Repr::Panic(payload) => match Self::message(payload) {
                Some(message) => write!(
                    f,
                    "task {} panicked with message {message:?}",
                    self.reason.id
                ),
                None => write!(f, "task {} panicked", self.reason.id),
            },
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason.repr {
            Repr::Cancelled => write!(f, "JoinError::Cancelled({:?})", self.reason.id),
            Repr::Panic(payload) => match Self::message(payload) {
                Some(message) => write!(
                    f,
                    "JoinError::Panic({:?}, {message:?}, ...)",
                    self.reason.id
                ),
                None => write!(f, "JoinError::Panic({:?}, ...)", self.reason.id),
            },
        }
    }
}

impl std::error::Error for JoinError {}

impl From<JoinError> for std::io::Error {
    fn from(error: JoinError) -> std::io::Error {
        std::io::Error::other(match error.reason.repr {
            Repr::Cancelled => "task was cancelled",
            Repr::Panic(_) => "task panicked",
        })
    }
}
