//! Sockets that listen.

use super::registry::{Bound, Paths};
#[cfg(target_os = "linux")]
use super::registry::{abstract_name, of_abstract_name};
use super::{SocketAddr, UnixStream};
use crate::descriptor::{Descriptor, Kind};
use crate::host::{Hosts, hosts};
use crate::stream::listening::{Buffers, Listening};
use crate::stream::ops::End;
use crate::stream::waiters::{Wait, waiting};
use cct_executor::node::current;
use cct_executor::shim::OpKind;
use std::fmt;
use std::io;
use std::panic::Location;
use std::path::Path;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, ready};

/// The backlog: that of tokio.
const BACKLOG: u32 = 1024;

/// Accepts Unix connections. Dropping it leaves the path taken.
///
/// # Differences from tokio
/// Its file descriptor is good for setting options that have no effect.
pub struct UnixListener {
    listening: Arc<Listening>,
    addr: SocketAddr,
    hosts: Weak<Hosts>,
    #[cfg_attr(not(unix), expect(dead_code, reason = "there are none"))]
    pub(super) descriptor: Descriptor,
    /// The kernel's, for other processes.
    #[cfg(target_os = "linux")]
    pub(super) gate: Option<crate::gate::Gate>,
}

impl UnixListener {
    /// Listens at a path.
    ///
    /// # Scheduling points
    /// One before binding, at granularity `sync`.
    ///
    /// # Errors
    /// `AddrInUse` when the path is taken, `InvalidInput` when it is too long for an address.
    #[track_caller]
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<UnixListener> {
        let (path, site) = (path.as_ref(), Location::caller());
        #[cfg(target_os = "linux")]
        if crate::gate::is_open() {
            use std::os::unix::net;
            let listener = match abstract_name(path) {
                Some(name) => net::UnixListener::bind_addr(&of_abstract_name(name)?)?,
                None => net::UnixListener::bind(path)?,
            };
            return UnixListener::in_place_of(listener, path, site);
        }
        UnixListener::at(path, site, Paths::bind)
    }

    /// Listens where `enter` has it.
    pub(super) fn at(
        path: &Path,
        site: &'static Location<'static>,
        enter: fn(&mut Paths, &Path, Bound) -> io::Result<()>,
    ) -> io::Result<UnixListener> {
        let hosts = hosts()?;
        hosts.sync_point(OpKind::Init, site);
        let listening = Listening::new(BACKLOG, Buffers::default(), site);
        let bound = Bound::Stream(Arc::downgrade(&listening));
        hosts
            .state
            .with(|state| enter(&mut state.host(current()).unix, path, bound))?;
        Ok(UnixListener {
            listening,
            addr: SocketAddr::of(path),
            hosts: Arc::downgrade(&hosts),
            descriptor: Descriptor::new(Kind::UnixStream),
            #[cfg(target_os = "linux")]
            gate: None,
        })
    }

    /// Listens where a socket is bound that is known by a token.
    pub(super) fn at_bound(
        addr: &SocketAddr,
        token: &Arc<()>,
        backlog: u32,
        site: &'static Location<'static>,
    ) -> io::Result<UnixListener> {
        let hosts = hosts()?;
        let listening = Listening::new(backlog, Buffers::default(), site);
        if let Some(path) = addr.as_path() {
            hosts
                .state
                .with(|state| state.host(current()).unix.listens(&path, token, &listening));
        }
        Ok(UnixListener {
            listening,
            addr: addr.clone(),
            hosts: Arc::downgrade(&hosts),
            descriptor: Descriptor::new(Kind::UnixStream),
            #[cfg(target_os = "linux")]
            gate: None,
        })
    }

    /// Listens at an address, as that of another socket.
    ///
    /// # Scheduling points
    /// One before binding, at granularity `sync`.
    ///
    /// # Errors
    /// As for [`bind`](Self::bind); `Unsupported` for no name, for which Linux finds an abstract one.
    #[track_caller]
    pub fn bind_addr(socket_addr: &SocketAddr) -> io::Result<UnixListener> {
        match socket_addr.as_path() {
            Some(path) => UnixListener::bind(path),
            None => {
                let text = "names of Unix sockets that the system finds are not modelled: bind a path or an abstract name";
                Err(io::Error::new(io::ErrorKind::Unsupported, text))
            }
        }
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
    pub fn accept(&self) -> impl Future<Output = io::Result<(UnixStream, SocketAddr)>> {
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
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(UnixStream, SocketAddr)>> {
        self.poll_next(cx, Wait::Poll, Location::caller())
    }

    fn poll_next(
        &self,
        cx: &mut Context<'_>,
        wait: Wait<'_>,
        site: &'static Location<'static>,
    ) -> Poll<io::Result<(UnixStream, SocketAddr)>> {
        let conn = ready!(self.listening.poll_accept(cx, wait, site));
        let stream = UnixStream::new(End::accepted(conn, site));
        let peer = stream.peer_addr()?;
        Poll::Ready(Ok((stream, peer)))
    }

    /// The address it listens at.
    ///
    /// # Errors
    /// None.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.addr.clone())
    }

    /// Takes the error of the socket: there never is one.
    ///
    /// # Errors
    /// None.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        Ok(None)
    }
}

impl Drop for UnixListener {
    fn drop(&mut self) {
        if self.hosts.strong_count() > 0 {
            self.listening.close(false);
        }
    }
}

// As in tokio: a panic leaves nothing half done behind a socket.
impl std::panic::UnwindSafe for UnixListener {}
impl std::panic::RefUnwindSafe for UnixListener {}

impl fmt::Debug for UnixListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnixListener")
            .field("addr", &self.addr)
            .finish()
    }
}
