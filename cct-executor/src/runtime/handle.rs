//! Handles: to the running world, and to the runtimes that a scenario builds.

use super::abroad;
use super::metrics::RuntimeMetrics;
use crate::execution::runtimes::Entered;
use crate::execution::strangers;
use crate::execution::world::{AS_TOKIO_SAYS, Phase, WORLD, World};
use crate::explore::lone::{self, Lone};
use crate::task::{
    Boxed, BoxedClosure, JoinHandle, cancelled_after_the_end, is_large, may_block,
    spawn_blocking_on_runtime, spawn_on_runtime,
};
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::{Arc, MutexGuard};

/// A handle to a world, or to a runtime inside it, as code that spawns from afar keeps one.
///
/// # Differences from tokio
/// It works only on the thread of the iteration that it was made in, until that ends; but in a test without an attribute
/// that is run once (see the [module](super)), threads that the test starts may use it. While one polls what it blocks on,
/// the world's own thread waits; what it spawns is polled there. A thread with a runtime of its own has what it blocks on
/// in another's polled there as well.
#[derive(Clone)]
pub struct Handle {
    serial: u64,
    /// The runtime; 0 is the world itself.
    runtime: u16,
    one_thread: bool,
    name: Option<Arc<str>>,
}

/// While it lives, what its task spawns belongs to the handle's runtime. From [`Handle::enter`].
#[derive(Debug)]
#[must_use = "Creating and dropping a guard does nothing"]
pub struct EnterGuard<'a> {
    _handle: PhantomData<&'a Handle>,
    _inside: Inside,
    /// A runtime that is entered may be shut down; its world is there as long as one is in it.
    _lone: Option<Arc<Lone>>,
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

/// Identifies a runtime. A world is alone on its thread, so the worlds have one id in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Id(u64);

