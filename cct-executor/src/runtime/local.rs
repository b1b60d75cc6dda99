//! A runtime whose tasks need not be `Send`.

use super::builder::Builder;
use super::built::Runtime;
use super::handle::{EnterGuard, Handle};
use super::metrics::RuntimeMetrics;
use crate::execution::world::WORLD;
use crate::task::{JoinHandle, drop_group, spawn_local_on_runtime};
use std::io;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::Duration;

/// How a [`LocalRuntime`] is to be: there is nothing to choose yet, as in tokio.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct LocalOptions {
    /// Not `Send`, as in tokio.
    _not_send: PhantomData<*mut u8>,
}

/// A [`Runtime`] of one thread, that of the task which builds it. Inside it
/// [`spawn_local`](crate::task::spawn_local) needs no `LocalSet`.
///
/// # Differences from tokio
/// Those of [`Runtime`].
///
/// # Examples
/// ```
/// use cct_executor::{Checker, runtime::LocalRuntime, task};
/// use std::rc::Rc;
///
/// let report = Checker::new().iterations(20).run(|| async {
///     let body = task::spawn_blocking(|| {
///         let runtime = LocalRuntime::new().unwrap();
///         let word = Rc::new("not sent anywhere");
///         let same = word.clone();
///         let task = runtime.spawn_local(async move { same.len() });
///         assert_eq!(runtime.block_on(task).unwrap(), word.len());
///     });
///     body.await.unwrap();
/// });
/// report.assert_passed();
/// ```
#[derive(Debug)]
pub struct LocalRuntime {
    /// There until it is shut down.
    runtime: Option<Runtime>,
    /// Not `Send`, as in tokio.
    _not_send: PhantomData<*mut u8>,
}

impl LocalRuntime {
    pub(super) fn of(runtime: Runtime) -> LocalRuntime {
        LocalRuntime {
            runtime: Some(runtime),
            _not_send: PhantomData,
        }
    }

    /// A runtime of the thread that this is called on.
    ///
    /// # Errors
    /// Outside a world, see [`Builder::build_local`].
    pub fn new() -> io::Result<LocalRuntime> {
        Builder::new_current_thread()
            .enable_all()
            .build_local(LocalOptions::default())
    }

    fn runtime(&self) -> &Runtime {
        self.runtime
            .as_ref()
            .expect("cct bug: a runtime that is over is used")
    }

    /// A handle to it.
    pub fn handle(&self) -> &Handle {
        self.runtime().handle()
    }

    /// As [`Handle::metrics`].
    pub fn metrics(&self) -> RuntimeMetrics {
        self.handle().metrics()
    }

    /// Spawns a task that need not be `Send`.
    ///
    /// # Scheduling points
    /// One after the task exists, at granularity `spawn` and finer.
    ///
    /// # Panics
    /// When the runtime's world has ended.
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        self.handle().assert_here();
        spawn_local_on_runtime(self.handle().runtime(), future)
    }

    /// As [`Handle::spawn_blocking`].
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, func: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        self.runtime().spawn_blocking(func)
    }

    /// As [`Runtime::block_on`]; the runtime's tasks run meanwhile.
    ///
    /// # Panics
    /// Inside an asynchronous task, and when the runtime's world has ended.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.runtime().block_on(future)
    }

    /// As [`Handle::enter`].
    #[track_caller]
    pub fn enter(&self) -> EnterGuard<'_> {
        self.runtime().enter()
    }

    /// Cancels its tasks, and waits so long for its blocking closures.
    ///
    /// # Panics
    /// Inside an asynchronous task, unless the duration is zero.
    #[track_caller]
    pub fn shutdown_timeout(mut self, duration: Duration) {
        self.drop_tasks();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(duration);
        }
    }

    /// Cancels its tasks, and does not wait for blocking closures.
    #[track_caller]
    pub fn shutdown_background(self) {
        self.shutdown_timeout(Duration::ZERO);
    }

    /// Drops the futures here and now: they may share with the running task what is no other thread's.
    #[track_caller]
    fn drop_tasks(&self) {
        let handle = self.handle();
        if !handle.is_here() {
            return;
        }
        let running = WORLD.with(|world| world.is_running() && world.current().is_some());
        if running {
            let _entered = handle.enter();
            WORLD.with(|world| {
                let group = world.with(|core, _| core.close_runtime(handle.runtime()));
                drop_group(world, group);
            });
        }
    }
}

/// Cancels its tasks, and waits for blocking closures to end.
///
/// # Panics
/// Inside an asynchronous task.
impl Drop for LocalRuntime {
    #[track_caller]
    fn drop(&mut self) {
        if self.runtime.is_some() {
            self.drop_tasks();
        }
    }
}

impl UnwindSafe for LocalRuntime {}
impl RefUnwindSafe for LocalRuntime {}
