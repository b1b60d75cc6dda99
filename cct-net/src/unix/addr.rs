//! Addresses.

use super::registry::abstract_name;
use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

/// The address of a Unix socket: a path, on Linux an abstract name, or nothing.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct SocketAddr(Name);

#[derive(Clone, PartialEq, Eq, Default)]
enum Name {
    #[default]
    None,
    Path(PathBuf),
    Abstract(Vec<u8>),
}

impl SocketAddr {
    /// Of a path, or of the abstract name that it is for.
    pub(crate) fn of(path: &Path) -> SocketAddr {
        SocketAddr(match abstract_name(path) {
            Some(name) => Name::Abstract(name.to_owned()),
            None => Name::Path(path.to_owned()),
        })
    }

    /// The path that it is of, which for an abstract name begins with a byte that is 0.
    pub(super) fn as_path(&self) -> Option<Cow<'_, Path>> {
        match &self.0 {
            Name::Path(path) => Some(Cow::Borrowed(path)),
            #[cfg(any(target_os = "linux", target_os = "android"))]
            Name::Abstract(name) => {
                use std::os::unix::ffi::OsStringExt as _;
                let bytes = std::iter::once(0).chain(name.iter().copied()).collect();
                let path = std::ffi::OsString::from_vec(bytes);
                Some(Cow::Owned(path.into()))
            }
            _ => None,
        }
    }

    /// Whether the socket has no name.
    pub fn is_unnamed(&self) -> bool {
        matches!(self.0, Name::None)
    }

    /// The path, if it has one.
    pub fn as_pathname(&self) -> Option<&Path> {
        match &self.0 {
            Name::Path(path) => Some(path),
            _ => None,
        }
    }

    /// The abstract name, if it has one.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn as_abstract_name(&self) -> Option<&[u8]> {
        match &self.0 {
            Name::Abstract(name) => Some(name),
            _ => None,
        }
    }
}

impl fmt::Debug for SocketAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Name::None => f.write_str("(unnamed)"),
            Name::Path(path) => write!(f, "{path:?} (pathname)"),
            Name::Abstract(name) => write!(f, "\"{}\" (abstract)", name.escape_ascii()),
        }
    }
}

#[cfg(unix)]
mod of_std {
    use super::{Name, SocketAddr};
    use std::os::unix::net;

    #[cfg(target_os = "android")]
    use std::os::android::net::SocketAddrExt as _;
    #[cfg(target_os = "linux")]
    use std::os::linux::net::SocketAddrExt as _;

    impl From<net::SocketAddr> for SocketAddr {
        fn from(addr: net::SocketAddr) -> SocketAddr {
            #[cfg(any(target_os = "linux", target_os = "android"))]
            if let Some(name) = addr.as_abstract_name() {
                return SocketAddr(Name::Abstract(name.to_owned()));
            }
            SocketAddr(match addr.as_pathname() {
                Some(path) => Name::Path(path.to_owned()),
                None => Name::None,
            })
        }
    }

    impl From<SocketAddr> for net::SocketAddr {
        /// Of a path that is too long for the system, none.
        fn from(addr: SocketAddr) -> net::SocketAddr {
            let same = match &addr.0 {
                Name::Path(path) => net::SocketAddr::from_pathname(path),
                #[cfg(any(target_os = "linux", target_os = "android"))]
                Name::Abstract(name) => net::SocketAddr::from_abstract_name(name),
                _ => net::SocketAddr::from_pathname(""),
            };
            same.or_else(|_| net::SocketAddr::from_pathname(""))
                .expect("cct bug: no address without a name")
        }
    }

    #[cfg(test)]
    mod tests {
        use super::{SocketAddr, net};

        #[test]
        fn there_and_back() {
            let path = net::SocketAddr::from_pathname("/a/b").unwrap();
            let ours = SocketAddr::from(path.clone());
            assert_eq!(ours.as_pathname(), path.as_pathname());
            assert_eq!(format!("{ours:?}"), format!("{path:?}"));
            assert_eq!(
                net::SocketAddr::from(ours).as_pathname(),
                path.as_pathname()
            );
            let none = net::SocketAddr::from(SocketAddr::default());
            assert!(none.is_unnamed());
            assert!(SocketAddr::from(none).is_unnamed());
        }

        #[cfg(target_os = "linux")]
        #[test]
        fn abstract_names_are_kept() {
            use std::os::linux::net::SocketAddrExt as _;
            let name = net::SocketAddr::from_abstract_name(b"a b").unwrap();
            let ours = SocketAddr::from(name.clone());
            assert!(!ours.is_unnamed() && ours.as_pathname().is_none());
            assert_eq!(ours.as_abstract_name(), Some(&b"a b"[..]));
            assert_eq!(format!("{ours:?}"), format!("{name:?}"));
            assert_eq!(
                net::SocketAddr::from(ours).as_abstract_name(),
                Some(&b"a b"[..])
            );
        }
    }
}
