//! Settings of sockets: broadcasting and groups.

use super::UdpSocket;
use super::inner::{Inner, State};
use crate::errno::{Errno, telling};
#[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
use crate::io::device;
use crate::tcp::check_ttl;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

impl Inner {
    /// Connects the socket.
    pub(super) fn set_peer(&self, to: SocketAddr, binding: u64) -> io::Result<()> {
        let v6_only = self.state.with(|state| state.v6_only);
        if to.is_ipv6() && !self.v6 || to.is_ipv4() && v6_only {
            return Err(Errno::EAFNOSUPPORT.into());
        }
        let over = || io::Error::other("the scenario that this socket belongs to is over");
        let hosts = self.hosts.upgrade().ok_or_else(over)?;
        let ip = self.reachable(to.ip())?;
        let own = self.local().ip();
        let local = hosts.source_towards(self.node, SocketAddr::new(ip, to.port()), own)?;
        let local = self.shown(SocketAddr::new(local, 0)).ip();
        let peer = self.inside(&hosts, SocketAddr::new(ip, to.port()));
        let narrowed = self.state.with(|state| {
            state.peer = Some(peer);
            let anywhere = state.local.ip().is_unspecified();
            if anywhere {
                state.local.set_ip(local);
            }
            anywhere.then_some(state.local)
        });
        if let Some(addr) = narrowed {
            hosts
                .state
                .with(|state| state.host(self.node).udp.narrow(addr, binding));
        }
        Ok(())
    }
}

impl UdpSocket {
    fn get<R>(&self, f: impl FnOnce(&State) -> R) -> io::Result<R> {
        Ok(self.inner.state.with(|state| f(state)))
    }

    fn set(&self, f: impl FnOnce(&mut State)) -> io::Result<()> {
        self.inner.state.with(f);
        Ok(())
    }

    /// Whether it may broadcast; false at first.
    ///
    /// # Errors
    /// None.
    pub fn broadcast(&self) -> io::Result<bool> {
        self.get(|state| state.broadcast)
    }

    /// Sets whether it may broadcast: send to 255.255.255.255 or 10.255.255.255, and so to all
    /// sockets of all nodes that are bound to the port at all addresses.
    ///
    /// # Errors
    /// None.
    pub fn set_broadcast(&self, on: bool) -> io::Result<()> {
        self.set(|state| state.broadcast = on)
    }

    /// Whether what it sends to a group reaches its own node; true at first.
    ///
    /// # Errors
    /// None.
    pub fn multicast_loop_v4(&self) -> io::Result<bool> {
        self.get(|state| state.loop_v4)
    }

    /// Sets whether what it sends to a group reaches its own node.
    ///
    /// # Errors
    /// None.
    pub fn set_multicast_loop_v4(&self, on: bool) -> io::Result<()> {
        self.set(|state| state.loop_v4 = on)
    }

    /// Whether what it sends to a group reaches its own node; true at first.
    ///
    /// # Errors
    /// EOPNOTSUPP for a socket of version 4.
    pub fn multicast_loop_v6(&self) -> io::Result<bool> {
        match self.inner.v6 {
            true => self.get(|state| state.loop_v6),
            false => Err(Errno::EOPNOTSUPP.into()),
        }
    }

    /// Sets whether what it sends to a group reaches its own node.
    ///
    /// # Errors
    /// ENOPROTOOPT for a socket of version 4.
    pub fn set_multicast_loop_v6(&self, on: bool) -> io::Result<()> {
        match self.inner.v6 {
            true => self.set(|state| state.loop_v6 = on),
            false => Err(Errno::ENOPROTOOPT.into()),
        }
    }

    /// How many hops a datagram to a group may make; 1 at first.
    ///
    /// # Errors
    /// None.
    pub fn multicast_ttl_v4(&self) -> io::Result<u32> {
        self.get(|state| state.multicast_ttl)
    }

    /// Sets how many hops a datagram to a group may make: one is enough here.
    ///
    /// # Errors
    /// `InvalidInput` for more than 255.
    pub fn set_multicast_ttl_v4(&self, ttl: u32) -> io::Result<()> {
        check_ttl(ttl.max(1))?;
        self.set(|state| state.multicast_ttl = ttl)
    }

    /// How many hops a datagram may make; 64 at first.
    ///
    /// # Errors
    /// None.
    pub fn ttl(&self) -> io::Result<u32> {
        self.get(|state| state.ttl)
    }

