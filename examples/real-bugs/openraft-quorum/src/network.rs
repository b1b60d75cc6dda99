//! The way from one voter to another: every request arrives, and every reply takes its time.

use crate::state_machine::StateMachine;
use crate::{REPLY_TAKES, Types};
use cct_executor::nondet;
use cct_executor::time::sleep;
use openraft::alias::{SnapshotOf, VoteOf};
use openraft::errors::{RPCError, ReplicationClosed, StreamingError, Unreachable};
use openraft::network::RPCOption;
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, SnapshotResponse, VoteRequest, VoteResponse,
};
use openraft::{EmptyNode, OptionalSend, Raft, RaftNetworkFactory, RaftNetworkV2};
use std::collections::BTreeMap;
use std::error::Error;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

/// A voter, as others reach it.
type Voter = Raft<Types, StateMachine>;

/// All voters; clones are the same network.
#[derive(Clone, Default)]
pub(crate) struct Network(Arc<Mutex<BTreeMap<u64, Voter>>>);

impl Network {
    /// Makes a voter reachable.
    pub(crate) fn join(&self, id: u64, voter: Voter) {
        let mut voters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        voters.insert(id, voter);
    }

    /// A voter that joined.
    pub(crate) fn voter(&self, id: u64) -> Voter {
        let voters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        voters[&id].clone()
    }
}

impl RaftNetworkFactory<Types> for Network {
    type Network = Connection;

    async fn new_client(&mut self, target: u64, _: &EmptyNode) -> Connection {
        Connection(self.voter(target))
    }
}

/// The connection to one voter.
pub(crate) struct Connection(Voter);

fn failed(error: &(impl Error + 'static)) -> Unreachable<Types> {
    Unreachable::new(error)
}

impl RaftNetworkV2<Types> for Connection {
    async fn append_entries(
        &mut self,
        request: AppendEntriesRequest<Types>,
        _: RPCOption,
    ) -> Result<AppendEntriesResponse<Types>, RPCError<Types>> {
        let reply = self.0.append_entries(request).await;
        sleep(*nondet::pick(&REPLY_TAKES)).await;
        reply.map_err(|error| RPCError::Unreachable(failed(&error)))
    }

    async fn vote(
        &mut self,
        request: VoteRequest<Types>,
        _: RPCOption,
    ) -> Result<VoteResponse<Types>, RPCError<Types>> {
        let reply = self.0.vote(request).await;
        reply.map_err(|error| RPCError::Unreachable(failed(&error)))
    }

    async fn full_snapshot(
        &mut self,
        vote: VoteOf<Types>,
        snapshot: SnapshotOf<Types>,
        _: impl Future<Output = ReplicationClosed> + OptionalSend + 'static,
        _: RPCOption,
    ) -> Result<SnapshotResponse<Types>, StreamingError<Types>> {
        let reply = self.0.install_full_snapshot(vote, snapshot).await;
        reply.map_err(|error| StreamingError::Unreachable(failed(&error)))
    }
}
