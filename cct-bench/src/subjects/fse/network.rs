//! The network between the nodes of a deployed program: each node sends through a machine of its
//! own and receives through another one, and messages may get lost.
//!
//! Source: the network layer of the P samples (p-org/P at ea19e2a, `Doc/Samples/DistributedSystems/
//! 2PC/MessageLossNoFailure` and `BuggyModels/4_.p`), by the authors of the FSE'15 paper. There a
//! coin says of every message whether it is lost, and as in the samples nothing is sent again.
//!
//! Departures: nodes are created in place, not by messages to node managers; as nothing is sent
//! again, there is no coin for a lost acknowledgement and no number to tell copies apart.

use crate::subjects::machine::{Address, Machine, Me, Message};
use cct_executor::words::fingerprint::mix2;
use std::marker::PhantomData;

/// Where a node's messages are sent to: its receiver.
pub(super) type Port<M> = Address<Parcel<M>>;

/// What the machines of the network take.
#[derive(Clone)]
pub(super) enum Parcel<M> {
    /// The receiver's node.
    Host(Address<M>),
    /// From a node to its sender.
    Post(Port<M>, M),
    /// From a sender to a receiver.
    Carried(M),
}

impl<M: Message> Message for Parcel<M> {
    fn kind(&self) -> u32 {
        match self {
            Parcel::Host(_) => 0,
            Parcel::Post(..) => 1,
            Parcel::Carried(_) => 2,
        }
    }

    fn digest(&self) -> u64 {
        match self {
            Parcel::Host(_) => 1,
            Parcel::Post(to, message) => mix2(2 + to.number(), message.digest()),
            Parcel::Carried(message) => mix2(0, message.digest()),
        }
    }
}

/// A node's side of the network.
pub(super) struct Link<M> {
    sender: Port<M>,
    receiver: Port<M>,
}

impl<M> Clone for Link<M> {
    fn clone(&self) -> Self {
        Link {
            sender: self.sender.clone(),
            receiver: self.receiver.clone(),
        }
    }
}

impl<M: Message> Link<M> {
    /// Both machines of a node that is yet to be created.
    pub(super) fn new<N: Message>(me: &Me<N>) -> Link<M> {
        Link {
            sender: me.create(Sender(PhantomData)),
            receiver: me.create(Receiver { host: None }),
        }
    }

    /// The node is in place: it can be sent to from now on.
    pub(super) fn attach<N: Message>(&self, me: &Me<N>, host: &Address<M>) {
        me.send(&self.receiver, Parcel::Host(host.clone()));
    }

    /// What others send to.
    pub(super) fn port(&self) -> Port<M> {
        self.receiver.clone()
    }

    /// Sends a message, which may get lost.
    pub(super) fn send(&self, me: &Me<M>, to: &Port<M>, message: M) {
        me.send(&self.sender, Parcel::Post(to.clone(), message));
    }
}

struct Sender<M>(PhantomData<M>);

impl<M: Message> Machine for Sender<M> {
    type Message = Parcel<M>;
    const NAME: &'static str = "sender";

    fn start(&mut self, _: &mut Me<Parcel<M>>) {}

    fn handle(&mut self, me: &mut Me<Parcel<M>>, parcel: Parcel<M>) {
        if let Parcel::Post(to, message) = parcel {
            let lost = me.coin();
            if !lost {
                me.send(&to, Parcel::Carried(message));
            }
        }
    }
}

struct Receiver<M> {
    host: Option<Address<M>>,
}

impl<M: Message> Machine for Receiver<M> {
    type Message = Parcel<M>;
    const NAME: &'static str = "receiver";

    fn start(&mut self, _: &mut Me<Parcel<M>>) {}

    fn handle(&mut self, me: &mut Me<Parcel<M>>, parcel: Parcel<M>) {
        match (parcel, &self.host) {
            (Parcel::Host(host), _) => self.host = Some(host),
            (Parcel::Carried(message), Some(host)) => me.send(host, message),
            _ => {}
        }
    }

    /// Leaves messages in the inbox until it knows for whom they are.
    fn deferred(&self) -> u64 {
        if self.host.is_none() { 1 << 2 } else { 0 }
    }

    fn digest(&self) -> Option<u64> {
        Some(u64::from(self.host.is_some()))
    }
}
