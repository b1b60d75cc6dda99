//! Sockets that are configured before they connect or listen.

use super::open::{self, Origin};
use super::settings::Settings;
use super::{TcpListener, TcpStream};
use crate::descriptor::{Descriptor, Kind, inherits};
#[cfg(target_os = "linux")]
use crate::gate;
use crate::host::ports::Share;
use crate::host::{Hosts, hosts};
#[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
use crate::io::device;
use crate::io::service::Service;
use crate::stream::listening::{Buffers, Listening};
use cct_executor::node::{NodeId, current};
use cct_executor::shim::{OpKind, Shared};
use std::fmt;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::panic::Location;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// A TCP socket that neither connects nor listens yet.
///
/// # Differences from tokio
/// No devices to bind to. Of the options that are set by its file descriptor linger time and keep-alive have an effect.
/// Sizes of buffers are exactly what they are set to, where Linux doubles them.
pub struct TcpSocket {
    v6: bool,
    node: NodeId,
    hosts: Weak<Hosts>,
    state: Shared<Config>,
    pub(super) descriptor: Descriptor,
}

#[derive(Clone, Copy, Default)]
struct Config {
    share: Share,
    buffers: Buffers,
    settings: Settings,
    service: Service,
    /// Address and number of the binding.
    bound: Option<(SocketAddr, u64)>,
    /// What the program has asked it to be bound to.
    asked: Option<SocketAddr>,
}

/// The bits of a type of service with which TCP tells of congestion.
const CONGESTION: u32 = 3;

inherits!(TcpStream, TcpListener);

impl TcpSocket {
    pub(super) fn new(v6: bool) -> io::Result<TcpSocket> {
        Ok(TcpSocket {
            v6,
            node: current(),
            hosts: Arc::downgrade(&hosts()?),
            state: Shared::default(),
            descriptor: Descriptor::new(Kind::Tcp { v6 }),
        })
    }

    /// A socket for IPv4.
    ///
    /// # Errors
    /// Outside a world.
    pub fn new_v4() -> io::Result<TcpSocket> {
        TcpSocket::new(false)
    }

    /// A socket for IPv6.
    ///
    /// # Errors
    /// Outside a world.
    pub fn new_v6() -> io::Result<TcpSocket> {
        TcpSocket::new(true)
    }

    fn set(&self, change: impl FnOnce(&mut Config)) -> io::Result<()> {
        self.state.with(change);
        Ok(())
    }

    fn config(&self) -> Config {
        self.state.with(|config| *config)
    }

    /// With whom it shares its address: also as its descriptor has been told, by `socket2` say.
    fn share(&self) -> Share {
        let said = self.config().share;
        #[cfg(unix)]
        if let Some(fd) = self.descriptor.made() {
            let told = socket2::SockRef::from(&fd);
            return Share {
                addr: said.addr || told.reuse_address().unwrap_or(false),
                port: said.port || told.reuse_port().unwrap_or(false),
            };
        }
        said
    }

    /// Sets whether it may bind an address at which there are sockets that do not listen.
    ///
    /// # Errors
    /// None.
    pub fn set_reuseaddr(&self, reuseaddr: bool) -> io::Result<()> {
        self.set(|config| config.share.addr = reuseaddr)
    }

    /// Whether it may bind an address at which there are sockets that do not listen.
    ///
    /// # Errors
    /// None.
    pub fn reuseaddr(&self) -> io::Result<bool> {
        Ok(self.share().addr)
    }

    /// Sets whether it may share an address with others that say the same, listeners included. Which
    /// of several listeners gets a connection is a choice.
    ///
    /// # Errors
    /// None.
    pub fn set_reuseport(&self, reuseport: bool) -> io::Result<()> {
        self.set(|config| config.share.port = reuseport)
    }

    /// Whether it may share an address with others that say the same.
    ///
    /// # Errors
    /// None.
    pub fn reuseport(&self) -> io::Result<bool> {
        Ok(self.share().port)
    }

    /// Sets how many bytes it holds that have not arrived.
    ///
    /// # Errors
    /// None.
    pub fn set_send_buffer_size(&self, size: u32) -> io::Result<()> {
        self.set(|config| config.buffers.send = Some(size.max(1) as usize))
    }

    /// How many bytes it holds that have not arrived.
    ///
    /// # Errors
    /// Outside the world it was made in.
    pub fn send_buffer_size(&self) -> io::Result<u32> {
        let chosen = self.config().buffers.send;
        let size = chosen.map_or_else(|| self.default_buffers().map(|b| b.0), Ok)?;
        Ok(u32::try_from(size).unwrap_or(u32::MAX))
    }

    /// Sets how many bytes it holds that arrived and were not read.
    ///
    /// # Errors
    /// None.
    pub fn set_recv_buffer_size(&self, size: u32) -> io::Result<()> {
        self.set(|config| config.buffers.recv = Some(size.max(1) as usize))
    }

