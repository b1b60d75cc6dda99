//! Clients that are a world's, of listeners that are the kernel's.

use super::pumps::{Kernels, pump, start};
use super::{PATIENCE, is_open_at, taken};
use crate::host::hosts;
use crate::raw::is_writable_within;
use crate::stream::carried::{carry, pipe};
use crate::tcp::{TcpListener, TcpStream};
use crate::unix::UnixStream;
use cct_executor::node::current;
use cct_executor::shim::{machine_is_refused, spawn_on_world};
use socket2::{Domain, SockAddr, Socket, Type};
use std::cell::Cell;
use std::io;
use std::net::{self, SocketAddr};
use std::os::fd::AsFd;
use std::panic::Location;
use std::path::Path;

thread_local! {
    /// This thread connects by the kernel for a task, which has looked everywhere else.
    static CONNECTS: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread does what a task has asked for.
pub(super) fn is_for_a_task() -> bool {
    CONNECTS.get()
}

/// The program accepts by the kernel. Has each connection to this one, which is in its place, go on there. Who connects counts as
/// on the way, also where nobody has polled this yet.
pub(crate) fn hand_on(listener: TcpListener, to: SocketAddr) -> impl Future<Output = ()> {
    let leaves = listener.leaves();
    async move {
        let _leaves = leaves;
        while let Ok((here, from)) = listener.accept().await {
            let (send, theirs) = pipe();
            let (their_send, ours) = pipe();
            let started =
                start(move || pump(Kernels::from(connected(from, to)?), their_send, theirs));
            if started.is_ok() {
                drop(spawn_on_world(carry(here, send, ours)));
            }
        }
    }
}

/// Connects by the kernel, from the address that the world's client has, unless that is somebody else's there.
fn connected(from: SocketAddr, to: SocketAddr) -> io::Result<net::TcpStream> {
    let socket = Socket::new(Domain::for_address(to), Type::STREAM, None)?;
    let is_bound = socket.set_reuse_address(true);
    if is_bound.and_then(|()| socket.bind(&from.into())).is_err() {
        return net::TcpStream::connect(to);
    }
    match socket.connect(&to.into()) {
        Ok(()) => Ok(socket.into()),
        Err(_) => net::TcpStream::connect(to),
    }
}

/// A connection to another process, if nobody in the world listens there, and the world is open to the machine.
pub(crate) fn connect(
    to: SocketAddr,
    site: &'static Location<'static>,
) -> io::Result<Option<TcpStream>> {
    if !is_open_at(to.ip()) {
        return Ok(None);
    }
    let (hosts, node) = (hosts()?, current());
    if hosts.state.with(|state| state.one_listens(node, to)) {
        return Ok(None);
    }
    match connected_for_a_task(to) {
        Ok(stream) => taken::tcp(&stream, site),
        // It is said here as it is of anybody.
        Err(_) => Ok(None),
    }
}

/// Connects without blocking. While that takes its time others may go on, who connect for themselves.
fn connected_for_a_task(to: SocketAddr) -> io::Result<net::TcpStream> {
    let socket = Socket::new(Domain::for_address(to), Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    CONNECTS.set(true);
    let begun = socket.connect(&to.into());
    CONNECTS.set(false);
    match begun {
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {
            if !is_writable_within(socket.as_fd(), PATIENCE) {
                return Err(io::ErrorKind::TimedOut.into());
            }
            if let Some(error) = socket.take_error()? {
                return Err(error);
            }
        }
        begun => begun?,
    }
    Ok(socket.into())
}

/// A connection to another process by the path of a Unix socket, if the world is open to the machine.
///
/// # Errors
/// What the kernel says.
pub(crate) fn connect_to_path(
    path: &Path,
    site: &'static Location<'static>,
) -> io::Result<Option<UnixStream>> {
    if !super::is_open() {
        if kernel_listens(path) {
            machine_is_refused(&format_args!(
                "to connect to {}, where a socket of the kernel's listens",
                path.display()
            ));
        }
        return Ok(None);
    }
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    socket.connect(&SockAddr::unix(path)?)?;
    taken::unix(&socket.into(), site)
}

/// Whether somebody listens at this path to whom the kernel leads.
fn kernel_listens(path: &Path) -> bool {
    /// The flag of a socket that does.
    const LISTENS: u32 = 1 << 16;
    let sockets = std::fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let path = std::path::absolute(path).unwrap_or_default();
    // Six columns come before the path that the socket was given.
    sockets.lines().any(|line| {
        let mut columns = line.split_whitespace().skip(3);
        let flags = columns.next().map(|text| u32::from_str_radix(text, 16));
        let listens = flags.is_some_and(|flags| flags.is_ok_and(|bits| bits & LISTENS != 0));
        let at = columns.nth(3).map(std::path::absolute);
        listens && at.is_some_and(|at| at.is_ok_and(|at| at == path))
    })
}
