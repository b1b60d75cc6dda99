//! Connections that a program begins by the kernel's call, with a socket that does not block.
//!
//! It goes on with a stream of tokio's made of that socket, and waits until it can write: so do `socket2` and those who
//! bind before they connect. The call is only noted, and the connection begins in the world when the stream is made. Where
//! the world is open to the machine it is the kernel's.
//!
//! Who does something else with the socket finds it unconnected, and is run once: such a call counts as asked of the
//! machine.

use super::open::begin;
use super::{TcpSocket, TcpStream};
use crate::descriptor::{Behind as _, inode};
use crate::host::hosts;
use crate::raw::with_socket;
use cct_executor::shim::{OpKind, machine_is_open, machine_is_refused};
use std::collections::BTreeMap;
use std::io;
use std::net::{self, SocketAddr};
use std::os::fd::{AsFd as _, RawFd};
use std::panic::Location;

/// Those that nobody has taken over, by what tells the socket.
#[derive(Default)]
pub(crate) struct Begun(BTreeMap<u64, SocketAddr>);

impl Begun {
    /// They are the kernel's, if anybody's.
    pub(crate) fn tell(self) {
        for to in self.0.into_values() {
            machine_is_refused(&format_args!("to connect by the kernel to {to}"));
        }
    }
}

/// The program begins to connect by this descriptor. Returns whether that is noted, and all there is to do.
pub(crate) fn note(fd: RawFd, to: SocketAddr) -> bool {
    let Some(hosts) = hosts().ok().filter(|_| !machine_is_open()) else {
        return false;
    };
    let begins = with_socket(fd, |socket| {
        let does_not_block = socket.nonblocking().ok()?;
        does_not_block.then(|| inode(socket.as_fd()).ok())?
    });
    let Some(inode) = begins else {
        return false;
    };
    hosts.state.with(|state| state.begun.0.insert(inode, to));
    true
}

/// The stream that a program has begun to connect by this socket.
///
/// # Errors
/// When nobody has the address.
pub(super) fn take(
    stream: &net::TcpStream,
    site: &'static Location<'static>,
) -> io::Result<Option<TcpStream>> {
    let (hosts, inode) = (hosts()?, inode(stream.as_fd())?);
    let begun = hosts.state.with(|state| state.begun.0.remove(&inode));
    let Some(to) = begun else {
        return Ok(None);
    };
    let socket = TcpSocket::like(stream, site)?;
    hosts.sync_point(OpKind::Connect, site);
    super::promised::look(to, site)?;
    let (origin, settings) = socket.connects()?;
    let mut own = begin(to, &origin, site)?;
    own.apply(settings);
    let behind = own.behind();
    own.descriptor.put(stream.try_clone()?.into(), behind);
    Ok(Some(own))
}
