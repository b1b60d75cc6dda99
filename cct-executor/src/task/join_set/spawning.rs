//! How tasks come into a set.

use super::super::blocking::spawn_blocking_with;
use super::super::handle::{AbortHandle, JoinHandle};
use super::super::local_set::{LocalSet, current_group};
use super::super::spawn::{Options, spawn_local_with, spawn_with};
use super::{Builder, JoinSet};
use crate::runtime::Handle;
use std::panic::Location;
use std::task::Context;

impl<T: 'static> JoinSet<T> {
    /// Spawns a task with a name into the set.
    pub fn build_task(&mut self) -> Builder<'_, T> {
        Builder {
            set: self,
            builder: crate::task::Builder::new(),
        }
    }

    pub(super) fn insert(&mut self, handle: JoinHandle<T>) -> AbortHandle {
        let abort = handle.abort_handle();
        let number = self.inserted;
        self.inserted += 1;
        self.ended.insert(number);
        handle.wake_when_done(&Context::from_waker(&self.ended.waker(number)));
        self.handles.insert(number, handle);
        abort
    }

    /// Spawns a task into the set.
    ///
    /// # Scheduling points
    /// One after the task exists, at granularity `spawn` and finer.
    ///
    /// # Panics
    /// Outside a world.
    #[track_caller]
    pub fn spawn<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.insert(spawn_with(task, Options::at(Location::caller())))
    }

    /// Spawns a task into the set, onto the world of a handle.
    ///
    /// # Panics
    /// When the handle's world has ended.
    #[track_caller]
    pub fn spawn_on<F>(&mut self, task: F, handle: &Handle) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.insert(handle.spawn(task))
    }

    /// Spawns a task that need not be `Send` onto the current [`LocalRuntime`] or [`LocalSet`], and
    /// into this set.
    ///
    /// [`LocalRuntime`]: crate::runtime::LocalRuntime
    ///
    /// # Scheduling points
    /// One after the task exists, at granularity `spawn` and finer.
    ///
    /// # Panics
    /// Outside both.
    #[track_caller]
    pub fn spawn_local<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        let options = Options {
            group: current_group(),
            ..Options::at(Location::caller())
        };
        self.insert(spawn_local_with(task, options))
    }

    /// Spawns a task that need not be `Send` onto a [`LocalSet`] and into this set.
    #[track_caller]
    pub fn spawn_local_on<F>(&mut self, task: F, local_set: &LocalSet) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        self.insert(local_set.spawn_local(task))
    }

    /// Runs a closure that may block as a task of the set.
    ///
    /// # Scheduling points
    /// One after the task exists, at granularity `spawn` and finer.
    ///
    /// # Panics
    /// Outside a world.
    #[track_caller]
    pub fn spawn_blocking<F>(&mut self, f: F) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        self.insert(spawn_blocking_with(f, Options::at(Location::caller())))
    }

    /// Runs a closure that may block as a task of the set, in the world of a handle.
    ///
    /// # Panics
    /// When the handle's world has ended.
    #[track_caller]
    pub fn spawn_blocking_on<F>(&mut self, f: F, handle: &Handle) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        self.insert(handle.spawn_blocking(f))
    }
}

impl<T, F> FromIterator<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = F>>(tasks: I) -> Self {
        let mut set = Self::new();
        set.extend(tasks);
        set
    }
}

impl<T, F> Extend<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    #[track_caller]
    fn extend<I: IntoIterator<Item = F>>(&mut self, tasks: I) {
        let site = Location::caller();
        for task in tasks {
            self.insert(spawn_with(task, Options::at(site)));
        }
    }
}
