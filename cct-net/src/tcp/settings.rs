//! Settings of a socket that change nothing in a world, or only its end.
//!
//! Programs set them by tokio's methods, and by the socket's descriptor, which they may ask for at any time: from then on
//! the kernel's socket has what holds.

use crate::descriptor::Descriptor;
use cct_executor::shim::Shared;
#[cfg(unix)]
use socket2::SockRef;
#[cfg(unix)]
use std::io;
#[cfg(unix)]
use std::os::fd::BorrowedFd;
use std::time::Duration;

#[derive(Clone, Copy)]
pub(super) struct Settings {
    pub(super) nodelay: bool,
    pub(super) linger: Option<Duration>,
    pub(super) ttl: u32,
    pub(super) quickack: bool,
    pub(super) keepalive: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            nodelay: false,
            linger: None,
            ttl: 64,
            quickack: true,
            keepalive: false,
        }
    }
}

impl Settings {
    /// What holds for a socket with this descriptor.
    pub(super) fn of(known: Settings, descriptor: &Descriptor) -> Settings {
        #[cfg(unix)]
        if let Some(fd) = descriptor.made() {
            return known.seen_by(fd).unwrap_or(known);
        }
        #[cfg(not(unix))]
        let _has_none = descriptor;
        known
    }

    /// Changes what holds for a socket with this descriptor.
    pub(super) fn change(
        known: &Shared<Settings>,
        descriptor: &Descriptor,
        change: impl FnOnce(&mut Settings),
    ) {
        let mut settings = Settings::of(known.with(|known| *known), descriptor);
        change(&mut settings);
        settings.tell(descriptor);
        known.with(|known| *known = settings);
    }

    /// Has the kernel's socket know, if there is one.
    pub(super) fn tell(self, descriptor: &Descriptor) {
        #[cfg(unix)]
        if let Some(fd) = descriptor.made() {
            self.show(fd);
        }
        #[cfg(not(unix))]
        let _has_none = descriptor;
    }

    /// Has the kernel's socket know. What it refuses nobody reads there either.
    #[cfg(unix)]
    pub(super) fn show(self, fd: BorrowedFd<'_>) {
        let options = SockRef::from(&fd);
        let _refused = options.set_tcp_nodelay(self.nodelay);
        let _refused = options.set_linger(self.linger);
        let _refused = options.set_keepalive(self.keepalive);
        let _refused = options.set_ttl_v4(self.ttl);
    }

    #[cfg(unix)]
    fn seen_by(self, fd: BorrowedFd<'_>) -> io::Result<Settings> {
        let options = SockRef::from(&fd);
        Ok(Settings {
            nodelay: options.tcp_nodelay()?,
            linger: options.linger()?,
            keepalive: options.keepalive()?,
            // One of version 6 has hops of its own.
            ttl: options.ttl_v4().unwrap_or(self.ttl),
            ..self
        })
    }
}
