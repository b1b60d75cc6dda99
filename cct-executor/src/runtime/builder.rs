//! How a runtime is to be.

use super::built::Runtime;
use super::handle::Handle;
use super::hooks;
use super::local::{LocalOptions, LocalRuntime};
use super::metrics::WORKERS;
use crate::execution::core::NONE;
use crate::execution::hooks::Hooks;
use crate::execution::room;
use crate::execution::run::is_refused;
use crate::execution::runtimes::Threads;
use crate::execution::world::{WORLD, World};
use crate::explore::lone;

use std::io;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

/// How many threads for closures a runtime has at most unless more or fewer are asked for, as in tokio.
const BLOCKING_THREADS: usize = 512;

/// Builds a [`Runtime`] inside a world.
///
/// # Differences from tokio
/// The number of workers is accepted and without effect: a world has no threads, and as many tasks are in the middle of
/// something as there are. When a thread goes idle is
/// tokio's own affair, so there are no hooks for that (`on_thread_park`, `on_thread_unpark`), nor for tasks.
#[derive(Debug)]
pub struct Builder {
    name: Option<String>,
    one_thread: bool,
    workers: usize,
    blocking_threads: usize,
    start_paused: bool,
    stack_bytes: usize,
    hooks: Hooks,
}

impl Builder {
    fn new(one_thread: bool) -> Builder {
        Builder {
            name: None,
            one_thread,
            workers: if one_thread { 1 } else { WORKERS },
            blocking_threads: BLOCKING_THREADS,
            start_paused: false,
            stack_bytes: 0,
            hooks: Hooks::default(),
        }
    }

    /// A runtime of one thread: its tasks run while somebody is in [`Runtime::block_on`], and a poll
    /// of one is over before another begins.
    pub fn new_current_thread() -> Builder {
        Builder::new(true)
    }

    /// A runtime whose tasks run at any time, and at the same time.
    pub fn new_multi_thread() -> Builder {
        Builder::new(false)
    }

    /// Time, and the network of `cct-net`, are always there.
    pub fn enable_all(&mut self) -> &mut Self {
        self
    }

    /// Time is always there.
    pub fn enable_time(&mut self) -> &mut Self {
        self
    }

    /// The network of `cct-net` is always there.
    pub fn enable_io(&mut self) -> &mut Self {
        self
    }

    /// What [`RuntimeMetrics::num_workers`](super::RuntimeMetrics::num_workers) tells, for a runtime of
    /// several threads. Tasks of a runtime of one worker sleep one after the other where they call
    /// [`std::thread::sleep`]; otherwise their polls interleave as those of several.
    ///
    /// # Panics
    /// If it is 0.
    #[track_caller]
    pub fn worker_threads(&mut self, val: usize) -> &mut Self {
        assert!(val > 0, "Worker threads cannot be set to 0");
        if !self.one_thread {
            self.workers = val;
        }
        self
    }

    /// How many closures of [`spawn_blocking`](crate::task::spawn_blocking()) run at once, 512 unless it is set: others wait
    /// for one to end, in the order in which they came.
    ///
    /// # Differences from tokio
    /// The runtime that a test has from its attribute has no limit.
    ///
    /// # Panics
    /// If it is 0.
    #[track_caller]
    pub fn max_blocking_threads(&mut self, val: usize) -> &mut Self {
        assert!(val > 0, "Max blocking threads cannot be set to 0");
        self.blocking_threads = val;
        self
    }

    /// The name of threads, where blocking closures have some: in a test that is run once. Elsewhere without effect.
    pub fn thread_name(&mut self, val: impl Into<String>) -> &mut Self {
        let name = val.into();
        self.thread_name_fn(move || name.clone())
    }

    /// The same for names that differ: `f` is called for each closure that has a thread.
    pub fn thread_name_fn<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn() -> String + Send + Sync + 'static,
    {
        self.hooks.named = Some(Arc::new(f));
        self
    }

    /// How many bytes of stack polls and closures have at least, if that is more than the 2 MiB that they have anyway: from
    /// [`build`](Self::build) on, also those of other runtimes, but not polls in the middle of which it is called.
    pub fn thread_stack_size(&mut self, val: usize) -> &mut Self {
        self.stack_bytes = val;
        self
    }

    /// Without effect.
    pub fn thread_keep_alive(&mut self, _duration: Duration) -> &mut Self {
        self
    }

