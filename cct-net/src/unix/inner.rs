//! A datagram socket as its host keeps it.

use super::SocketAddr;
use crate::errno::{Errno, of_socket};
use crate::host::Hosts;
use crate::io::known::{Known, Told};
use crate::io::{Interest, Ready};
use crate::stream::state::Readiness;
use crate::stream::waiters::{Wait, Waiters};
use bytes::Bytes;
use cct_executor::shim::{self, Resource, ResourceKind, Shared};
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::panic::Location;
use std::sync::{Arc, Weak};
use std::task::{Context, Wake, Waker};

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
    queue: VecDeque<Datagram>,
    /// Sockets that found no room in the queue.
    rejected: Vec<Weak<Inner>>,
    /// What its tasks know of what it is ready for.
    known: Known,
    /// They were not told anything yet.
    fresh: bool,
    readers: Waiters,
    writers: Waiters,
    pub(super) shut_read: bool,
    pub(super) shut_write: bool,
    /// The handle was dropped.
    pub(super) closed: bool,
}

/// A datagram that arrived.
struct Datagram {
    from: SocketAddr,
    sender: Weak<Inner>,
    data: Bytes,
}

/// Between two polls the driver looks at a new socket for the first time.
struct FirstLook(Weak<Inner>);

impl Wake for FirstLook {
    fn wake(self: Arc<Self>) {
        if let Some(inner) = self.0.upgrade() {
            inner.first_look();
        }
    }
}

impl State {
    fn digest(&self) -> u64 {
        (self.queue.len() as u64) << 5 | self.known.digest()
    }
}

impl Inner {
    pub(super) fn new(
        name: SocketAddr,
        hosts: Weak<Hosts>,
        site: &'static Location<'static>,
    ) -> Arc<Inner> {
        let inner = Arc::new(Inner {
            state: Shared::new(State {
                name,
                fresh: true,
                ..State::default()
            }),
            resource: Resource::at(ResourceKind::Socket, site),
            hosts,
        });
        let waker = Waker::from(Arc::new(FirstLook(Arc::downgrade(&inner))));
        shim::after_poll(&waker);
        inner
    }

    /// The driver need not look first: the socket is one of a new pair.
    pub(super) fn suppose_room(&self) {
        self.state.with(|state| {
            state.fresh = false;
            state.known.suppose(Ready::WRITABLE);
        });
    }

    /// The driver looks at the socket for the first time.
    fn first_look(&self) {
        if self.state.with(|state| state.fresh) {
            self.event();
        }
    }

    /// Whoever cannot wait looks at the socket: in the poll that has made it the driver need not have
    /// done so.
    pub(super) fn perhaps_first_look(&self) {
        let label = "whether the runtime has looked at the new socket";
        if self.state.with(|state| state.fresh) && shim::choose(2, label) == 1 {
            self.first_look();
        }
    }

    /// Sends a datagram; `None` if there is no room, or was none when tasks were told last.
    pub(super) fn send(self: &Arc<Self>, to: &Inner, data: &[u8]) -> Option<io::Result<usize>> {
        let (name, shut, told) = self.state.with(|state| {
            let told = state.known.told(Interest::WRITABLE);
            (state.name.clone(), state.shut_write, told)
        });
        if told.ready.is_empty() {
            return None;
        }
        if shut {
            return Some(Err(of_socket(ErrorKind::BrokenPipe)));
        }
        if let Err(error) = self.may_send_to(to) {
            return Some(Err(error));
        }
        let sent = to.take_in(Datagram {
            from: name,
            sender: Arc::downgrade(self),
            data: Bytes::copy_from_slice(data),
        });
        if sent.is_none() {
            self.disprove(told);
        }
        sent
    }

    /// A socket that is connected to another takes nothing from anybody else.
    pub(super) fn may_send_to(self: &Arc<Self>, to: &Inner) -> io::Result<()> {
        let own = Arc::downgrade(self);
        let taken = to.state.with(|state| {
            let peer = state.peer.as_ref();
            peer.is_some_and(|(peer, _)| !peer.ptr_eq(&own))
        });
        match taken {
            true => Err(Errno::EPERM.into()),
            false => Ok(()),
        }
    }

    /// Fails once it was said that nothing more will be sent.
    pub(super) fn check_open(&self) -> io::Result<()> {
        match self.state.with(|state| state.shut_write) {
            true => Err(of_socket(ErrorKind::BrokenPipe)),
            false => Ok(()),
        }
    }

