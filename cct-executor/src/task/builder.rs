//! Named tasks.

use super::blocking::spawn_blocking_with;
use super::handle::JoinHandle;
use super::local_set::{LocalSet, current_group};
use super::spawn::{Options, spawn_local_with, spawn_with};
use std::io;
use std::panic::Location;

/// Spawns tasks with a name, which reports show.
#[derive(Clone, Copy, Debug, Default)]
pub struct Builder<'a> {
    name: Option<&'a str>,
}

impl<'a> Builder<'a> {
    /// A builder without a name yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the task.
    #[must_use]
    pub fn name(&self, name: &'a str) -> Self {
        Builder { name: Some(name) }
    }

    fn options(self, site: &'static Location<'static>) -> Options {
        Options {
            name: self.name.map(Into::into),
            ..Options::at(site)
        }
    }

    /// As [`spawn`](super::spawn()).
    ///
    /// # Scheduling points
    /// One after the task exists, at granularity `spawn` and finer.
    ///
    /// # Errors
    /// None in a world; the signature is tokio's.
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Ok(spawn_with(future, self.options(Location::caller())))
    }

    /// As [`spawn_local`](super::spawn_local()).
    ///
    /// # Scheduling points
    /// One after the task exists, at granularity `spawn` and finer.
    ///
    /// # Errors
    /// None in a world; the signature is tokio's.
    #[track_caller]
    pub fn spawn_local<F>(self, future: F) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let options = Options {
            group: current_group(),
            ..self.options(Location::caller())
        };
        Ok(spawn_local_with(future, options))
    }

    /// As [`LocalSet::spawn_local`].
    ///
    /// # Scheduling points
    /// One after the task exists, at granularity `spawn` and finer.
    ///
    /// # Errors
    /// None in a world; the signature is tokio's.
    #[track_caller]
    pub fn spawn_local_on<F>(
        self,
        future: F,
        local_set: &LocalSet,
    ) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        Ok(local_set.spawn_with(future, self.options(Location::caller())))
    }

    /// As [`spawn_blocking`](super::spawn_blocking()).
    ///
    /// # Scheduling points
    /// One after the task exists, at granularity `spawn` and finer.
    ///
    /// # Errors
    /// None in a world; the signature is tokio's.
    #[track_caller]
    pub fn spawn_blocking<F, R>(self, f: F) -> io::Result<JoinHandle<R>>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        Ok(spawn_blocking_with(f, self.options(Location::caller())))
    }
}
