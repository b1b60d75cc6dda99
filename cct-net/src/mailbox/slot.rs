//! The receiving end of a mailbox on one node. It outlives the node's crashes; what is in it does
//! not.

use cct_executor::node::NodeId;
use cct_executor::shim::{Access, OpKind, Resource, ResourceKind, Shared, Waiter};
use cct_executor::task::coop;
use std::collections::VecDeque;
use std::panic::Location;
use std::task::{Context, Poll, ready};

/// What a mailbox receives.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Event<M> {
    /// A message.
    Message {
        /// Who sent it.
        from: NodeId,
        /// What was sent.
        message: M,
    },
    /// The link from this node was cut and is whole again, or one of the two restarted: messages may
    /// be missing before this, and none are between this and what follows.
    Reconnected {
        /// The node at the other end.
        from: NodeId,
    },
}

/// What there is to deliver to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Bound {
    /// Nobody yet, since the node started.
    #[default]
    NotYet,
    Open,
    /// The mailbox was dropped, or the node is down.
    Closed,
}

/// Two cache lines, without the counts of references before them.
#[repr(align(64))]
pub(super) struct Slot<M> {
    resource: Resource,
    state: Shared<State<M>>,
}

const _: () = assert!(size_of::<Slot<u64>>() == 128, "a slot is two cache lines");

struct State<M> {
    bound: Bound,
    /// How often it was bound.
    bindings: u64,
    /// What has arrived, each with its share of `kinds`.
    queue: VecDeque<(u64, Event<M>)>,
    /// Sum over the queue.
    kinds: u64,
    waiter: Option<Waiter>,
}

impl<M> State<M> {
    fn digest(&self) -> u64 {
        self.kinds.wrapping_add(self.queue.len() as u64)
    }

    /// Takes everything out, to be dropped outside of the cell.
    fn empty(&mut self, bound: Bound) -> (VecDeque<(u64, Event<M>)>, Option<Waiter>) {
        self.bound = bound;
        self.kinds = 0;
        (std::mem::take(&mut self.queue), self.waiter.take())
    }
}

impl<M> Slot<M> {
    pub(super) fn new(site: &'static Location<'static>) -> Slot<M> {
        Slot {
            resource: Resource::at(ResourceKind::Socket, site),
            state: Shared::new(State {
                bound: Bound::NotYet,
                bindings: 0,
                queue: VecDeque::new(),
                kinds: 0,
                waiter: None,
            }),
        }
    }

    /// Binds it; `None` if it is bound. Otherwise the number of this binding, counted from 1.
    pub(super) fn bind(&self) -> Option<u64> {
        self.state.with(|state| {
            if state.bound == Bound::Open {
                return None;
            }
            state.bound = Bound::Open;
            state.bindings += 1;
            Some(state.bindings)
        })
    }

    /// The mailbox of this binding is dropped.
    pub(super) fn close(&self, binding: u64) {
        let left = self.state.with(|state| {
            let open = state.bound == Bound::Open && state.bindings == binding;
            open.then(|| state.empty(Bound::Closed))
        });
        if left.is_some() {
            self.resource.set_state(0);
        }
    }

    /// The node goes down.
    pub(super) fn forget(&self) {
        let left = self.state.with(|state| state.empty(Bound::Closed));
        self.resource.set_state(0);
        drop(left);
    }

    /// The node is up again: what arrives waits until the mailbox is bound.
    pub(super) fn wait(&self) {
        self.state.with(|state| state.bound = Bound::NotYet);
    }

    /// Something arrives, with its share of the abstract state. Returns it if it is lost, and who is
    /// to be woken.
    #[inline]
    pub(super) fn put(&self, event: Event<M>, share: u64) -> (Option<Event<M>>, Option<Waiter>) {
        self.state.with(|state| {
            if state.bound == Bound::Closed {
                return (Some(event), None);
            }
            state.queue.push_back((share, event));
            state.kinds = state.kinds.wrapping_add(share);
            self.resource.set_state(state.digest());
            (None, state.waiter.take())
        })
    }

    fn pop(&self) -> Option<Event<M>> {
        self.state.with(|state| {
            let (share, event) = state.queue.pop_front()?;
            state.kinds = state.kinds.wrapping_sub(share);
            self.resource.set_state(state.digest());
            Some(event)
        })
    }

    pub(super) fn sync_point(&self, kind: OpKind, site: &'static Location<'static>) {
        self.resource.sync_point(kind, Access::Write, site);
    }

    pub(super) fn point(&self, site: &'static Location<'static>) -> Poll<()> {
        self.resource.point(OpKind::Recv, Access::Write, site)
    }

    /// The next event that `wanted` says yes to; others are dropped.
    pub(super) fn try_take<R>(&self, wanted: impl Fn(Event<M>) -> Option<R>) -> Option<R> {
        loop {
            if let Some(found) = wanted(self.pop()?) {
                return Some(found);
            }
        }
    }

    /// As [`try_take`](Self::try_take); waits for it.
    pub(super) fn poll_take<R>(
        &self,
        cx: &mut Context<'_>,
        site: &'static Location<'static>,
        wanted: impl Fn(Event<M>) -> Option<R>,
    ) -> Poll<R> {
        let coop = ready!(coop::poll_proceed(cx));
        if let Some(found) = self.try_take(wanted) {
            coop.made_progress();
            return Poll::Ready(found);
        }
        let waiter = Waiter::from_context(cx);
        let old = self.state.with(|state| state.waiter.replace(waiter));
        drop(old);
        self.resource.blocked(OpKind::Recv, site);
        Poll::Pending
    }
}
