//! `AsyncFd`: descriptors of the machine that are watched, in tests that are run once.
//!
//! When one of them is ready is no decision of the world, so tests that wait for one cannot be
//! deterministic. While a test is explored, code that makes one compiles, and learns from an error what to do. A test that
//! fails for this is run once instead, on Linux and with `cargo cct test`, as one in which threads take part (see
//! [`runtime`](cct_executor::runtime)): there descriptors are looked at every millisecond while nothing else goes on, and
//! time is the machine's meanwhile.
//!
//! # Differences from tokio
//! Interests are those of each wait; which one it is watched for in the beginning means nothing. After
//! [`clear_ready`](AsyncFdReadyGuard::clear_ready) a descriptor is asked anew, so it is ready again at once if it is.

use super::{Interest, Ready};
use crate::raw::descriptors;
use crate::watched::Watched;
use cct_executor::shim::{MachineWait, machine_is_open, machine_is_refused};
use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};

/// A descriptor of the machine that is watched: see the [module](self).
pub struct AsyncFd<T: AsRawFd> {
    inner: T,
    watched: Watched,
    /// Of who polls: one to read, and one to write.
    polls: [Mutex<Option<MachineWait>>; 2],
}

/// Borrows nothing of the owner, who may not be `Sync`.
async fn is_ready(watched: &Watched, interest: Interest) -> io::Result<Ready> {
    let mut wait = None;
    poll_fn(|cx| watched.poll_ready(cx, interest, &mut wait)).await
}

/// That a descriptor is ready.
#[must_use = "You must explicitly choose whether to clear the readiness state by calling a method on ReadyGuard"]
pub struct AsyncFdReadyGuard<'a, T: AsRawFd> {
    fd: &'a AsyncFd<T>,
    ready: Ready,
}

/// That a descriptor is ready, which nobody else can use meanwhile.
#[must_use = "You must explicitly choose whether to clear the readiness state by calling a method on ReadyGuard"]
pub struct AsyncFdReadyMutGuard<'a, T: AsRawFd> {
    fd: &'a mut AsyncFd<T>,
    ready: Ready,
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
pub struct TryIoError(());

fn nobody_watches(descriptor: RawFd) -> io::Error {
    cct_net::machine::was_asked_for(&"`AsyncFd`");
    let text = format!(
        "cct: a world has no reactor that watches descriptors of the machine, so `AsyncFd` is not \
         supported (descriptor {descriptor}): use sockets of `tokio::net`, which are simulated, or give \
         the code under test something else in the place of what owns the descriptor"
    );
    io::Error::new(io::ErrorKind::Unsupported, text)
}

