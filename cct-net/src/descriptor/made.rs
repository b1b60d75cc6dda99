//! Descriptors that are made when they are asked for, and sockets whose descriptor was handed out.

use super::{ByDescriptor, Kind};
use crate::host::hosts;
use crate::host::machine::was_asked_for;
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
    fd: OnceLock<OwnedFd>,
    /// What is done by it is done to this.
    behind: OnceLock<Arc<dyn ByDescriptor>>,
}

/// A simulated socket that has a descriptor.
pub(crate) trait Behind {
    /// What is done by the descriptor is done to this. Where there is none, it is done to the kernel's socket.
    fn behind(&self) -> Option<Arc<dyn ByDescriptor>> {
        None
    }

    /// The descriptor was made, of which nobody knows yet.
    fn made(&self, _: BorrowedFd<'_>) {}

    /// It came back from the standard library: the runtime has yet to look what it is ready for.
    fn came_back(&self) {}
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
            fd: OnceLock::new(),
            behind: OnceLock::new(),
        }
    }

    /// From now on what is done by it is done to this.
    fn show(&self, fd: BorrowedFd<'_>, behind: Option<Arc<dyn ByDescriptor>>) {
        let Some(behind) = behind else {
            return;
        };
        let behind = self.behind.get_or_init(|| behind);
        // Outside a world there is nobody to send to.
        if let (Ok(hosts), Ok(inode)) = (hosts(), inode(fd)) {
            let behind = Arc::downgrade(behind);
            hosts.state.with(|state| state.shown.insert(inode, behind));
        }
    }

    /// # Panics
    /// When the process can open none: there is no way to say so.
    pub(crate) fn fd(&self, socket: &impl Behind) -> BorrowedFd<'_> {
        let made = self.make(socket);
        made.unwrap_or_else(|error| panic!("no descriptor for a socket: {error}"))
    }

    /// Makes it, if that was not done.
    pub(crate) fn make(&self, socket: &impl Behind) -> io::Result<BorrowedFd<'_>> {
        if self.fd.get().is_none() {
            let fd = self.kind.open()?;
            socket.made(fd.as_fd());
            self.show(fd.as_fd(), socket.behind());
            let _ = self.fd.set(fd);
        }
        self.made().ok_or_else(|| ErrorKind::NotFound.into())
    }

    /// The descriptor, if it was made.
    pub(crate) fn made(&self) -> Option<BorrowedFd<'_>> {
        self.fd.get().map(OwnedFd::as_fd)
    }

    /// The one that was made.
    pub(crate) fn take(&mut self) -> io::Result<OwnedFd> {
        self.fd.take().ok_or_else(|| ErrorKind::NotFound.into())
    }

    pub(crate) fn put(&mut self, fd: OwnedFd, behind: Option<Arc<dyn ByDescriptor>>) {
        self.show(fd.as_fd(), behind);
        self.fd = OnceLock::from(fd);
    }

    /// Takes the descriptor of another, whose socket becomes this one.
    pub(crate) fn inherit(
        &mut self,
        other: &mut Descriptor,
        behind: Option<Arc<dyn ByDescriptor>>,
    ) {
        if let Some(fd) = other.fd.take() {
            self.put(fd, behind);
        }
    }
}

/// The sockets whose descriptors were handed out, by what tells a socket of the process from all others
/// as long as it is open: numbers of descriptors may be changed by duplicating them.
#[derive(Default)]
pub(crate) struct Lent(BTreeMap<u64, Box<dyn Any + Send>>);

/// The sockets that can be used by descriptors, by the same.
#[derive(Default)]
pub(crate) struct Shown(BTreeMap<u64, Weak<dyn ByDescriptor>>);

impl Shown {
    fn insert(&mut self, inode: u64, socket: Weak<dyn ByDescriptor>) {
        self.0.retain(|_, known| known.strong_count() > 0);
        self.0.insert(inode, socket);
    }

