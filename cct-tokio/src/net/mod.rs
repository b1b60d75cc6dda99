//! `tokio::net` over the simulated network of [`cct_net`].
//!
//! A socket here is one of `cct_net` with tokio's I/O traits. What it can do besides, and where that
//! differs from tokio, is said there: it derefs to that socket.
//!
//! Streams hold as much that was not read as those of one machine do on Linux
//! ([`Options::loopback`](cct_net::tcp::Options::loopback)): programs that pass there have no more room. Who is to
//! find out what happens with less calls [`cct_net::tcp::configure`]. Datagrams between UDP sockets of one machine are
//! there, in order, when they were sent ([`Options::loopback`](cct_net::udp::Options::loopback)); those of another node
//! may overtake each other. Who is to find out what happens where all may calls [`cct_net::udp::configure`].
//!
//! Read next: `around`, `halves`, then `tcp`.

mod around;
mod datagrams;
mod forward;
mod halves;
pub mod tcp;
mod udp;
#[cfg(unix)]
pub mod unix;

pub use cct_net::{ToSocketAddrs, lookup_host};
pub use tcp::{TcpListener, TcpSocket, TcpStream};
pub use udp::UdpSocket;
#[cfg(unix)]
pub use unix::{UnixDatagram, UnixListener, UnixSocket, UnixStream};

/// To be called where a socket begins.
fn presume_loopback() {
    cct_net::tcp::presume(cct_net::tcp::Options::loopback());
    cct_net::udp::presume(cct_net::udp::Options::loopback());
    cct_net::machine::presume();
}
