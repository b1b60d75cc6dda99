//! Paths of one node.

use super::inner::Inner;
use crate::errno::of_socket;
use crate::host::hosts;
use crate::stream::listening::Listening;
use cct_executor::node::current;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

/// What sockets are bound to, by path.
#[derive(Default)]
pub(crate) struct Paths(BTreeMap<PathBuf, Bound>);

/// What a path leads to, as long as the socket is open.
#[derive(Clone)]
pub(super) enum Bound {
    /// A socket for connections that does not listen, known by a token of its own.
    NotYet(Weak<()>),
    Stream(Weak<Listening>),
    Datagram(Weak<Inner>),
}

impl Paths {
    pub(super) fn check_free(&self, path: &Path) -> io::Result<()> {
        check_form(path)?;
        if self.0.contains_key(path) {
            let text = format!("`{}` exists already", path.display());
            return Err(io::Error::new(ErrorKind::AddrInUse, text));
        }
        Ok(())
    }

    pub(super) fn bind(&mut self, path: &Path, socket: Bound) -> io::Result<()> {
        self.check_free(path)?;
        self.0.insert(path.to_owned(), socket);
        Ok(())
    }

    /// The socket that was bound to a path listens, wherever the path leads to by now.
    pub(super) fn listens(&mut self, path: &Path, token: &Arc<()>, listening: &Arc<Listening>) {
        if let Some(bound) = self.0.get_mut(path) {
            if matches!(bound, Bound::NotYet(ours) if ours.as_ptr() == Arc::as_ptr(token)) {
                *bound = Bound::Stream(Arc::downgrade(listening));
            }
        }
    }

    fn find(&self, path: &Path) -> io::Result<&Bound> {
        check_form(path)?;
        self.0.get(path).ok_or_else(|| nobody_at(path))
    }

    pub(super) fn listener(&self, path: &Path) -> io::Result<Arc<Listening>> {
        match self.find(path)? {
            Bound::Stream(listener) => listener.upgrade(),
            Bound::NotYet(_) => None,
            Bound::Datagram(_) => return Err(wrong_type(path)),
        }
        .ok_or_else(|| of_socket(ErrorKind::ConnectionRefused))
    }

    pub(super) fn datagram(&self, path: &Path) -> io::Result<Arc<Inner>> {
        match self.find(path)? {
            Bound::Datagram(socket) => socket.upgrade(),
            Bound::Stream(_) | Bound::NotYet(_) => return Err(wrong_type(path)),
        }
        .ok_or_else(|| of_socket(ErrorKind::ConnectionRefused))
    }
}

fn nobody_at(path: &Path) -> io::Error {
    let text = format!("no socket of this node is bound to `{}`", path.display());
    io::Error::new(ErrorKind::NotFound, text)
}

fn wrong_type(path: &Path) -> io::Error {
    let text = format!("`{}` is a socket of another type", path.display());
    io::Error::other(text)
}

/// Removes a path from the running task's node, as removing the socket's file does. The socket
/// itself stays open.
///
/// # Errors
/// `NotFound`, and outside a world.
pub fn unlink(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    hosts()?.state.with(|state| {
        let paths = &mut state.host(current()).unix;
        let gone = paths.0.remove(path).map(drop);
        gone.ok_or_else(|| nobody_at(path))
    })
}

/// A name that no address of the system holds is refused: one that is too long, or has a byte that is 0.
fn check_form(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    std::os::unix::net::SocketAddr::from_pathname(path)?;
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}
