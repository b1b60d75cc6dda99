//! `AsyncFd`, which cannot be made: a world has no reactor that watches descriptors of the machine.
//!
//! When one of them is ready is no decision of the world, so tests that wait for one cannot be
//! deterministic. Code that offers it compiles, and learns from an error what to do.

use super::{Interest, Ready};
use std::convert::Infallible;
use std::error::Error;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::task::{Context, Poll};

/// A descriptor of the machine that is watched. There is none: see the [module](self).
pub struct AsyncFd<T: AsRawFd> {
    never: Infallible,
    inner: PhantomData<T>,
}

/// That a descriptor is ready.
#[must_use = "You must explicitly choose whether to clear the readiness state by calling a method on ReadyGuard"]
pub struct AsyncFdReadyGuard<'a, T: AsRawFd> {
    never: Infallible,
    fd: PhantomData<&'a AsyncFd<T>>,
}

/// That a descriptor is ready, which nobody else can use meanwhile.
#[must_use = "You must explicitly choose whether to clear the readiness state by calling a method on ReadyGuard"]
pub struct AsyncFdReadyMutGuard<'a, T: AsRawFd> {
    never: Infallible,
    fd: PhantomData<&'a mut AsyncFd<T>>,
}

/// Why a descriptor cannot be watched, and its owner.
pub struct AsyncFdRegisterError<T> {
    inner: T,
    cause: io::Error,
}

/// The same under an older name.
#[doc(hidden)]
pub type AsyncFdTryNewError<T> = AsyncFdRegisterError<T>;

/// The descriptor was not ready after all.
#[derive(Debug)]
pub struct TryIoError(Infallible);

fn nobody_watches(descriptor: RawFd) -> io::Error {
    cct_net::machine::was_asked_for(&"`AsyncFd`");
    let text = format!(
        "cct: a world has no reactor that watches descriptors of the machine, so `AsyncFd` is not \
         supported (descriptor {descriptor}): use sockets of `tokio::net`, which are simulated, or give \
         the code under test something else in the place of what owns the descriptor"
    );
    io::Error::new(io::ErrorKind::Unsupported, text)
}

/// Making one.
impl<T: AsRawFd> AsyncFd<T> {
    /// Fails.
    ///
    /// # Errors
    /// `Unsupported`, always.
    pub fn new(inner: T) -> io::Result<AsyncFd<T>> {
        AsyncFd::try_new(inner).map_err(Into::into)
    }

    /// Fails.
    ///
    /// # Errors
    /// `Unsupported`, always.
    pub fn with_interest(inner: T, interest: Interest) -> io::Result<AsyncFd<T>> {
        AsyncFd::try_with_interest(inner, interest).map_err(Into::into)
    }

    /// Fails.
    ///
    /// # Errors
    /// `Unsupported`, always, with the owner of the descriptor.
    pub fn try_new(inner: T) -> Result<AsyncFd<T>, AsyncFdRegisterError<T>> {
        let cause = nobody_watches(inner.as_raw_fd());
        Err(AsyncFdRegisterError { inner, cause })
    }

    /// Fails.
    ///
    /// # Errors
    /// `Unsupported`, always, with the owner of the descriptor.
    pub fn try_with_interest(
        inner: T,
        _interest: Interest,
    ) -> Result<AsyncFd<T>, AsyncFdRegisterError<T>> {
        AsyncFd::try_new(inner)
    }
}

/// What could be done with one.
impl<T: AsRawFd> AsyncFd<T> {
    /// The owner of the descriptor.
    pub fn get_ref(&self) -> &T {
        match self.never {}
    }

    /// The owner of the descriptor.
    pub fn get_mut(&mut self) -> &mut T {
        match self.never {}
    }

    /// The owner of the descriptor.
    pub fn into_inner(self) -> T {
        match self.never {}
    }

    /// Waits until it can be read.
    pub fn poll_read_ready<'a>(
        &'a self,
        _cx: &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyGuard<'a, T>>> {
        match self.never {}
    }

    /// Waits until it can be read.
    pub fn poll_read_ready_mut<'a>(
        &'a mut self,
        _cx: &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyMutGuard<'a, T>>> {
        match self.never {}
    }

    /// Waits until it can be written.
    pub fn poll_write_ready<'a>(
        &'a self,
        _cx: &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyGuard<'a, T>>> {
        match self.never {}
    }

    /// Waits until it can be written.
    pub fn poll_write_ready_mut<'a>(
        &'a mut self,
        _cx: &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyMutGuard<'a, T>>> {
        match self.never {}
    }

    /// Waits until it is ready.
    pub async fn ready(&self, _interest: Interest) -> io::Result<AsyncFdReadyGuard<'_, T>> {
        match self.never {}
    }

    /// Waits until it is ready.
    pub async fn ready_mut(
        &mut self,
        _interest: Interest,
    ) -> io::Result<AsyncFdReadyMutGuard<'_, T>> {
        match self.never {}
    }

    /// Waits until it can be read.
    pub async fn readable(&self) -> io::Result<AsyncFdReadyGuard<'_, T>> {
        match self.never {}
    }

    /// Waits until it can be read.
    pub async fn readable_mut(&mut self) -> io::Result<AsyncFdReadyMutGuard<'_, T>> {
        match self.never {}
    }

    /// Waits until it can be written.
    pub async fn writable(&self) -> io::Result<AsyncFdReadyGuard<'_, T>> {
        match self.never {}
    }

    /// Waits until it can be written.
    pub async fn writable_mut(&mut self) -> io::Result<AsyncFdReadyMutGuard<'_, T>> {
        match self.never {}
    }

    /// Does something when it is ready.
    pub async fn async_io<R>(
        &self,
        _interest: Interest,
        _f: impl FnMut(&T) -> io::Result<R>,
    ) -> io::Result<R> {
        match self.never {}
    }

    /// Does something when it is ready.
    pub async fn async_io_mut<R>(
        &mut self,
        _interest: Interest,
        _f: impl FnMut(&mut T) -> io::Result<R>,
    ) -> io::Result<R> {
        match self.never {}
    }

    /// Does something if it is ready.
    pub fn try_io<R>(
        &self,
        _interest: Interest,
        _f: impl FnOnce(&T) -> io::Result<R>,
    ) -> io::Result<R> {
        match self.never {}
    }

    /// Does something if it is ready.
    pub fn try_io_mut<R>(
        &mut self,
        _interest: Interest,
        _f: impl FnOnce(&mut T) -> io::Result<R>,
    ) -> io::Result<R> {
        match self.never {}
    }
}

