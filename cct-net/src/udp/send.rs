//! Datagrams on their way.

use super::elsewhere;
use super::inner::{Datagram, Inner};
use crate::errno::{Errno, telling};
use crate::fabric::flow::FlowKind;
use crate::fabric::{Arrival, FlowId, Network, network};
use crate::host::Hosts;
use bytes::Bytes;
use cct_executor::node::NodeId;
use cct_executor::shim;
use cct_executor::words::fingerprint::mix2;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::panic::Location;
use std::sync::{Arc, Weak};

/// The longest datagrams of IPv4 and of IPv6, and what is refused whoever it is for.
const LONGEST: usize = 65_507;
const LONGEST_V6: usize = 65_527;
const TOO_LONG: usize = 65_536;
/// What UDP and IP add to each datagram.
const HEADERS: usize = 28;
/// The automatic addresses' broadcast address.
const BROADCAST: Ipv4Addr = Ipv4Addr::new(10, 255, 255, 255);

/// Flows of datagrams, by sending node, receiving node and port.
pub(crate) type Flows = std::collections::BTreeMap<(u16, u16, u16), FlowId>;

/// What is on its way.
#[derive(Clone)]
enum Load {
    Datagram(Datagram),
    /// Nobody is bound at the address that this was sent to.
    Unreachable(SocketAddr),
}

#[derive(Clone)]
struct Flight {
    hosts: Weak<Hosts>,
    from: NodeId,
    to: NodeId,
    addr: SocketAddr,
    load: Load,
    /// It arrives when it is sent, if nothing holds it up.
    at_once: bool,
    site: &'static Location<'static>,
}

impl Inner {
    /// An address as packets carry it: an address that stands for all is the socket's own, or the node
    /// itself.
    pub(super) fn reachable(&self, to: IpAddr) -> io::Result<IpAddr> {
        let (local, v6_only) = self.state.with(|state| (state.local.ip(), state.v6_only));
        let (own, to) = (local.to_canonical(), to.to_canonical());
        if to.is_ipv4() && v6_only {
            return Err(Errno::ENETUNREACH.into());
        }
        if to.is_unspecified() {
            return Ok(match own {
                IpAddr::V4(_) if self.v6 => Ipv4Addr::LOCALHOST.into(),
                IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
                IpAddr::V6(_) if to.is_ipv6() => Ipv6Addr::LOCALHOST.into(),
                IpAddr::V6(_) => Ipv4Addr::LOCALHOST.into(),
                own => own,
            });
        }
        // A socket of version 6 with an address of version 4.
        match own.is_ipv4() && to.is_ipv6() {
            true => Err(Errno::EAFNOSUPPORT.into()),
            false => Ok(to),
        }
    }

    /// Where a datagram goes, to the peer if no address is given.
    fn destination(
        &self,
        hosts: &Hosts,
        named: Option<SocketAddr>,
        len: usize,
    ) -> io::Result<SocketAddr> {
        let too_long = len >= TOO_LONG;
        if too_long && !self.v6 {
            return Err(Errno::EMSGSIZE.into());
        }
        let (peer, v6_only) = self.state.with(|state| (state.peer, state.v6_only));
        let to = named.or(peer).ok_or(Errno::EDESTADDRREQ)?;
        let v4 = to.ip().to_canonical().is_ipv4();
        match to.is_ipv6() {
            true if !self.v6 => return Err(Errno::EAFNOSUPPORT.into()),
            _ if v4 && v6_only => return Err(Errno::ENETUNREACH.into()),
            _ if v4 && too_long => return Err(Errno::EMSGSIZE.into()),
            _ if to.port() == 0 => return Err(Errno::EINVAL.into()),
            _ => {}
        }
        let mut to = SocketAddr::new(self.reachable(to.ip())?, to.port());
        if named.is_some() {
            to = self.inside(hosts, to);
        }
        match len <= if to.is_ipv4() { LONGEST } else { LONGEST_V6 } {
            true => Ok(to),
            false => Err(Errno::EMSGSIZE.into()),
        }
    }