    pub(crate) fn find(&self, inode: u64) -> Option<Arc<dyn ByDescriptor>> {
        self.0.get(&inode)?.upgrade()
    }
}

fn metadata(fd: BorrowedFd<'_>) -> io::Result<Metadata> {
    File::from(fd.try_clone_to_owned()?).metadata()
}

/// What tells a socket, by its descriptor.
pub(crate) fn inode(fd: BorrowedFd<'_>) -> io::Result<u64> {
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
    given_back(fd)
}

/// The same, whether it blocks or not.
///
/// # Errors
/// Outside a world.
pub(crate) fn given_back<S: 'static>(fd: BorrowedFd<'_>) -> io::Result<Option<S>> {
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

/// A stream of the kernel's, which can become one of the world's where that is open to the machine, and not here.
pub(crate) fn foreign_stream<S>(instead: &str) -> io::Result<S> {
    #[cfg(target_os = "linux")]
    cct_executor::shim::machine_is_refused(&"a stream of the kernel's own");
    foreign("stream", instead)
}

/// A socket of the kernel that cannot become one of the world's.
pub(crate) fn foreign<S>(what: &str, instead: &str) -> io::Result<S> {
    was_asked_for(&format_args!("a {what} of the kernel's own"));
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
                self.descriptor.fd(self)
            }
        }

        impl ::std::os::fd::AsRawFd for $Socket {
            fn as_raw_fd(&self) -> ::std::os::fd::RawFd {
                ::std::os::fd::AsRawFd::as_raw_fd(&self.descriptor.fd(self))
            }
        }
    };
}

/// What becomes one with a socket that was nothing in particular, and has its descriptor then.
macro_rules! inherits {
    ($($Socket:ident),*) => {$(
        impl $Socket {
            pub(super) fn inherit(&mut self, descriptor: &mut $crate::descriptor::Descriptor) {
                let behind = $crate::descriptor::Behind::behind(self);
                self.descriptor.inherit(descriptor, behind);
            }
        }
    )*};
}

/// The way there and back of a socket that is nothing in particular yet.
macro_rules! lends {
    ($Socket:ident) => {
        impl $Socket {
            /// Hands out its descriptor, and keeps it until that comes back.
            pub(crate) fn lent(mut self) -> ::std::io::Result<::std::os::fd::OwnedFd> {
                self.descriptor.make(&self)?;
                let fd = self.descriptor.take()?;
                let borrowed = ::std::os::fd::AsFd::as_fd(&fd);
                $crate::descriptor::lend(borrowed, ::std::boxed::Box::new(self))?;
                Ok(fd)
            }

            pub(crate) fn with_descriptor(mut self, fd: ::std::os::fd::OwnedFd) -> $Socket {
                self.descriptor.put(fd, None);
                self
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
            /// The options have no effect, but for those of TCP that its types name, once
            /// [`from_std`](Self::from_std) has brought it back; dropping it does not close the simulated socket. On Linux with the GNU C library streams and UDP sockets
            /// read and write in the world, and one that blocks suspends the poll; elsewhere, and on others, it fails.
            ///
            /// # Errors
            /// When there is no descriptor left, or outside a world.
            pub fn into_std(mut self) -> ::std::io::Result<$Std> {
                self.descriptor.make(&self)?;
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
    ($Socket:ident, $Std:ty) => {
        impl $Socket {
            /// Brings back what [`into_std`](Self::into_std) has made.
            ///
            /// # Differences from tokio
            /// One that the standard library has made is taken in a test that is run once on Linux, as threads take part, and
            /// then only if it is a stream; and one of TCP that was begun to connect by a socket that does not block, also
            /// where a test is explored.
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
                        let behind = $crate::descriptor::Behind::behind(&own);
                        own.descriptor.put(socket.into(), behind);
                        $crate::descriptor::Behind::came_back(&own);
                        Ok(own)
                    }
                    None => <$Socket>::of_the_kernel(socket, ::std::panic::Location::caller()),
                }
            }
        }
    };
}

pub(crate) use {converts, inherits, lends, shows, takes};
