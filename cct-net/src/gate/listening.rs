//! Listeners of the kernel's for the world's, for all that are not led to the world themselves: other processes.

use super::inward::{To, take_queue};
use super::{is_open, is_open_at};
use crate::raw::is_readable;
use crate::tcp::TcpListener;
use cct_executor::shim::{accepts_no_longer, watch_machine};
use socket2::{Domain, Socket, Type};
use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::panic::Location;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const BACKLOG: i32 = 1024;

/// One of them. Closes it when it is dropped.
pub(crate) struct Gate {
    listener: Arc<Socket>,
}

/// The cookies of all of them: nobody in this process accepts by them.
static OWN: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

fn own() -> MutexGuard<'static, BTreeSet<u64>> {
    OWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the kernel's listener with this cookie is one.
pub(crate) fn is_own(cookie: u64) -> bool {
    own().contains(&cookie)
}

impl Gate {
    /// Whoever the kernel queues there connects to the world's.
    fn new(listener: Socket, to: To) -> io::Result<Gate> {
        listener.set_nonblocking(true)?;
        let cookie = listener.cookie()?;
        own().insert(cookie);
        accepts_no_longer(cookie);
        let listener = Arc::new(listener);
        let (looks, takes) = (Arc::downgrade(&listener), Arc::downgrade(&listener));
        watch_machine(
            move || looks.upgrade().is_some_and(|it| is_readable(it.as_fd())),
            move || {
                if let Some(listener) = takes.upgrade() {
                    // The next one may fare better.
                    let _ = take_queue(&listener, &to);
                }
            },
        );
        Ok(Gate { listener })
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        if let Ok(cookie) = self.listener.cookie() {
            own().remove(&cookie);
        }
    }
}

/// Listens in the world and, where that is open to the machine, in the kernel, which draws the port if any will do.
///
/// # Errors
/// As for [`TcpListener::at`]; `AddrInUse` when somebody else on the machine listens there.
pub(crate) fn listen(
    addr: SocketAddr,
    site: &'static Location<'static>,
) -> io::Result<TcpListener> {
    let kernels = kernels(addr, false)?;
    let mut own = TcpListener::at(addr, site)?;
    if let Some(kernels) = kernels {
        own.is_shown_at(kernels, addr)?;
    }
    Ok(own)
}

/// What listens for the world at this address. `None` where that is not open, and where the kernel knows better than to
/// listen there.
///
/// # Errors
/// `AddrInUse` when somebody else on the machine listens there.
pub(crate) fn kernels(addr: SocketAddr, shares_port: bool) -> io::Result<Option<Socket>> {
    if !is_open_at(addr.ip()) {
        return Ok(None);
    }
    let listen = || {
        let socket = Socket::new(Domain::for_address(addr), Type::STREAM, None)?;
        socket.set_reuse_address(true)?;
        socket.set_reuse_port(shares_port)?;
        socket.bind(&addr.into())?;
        socket.listen(BACKLOG)?;
        Ok::<_, io::Error>(socket)
    };
    match listen() {
        Ok(socket) => Ok(Some(socket)),
        Err(error) if error.kind() == ErrorKind::AddrInUse => Err(error),
        Err(_) => Ok(None),
    }
}

/// Serves who connects to this listener of the kernel's, which the world has taken over.
pub(crate) fn serve(listener: impl Into<OwnedFd>, at: SocketAddr) -> io::Result<Option<Gate>> {
    if !is_open() {
        return Ok(None);
    }
    Gate::new(Socket::from(listener.into()), To::Tcp(at)).map(Some)
}

/// The same at the path of a Unix socket.
pub(crate) fn serve_path(listener: UnixListener, at: &Path) -> io::Result<Option<Gate>> {
    if !is_open() {
        return Ok(None);
    }
    let listener = Socket::from(OwnedFd::from(listener));
    Gate::new(listener, To::Path(at.to_owned())).map(Some)
}