    /// Sends a datagram, to the peer if no address is given. As on Linux an error of an earlier one
    /// waits for a datagram that could be sent.
    pub(super) fn send(
        &self,
        data: &[u8],
        to: Option<SocketAddr>,
        site: &'static Location<'static>,
    ) -> io::Result<usize> {
        self.send_from(data, to, None, site)
    }

    /// As [`send`](Self::send), from an address of the node, if one is given.
    pub(super) fn send_from(
        &self,
        data: &[u8],
        to: Option<SocketAddr>,
        from: Option<IpAddr>,
        site: &'static Location<'static>,
    ) -> io::Result<usize> {
        let hosts = self
            .hosts
            .upgrade()
            .ok_or_else(|| io::Error::other("the scenario that this socket belongs to is over"))?;
        let to = self.destination(&hosts, to, data.len())?;
        let from = match from {
            Some(own) => self.chosen(&hosts, own)?,
            None => self.source(&hosts, to.ip()),
        };
        let datagram = Datagram {
            from,
            to: to.ip(),
            data: Bytes::copy_from_slice(data),
        };
        let ways = self.ways(&hosts, to.ip())?;
        if let Some(error) = self.take_error() {
            return Err(error);
        }
        let options = hosts.state.with(|state| state.udp());
        let (hosts, sender) = (self.hosts.clone(), self.node);
        let abroad = elsewhere::may_be().then(|| Datagram {
            from: self.outside(from),
            ..datagram.clone()
        });
        let fly = move || {
            if let (Some(abroad), Some(hosts)) = (abroad, hosts.upgrade()) {
                if elsewhere::send(&hosts, sender, abroad, to) {
                    return Ok(());
                }
            }
            for node in ways {
                let flight = Flight {
                    hosts: hosts.clone(),
                    from: sender,
                    to: node,
                    addr: to,
                    load: Load::Datagram(datagram.clone()),
                    at_once: options.at_once && node == sender,
                    site,
                };
                match fate(options.loss, options.duplication) {
                    0 => {}
                    1 => flight.leave()?,
                    _ => {
                        flight.clone().leave()?;
                        flight.leave()?;
                    }
                }
            }
            io::Result::Ok(())
        };
        if self.world.elsewhere() {
            self.world.leave(move || drop(fly()));
        } else {
            fly()?;
        }
        Ok(data.len())
    }

    /// The address that receivers see.
    fn source(&self, hosts: &Hosts, to: IpAddr) -> SocketAddr {
        let local = self.local();
        let own = local.ip().to_canonical();
        let ip = match own.is_unspecified() || own.is_ipv4() != to.is_ipv4() {
            true => hosts
                .state
                .with(|state| state.source_address(self.node, to)),
            false => own,
        };
        SocketAddr::new(ip, local.port())
    }

    /// The address that the sender has chosen for receivers to see.
    fn chosen(&self, hosts: &Hosts, own: IpAddr) -> io::Result<SocketAddr> {
        let is_ours = (hosts.state).with(|state| state.host(self.node).may_bind(own));
        match is_ours {
            true => Ok(SocketAddr::new(own, self.local().port())),
            false => Err(Errno::ENETUNREACH.into()),
        }
    }

    /// The nodes that a datagram goes to.
    fn ways(&self, hosts: &Hosts, to: IpAddr) -> io::Result<Vec<NodeId>> {
        let broadcast = is_broadcast(to);
        if !broadcast && !to.is_multicast() {
            let node = hosts.state.with(|state| state.route(self.node, to))?;
            return Ok(vec![node]);
        }
        let (allowed, own) = self.state.with(|state| {
            let own = match to {
                _ if broadcast => true,
                IpAddr::V4(_) => state.loop_v4,
                IpAddr::V6(_) => state.loop_v6,
            };
            (state.broadcast || !broadcast, own)
        });
        if !allowed {
            let text = || "broadcasting needs set_broadcast(true)".to_owned();
            return Err(telling(Errno::EACCES, text));
        }
        let mut nodes = hosts.state.with(|state| state.nodes());
        nodes.retain(|&node| own || node != self.node);
        Ok(nodes)
    }
}

fn is_broadcast(ip: IpAddr) -> bool {
    ip == IpAddr::from(Ipv4Addr::BROADCAST) || ip == IpAddr::from(BROADCAST)
}

