//! The ports of one protocol at one host.

use crate::errno::{Errno, telling};
use cct_executor::shim::number_among_relatives;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};

/// Where ports that nobody chose come from.
pub(crate) const EPHEMERAL: std::ops::RangeInclusive<u16> = 32_768..=u16::MAX;

/// The first of them. Linux draws from those below, for sockets of the standard library in the same test
/// for one, and knows nothing of the ports that are in use here.
const FIRST: u16 = 61_000;

/// What is bound, by port.
pub(crate) struct Ports<S> {
    by_port: BTreeMap<u16, Vec<Binding<S>>>,
    next: u16,
    serial: u64,
}

/// Whether others may bind the same address, if they say the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Share {
    /// As long as neither listens: `SO_REUSEADDR`.
    pub(crate) addr: bool,
    /// Even if both listen: `SO_REUSEPORT`.
    pub(crate) port: bool,
}

struct Binding<S> {
    id: u64,
    ip: IpAddr,
    share: Share,
    /// Who gets what arrives there.
    socket: Option<S>,
}

impl<S> Default for Ports<S> {
    fn default() -> Self {
        Ports {
            by_port: BTreeMap::new(),
            next: first_drawn(),
            serial: 0,
        }
    }
}

/// Worlds of several threads of one test, each of which has a network, should not draw the same ports: all of them are
/// ports of one machine to the test.
fn first_drawn() -> u16 {
    const SHARE: u64 = 256;
    let shares = EPHEMERAL.len() as u64 / SHARE;
    let share = number_among_relatives().map_or(0, |number| number % shares);
    let offset = u64::from(FIRST - EPHEMERAL.start()) + share * SHARE;
    let offset = u16::try_from(offset % EPHEMERAL.len() as u64);
    EPHEMERAL.start() + offset.expect("cct bug: a share beyond all ports")
}

/// Whether two sockets at these addresses would get in each other's way.
fn overlap(a: IpAddr, b: IpAddr) -> bool {
    // A version 6 socket bound to all addresses serves version 4 too.
    let all = |ip: IpAddr, other: IpAddr| ip.is_unspecified() && (ip.is_ipv6() || other.is_ipv4());
    a == b || all(a, b) || all(b, a)
}

impl<S> Ports<S> {
    fn conflict(&self, addr: SocketAddr, share: Share) -> bool {
        let shared = |other: &Binding<S>| {
            share.port && other.share.port
                || share.addr && other.share.addr && other.socket.is_none()
        };
        self.by_port.get(&addr.port()).is_some_and(|bindings| {
            let mut bindings = bindings.iter();
            bindings.any(|other| overlap(other.ip, addr.ip()) && !shared(other))
        })
    }

    fn insert(&mut self, addr: SocketAddr, share: Share, socket: Option<S>) -> u64 {
        self.serial += 1;
        let binding = Binding {
            id: self.serial,
            ip: addr.ip(),
            share,
            socket,
        };
        self.by_port.entry(addr.port()).or_default().push(binding);
        self.serial
    }

    /// Binds an address; port 0 asks for any. Returns the port and the binding's number.
    pub(crate) fn bind(
        &mut self,
        addr: SocketAddr,
        share: Share,
        socket: Option<S>,
    ) -> io::Result<(u16, u64)> {
        let addr = match addr.port() {
            0 => SocketAddr::new(addr.ip(), self.ephemeral()?),
            _ => addr,
        };
        if self.conflict(addr, share) {
            return Err(taken(addr));
        }
        Ok((addr.port(), self.insert(addr, share, socket)))
    }

    /// Fails where somebody has the address `inside` whom programs know by `addr`.
    pub(super) fn nobody_is_known_as(
        &self,
        addr: SocketAddr,
        inside: SocketAddr,
    ) -> io::Result<()> {
        if inside == addr || self.find(inside).is_empty() {
            return Ok(());
        }
        Err(taken(addr))
    }

