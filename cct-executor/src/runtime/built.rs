//! A runtime of the scenario's own making.

use super::builder::Builder;
use super::handle::{EnterGuard, Handle};
use super::hooks;
use super::metrics::RuntimeMetrics;
use crate::execution::strangers;
use crate::execution::world::{Phase, WORLD};
use crate::explore::lone::{self, Lone};
use crate::task::{Boxed, JoinHandle, is_large, may_block, spawn_blocking_on_runtime};
use crate::{shim, time};
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

/// A runtime that a scenario has built. Its tasks end when it is dropped.
///
/// # Differences from tokio
/// It works inside a world only (see the [module](super) for how one is made), and shares the world's clock, nodes
/// and network with all others.
/// It cannot be used from a thread that the test starts, as nothing controls that; but in a test without an attribute
/// that is run once (see the module) such a thread may spawn through a [`Handle`]. A runtime in a
/// static is another one, in a world of its own, to each test that did not build it.
pub struct Runtime {
    handle: Handle,
    over: bool,
    /// Dropped after the runtime was shut down.
    _lone: Option<Arc<Lone>>,
}

impl Runtime {
    pub(super) fn of(handle: Handle, lone: Option<Arc<Lone>>) -> Runtime {
        Runtime {
            handle,
            over: false,
            _lone: lone,
        }
    }

    /// A runtime whose tasks run at any time.
    ///
    /// # Errors
    /// Outside a world, see [`Builder::build`].
    #[track_caller]
    pub fn new() -> io::Result<Runtime> {
        Builder::new_multi_thread().enable_all().build()
    }

    /// A handle to it.
    #[track_caller]
    pub fn handle(&self) -> &Handle {
        lone::fail_if_found();
        &self.handle
    }

    /// As [`Handle::metrics`].
    pub fn metrics(&self) -> RuntimeMetrics {
        self.handle.metrics()
    }

    /// As [`Handle::spawn`].
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        match is_large::<F>() {
            true => self.handle().spawn(Box::pin(future) as Boxed<F::Output>),
            false => self.handle().spawn(future),
        }
    }

    /// As [`Handle::spawn_blocking`].
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, func: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        self.handle().spawn_blocking(func)
    }

    /// Runs a future to its end where blocking is allowed: in a test that is no `async fn`, in
    /// `spawn_blocking`. A runtime of one thread runs its tasks meanwhile.
    ///
    /// # Panics
    /// Inside an asynchronous task, and, as for [`Handle::block_on`], when the runtime's world has ended.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        if !self.handle().is_here() {
            let block_on = |future| self.block_on(future);
            return self.handle.block_elsewhere(future, block_on);
        }
        self.handle.assert_may_block();
        let _driving = Driving::begin(&self.handle);
        let _entered = self.handle.enter();
        shim::block_on(future)
    }

    /// As [`Handle::enter`].
    #[track_caller]
    pub fn enter(&self) -> EnterGuard<'_> {
        self.handle().enter()
    }

    /// Cancels its tasks, and waits so long for its blocking closures.
    ///
    /// # Panics
    /// Inside an asynchronous task, unless the duration is zero.
    #[track_caller]
    pub fn shutdown_timeout(mut self, duration: Duration) {
        self.shut_down(Some(duration));
    }

    /// Cancels its tasks, and does not wait for them.
    pub fn shutdown_background(mut self) {
        self.shut_down(Some(Duration::ZERO));
    }

    #[track_caller]
    fn shut_down(&mut self, limit: Option<Duration>) {
        self.over = true;
        let runtime = self.handle.runtime();
        let cancel = move || {
            WORLD.with(|world| {
                if world.is_running() {
                    world.with(|core, decider| core.shut_down(runtime, decider));
                }
                world.is_running()
            })
        };
        let end = || {
            self.await_end(limit);
            hooks::idle_threads_stop(&self.handle);
        };
        if self.handle.is_here() {
            if cancel() {
                Runtime::assert_may_wait(limit);
                end();
            }
            return;
        }
        // From a thread that has another world, or none: its tasks are dropped where they live.
        let serial = self.handle.serial();
        if strangers::ask(serial, cancel) == Some(true) && !is_in_the_background(limit) {
            Runtime::assert_may_wait(limit);
            let spawn = |job| drop(spawn_blocking_on_runtime(0, job));
            let _is_over = strangers::lend(serial, end, spawn);
        }
    }

    #[track_caller]
    fn assert_may_wait(limit: Option<Duration>) {
        assert!(
            is_in_the_background(limit) || may_block(),
            "Cannot drop a runtime in a context where blocking is not allowed. This happens when a \
             runtime is dropped from within an asynchronous context."
        );
    }

    /// Waits for what the runtime's end has to wait for, so long at most.
    fn await_end(&self, limit: Option<Duration>) {
        if is_in_the_background(limit) {
            return;
        }
        let runtime = self.handle.runtime();
        let empty = poll_fn(|_| {
            let empty = WORLD.with(|world| match world.current() {
                Some(key) if world.phase.get() == Phase::Running => {
                    world.with(|core, _| core.await_runtime(runtime, key))
                }
                _ => true,
            });
            if empty {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        });
        match limit {
            None => shim::block_on(empty),
            Some(limit) => {
                let _entered = self.handle.enter();
                let _in_time = shim::block_on(time::timeout(limit, empty));
            }
        }
    }
}

/// Whether what a runtime's end has to wait for ends without anybody who waits.
fn is_in_the_background(limit: Option<Duration>) -> bool {
    limit == Some(Duration::ZERO) || std::thread::panicking()
}

/// Waits for the tasks to be cancelled and for blocking closures to end.
///
/// # Panics
/// Inside an asynchronous task.
impl Drop for Runtime {
    #[track_caller]
    fn drop(&mut self) {
        if !self.over {
            self.shut_down(None);
        }
        lone::fail_at_end();
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime")
            .field("handle", &self.handle)
            .finish_non_exhaustive()
    }
}

/// The running task is in `block_on`, until this is dropped.
struct Driving<'a> {
    handle: &'a Handle,
    task: Option<u32>,
}

impl Driving<'_> {
    fn begin(handle: &Handle) -> Driving<'_> {
        let task = WORLD.with(|world| {
            let task = world.current().filter(|_| world.is_running())?;
            world.with(|core, _| core.begin_driving(handle.runtime(), task));
            Some(task)
        });
        Driving { handle, task }
    }
}

impl Drop for Driving<'_> {
    fn drop(&mut self) {
        let runtime = self.handle.runtime();
        if let (Some(task), true) = (self.task, self.handle.is_here()) {
            WORLD.with(|world| {
                if world.is_live() {
                    world.with(|core, _| core.end_driving(runtime, task));
                }
            });
        }
    }
}
