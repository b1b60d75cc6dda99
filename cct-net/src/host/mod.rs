//! Hosts: what the kernels of the nodes know: addresses, names, ports, open connections.
//!
//! 1. A node's host is made when it is first asked for; its addresses and the state of its port
//!    counters survive crashes.
//! 2. Sockets of a node that goes down are closed or fall silent before its tasks are dropped, so
//!    that what its destructors do is not mistaken for an orderly end.
//!
//! Read next: [`ports`], [`names`], then `stream`.

mod down;
pub(crate) mod drawn;
pub mod machine;
pub(crate) mod names;
mod netstat;
pub(crate) mod ports;

use crate::descriptor::{Lent, Shown};
use crate::errno::{Errno, telling};
use crate::stream::conn::{Conn, Names};
use crate::stream::listening::Listening;
use crate::stream::state::SideId;
use crate::udp::inner::Inner as UdpInner;
use crate::udp::send::Flows as UdpFlows;
use crate::unix::registry::Paths;
use crate::{tcp, udp};
use cct_executor::node::{NodeId, current};
use cct_executor::shim::{self, Access, OpKind, Resource, ResourceKind, Shared};
use drawn::Drawn;
use ports::Ports;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::panic::Location;
use std::sync::Arc;
use std::task::Poll;

/// All hosts of one world.
pub(crate) struct Hosts {
    pub(crate) state: Shared<State>,
}

#[derive(Default)]
pub(crate) struct State {
    hosts: BTreeMap<u16, Host>,
    owners: BTreeMap<IpAddr, NodeId>,
    names: BTreeMap<String, Vec<IpAddr>>,
    /// Names and addresses that were asked for and that the world does not have.
    strangers: BTreeSet<String>,
    conns: u64,
    /// If somebody has said how it works.
    pub(crate) tcp: Option<tcp::Options>,
    /// The same.
    pub(crate) udp: Option<udp::Options>,
    pub(crate) udp_flows: UdpFlows,
    /// Sockets that stand with others as the standard library's.
    #[cfg_attr(not(unix), expect(dead_code, reason = "there are none"))]
    pub(crate) lent: Lent,
    /// Sockets whose descriptors are used.
    pub(crate) shown: Shown,
    /// Connections that programs have begun by the kernel's call.
    #[cfg(target_os = "linux")]
    pub(crate) begun: tcp::begun::Begun,
    /// For TCP, and for UDP.
    pub(crate) drawn: Drawn,
    pub(crate) udp_drawn: Drawn,
    /// The test may bind the addresses of the machine.
    on_machine: bool,
    pub(crate) bridges: tcp::bridge::Bridges,
    /// What is carried on to other worlds.
    pub(crate) leaving: Vec<crate::stream::carried::Leaving>,
    #[cfg(target_os = "linux")]
    pub(crate) promised: tcp::promised::Promised,
}

/// One node's kernel.
pub(crate) struct Host {
    /// Stands for the tables: binding is an operation on it.
    resource: Arc<Resource>,
    v4: Vec<IpAddr>,
    v6: Vec<IpAddr>,
    pub(crate) tcp: Ports<Arc<Listening>>,
    pub(crate) udp: Ports<Arc<UdpInner>>,
    pub(crate) unix: Paths,
    conns: BTreeMap<(u64, SideId), Open>,
    pub(crate) statistics: tcp::Statistics,
}

/// A connection with a handle, or in a queue of connections to accept.
struct Open {
    conn: Arc<Conn>,
    /// Port and number of its binding.
    binding: Option<(u16, u64)>,
}

/// The hosts of the running world.
///
/// # Errors
/// Outside a world.
pub(crate) fn hosts() -> io::Result<Arc<Hosts>> {
    shim::source(|| Hosts {
        state: Shared::new(State::default()),
    })
    .map(|source| Arc::clone(&source))
    .ok_or_else(|| {
        io::Error::new(
            ErrorKind::Unsupported,
            "sockets exist inside a scenario only, as in a test with #[cct_executor::test]",
        )
    })
}

/// The TCP connections between a node and others that are open at both ends, oldest first.
pub(crate) fn established(node: NodeId) -> Vec<Arc<Conn>> {
    let Ok(hosts) = hosts() else {
        return Vec::new();
    };
    let mut conns: Vec<Arc<Conn>> = hosts.state.with(|state| {
        let opened = state.hosts.values().flat_map(|host| host.conns.values());
        let conns = opened.map(|open| &open.conn);
        let ours =
            conns.filter(|conn| conn.nodes.contains(&node) && conn.nodes[0] != conn.nodes[1]);
        ours.cloned().collect()
    });
    conns.sort_by_key(|conn| conn.serial);
    conns.dedup_by_key(|conn| conn.serial);
    conns.retain(|conn| conn.state.with(|state| state.is_established()));
    conns
}

