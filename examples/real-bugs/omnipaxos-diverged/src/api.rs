//! The one difference between the two versions in what a user calls.

use crate::Write;
use omnipaxos::messages::Message;
use omnipaxos::{OmniPaxos, util::LogEntry};
use omnipaxos_storage::memory_storage::MemoryStorage;

/// One server's share of the log, kept in memory.
pub(crate) type Log = OmniPaxos<Write, MemoryStorage<Write>>;

/// What the server wants sent.
#[cfg(feature = "outgoing-buffer")]
pub(crate) fn outgoing(log: &mut Log) -> Vec<Message<Write>> {
    let mut messages = Vec::new();
    log.take_outgoing_messages(&mut messages);
    messages
}

/// What the server wants sent.
#[cfg(not(feature = "outgoing-buffer"))]
pub(crate) fn outgoing(log: &mut Log) -> Vec<Message<Write>> {
    log.outgoing_messages()
}

/// Everything the server has decided.
pub(crate) fn decided(log: &Log) -> Vec<Write> {
    let entries = log.read_decided_suffix(0).unwrap_or_default();
    entries
        .into_iter()
        .map(|entry| match entry {
            LogEntry::Decided(write) => write,
            other => panic!("not a decided entry: {other:?}"),
        })
        .collect()
}
