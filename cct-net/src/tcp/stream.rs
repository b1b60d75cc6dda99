//! Connections.

use super::open::{self, Origin};
use super::settings::Settings;
use super::split::{self, OwnedReadHalf, OwnedWriteHalf, ReadHalf, WriteHalf};
use crate::descriptor::{Descriptor, Kind};
use crate::dns::{ToSocketAddrs, each};
use crate::host::{mapped, outside};
use crate::stream::carried::Carried;
use crate::stream::conn::Names;
use crate::stream::ops::End;
use crate::stream::{
    futures_read, futures_write, peek_methods, read_methods, ready_methods, stream_methods,
    write_methods,
};
use cct_executor::shim::Shared;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::panic::Location;
use std::time::Duration;

/// A TCP connection. Dropping it closes it: with unread data, or a linger time of zero, by a reset.
///
/// # Differences from tokio
/// It reads and writes by the traits of `futures`. Of the options that are set by its file descriptor the linger time
/// has an effect; what is sent, received and shut down by it is so in the world on Linux with the GNU C library.
pub struct TcpStream {
    end: End,
    addresses: [SocketAddr; 2],
    pub(super) settings: Shared<Settings>,
    pub(crate) descriptor: Descriptor,
}

impl TcpStream {
    /// One end of an open connection. A version 6 socket shows version 4 addresses in its own form.
    pub(crate) fn new(end: End, v6: bool) -> TcpStream {
        let Names::Inet(names) = end.conn.names else {
            unreachable!("cct bug: a TCP connection without addresses");
        };
        let shown = |id: usize| {
            let addr = outside(end.conn.nodes[id], names[id]);
            if v6 { mapped(addr) } else { addr }
        };
        let addresses = [shown(end.id), shown(1 - end.id)];
        TcpStream {
            addresses,
            end,
            settings: Shared::default(),
            descriptor: Descriptor::new(Kind::Tcp {
                v6: addresses[0].is_ipv6(),
            }),
        }
    }

    pub(super) fn end(&self) -> &End {
        &self.end
    }

    pub(super) fn addresses(&self) -> [SocketAddr; 2] {
        self.addresses
    }

    fn settings(&self) -> Settings {
        Settings::of(self.settings.with(|s| *s), &self.descriptor)
    }

    fn change(&self, change: impl FnOnce(&mut Settings)) {
        Settings::change(&self.settings, &self.descriptor, change);
    }

    pub(super) fn apply(&self, settings: Settings) {
        self.settings.with(|s| *s = settings);
        self.set_lingering(settings.linger);
        if settings.keepalive {
            self.end.conn.keep_alive(self.end.id);
        }
    }

    /// Connects to the first of the addresses that can be connected to.
    ///
    /// # Scheduling points
    /// One before each attempt, and one when a name is looked up.
    ///
    /// # Cancel safety
    /// Dropping the future gives the attempt up; the other side may see a connection that is reset.
    ///
    /// # Errors
    /// `ConnectionRefused` when nobody listens there, `TimedOut` when there is no answer,
    /// `HostUnreachable` when no node has the address, and what looking up the name says.
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(addr: A) -> impl Future<Output = io::Result<TcpStream>> {
        let site = Location::caller();
        let query = addr.query();
        each(query, site, move |addr| {
            open::connect(addr, Origin::default(), site)
        })
    }

    /// Whether small packets are sent without delay; false at first.
    ///
    /// # Errors
    /// None.
    pub fn nodelay(&self) -> io::Result<bool> {
        Ok(self.settings().nodelay)
    }

    /// Sets whether small packets are sent without delay. Here they always are.
    ///
    /// # Errors
    /// None.
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.change(|s| s.nodelay = nodelay);
        Ok(())
    }

    /// Whether what arrives is acknowledged at once; true at first.
    ///
    /// # Errors
    /// None.
    pub fn quickack(&self) -> io::Result<bool> {
        Ok(self.settings().quickack)
    }

    /// Sets whether what arrives is acknowledged at once. Here nobody can tell.
    ///
    /// # Errors
    /// None.
    pub fn set_quickack(&self, quickack: bool) -> io::Result<()> {
        self.change(|s| s.quickack = quickack);
        Ok(())
    }

    /// For how long closing waits for data to be delivered.
    ///
    /// # Errors
    /// None.
    pub fn linger(&self) -> io::Result<Option<Duration>> {
        Ok(self.settings().linger)
    }

    /// Sets for how long closing waits for data to be delivered. With zero it resets the
    /// connection.
    ///
    /// # Differences from tokio
    /// With more than zero, closing blocks the thread there; here it does not wait.
    ///
    /// # Errors
    /// None.
    pub fn set_linger(&self, dur: Option<Duration>) -> io::Result<()> {
        self.change(|s| s.linger = dur);
        self.set_lingering(dur);
        Ok(())
    }

    /// Makes closing reset the connection.
    ///
    /// # Errors
    /// None.
    pub fn set_zero_linger(&self) -> io::Result<()> {
        self.set_linger(Some(Duration::ZERO))
    }

    fn set_lingering(&self, linger: Option<Duration>) {
        let (conn, id) = (&self.end.conn, self.end.id);
        let zero = linger == Some(Duration::ZERO);
        conn.state.with(|state| state.sides[id].zero_linger = zero);
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
        self.change(|s| s.ttl = ttl);
        Ok(())
    }

    /// Lends the two directions.
    pub fn split(&mut self) -> (ReadHalf<'_>, WriteHalf<'_>) {
        (ReadHalf(self), WriteHalf(self))
    }

    /// Splits the stream into its two directions. Dropping the writing half shuts its direction
    /// down.
    pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
        split::split_owned(self)
    }

    ready_methods!(SocketAddr);
    read_methods!();
    write_methods!();
    stream_methods!();
    peek_methods!();
}

#[cfg(unix)]
impl Drop for TcpStream {
    fn drop(&mut self) {
        // By the descriptor it may have been set without a word.
        if self.descriptor.made().is_some() {
            self.set_lingering(self.settings().linger);
        }
    }
}

pub(crate) fn check_ttl(ttl: u32) -> io::Result<()> {
    if (1..=255).contains(&ttl) {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("a time to live of {ttl}: expected 1 to 255"),
    ))
}

impl Carried for TcpStream {
    type Read = OwnedReadHalf;
    type Write = OwnedWriteHalf;

    fn end(&self) -> &End {
        &self.end
    }

    fn halves(self) -> (OwnedReadHalf, OwnedWriteHalf) {
        self.into_split()
    }
}

futures_read!(TcpStream);
futures_write!(TcpStream);

impl AsRef<TcpStream> for TcpStream {
    fn as_ref(&self) -> &TcpStream {
        self
    }
}

// As in tokio: a panic leaves nothing half done behind a socket.
impl std::panic::UnwindSafe for TcpStream {}
impl std::panic::RefUnwindSafe for TcpStream {}

impl fmt::Debug for TcpStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TcpStream")
            .field("addr", &self.addresses[0])
            .field("peer", &self.addresses[1])
            .finish()
    }
}
