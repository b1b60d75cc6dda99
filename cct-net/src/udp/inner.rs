//! A socket as its host keeps it: what arrived, and who waits for it.

use crate::errno::{Errno, of_socket};
use crate::host::{Hosts, mapped};
use crate::io::known::Known;
use crate::io::service::Service;
use crate::io::{Interest, Ready};
use crate::stream::state::Readiness;
use crate::stream::waiters::{Wait, Waiters, Wakes};
use bytes::Bytes;
use cct_executor::node::NodeId;
use cct_executor::shim::{self, Access, Belongs, OpKind, Resource, ResourceKind, Shared};
use cct_executor::task::coop;
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::panic::Location;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Wake, Waker, ready};

/// Between two polls the driver looks at a new socket for the first time.
struct FirstLook(Weak<Inner>);

impl Wake for FirstLook {
    fn wake(self: Arc<Self>) {
        if let Some(inner) = self.0.upgrade() {
            inner.first_look();
        }
    }
}

/// A UDP socket.
pub(crate) struct Inner {
    pub(super) state: Shared<State>,
    pub(super) resource: Resource,
    pub(super) node: NodeId,
    pub(super) hosts: Weak<Hosts>,
    pub(super) world: Belongs,
    /// Where it is bound.
    pub(crate) v6: bool,
}

pub(super) struct State {
    pub(super) local: SocketAddr,
    pub(super) peer: Option<SocketAddr>,
    /// As Linux has it, a socket bound to one address of version 6 is none for version 4.
    pub(super) v6_only: bool,
    queue: VecDeque<Datagram>,
    bytes: usize,
    error: Option<ErrorKind>,
    /// What its tasks know of what it is ready for.
    known: Known,
    /// They were not told anything yet.
    fresh: bool,
    waiters: Waiters,
    pub(super) broadcast: bool,
    pub(super) loop_v4: bool,
    pub(super) loop_v6: bool,
    pub(super) ttl: u32,
    pub(super) service: Service,
    pub(super) multicast_ttl: u32,
    pub(super) groups: Vec<IpAddr>,
}

/// A datagram that arrived.
#[derive(Clone)]
pub(super) struct Datagram {
    pub(super) from: SocketAddr,
    pub(super) to: IpAddr,
    pub(super) data: Bytes,
}

fn v6_only(ip: IpAddr) -> bool {
    ip.is_ipv6() && ip.to_canonical().is_ipv6() && !ip.is_unspecified()
}

impl State {
    /// Tasks are told what the socket is ready for.
    fn event(&mut self) -> Wakes {
        self.fresh = false;
        let readiness = Readiness {
            readable: !self.queue.is_empty(),
            writable: true,
            // A socket with an error counts as one that cannot be written to any more.
            write_closed: self.error.is_some(),
            error: self.error.is_some(),
            ..Readiness::default()
        };
        self.known.event(readiness);
        let mut wakes = Wakes::default();
        self.waiters.move_to(readiness.into(), &mut wakes);
        wakes
    }

    /// What is to be received next, or the error that comes before it.
    fn take(&mut self, keep: bool) -> Option<io::Result<Datagram>> {
        if let Some(error) = self.error.take() {
            return Some(Err(of_socket(error)));
        }
        if keep {
            return self.queue.front().cloned().map(Ok);
        }
        let next = self.queue.pop_front()?;
        self.bytes -= next.data.len();
        Some(Ok(next))
    }

    fn digest(&self) -> u64 {
        (self.queue.len() as u64) << 5 | self.known.digest()
    }
}

impl Inner {
    /// How many datagrams wait to be received.
    pub(crate) fn summary(&self) -> String {
        let waiting = self.state.with(|state| state.queue.len());
        format!("{waiting} datagrams to receive")
    }

    pub(super) fn new(
        local: SocketAddr,
        node: NodeId,
        hosts: &Arc<Hosts>,
        site: &'static Location<'static>,
    ) -> Arc<Inner> {
        let inner = Arc::new(Inner {
            state: Shared::new(State {
                local,
                peer: None,
                v6_only: v6_only(local.ip()),
                queue: VecDeque::new(),
                bytes: 0,
                error: None,
                known: Known::default(),
                fresh: true,
                waiters: Waiters::default(),
                broadcast: false,
                loop_v4: true,
                loop_v6: true,
                ttl: 64,
                service: Service::default(),
                multicast_ttl: 1,
                groups: Vec::new(),
            }),
            resource: Resource::at(ResourceKind::Socket, site),
            node,
            hosts: Arc::downgrade(hosts),
            world: Belongs::here(),
            v6: local.is_ipv6(),
        });
        inner.await_first_look();
        inner
    }

