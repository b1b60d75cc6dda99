//! Handles to the running world, under the names tokio gives to handles of its runtime.
//!
//! There is no runtime to build: a `Checker` starts a world for every iteration.

use crate::execution::world::{Phase, WORLD};
use crate::task::{JoinHandle, spawn, spawn_blocking};
use std::fmt;
use std::marker::PhantomData;
use std::sync::MutexGuard;

/// A handle to a world, as code that spawns from afar keeps one.
///
/// # Differences from tokio
/// It works only on the thread of the iteration that it was made in, until that ends.
#[derive(Clone)]
pub struct Handle {
    serial: u64,
}

/// Marks where a handle was entered. From [`Handle::enter`].
#[derive(Debug)]
#[must_use = "Creating and dropping a guard does nothing"]
pub struct EnterGuard<'a> {
    _handle: PhantomData<&'a Handle>,
    /// Not `Send` but `Sync`, as in tokio.
    _not_send: PhantomData<MutexGuard<'static, ()>>,
}

/// The kind of a runtime.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RuntimeFlavor {
    /// All tasks run on one thread.
    CurrentThread,
    /// Tasks may run at the same time.
    MultiThread,
}

/// Identifies a runtime. A world is alone on its thread, so all ids are equal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Id(u64);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Handle {
    /// The handle of the world that this thread runs.
    ///
    /// # Panics
    /// Outside a world.
    #[track_caller]
    pub fn current() -> Handle {
        match Handle::try_current() {
            Ok(handle) => handle,
            Err(error) => panic!("{error}"),
        }
    }

    /// The handle of the world that this thread runs.
    ///
    /// # Errors
    /// Outside a world.
    pub fn try_current() -> Result<Handle, TryCurrentError> {
        WORLD
            .with(|world| (world.phase.get() != Phase::Idle).then(|| world.serial.get()))
            .map(|serial| Handle { serial })
            .ok_or(TryCurrentError(()))
    }

    /// # Panics
    /// When the world has ended or runs on another thread.
    #[track_caller]
    pub(crate) fn assert_here(&self) {
        let here = WORLD
            .with(|world| world.phase.get() != Phase::Idle && world.serial.get() == self.serial);
        assert!(
            here,
            "this handle belongs to another world: it works only on the thread of the iteration \
             that made it, and not after its end"
        );
    }

    /// As [`task::spawn`](crate::task::spawn()).
    ///
    /// # Panics
    /// When the handle's world has ended.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.assert_here();
        spawn(future)
    }

    /// As [`task::spawn_blocking`](crate::task::spawn_blocking()).
    ///
    /// # Panics
    /// When the handle's world has ended.
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, func: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        self.assert_here();
        spawn_blocking(func)
    }

    /// Waits for a future where blocking is allowed, as in `spawn_blocking`.
    ///
    /// # Panics
    /// Inside an asynchronous task, and when the handle's world has ended.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.assert_here();
        crate::shim::block_on(future)
    }

    /// Does nothing but check that the world still runs: its thread is inside it already.
    ///
    /// # Panics
    /// When the handle's world has ended.
    #[track_caller]
    pub fn enter(&self) -> EnterGuard<'_> {
        self.assert_here();
        EnterGuard {
            _handle: PhantomData,
            _not_send: PhantomData,
        }
    }

    /// [`RuntimeFlavor::MultiThread`]: operations of different tasks may interleave.
    pub fn runtime_flavor(&self) -> RuntimeFlavor {
        RuntimeFlavor::MultiThread
    }

    /// The id of the world.
    pub fn id(&self) -> Id {
        Id(1)
    }

    /// Worlds have no names.
    pub fn name(&self) -> Option<&str> {
        None
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The serial counts all worlds of the process, so it differs between runs.
        f.debug_struct("Handle").finish_non_exhaustive()
    }
}

/// There is no world here.
pub struct TryCurrentError(());

impl TryCurrentError {
    /// Whether the cause is that this thread runs no world: always.
    pub fn is_missing_context(&self) -> bool {
        true
    }

    /// Whether the cause is that this thread is ending: never.
    pub fn is_thread_local_destroyed(&self) -> bool {
        false
    }
}

impl fmt::Debug for TryCurrentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TryCurrentError")
            .field("kind", &format_args!("NoContext"))
            .finish()
    }
}

impl fmt::Display for TryCurrentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "there is no world here: a handle exists only inside a scenario, as in a test with \
             #[cct_executor::test] or a closure given to Checker::run",
        )
    }
}

impl std::error::Error for TryCurrentError {}
