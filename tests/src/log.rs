//! What a contract saw.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// A list of observations; clones write to the same list.
#[derive(Clone, Debug, Default)]
pub struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    /// An empty log.
    pub fn new() -> Self {
        Log::default()
    }

    /// Adds an observation. See [`note!`](crate::note).
    pub fn add(&self, observation: fmt::Arguments<'_>) {
        let text = observation.to_string();
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(text);
    }

    /// What was noted so far.
    pub fn lines(&self) -> Vec<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Notes an observation: `note!(log, "received {:?}", value)`.
#[macro_export]
macro_rules! note {
    ($log:expr, $($text:tt)+) => { $log.add(format_args!($($text)+)) };
}
