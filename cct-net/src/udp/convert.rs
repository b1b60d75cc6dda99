//! The standard library's type: there and back, and sockets that were made there.

use super::UdpSocket;
use crate::descriptor::{Behind, ByDescriptor, converts, give_back};
use crate::host::drawn::{is_drawn, of_the_world};
use crate::host::hosts;
use crate::host::ports::Share;
use cct_executor::shim::OpKind;
use socket2::SockRef;
use std::io;
use std::os::fd::AsFd;
use std::panic::Location;
use std::sync::Arc;

converts!(UdpSocket, std::net::UdpSocket);

impl Behind for UdpSocket {
    fn behind(&self) -> Option<Arc<dyn ByDescriptor>> {
        Some(self.inner.clone())
    }

    fn came_back(&self) {
        self.inner.look_anew();
    }
}

impl UdpSocket {
    /// Brings back what [`into_std`](Self::into_std) has made, or binds in the world where a socket of the kernel's
    /// is bound, as `socket2` makes them: as long as this lives, nobody else gets that address there.
    ///
    /// # Scheduling points
    /// One before binding, at granularity `sync`.
    ///
    /// # Differences from tokio
    /// Datagrams come from the world alone, and what the kernel has queued is lost. Whether it may broadcast, its
    /// times to live, loops, whom it is connected to and whether it shares its address are taken over, and on Linux the
    /// groups that it has joined. A port that the kernel has drawn, being another one in every run, is one of the
    /// world's own inside, as reports call it; programs see and use the kernel's.
    ///
    /// # Panics
    /// In debug builds, when the socket blocks: as tokio does.
    ///
    /// # Errors
    /// As for [`bind`](Self::bind).
    #[track_caller]
    pub fn from_std(socket: std::net::UdpSocket) -> io::Result<UdpSocket> {
        match give_back::<UdpSocket>(socket.as_fd())? {
            Some(mut own) => {
                let behind = own.behind();
                own.descriptor.put(socket.into(), behind);
                own.came_back();
                Ok(own)
            }
            None => UdpSocket::take_over(socket, Location::caller()),
        }
    }

    fn take_over(
        socket: std::net::UdpSocket,
        site: &'static Location<'static>,
    ) -> io::Result<UdpSocket> {
        let known_as = socket.local_addr()?;
        let hosts = hosts()?;
        hosts.sync_point(OpKind::Init, site);
        let options = SockRef::from(&socket);
        // For datagrams the kernel makes no difference between the two ways to share.
        let share = Share {
            port: options.reuse_address()? || options.reuse_port()?,
            ..Share::default()
        };
        let mut own = UdpSocket::at(of_the_world(known_as), share, &hosts, site)?;
        if is_drawn(known_as) {
            let (node, ours) = (own.inner.node, own.inner.state.with(|state| state.local));
            hosts
                .state
                .with(|state| state.udp_drawn.add(node, known_as.port(), ours.port()));
        }
        own.set_broadcast(socket.broadcast()?)?;
        own.set_ttl(socket.ttl()?)?;
        if known_as.is_ipv6() {
            own.set_multicast_loop_v6(socket.multicast_loop_v6()?)?;
            let only = options.only_v6()?;
            own.inner.state.with(|state| state.v6_only |= only);
        } else {
            own.set_multicast_loop_v4(socket.multicast_loop_v4()?)?;
            own.set_multicast_ttl_v4(socket.multicast_ttl_v4()?)?;
        }
        #[cfg(target_os = "linux")]
        for group in crate::raw::groups::joined(socket.as_fd(), known_as.is_ipv6()) {
            own.join(group)?;
        }
        if let Ok(peer) = socket.peer_addr() {
            own.inner.set_peer(peer, own.id)?;
        }
        let behind = own.behind();
        own.descriptor.put(socket.into(), behind);
        Ok(own)
    }
}
