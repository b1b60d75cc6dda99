//! Tests that are not finished when somebody ends the process.
//!
//! A library may have a thread that watches over it, or a hook for panics, and call `exit` there. The harness says nothing
//! then, and it is not to be seen which test was meant.
//!
//! A poll that calls it is a failure, of which there is a report as of any other; see `last_words`.

use crate::execution::last_words;
use std::io::Write as _;
use std::sync::{Mutex, Once, PoisonError};

static UNFINISHED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A test, until this is dropped.
pub(super) struct Unfinished(String);

impl Unfinished {
    pub(super) fn new(name: &str) -> Unfinished {
        static INSTALL: Once = Once::new();
        INSTALL.call_once(|| cct_interpose::on_exit(told));
        let mut all = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(name.to_owned());
        Unfinished(name.to_owned())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let mut all = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = all.iter().position(|name| *name == self.0) {
            all.swap_remove(at);
        }
    }
}

/// Somebody ends the process.
fn told(code: i32) {
    last_words::stop_at_exit(code);
    // It may be the thread that has the lock.
    let Ok(all) = UNFINISHED.try_lock() else {
        return;
    };
    let mut names = all.clone();
    names.sort();
    names.dedup();
    if names.is_empty() {
        return;
    }
    // Not by way of what the harness keeps for itself.
    let _ = writeln!(
        std::io::stderr(),
        "\ncct: somebody outside of all tests ends the process by `exit({code})`, such as a thread that watches over \
         something;\n  what was not finished: {}",
        names.join(", ")
    );
}
