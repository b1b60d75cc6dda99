//! What contracts note.

use std::fmt::Display;
use std::io;
use std::sync::{Arc, Mutex};

/// What a contract saw.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn note(&self, line: impl Display) {
        self.0.lock().unwrap().push(line.to_string());
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

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
