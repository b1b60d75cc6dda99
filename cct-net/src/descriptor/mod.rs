//! File descriptors, for those who want one.
//!
//! A simulated socket is no file, but crates ask for its descriptor all the same: to set options that
//! tokio has no method for, or to go through the standard library's type and back. So each socket (but
//! `UnixSocket`) has a real one behind it, which is made when it is first asked for and never connected:
//! - Options can be set and read there, by `socket2` for example. They have no effect on the simulation.
//! - What a stream or a UDP socket sends and receives there, by `send`, `sendto`, `sendmsg`, `sendmmsg`, `writev` and
//!   their counterparts, goes through the world, and so do `shutdown` and addresses that are asked for. One that blocks
//!   suspends the poll. Elsewhere than on Linux with the GNU C library it goes to the kernel, and to nobody in the world.
//! - On the others that fails as on any socket that is not connected.
//! - `into_std` hands it out and keeps the simulated socket in the world until `from_std` brings it back.
//!   Nobody learns when it is dropped in between, so the other side would not see an end.
//! - Its number is the kernel's choice: nothing here depends on it, and nothing in a test should.
//!
//! Where there are no such descriptors (Windows) none of this exists.

use cct_executor::shim::{Moved, OnSocket};
use std::io;
use std::panic::Location;

#[cfg_attr(not(unix), path = "absent.rs")]
mod made;

#[cfg(unix)]
pub(crate) use made::inode;
#[cfg(unix)]
pub(crate) use made::{
    Behind, converts, foreign, foreign_stream, give_back, given_back, lend, lends, owner, shows,
    takes,
};
pub(crate) use made::{Descriptor, Lent, Shown, inherits};

/// What is done with a socket by its descriptor.
pub(crate) trait ByDescriptor: Send + Sync {
    /// Does it, as the kernel does, whatever tasks know of the socket. `None` where the kernel's own knows as much.
    ///
    /// # Scheduling points
    /// One before whatever others can see, at granularity `sync`, and one where it waits.
    fn by_descriptor(
        &self,
        what: &mut OnSocket<'_>,
        site: &'static Location<'static>,
    ) -> Option<io::Result<Moved>>;
}

/// What a descriptor is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// TCP, of version 6 or not.
    Tcp {
        v6: bool,
    },
    /// UDP, of version 6 or not.
    Udp {
        v6: bool,
    },
    UnixStream,
    UnixDatagram,
}