    /// Calls `f` when a thread of the runtime starts, before it does anything, inside the runtime. One that runs
    /// a blocking closure starts unless another one has nothing to do.
    ///
    /// # Differences from tokio
    /// The workers of a runtime of several threads start one after the other, in [`build`](Self::build): a panic of
    /// `f` goes to the caller, and `f` cannot wait for what the caller does next, nor for another worker. All
    /// this is on the world's only thread, as everything is, its thread-locals included.
    pub fn on_thread_start<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.hooks.started = Some(Arc::new(f));
        self
    }

    /// Calls `f` before a thread of the runtime ends, inside the runtime.
    ///
    /// # Differences from tokio
    /// Threads end when the runtime has been shut down, one after the other, where whoever does that has waited for what
    /// tokio waits for, or with the blocking closure that they are in the middle of. A thread that has nothing to
    /// do does not end before.
    pub fn on_thread_stop<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.hooks.stops = Some(Arc::new(f));
        self
    }

    /// Without effect: which task is next is the strategy's choice.
    ///
    /// # Panics
    /// If it is 0.
    #[track_caller]
    pub fn event_interval(&mut self, val: u32) -> &mut Self {
        assert!(val > 0, "event_interval must be greater than 0");
        self
    }

    /// Without effect: which task is next is the strategy's choice.
    ///
    /// # Panics
    /// If it is 0.
    #[track_caller]
    pub fn global_queue_interval(&mut self, val: u32) -> &mut Self {
        assert!(val > 0, "global_queue_interval must be greater than 0");
        self
    }

    /// Without effect: a world has no driver that counts.
    ///
    /// # Panics
    /// If it is 0.
    #[track_caller]
    pub fn max_io_events_per_tick(&mut self, capacity: usize) -> &mut Self {
        assert!(capacity > 0, "max_io_events_per_tick must be non-zero");
        self
    }

    /// Without effect: a world has no driver that counts.
    ///
    /// # Panics
    /// If it is 0.
    #[track_caller]
    pub fn max_io_events_per_busy_tick(&mut self, capacity: usize) -> &mut Self {
        assert!(capacity > 0, "max_io_events_per_busy_tick must be non-zero");
        self
    }

    /// What [`Handle::name`] tells.
    ///
    /// # Panics
    /// If it is blank.
    #[track_caller]
    pub fn name(&mut self, val: impl Into<String>) -> &mut Self {
        let val = val.into();
        assert!(!val.trim().is_empty(), "runtime name shouldn't be empty");
        self.name = Some(val);
        self
    }

    /// Pauses the clock, as [`time::pause`](crate::time::pause) does: of a runtime of one thread its own, which stands while
    /// nobody is in [`Runtime::block_on`]; of another that of the whole world.
    ///
    /// # Differences from tokio
    /// A timer goes by the clock of the runtime in which it is polled first, in tokio by that of the one in which it was made.
    pub fn start_paused(&mut self, start_paused: bool) -> &mut Self {
        self.start_paused = start_paused;
        self
    }

    /// Builds the runtime.
    ///
    /// # Errors
    /// Outside a world ([`io::ErrorKind::Unsupported`], see the [module](super)), and beyond 65,535 runtimes.
    #[track_caller]
    pub fn build(&mut self) -> io::Result<Runtime> {
        self.build_for(|| NONE)
    }

    /// Builds a runtime whose tasks need not be `Send`.
    ///
    /// # Errors
    /// As for [`build`](Self::build).
    ///
    /// # Panics
    /// If it is to have several threads.
    #[track_caller]
    pub fn build_local(&mut self, _options: LocalOptions) -> io::Result<LocalRuntime> {
        assert!(
            self.one_thread,
            "multi_thread is not supported for LocalRuntime"
        );
        let owner = || WORLD.with(|world| world.current().unwrap_or(NONE));
        self.build_for(owner).map(LocalRuntime::of)
    }

    #[track_caller]
    fn build_for(&mut self, owner: impl FnOnce() -> u32) -> io::Result<Runtime> {
        room::wants(self.stack_bytes);
        let lone = match Handle::of_world() {
            Ok(_) => lone::current(),
            Err(_) => lone::open(Location::caller())?,
        };
        let Ok(world) = Handle::of_world() else {
            is_refused();
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "there is no world here: a runtime is built inside a scenario. Give the test \
                 #[cct_executor::test] instead of #[test], without making it async, or have tests \
                 like it explored or run once with CCT_PLAIN_TESTS=explore or once. A thread of std has no \
                 world, whoever starts it: use spawn_blocking instead",
            ));
        };
        if self.start_paused {
            WORLD.with(World::clock_begins);
        }
        let name: Option<Arc<str>> = self.name.as_deref().map(Into::into);
        let threads = Threads {
            only_one: self.one_thread,
            workers: self.workers,
            blocking: self.blocking_threads,
        };
        let owner = owner();
        let hooks = self.hooks.clone();
        let runtime = WORLD.with(|world| {
            world.with(|core, _| {
                // A test that builds its own runtime of one thread stands where tokio's attribute does.
                if self.one_thread && world.lone.get() && core.runtimes.is_empty() {
                    core.let_yields_last();
                }
                let runtime = core.add_runtime(name, threads, owner, hooks)?;
                match self.start_paused {
                    true if self.one_thread => core.begin_paused(runtime),
                    true => drop(core.pause_clock_of(NONE, true)),
                    false => {}
                }
                Some(runtime)
            })
        });
        let Some(runtime) = runtime else {
            return Err(io::Error::other("a world has at most 65535 runtimes"));
        };
        let handle = world.of_runtime(runtime);
        hooks::workers_start(&handle);
        let runtime = Runtime::of(handle, lone);
        Ok(runtime)
    }
}
