//! Addresses.

use std::fmt;
use std::path::{Path, PathBuf};

/// The address of a Unix socket: a path, or nothing.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct SocketAddr(Option<PathBuf>);

impl SocketAddr {
    pub(crate) fn of(path: &Path) -> SocketAddr {
        SocketAddr(Some(path.to_owned()))
    }

    /// Whether the socket has no name.
    pub fn is_unnamed(&self) -> bool {
        self.0.is_none()
    }

    /// The path, if it has one.
    pub fn as_pathname(&self) -> Option<&Path> {
        self.0.as_deref()
    }
}

impl fmt::Debug for SocketAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(path) => write!(f, "{path:?} (pathname)"),
            None => f.write_str("(unnamed)"),
        }
    }
}
