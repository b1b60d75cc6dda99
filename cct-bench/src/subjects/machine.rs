//! State machines that send each other messages, as P# has them: what the protocols are built on.
//!
//! 1. Scheduling points: before a machine is created, before a message is sent, and before one is
//!    handled. Data choices are none. A machine without a message that it would take is not
//!    enabled. As in P#, a message has left the inbox when the point before its handler is passed,
//!    and a machine that may act without a message passes a point before it looks for one.
//! 2. A machine runs [`Machine::start`] when it is first picked, then one handler per message.
//!    Messages of a kind that it defers stay in the inbox; those of a kind that it ignores vanish
//!    when it next looks for a message, and until then count as contents of the inbox, as in P#.
//! 3. A halted machine takes nothing; what is sent to it vanishes.
//! 4. The iteration ends when no machine can go on.
//!
//! [`run_as_p`] runs machines as P has them (Desai, Qadeer, Seshia, ESEC/FSE 2015, section 5: points
//! are at enqueueing, at blocking in a dequeue and at creation): taking a message that is there is no
//! point. There the fingerprint also says whose inbox it is, and how far its machine is within a
//! handler: the message, values drawn by [`Me::coin`], and what was sent. So, with observed
//! variables, it is the whole state, as it was in the cache of the authors' model checker.
//!
//! Three parts of the fingerprint tell states apart. `contents`: the messages in each inbox, in
//! order, of which only the kind counts unless [`Message::digest`] says more. The rest of the default
//! state: pending operations, and the state that each machine is in, as a mark that it holds the way a
//! task holds a lock. `observed`: what [`Machine::digest`] says.

mod inbox;
mod me;
mod system;

pub(crate) use inbox::Address;
pub(crate) use me::Me;

use cct_executor::observe;
use me::Next;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::sync::Arc;
use std::task::Poll;
use system::System;

/// What machines send.
pub(crate) trait Message: Clone + Send + 'static {
    /// The kind of message, below 64.
    fn kind(&self) -> u32;

    /// What the fingerprint sees of it while it is in an inbox: its kind, or more.
    fn digest(&self) -> u64 {
        u64::from(self.kind()) + 1
    }
}

/// A state machine.
pub(crate) trait Machine: Send + 'static {
    /// What it is sent.
    type Message: Message;
    /// What kind of machine it is.
    const NAME: &'static str;

    /// What it does first.
    fn start(&mut self, me: &mut Me<Self::Message>);

    /// Takes a message.
    fn handle(&mut self, me: &mut Me<Self::Message>, message: Self::Message);

    /// The kinds of messages, as bits, that it leaves in the inbox now.
    fn deferred(&self) -> u64 {
        0
    }

    /// The kinds of messages, as bits, that it drops unhandled now.
    fn ignored(&self) -> u64 {
        0
    }

    /// Whether it may act now although it has no message to take.
    fn acts_unasked(&self) -> bool {
        false
    }

    /// Acts without a message.
    fn act(&mut self, _me: &mut Me<Self::Message>) {}

    /// The custom abstraction of its variables, if it has one.
    fn digest(&self) -> Option<u64> {
        None
    }
}

/// The task of a machine.
async fn live<C: Machine>(mut machine: C, mut me: Me<C::Message>) {
    machine.start(&mut me);
    loop {
        if let Some(digest) = machine.digest() {
            observe::each(C::NAME, me.address.0.number, digest);
        }
        if me.halting {
            break;
        }
        let (deferred, ignored) = (machine.deferred(), machine.ignored());
        match me.receive(deferred, ignored, machine.acts_unasked()).await {
            Next::Message(message) => machine.handle(&mut me, message),
            Next::Unasked => machine.act(&mut me),
            Next::Over => return,
        }
    }
    me.close();
    let inbox = &*me.address.0;
    me.address.tell_state(1);
    if let Some(state) = me.state.take() {
        inbox.system.marks[state].released();
    }
    inbox.system.rests();
    if me.is_root {
        poll_fn(|cx| match inbox.system.is_over(cx) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
    }
}

/// Runs a machine, and all that it creates, until no machine can go on.
#[track_caller]
pub(crate) fn run<R: Machine>(root: R) -> impl Future<Output = ()> {
    begin(root, false)
}

/// Runs a machine, and all that it creates, with the scheduling points of P.
#[track_caller]
pub(crate) fn run_as_p<R: Machine>(root: R) -> impl Future<Output = ()> {
    begin(root, true)
}

#[track_caller]
fn begin<R: Machine>(root: R, as_p: bool) -> impl Future<Output = ()> {
    let site = Location::caller();
    async move {
        let system = Arc::new(System::new(as_p));
        let address = Address::new(&system);
        live(root, Me::new(address, true, site)).await;
    }
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
