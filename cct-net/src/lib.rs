//! A simulated network and simulated disks: every delivery and every fault is a choice.

pub mod check;
pub mod dns;
pub mod fabric;
mod host;
pub mod io;
pub mod node;
mod stream;
pub mod tcp;
pub mod udp;
pub mod unix;

pub use dns::{ToSocketAddrs, lookup_host};
pub use node::node;
pub use tcp::{TcpListener, TcpSocket, TcpStream};
pub use udp::UdpSocket;
pub use unix::{UnixDatagram, UnixListener, UnixStream};
