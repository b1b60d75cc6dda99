//! A log kept in memory, with a disk that flushes it in the background.

use crate::Types;
use crate::durable::Durable;
use cct_executor::time::sleep;
use cct_executor::{nondet, spawn};
use cct_sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use cct_sync::oneshot;
use openraft::alias::{EntryOf, LogIdOf, VoteOf};
use openraft::entry::RaftEntry;
use openraft::storage::{IOFlushed, RaftLogStorage};
use openraft::{LogState, OptionalSend, RaftLogReader};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io;
use std::ops::RangeBounds;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

#[derive(Default)]
struct Contents {
    vote: Option<VoteOf<Types>>,
    entries: BTreeMap<u64, EntryOf<Types>>,
    purged: Option<LogIdOf<Types>>,
}

/// What the disk is to do, in this order.
enum Job {
    /// Flush the log up to this index, then tell.
    Log(u64, IOFlushed<Types>),
    /// Flush a vote or a truncation to this index, if any, then tell.
    Rest(Option<u64>, oneshot::Sender<()>),
}

/// A voter's log; clones are the same log.
#[derive(Clone)]
pub(crate) struct LogStore {
    contents: Arc<Mutex<Contents>>,
    disk: UnboundedSender<Job>,
}

impl LogStore {
    /// An empty log, on a disk that takes one of these times to flush, or none at all.
    pub(crate) fn new(voter: u64, takes: &'static [Duration], durable: Arc<Durable>) -> Self {
        let (disk, jobs) = unbounded_channel();
        spawn(run_disk(voter, takes, jobs, durable));
        LogStore {
            contents: Arc::default(),
            disk,
        }
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn flush_rest(&self, truncated_to: Option<u64>) -> Result<(), io::Error> {
        let (done, flushed) = oneshot::channel();
        let _ = self.disk.send(Job::Rest(truncated_to, done));
        flushed.await.map_err(io::Error::other)
    }
}

async fn run_disk(
    voter: u64,
    takes: &'static [Duration],
    mut jobs: UnboundedReceiver<Job>,
    durable: Arc<Durable>,
) {
    while let Some(job) = jobs.recv().await {
        if !takes.is_empty() {
            sleep(*nondet::pick(takes)).await;
        }
        match job {
            Job::Log(last, flushed) => {
                durable.set(voter, last);
                flushed.io_completed(Ok(()));
            }
            Job::Rest(truncated_to, done) => {
                if let Some(last) = truncated_to {
                    durable.set(voter, last);
                }
                let _ = done.send(());
            }
        }
    }
}

impl RaftLogReader<Types> for LogStore {
    async fn try_get_log_entries<R>(&mut self, range: R) -> Result<Vec<EntryOf<Types>>, io::Error>
    where
        R: RangeBounds<u64> + Clone + Debug + OptionalSend,
    {
        let contents = self.contents();
        Ok(contents
            .entries
            .range(range)
            .map(|(_, e)| e.clone())
            .collect())
    }

    async fn read_vote(&mut self) -> Result<Option<VoteOf<Types>>, io::Error> {
        Ok(self.contents().vote)
    }
}

impl RaftLogStorage<Types> for LogStore {
    type LogReader = Self;

    async fn get_log_state(&mut self) -> Result<LogState<Types>, io::Error> {
        let contents = self.contents();
        let last = contents.entries.values().next_back();
        Ok(LogState {
            last_purged_log_id: contents.purged,
            last_log_id: last.map(|entry| entry.log_id()).or(contents.purged),
        })
    }

    async fn get_log_reader(&mut self) -> Self::LogReader {
        self.clone()
    }

    async fn save_vote(&mut self, vote: &VoteOf<Types>) -> Result<(), io::Error> {
        self.contents().vote = Some(*vote);
        self.flush_rest(None).await
    }

    async fn append<I>(&mut self, entries: I, flushed: IOFlushed<Types>) -> Result<(), io::Error>
    where
        I: IntoIterator<Item = EntryOf<Types>> + OptionalSend,
        I::IntoIter: OptionalSend,
    {
        let mut contents = self.contents();
        for entry in entries {
            contents.entries.insert(entry.index(), entry);
        }
        let last = contents.entries.keys().next_back().copied().unwrap_or(0);
        let _ = self.disk.send(Job::Log(last, flushed));
        Ok(())
    }

    async fn truncate_after(&mut self, last: Option<LogIdOf<Types>>) -> Result<(), io::Error> {
        let keep = last.map_or(0, |last| last.index + 1);
        self.contents().entries.split_off(&keep);
        self.flush_rest(Some(keep.saturating_sub(1))).await
    }

    async fn purge(&mut self, log_id: LogIdOf<Types>) -> Result<(), io::Error> {
        let mut contents = self.contents();
        contents.entries = contents.entries.split_off(&(log_id.index + 1));
        contents.purged = Some(log_id);
        Ok(())
    }
}
