//! A state machine that only checks what it is given. It makes no snapshots: the log stays short.

use crate::Types;
use crate::durable::Durable;
use futures::{Stream, TryStreamExt};
use openraft::alias::{LogIdOf, SnapshotMetaOf, SnapshotOf, StoredMembershipOf};
use openraft::entry::RaftEntry;
use openraft::storage::{EntryResponder, RaftStateMachine};
use openraft::{EntryPayload, OptionalSend, RaftSnapshotBuilder, StoredMembership};
use std::io::{self, Cursor};
use std::sync::Arc;

/// Applies what is committed.
pub(crate) struct StateMachine {
    voter: u64,
    durable: Arc<Durable>,
    applied: Option<LogIdOf<Types>>,
    membership: StoredMembershipOf<Types>,
}

impl StateMachine {
    /// Nothing applied.
    pub(crate) fn new(voter: u64, durable: Arc<Durable>) -> Self {
        StateMachine {
            voter,
            durable,
            applied: None,
            membership: StoredMembership::default(),
        }
    }
}

impl RaftStateMachine<Types> for StateMachine {
    type SnapshotBuilder = NoSnapshots;

    async fn applied_state(
        &mut self,
    ) -> Result<(Option<LogIdOf<Types>>, StoredMembershipOf<Types>), io::Error> {
        Ok((self.applied, self.membership.clone()))
    }

    async fn apply<S>(&mut self, mut entries: S) -> Result<(), io::Error>
    where
        S: Stream<Item = Result<EntryResponder<Types>, io::Error>> + Unpin + OptionalSend,
    {
        while let Some((entry, responder)) = entries.try_next().await? {
            self.durable.check_committed(self.voter, entry.index());
            self.applied = Some(entry.log_id());
            if let EntryPayload::Membership(members) = entry.payload {
                self.membership = StoredMembership::new(self.applied, members);
            }
            if let Some(responder) = responder {
                responder.send(());
            }
        }
        Ok(())
    }

    async fn get_snapshot_builder(&mut self) -> NoSnapshots {
        NoSnapshots
    }

    async fn begin_receiving_snapshot(&mut self) -> Result<Cursor<Vec<u8>>, io::Error> {
        Err(no_snapshots())
    }

    async fn install_snapshot(
        &mut self,
        _: &SnapshotMetaOf<Types>,
        _: Cursor<Vec<u8>>,
    ) -> Result<(), io::Error> {
        Err(no_snapshots())
    }

    async fn get_current_snapshot(&mut self) -> Result<Option<SnapshotOf<Types>>, io::Error> {
        Ok(None)
    }
}

/// Builds no snapshots.
pub(crate) struct NoSnapshots;

impl RaftSnapshotBuilder<Types> for NoSnapshots {
    async fn build_snapshot(&mut self) -> Result<SnapshotOf<Types>, io::Error> {
        Err(no_snapshots())
    }
}

fn no_snapshots() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "this log is never compacted")
}