/// Addresses that nodes without explicit ones have.
fn automatic(number: u32) -> [IpAddr; 2] {
    let v4 = Ipv4Addr::from(u32::from(Ipv4Addr::new(10, 0, 0, 0)) + number);
    let v6 = Ipv6Addr::from((0xfd00_u128 << 112) + u128::from(number));
    [v4.into(), v6.into()]
}

/// The number in the automatic address of the test itself.
const TEST: u32 = 0x00ff_fffd;

impl State {
    pub(crate) fn tcp(&self) -> tcp::Options {
        self.tcp
            .unwrap_or_else(|| tcp::Options::default().as_asked_for())
    }

    pub(crate) fn udp(&self) -> udp::Options {
        self.udp.unwrap_or_default()
    }

    /// A node's host.
    pub(crate) fn host(&mut self, node: NodeId) -> &mut Host {
        if !self.hosts.contains_key(&node.0) {
            let host = self.make_host(node);
            self.hosts.insert(node.0, host);
        }
        self.hosts.get_mut(&node.0).expect("cct bug: no such host")
    }

    /// A node's host, if it was asked for before.
    fn host_if_any(&mut self, node: NodeId) -> Option<&mut Host> {
        self.hosts.get_mut(&node.0)
    }

    fn make_host(&mut self, node: NodeId) -> Host {
        let mut number = match node.0 {
            0 => TEST,
            n => u32::from(n),
        };
        // Explicit addresses come first; these give way.
        while automatic(number)
            .iter()
            .any(|ip| self.owners.contains_key(ip))
        {
            number += 0x0001_0000;
        }
        let [v4, v6] = automatic(number);
        self.owners.insert(v4, node);
        self.owners.insert(v6, node);
        Host {
            resource: Arc::new(Resource::at(ResourceKind::Node, Location::caller())),
            v4: vec![v4],
            v6: vec![v6],
            tcp: Ports::default(),
            udp: Ports::default(),
            unix: Paths::default(),
            conns: BTreeMap::new(),
            statistics: tcp::Statistics::default(),
        }
    }

    /// The node that a packet of this node to this address goes to.
    pub(crate) fn route(&mut self, from: NodeId, ip: IpAddr) -> io::Result<NodeId> {
        self.host(from);
        let ip = ip.to_canonical();
        if ip.is_loopback() || ip.is_unspecified() {
            return Ok(from);
        }
        if !self.owners.contains_key(&ip) {
            self.adopt(from, ip);
        }
        self.owners.get(&ip).copied().ok_or_else(|| {
            self.strangers.insert(ip.to_string());
            let text = format!("no node has the address {ip}");
            io::Error::new(ErrorKind::HostUnreachable, text)
        })
    }

    /// The address that a node uses towards this one.
    pub(crate) fn source_address(&mut self, node: NodeId, to: IpAddr) -> IpAddr {
        self.adopt(node, to);
        let host = self.host(node);
        match to {
            IpAddr::V4(ip) if ip.is_loopback() || ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_loopback() || ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            // As the kernel does, a node calls itself by the address that it is called by.
            own if host.v4.contains(&own) || host.v6.contains(&own) => own,
            IpAddr::V4(_) => host.v4[0],
            IpAddr::V6(_) => host.v6[0],
        }
    }

    /// A node's host, where it may bind this address.
    ///
    /// # Errors
    /// `AddrNotAvailable`: it is no address of the node.
    pub(crate) fn host_at(&mut self, node: NodeId, ip: IpAddr) -> io::Result<&mut Host> {
        self.adopt(node, ip);
        let host = self.host(node);
        if host.may_bind(ip) {
            return Ok(host);
        }
        Err(telling(Errno::EADDRNOTAVAIL, || {
            format!("{ip} is no address of this node")
        }))
    }

    /// Fails where a listener is known by this address that the world has elsewhere, as the kernel has drawn its port.
    pub(crate) fn nobody_listens_as(&mut self, node: NodeId, addr: SocketAddr) -> io::Result<()> {
        let inside = self.drawn.inside(node, addr, false);
        self.host(node).tcp.nobody_is_known_as(addr, inside)
    }