    fn await_first_look(self: &Arc<Self>) {
        let waker = Waker::from(Arc::new(FirstLook(Arc::downgrade(self))));
        shim::after_poll(&waker);
    }

    /// The runtime learns of the socket only now, however long it was there.
    #[cfg(unix)]
    pub(super) fn look_anew(self: &Arc<Self>) {
        self.state.with(|state| {
            state.fresh = true;
            state.known = Known::default();
        });
        self.await_first_look();
    }

    /// The driver looks at the socket for the first time: it can be written to.
    fn first_look(&self) {
        let told = self.state.with(|state| {
            let fresh = state.fresh;
            fresh.then(|| (state.event(), state.digest()))
        });
        if let Some((wakes, digest)) = told {
            self.resource.set_state(digest);
            wakes.wake();
        }
    }

    /// Whether tasks know that the socket can be written to. In the poll that has bound it they may
    /// not: on one thread the driver comes later, on several it may be there before.
    pub(super) fn may_send(&self) -> bool {
        let label = "whether the runtime has looked at the new socket";
        if self.state.with(|state| state.fresh) && shim::choose(2, label) == 1 {
            self.first_look();
        }
        self.knows_of_room()
    }

    fn knows_of_room(&self) -> bool {
        let told = |state: &mut State| state.known.told(Interest::WRITABLE);
        !self.state.with(told).ready.is_empty()
    }

    /// As [`may_send`](Self::may_send), for those who can wait.
    pub(super) fn poll_may_send(
        &self,
        cx: &Context<'_>,
        wait: Wait<'_>,
        site: &'static Location<'static>,
    ) -> Poll<io::Result<()>> {
        match self.knows_of_room() {
            true => Poll::Ready(Ok(())),
            false => self.wait(cx, (Interest::WRITABLE, wait), OpKind::Send, site),
        }
    }

    /// What the world calls an address that programs name: the kernel may have drawn its port.
    pub(super) fn inside(&self, hosts: &Hosts, addr: SocketAddr) -> SocketAddr {
        hosts.state.with(|state| {
            if state.udp_drawn.is_empty() {
                return addr;
            }
            let Ok(node) = state.route(self.node, addr.ip()) else {
                return addr;
            };
            let one_listens = !state.host(node).udp.find(addr).is_empty();
            state.udp_drawn.inside(node, addr, one_listens)
        })
    }

    /// What programs call an address of the world.
    pub(super) fn outside(&self, addr: SocketAddr) -> SocketAddr {
        let Some(hosts) = self.hosts.upgrade() else {
            return addr;
        };
        hosts.state.with(|state| {
            if state.udp_drawn.is_empty() {
                return addr;
            }
            let node = state.route(self.node, addr.ip());
            node.map_or(addr, |node| state.udp_drawn.outside(node, addr))
        })
    }

    /// The address of another socket, as this one tells it.
    pub(super) fn told(&self, addr: SocketAddr) -> SocketAddr {
        self.shown(self.outside(addr))
    }

    /// The form in which this socket shows an address.
    pub(super) fn shown(&self, addr: SocketAddr) -> SocketAddr {
        if self.v6 { mapped(addr) } else { addr }
    }

    /// Whether a datagram that was sent to several goes to this socket too.
    pub(super) fn listens_to(&self, to: SocketAddr) -> bool {
        self.state.with(|state| {
            let group = !to.ip().is_multicast() || state.groups.contains(&to.ip());
            let anywhere = state.local.ip().is_unspecified() || state.local.ip() == to.ip();
            group && anywhere && state.local.port() == to.port()
        })
    }

    /// Whether it takes what comes from there: connected, it does so from its peer only.
    pub(super) fn takes_from(&self, from: SocketAddr) -> bool {
        self.state
            .with(|state| state.peer.is_none_or(|peer| peer == from))
    }

    /// A datagram arrives. One that finds no room is lost.
    pub(super) fn arrive(&self, datagram: Datagram, recv_buffer: usize) {
        let arrived = self.state.with(|state| {
            if state.bytes + datagram.data.len() > recv_buffer {
                return None;
            }
            state.bytes += datagram.data.len();
            state.queue.push_back(datagram);
            Some((state.event(), state.digest()))
        });
        if let Some((wakes, digest)) = arrived {
            self.resource.set_state(digest);
            wakes.wake();
        }
    }

