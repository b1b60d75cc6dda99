//! Calls from voter to voter, over mailboxes.

use crate::state_machine::StateMachine;
use crate::{Types, name};
use cct_executor::spawn;
use cct_net::mailbox::{Mailbox, Sender};
use cct_sync::oneshot;
use openraft::alias::{SnapshotOf, VoteOf};
use openraft::errors::{RPCError, ReplicationClosed, StreamingError, Unreachable};
use openraft::network::RPCOption;
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, SnapshotResponse, VoteRequest, VoteResponse,
};
use openraft::{EmptyNode, OptionalSend, Raft, RaftNetworkFactory, RaftNetworkV2};
use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// What voters send to each other. A reply has the number of its request.
pub(crate) enum Packet {
    Request(u64, Request),
    Reply(u64, Reply),
}

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

/// The requests of a voter that have no reply yet.
#[derive(Default)]
struct Waiting {
    made: u64,
    replies: BTreeMap<u64, oneshot::Sender<Reply>>,
}

/// A voter's way to the others; clones are the same.
#[derive(Clone)]
pub(crate) struct Network {
    sender: Sender<Packet>,
    waiting: Arc<Mutex<Waiting>>,
}

impl Network {
    /// The network of the voter on this node, and what arrives for it.
    pub(crate) fn bind() -> (Network, Mailbox<Packet>) {
        let mailbox = Mailbox::bind("raft").expect("the node has no other voter");
        let network = Network {
            sender: mailbox.sender(),
            waiting: Arc::default(),
        };
        (network, mailbox)
    }

    /// Serves a voter with what arrives.
    pub(crate) async fn serve(
        self,
        mut mailbox: Mailbox<Packet>,
        voter: Raft<Types, StateMachine>,
    ) {
        loop {
            match mailbox.recv().await {
                (from, Packet::Request(number, request)) => {
                    let (voter, sender) = (voter.clone(), self.sender.clone());
                    spawn(async move {
                        let reply = answer(&voter, request).await;
                        let sent = sender.send(from, Packet::Reply(number, reply));
                        sent.expect("the voter is there");
                    });
                }
                (_, Packet::Reply(number, reply)) => {
                    if let Some(caller) = self.with(|waiting| waiting.replies.remove(&number)) {
                        // Who asked may have given up.
                        let _ = caller.send(reply);
                    }
                }
            }
        }
    }

    fn with<R>(&self, look: impl FnOnce(&mut Waiting) -> R) -> R {
        look(&mut self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn answer(voter: &Raft<Types, StateMachine>, request: Request) -> Reply {
    let failed = |error: String| Reply::Failed(error);
    match request {
        Request::Append(request) => match voter.append_entries(request).await {
            Ok(response) => Reply::Append(response),
            Err(error) => failed(error.to_string()),
        },
        Request::Vote(request) => match voter.vote(request).await {
            Ok(response) => Reply::Vote(response),
            Err(error) => failed(error.to_string()),
        },
    }
}

impl RaftNetworkFactory<Types> for Network {
    type Network = Connection;

    async fn new_client(&mut self, target: u64, _: &EmptyNode) -> Connection {
        Connection {
            network: self.clone(),
            to: name(target),
        }
    }
}

/// The way to one voter.
pub(crate) struct Connection {
    network: Network,
    to: String,
}

impl Connection {
    async fn call(&self, request: Request) -> Result<Reply, Unreachable<Types>> {
        let (caller, reply) = oneshot::channel();
        let number = self.network.with(|waiting| {
            waiting.made += 1;
            waiting.replies.insert(waiting.made, caller);
            waiting.made
        });
        let packet = Packet::Request(number, request);
        let sent = self.network.sender.send(&self.to, packet);
        sent.map_err(|error| Unreachable::new(&error))?;
        match reply.await {
            Ok(Reply::Failed(why)) => Err(Unreachable::new(&io::Error::other(why))),
            Ok(reply) => Ok(reply),
            Err(error) => Err(Unreachable::new(&error)),
        }
    }
}

fn unexpected() -> Unreachable<Types> {
    Unreachable::new(&io::Error::other("a reply to something else"))
}

impl RaftNetworkV2<Types> for Connection {
    async fn append_entries(
        &mut self,
        request: AppendEntriesRequest<Types>,
        _: RPCOption,
    ) -> Result<AppendEntriesResponse<Types>, RPCError<Types>> {
        match self.call(Request::Append(request)).await? {
            Reply::Append(response) => Ok(response),
            _ => Err(unexpected().into()),
        }
    }

    async fn vote(
        &mut self,
        request: VoteRequest<Types>,
        _: RPCOption,
    ) -> Result<VoteResponse<Types>, RPCError<Types>> {
        match self.call(Request::Vote(request)).await? {
            Reply::Vote(response) => Ok(response),
            _ => Err(unexpected().into()),
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
