//! Ways to make an `AsyncFd` that are `unsafe` in tokio, and fail here like the others.

use crate::io::Interest;
use crate::io::unix::{AsyncFd, AsyncFdRegisterError};
use std::os::fd::AsRawFd;

impl<T: AsRawFd> AsyncFd<T> {
    /// Fails.
    ///
    /// # Errors
    /// `Unsupported`, always, with the owner of the descriptor.
    ///
    /// # Safety
    /// The descriptor must be open for as long as `inner` lives.
    pub unsafe fn register(inner: T) -> Result<AsyncFd<T>, AsyncFdRegisterError<T>> {
        AsyncFd::try_new(inner)
    }

    /// Fails.
    ///
    /// # Errors
    /// `Unsupported`, always, with the owner of the descriptor.
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
