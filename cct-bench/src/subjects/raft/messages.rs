//! What servers are sent.

use super::super::machine::{Address, Message};
use super::{Request, ToClient, ToManager};

/// An entry of the log.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Entry {
    pub(super) term: u64,
    pub(super) command: u32,
}

#[derive(Clone)]
pub(super) struct VoteRequest {
    pub(super) term: u64,
    pub(super) candidate: usize,
    pub(super) last_index: usize,
    pub(super) last_term: u64,
}

#[derive(Clone)]
pub(super) struct VoteResponse {
    pub(super) term: u64,
    pub(super) granted: bool,
    pub(super) from: usize,
}

#[derive(Clone)]
pub(super) struct AppendRequest {
    pub(super) term: u64,
    pub(super) leader: usize,
    pub(super) previous_index: usize,
    pub(super) previous_term: u64,
    pub(super) entries: Vec<Entry>,
    pub(super) commit: usize,
    pub(super) client: Option<Address<ToClient>>,
}

#[derive(Clone)]
pub(super) struct AppendResponse {
    pub(super) term: u64,
    pub(super) success: bool,
    pub(super) from: usize,
    pub(super) client: Option<Address<ToClient>>,
}

#[derive(Clone)]
pub(super) enum ToServer {
    Configure(Vec<Address<ToServer>>, Address<ToManager>),
    VoteRequest(VoteRequest),
    VoteResponse(VoteResponse),
    AppendRequest(AppendRequest),
    AppendResponse(AppendResponse),
    ElectionTimeout,
    PeriodicTimeout,
    Request(Request),
    ShutDown,
}

pub(super) const VOTE_REQUEST: u32 = 1;
pub(super) const APPEND_REQUEST: u32 = 3;
pub(super) const ELECTION_TIMEOUT: u32 = 5;
pub(super) const PERIODIC_TIMEOUT: u32 = 6;

impl Message for ToServer {
    fn kind(&self) -> u32 {
        match self {
            ToServer::Configure(..) => 0,
            ToServer::VoteRequest(_) => VOTE_REQUEST,
            ToServer::VoteResponse(_) => 2,
            ToServer::AppendRequest(_) => APPEND_REQUEST,
            ToServer::AppendResponse(_) => 4,
            ToServer::ElectionTimeout => ELECTION_TIMEOUT,
            ToServer::PeriodicTimeout => PERIODIC_TIMEOUT,
            ToServer::Request(_) => 7,
            ToServer::ShutDown => 8,
        }
    }
}
