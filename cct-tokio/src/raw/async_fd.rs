//! Ways to make an `AsyncFd` that are `unsafe` in tokio.

use crate::io::Interest;
use crate::io::unix::{AsyncFd, AsyncFdRegisterError};
use std::os::fd::AsRawFd;

impl<T: AsRawFd> AsyncFd<T> {
    /// Watches it.
    ///
    /// # Errors
    /// As for [`try_new`](Self::try_new).
    ///
    /// # Safety
    /// The descriptor must be open for as long as `inner` lives.
    pub unsafe fn register(inner: T) -> Result<AsyncFd<T>, AsyncFdRegisterError<T>> {
        AsyncFd::try_new(inner)
    }

    /// Watches it.
    ///
    /// # Errors
    /// As for [`try_new`](Self::try_new).
    ///
    /// # Safety
    /// The descriptor must be open for as long as `inner` lives.
    pub unsafe fn register_with_interest(
        inner: T,
        _interest: Interest,
    ) -> Result<AsyncFd<T>, AsyncFdRegisterError<T>> {
        AsyncFd::try_new(inner)
    }
}
