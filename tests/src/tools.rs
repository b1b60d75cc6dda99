//! What contracts need beside the runtime: wakers that count, values that tell when they die.

use crate::{Log, note};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

/// Counts how often its waker was called.
#[derive(Debug, Default)]
pub struct WakeCount(AtomicUsize);

impl WakeCount {
    /// A waker and its counter.
    pub fn new() -> (Arc<WakeCount>, Waker) {
        let count = Arc::new(WakeCount::default());
        (count.clone(), Waker::from(count))
    }

    /// Wakes so far.
    pub fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Wake for WakeCount {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Notes its name when it is dropped.
#[derive(Debug)]
pub struct Tombstone(Log, &'static str);

impl Tombstone {
    /// A value that notes `dropped NAME`.
    pub fn new(log: &Log, name: &'static str) -> Self {
        Tombstone(log.clone(), name)
    }
}

impl Drop for Tombstone {
    fn drop(&mut self) {
        note!(self.0, "dropped {}", self.1);
    }
}

/// The message of the panic that `run` ends in, or `no panic`.
pub fn panic_text<R>(run: impl FnOnce() -> R) -> String {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(_) => "no panic".to_owned(),
        Err(payload) => payload_text(payload.as_ref()),
    }
}

/// The text of a panic's payload.
pub fn payload_text(payload: &(dyn std::any::Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&'static str>() {
        return (*text).to_owned();
    }
    match payload.downcast_ref::<String>() {
        Some(text) => text.clone(),
        None => "a payload that is no text".to_owned(),
    }
}
