//! Descriptors of the machine that are waited for, in a test that is run once.

use crate::io::output::gone;
use crate::io::{Interest, Ready};
use crate::raw::descriptors;
use cct_executor::shim::{Belongs, MachineWait, wait_for_machine};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

/// A descriptor that is waited for, by one that means the same.
pub(crate) struct Watched {
    fd: Arc<OwnedFd>,
    /// What it was ready for when it was asked, until somebody finds that it is not any more.
    known: Mutex<Ready>,
    world: Belongs,
}

impl Watched {
    /// # Errors
    /// Those of duplicating a descriptor; and that of `epoll` for what is always ready, as files are.
    pub(crate) fn new(fd: BorrowedFd<'_>) -> io::Result<Watched> {
        let fd = fd.try_clone_to_owned()?;
        if !descriptors::can_be_watched(fd.as_fd())? {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(Watched {
            fd: Arc::new(fd),
            known: Mutex::new(Ready::EMPTY),
            world: Belongs::here(),
        })
    }

    fn known(&self) -> MutexGuard<'_, Ready> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What it is ready for, as far as is known.
    pub(crate) fn ready(&self, interest: Interest) -> Ready {
        let mut known = self.known();
        let ready = *known & (Ready::mask(interest) | Ready::ERROR);
        if !ready.is_empty() {
            return ready;
        }
        let ready = descriptors::readiness(self.fd.as_fd(), interest);
        *known |= ready;
        ready
    }

    /// It is not ready for this any more.
    pub(crate) fn clear(&self, ready: Ready) {
        // What has ended does not begin again.
        let ready = ready - Ready::READ_CLOSED - Ready::WRITE_CLOSED;
        let mut known = self.known();
        *known = *known - ready;
    }

    /// Waits until it is ready for some of this, as long as `wait` is kept.
    ///
    /// # Errors
    /// As in tokio, when the runtime is gone.
    pub(crate) fn poll_ready(
        &self,
        cx: &mut Context<'_>,
        interest: Interest,
        wait: &mut Option<MachineWait>,
    ) -> Poll<io::Result<Ready>> {
        *wait = None;
        let ready = self.ready(interest);
        if !ready.is_empty() {
            return Poll::Ready(Ok(ready));
        }
        let fd = self.fd.clone();
        *wait = wait_for_machine(cx.waker(), move || {
            !descriptors::readiness(fd.as_fd(), interest).is_empty()
        });
        let world_goes_on = self.world == Belongs::here() || self.world.elsewhere();
        match wait.is_some() || world_goes_on {
            true => Poll::Pending,
            false => Poll::Ready(Err(gone())),
        }
    }
}
