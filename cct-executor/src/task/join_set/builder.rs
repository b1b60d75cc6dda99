//! Spawning named tasks into a set.

use super::JoinSet;
use crate::runtime::Handle;
use crate::task::{self, AbortHandle, LocalSet};
use std::fmt;
use std::io;

/// Spawns a task with a name into a set. From [`JoinSet::build_task`].
#[must_use = "builders do nothing unless used to spawn a task"]
pub struct Builder<'a, T> {
    pub(super) set: &'a mut JoinSet<T>,
    pub(super) builder: task::Builder<'a>,
}

impl<'a, T: 'static> Builder<'a, T> {
    /// Names the task.
    pub fn name(self, name: &'a str) -> Self {
        Builder {
            builder: self.builder.name(name),
            ..self
        }
    }

    /// As [`JoinSet::spawn`].
    ///
    /// # Errors
    /// None in a world; the signature is tokio's.
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> io::Result<AbortHandle>
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        Ok(self.set.insert(self.builder.spawn(future)?))
    }

    /// As [`JoinSet::spawn_on`].
    ///
    /// # Errors
    /// None in a world; the signature is tokio's.
    #[track_caller]
    pub fn spawn_on<F>(self, future: F, handle: &Handle) -> io::Result<AbortHandle>
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        handle.assert_here();
        self.spawn(future)
    }

    /// As [`JoinSet::spawn_blocking`].
    ///
    /// # Errors
    /// None in a world; the signature is tokio's.
    #[track_caller]
    pub fn spawn_blocking<F>(self, f: F) -> io::Result<AbortHandle>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        Ok(self.set.insert(self.builder.spawn_blocking(f)?))
    }

    /// As [`JoinSet::spawn_blocking_on`].
    ///
    /// # Errors
    /// None in a world; the signature is tokio's.
    #[track_caller]
    pub fn spawn_blocking_on<F>(self, f: F, handle: &Handle) -> io::Result<AbortHandle>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        handle.assert_here();
        self.spawn_blocking(f)
    }

    /// As [`JoinSet::spawn_local`].
    ///
    /// # Errors
    /// None in a world; the signature is tokio's.
    #[track_caller]
    pub fn spawn_local<F>(self, future: F) -> io::Result<AbortHandle>
    where
        F: Future<Output = T> + 'static,
    {
        Ok(self.set.insert(self.builder.spawn_local(future)?))
    }

    /// As [`JoinSet::spawn_local_on`].
    ///
    /// # Errors
    /// None in a world; the signature is tokio's.
    #[track_caller]
    pub fn spawn_local_on<F>(self, future: F, local_set: &LocalSet) -> io::Result<AbortHandle>
    where
        F: Future<Output = T> + 'static,
    {
        Ok(self
            .set
            .insert(self.builder.spawn_local_on(future, local_set)?))
    }
}

impl<T> fmt::Debug for Builder<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("join_set::Builder")
            .field("joinset", &self.set)
            .field("builder", &self.builder)
            .finish()
    }
}
