//! Rooms: all mailboxes of one name, by node.
//!
//! A message carries its room and the number of the node it goes to, and not its receiver: whoever
//! sends leaves the receiver alone, which with hundreds of nodes has left the near caches.

use super::slot::{Event, Slot};
use cct_executor::node::NodeId;
use cct_executor::shim::{self, OpKind, Shared};
use cct_executor::words::fingerprint::{mix, mix2};
use std::panic::Location;
use std::sync::Arc;

/// The mailboxes of one name.
pub(super) struct Room<M> {
    /// Stands for the mailboxes in kinds.
    tag: u64,
    variant: fn(&M) -> u64,
    slots: Shared<Vec<Option<Arc<Slot<M>>>>>,
}

impl<M> Room<M> {
    pub(super) fn new(tag: u64, variant: fn(&M) -> u64) -> Room<M> {
        Room {
            tag,
            variant,
            slots: Shared::new(Vec::new()),
        }
    }

    /// A message's share of the abstract state: its mailbox and its variant.
    pub(super) fn kind(&self, message: &M) -> u64 {
        mix2(self.tag, (self.variant)(message))
    }

    /// The receiving end on a node, if there is one.
    pub(super) fn slot(&self, node: NodeId) -> Option<Arc<Slot<M>>> {
        let at = usize::from(node.0);
        self.slots.with(|slots| slots.get(at).cloned().flatten())
    }

    /// Adds the receiving end on a node.
    pub(super) fn add(&self, node: NodeId, slot: Arc<Slot<M>>) {
        let at = usize::from(node.0);
        self.slots.with(|slots| {
            if at >= slots.len() {
                slots.resize_with(at + 1, || None);
            }
            slots[at] = Some(slot);
        });
    }

    /// Something arrives at a node; `kind` is a message's.
    pub(super) fn put(&self, node: NodeId, event: Event<M>, kind: Option<u64>) {
        let share = mix(kind.unwrap_or(self.tag));
        let at = usize::from(node.0);
        let (refused, waiter) = self.slots.with(|slots| match slots.get(at) {
            Some(Some(slot)) => slot.put(event, share),
            _ => (Some(event), None),
        });
        drop(refused);
        if let Some(waiter) = waiter {
            waiter.wake();
        }
    }

    /// The point of sending to a node.
    pub(super) fn send_point(&self, node: NodeId, site: &'static Location<'static>) {
        if shim::has_sync_points() {
            if let Some(slot) = self.slot(node) {
                slot.sync_point(OpKind::Send, site);
            }
        }
    }
}