    /// A port that nobody uses.
    fn ephemeral(&mut self) -> io::Result<u16> {
        for _ in EPHEMERAL {
            let port = self.next;
            self.next = if port == *EPHEMERAL.end() {
                *EPHEMERAL.start()
            } else {
                port + 1
            };
            if !self.by_port.contains_key(&port) {
                return Ok(port);
            }
        }
        Err(telling(Errno::EADDRINUSE, || {
            "all ports from 32768 to 65535 are in use".to_owned()
        }))
    }

    /// A connection that was accepted at an address shares its port.
    pub(crate) fn join(&mut self, addr: SocketAddr) -> u64 {
        let listeners = self.by_port.get(&addr.port());
        let all = |shares: fn(Share) -> bool| {
            listeners.is_none_or(|all| all.iter().all(|binding| shares(binding.share)))
        };
        let share = Share {
            addr: all(|share| share.addr),
            port: all(|share| share.port),
        };
        self.insert(addr, share, None)
    }

    /// A bound socket starts to listen.
    pub(crate) fn listen(&mut self, addr: SocketAddr, id: u64, socket: S) -> io::Result<()> {
        let bindings = self.by_port.entry(addr.port()).or_default();
        let own = bindings.iter().find(|binding| binding.id == id);
        let shares = own.is_some_and(|binding| binding.share.port);
        let taken_by_other = bindings.iter().any(|other| {
            other.id != id
                && other.socket.is_some()
                && overlap(other.ip, addr.ip())
                && !(shares && other.share.port)
        });
        if taken_by_other {
            return Err(taken(addr));
        }
        if let Some(binding) = bindings.iter_mut().find(|binding| binding.id == id) {
            binding.socket = Some(socket);
        }
        Ok(())
    }

    /// A socket that was bound to all addresses has one of them now, and the others are free.
    pub(crate) fn narrow(&mut self, addr: SocketAddr, id: u64) {
        let mut bindings = self.by_port.get_mut(&addr.port()).into_iter().flatten();
        if let Some(binding) = bindings.find(|binding| binding.id == id) {
            binding.ip = addr.ip().to_canonical();
        }
    }

    pub(crate) fn release(&mut self, port: u16, id: u64) -> Option<S> {
        let bindings = self.by_port.get_mut(&port)?;
        let at = bindings.iter().position(|binding| binding.id == id)?;
        let binding = bindings.remove(at);
        if bindings.is_empty() {
            self.by_port.remove(&port);
        }
        binding.socket
    }

    /// Who may get what is sent to this address: those that bound just it, else those that bound all.
    pub(crate) fn find(&self, addr: SocketAddr) -> Vec<&S> {
        let bindings = self.by_port.get(&addr.port()).map_or(&[][..], |all| all);
        let at = |which: &dyn Fn(&Binding<S>) -> bool| {
            let found = bindings.iter().filter(|binding| which(binding));
            let found = found.filter_map(|binding| binding.socket.as_ref());
            found.collect::<Vec<&S>>()
        };
        let exact = at(&|binding| binding.ip == addr.ip());
        if !exact.is_empty() {
            return exact;
        }
        at(&|binding| binding.ip.is_unspecified() && overlap(binding.ip, addr.ip()))
    }

    /// As [`sockets`](Self::sockets), with the addresses.
    pub(crate) fn bound(&self) -> impl Iterator<Item = (SocketAddr, &S)> {
        let bindings = self.by_port.iter();
        let bindings = bindings.flat_map(|(&port, all)| all.iter().map(move |one| (port, one)));
        bindings.filter_map(|(port, binding)| {
            let socket = binding.socket.as_ref()?;
            Some((SocketAddr::new(binding.ip, port), socket))
        })
    }

    /// All sockets that something may arrive at, in order of ports.
    pub(crate) fn sockets(&self) -> impl Iterator<Item = &S> {
        let bindings = self.by_port.values().flatten();
        bindings.filter_map(|binding| binding.socket.as_ref())
    }

    /// Frees all ports, and returns who had them.
    pub(crate) fn clear(&mut self) -> Vec<S> {
        let bindings = std::mem::take(&mut self.by_port).into_values().flatten();
        bindings.filter_map(|binding| binding.socket).collect()
    }
}

fn taken(addr: SocketAddr) -> io::Error {
    telling(Errno::EADDRINUSE, || format!("{addr} is in use already"))
}