impl Id {
    /// Sets of local tasks have ids that no runtime has.
    pub(crate) fn of_local_set(group: u32) -> Id {
        Id(1 << 32 | u64::from(group))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Handle {
    /// The handle of the runtime that the running task belongs to or has entered: of the world, unless
    /// it has built others.
    ///
    /// # Panics
    /// As [`try_current`](Self::try_current) says.
    #[track_caller]
    pub fn current() -> Handle {
        match Handle::try_current() {
            Ok(handle) => handle,
            Err(error) => panic!("{error}"),
        }
    }

    /// The handle of the runtime that the running task belongs to or has entered: of the world, unless
    /// it has built others.
    ///
    /// # Errors
    /// Outside a world; and in a test without an attribute outside of the runtimes that it has built.
    pub fn try_current() -> Result<Handle, TryCurrentError> {
        match WORLD.with(World::is_around_runtimes) {
            true => Err(TryCurrentError(())),
            false => Handle::of_world(),
        }
    }

    /// The same, or that of the world where there is no current one.
    pub(super) fn of_world() -> Result<Handle, TryCurrentError> {
        let running = WORLD.with(|world| {
            (world.phase.get() != Phase::Idle).then(|| {
                let key = world.running.get().key;
                let runtime = world.with(|core, _| core.runtime_of(key));
                (world.serial.get(), runtime)
            })
        });
        let Some((serial, runtime)) = running else {
            return abroad::entered().ok_or(TryCurrentError(()));
        };
        let world = Handle {
            serial,
            runtime: 0,
            one_thread: false, // `of_runtime` knows
            name: None,
        };
        Ok(world.of_runtime(runtime))
    }

    /// That of a world around another thread.
    pub(super) fn of_another_world(serial: u64) -> Handle {
        Handle {
            serial,
            runtime: 0,
            one_thread: false,
            name: None,
        }
    }

    /// The handle of a runtime of the same world.
    pub(super) fn of_runtime(&self, runtime: u16) -> Handle {
        let (one_thread, name) = WORLD.with(|world| {
            world.with(|core, _| match core.runtimes.entry(runtime) {
                Some(entry) => (entry.has_one_thread(), entry.name.clone()),
                None => (core.runtimes.world_has_one_thread(), None),
            })
        });
        Handle {
            serial: self.serial,
            runtime,
            one_thread,
            name,
        }
    }

    /// Which world it is of.
    pub(crate) fn serial(&self) -> u64 {
        self.serial
    }

    /// Its number; 0 is the world itself.
    pub(super) fn runtime(&self) -> u16 {
        self.runtime
    }

    /// Whether its world runs, on this thread.
    pub(super) fn is_here(&self) -> bool {
        WORLD.with(|world| world.phase.get() != Phase::Idle && world.serial.get() == self.serial)
    }

    #[track_caller]
    pub(super) fn assert_may_block(&self) {
        self.assert_here();
        assert!(
            may_block(),
            "Cannot start a runtime from within a runtime. This happens because a function (like \
             `block_on`) attempted to block the current thread while the thread is being used to \
             drive asynchronous tasks. If you are in an async function, use `.await` on the future \
             instead of blocking on it."
        );
    }

    /// # Panics
    /// When the world has ended or runs on another thread.
    #[track_caller]
    pub(crate) fn assert_here(&self) {
        if !self.is_here() {
            self.refuse();
        }
    }

    #[cold]
    #[track_caller]
    fn refuse(&self) -> ! {
        panic!(
            "this handle belongs to another world: it works only on the thread of the iteration \
             that made it, and not after its end. Is it used in a thread of std, which has no world? \
             There is spawn_blocking. Is it kept in a static? Each test needs its own"
        );
    }

    /// The handle of what was to be spawned in a world that is over, as one around a test's own code is when its last
    /// runtime is dropped.
    #[track_caller]
    fn after_the_end<T: Send + 'static>(&self) -> JoinHandle<T> {
        match lone::is_over(self.serial) {
            true => cancelled_after_the_end(),
            false => self.refuse(),
        }
    }

    /// As [`task::spawn`](crate::task::spawn()), onto this runtime. Once that is shut down the future
    /// is dropped at once.
    ///
    /// # Panics
    /// When the handle's world has ended, if it is not one of a test without an attribute.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        if is_large::<F>() {
            return self.spawn(Box::pin(future) as Boxed<F::Output>);
        }
        if self.is_here() {
            return spawn_on_runtime(self.runtime, future);
        }
        if let Some(own) = abroad::own(self.serial) {
            return own.spawn(future);
        }
        let runtime = self.runtime;
        let spawned = strangers::ask(self.serial, move || spawn_on_runtime(runtime, future));
        spawned.unwrap_or_else(|| self.after_the_end())
    }

    /// As [`task::spawn_blocking`](crate::task::spawn_blocking()), onto this runtime. Once that is shut down the
    /// closure is dropped at once.
    ///
    /// # Panics
    /// When the handle's world has ended, if it is not one of a test without an attribute.
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, func: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        if is_large::<F>() {
            return self.spawn_blocking(Box::new(func) as BoxedClosure<R>);
        }
        if self.is_here() {
            return spawn_blocking_on_runtime(self.runtime, func);
        }
        if let Some(own) = abroad::own(self.serial) {
            return own.spawn_blocking(func);
        }
        let runtime = self.runtime;
        let spawned = strangers::ask(self.serial, move || {
            spawn_blocking_on_runtime(runtime, func)
        });
        spawned.unwrap_or_else(|| self.after_the_end())
    }

    /// Waits for a future where blocking is allowed, as in `spawn_blocking`. It does not run the tasks
    /// of a runtime of one thread, as [`Runtime::block_on`](super::Runtime::block_on) does.
    ///
    /// # Panics
    /// Inside an asynchronous task, and when the handle's world has ended; but in a test without an attribute, on a thread
    /// that may have one, the future then gets a world of its own.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        if !self.is_here() {
            return self.block_elsewhere(future, |future| self.block_on(future));
        }
        self.assert_may_block();
        let _entered = self.enter();
        crate::shim::block_on(future)
    }

    /// Blocks on a future in the place of the world's thread; or has that do so, where this one has another world. Has it
    /// ended before its world, the future gets a world of its own.
    #[track_caller]
    pub(super) fn block_elsewhere<F: Future>(
        &self,
        future: F,
        block_on: impl FnOnce(F) -> F::Output,
    ) -> F::Output {
        if let Some(own) = abroad::own(self.serial) {
            return own.block_on(future);
        }
        let runtime = self.runtime;
        let mut waiting = Some(future);
        let job = || waiting.take().map(block_on);
        let done = strangers::lend(self.serial, job, move |job| {
            drop(spawn_blocking_on_runtime(runtime, job));
        });
        if let Some(output) = done.flatten() {
            return output;
        }
        let own = waiting.and_then(|future| Some((future, lone::open(Location::caller()).ok()??)));
        match own {
            Some((future, _world)) => {
                lone::fail_if_found();
                let here =
                    Handle::of_world().expect("cct bug: a world that was opened is not there");
                here.block_on(future)
            }
            None => self.refuse(),
        }
    }

    /// Until the guard is dropped, what the running task spawns belongs to this runtime.
    ///
    /// # Panics
    /// When the handle's world runs on another thread and is not open to this one, or has ended and was not that of a
    /// test without an attribute.
    #[track_caller]
    pub fn enter(&self) -> EnterGuard<'_> {
        if self.is_here() {
            return self.enter_it();
        }
        match abroad::own(self.serial) {
            Some(own) => own.enter_it(),
            None => self.enter_it(),
        }
    }

    #[track_caller]
    fn enter_it<'a>(&self) -> EnterGuard<'a> {
        let is_anywhere = || strangers::is_open(self.serial) || lone::is_over(self.serial);
        let abroad = !self.is_here() && is_anywhere();
        if abroad {
            abroad::enter(self.clone());
        } else {
            self.assert_here();
        }
        let entered = WORLD.with(|world| {
            let task = world.current().filter(|_| !abroad)?;
            Some(world.with(|core, _| core.enter_runtime(task, self.runtime)))
        });
        EnterGuard {
            _handle: PhantomData,
            _inside: Inside {
                entered,
                abroad,
                serial: self.serial,
            },
            _lone: lone::current(),
            _not_send: PhantomData,
        }
    }

    /// How it was built. That of the world is [`RuntimeFlavor::MultiThread`], where operations of different
    /// tasks may interleave, unless the test's attribute names another flavor.
    pub fn runtime_flavor(&self) -> RuntimeFlavor {
        if self.one_thread {
            RuntimeFlavor::CurrentThread
        } else {
            RuntimeFlavor::MultiThread
        }
    }

    /// Whether all its tasks are on one thread.
    pub(super) fn has_one_thread(&self) -> bool {
        self.one_thread
    }

    /// What is counted of it.
    pub fn metrics(&self) -> RuntimeMetrics {
        let own = match self.is_here() {
            true => None,
            false => abroad::own(self.serial),
        };
        RuntimeMetrics::of(own.unwrap_or_else(|| self.clone()))
    }

    /// Its id, which no other runtime of the world has.
    pub fn id(&self) -> Id {
        Id(u64::from(self.runtime) + 1)
    }

    /// The name it was built with. Worlds have none.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

/// The task has entered the runtime. Apart from the guard, so that the guard has no destructor of its
/// own and may outlive the handle's last use, as tokio's may.
#[derive(Debug)]
struct Inside {
    entered: Option<Entered>,
    /// The thread is not the world's.
    abroad: bool,
    serial: u64,
}

impl Drop for Inside {
    #[track_caller]
    fn drop(&mut self) {
        if self.abroad {
            return abroad::leave();
        }
        let Some(entered) = self.entered else {
            return;
        };
        let in_order = WORLD.with(|world| {
            let here = world.phase.get() != Phase::Idle && world.serial.get() == self.serial;
            !here || world.with(|core, _| core.leave_runtime(entered))
        });
        assert!(
            in_order || std::thread::panicking(),
            "`EnterGuard` values dropped out of order. Guards returned by \
             `tokio::runtime::Handle::enter()` must be dropped in the reverse order as they were \
             acquired."
        );
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
        write!(
            f,
            "there is no world here: a handle exists only inside a scenario, as in a test with \
             #[cct_executor::test] or a closure given to Checker::run ({AS_TOKIO_SAYS})"
        )
    }
}

impl std::error::Error for TryCurrentError {}
