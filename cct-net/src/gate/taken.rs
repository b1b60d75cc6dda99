//! Streams that the standard library has connected or accepted, and tasks use.
//!
//! What a task does with one it does with one end of a connection of the world, whose other end is carried on to the
//! kernel.

use super::pumps::{Kernels, pump, start};
use super::{PATIENCE, is_open};
use crate::descriptor::Behind as _;
use crate::host::hosts;
use crate::raw::is_writable_within;
use crate::stream::carried::{Carried, carry, pipe};
use crate::stream::conn::{About, Conn, Names};
use crate::stream::ops::End;
use crate::stream::state::State;
use crate::tcp::TcpStream;
use crate::unix::{SocketAddr, UnixStream, connected};
use cct_executor::node::current;
use cct_executor::shim::spawn_on_world;
use std::io::{self, ErrorKind};
use std::net;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net as unix_net;
use std::panic::Location;

/// The stream as one of the world's; `None` where that is not open to the machine.
///
/// # Errors
/// When it is not connected.
pub(crate) fn tcp(
    stream: &net::TcpStream,
    site: &'static Location<'static>,
) -> io::Result<Option<TcpStream>> {
    if !is_open() {
        return Ok(None);
    }
    let peer = match stream.peer_addr() {
        // It was begun, and not waited for.
        Err(error) if error.kind() == ErrorKind::NotConnected => {
            is_writable_within(stream.as_fd(), PATIENCE);
            stream.take_error()?.map_or_else(|| stream.peer_addr(), Err)
        }
        peer => peer,
    };
    let names = Names::Inet([stream.local_addr()?, peer?]);
    let (hosts, node) = (hosts()?, current());
    let about = hosts.state.with(|state| About {
        serial: state.next_conn(),
        names,
        nodes: [node, node],
        options: state.tcp(),
        site,
    });
    let (send, recv) = (about.options.send_buffer, about.options.recv_buffer);
    let conn = Conn::inside_node(&hosts, State::new([send; 2], [recv; 2]), about);
    conn.run(|state, fx| state.establish(fx));
    hosts.state.with(|state| {
        state.add_conn(node, &conn, 0, None);
        state.add_conn(node, &conn, 1, None);
    });
    let [mut here, there] = [0, 1].map(|id| TcpStream::new(End::new(conn.clone(), id), false));
    go_on(there, stream.try_clone()?.into())?;
    let behind = here.behind();
    here.descriptor.put(stream.try_clone()?.into(), behind);
    Ok(Some(here))
}

/// The same of a Unix stream.
///
/// # Errors
/// When it is not connected.
pub(crate) fn unix(
    stream: &unix_net::UnixStream,
    site: &'static Location<'static>,
) -> io::Result<Option<UnixStream>> {
    if !is_open() {
        return Ok(None);
    }
    let name = |addr: unix_net::SocketAddr| {
        let path = addr.as_pathname();
        path.map(SocketAddr::of).unwrap_or_default()
    };
    let names = [name(stream.local_addr()?), name(stream.peer_addr()?)];
    let conn = connected(names, site)?;
    let [mut here, there] = [0, 1].map(|id| UnixStream::new(End::new(conn.clone(), id)));
    go_on(there, stream.try_clone()?.into())?;
    let behind = here.behind();
    here.descriptor.put(stream.try_clone()?.into(), behind);
    Ok(Some(here))
}

/// What is sent to this end goes to the kernel's stream, and the reverse.
fn go_on(there: impl Carried + Send + 'static, stream: OwnedFd) -> io::Result<()> {
    let (send, theirs) = pipe();
    let (their_send, ours) = pipe();
    start(move || pump(Kernels::from(stream), their_send, theirs))?;
    drop(spawn_on_world(carry(there, send, ours)));
    Ok(())
}