    /// The host at the other end says that nobody is bound there.
    pub(super) fn unreachable(&self, peer: SocketAddr) {
        let wakes = self.state.with(|state| {
            (state.peer == Some(peer)).then(|| {
                state.error = Some(ErrorKind::ConnectionRefused);
                state.event()
            })
        });
        if let Some(wakes) = wakes {
            wakes.wake();
        }
    }

    pub(super) fn take_error(&self) -> Option<io::Error> {
        let error = self.state.with(|state| state.error.take());
        error.map(of_socket)
    }

    pub(super) fn local(&self) -> SocketAddr {
        self.state.with(|state| state.local)
    }

    pub(super) fn peer(&self) -> Option<SocketAddr> {
        self.state.with(|state| state.peer)
    }

    /// The next datagram, whatever tasks know; `keep` leaves it where it is.
    ///
    /// # Errors
    /// That of an earlier datagram; `EAGAIN` where there is none.
    pub(super) fn take(&self, keep: bool) -> io::Result<Datagram> {
        let (next, digest) = self.state.with(|state| (state.take(keep), state.digest()));
        self.resource.set_state(digest);
        next.unwrap_or_else(|| Err(Errno::EAGAIN.into()))
    }

    /// The next datagram, if there is one and tasks know of it; `keep` leaves it where it is.
    pub(super) fn next(&self, keep: bool, interest: Interest) -> Option<io::Result<Datagram>> {
        let (next, digest) = self.state.with(|state| {
            let told = state.known.told(interest);
            if told.ready.is_empty() {
                return (None, None);
            }
            let next = state.take(keep);
            if next.is_none() {
                state.known.disprove(told);
            }
            (next, Some(state.digest()))
        });
        if let Some(digest) = digest {
            self.resource.set_state(digest);
        }
        next
    }

    pub(super) fn poll_next(
        &self,
        cx: &mut Context<'_>,
        keep: bool,
        wait: Wait<'_>,
        site: &'static Location<'static>,
    ) -> Poll<io::Result<Datagram>> {
        let access = if keep { Access::Read } else { Access::Write };
        ready!(self.resource.point(OpKind::Recv, access, site));
        let budget = ready!(coop::poll_proceed(cx));
        // As in tokio, only its futures look for errors of their own accord.
        let interest = match wait {
            Wait::Poll => Interest::READABLE,
            Wait::Future(_) => Interest::READABLE | Interest::ERROR,
        };
        match self.next(keep, interest) {
            Some(next) => {
                budget.made_progress();
                Poll::Ready(next)
            }
            None => self.wait(cx, (interest, wait), OpKind::Recv, site),
        }
    }

    fn wait<R>(
        &self,
        cx: &Context<'_>,
        (interest, wait): (Interest, Wait<'_>),
        kind: OpKind,
        site: &'static Location<'static>,
    ) -> Poll<io::Result<R>> {
        if self.hosts.strong_count() == 0 {
            let text = "the scenario that this socket belongs to is over";
            return Poll::Ready(Err(io::Error::other(text)));
        }
        self.state
            .with(|state| state.waiters.register(cx, interest, wait));
        wait.blocked(&self.resource, kind, site);
        Poll::Pending
    }

    /// Runs `f`, which uses the socket, if the socket is known to be ready for some of `interest`.
    pub(super) fn try_io<R>(
        &self,
        interest: Interest,
        f: impl FnOnce() -> io::Result<R>,
    ) -> io::Result<R> {
        if interest.is_writable() {
            self.may_send();
        }
        let told = self.state.with(|state| state.known.told(interest));
        if told.ready.is_empty() {
            return Err(ErrorKind::WouldBlock.into());
        }
        let done = f();
        if matches!(&done, Err(error) if error.kind() == ErrorKind::WouldBlock) {
            let digest = self.state.with(|state| {
                state.known.disprove(told);
                state.digest()
            });
            self.resource.set_state(digest);
            return Err(ErrorKind::WouldBlock.into()); // as tokio's has no number
        }
        done
    }

    pub(super) fn poll_ready(
        &self,
        cx: &mut Context<'_>,
        interest: Interest,
        wait: Wait<'_>,
        site: &'static Location<'static>,
    ) -> Poll<io::Result<Ready>> {
        let kind = if interest.is_readable() {
            OpKind::Recv
        } else {
            OpKind::Send
        };
        ready!(self.resource.point(kind, Access::Read, site));
        let budget = ready!(wait.spend(cx));
        match self.state.with(|state| state.known.told(interest).ready) {
            Ready::EMPTY if !wait.was_woken() => self.wait(cx, (interest, wait), kind, site),
            ready => {
                if let Some(budget) = budget {
                    budget.made_progress();
                }
                Poll::Ready(Ok(ready))
            }
        }
    }
}
