//! Sockets that listen.

use super::TcpStream;
use super::settings::Settings;
use super::stream::check_ttl;
use crate::descriptor::{Descriptor, Kind};
use crate::dns::{ToSocketAddrs, each};
#[cfg(target_os = "linux")]
use crate::gate;
#[cfg(unix)]
use crate::host::State;
use crate::host::ports::Share;
use crate::host::{Hosts, hosts, outside};
use crate::stream::carried::Leaves;
use crate::stream::listening::{Buffers, Listening};
use crate::stream::ops::End;
use crate::stream::waiters::{Wait, waiting};
use cct_executor::node::{NodeId, current};
use cct_executor::shim::{Access, OpKind, Shared};
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::panic::Location;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, ready};

/// The backlog of [`TcpListener::bind`].
const BACKLOG: u32 = 1024;

/// Accepts TCP connections. Dropping it frees its port, and resets connections that wait to be
/// accepted.
///
/// # Differences from tokio
/// Of the options that are set by its file descriptor connections get linger time and keep-alive; others have no effect.
pub struct TcpListener {
    listening: Arc<Listening>,
    addr: SocketAddr,
    /// The number of its binding.
    id: u64,
    node: NodeId,
    hosts: Weak<Hosts>,
    pub(super) settings: Shared<Settings>,
    pub(super) descriptor: Descriptor,
    /// The kernel's, for other processes.
    #[cfg(target_os = "linux")]
    pub(super) gate: Option<gate::Gate>,
}

impl TcpListener {
    pub(super) fn new(
        listening: Arc<Listening>,
        addr: SocketAddr,
        id: u64,
        settings: Settings,
    ) -> io::Result<TcpListener> {
        Ok(TcpListener {
            listening,
            addr,
            id,
            node: current(),
            hosts: Arc::downgrade(&hosts()?),
            settings: Shared::new(settings),
            descriptor: Descriptor::new(Kind::Tcp { v6: addr.is_ipv6() }),
            #[cfg(target_os = "linux")]
            gate: None,
        })
    }

    /// Listens at the first of the addresses that can be bound. Port 0 asks for a free one.
    ///
    /// # Scheduling points
    /// One before each attempt, and one when a name is looked up.
    ///
    /// # Cancel safety
    /// Safe: dropping the future binds nothing.
    ///
    /// # Errors
    /// `AddrInUse` when somebody listens there, `AddrNotAvailable` when the address is not one of
    /// the node's.
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(addr: A) -> impl Future<Output = io::Result<TcpListener>> {
        let site = Location::caller();
        each(addr.query(), site, move |addr| async move {
            let hosts = hosts()?;
            poll_fn(|_| hosts.point(OpKind::Init, Access::Write, site)).await;
            let node = current();
            hosts
                .state
                .with(|state| state.nobody_listens_as(node, addr))?;
            #[cfg(target_os = "linux")]
            return gate::listen(addr, site);
            #[cfg(not(target_os = "linux"))]
            TcpListener::at(addr, site)
        })
    }

    /// Listens at an address, as the standard library's listeners do.
    pub(crate) fn at(
        addr: SocketAddr,
        site: &'static Location<'static>,
    ) -> io::Result<TcpListener> {
        let listening = Listening::new(BACKLOG, Buffers::default(), site);
        let (port, id) = hosts()?.state.with(|state| {
            let host = state.host_at(current(), addr.ip())?;
            let share = Share {
                addr: true,
                ..Share::default()
            };
            host.tcp.bind(addr, share, Some(listening.clone()))
        })?;
        let addr = SocketAddr::new(addr.ip(), port);
        TcpListener::new(listening, addr, id, Settings::default())
    }

    /// Who connects leaves for another world, where whoever has this hands them on.
    pub(crate) fn leaves(&self) -> Leaves {
        Leaves::by_queue(&self.listening)
    }

    /// Whether somebody waits to be accepted.
    #[cfg(target_os = "linux")]
    pub(super) fn has_queue(&self) -> bool {
        self.listening.has_queue()
    }

    /// From now on programs know it by the port that the kernel drew for it.
    #[cfg(unix)]
    pub(super) fn is_known_by(&self, kernels: u16) -> io::Result<()> {
        let ours = self.addr.port();
        let tell = |state: &mut State| state.drawn.add(self.node, kernels, ours);
        hosts()?.state.with(tell);
        Ok(())
    }

    /// The kernel listens where it was asked to, for whoever is none of the world's.
    #[cfg(target_os = "linux")]
    pub(crate) fn is_shown_at(
        &mut self,
        kernels: socket2::Socket,
        asked: SocketAddr,
    ) -> io::Result<()> {
        let at = kernels.local_addr()?.as_socket().unwrap_or(asked);
        if asked.port() == 0 {
            self.is_known_by(at.port())?;
        }
        self.gate = gate::serve(kernels, at)?;
        Ok(())
    }

    /// Waits for a connection.
    ///
    /// # Scheduling points
    /// One before looking for one.
    ///
    /// # Cancel safety
    /// Safe: no connection is lost.
    ///
    /// # Errors
    /// None.
    #[track_caller]
    pub fn accept(&self) -> impl Future<Output = io::Result<(TcpStream, SocketAddr)>> {
        let site = Location::caller();
        waiting(move |cx, wait| self.poll_next(cx, wait, site))
    }

    /// As [`accept`](Self::accept), for hand-written futures: of several tasks the last one that
    /// polled is woken.
    ///
    /// # Scheduling points
    /// One before looking for a connection.
    ///
    /// # Errors
    /// As for [`accept`](Self::accept).
    #[track_caller]
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        self.poll_next(cx, Wait::Poll, Location::caller())
    }

    fn poll_next(
        &self,
        cx: &mut Context<'_>,
        wait: Wait<'_>,
        site: &'static Location<'static>,
    ) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        let conn = ready!(self.listening.poll_accept(cx, wait, site));
        let stream = TcpStream::new(End::accepted(conn, site), self.addr.is_ipv6());
        stream.apply(self.settings());
        let peer = stream.addresses()[1];
        Poll::Ready(Ok((stream, peer)))
    }

    fn settings(&self) -> Settings {
        Settings::of(self.settings.with(|settings| *settings), &self.descriptor)
    }

    /// The address it listens at.
    ///
    /// # Errors
    /// None.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(outside(self.node, self.addr))
    }

    /// How many hops a packet may make; 64 at first.
    ///
    /// # Errors
    /// None.
    pub fn ttl(&self) -> io::Result<u32> {
        Ok(self.settings().ttl)
    }

    /// Sets how many hops a packet may make: one is enough here.
    ///
    /// # Errors
    /// `InvalidInput` for 0 or more than 255.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        check_ttl(ttl)?;
        Settings::change(&self.settings, &self.descriptor, |settings| {
            settings.ttl = ttl
        });
        Ok(())
    }
}

impl Drop for TcpListener {
    fn drop(&mut self) {
        let Some(hosts) = self.hosts.upgrade() else {
            return;
        };
        let port = self.addr.port();
        let freed = hosts
            .state
            .with(|state| state.host(self.node).tcp.release(port, self.id));
        // After a crash the port is not its own any more.
        if let Some(listening) = freed {
            listening.close(false);
        }
    }
}

// As in tokio: a panic leaves nothing half done behind a socket.
impl std::panic::UnwindSafe for TcpListener {}
impl std::panic::RefUnwindSafe for TcpListener {}

impl fmt::Debug for TcpListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TcpListener")
            .field("addr", &self.addr)
            .finish()
    }
}