fn watch<T: AsRawFd>(inner: &T) -> io::Result<Watched> {
    let number = inner.as_raw_fd();
    if number == -1 {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    let fd = descriptors::of(inner);
    let is_simulated = cct_net::machine::simulates(fd);
    if machine_is_open() && !is_simulated {
        return Watched::new(fd);
    }
    if !is_simulated {
        machine_is_refused(&"`AsyncFd`");
    }
    Err(nobody_watches(number))
}

/// Making one.
impl<T: AsRawFd> AsyncFd<T> {
    /// Watches it.
    ///
    /// # Errors
    /// As for [`try_new`](Self::try_new).
    pub fn new(inner: T) -> io::Result<AsyncFd<T>> {
        AsyncFd::try_new(inner).map_err(Into::into)
    }

    /// Watches it.
    ///
    /// # Errors
    /// As for [`try_new`](Self::try_new).
    pub fn with_interest(inner: T, interest: Interest) -> io::Result<AsyncFd<T>> {
        AsyncFd::try_with_interest(inner, interest).map_err(Into::into)
    }

    /// Watches it.
    ///
    /// # Errors
    /// `Unsupported` while the test is explored, and for sockets that are simulated, with the owner of the descriptor;
    /// those of the system.
    pub fn try_new(inner: T) -> Result<AsyncFd<T>, AsyncFdRegisterError<T>> {
        AsyncFd::try_with_interest(inner, Interest::READABLE | Interest::WRITABLE)
    }

    /// Watches it.
    ///
    /// # Errors
    /// As for [`try_new`](Self::try_new).
    pub fn try_with_interest(
        inner: T,
        _interest: Interest,
    ) -> Result<AsyncFd<T>, AsyncFdRegisterError<T>> {
        match watch(&inner) {
            Ok(watched) => Ok(AsyncFd {
                inner,
                watched,
                polls: Default::default(),
            }),
            Err(cause) => Err(AsyncFdRegisterError { inner, cause }),
        }
    }
}

/// What one is ready for.
impl<T: AsRawFd> AsyncFd<T> {
    /// The owner of the descriptor.
    pub fn get_ref(&self) -> &T {
        &self.inner
    }

    /// The owner of the descriptor.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.inner
    }

    /// The owner of the descriptor.
    pub fn into_inner(self) -> T {
        self.inner
    }

    /// Waits until it can be read. Only who has polled last is woken.
    ///
    /// # Errors
    /// When the runtime is gone.
    pub fn poll_read_ready<'a>(
        &'a self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyGuard<'a, T>>> {
        self.poll_for(Interest::READABLE, cx)
            .map_ok(|ready| self.guard(ready))
    }

    /// Waits until it can be read. Only who has polled last is woken.
    ///
    /// # Errors
    /// When the runtime is gone.
    pub fn poll_read_ready_mut<'a>(
        &'a mut self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyMutGuard<'a, T>>> {
        self.poll_for(Interest::READABLE, cx)
            .map_ok(|ready| AsyncFdReadyMutGuard { fd: self, ready })
    }

    /// Waits until it can be written. Only who has polled last is woken.
    ///
    /// # Errors
    /// When the runtime is gone.
    pub fn poll_write_ready<'a>(
        &'a self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyGuard<'a, T>>> {
        self.poll_for(Interest::WRITABLE, cx)
            .map_ok(|ready| self.guard(ready))
    }

    /// Waits until it can be written. Only who has polled last is woken.
    ///
    /// # Errors
    /// When the runtime is gone.
    pub fn poll_write_ready_mut<'a>(
        &'a mut self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyMutGuard<'a, T>>> {
        self.poll_for(Interest::WRITABLE, cx)
            .map_ok(|ready| AsyncFdReadyMutGuard { fd: self, ready })
    }

    fn guard(&self, ready: Ready) -> AsyncFdReadyGuard<'_, T> {
        AsyncFdReadyGuard { fd: self, ready }
    }

    fn poll_for(&self, interest: Interest, cx: &mut Context<'_>) -> Poll<io::Result<Ready>> {
        let [to_read, to_write] = &self.polls;
        let wait = if interest.is_readable() {
            to_read
        } else {
            to_write
        };
        let mut wait = wait.lock().unwrap_or_else(PoisonError::into_inner);
        self.watched.poll_ready(cx, interest, &mut wait)
    }

    /// Waits until it is ready for some of this.
    ///
    /// # Cancel safety
    /// Nothing is lost.
    ///
    /// # Errors
    /// When the runtime is gone.
    pub async fn ready(&self, interest: Interest) -> io::Result<AsyncFdReadyGuard<'_, T>> {
        let ready = is_ready(&self.watched, interest).await?;
        Ok(self.guard(ready))
    }

    /// As [`ready`](Self::ready).
    ///
    /// # Errors
    /// When the runtime is gone.
    pub async fn ready_mut(
        &mut self,
        interest: Interest,
    ) -> io::Result<AsyncFdReadyMutGuard<'_, T>> {
        let ready = is_ready(&self.watched, interest).await?;
        Ok(AsyncFdReadyMutGuard { fd: self, ready })
    }

    /// As [`ready`](Self::ready), to read.
    ///
    /// # Errors
    /// When the runtime is gone.
    pub async fn readable(&self) -> io::Result<AsyncFdReadyGuard<'_, T>> {
        self.ready(Interest::READABLE).await
    }

    /// As [`ready`](Self::ready), to read.
    ///
    /// # Errors
    /// When the runtime is gone.
    pub async fn readable_mut(&mut self) -> io::Result<AsyncFdReadyMutGuard<'_, T>> {
        self.ready_mut(Interest::READABLE).await
    }

    /// As [`ready`](Self::ready), to write.
    ///
    /// # Errors
    /// When the runtime is gone.
    pub async fn writable(&self) -> io::Result<AsyncFdReadyGuard<'_, T>> {
        self.ready(Interest::WRITABLE).await
    }

    /// As [`ready`](Self::ready), to write.
    ///
    /// # Errors
    /// When the runtime is gone.
    pub async fn writable_mut(&mut self) -> io::Result<AsyncFdReadyMutGuard<'_, T>> {
        self.ready_mut(Interest::WRITABLE).await
    }

    /// Does something whenever it is ready, until that does not find that it is not.
    ///
    /// # Errors
    /// Those of `f`; when the runtime is gone.
    pub async fn async_io<R>(
        &self,
        interest: Interest,
        mut f: impl FnMut(&T) -> io::Result<R>,
    ) -> io::Result<R> {
        loop {
            let ready = is_ready(&self.watched, interest).await?;
            match f(&self.inner) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.watched.clear(ready)
                }
                done => return done,
            }
        }
    }

    /// As [`async_io`](Self::async_io).
    ///
    /// # Errors
    /// Those of `f`; when the runtime is gone.
    pub async fn async_io_mut<R>(
        &mut self,
        interest: Interest,
        mut f: impl FnMut(&mut T) -> io::Result<R>,
    ) -> io::Result<R> {
        loop {
            let ready = is_ready(&self.watched, interest).await?;
            match f(&mut self.inner) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.watched.clear(ready)
                }
                done => return done,
            }
        }
    }

    /// Does something if it is ready.
    ///
    /// # Errors
    /// `WouldBlock` if it is not; those of `f`.
    pub fn try_io<R>(
        &self,
        interest: Interest,
        f: impl FnOnce(&T) -> io::Result<R>,
    ) -> io::Result<R> {
        let ready = self.watched.ready(interest);
        if ready.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let done = f(&self.inner);
        if matches!(&done, Err(error) if error.kind() == io::ErrorKind::WouldBlock) {
            self.watched.clear(ready);
        }
        done
    }

    /// As [`try_io`](Self::try_io).
    ///
    /// # Errors
    /// As there.
    pub fn try_io_mut<R>(
        &mut self,
        interest: Interest,
        f: impl FnOnce(&mut T) -> io::Result<R>,
    ) -> io::Result<R> {
        let ready = self.watched.ready(interest);
        if ready.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let done = f(&mut self.inner);
        if matches!(&done, Err(error) if error.kind() == io::ErrorKind::WouldBlock) {
            self.watched.clear(ready);
        }
        done
    }
}

