//! The receiving end of a mailbox on one node. It outlives the node's crashes; what is in it does
//! not.

use cct_executor::node::NodeId;
use cct_executor::shim::{StateShare, Waiter};
use std::collections::VecDeque;

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

/// What has arrived. In its parts, for they move apart: an [`Event`] moves as one block, which the
/// processor cannot load while its parts are still on their way to memory.
pub(super) struct Arrived<M> {
    /// Its share of `kinds`.
    share: u64,
    pub(super) from: NodeId,
    /// None where the session is a new one.
    pub(super) message: Option<M>,
}

impl<M> From<Arrived<M>> for Event<M> {
    fn from(arrived: Arrived<M>) -> Event<M> {
        let from = arrived.from;
        match arrived.message {
            Some(message) => Event::Message { from, message },
            None => Event::Reconnected { from },
        }
    }
}

/// Two cache lines, in which most of what happens to it happens.
#[repr(align(64))]
pub(super) struct Slot<M> {
    bound: Bound,
    /// How often it was bound.
    bindings: u32,
    /// What arrived first. Invariant: nothing only when `later` is empty.
    first: Option<Arrived<M>>,
    later: VecDeque<Arrived<M>>,
    /// Sum over all that has arrived.
    kinds: u64,
    waiter: Option<Waiter>,
    share: StateShare,
}

const _: () = assert!(size_of::<Option<Slot<u64>>>() == 128, "two cache lines");

/// What a slot held, to be dropped outside of the cell.
pub(super) type Left<M> = (Option<Arrived<M>>, VecDeque<Arrived<M>>, Option<Waiter>);

impl<M> Slot<M> {
    pub(super) fn new(share: StateShare) -> Slot<M> {
        Slot {
            bound: Bound::NotYet,
            bindings: 0,
            first: None,
            later: VecDeque::new(),
            kinds: 0,
            waiter: None,
            share,
        }
    }

    #[inline]
    fn publish(&mut self) {
        let len = usize::from(self.first.is_some()) + self.later.len();
        self.share.set(self.kinds.wrapping_add(len as u64));
    }

    fn empty(&mut self) -> Left<M> {
        self.bound = Bound::Closed;
        self.kinds = 0;
        self.share.set(0);
        let later = std::mem::take(&mut self.later);
        (self.first.take(), later, self.waiter.take())
    }

    /// Binds it; `None` if it is bound. Otherwise the number of this binding, counted from 1.
    pub(super) fn bind(&mut self) -> Option<u32> {
        if self.bound == Bound::Open {
            return None;
        }
        self.bound = Bound::Open;
        self.bindings += 1;
        Some(self.bindings)
    }

    /// The mailbox of this binding is dropped.
    pub(super) fn close(&mut self, binding: u32) -> Option<Left<M>> {
        let open = self.bound == Bound::Open && self.bindings == binding;
        open.then(|| self.empty())
    }

    /// The node goes down.
    pub(super) fn forget(&mut self) -> Left<M> {
        self.empty()
    }

    /// The node is up again: what arrives waits until the mailbox is bound.
    pub(super) fn wait(&mut self) {
        self.bound = Bound::NotYet;
    }

    /// Something arrives, with its share of the abstract state. Returns who is to be woken; or gives
    /// it back, as it is lost.
    #[inline(always)]
    pub(super) fn put(
        &mut self,
        from: NodeId,
        message: Option<M>,
        share: u64,
    ) -> Result<Option<Waiter>, Option<M>> {
        if self.bound == Bound::Closed {
            return Err(message);
        }
        let arrived = Arrived {
            share,
            from,
            message,
        };
        match self.first {
            None => self.first = Some(arrived),
            Some(_) => self.later.push_back(arrived),
        }
        self.kinds = self.kinds.wrapping_add(share);
        self.publish();
        Ok(self.waiter.take())
    }

    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<Arrived<M>> {
        let arrived = self.first.take()?;
        if !self.later.is_empty() {
            self.first = self.later.pop_front();
        }
        self.kinds = self.kinds.wrapping_sub(arrived.share);
        self.publish();
        Some(arrived)
    }

    /// Has somebody wait for what arrives. Returns who did before.
    #[inline]
    pub(super) fn wait_for(&mut self, waiter: Waiter) -> Option<Waiter> {
        self.waiter.replace(waiter)
    }
}
