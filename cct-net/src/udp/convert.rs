//! The standard library's type: there and back, and sockets that were bound there.

use super::UdpSocket;
use crate::descriptor::{converts, give_back};
use crate::host::ports::Share;
use crate::host::{State, hosts};
use crate::tcp::convert::{DRAWN_MIN, of_the_world};
use cct_executor::node::current;
use cct_executor::shim::OpKind;
use socket2::SockRef;
use std::io;
use std::os::fd::AsFd;
use std::panic::Location;

converts!(UdpSocket, std::net::UdpSocket);

impl UdpSocket {
    /// Brings back what [`into_std`](Self::into_std) has made, or binds in the world what the kernel has bound,
    /// with its options: whether it may share its address, or broadcast, how far its datagrams go, and whether
    /// those to groups come back. If it is connected, so is this.
    ///
    /// # Scheduling points
    /// One before binding, at granularity `sync`.
    ///
    /// # Differences from tokio
    /// Datagrams come from the world alone, from now on. The kernel does not tell which groups a socket has
    /// joined: join them through this one. Of sockets that share an address the latest gets what is sent to it.
    /// A port that the kernel has drawn, being another one in every run, is one of the world's own inside, as
    /// reports call it; programs see and use the kernel's.
    ///
    /// # Panics
    /// In debug builds, when the socket blocks: as tokio does.
    ///
    /// # Errors
    /// As for [`bind`](Self::bind), when a socket of the world does not share the address.
    #[track_caller]
    pub fn from_std(socket: std::net::UdpSocket) -> io::Result<UdpSocket> {
        if let Some(mut own) = give_back::<UdpSocket>(socket.as_fd())? {
            own.descriptor.put(socket.into());
            return Ok(own);
        }
        let mut own = UdpSocket::in_place_of(&socket, Location::caller())?;
        own.descriptor.put(socket.into());
        Ok(own)
    }

    fn in_place_of(
        socket: &std::net::UdpSocket,
        site: &'static Location<'static>,
    ) -> io::Result<UdpSocket> {
        let (hosts, known_as) = (hosts()?, socket.local_addr()?);
        hosts.sync_point(OpKind::Init, site);
        let share = Share {
            addr: false,
            port: shares(socket)?,
        };
        // Another that shares its address may be known already.
        let inside = |state: &mut State| state.drawn_udp.inside(current(), known_as, false);
        let known = hosts.state.with(inside);
        let at = if known == known_as {
            of_the_world(known_as)
        } else {
            known
        };
        let own = UdpSocket::at(at, share, site)?;
        let (node, ours) = (own.inner.node, own.inner.state.with(|state| state.local));
        if known_as.port() >= DRAWN_MIN {
            let tell = |state: &mut State| state.drawn_udp.add(node, known_as.port(), ours.port());
            hosts.state.with(tell);
        }
        own.set_options_of(socket)?;
        if let Ok(peer) = socket.peer_addr() {
            own.inner.set_peer(peer, own.id)?;
        }
        Ok(own)
    }

    fn set_options_of(&self, socket: &std::net::UdpSocket) -> io::Result<()> {
        self.set_broadcast(socket.broadcast()?)?;
        if self.inner.v6 {
            let v6_only = SockRef::from(socket).only_v6()?;
            self.inner.state.with(|state| state.v6_only |= v6_only);
            return self.set_multicast_loop_v6(socket.multicast_loop_v6()?);
        }
        self.set_ttl(socket.ttl()?)?;
        self.set_multicast_ttl_v4(socket.multicast_ttl_v4()?)?;
        self.set_multicast_loop_v4(socket.multicast_loop_v4()?)
    }
}

/// The kernel has bound it, so others that have its address share it as well.
fn shares(socket: &std::net::UdpSocket) -> io::Result<bool> {
    let options = SockRef::from(socket);
    #[cfg(not(any(target_os = "solaris", target_os = "illumos")))]
    let port = options.reuse_port()?;
    #[cfg(any(target_os = "solaris", target_os = "illumos"))]
    let port = false;
    Ok(port || options.reuse_address()?)
}
