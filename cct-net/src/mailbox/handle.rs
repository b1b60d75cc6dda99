//! The two ends that user code holds.

use super::Peer;
use super::builder::Builder;
use super::letter::Letter;
use super::line::{Lines, Route};
use super::peer::no_node;
use super::registry::Registry;
use super::room::{Inbox, Room};
use super::slot::{Arrived, Event};
use crate::fabric::{FlowId, Net, Network};
use cct_executor::node::{self, NodeId};
use cct_executor::shim::{Looks, OpKind, Resource, Source, WaitNote};
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// A mailbox that is bound on a node. When it is dropped, what arrives for it is lost.
pub struct Mailbox<M: Send + 'static> {
    name: String,
    outbox: Outbox<M>,
    inbox: Inbox<M>,
    binding: u32,
    /// A direct poll returned `Pending`: its scheduling point was passed.
    looks: Looks,
}

/// Sends what its mailbox could send, from any task. Clones are alike.
pub struct Sender<M: Send + 'static>(pub(super) Outbox<M>);

/// The sending end. Each handle has one of its own, so that what it leads to is one step away.
pub(super) struct Outbox<M> {
    pub(super) net: Net,
    pub(super) registry: Source<Registry>,
    pub(super) route: Route,
    pub(super) copy: Option<fn(&M) -> M>,
    pub(super) room: Arc<Room<M>>,
    pub(super) lines: Arc<Lines>,
}

impl<M> Clone for Outbox<M> {
    fn clone(&self) -> Self {
        Outbox {
            net: self.net.clone(),
            registry: self.registry.clone(),
            room: self.room.clone(),
            lines: self.lines.clone(),
            ..*self
        }
    }
}

impl<M: Send + 'static> Outbox<M> {
    #[track_caller]
    fn send(&self, to: impl Peer, message: M) -> io::Result<()> {
        let to = to.node()?;
        let flow = self.line(to)?;
        self.room.send_point(to, Location::caller());
        self.send_on(flow, to, message);
        Ok(())
    }

    /// Sends without a scheduling point.
    pub(super) fn send_now(&self, to: NodeId, message: M) -> io::Result<()> {
        self.send_on(self.line(to)?, to, message);
        Ok(())
    }

    fn send_on(&self, flow: FlowId, to: NodeId, message: M) {
        let letter = Letter::new(&self.room, (self.route.from, to), message, self.copy);
        Network::send(&self.net, flow, letter);
    }

    /// The flow to a node, opened when it is first used.
    fn line(&self, to: NodeId) -> io::Result<FlowId> {
        match self.lines.get(to) {
            Some(flow) => Ok(flow),
            None => self.open(to),
        }
    }

    #[cold]
    fn open(&self, to: NodeId) -> io::Result<FlowId> {
        if !node::exists(to) {
            return Err(no_node(to));
        }
        // The receiving end is there before anything is sent to it.
        self.registry.slot(&self.room, to, self.route.site);
        let flow = self.route.open(&self.net, to, &self.room);
        self.lines.set(to, flow);
        Ok(flow)
    }
}

