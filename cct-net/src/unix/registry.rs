//! Paths of one node, and abstract names, each as a path that begins with a byte that is 0.

use super::inner::Inner;
use crate::errno::{Errno, of_socket, telling};
use crate::host::hosts;
use crate::stream::listening::Listening;
use cct_executor::node::current;
use cct_executor::shim::{self, OnFile, SocketFile};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

/// What sockets are bound to, by path: absolute, but as given otherwise.
#[derive(Default)]
pub(crate) struct Paths {
    files: BTreeMap<PathBuf, File>,
    /// How many there were.
    made: u64,
}

/// The file that a socket was bound to.
struct File {
    bound: Bound,
    file: SocketFile,
    /// The machine has the file, too, and knows all about it.
    machines: bool,
}

impl File {
    /// Whether nobody else can have its name: a file stays, an abstract name goes with its socket.
    fn is_there(&self, path: &Path) -> bool {
        let is_open = match &self.bound {
            Bound::NotYet(token) => token.strong_count() > 0,
            Bound::Stream(listening) => listening.strong_count() > 0,
            Bound::Datagram(socket) => socket.strong_count() > 0,
        };
        is_open || abstract_name(path).is_none()
    }
}

/// Files of the machine have lower numbers.
const FIRST_NUMBER: u64 = 1 << 48;
/// What most processes let others do with the files they make.
const USUAL_MODE: u32 = 0o755;

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
        if self
            .files
            .get(&key(path))
            .is_some_and(|file| file.is_there(path))
        {
            let text = || format!("`{}` exists already", path.display());
            return Err(telling(Errno::EADDRINUSE, text));
        }
        Ok(())
    }

    pub(super) fn bind(&mut self, path: &Path, bound: Bound) -> io::Result<()> {
        self.check_free(path)?;
        self.insert(path, bound, false);
        Ok(())
    }

    /// A socket of the world's is where the machine has one.
    #[cfg(unix)]
    pub(super) fn adopt(&mut self, path: &Path, bound: Bound) -> io::Result<()> {
        // By calls that nobody told of here.
        let gone = |file: &File| file.machines || !file.is_there(path);
        if self.files.get(&key(path)).is_none_or(gone) {
            self.insert(path, bound, true);
            return Ok(());
        }
        self.check_free(path)
    }

    fn insert(&mut self, path: &Path, bound: Bound, machines: bool) {
        self.made += 1;
        let file = SocketFile {
            number: FIRST_NUMBER + self.made,
            mode: USUAL_MODE,
            made: shim::wall_clock(current()),
        };
        let file = File {
            bound,
            file,
            machines,
        };
        self.files.insert(key(path), file);
    }

    /// The socket that was bound to a path listens, wherever the path leads to by now.
    pub(super) fn listens(&mut self, path: &Path, token: &Arc<()>, listening: &Arc<Listening>) {
        if let Some(File { bound, .. }) = self.files.get_mut(&key(path)) {
            if matches!(bound, Bound::NotYet(ours) if ours.as_ptr() == Arc::as_ptr(token)) {
                *bound = Bound::Stream(Arc::downgrade(listening));
            }
        }
    }

    /// What a program does with the file, by the standard library; `None` if the machine is to do it (too).
    pub(crate) fn on_file(&mut self, path: &Path, what: OnFile<'_>) -> Option<SocketFile> {
        if self.files.is_empty() {
            return None;
        }
        let Entry::Occupied(mut found) = self.files.entry(key(path)) else {
            return None;
        };
        let File { file, machines, .. } = *found.get();
        match what {
            OnFile::Look => {}
            OnFile::SetMode(mode) => found.get_mut().file.mode = mode,
            OnFile::Remove => drop(found.remove()),
            OnFile::Rename(to) => {
                let moved = found.remove();
                self.files.insert(key(to), moved);
            }
        }
        (!machines).then_some(file)
    }

    fn find(&self, path: &Path) -> io::Result<&Bound> {
        check_form(path)?;
        let at = |path: PathBuf| self.files.get(&key(&path));
        let by_a_link = || at(followed(path)?);
        let in_a_folder = || at(in_its_folder(path)?);
        let found = self.files.get(&key(path));
        let found = found.or_else(by_a_link).or_else(in_a_folder);
        found.map(|file| &file.bound).ok_or_else(|| nobody_at(path))
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

/// Whether a socket listens at this path, or has, of the node of the running task, and the machine does not know it.
#[cfg(target_os = "linux")]
pub(crate) fn listens_here(path: &Path) -> bool {
    hosts().is_ok_and(|hosts| {
        hosts.state.with(|state| {
            let file = state.host(current()).unix.files.get(&key(path));
            file.is_some_and(|file| !file.machines && matches!(file.bound, Bound::Stream(_)))
        })
    })
}

fn nobody_at(path: &Path) -> io::Error {
    if abstract_name(path).is_some() {
        return of_socket(ErrorKind::ConnectionRefused);
    }
    // Who looks for the machine's errors has its files, and finds no socket in those.
    if shim::has_numbered_errors() {
        return match std::fs::canonicalize(path) {
            Ok(_) => of_socket(ErrorKind::ConnectionRefused),
            Err(error) => error,
        };
    }
    nothing_at(path)
}

fn nothing_at(path: &Path) -> io::Error {
    let text = || format!("no socket of this node is bound to `{}`", path.display());
    telling(Errno::ENOENT, text)
}

fn wrong_type(path: &Path) -> io::Error {
    let text = || format!("`{}` is a socket of another type", path.display());
    telling(Errno::EPROTOTYPE, text)
}

/// Removes a path from the running task's node, as removing the socket's file does. The socket
/// itself stays open. With the GNU C library on Linux `std::fs::remove_file` does it too.
///
/// # Errors
/// `NotFound`, and outside a world.
pub fn unlink(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    hosts()?.state.with(|state| {
        let paths = &mut state.host(current()).unix;
        let gone = paths.files.remove(&key(path)).map(drop);
        gone.ok_or_else(|| nothing_at(path))
    })
}

/// The abstract name that a path is for. Linux alone has such.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn abstract_name(path: &Path) -> Option<&[u8]> {
    use std::os::unix::ffi::OsStrExt as _;
    path.as_os_str().as_bytes().strip_prefix(&[0])
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn abstract_name(_: &Path) -> Option<&[u8]> {
    None
}

/// Where a path leads from the folder of the process.
fn key(path: &Path) -> PathBuf {
    if abstract_name(path).is_some() {
        return path.to_owned();
    }
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The kernel follows no more links than these.
const LINKS: u32 = 40;

/// Where a path leads that is a link on the machine's disk.
fn followed(path: &Path) -> Option<PathBuf> {
    let mut at = std::fs::read_link(path).ok()?;
    at = path.parent()?.join(at);
    for _ in 1..LINKS {
        match std::fs::read_link(&at) {
            Ok(next) => at = at.parent()?.join(next),
            Err(_) => return Some(at),
        }
    }
    None
}

/// The path without links to its folder, and without `..`.
fn in_its_folder(path: &Path) -> Option<PathBuf> {
    let folder = std::fs::canonicalize(path.parent()?).ok()?;
    Some(folder.join(path.file_name()?))
}

/// A name that no address of the system holds is refused: one that is too long, or has a byte that is 0 and not the first.
fn check_form(path: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Some(name) = abstract_name(path) {
        of_abstract_name(name)?;
        return Ok(());
    }
    check_path(path)
}

/// The same where no name is abstract.
pub(super) fn check_path(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    std::os::unix::net::SocketAddr::from_pathname(path)?;
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// The standard library's address of this name.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn of_abstract_name(name: &[u8]) -> io::Result<std::os::unix::net::SocketAddr> {
    #[cfg(target_os = "android")]
    use std::os::android::net::SocketAddrExt as _;
    #[cfg(target_os = "linux")]
    use std::os::linux::net::SocketAddrExt as _;
    std::os::unix::net::SocketAddr::from_abstract_name(name)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed() {
        let folder = std::env::temp_dir().join(format!("cct-links-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let [socket, link, links, round] =
            ["socket", "link", "links", "round"].map(|name| folder.join(name));
        symlink(&socket, &link).unwrap();
        symlink("link", &links).unwrap();
        symlink("round", &round).unwrap();
        let found = [&socket, &link, &links, &round].map(|path| followed(path));
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found, [None, Some(socket.clone()), Some(socket), None]);
    }
}
