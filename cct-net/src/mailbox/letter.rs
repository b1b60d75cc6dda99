//! What travels: messages, and the news that a session is a new one.

use super::slot::{Event, Slot};
use crate::fabric::Arrival;
use cct_executor::node::NodeId;
use std::sync::Arc;

/// A message on its way.
pub(super) struct Letter<M> {
    pub(super) to: Arc<Slot<M>>,
    pub(super) from: NodeId,
    pub(super) message: M,
    pub(super) copy: Option<fn(&M) -> M>,
    pub(super) label: &'static str,
}

impl<M: Send + 'static> Arrival for Letter<M> {
    fn arrive(self: Box<Self>) {
        let Letter {
            to, from, message, ..
        } = *self;
        to.put(Event::Message { from, message });
    }

    fn copy(&self) -> Option<Box<dyn Arrival>> {
        let copy = self.copy?;
        Some(Box::new(Letter {
            to: self.to.clone(),
            message: copy(&self.message),
            ..*self
        }))
    }

    fn size(&self) -> usize {
        size_of::<M>()
    }

    fn kind(&self) -> u64 {
        self.to.kind(&self.message)
    }

    fn label(&self) -> &'static str {
        self.label
    }
}

/// The session with a peer is a new one.
pub(super) struct Greeting<M> {
    pub(super) to: Arc<Slot<M>>,
    pub(super) from: NodeId,
}

impl<M: Send + 'static> Arrival for Greeting<M> {
    fn arrive(self: Box<Self>) {
        self.to.put(Event::Reconnected { from: self.from });
    }

    fn size(&self) -> usize {
        0
    }

    fn kind(&self) -> u64 {
        0
    }

    fn label(&self) -> &'static str {
        "reconnect"
    }
}