impl<M: Send + 'static> Mailbox<M> {
    pub(super) fn new(
        name: String,
        outbox: Outbox<M>,
        inbox: Inbox<M>,
        binding: u32,
    ) -> Mailbox<M> {
        Mailbox {
            name,
            outbox,
            inbox,
            binding,
            looks: Looks::new(),
        }
    }

    /// Binds a mailbox on the node of the task that calls, as it is without options.
    ///
    /// # Errors
    /// As for [`Builder::bind`].
    #[track_caller]
    pub fn bind(name: impl Into<String>) -> io::Result<Mailbox<M>> {
        Builder::new(name.into()).bind()
    }

    /// A mailbox with options.
    pub fn builder(name: impl Into<String>) -> Builder<M> {
        Builder::new(name.into())
    }

    /// The name it was bound under.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The node it was bound on.
    pub fn node(&self) -> NodeId {
        self.outbox.route.from
    }

    /// Something to send with from other tasks.
    pub fn sender(&self) -> Sender<M> {
        Sender(self.outbox.clone())
    }

    /// The how manieth binding of the name on its node it is, from 1.
    pub(super) fn binding(&self) -> u64 {
        u64::from(self.binding)
    }

    /// Sends a message to the mailbox of this name on another node, or the same.
    ///
    /// Nobody is told when it is lost.
    ///
    /// # Scheduling points
    /// One, before it sends, at granularity `sync`.
    ///
    /// # Errors
    /// `NotFound` if there is no such node.
    #[track_caller]
    pub fn send(&self, to: impl Peer, message: M) -> io::Result<()> {
        self.outbox.send(to, message)
    }

    /// Waits for the next message. News of sessions are skipped.
    ///
    /// # Scheduling points
    /// One, before it looks.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = (NodeId, M)> + Send + use<'_, M> {
        self.recv_at(Location::caller())
    }

    /// As [`recv`](Self::recv), at a place of user code.
    pub(super) fn recv_at(
        &mut self,
        site: &'static Location<'static>,
    ) -> impl Future<Output = (NodeId, M)> + Send + use<'_, M> {
        self.take(site, message)
    }

    /// Waits for the next message, or news of a session.
    ///
    /// # Scheduling points
    /// One, before it looks.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    #[track_caller]
    pub fn recv_event(&mut self) -> impl Future<Output = Event<M>> + Send + use<'_, M> {
        self.take(Location::caller(), event)
    }

    /// The next message, if one has arrived. News of sessions are skipped.
    ///
    /// # Scheduling points
    /// One, before it looks, at granularity `sync`.
    #[track_caller]
    pub fn try_recv(&mut self) -> Option<(NodeId, M)> {
        self.inbox.sync_point(OpKind::TryRecv, Location::caller());
        self.inbox.try_take(message)
    }

    /// The next message or news of a session, if there is any.
    ///
    /// # Scheduling points
    /// One, before it looks, at granularity `sync`.
    #[track_caller]
    pub fn try_recv_event(&mut self) -> Option<Event<M>> {
        self.inbox.sync_point(OpKind::TryRecv, Location::caller());
        self.inbox.try_take(event)
    }

    /// Polls for the next message. News of sessions are skipped.
    ///
    /// # Scheduling points
    /// One, before it looks.
    #[track_caller]
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<(NodeId, M)> {
        let site = Location::caller();
        ready!(self.looks.pass(|| self.inbox.point(site)));
        let blocked = |resource: &Resource| resource.blocked(OpKind::Recv, site);
        let received = ready!(self.inbox.poll_take(cx, message, blocked));
        self.looks = Looks::new();
        Poll::Ready(received)
    }

    fn take<R, W: Fn(Arrived<M>) -> Option<R> + Copy + Send>(
        &mut self,
        site: &'static Location<'static>,
        wanted: W,
    ) -> impl Future<Output = R> + Send + use<'_, M, R, W> {
        self.looks = Looks::new();
        let (mut looks, note) = (Looks::new(), WaitNote::default());
        poll_fn(move |cx| {
            ready!(looks.pass(|| self.inbox.point(site)));
            self.inbox.poll_take(cx, wanted, |resource| {
                resource.blocked_while(&note, OpKind::Recv, site);
            })
        })
    }
}

#[inline]
fn message<M>(arrived: Arrived<M>) -> Option<(NodeId, M)> {
    Some((arrived.from, arrived.message?))
}

fn event<M>(arrived: Arrived<M>) -> Option<Event<M>> {
    Some(arrived.into())
}

impl<M: Send + 'static> Drop for Mailbox<M> {
    fn drop(&mut self) {
        self.inbox.close(self.binding);
    }
}

impl<M: Send + 'static> fmt::Debug for Mailbox<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mailbox")
            .field("name", &self.name)
            .field("node", &self.outbox.route.from.0)
            .finish_non_exhaustive()
    }
}

impl<M: Send + 'static> Sender<M> {
    /// As [`Mailbox::send`].
    ///
    /// # Scheduling points
    /// One, before it sends, at granularity `sync`.
    ///
    /// # Errors
    /// `NotFound` if there is no such node.
    #[track_caller]
    pub fn send(&self, to: impl Peer, message: M) -> io::Result<()> {
        self.0.send(to, message)
    }

    /// The node that it sends from.
    pub fn node(&self) -> NodeId {
        self.0.route.from
    }
}

impl<M: Send + 'static> Clone for Sender<M> {
    fn clone(&self) -> Self {
        Sender(self.0.clone())
    }
}

impl<M: Send + 'static> fmt::Debug for Sender<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("node", &self.0.route.from.0)
            .finish_non_exhaustive()
    }
}