impl<'a, T: AsRawFd> AsyncFdReadyGuard<'a, T> {
    /// It is not ready any more.
    pub fn clear_ready(&mut self) {
        match self.never {}
    }

    /// It is not ready any more for this.
    pub fn clear_ready_matching(&mut self, _ready: Ready) {
        match self.never {}
    }

    /// It is ready still.
    pub fn retain_ready(&mut self) {
        match self.never {}
    }

    /// What it is ready for.
    pub fn ready(&self) -> Ready {
        match self.never {}
    }

    /// Does something with it, which may find that it is not ready.
    pub fn try_io<R>(
        &mut self,
        _f: impl FnOnce(&'a AsyncFd<T>) -> io::Result<R>,
    ) -> Result<io::Result<R>, TryIoError> {
        match self.never {}
    }

    /// The descriptor.
    pub fn get_ref(&self) -> &'a AsyncFd<T> {
        match self.never {}
    }

    /// The owner of the descriptor.
    pub fn get_inner(&self) -> &'a T {
        match self.never {}
    }
}

impl<T: AsRawFd> AsyncFdReadyMutGuard<'_, T> {
    /// It is not ready any more.
    pub fn clear_ready(&mut self) {
        match self.never {}
    }

    /// It is not ready any more for this.
    pub fn clear_ready_matching(&mut self, _ready: Ready) {
        match self.never {}
    }

    /// It is ready still.
    pub fn retain_ready(&mut self) {
        match self.never {}
    }

    /// What it is ready for.
    pub fn ready(&self) -> Ready {
        match self.never {}
    }

    /// Does something with it, which may find that it is not ready.
    pub fn try_io<R>(
        &mut self,
        _f: impl FnOnce(&mut AsyncFd<T>) -> io::Result<R>,
    ) -> Result<io::Result<R>, TryIoError> {
        match self.never {}
    }

    /// The descriptor.
    pub fn get_ref(&self) -> &AsyncFd<T> {
        match self.never {}
    }

    /// The descriptor.
    pub fn get_mut(&mut self) -> &mut AsyncFd<T> {
        match self.never {}
    }

    /// The owner of the descriptor.
    pub fn get_inner(&self) -> &T {
        match self.never {}
    }

    /// The owner of the descriptor.
    pub fn get_inner_mut(&mut self) -> &mut T {
        match self.never {}
    }
}

impl<T: AsRawFd> AsFd for AsyncFd<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self.never {}
    }
}

impl<T: AsRawFd> AsRawFd for AsyncFd<T> {
    fn as_raw_fd(&self) -> RawFd {
        match self.never {}
    }
}

impl<T: fmt::Debug + AsRawFd> fmt::Debug for AsyncFd<T> {
    fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.never {}
    }
}

impl<T: fmt::Debug + AsRawFd> fmt::Debug for AsyncFdReadyGuard<'_, T> {
    fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.never {}
    }
}

impl<T: fmt::Debug + AsRawFd> fmt::Debug for AsyncFdReadyMutGuard<'_, T> {
    fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.never {}
    }
}

impl<T> AsyncFdRegisterError<T> {
    /// The owner of the descriptor, and the error.
    pub fn into_parts(self) -> (T, io::Error) {
        (self.inner, self.cause)
    }
}

impl<T> fmt::Display for AsyncFdRegisterError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(f)
    }
}

impl<T> fmt::Debug for AsyncFdRegisterError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.cause, f)
    }
}

impl<T> Error for AsyncFdRegisterError<T> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.cause)
    }
}

impl<T> From<AsyncFdRegisterError<T>> for io::Error {
    fn from(error: AsyncFdRegisterError<T>) -> io::Error {
        error.cause
    }
}

#[cfg(test)]
mod tests {
    use super::AsyncFd;
    use std::io::ErrorKind;

    #[test]
    fn the_owner_comes_back_with_an_error_that_says_what_to_do() {
        let input = std::io::stdin();
        let refused = AsyncFd::try_new(input).unwrap_err();
        let (_input, error) = refused.into_parts();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("descriptor 0"), "{error}");
    }
}
