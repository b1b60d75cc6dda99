//! What is on which disk, as an observer sees it who need not trust the voters.

use crate::VOTERS;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The last index on each voter's disk.
#[derive(Default)]
pub(crate) struct Durable(Mutex<BTreeMap<u64, u64>>);

impl Durable {
    /// The voter's log is on its disk up to this index, and no further.
    pub(crate) fn set(&self, voter: u64, index: u64) {
        let mut flushed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        flushed.insert(voter, index);
    }

    /// Checks an entry that a voter takes for committed.
    pub(crate) fn check_committed(&self, by: u64, index: u64) {
        let flushed = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let have = flushed.values().filter(|last| **last >= index).count();
        assert!(
            have > VOTERS.len() / 2,
            "voter {by} applies entry {index}, which is on {have} of {} disks: {flushed:?}",
            VOTERS.len()
        );
    }
}
