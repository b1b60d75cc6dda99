//! UDP: the names of `tokio::net`.
//!
//! Datagrams to one port of one node may overtake each other; with [`Options::at_once`] those between sockets
//! of one node do not. They are lost where a link is cut, a rule says so, the receiver's buffer is full or nobody
//! is bound; besides, where [`Options::loss`] makes it a choice.

mod bufs;
mod by_descriptor;
#[cfg(unix)]
mod convert;
mod elsewhere;
pub(crate) mod inner;
mod options;
pub(crate) mod send;
mod settings;
mod socket;

pub use options::{Options, configure, presume};
pub use socket::UdpSocket;
