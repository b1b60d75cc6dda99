//! Unix sockets, inside a node: the names of `tokio::net` and `tokio::net::unix`.
//!
//! What is sent arrives at once. Paths are names in a table of the node, none of the machine's files: a path stays
//! taken when its socket is closed, as the file would, until [`unlink`] removes it or the node
//! crashes. With the GNU C library on Linux (x86-64, AArch64) code of the world sees a file there all the same: it can be
//! looked at, removed, renamed, and its permissions can be set, by `std::fs` and what else calls the C library. Folders
//! do not list it, and links to it lead nowhere. Pipes are not modelled. In a test that is run once on Linux, as threads or
//! processes take part, the machine has the files of the test's listeners, and connections to and from other processes
//! arrive.

mod addr;
mod bufs;
#[cfg(unix)]
mod convert;
#[cfg(unix)]
mod cred;
mod datagram;
mod inner;
mod listener;
pub(crate) mod registry;
mod socket;
mod split;
mod stream;

pub use addr::SocketAddr;
#[cfg(unix)]
pub use cred::{UCred, gid_t, pid_t, uid_t};
pub use datagram::UnixDatagram;
pub use listener::UnixListener;
pub use registry::unlink;
pub use socket::UnixSocket;
pub use split::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, WriteHalf};
pub use stream::UnixStream;
#[cfg(target_os = "linux")]
pub(crate) use {registry::listens_here, stream::connected};
