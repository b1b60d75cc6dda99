//! Lines: the ways of a mailbox's messages from one node to others.

use super::letter::Greeting;
use super::room::Room;
use crate::fabric::flow::FlowKind;
use crate::fabric::{FlowId, Net, Network};
use cct_executor::node::NodeId;
use cct_executor::shim::Shared;
use cct_executor::words::fingerprint::mix2;
use std::panic::Location;
use std::sync::Arc;

/// How the messages of a mailbox on a node travel.
#[derive(Clone, Copy)]
pub(super) struct Route {
    pub(super) name: u64,
    pub(super) kind: FlowKind,
    pub(super) sessions: bool,
    pub(super) from: NodeId,
    pub(super) site: &'static Location<'static>,
}

/// No line yet.
const NONE: FlowId = FlowId::MAX;

/// The ways from a node: their flows, by receiver. They outlive the node's crashes: what was sent
/// before may still arrive.
///
/// Aligned, so that the counts of references before it are in a cache line that nobody reads.
#[repr(align(64))]
pub(super) struct Lines(Shared<Vec<FlowId>>);

impl Route {
    /// Opens the way to a receiver.
    pub(super) fn open<M: Send + 'static>(
        self,
        net: &Net,
        to: NodeId,
        room: &Arc<Room<M>>,
    ) -> FlowId {
        let Route { from, kind, .. } = self;
        let identity = mix2(self.name, u64::from(kind == FlowKind::Loose));
        let flow = Network::open(net, from, to, kind, identity, self.site);
        if self.sessions {
            let room = room.clone();
            let greeting = move || {
                let room = room.clone();
                Box::new(Greeting { room, to, from }) as Box<_>
            };
            Network::announces(net, flow, Box::new(greeting));
        }
        flow
    }
}

impl Lines {
    pub(super) fn new() -> Lines {
        Lines(Shared::new(Vec::new()))
    }

    #[inline]
    pub(super) fn get(&self, to: NodeId) -> Option<FlowId> {
        let flow = self.0.with(|lines| lines.get(usize::from(to.0)).copied());
        flow.filter(|&flow| flow != NONE)
    }

    pub(super) fn set(&self, to: NodeId, flow: FlowId) {
        let at = usize::from(to.0);
        self.0.with(|lines| {
            if at >= lines.len() {
                lines.resize(at + 1, NONE);
            }
            lines[at] = flow;
        });
    }

    pub(super) fn flows(&self) -> Vec<FlowId> {
        let used = |flow: &FlowId| *flow != NONE;
        self.0
            .with(|lines| lines.iter().copied().filter(used).collect())
    }
}
