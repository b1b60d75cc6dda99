//! TCP: the names of `tokio::net` and `tokio::net::tcp`.
//!
//! What an application sees of TCP is modelled: handshake, a backlog, byte streams with finite
//! buffers, half close, resets, time-outs. Each packet of a connection arrives in order, by an
//! action of its own.
//!
//! - What one write puts on its way arrives together, so a reader may see it before or after what
//!   the next write puts there.
//! - Acknowledgements and changes of the window are known at once, and get through a cut.
//! - What cannot get through is sent again until it can, or until
//!   [`Options::retransmission_timeout`] has passed.
//! - Urgent data, `TIME_WAIT` and file descriptors are not modelled. Nor is keep-alive: a connection
//!   on which nothing is sent never notices that the other side is gone, as for its first two hours on
//!   Linux. Programs that want to know use time-outs or heartbeats of their own.

mod listener;
mod open;
mod options;
mod socket;
mod split;
mod statistics;
mod stream;

pub use listener::TcpListener;
pub use options::{Options, configure};
pub use socket::TcpSocket;
pub use split::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, WriteHalf};
pub use statistics::{Statistics, statistics};
pub use stream::TcpStream;
pub(crate) use stream::check_ttl;
