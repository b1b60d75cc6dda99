//! The standard library's types: there and back, and listeners that were made there.

use super::by_descriptor::Listened;
use super::{TcpListener, TcpSocket, TcpStream};
#[cfg(target_os = "linux")]
use super::{begun, promised};
use crate::descriptor::{
    Behind, ByDescriptor, converts, foreign, foreign_stream, give_back, given_back, lends, shows,
    takes,
};
#[cfg(target_os = "linux")]
use crate::gate;
use crate::host::drawn::{is_drawn, of_the_world};
use crate::host::hosts;
#[cfg(target_os = "linux")]
use cct_executor::node::current;
use cct_executor::shim::OpKind;
use socket2::SockRef;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::panic::Location;
use std::sync::Arc;

impl Behind for TcpStream {
    fn behind(&self) -> Option<Arc<dyn ByDescriptor>> {
        Some(self.end().shown(Some(self.addresses())))
    }

    fn came_back(&self) {
        self.end().look_anew();
    }

    fn made(&self, fd: BorrowedFd<'_>) {
        self.settings.with(|settings| *settings).show(fd);
    }
}

impl Behind for TcpListener {
    fn behind(&self) -> Option<Arc<dyn ByDescriptor>> {
        Some(Arc::new(Listened(self.local_addr().ok()?)))
    }

    fn made(&self, fd: BorrowedFd<'_>) {
        self.settings.with(|settings| *settings).show(fd);
    }
}

impl Behind for TcpSocket {
    fn made(&self, fd: BorrowedFd<'_>) {
        self.known_settings().show(fd);
    }
}

converts!(TcpStream, std::net::TcpStream);
takes!(TcpStream, std::net::TcpStream);

impl TcpStream {
    fn of_the_kernel(
        stream: std::net::TcpStream,
        _site: &'static Location<'static>,
    ) -> io::Result<TcpStream> {
        #[cfg(target_os = "linux")]
        if let Some(own) = begun::take(&stream, _site)? {
            return Ok(own);
        }
        #[cfg(target_os = "linux")]
        if let Some(own) = gate::take_tcp(&stream, _site)? {
            return Ok(own);
        }
        drop(stream);
        let instead =
            "connect with TcpStream::connect or TcpSocket, or take only what into_std has made";
        foreign_stream(instead)
    }
}

converts!(TcpListener, std::net::TcpListener);
shows!(TcpSocket);
lends!(TcpSocket);

impl TcpListener {
    /// Brings back what [`into_std`](Self::into_std) has made, or listens in the world where a listener of
    /// the kernel's does: as long as this lives, nobody else gets that address.
    ///
    /// # Scheduling points
    /// One before listening, at granularity `sync`.
    ///
    /// # Differences from tokio
    /// Connections come from the world alone, but in a test that is run once on Linux, as threads take part: there clients of
    /// the kernel's are served, too. On Linux, where the kernel queues them before, so does the world,
    /// for a listener that this thread's process has open; elsewhere they are refused until then. A port that
    /// the kernel has drawn, being another one in every run, is one of the world's own inside, as reports call
    /// it; programs see and use the kernel's.
    ///
    /// # Panics
    /// In debug builds, when the listener blocks: as tokio does.
    ///
    /// # Errors
    /// As for [`bind`](Self::bind).
    #[track_caller]
    pub fn from_std(listener: std::net::TcpListener) -> io::Result<TcpListener> {
        match give_back::<TcpListener>(listener.as_fd())? {
            Some(mut own) => {
                let behind = own.behind();
                own.descriptor.put(listener.into(), behind);
                Ok(own)
            }
            None => TcpListener::take_over(listener, Location::caller()),
        }
    }

    fn take_over(
        listener: std::net::TcpListener,
        site: &'static Location<'static>,
    ) -> io::Result<TcpListener> {
        let known_as = listener.local_addr()?;
        if known_as.port() == 0 {
            let instead =
                "hand a listener on by into_std: a duplicate of its descriptor listens nowhere";
            return foreign("listener", instead);
        }
        hosts()?.sync_point(OpKind::Init, site);
        #[cfg(target_os = "linux")]
        let promised = promised::take(current(), known_as.port())?;
        #[cfg(not(target_os = "linux"))]
        let promised = None;
        let mut own = match promised {
            Some(own) => own,
            None => TcpListener::in_place_of(known_as, site)?,
        };
        #[cfg(target_os = "linux")]
        {
            own.gate = gate::serve(listener.try_clone()?, known_as)?;
        }
        let behind = own.behind();
        own.descriptor.put(listener.into(), behind);
        Ok(own)
    }

    /// Listens in the world where the kernel has somebody listen.
    pub(super) fn in_place_of(
        addr: SocketAddr,
        site: &'static Location<'static>,
    ) -> io::Result<TcpListener> {
        let own = TcpListener::at(of_the_world(addr), site)?;
        if is_drawn(addr) {
            own.is_known_by(addr.port())?;
        }
        Ok(own)
    }
}

impl TcpSocket {
    /// Brings back what [`into_raw_fd`](std::os::fd::IntoRawFd::into_raw_fd) has made, or makes
    /// a socket with the options of one of the kernel's that is not connected yet, as `socket2` makes them:
    /// whether it may share its address, its linger time, delay and keep-alive. If that is bound, so is this.
    ///
    /// # Scheduling points
    /// One before binding, at granularity `sync`.
    ///
    /// # Differences from tokio
    /// A port that the kernel has drawn becomes one of the world's drawing. Other options have no effect.
    ///
    /// # Panics
    /// Outside a world, and when its address cannot be bound: there is no way to say so.
    #[track_caller]
    pub fn from_std_stream(stream: std::net::TcpStream) -> TcpSocket {
        let site = Location::caller();
        if let Ok(Some(own)) = given_back::<TcpSocket>(stream.as_fd()) {
            return own.with_descriptor(stream.into());
        }
        let made = TcpSocket::like(&stream, site);
        let mut socket = made.unwrap_or_else(|error| panic!("no socket of the world's: {error}"));
        socket.descriptor.put(stream.into(), None);
        socket
    }

    pub(super) fn like(
        stream: &std::net::TcpStream,
        site: &'static Location<'static>,
    ) -> io::Result<TcpSocket> {
        let options = SockRef::from(stream);
        let addr = stream.local_addr()?;
        let socket = TcpSocket::new(addr.is_ipv6())?;
        socket.set_reuseaddr(options.reuse_address()?)?;
        #[cfg(target_os = "linux")]
        socket.set_reuseport(options.reuse_port()?)?;
        socket.set_linger(options.linger()?)?;
        socket.set_nodelay(options.tcp_nodelay()?)?;
        socket.set_keepalive(options.keepalive()?)?;
        if addr.port() != 0 {
            socket.bind_at(of_the_world(addr), site)?;
        }
        Ok(socket)
    }
}
