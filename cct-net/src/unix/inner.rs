//! A datagram socket as its host keeps it.

use super::SocketAddr;
use crate::errno::{Errno, of_socket};
use crate::host::Hosts;
use crate::io::known::{Known, Told};
use crate::io::{Interest, Ready};
use crate::stream::state::Readiness;
use crate::stream::waiters::{Wait, Waiters, Wakes};
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
    /// What the next operation is told.
    error: Option<ErrorKind>,
    /// What its tasks know of what it is ready for.
    known: Known,
    /// They were not told anything yet.
    fresh: bool,
    pub(super) waiters: Waiters,
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
        inner.await_first_look();
        inner
    }

    fn await_first_look(self: &Arc<Self>) {
        let waker = Waker::from(Arc::new(FirstLook(Arc::downgrade(self))));
        shim::after_poll(&waker);
    }

    /// The driver learns of the socket only now, however long it was there.
    pub(super) fn look_anew(self: &Arc<Self>) {
        self.state.with(|state| {
            state.fresh = true;
            state.known = Known::default();
        });
        self.await_first_look();
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

    /// Whoever cannot wait fails where tasks do not know of room.
    pub(super) fn check_room(&self) -> io::Result<()> {
        self.perhaps_first_look();
        match self.told(Interest::WRITABLE).ready.is_empty() {
            true => Err(ErrorKind::WouldBlock.into()),
            false => Ok(()),
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

    /// Fails once it was said that nothing more will be sent, and with what happened before.
    pub(super) fn check_open(&self) -> io::Result<()> {
        if let Some(error) = self.take_error() {
            return Err(error);
        }
        match self.state.with(|state| state.shut_write) {
            true => Err(of_socket(ErrorKind::BrokenPipe)),
            false => Ok(()),
        }
    }

    pub(super) fn take_error(&self) -> Option<io::Error> {
        let error = self.state.with(|state| state.error.take());
        error.map(of_socket)
    }

    /// The socket has another peer now, or none. As on Linux, what it has not received is lost; if there
    /// was any and the old peer was connected to it, that one is told.
    pub(super) fn set_peer(self: &Arc<Self>, peer: Option<(Weak<Inner>, SocketAddr)>) {
        let own = Arc::downgrade(self);
        let new = peer.as_ref().map(|(new, _)| new.clone());
        let (old, lost, senders) = self.state.with(|state| {
            let old = std::mem::replace(&mut state.peer, peer);
            let old = old.filter(|(old, _)| new.is_none_or(|new| !new.ptr_eq(old)));
            let Some((old, _)) = old else {
                return (None, VecDeque::new(), Vec::new());
            };
            let lost = std::mem::take(&mut state.queue);
            let senders = match lost.is_empty() {
                true => Vec::new(),
                false => std::mem::take(&mut state.rejected),
            };
            (old.upgrade(), lost, senders)
        });
        for sender in senders.iter().filter_map(Weak::upgrade) {
            sender.event();
        }
        let Some(old) = old.filter(|_| !lost.is_empty()) else {
            return;
        };
        let told = old.state.with(|state| {
            let connected = state
                .peer
                .as_ref()
                .is_some_and(|(peer, _)| peer.ptr_eq(&own));
            if connected && !state.closed {
                state.error = Some(ErrorKind::ConnectionReset);
            }
            state.error.is_some()
        });
        if told {
            old.event();
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

    /// The next datagram, if there is one and tasks know of it. That no more will come is nothing that
    /// Linux says of datagrams.
    pub(super) fn receive(&self) -> Option<io::Result<(SocketAddr, Bytes)>> {
        let told = self.told(Interest::READABLE);
        if told.ready.is_empty() {
            return None;
        }
        if let Some(error) = self.take_error() {
            return Some(Err(error));
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
                Some(Ok((from, data)))
            }
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
        let mut wakes = Wakes::default();
        let digest = self.state.with(|state| {
            state.fresh = false;
            state.known.event(ready);
            state.waiters.move_to(ready.into(), &mut wakes);
            state.digest()
        });
        self.resource.set_state(digest);
        wakes.wake();
    }

    pub(super) fn wait(&self, cx: &Context<'_>, interest: Interest, wait: Wait<'_>) {
        self.state
            .with(|state| state.waiters.register(cx, interest, wait));
    }

    /// The socket is closed or shut down: its tasks are told, and all that found no room.
    pub(super) fn ends(&self) {
        let senders = self.state.with(|state| std::mem::take(&mut state.rejected));
        self.event();
        let senders = senders.iter().filter_map(Weak::upgrade);
        senders.for_each(|sender| sender.event());
    }

    /// The socket that `send` sends to.
    pub(super) fn peer(self: &Arc<Self>) -> io::Result<Arc<Inner>> {
        self.check_open()?;
        let peer = self.connected_to();
        let gone = |peer: &Arc<Inner>| peer.state.with(|state| state.closed);
        match &peer {
            // It is as if it had never been connected from now on.
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => self.set_peer(None),
            Ok(peer) if gone(peer) => self.set_peer(None),
            _ => {}
        }
        peer
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
            write_closed: state.shut_read && state.shut_write || state.error.is_some(),
            error: state.error.is_some(),
        })
    }
}
