//! What contracts note of operations that may fail.

use crate::two_sided::Log;
use std::fmt::Display;
use std::io;

impl Log {
    /// Notes the kind of an error, or the value.
    pub(crate) fn result<T: Display>(&self, what: &str, result: io::Result<T>) {
        match result {
            Ok(value) => self.note(format!("{what}: {value}")),
            Err(error) => self.note(format!("{what}: {:?}", error.kind())),
        }
    }

    /// Notes the kind, the number and the text of an error, or the value.
    pub(crate) fn os<T: Display>(&self, what: &str, result: io::Result<T>) {
        match result {
            Ok(value) => self.note(format!("{what}: {value}")),
            Err(error) => {
                let (kind, number) = (error.kind(), error.raw_os_error());
                self.note(format!("{what}: {kind:?} {number:?} {error}"));
            }
        }
    }
}
