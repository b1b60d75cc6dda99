//! Descriptors that are made when they are asked for, and sockets whose descriptor was handed out.

use super::Kind;
use crate::host::hosts;
use crate::udp::inner::Inner;
use socket2::{Domain, SockRef, Socket, Type};
use std::any::Any;
use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, OnceLock, Weak};

/// The descriptor of a simulated socket.
pub(crate) struct Descriptor {
    kind: Kind,
    /// What is done by it is done to this.
    socket: Weak<Inner>,
    fd: OnceLock<OwnedFd>,
}

impl Kind {
    fn open(self) -> io::Result<OwnedFd> {
        let internet = |v6| if v6 { Domain::IPV6 } else { Domain::IPV4 };
        let (domain, kind) = match self {
            Kind::Tcp { v6 } => (internet(v6), Type::STREAM),
            Kind::Udp { v6 } => (internet(v6), Type::DGRAM),
            Kind::UnixStream => (Domain::UNIX, Type::STREAM),
            Kind::UnixDatagram => (Domain::UNIX, Type::DGRAM),
        };
        let socket = Socket::new(domain, kind, None)?;
        socket.set_nonblocking(true)?; // as tokio's are
        Ok(socket.into())
    }
}

impl Descriptor {
    pub(crate) const fn new(kind: Kind) -> Descriptor {
        Descriptor {
            kind,
            socket: Weak::new(),
            fd: OnceLock::new(),
        }
    }

    /// The descriptor of a socket that can be used by it.
    pub(crate) fn of_udp(socket: &Arc<Inner>) -> Descriptor {
        Descriptor {
            socket: Arc::downgrade(socket),
            ..Descriptor::new(Kind::Udp { v6: socket.v6 })
        }
    }

    fn open(&self) -> io::Result<OwnedFd> {
        let fd = self.kind.open()?;
        self.is_known_by(fd.as_fd());
        Ok(fd)
    }

    fn is_known_by(&self, fd: BorrowedFd<'_>) {
        if self.socket.strong_count() == 0 {
            return;
        }
        // Outside a world there is nobody to send to.
        if let (Ok(hosts), Ok(inode)) = (hosts(), inode(fd)) {
            hosts
                .state
                .with(|state| state.shown.insert(inode, self.socket.clone()));
        }
    }

    /// # Panics
    /// When the process can open none: there is no way to say so.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        let open = || {
            let opened = self.open();
            opened.unwrap_or_else(|error| panic!("no file descriptor for a socket: {error}"))
        };
        self.fd.get_or_init(open).as_fd()
    }

    pub(crate) fn take(&mut self) -> io::Result<OwnedFd> {
        self.fd.take().map_or_else(|| self.open(), Ok)
    }

    pub(crate) fn put(&mut self, fd: OwnedFd) {
        self.is_known_by(fd.as_fd());
        self.fd = OnceLock::from(fd);
    }
}

/// The sockets whose descriptors were handed out, by what tells a socket of the process from all others
/// as long as it is open: numbers of descriptors may be changed by duplicating them.
#[derive(Default)]
pub(crate) struct Lent(BTreeMap<u64, Box<dyn Any + Send>>);

/// The sockets that can be used by descriptors, by the same.
#[derive(Default)]
pub(crate) struct Shown(BTreeMap<u64, Weak<Inner>>);

impl Shown {
    fn insert(&mut self, inode: u64, socket: Weak<Inner>) {
        self.0.retain(|_, known| known.strong_count() > 0);
        self.0.insert(inode, socket);
    }

    pub(crate) fn find(&self, inode: u64) -> Option<Arc<Inner>> {
        self.0.get(&inode)?.upgrade()
    }
}

fn metadata(fd: BorrowedFd<'_>) -> io::Result<Metadata> {
    File::from(fd.try_clone_to_owned()?).metadata()
}

fn inode(fd: BorrowedFd<'_>) -> io::Result<u64> {
    Ok(metadata(fd)?.ino())
}

/// User and group of the process that has made it, which is this one.
pub(crate) fn owner(fd: BorrowedFd<'_>) -> io::Result<(u32, u32)> {
    let metadata = metadata(fd)?;
    Ok((metadata.uid(), metadata.gid()))
}

