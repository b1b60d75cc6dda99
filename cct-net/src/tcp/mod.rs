//! TCP: the names of `tokio::net` and `tokio::net::tcp`.
//!
//! What an application sees of TCP is modelled: handshake, a backlog, byte streams with finite
//! buffers, half close, resets, time-outs. Each packet of a connection arrives in order, by an
//! action of its own.
//!
//! - What one write puts on its way arrives together, so a reader may see it before or after what
//!   the next write puts there; but of more than 64 KiB each 64 KiB by themselves.
//! - Acknowledgements and changes of the window are known at once, and get through a cut.
//! - What cannot get through is sent again until it can, or until
//!   [`Options::retransmission_timeout`] has passed.
//! - A connection on which nothing is sent never notices that the other side is gone, unless
//!   [keep-alive](TcpSocket::set_keepalive) was asked for: then it does after two hours, as on Linux.
//!   Programs that want to know sooner use time-outs or heartbeats of their own.
//! - Urgent data and `TIME_WAIT` are not modelled.

#[cfg(target_os = "linux")]
pub(crate) mod begun;
pub(crate) mod bridge;
#[cfg(unix)]
mod by_descriptor;
#[cfg(unix)]
mod convert;
mod listener;
pub(crate) mod open;
mod options;
#[cfg(target_os = "linux")]
pub(crate) mod promised;
mod settings;
mod socket;
mod split;
mod statistics;
mod stream;

pub use listener::TcpListener;
pub use options::{Options, configure, presume};
pub use socket::TcpSocket;
pub use split::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, WriteHalf};
pub use statistics::{Statistics, statistics};
pub use stream::TcpStream;
pub(crate) use stream::check_ttl;
