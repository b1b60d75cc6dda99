//! What a machine can do.

use super::inbox::Address;
use super::{Machine, Message, live};
use cct_executor::shim::{Access, OpKind, Waiter};
use cct_executor::words::fingerprint::mix2;
use cct_executor::{nondet, spawn};
use std::future::poll_fn;
use std::panic::Location;
use std::task::{Context, Poll};

/// A machine's own view of itself.
pub(crate) struct Me<M> {
    pub(super) address: Address<M>,
    /// The mark it holds, if any.
    pub(super) state: Option<usize>,
    pub(super) halting: bool,
    /// Its task is that of the scenario.
    pub(super) is_root: bool,
    site: &'static Location<'static>,
}

impl<M> Drop for Me<M> {
    fn drop(&mut self) {
        // Messages hold addresses, and so would hold one another for ever.
        self.close();
    }
}

impl<M> Me<M> {
    pub(super) fn close(&self) {
        let messages = self.address.0.queue.with(|queue| {
            queue.halted = true;
            std::mem::take(&mut queue.messages)
        });
        drop(messages);
    }
}

impl<M: Message> Me<M> {
    pub(super) fn new(
        address: Address<M>,
        is_root: bool,
        site: &'static Location<'static>,
    ) -> Me<M> {
        Me {
            address,
            state: None,
            halting: false,
            is_root,
            site,
        }
    }

    /// Where its messages go.
    pub(crate) fn address(&self) -> Address<M> {
        self.address.clone()
    }

    /// Sends a message. A scheduling point.
    #[track_caller]
    pub(crate) fn send<N: Message>(&self, to: &Address<N>, message: N) {
        self.progresses(to.0.number, &message);
        let resource = &to.0.resource;
        let point = resource.point(OpKind::Send, Access::Write, Location::caller());
        if point.is_ready() {
            to.enqueue(message);
        }
    }

    /// Creates a machine. A scheduling point.
    #[track_caller]
    pub(crate) fn create<C: Machine>(&self, machine: C) -> Address<C::Message> {
        self.goes_on(0);
        self.pass_creation(Location::caller());
        let address = Address::new(&self.address.0.system);
        self.begin(address.clone(), machine, Location::caller());
        address
    }

    /// A fair coin, false first.
    pub(crate) fn coin(&self) -> bool {
        let drawn = nondet::boolean();
        self.goes_on(1 + u64::from(drawn));
        drawn
    }

    /// This message is about to be sent, or is being handled.
    fn progresses<N: Message>(&self, number: u64, message: &N) {
        if self.address.0.system.as_p {
            self.goes_on(mix2(number, message.digest()));
        }
    }

    fn goes_on(&self, what: u64) {
        let inbox = &*self.address.0;
        if inbox.system.as_p {
            let digest = inbox.queue.with(|queue| {
                queue.progress = mix2(queue.progress, what);
                queue.digest()
            });
            self.address.tell_state(digest);
        }
    }

    /// The address of a machine that is [created](Self::create_named) later.
    #[track_caller]
    pub(crate) fn name<N: Message>(&self) -> Address<N> {
        Address::new(&self.address.0.system)
    }

    /// Creates a machine that has an address already. A scheduling point.
    #[track_caller]
    pub(crate) fn create_named<C: Machine>(&self, address: &Address<C::Message>, machine: C) {
        self.pass_creation(Location::caller());
        self.begin(address.clone(), machine, Location::caller());
    }

    fn pass_creation(&self, site: &'static Location<'static>) {
        let resource = &self.address.0.resource;
        let _ = resource.point(OpKind::Spawn, Access::Read, site);
    }

    #[track_caller]
    fn begin<C: Machine>(
        &self,
        address: Address<C::Message>,
        machine: C,
        site: &'static Location<'static>,
    ) {
        drop(spawn(live(machine, Me::new(address, false, site))));
    }

    /// It is in this state from now on.
    pub(crate) fn enter(&mut self, state: usize) {
        let marks = &self.address.0.system.marks;
        if let Some(before) = self.state.replace(state) {
            marks[before].released();
        }
        marks[state].acquired(self.site);
    }

    /// Halts once the handler returns.
    pub(crate) fn halt(&mut self) {
        self.halting = true;
    }

    /// Takes the next message. A scheduling point, unless it has to wait. What it takes, if
    /// anything, is settled before the point. A machine that may act unasked passes one more point,
    /// before it looks whether there is a message.
    pub(super) async fn receive(&mut self, deferred: u64, ignored: u64, unasked: bool) -> Next<M> {
        let inbox = &*self.address.0;
        inbox.queue.with(|queue| {
            queue.deferred = deferred;
            queue.ignored = ignored;
            queue.progress = 0;
        });
        if unasked {
            let kind = OpKind::Send; // P# says that it sends itself the order to act.
            poll_fn(|_| inbox.resource.point(kind, Access::Read, self.site)).await;
        }
        let mut resting = false;
        poll_fn(|cx| {
            let message = match self.take() {
                Some(message) if inbox.system.as_p => return Poll::Ready(Next::Message(message)),
                message => message,
            };
            if message.is_some() || unasked {
                let point = inbox.resource.point(OpKind::Recv, Access::Write, self.site);
                return point.map(|()| message.map_or(Next::Unasked, Next::Message));
            }
            if !resting {
                resting = true;
                inbox.system.rests();
            }
            if self.is_root && inbox.system.is_over(cx) {
                return Poll::Ready(Next::Over);
            }
            self.wait(cx)
        })
        .await
    }

    fn take(&self) -> Option<M> {
        let inbox = &*self.address.0;
        let (message, digest) = inbox.queue.with(|queue| {
            let message = queue.take();
            if let (true, Some(message)) = (inbox.system.as_p, &message) {
                queue.progress = mix2(1, message.digest());
            }
            (message, queue.digest())
        });
        self.address.tell_state(digest);
        message
    }

    fn wait(&self, cx: &Context<'_>) -> Poll<Next<M>> {
        let inbox = &*self.address.0;
        let waiter = Waiter::from_context(cx);
        let digest = inbox.queue.with(|queue| {
            queue.waiter = Some(waiter);
            queue.digest()
        });
        if inbox.system.as_p {
            self.address.tell_state(digest);
        }
        let (resource, kind) = (&inbox.resource, OpKind::Recv);
        resource.pending(kind, Access::Write, self.site);
        resource.blocked(kind, self.site);
        Poll::Pending
    }
}

/// What [`Me::receive`] came back with.
pub(super) enum Next<M> {
    Message(M),
    /// No message: the machine acts unasked.
    Unasked,
    /// Everything is over.
    Over,
}