    /// Sets how many hops a datagram may make: one is enough here.
    ///
    /// # Errors
    /// `InvalidInput` for 0 or more than 255.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        check_ttl(ttl)?;
        self.set(|state| state.ttl = ttl)
    }

    /// The type of service of what it sends; 0 at first.
    ///
    /// # Errors
    /// None.
    pub fn tos_v4(&self) -> io::Result<u32> {
        self.get(|state| state.service.tos)
    }

    /// Sets the type of service of what it sends, of which the last eight bits count. Links here treat
    /// all alike.
    ///
    /// # Errors
    /// None.
    pub fn set_tos_v4(&self, tos: u32) -> io::Result<()> {
        self.set(|state| state.service.set_tos(tos))
    }

    /// The traffic class of what it sends; 0 at first.
    ///
    /// # Errors
    /// EOPNOTSUPP for a socket of version 4.
    pub fn tclass_v6(&self) -> io::Result<u32> {
        self.get(|state| state.service)?.class(self.inner.v6)
    }

    /// Sets the traffic class of what it sends. Links here treat all alike.
    ///
    /// # Errors
    /// ENOPROTOOPT for a socket of version 4; EINVAL for more than 255.
    pub fn set_tclass_v6(&self, tclass: u32) -> io::Result<()> {
        let v6 = self.inner.v6;
        self.inner
            .state
            .with(|state| state.service.set_class(v6, tclass))
    }

    /// The name of the device it is bound to: none.
    ///
    /// # Errors
    /// None.
    #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
    pub fn device(&self) -> io::Result<Option<Vec<u8>>> {
        Ok(None)
    }

    /// Binds it to the device of this name, or to none, as it is.
    ///
    /// # Errors
    /// ENODEV for any device: a node has none with a name.
    #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
    pub fn bind_device(&self, interface: Option<&[u8]>) -> io::Result<()> {
        device::bind(interface)
    }

    pub(super) fn join(&self, group: IpAddr) -> io::Result<()> {
        check_group(group)?;
        let known = self.inner.state.with(|state| {
            let known = state.groups.contains(&group);
            if !known {
                state.groups.push(group);
            }
            known
        });
        if known {
            let text = || format!("the socket is in the group {group} already");
            return Err(telling(Errno::EADDRINUSE, text));
        }
        Ok(())
    }

    fn leave(&self, group: IpAddr) -> io::Result<()> {
        check_group(group)?;
        let left = self.inner.state.with(|state| {
            let at = state.groups.iter().position(|&other| other == group)?;
            Some(state.groups.remove(at))
        });
        left.map(drop).ok_or_else(|| {
            let text = || format!("the socket is not in the group {group}");
            telling(Errno::EADDRNOTAVAIL, text)
        })
    }

    /// Joins a group: from now on it receives what is sent there. A node has one interface.
    ///
    /// # Errors
    /// `InvalidInput` when the address is none of a group, `AddrInUse` when it is in it already.
    pub fn join_multicast_v4(&self, multiaddr: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()> {
        let _ = interface;
        self.join(multiaddr.into())
    }

    /// Joins a group: from now on it receives what is sent there. A node has one interface.
    ///
    /// # Errors
    /// As for [`join_multicast_v4`](Self::join_multicast_v4).
    pub fn join_multicast_v6(&self, multiaddr: &Ipv6Addr, interface: u32) -> io::Result<()> {
        let _ = interface;
        self.join((*multiaddr).into())
    }

    /// Leaves a group.
    ///
    /// # Errors
    /// `AddrNotAvailable` when it is not in it.
    pub fn leave_multicast_v4(&self, multiaddr: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()> {
        let _ = interface;
        self.leave(multiaddr.into())
    }

    /// Leaves a group.
    ///
    /// # Errors
    /// `AddrNotAvailable` when it is not in it.
    pub fn leave_multicast_v6(&self, multiaddr: &Ipv6Addr, interface: u32) -> io::Result<()> {
        let _ = interface;
        self.leave((*multiaddr).into())
    }
}

fn check_group(group: IpAddr) -> io::Result<()> {
    if group.is_multicast() {
        return Ok(());
    }
    let text = format!("{group} is not the address of a group");
    Err(io::Error::new(ErrorKind::InvalidInput, text))
}
