//! Connections between the servers: in order, and what is under way when one is cut is lost.

use crate::{LINKS, SERVERS, Write};
use cct_executor::spawn;
use cct_sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use omnipaxos::messages::Message;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// What reaches a server.
pub(crate) enum Event {
    /// A message from another server.
    Message(Message<Write>),
    /// A write from a client.
    Write(Write),
    /// The connection to this server is back.
    Connected(u64),
}

/// A message under way, and the session in which it was sent.
struct Sent {
    session: u32,
    message: Message<Write>,
}

/// A connection, which both directions share.
struct Link {
    up: AtomicBool,
    /// How many times it came back. What was sent in an earlier session is lost.
    session: AtomicU32,
}

/// All connections, and all ways into a server.
pub(crate) struct Network {
    links: BTreeMap<(u64, u64), Arc<Link>>,
    wires: BTreeMap<(u64, u64), UnboundedSender<Sent>>,
    inboxes: BTreeMap<u64, UnboundedSender<Event>>,
}

impl Network {
    /// All links up; also gives each server's inbox.
    pub(crate) fn new() -> (Arc<Self>, Vec<(u64, UnboundedReceiver<Event>)>) {
        let mut network = Network {
            links: BTreeMap::new(),
            wires: BTreeMap::new(),
            inboxes: BTreeMap::new(),
        };
        let mut receivers = Vec::new();
        for server in SERVERS {
            let (inbox, receiver) = unbounded_channel();
            network.inboxes.insert(server, inbox);
            receivers.push((server, receiver));
        }
        for (a, b) in LINKS {
            let link = Arc::new(Link {
                up: AtomicBool::new(true),
                session: AtomicU32::new(0),
            });
            for (from, to) in [(a, b), (b, a)] {
                let (wire, sent) = unbounded_channel();
                network.wires.insert((from, to), wire);
                spawn(carry(Arc::clone(&link), sent, network.inboxes[&to].clone()));
            }
            network.links.insert((a, b), link);
        }
        (Arc::new(network), receivers)
    }

    /// Sends along the link, or nowhere when it is down.
    pub(crate) fn send(&self, message: Message<Write>) {
        let (from, to) = (message.get_sender(), message.get_receiver());
        let link = &self.links[&(from.min(to), from.max(to))];
        if link.up.load(Relaxed) {
            let session = link.session.load(Relaxed);
            let _ = self.wires[&(from, to)].send(Sent { session, message });
        }
    }

    /// Hands a client's write to a server.
    pub(crate) fn write(&self, server: u64, write: Write) {
        let _ = self.inboxes[&server].send(Event::Write(write));
    }

    /// Cuts a link, or brings it back and tells both ends.
    pub(crate) fn set_up(&self, a: u64, b: u64, up: bool) {
        let link = &self.links[&(a, b)];
        if link.up.swap(up, Relaxed) == up {
            return;
        }
        if up {
            link.session.fetch_add(1, Relaxed);
            let _ = self.inboxes[&a].send(Event::Connected(b));
            let _ = self.inboxes[&b].send(Event::Connected(a));
        }
    }
}

/// One direction of a link.
async fn carry(link: Arc<Link>, mut sent: UnboundedReceiver<Sent>, inbox: UnboundedSender<Event>) {
    while let Some(Sent { session, message }) = sent.recv().await {
        if link.up.load(Relaxed) && link.session.load(Relaxed) == session {
            let _ = inbox.send(Event::Message(message));
        }
    }
}