/// What all guards can do.
macro_rules! guards {
    ($($Guard:ident)*) => {$(
        impl<T: AsRawFd> $Guard<'_, T> {
            /// It is not ready any more.
            pub fn clear_ready(&mut self) {
                self.clear_ready_matching(self.ready);
            }

            /// It is not ready any more for this.
            pub fn clear_ready_matching(&mut self, ready: Ready) {
                self.fd.watched.clear(ready);
                self.ready = self.ready - ready;
            }

            /// It is ready still.
            pub fn retain_ready(&mut self) {}

            /// What it is ready for.
            pub fn ready(&self) -> Ready {
                self.ready
            }
        }

        impl<T: fmt::Debug + AsRawFd> fmt::Debug for $Guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($Guard)).field("async_fd", &self.fd).finish()
            }
        }
    )*};
}

guards!(AsyncFdReadyGuard AsyncFdReadyMutGuard);

impl<'a, T: AsRawFd> AsyncFdReadyGuard<'a, T> {
    /// Does something with it, which may find that it is not ready.
    ///
    /// # Errors
    /// If it does.
    pub fn try_io<R>(
        &mut self,
        f: impl FnOnce(&'a AsyncFd<T>) -> io::Result<R>,
    ) -> Result<io::Result<R>, TryIoError> {
        match f(self.fd) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.clear_ready();
                Err(TryIoError(()))
            }
            done => Ok(done),
        }
    }

    /// The descriptor.
    pub fn get_ref(&self) -> &'a AsyncFd<T> {
        self.fd
    }

    /// The owner of the descriptor.
    pub fn get_inner(&self) -> &'a T {
        self.fd.get_ref()
    }
}

impl<T: AsRawFd> AsyncFdReadyMutGuard<'_, T> {
    /// Does something with it, which may find that it is not ready.
    ///
    /// # Errors
    /// If it does.
    pub fn try_io<R>(
        &mut self,
        f: impl FnOnce(&mut AsyncFd<T>) -> io::Result<R>,
    ) -> Result<io::Result<R>, TryIoError> {
        match f(self.fd) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.clear_ready();
                Err(TryIoError(()))
            }
            done => Ok(done),
        }
    }

    /// The descriptor.
    pub fn get_ref(&self) -> &AsyncFd<T> {
        self.fd
    }

    /// The descriptor.
    pub fn get_mut(&mut self) -> &mut AsyncFd<T> {
        self.fd
    }

    /// The owner of the descriptor.
    pub fn get_inner(&self) -> &T {
        self.fd.get_ref()
    }

    /// The owner of the descriptor.
    pub fn get_inner_mut(&mut self) -> &mut T {
        self.fd.get_mut()
    }
}

impl<T: AsRawFd> AsFd for AsyncFd<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        descriptors::of(&self.inner)
    }
}

impl<T: AsRawFd> AsRawFd for AsyncFd<T> {
    fn as_raw_fd(&self) -> RawFd {
        self.inner.as_raw_fd()
    }
}

impl<T: fmt::Debug + AsRawFd> fmt::Debug for AsyncFd<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncFd")
            .field("inner", &self.inner)
            .finish()
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