    /// How many bytes it holds that arrived and were not read.
    ///
    /// # Errors
    /// Outside the world it was made in.
    pub fn recv_buffer_size(&self) -> io::Result<u32> {
        let chosen = self.config().buffers.recv;
        let size = chosen.map_or_else(|| self.default_buffers().map(|b| b.1), Ok)?;
        Ok(u32::try_from(size).unwrap_or(u32::MAX))
    }

    fn default_buffers(&self) -> io::Result<(usize, usize)> {
        let options = self.hosts()?.state.with(|state| state.tcp());
        Ok((options.send_buffer, options.recv_buffer))
    }

    fn hosts(&self) -> io::Result<Arc<Hosts>> {
        let over = || io::Error::other("the scenario that this socket belongs to is over");
        self.hosts.upgrade().ok_or_else(over)
    }

    #[cfg(unix)]
    pub(super) fn known_settings(&self) -> Settings {
        self.config().settings
    }

    fn settings(&self) -> Settings {
        Settings::of(self.config().settings, &self.descriptor)
    }

    fn change(&self, change: impl FnOnce(&mut Settings)) -> io::Result<()> {
        let mut settings = self.settings();
        change(&mut settings);
        settings.tell(&self.descriptor);
        self.set(|config| config.settings = settings)
    }

    /// Sets for how long closing waits for data; with zero it resets the connection.
    ///
    /// # Errors
    /// None.
    pub fn set_linger(&self, dur: Option<Duration>) -> io::Result<()> {
        self.change(|settings| settings.linger = dur)
    }

    /// Makes closing reset the connection.
    ///
    /// # Errors
    /// None.
    pub fn set_zero_linger(&self) -> io::Result<()> {
        self.set_linger(Some(Duration::ZERO))
    }

    /// For how long closing waits for data.
    ///
    /// # Errors
    /// None.
    pub fn linger(&self) -> io::Result<Option<Duration>> {
        Ok(self.settings().linger)
    }