    /// The same of a socket for datagrams.
    pub(crate) fn nobody_receives_as(&mut self, node: NodeId, addr: SocketAddr) -> io::Result<()> {
        let inside = self.udp_drawn.inside(node, addr, false);
        self.host(node).udp.nobody_is_known_as(addr, inside)
    }

    /// Nodes that have a host.
    pub(crate) fn nodes(&self) -> Vec<NodeId> {
        self.hosts.keys().map(|&id| NodeId(id)).collect()
    }

    /// A number for a new connection.
    pub(crate) fn next_conn(&mut self) -> u64 {
        self.conns += 1;
        self.conns
    }

    /// Whether anybody listens at what programs call so, at a node itself.
    #[cfg(target_os = "linux")]
    pub(crate) fn one_listens(&mut self, node: NodeId, to: SocketAddr) -> bool {
        let named = !self.host(node).tcp.find(to).is_empty();
        let inside = self.drawn.inside(node, to, named);
        named || !self.host(node).tcp.find(inside).is_empty()
    }

    pub(crate) fn add_conn(
        &mut self,
        node: NodeId,
        conn: &Arc<Conn>,
        side: SideId,
        binding: Option<(u16, u64)>,
    ) {
        let open = Open {
            conn: conn.clone(),
            binding,
        };
        self.host(node).conns.insert((conn.serial, side), open);
    }
}

impl Host {
    /// Whether the address is one of this host's, or stands for all.
    pub(crate) fn may_bind(&self, ip: IpAddr) -> bool {
        ip.is_unspecified() || ip.is_loopback() || self.v4.contains(&ip) || self.v6.contains(&ip)
    }

    /// Its addresses, those of version 4 first.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = IpAddr> {
        self.v4.iter().chain(&self.v6).copied()
    }
}

impl Hosts {
    /// The scheduling point of an operation on the running task's host.
    pub(crate) fn point(
        &self,
        kind: OpKind,
        access: Access,
        site: &'static Location<'static>,
    ) -> Poll<()> {
        self.host_resource().point(kind, access, site)
    }

    /// As [`point`](Self::point), for synchronous operations.
    pub(crate) fn sync_point(&self, kind: OpKind, site: &'static Location<'static>) {
        self.host_resource().sync_point(kind, Access::Write, site);
    }

    fn host_resource(&self) -> Arc<Resource> {
        self.state
            .with(|state| state.host(current()).resource.clone())
    }

    /// Who listens where side 0 of a connection wants to go. Enters side 1 in its host's table.
    pub(crate) fn listener_for(&self, conn: &Arc<Conn>) -> Option<Arc<Listening>> {
        let Names::Inet([_, to]) = conn.names else {
            return None;
        };
        let node = conn.nodes[1];
        let count = self.state.with(|state| state.host(node).tcp.find(to).len());
        let at = match count {
            0 => return None,
            1 => 0,
            // They share the port.
            _ => shim::choose(count as u32, "which listener gets the connection"),
        };
        self.state.with(|state| {
            let host = state.host(node);
            let listener = Arc::clone(host.tcp.find(to).get(at as usize)?);
            let id = host.tcp.join(to);
            state.add_conn(node, conn, 1, Some((to.port(), id)));
            Some(listener)
        })
    }

    /// A handle of a connection is gone.
    pub(crate) fn forget_conn(&self, conn: &Arc<Conn>, side: SideId) {
        let open = self.state.with(|state| {
            let node = conn.nodes[side];
            let host = state.host(node);
            let open = host.conns.remove(&(conn.serial, side));
            if let Some((port, id)) = open.as_ref().and_then(|open| open.binding) {
                host.tcp.release(port, id);
            }
            open
        });
        drop(open);
    }
}

/// What programs call an address of a node (see [`drawn`]).
pub(crate) fn outside(node: NodeId, addr: SocketAddr) -> SocketAddr {
    let shown = |hosts: Arc<Hosts>| hosts.state.with(|state| state.drawn.outside(node, addr));
    hosts().map_or(addr, shown)
}

/// The same port at a version 6 address that stands for a version 4 address.
pub(crate) fn mapped(addr: SocketAddr) -> SocketAddr {
    match addr.ip() {
        IpAddr::V4(ip) => SocketAddr::new(ip.to_ipv6_mapped().into(), addr.port()),
        IpAddr::V6(_) => addr,
    }
}
