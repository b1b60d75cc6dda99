//! Rooms: all mailboxes of one name, by node.
//!
//! A message carries its room and the number of the node it goes to, and not its receiver: whoever
//! sends leaves the receiver alone, which with hundreds of nodes has left the near caches. For the
//! same reason receivers stand side by side in one table.

use super::builder::{Looks, Shown};
use super::letter::Letter;
use super::slot::{Arrived, Slot};
use cct_executor::node::NodeId;
use cct_executor::shim::{Access, OpKind, Resource, ResourceKind, Shared, Waiter};
use cct_executor::shim::{StateShare, has_sync_points};
use cct_executor::task::coop;
use cct_executor::words::fingerprint::{mix, mix2};
use std::panic::Location;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

/// The mailboxes of one name.
pub(super) struct Room<M> {
    /// Stands for the mailboxes in kinds.
    tag: u64,
    looks: Looks<M>,
    shown: OnceLock<Shown<M>>,
    slots: Shared<Vec<Option<Slot<M>>>>,
    /// Letters that have arrived, to be used again.
    pub(super) letters: Shared<Vec<Box<Letter<M>>>>,
    /// The same mailboxes, as resources.
    resources: Shared<Vec<Option<Resource>>>,
}

/// The receiving end of a mailbox on one node.
pub(super) struct Inbox<M> {
    room: Arc<Room<M>>,
    node: NodeId,
    resource: Resource,
}

/// The entry of a node, made if there is none.
fn entry<T>(table: &mut Vec<Option<T>>, node: NodeId) -> &mut Option<T> {
    let at = usize::from(node.0);
    if at >= table.len() {
        table.resize_with(at + 1, || None);
    }
    &mut table[at]
}

impl<M> Room<M> {
    pub(super) fn new(tag: u64, looks: Looks<M>) -> Room<M> {
        Room {
            tag,
            looks,
            shown: OnceLock::new(),
            slots: Shared::new(Vec::new()),
            letters: Shared::new(Vec::new()),
            resources: Shared::new(Vec::new()),
        }
    }

    /// What reports call messages.
    pub(super) fn label(&self) -> &'static str {
        self.looks.label
    }

    /// Has reports show messages so.
    pub(super) fn show(&self, shown: Shown<M>) {
        let _ = self.shown.set(shown);
    }

    pub(super) fn is_shown(&self) -> bool {
        self.shown.get().is_some()
    }

    /// What reports show of a message, if they are to show more than its type.
    pub(super) fn shown(&self, message: &M) -> Option<String> {
        self.shown.get().map(|shown| shown(message))
    }

    /// A message's share of the abstract state: its mailbox and its variant.
    pub(super) fn kind(&self, message: &M) -> u64 {
        mix2(self.tag, (self.looks.variant)(message))
    }

    fn resource(&self, node: NodeId) -> Option<Resource> {
        let at = usize::from(node.0);
        self.resources
            .with(|resources| resources.get(at).cloned().flatten())
    }

    /// The receiving end on a node as a resource, made when it is first asked for.
    pub(super) fn slot(
        &self,
        node: NodeId,
        site: &'static Location<'static>,
        is_down: impl FnOnce() -> bool,
    ) -> Resource {
        self.resource(node).unwrap_or_else(|| {
            let resource = Resource::at(ResourceKind::Socket, site);
            let share: StateShare = resource.share();
            let mut slot = Slot::new(share);
            if is_down() {
                slot.forget();
            }
            self.slots.with(|slots| *entry(slots, node) = Some(slot));
            let known = resource.clone();
            self.resources
                .with(|resources| *entry(resources, node) = Some(known));
            resource
        })
    }

    /// Runs `f` on the receiving end on a node, if there is one.
    #[inline(always)]
    pub(super) fn with_slot<R>(
        &self,
        node: NodeId,
        f: impl FnOnce(&mut Slot<M>) -> R,
    ) -> Option<R> {
        self.slots
            .with(|slots| slots.get_mut(usize::from(node.0))?.as_mut().map(f))
    }

    /// Something arrives at a node: a message, or the news that a session is a new one.
    #[inline(always)]
    pub(super) fn put(&self, node: NodeId, from: NodeId, message: Option<M>) {
        let kind = message.as_ref().map_or(self.tag, |it| self.kind(it));
        // What is lost is dropped here, outside of the cell.
        let put = self.with_slot(node, |slot| slot.put(from, message, mix(kind)));
        if let Some(Ok(Some(waiter))) = put {
            waiter.wake();
        }
    }

    /// The point of sending to a node.
    #[inline]
    pub(super) fn send_point(&self, node: NodeId, site: &'static Location<'static>) {
        if has_sync_points() {
            if let Some(resource) = self.resource(node) {
                resource.sync_point(OpKind::Send, Access::Write, site);
            }
        }
    }
}

impl<M> Inbox<M> {
    pub(super) fn new(room: Arc<Room<M>>, node: NodeId, resource: Resource) -> Inbox<M> {
        Inbox {
            room,
            node,
            resource,
        }
    }

    /// Binds it; `None` if it is bound. Otherwise the number of this binding, counted from 1.
    pub(super) fn bind(&self) -> Option<u32> {
        self.room.with_slot(self.node, Slot::bind).flatten()
    }

    /// Has reports say where it was bound, and under which name.
    pub(super) fn introduce(&self, name: &str, site: &'static Location<'static>) {
        self.resource.made_at(site);
        self.resource.remark(|| format!("mailbox `{name}`"));
    }

    /// The mailbox of this binding is dropped.
    pub(super) fn close(&self, binding: u32) {
        let left = self.room.with_slot(self.node, |slot| slot.close(binding));
        drop(left);
    }

    pub(super) fn sync_point(&self, kind: OpKind, site: &'static Location<'static>) {
        self.resource.sync_point(kind, Access::Write, site);
    }

    pub(super) fn point(&self, site: &'static Location<'static>) -> Poll<()> {
        self.resource.point(OpKind::Recv, Access::Write, site)
    }

    #[inline(always)]
    fn pop(&self) -> Option<Arrived<M>> {
        self.room.with_slot(self.node, Slot::pop).flatten()
    }

    /// The next arrival that `wanted` says yes to; others are dropped.
    #[inline(always)]
    pub(super) fn try_take<R>(&self, wanted: impl Fn(Arrived<M>) -> Option<R>) -> Option<R> {
        loop {
            if let Some(found) = wanted(self.pop()?) {
                return Some(found);
            }
        }
    }

    /// As [`try_take`](Self::try_take); waits for it, and says so.
    #[inline]
    pub(super) fn poll_take<R>(
        &self,
        cx: &mut Context<'_>,
        wanted: impl Fn(Arrived<M>) -> Option<R>,
        blocked: impl FnOnce(&Resource),
    ) -> Poll<R> {
        let coop = ready!(coop::poll_proceed(cx));
        if let Some(found) = self.try_take(wanted) {
            coop.made_progress();
            return Poll::Ready(found);
        }
        let waiter = Waiter::from_context(cx);
        let old = self.room.with_slot(self.node, |slot| slot.wait_for(waiter));
        drop(old);
        blocked(&self.resource);
        Poll::Pending
    }
}