/// How many times a datagram arrives.
fn fate(loss: bool, duplication: bool) -> u32 {
    match (loss, duplication) {
        (false, false) => 1,
        (true, false) => 1 - shim::choose(2, "whether the datagram is lost"),
        (false, true) => 1 + shim::choose(2, "whether the datagram arrives twice"),
        (true, true) => [1, 0, 2][shim::choose(3, "how often the datagram arrives") as usize],
    }
}

impl Flight {
    fn leave(self) -> io::Result<()> {
        let Some(hosts) = self.hosts.upgrade() else {
            return Ok(());
        };
        let net = network()?;
        let key = (self.from.0, self.to.0, self.addr.port());
        let known = hosts.state.with(|state| state.udp_flows.get(&key).copied());
        let flow = known.unwrap_or_else(|| {
            let identity = mix2(0x7564_7000, u64::from(self.addr.port()));
            let (from, to) = (self.from, self.to);
            let flow = Network::open(&net, from, to, FlowKind::Loose, identity, self.site);
            hosts.state.with(|state| state.udp_flows.insert(key, flow));
            flow
        });
        match self.at_once {
            true => Network::send_at_once(&net, flow, Box::new(self)),
            false => Network::send(&net, flow, Box::new(self)),
        }
        Ok(())
    }
}

/// Whether what is sent there is for as many sockets as listen to it.
pub(super) fn is_for_several(addr: SocketAddr) -> bool {
    is_broadcast(addr.ip()) || addr.ip().is_multicast()
}

/// The sockets of a node that something sent to this address is for, and how much each has room for.
pub(super) fn receivers(hosts: &Hosts, node: NodeId, addr: SocketAddr) -> (Vec<Arc<Inner>>, usize) {
    let several = is_for_several(addr);
    let (mut sockets, room) = hosts.state.with(|state| {
        let room = state.udp().recv_buffer;
        let host = state.host(node);
        let sockets: Vec<Arc<Inner>> = if several {
            host.udp.sockets().cloned().collect()
        } else {
            host.udp.find(addr).into_iter().cloned().collect()
        };
        (sockets, room)
    });
    if several {
        sockets.retain(|socket| socket.listens_to(addr));
    }
    (sockets, room)
}

/// A datagram arrives at those of these sockets that take it. Returns whether any does.
pub(super) fn hand_over(datagram: &Datagram, mut sockets: Vec<Arc<Inner>>, room: usize) -> bool {
    // A socket that is connected to somebody else is none for this.
    sockets.retain(|socket| socket.takes_from(datagram.from));
    for socket in &sockets {
        socket.arrive(datagram.clone(), room);
    }
    !sockets.is_empty()
}

impl Arrival for Flight {
    fn arrive(self: Box<Self>) {
        let Some(hosts) = self.hosts.upgrade() else {
            return;
        };
        let (sockets, room) = receivers(&hosts, self.to, self.addr);
        match &self.load {
            Load::Datagram(datagram) => {
                let arrived = hand_over(datagram, sockets, room);
                if !arrived && !is_for_several(self.addr) {
                    let back = Flight {
                        from: self.to,
                        to: self.from,
                        addr: datagram.from,
                        load: Load::Unreachable(self.addr),
                        ..(*self).clone()
                    };
                    // What tells of a loss may be lost too.
                    let _ = back.leave();
                }
            }
            Load::Unreachable(peer) => sockets.iter().for_each(|socket| socket.unreachable(*peer)),
        }
    }

    fn copy(&self) -> Option<Box<dyn Arrival>> {
        Some(Box::new(self.clone()))
    }

    fn size(&self) -> usize {
        match &self.load {
            Load::Datagram(datagram) => HEADERS + datagram.data.len(),
            Load::Unreachable(_) => 2 * HEADERS,
        }
    }

    fn kind(&self) -> u64 {
        match self.load {
            Load::Datagram(_) => 6,
            Load::Unreachable(_) => 7,
        }
    }

    fn label(&self) -> &'static str {
        match self.load {
            Load::Datagram(_) => "datagram",
            Load::Unreachable(_) => "unreachable",
        }
    }
}