    /// Takes a datagram in; `None` if there is no room.
    fn take_in(&self, datagram: Datagram) -> Option<io::Result<usize>> {
        let count = datagram.data.len();
        let refused = self.state.with(|state| {
            if state.closed {
                return Some(Err(of_socket(ErrorKind::ConnectionRefused)));
            }
            if state.shut_read {
                return Some(Err(of_socket(ErrorKind::BrokenPipe)));
            }
            if state.queue.len() >= QUEUE {
                let known = |one: &Weak<Inner>| one.ptr_eq(&datagram.sender);
                if !state.rejected.iter().any(known) {
                    state.rejected.push(datagram.sender);
                }
                return None;
            }
            state.queue.push_back(datagram);
            Some(Ok(count))
        });
        if matches!(refused, Some(Ok(_))) {
            self.event();
        }
        refused
    }

    /// The next datagram, if there is one and tasks know of it; an empty one when no more will
    /// come.
    pub(super) fn receive(&self) -> Option<(SocketAddr, Bytes)> {
        let told = self.told(Interest::READABLE);
        if told.ready.is_empty() {
            return None;
        }
        let next = self.state.with(|state| {
            let datagram = state.queue.pop_front()?;
            let mut senders = std::mem::take(&mut state.rejected);
            if !senders.iter().any(|one| one.ptr_eq(&datagram.sender)) {
                senders.push(datagram.sender);
            }
            Some((datagram.from, datagram.data, senders, state.digest()))
        });
        match next {
            Some((from, data, senders, digest)) => {
                self.resource.set_state(digest);
                let senders = senders.iter().filter_map(Weak::upgrade);
                senders.for_each(|sender| sender.event());
                Some((from, data))
            }
            None if self.state.with(|state| state.shut_read) => Some(Default::default()),
            None => {
                self.disprove(told);
                None
            }
        }
    }

    /// What tasks were told last.
    pub(super) fn told(&self, interest: Interest) -> Told {
        self.state.with(|state| state.known.told(interest))
    }

    /// Tasks found out that less is true.
    pub(super) fn disprove(&self, told: Told) {
        let digest = self.state.with(|state| {
            state.known.disprove(told);
            state.digest()
        });
        self.resource.set_state(digest);
    }

    /// Tasks are told what the socket is ready for.
    fn event(&self) {
        let ready = self.readiness();
        let mut waiters = Waiters::default();
        let digest = self.state.with(|state| {
            state.fresh = false;
            state.known.event(ready);
            if ready.readable || ready.read_closed {
                state.readers.move_to(&mut waiters);
            }
            if ready.writable || ready.write_closed {
                state.writers.move_to(&mut waiters);
            }
            state.digest()
        });
        self.resource.set_state(digest);
        waiters.wake();
    }

    pub(super) fn wait_to_read(&self, cx: &Context<'_>, wait: Wait) {
        self.state.with(|state| state.readers.register(cx, wait));
    }

    pub(super) fn wait_to_write(&self, cx: &Context<'_>, wait: Wait) {
        self.state.with(|state| state.writers.register(cx, wait));
    }

    /// The socket is closed or shut down: its tasks are told, and all that found no room.
    pub(super) fn ends(&self) {
        let senders = self.state.with(|state| std::mem::take(&mut state.rejected));
        self.event();
        let senders = senders.iter().filter_map(Weak::upgrade);
        senders.for_each(|sender| sender.event());
    }

    /// The socket that `send` sends to.
    pub(super) fn peer(&self) -> io::Result<Arc<Inner>> {
        self.check_open()?;
        self.connected_to()
    }

    fn connected_to(&self) -> io::Result<Arc<Inner>> {
        let peer = self.state.with(|state| {
            let (peer, _) = state.peer.as_ref()?;
            Some(peer.upgrade())
        });
        peer.ok_or_else(|| of_socket(ErrorKind::NotConnected))?
            .ok_or_else(|| of_socket(ErrorKind::ConnectionRefused))
    }

    fn readiness(&self) -> Readiness {
        let room = match self.connected_to() {
            Ok(peer) => peer
                .state
                .with(|state| state.queue.len() < QUEUE || state.closed || state.shut_read),
            Err(_) => true,
        };
        self.state.with(|state| Readiness {
            readable: !state.queue.is_empty() || state.shut_read,
            writable: room || state.shut_write,
            read_closed: state.shut_read,
            write_closed: state.shut_read && state.shut_write,
            error: false,
        })
    }
}
