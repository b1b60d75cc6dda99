//! What travels: messages, and the news that a session is a new one.

use super::room::Room;
use crate::fabric::Arrival;
use cct_executor::node::NodeId;
use std::sync::Arc;

/// A message on its way. Letters that have arrived serve again: the one that arrived last is near at
/// hand, while an allocator whose small stock is used up looks far for another.
pub(super) struct Letter<M> {
    /// Where it goes; nowhere once it has arrived.
    room: Option<Arc<Room<M>>>,
    to: NodeId,
    from: NodeId,
    message: Option<M>,
    copy: Option<fn(&M) -> M>,
}

impl<M> Letter<M> {
    pub(super) fn new(
        room: &Arc<Room<M>>,
        (from, to): (NodeId, NodeId),
        message: M,
        copy: Option<fn(&M) -> M>,
    ) -> Box<Letter<M>> {
        let room = Some(room.clone());
        let message = Some(message);
        let used = room.as_ref().and_then(|room| room.letters.with(Vec::pop));
        let Some(mut letter) = used else {
            return Box::new(Letter {
                room,
                to,
                from,
                message,
                copy,
            });
        };
        letter.room = room;
        letter.to = to;
        letter.from = from;
        letter.message = message;
        letter.copy = copy;
        letter
    }
}

impl<M: Send + 'static> Arrival for Letter<M> {
    fn arrive(mut self: Box<Self>) {
        let (to, from) = (self.to, self.from);
        let message = self.message.take();
        if let Some(room) = self.room.take() {
            room.letters.with(|letters| letters.push(self));
            room.put(to, from, message);
        }
    }

    fn copy(&self) -> Option<Box<dyn Arrival>> {
        let copy = self.copy?;
        let message = copy(self.message.as_ref()?);
        let nodes = (self.from, self.to);
        Some(Letter::new(self.room.as_ref()?, nodes, message, self.copy))
    }

    fn size(&self) -> usize {
        size_of::<M>()
    }

    fn kind(&self) -> u64 {
        let message = self.message.as_ref();
        let kind = |room: &Arc<Room<M>>| Some(room.kind(message?));
        self.room.as_ref().and_then(kind).unwrap_or(0)
    }

    fn label(&self) -> &'static str {
        self.room.as_ref().map_or("", |room| room.label())
    }

    fn shown(&self) -> Option<String> {
        self.room.as_ref()?.shown(self.message.as_ref()?)
    }

    fn is_shown(&self) -> bool {
        self.room.as_ref().is_some_and(|room| room.is_shown())
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
