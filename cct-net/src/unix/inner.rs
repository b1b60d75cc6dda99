//! A datagram socket as its host keeps it.

use super::SocketAddr;
use crate::host::Hosts;
use crate::io::{Interest, Ready};
use crate::stream::state::Readiness;
use crate::stream::waiters::{Wait, Waiters};
use bytes::Bytes;
use cct_executor::shim::{Resource, ResourceKind, Shared};
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::panic::Location;
use std::sync::{Arc, Weak};
use std::task::Context;

/// How many datagrams wait at a socket before senders do: that of Linux.
const QUEUE: usize = 11;

/// A socket.
pub(crate) struct Inner {
    pub(super) state: Shared<State>,
    pub(super) resource: Resource,
    pub(super) hosts: Weak<Hosts>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) name: SocketAddr,
    /// The other socket, and what it was called.
    pub(super) peer: Option<(Weak<Inner>, SocketAddr)>,
    queue: VecDeque<(SocketAddr, Bytes)>,
    readers: Waiters,
    /// Who waits for room in this socket's queue.
    writers: Waiters,
    pub(super) shut_read: bool,
    pub(super) shut_write: bool,
    /// The handle was dropped.
    pub(super) closed: bool,
}

impl Inner {
    pub(super) fn new(
        name: SocketAddr,
        hosts: Weak<Hosts>,
        site: &'static Location<'static>,
    ) -> Arc<Inner> {
        Arc::new(Inner {
            state: Shared::new(State {
                name,
                ..State::default()
            }),
            resource: Resource::at(ResourceKind::Socket, site),
            hosts,
        })
    }

    /// Takes a datagram in; `None` if there is no room.
    pub(super) fn push(&self, from: &SocketAddr, data: &[u8]) -> Option<io::Result<usize>> {
        let pushed = self.state.with(|state| {
            if state.closed {
                return Some(Err(ErrorKind::ConnectionRefused));
            }
            if state.shut_read {
                return Some(Err(ErrorKind::BrokenPipe));
            }
            if state.queue.len() >= QUEUE {
                return None;
            }
            let datagram = (from.clone(), Bytes::copy_from_slice(data));
            state.queue.push_back(datagram);
            let waiters = std::mem::take(&mut state.readers);
            Some(Ok((waiters, state.queue.len() as u64)))
        })?;
        Some(match pushed {
            Err(kind) => Err(kind.into()),
            Ok((waiters, digest)) => {
                self.resource.set_state(digest);
                waiters.wake();
                Ok(data.len())
            }
        })
    }

    /// The next datagram; an empty one when no more will come.
    pub(super) fn pop(&self) -> Option<(SocketAddr, Bytes)> {
        let (datagram, writers, digest) = self.state.with(|state| {
            let datagram = state.queue.pop_front()?;
            let writers = std::mem::take(&mut state.writers);
            Some((datagram, writers, state.queue.len() as u64))
        })?;
        self.resource.set_state(digest);
        writers.wake();
        Some(datagram)
    }

    /// Whether receiving is over.
    pub(super) fn is_shut(&self) -> bool {
        self.state.with(|state| state.shut_read)
    }

    pub(super) fn wait_to_read(&self, cx: &Context<'_>, wait: Wait) {
        self.state.with(|state| state.readers.register(cx, wait));
    }

    pub(super) fn wait_for_room(&self, cx: &Context<'_>, wait: Wait) {
        self.state.with(|state| state.writers.register(cx, wait));
    }

    /// Wakes everybody: the socket is closed, or shut down.
    pub(super) fn wake_all(&self) {
        let mut waiters = Waiters::default();
        self.state.with(|state| {
            state.readers.move_to(&mut waiters);
            state.writers.move_to(&mut waiters);
        });
        waiters.wake();
    }

    /// The socket that `send` sends to.
    pub(super) fn peer(&self) -> io::Result<Arc<Inner>> {
        let peer = self.state.with(|state| {
            let (peer, _) = state.peer.as_ref()?;
            Some(peer.upgrade())
        });
        peer.ok_or(ErrorKind::NotConnected)?
            .ok_or_else(|| ErrorKind::ConnectionRefused.into())
    }

    pub(super) fn readiness(&self, interest: Interest) -> Ready {
        let room = match self.peer() {
            Ok(peer) => peer.state.with(|state| state.queue.len() < QUEUE),
            Err(_) => true,
        };
        let ready = self.state.with(|state| Readiness {
            readable: !state.queue.is_empty() || state.shut_read,
            writable: room || state.shut_write,
            read_closed: state.shut_read,
            write_closed: state.shut_read && state.shut_write,
            error: false,
        });
        Ready::of(ready, interest)
    }
}
