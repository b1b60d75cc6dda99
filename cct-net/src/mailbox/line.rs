//! Lines: the ways of a mailbox's messages from one node to others.

use super::letter::Greeting;
use super::slot::Slot;
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

/// The way to one receiver.
pub(super) struct Line<M> {
    pub(super) flow: FlowId,
    pub(super) to: Arc<Slot<M>>,
}

/// The ways from a node, by receiver. They outlive the node's crashes: what was sent before may
/// still arrive.
pub(super) struct Lines<M>(Shared<Vec<Option<Line<M>>>>);

impl<M> Clone for Line<M> {
    fn clone(&self) -> Self {
        Line {
            flow: self.flow,
            to: self.to.clone(),
        }
    }
}

impl<M: Send + 'static> Line<M> {
    pub(super) fn open(net: &Net, route: Route, to: NodeId, slot: Arc<Slot<M>>) -> Line<M> {
        let Route { from, kind, .. } = route;
        let identity = mix2(route.name, u64::from(kind == FlowKind::Loose));
        let flow = Network::open(net, from, to, kind, identity, route.site);
        if route.sessions {
            let to = slot.clone();
            let greeting = move || {
                Box::new(Greeting {
                    to: to.clone(),
                    from,
                }) as Box<_>
            };
            Network::announces(net, flow, Box::new(greeting));
        }
        Line { flow, to: slot }
    }
}

impl<M> Lines<M> {
    pub(super) fn new() -> Lines<M> {
        Lines(Shared::new(Vec::new()))
    }

    pub(super) fn get(&self, to: NodeId) -> Option<Line<M>> {
        self.0
            .with(|lines| lines.get(usize::from(to.0)).cloned().flatten())
    }

    pub(super) fn set(&self, to: NodeId, line: Line<M>) {
        let at = usize::from(to.0);
        self.0.with(|lines| {
            if at >= lines.len() {
                lines.resize_with(at + 1, || None);
            }
            lines[at] = Some(line);
        });
    }

    pub(super) fn flows(&self) -> Vec<FlowId> {
        self.0
            .with(|lines| lines.iter().flatten().map(|line| line.flow).collect())
    }
}
