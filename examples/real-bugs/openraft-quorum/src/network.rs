//! What voters ask each other, as calls over the simulated network.

use crate::state_machine::StateMachine;
use crate::{Types, name};
use cct_executor::spawn;
use cct_net::mailbox::{Call, Caller, Calls};
use openraft::alias::{SnapshotOf, VoteOf};
use openraft::errors::{RPCError, ReplicationClosed, StreamingError, Unreachable};
use openraft::network::RPCOption;
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, SnapshotResponse, VoteRequest, VoteResponse,
};
use openraft::{EmptyNode, OptionalSend, Raft, RaftNetworkFactory, RaftNetworkV2};
use std::future::Future;
use std::io;

pub(crate) enum Request {
    Append(AppendEntriesRequest<Types>),
    Vote(VoteRequest<Types>),
}

pub(crate) enum Reply {
    Append(AppendEntriesResponse<Types>),
    Vote(VoteResponse<Types>),
    /// The voter could not do it.
    Failed(String),
}

/// Hands a voter what others ask it.
pub(crate) async fn serve(mut calls: Calls<Request, Reply>, voter: Raft<Types, StateMachine>) {
    loop {
        let Call {
            request, answer, ..
        } = calls.recv().await;
        let voter = voter.clone();
        spawn(async move { answer.send(reply(&voter, request).await) });
    }
}

async fn reply(voter: &Raft<Types, StateMachine>, request: Request) -> Reply {
    match request {
        Request::Append(request) => match voter.append_entries(request).await {
            Ok(response) => Reply::Append(response),
            Err(error) => Reply::Failed(error.to_string()),
        },
        Request::Vote(request) => match voter.vote(request).await {
            Ok(response) => Reply::Vote(response),
            Err(error) => Reply::Failed(error.to_string()),
        },
    }
}

/// The way to all voters.
pub(crate) struct Network(pub(crate) Caller<Request, Reply>);

impl RaftNetworkFactory<Types> for Network {
    type Network = Connection;

    async fn new_client(&mut self, target: u64, _: &EmptyNode) -> Connection {
        Connection {
            caller: self.0.clone(),
            to: name(target),
        }
    }
}

/// The way to one voter.
pub(crate) struct Connection {
    caller: Caller<Request, Reply>,
    to: String,
}

impl Connection {
    async fn call(&self, request: Request) -> Result<Reply, Unreachable<Types>> {
        let reply = self.caller.call(&self.to, request).await;
        reply.map_err(|error| Unreachable::new(&error))
    }
}

fn failed(reply: Reply) -> Unreachable<Types> {
    let why = match reply {
        Reply::Failed(why) => why,
        Reply::Append(_) | Reply::Vote(_) => "a reply to something else".to_owned(),
    };
    Unreachable::new(&io::Error::other(why))
}

impl RaftNetworkV2<Types> for Connection {
    async fn append_entries(
        &mut self,
        request: AppendEntriesRequest<Types>,
        _: RPCOption,
    ) -> Result<AppendEntriesResponse<Types>, RPCError<Types>> {
        match self.call(Request::Append(request)).await? {
            Reply::Append(response) => Ok(response),
            other => Err(failed(other).into()),
        }
    }

    async fn vote(
        &mut self,
        request: VoteRequest<Types>,
        _: RPCOption,
    ) -> Result<VoteResponse<Types>, RPCError<Types>> {
        match self.call(Request::Vote(request)).await? {
            Reply::Vote(response) => Ok(response),
            other => Err(failed(other).into()),
        }
    }

    async fn full_snapshot(
        &mut self,
        _: VoteOf<Types>,
        _: SnapshotOf<Types>,
        _: impl Future<Output = ReplicationClosed> + OptionalSend + 'static,
        _: RPCOption,
    ) -> Result<SnapshotResponse<Types>, StreamingError<Types>> {
        let error = io::Error::other("this log is never compacted");
        Err(StreamingError::Unreachable(Unreachable::new(&error)))
    }
}
