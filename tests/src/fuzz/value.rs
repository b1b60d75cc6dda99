//! What is sent and locked.

use crate::{Log, note};
use std::fmt;

/// A number that notes when it is cloned and when it dies.
pub struct Value {
    /// Which one.
    pub number: u32,
    log: Log,
}

impl Value {
    /// A value that writes to `log`.
    pub fn new(number: u32, log: &Log) -> Self {
        Value {
            number,
            log: log.clone(),
        }
    }
}

impl Clone for Value {
    fn clone(&self) -> Self {
        note!(self.log, "    clone of {}", self.number);
        Value::new(self.number, &self.log)
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        note!(self.log, "    end of {}", self.number);
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.number)
    }
}
