//! Inboxes, and the addresses by which they are known.

use super::Message;
use super::system::System;
use cct_executor::shim::{Resource, ResourceKind, Shared, Waiter};
use cct_executor::words::fingerprint::mix2;
use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Where a machine's messages go.
pub(crate) struct Address<M>(pub(super) Arc<Inbox<M>>);

pub(super) struct Inbox<M> {
    pub(super) resource: Resource,
    pub(super) number: u64,
    pub(super) system: Arc<System>,
    pub(super) queue: Shared<Queue<M>>,
}

pub(super) struct Queue<M> {
    pub(super) messages: VecDeque<M>,
    /// As in P: how far its machine is within a handler. Stays 0 as in P#.
    pub(super) progress: u64,
    pub(super) deferred: u64,
    pub(super) ignored: u64,
    /// Present while the machine is blocked.
    pub(super) waiter: Option<Waiter>,
    pub(super) halted: bool,
}

impl<M> Clone for Address<M> {
    fn clone(&self) -> Self {
        Address(self.0.clone())
    }
}

impl<M> PartialEq for Address<M> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<M> Hash for Address<M> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.number.hash(state);
    }
}

impl<M: Message> Queue<M> {
    /// The first message that would be taken.
    fn next(&self) -> Option<usize> {
        let passed = self.deferred | self.ignored;
        let taken = |message: &M| passed >> message.kind() & 1 == 0;
        self.messages.iter().position(taken)
    }

    /// Takes the first message that is neither deferred nor ignored. Ignored ones before it vanish.
    pub(super) fn take(&mut self) -> Option<M> {
        let before = self.next().unwrap_or(self.messages.len());
        let (mut at, ignored) = (0, self.ignored);
        for _ in 0..before {
            match ignored >> self.messages[at].kind() & 1 {
                0 => at += 1,
                _ => drop(self.messages.remove(at)),
            }
        }
        self.messages.remove(at)
    }

    pub(super) fn digest(&self) -> u64 {
        let messages = self.messages.iter().map(Message::digest);
        let halted = u64::from(self.halted);
        messages.fold(halted.wrapping_sub(self.progress), mix2)
    }
}

impl<M: Message> Address<M> {
    #[track_caller]
    pub(super) fn new(system: &Arc<System>) -> Address<M> {
        let number = system.life.with(|life| {
            life.machines += 1;
            life.busy += 1;
            life.machines
        });
        let inbox = Inbox {
            resource: Resource::new(ResourceKind::User),
            number,
            system: system.clone(),
            queue: Shared::new(Queue {
                messages: VecDeque::new(),
                progress: 0,
                deferred: 0,
                ignored: 0,
                waiter: None,
                halted: false,
            }),
        };
        let address = Address(Arc::new(inbox));
        address.tell_state(0);
        address
    }

    /// What is in the inbox, for the fingerprint.
    pub(super) fn tell_state(&self, digest: u64) {
        let inbox = &*self.0;
        inbox.resource.set_state(if inbox.system.as_p {
            mix2(inbox.number, digest)
        } else {
            digest
        });
    }

    /// Which machine it is, in the order of creation.
    pub(crate) fn number(&self) -> u64 {
        self.0.number
    }

    pub(super) fn enqueue(&self, message: M) {
        let (waiter, digest) = self.0.queue.with(|queue| {
            if queue.halted {
                return (None, queue.digest());
            }
            queue.messages.push_back(message);
            let wake = queue.waiter.is_some() && queue.next().is_some();
            let waiter = if wake { queue.waiter.take() } else { None };
            (waiter, queue.digest())
        });
        self.tell_state(digest);
        if let Some(waiter) = waiter {
            self.0.system.life.with(|life| life.busy += 1);
            waiter.wake();
        }
    }
}