/// Keeps a socket until its descriptor comes back.
///
/// # Errors
/// Outside a world.
pub(crate) fn lend(fd: BorrowedFd<'_>, socket: Box<dyn Any + Send>) -> io::Result<()> {
    let (hosts, inode) = (hosts()?, inode(fd)?);
    let before = hosts.state.with(|state| state.lent.0.insert(inode, socket));
    drop(before); // its descriptor was closed
    Ok(())
}

/// The socket whose descriptor this is, if it is one of the running world's.
///
/// # Panics
/// In debug builds, when the descriptor blocks.
///
/// # Errors
/// Outside a world.
#[track_caller]
pub(crate) fn give_back<S: 'static>(fd: BorrowedFd<'_>) -> io::Result<Option<S>> {
    check_nonblocking(fd)?;
    let (hosts, inode) = (hosts()?, inode(fd)?);
    let found = hosts.state.with(|state| state.lent.0.remove(&inode));
    Ok(found
        .and_then(|socket| socket.downcast().ok())
        .map(|socket| *socket))
}

/// As tokio does in debug builds.
///
/// # Panics
/// When operations on the socket would block.
#[track_caller]
fn check_nonblocking(fd: BorrowedFd<'_>) -> io::Result<()> {
    let nonblocking = SockRef::from(&fd).nonblocking()?;
    debug_assert!(
        nonblocking,
        "this socket blocks, which tokio does not accept either: call set_nonblocking(true) first"
    );
    Ok(())
}

/// A socket of the kernel that cannot become one of the world's.
pub(crate) fn foreign<S>(what: &str, instead: &str) -> io::Result<S> {
    Err(io::Error::new(
        ErrorKind::Unsupported,
        format!("this {what} is the kernel's own, not one of the world's: {instead}"),
    ))
}

/// A socket with a field `descriptor` shows it.
macro_rules! shows {
    ($Socket:ident) => {
        impl ::std::os::fd::AsFd for $Socket {
            fn as_fd(&self) -> ::std::os::fd::BorrowedFd<'_> {
                self.descriptor.fd()
            }
        }

        impl ::std::os::fd::AsRawFd for $Socket {
            fn as_raw_fd(&self) -> ::std::os::fd::RawFd {
                ::std::os::fd::AsRawFd::as_raw_fd(&self.descriptor.fd())
            }
        }
    };
}

/// The way to the standard library's type.
macro_rules! converts {
    ($Socket:ident, $Std:ty) => {
        $crate::descriptor::shows!($Socket);

        impl TryFrom<$Std> for $Socket {
            type Error = ::std::io::Error;

            /// As [`from_std`](Self::from_std).
            #[track_caller]
            fn try_from(socket: $Std) -> ::std::io::Result<$Socket> {
                $Socket::from_std(socket)
            }
        }

        impl $Socket {
            /// Makes it a socket of the standard library, on which options can be set.
            ///
            /// # Differences from tokio
            /// The options have no effect, and dropping it does not close the simulated socket:
            /// [`from_std`](Self::from_std) brings that back. Reading and writing fails, but a UDP socket sends and
            /// receives in the world, at once or not at all (on Linux with the GNU C library).
            ///
            /// # Errors
            /// When there is no descriptor left, or outside a world.
            pub fn into_std(mut self) -> ::std::io::Result<$Std> {
                let fd = self.descriptor.take()?;
                let borrowed = ::std::os::fd::AsFd::as_fd(&fd);
                $crate::descriptor::lend(borrowed, ::std::boxed::Box::new(self))?;
                Ok(fd.into())
            }
        }
    };
}

/// The way back for sockets of which only the world's own can come.
macro_rules! takes {
    ($Socket:ident, $Std:ty, $what:literal, $instead:literal) => {
        impl $Socket {
            /// Brings back what [`into_std`](Self::into_std) has made.
            ///
            /// # Panics
            /// In debug builds, when the socket blocks: as tokio does.
            ///
            /// # Errors
            /// `Unsupported` for a socket of the kernel's own.
            #[track_caller]
            pub fn from_std(socket: $Std) -> ::std::io::Result<$Socket> {
                match $crate::descriptor::give_back::<$Socket>(::std::os::fd::AsFd::as_fd(&socket))?
                {
                    Some(mut own) => {
                        own.descriptor.put(socket.into());
                        Ok(own)
                    }
                    None => $crate::descriptor::foreign($what, $instead),
                }
            }
        }
    };
}

pub(crate) use {converts, shows, takes};
