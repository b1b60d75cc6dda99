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
pub(crate) struct Paths(BTreeMap<PathBuf, Entry>);

/// What is bound to a path, and what stands for it on a disk that the world does not keep.
struct Entry {
    bound: Bound,
    file: Option<Box<dyn SocketFile>>,
}

/// The file of a bound socket on a disk that is not the world's, such as the machine's. It is removed when this
/// is dropped: with the name, at the end of the world, or when the node crashes.
///
/// Asked and dropped while the tables of sockets are borrowed: it must not come back to them.
pub trait SocketFile: Send {
    /// Whether it is still at the path that the socket was bound to. Else whoever binds finds the path free.
    fn is_in_place(&self) -> bool;

    /// Whether other worlds may have removed it or made it, too.
    fn is_shared(&self) -> bool;

    /// Whether another path leads to it.
    fn is_at(&self, path: &Path) -> bool;
}

/// What a path leads to, as long as the socket is open.
#[derive(Clone)]
pub(super) enum Bound {
    /// A socket for connections that does not listen, known by a token of its own.
    NotYet(Weak<()>),
    Stream(Weak<Listening>),
    Datagram(Weak<Inner>),
}

impl Bound {
    fn is_closed(&self) -> bool {
        match self {
            Bound::NotYet(token) => token.strong_count() == 0,
            Bound::Stream(listening) => listening.strong_count() == 0,
            Bound::Datagram(socket) => socket.strong_count() == 0,
        }
    }
}

impl Entry {
    fn has_lost_its_file(&self) -> bool {
        self.file.as_ref().is_some_and(|file| !file.is_in_place())
    }

    /// Nobody can connect any more. Worlds that run at the same time share the disk, and one may remove what is
    /// at the same path for another: a socket that is open is believed.
    fn is_gone(&self) -> bool {
        self.bound.is_closed() && self.has_lost_its_file()
    }

    /// Nobody else can bind. What is there when the socket is closed may be another world's.
    fn is_taken(&self) -> bool {
        let shared = self.file.as_ref().is_some_and(|file| file.is_shared());
        !(self.has_lost_its_file() || shared && self.bound.is_closed())
    }
}

impl Paths {
    pub(super) fn check_free(&self, path: &Path) -> io::Result<()> {
        check_form(path)?;
        if self.0.get(path).is_some_and(Entry::is_taken) {
            let text = format!("`{}` exists already", path.display());
            return Err(io::Error::new(ErrorKind::AddrInUse, text));
        }
        Ok(())
    }

    pub(super) fn bind(&mut self, path: &Path, bound: Bound) -> io::Result<()> {
        self.check_free(path)?;
        self.0.insert(path.to_owned(), Entry { bound, file: None });
        Ok(())
    }

    /// The kernel has bound a socket to a path, which so was free, and the world takes its place.
    #[cfg(unix)]
    pub(super) fn take_over(&mut self, path: &Path, bound: Bound, file: Box<dyn SocketFile>) {
        let file = Some(file);
        self.0.insert(path.to_owned(), Entry { bound, file });
    }

    /// The socket that was bound to a path listens, wherever the path leads to by now.
    pub(super) fn listens(&mut self, path: &Path, token: &Arc<()>, listening: &Arc<Listening>) {
        if let Some(Entry { bound, .. }) = self.0.get_mut(path) {
            if matches!(bound, Bound::NotYet(ours) if ours.as_ptr() == Arc::as_ptr(token)) {
                *bound = Bound::Stream(Arc::downgrade(listening));
            }
        }
    }

    fn find(&self, path: &Path) -> io::Result<&Bound> {
        check_form(path)?;
        let named = self.0.get(path).filter(|it| !it.is_gone());
        let leads_there = |it: &&Entry| it.file.as_ref().is_some_and(|file| file.is_at(path));
        let found = named.or_else(|| self.0.values().find(leads_there));
        Ok(&found.ok_or_else(|| nobody_at(path))?.bound)
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

/// Gives a file to what has been bound to a path of the running task's node, by which other programs may know
/// it, and which they may remove, move or link.
///
/// # Errors
/// `NotFound`, and outside a world.
pub fn keep_file(path: impl AsRef<Path>, file: Box<dyn SocketFile>) -> io::Result<()> {
    let path = path.as_ref();
    hosts()?.state.with(|state| {
        let entry = state.host(current()).unix.0.get_mut(path);
        entry.ok_or_else(|| nobody_at(path))?.file = Some(file);
        Ok(())
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
