//! What travels: messages, and the news that a session is a new one.

use super::room::Room;
use crate::fabric::Arrival;
use cct_executor::node::NodeId;
use std::sync::Arc;

/// A message on its way.
pub(super) struct Letter<M> {
    pub(super) room: Arc<Room<M>>,
    pub(super) to: NodeId,
    pub(super) from: NodeId,
    pub(super) message: M,
    pub(super) copy: Option<fn(&M) -> M>,
}

impl<M: Send + 'static> Arrival for Letter<M> {
    fn arrive(self: Box<Self>) {
        let Letter {
            room,
            to,
            from,
            message,
            ..
        } = *self;
        room.put(to, from, Some(message));
    }

    fn copy(&self) -> Option<Box<dyn Arrival>> {
        let copy = self.copy?;
        Some(Box::new(Letter {
            room: self.room.clone(),
            message: copy(&self.message),
            ..*self
        }))
    }

    fn size(&self) -> usize {
        size_of::<M>()
    }

    fn kind(&self) -> u64 {
        self.room.kind(&self.message)
    }

    fn label(&self) -> &'static str {
        self.room.label()
    }
}

/// The session with a peer is a new one.
pub(super) struct Greeting<M> {
    pub(super) room: Arc<Room<M>>,
    pub(super) to: NodeId,
    pub(super) from: NodeId,
}

impl<M: Send + 'static> Arrival for Greeting<M> {
    fn arrive(self: Box<Self>) {
        self.room.put(self.to, self.from, None);
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
