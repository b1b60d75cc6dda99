//! A simulated network and simulated disks: every delivery and every fault is a choice.
//!
//! Sockets have the names and the meaning of `tokio::net`: `use cct_net as net`, and
//! [`TcpStream`], [`TcpListener`], [`UdpSocket`], [`UnixStream`] and the like are where they are
//! there; they read and write by the traits of `futures`. [`node()`] makes nodes with addresses,
//! [`fabric`] is what lies between them.

pub mod check;
mod descriptor;
pub mod dns;
mod errno;
pub mod fabric;
pub mod fault;
pub mod fs;
#[cfg(target_os = "linux")]
mod gate;
mod host;
pub mod io;
pub mod mailbox;
pub mod node;
#[cfg(unix)]
mod raw;
pub mod signal;
mod stream;
pub mod tcp;
pub mod udp;
pub mod unix;

pub use dns::{ToSocketAddrs, lookup_host};
pub use fault::buggify;
pub use host::machine;
pub use node::node;
pub use tcp::{TcpListener, TcpSocket, TcpStream};
pub use udp::UdpSocket;
pub use unix::{UnixDatagram, UnixListener, UnixSocket, UnixStream};
