//! `tokio::net` over the simulated network of [`cct_net`].
//!
//! A socket here is one of `cct_net` with tokio's I/O traits. What it can do besides, and where that
//! differs from tokio, is said there: it derefs to that socket.
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