    /// Sets whether small packets are sent without delay. Here they always are.
    ///
    /// # Errors
    /// None.
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.change(|settings| settings.nodelay = nodelay)
    }

    /// Whether small packets are sent without delay; false at first.
    ///
    /// # Errors
    /// None.
    pub fn nodelay(&self) -> io::Result<bool> {
        Ok(self.settings().nodelay)
    }

    /// Whether the kernel looks after the other side while nothing is sent; false at first.
    ///
    /// # Errors
    /// None.
    pub fn keepalive(&self) -> io::Result<bool> {
        Ok(self.settings().keepalive)
    }

    /// Sets whether the kernel looks after the other side while nothing is sent, of connections that it
    /// accepts too. After two hours without a word it asks: a host that does not know the connection
    /// resets it, and with one that cannot be reached it is `TimedOut` after 675 seconds more
    /// ([`Options`](super::Options)).
    ///
    /// # Differences from tokio
    /// The two hours begin when the other side goes or is cut off, not with the last word from it; what
    /// is cut on the way back alone is not noticed.
    ///
    /// # Errors
    /// None.
    pub fn set_keepalive(&self, keepalive: bool) -> io::Result<()> {
        self.change(|settings| settings.keepalive = keepalive)
    }

    /// The type of service of what it sends; 0 at first.
    ///
    /// # Errors
    /// None.
    pub fn tos_v4(&self) -> io::Result<u32> {
        Ok(self.config().service.tos)
    }

    /// Sets the type of service of what it sends, of which six bits count: the last two of eight are
    /// those of TCP itself. Links here treat all alike.
    ///
    /// # Errors
    /// None.
    pub fn set_tos_v4(&self, tos: u32) -> io::Result<()> {
        self.set(|config| config.service.set_tos(tos & !CONGESTION))
    }

    /// The traffic class of what it sends; 0 at first.
    ///
    /// # Errors
    /// EOPNOTSUPP for a socket of version 4.
    pub fn tclass_v6(&self) -> io::Result<u32> {
        self.config().service.class(self.v6)
    }

    /// Sets the traffic class of what it sends, of which six bits count, as for
    /// [`set_tos_v4`](Self::set_tos_v4).
    ///
    /// # Errors
    /// ENOPROTOOPT for a socket of version 4; EINVAL for more than 255.
    pub fn set_tclass_v6(&self, tclass: u32) -> io::Result<()> {
        let kept = if tclass <= 255 {
            tclass & !CONGESTION
        } else {
            tclass
        };
        self.state
            .with(|config| config.service.set_class(self.v6, kept))
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

    /// Takes an error that nobody was told yet. There is none before it connects.
    ///
    /// # Errors
    /// None.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        Ok(None)
    }

    /// The address it is bound to; all addresses and port 0 before.
    ///
    /// # Errors
    /// None.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        let bound = self.config().bound.map(|(addr, _)| addr);
        Ok(bound.unwrap_or_else(|| self.anywhere()))
    }

    fn anywhere(&self) -> SocketAddr {
        let ip: IpAddr = match self.v6 {
            true => Ipv6Addr::UNSPECIFIED.into(),
            false => Ipv4Addr::UNSPECIFIED.into(),
        };
        SocketAddr::new(ip, 0)
    }

    fn check_family(&self, addr: SocketAddr) -> io::Result<()> {
        if addr.is_ipv6() == self.v6 {
            return Ok(());
        }
        let version = if self.v6 { 6 } else { 4 };
        Err(io::Error::new(
            ErrorKind::InvalidInput,
            format!("{addr} is no address for a socket of IP version {version}"),
        ))
    }

    /// Binds an address. Port 0 asks for a free one.
    ///
    /// # Scheduling points
    /// One before binding, at granularity `sync`.
    ///
    /// # Errors
    /// `AddrInUse` when somebody is bound there, `AddrNotAvailable` when the address is not one of
    /// the node's, `InvalidInput` when it is of the other version or the socket is bound already.
    #[track_caller]
    pub fn bind(&self, addr: SocketAddr) -> io::Result<()> {
        self.check_family(addr)?;
        self.bind_at(addr, Location::caller())?;
        self.set(|config| config.asked = Some(addr))
    }

    pub(super) fn bind_at(
        &self,
        addr: SocketAddr,
        site: &'static Location<'static>,
    ) -> io::Result<()> {
        let (Config { bound, .. }, share) = (self.config(), self.share());
        if let Some((addr, _)) = bound {
            let text = format!("the socket is bound to {addr} already");
            return Err(io::Error::new(ErrorKind::InvalidInput, text));
        }
        let hosts = self.hosts()?;
        hosts.sync_point(OpKind::Init, site);
        let (port, id) = hosts.state.with(|state| {
            if !share.port {
                state.nobody_listens_as(self.node, addr)?;
            }
            let host = state.host_at(self.node, addr.ip())?;
            host.tcp.bind(addr, share, None)
        })?;
        let addr = SocketAddr::new(addr.ip(), port);
        self.set(|config| config.bound = Some((addr, id)))
    }

    /// Connects.
    ///
    /// # Scheduling points
    /// One before the attempt.
    ///
    /// # Cancel safety
    /// Dropping the future gives the attempt up.
    ///
    /// # Errors
    /// As for [`TcpStream::connect`].
    #[track_caller]
    pub fn connect(mut self, addr: SocketAddr) -> impl Future<Output = io::Result<TcpStream>> {
        let site = Location::caller();
        async move {
            self.check_family(addr)?;
            let (origin, settings) = self.connects()?;
            let mut stream = open::connect(addr, origin, site).await?;
            stream.apply(settings);
            stream.inherit(&mut self.descriptor);
            Ok(stream)
        }
    }

    /// What its connection has of it. From here on the binding is that one's.
    pub(super) fn connects(&self) -> io::Result<(Origin, Settings)> {
        let (config, settings) = (self.config(), self.settings());
        let origin = Origin {
            bound: config.bound,
            buffers: config.buffers,
            client: None,
        };
        self.set(|config| config.bound = None)?;
        Ok((origin, settings))
    }

    /// Listens, with room for that many connections that wait to be accepted, and one more.
    ///
    /// # Scheduling points
    /// One before listening, at granularity `sync`.
    ///
    /// # Errors
    /// `AddrInUse` when somebody listens at the address.
    #[track_caller]
    pub fn listen(mut self, backlog: u32) -> io::Result<TcpListener> {
        let site = Location::caller();
        if self.config().bound.is_none() {
            self.bind_at(self.anywhere(), site)?;
            self.set(|config| config.asked = Some(self.anywhere()))?;
        }
        let config = self.config();
        let (addr, id) = config.bound.expect("cct bug: bound, and not bound");
        let hosts = self.hosts()?;
        hosts.sync_point(OpKind::Init, site);
        let listening = Listening::new(backlog, config.buffers, site);
        hosts.state.with(|state| {
            let host = state.host(self.node);
            host.tcp.listen(addr, id, listening.clone())
        })?;
        self.set(|config| config.bound = None)?;
        let mut listener = TcpListener::new(listening, addr, id, self.settings())?;
        #[cfg(target_os = "linux")]
        if let Some(asked) = config.asked {
            if let Some(kernels) = gate::kernels(asked, self.share().port)? {
                listener.is_shown_at(kernels, asked)?;
            }
        }
        listener.inherit(&mut self.descriptor);
        Ok(listener)
    }
}

impl Drop for TcpSocket {
    fn drop(&mut self) {
        let bound = self.config().bound;
        if let (Some((addr, id)), Some(hosts)) = (bound, self.hosts.upgrade()) {
            let released = hosts
                .state
                .with(|state| state.host(self.node).tcp.release(addr.port(), id));
            drop(released);
        }
    }
}

// As in tokio: a panic leaves nothing half done behind a socket.
impl std::panic::UnwindSafe for TcpSocket {}
impl std::panic::RefUnwindSafe for TcpSocket {}

impl fmt::Debug for TcpSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TcpSocket")
            .field("addr", &self.config().bound.map(|(addr, _)| addr))
            .finish()
    }
}
