//! How a mailbox is made.

use super::handle::{Mailbox, Outbox};
use super::line::Route;
use super::registry::registry;
use super::room::Inbox;
use crate::fabric::flow::FlowKind;
use crate::fabric::network;
use cct_executor::node;
use cct_executor::words::fingerprint::variant_of;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::panic::Location;

/// A mailbox about to be bound.
#[must_use = "call bind"]
pub struct Builder<M> {
    name: String,
    kind: FlowKind,
    sessions: bool,
    copy: Option<fn(&M) -> M>,
    pub(super) looks: Looks<M>,
    pub(super) shown: Option<Shown<M>>,
    message: PhantomData<fn(M)>,
}

/// What reports show of a message.
pub(super) type Shown<M> = fn(&M) -> String;

/// What is seen of messages from outside.
pub(super) struct Looks<M> {
    /// What reports call them.
    pub(super) label: &'static str,
    /// What tells one from another in the abstract state.
    pub(super) variant: fn(&M) -> u64,
}

impl<M> Clone for Looks<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Looks<M> {}

impl<M: Send + 'static> Builder<M> {
    pub(super) fn new(name: String) -> Builder<M> {
        Builder {
            name,
            kind: FlowKind::Fifo,
            sessions: false,
            copy: None,
            looks: Looks {
                label: std::any::type_name::<M>(),
                variant: variant_of::<M>,
            },
            shown: None,
            message: PhantomData,
        }
    }

    /// What this mailbox sends may be overtaken by what it sends later.
    pub fn unordered(mut self) -> Builder<M> {
        self.kind = FlowKind::Loose;
        self
    }

    /// What this mailbox sends may arrive twice, where a fault or a rule says so.
    pub fn duplicable(mut self) -> Builder<M>
    where
        M: Clone,
    {
        self.copy = Some(M::clone);
        self
    }

    /// Reports show messages to and from mailboxes of this name as `Debug` does, and not only their type.
    pub fn debug(mut self) -> Builder<M>
    where
        M: fmt::Debug,
    {
        self.shown = Some(|message| format!("{message:?}"));
        self
    }

    /// Receivers of what this mailbox sends learn when a link was cut and is whole again, and when
    /// one of the two nodes restarted: see [`Event::Reconnected`](super::Event::Reconnected).
    pub fn sessions(mut self) -> Builder<M> {
        self.sessions = true;
        self
    }

    /// Binds it on the node of the task that calls.
    ///
    /// # Errors
    /// `AddrInUse` if the node has bound a mailbox of this name, `InvalidInput` if mailboxes of this
    /// name carry other messages, `Unsupported` outside a world.
    #[track_caller]
    pub fn bind(self) -> io::Result<Mailbox<M>> {
        let site = Location::caller();
        let net = network()?;
        let registry = registry().expect("cct bug: a network without a world");
        let name = registry.name::<M>(&self.name)?;
        let here = node::current();
        let room = registry.room::<M>(name, self.looks);
        if let Some(shown) = self.shown {
            room.show(shown);
        }
        let resource = registry.slot(&room, here, site);
        let inbox = Inbox::new(room.clone(), here, resource);
        let Some(binding) = inbox.bind() else {
            let message = format!(
                "mailbox `{}` is bound on node `{}` already",
                self.name,
                node::name_of(here).unwrap_or_default()
            );
            return Err(io::Error::new(io::ErrorKind::AddrInUse, message));
        };
        inbox.introduce(&self.name, site);
        if binding > 1 {
            registry.greet(&net, name, here);
        }
        let route = Route {
            name,
            kind: self.kind,
            sessions: self.sessions,
            from: here,
            site,
        };
        let lines = registry.lines(&route);
        let outbox = Outbox {
            net,
            registry,
            route,
            copy: self.copy,
            room,
            lines,
        };
        Ok(Mailbox::new(self.name, outbox, inbox, binding))
    }
}
