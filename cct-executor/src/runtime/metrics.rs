//! What is counted of a runtime.

use super::handle::Handle;
use crate::execution::world::WORLD;
use std::time::Duration;

/// How many threads a runtime of several threads is said to have where nobody has said how many: not as
/// many as the machine, or a failure would not come back on another one.
pub(super) const WORKERS: usize = 4;

/// What is counted of a runtime. From [`Handle::metrics`].
///
/// # Differences from tokio
/// A world has no threads: its workers are a number, none of them ever waits, and virtual time does not
/// pass while tasks run. Histograms and what takes `tokio_unstable` do not exist.
#[derive(Clone, Debug)]
pub struct RuntimeMetrics {
    handle: Handle,
}

impl RuntimeMetrics {
    pub(super) fn of(handle: Handle) -> RuntimeMetrics {
        RuntimeMetrics { handle }
    }

    /// How many threads the runtime was asked to have; 4 if nobody has asked. The world itself has 1 where
    /// the test's attribute says so, or else 4.
    ///
    /// # Panics
    /// When its world has ended.
    #[track_caller]
    pub fn num_workers(&self) -> usize {
        self.handle.assert_here();
        let asked_for = WORLD.with(|world| {
            world.with(|core, _| {
                let entry = core.runtimes.entry(self.handle.runtime())?;
                Some(entry.workers)
            })
        });
        match asked_for {
            Some(workers) => workers,
            None if self.handle.has_one_thread() => 1,
            None => WORKERS,
        }
    }

    /// How many of its tasks have not ended, on the node of the running task.
    ///
    /// # Panics
    /// When its world has ended.
    #[track_caller]
    pub fn num_alive_tasks(&self) -> usize {
        self.handle.assert_here();
        let runtime = self.handle.runtime();
        WORLD.with(|world| {
            let running = world.running.get().key;
            world.with(|core, _| core.alive_tasks(runtime, core.node_of(running)))
        })
    }

    /// How many tasks wait where any thread may take them: 0, as all of them are the strategy's to choose.
    pub fn global_queue_depth(&self) -> usize {
        0
    }

    /// For how long a worker has run tasks: 0, by the world's clock.
    ///
    /// # Panics
    /// If there is no such worker.
    #[track_caller]
    pub fn worker_total_busy_duration(&self, worker: usize) -> Duration {
        self.check(worker);
        Duration::ZERO
    }

    /// How often a worker has waited for something to do: never.
    ///
    /// # Panics
    /// If there is no such worker.
    #[track_caller]
    pub fn worker_park_count(&self, worker: usize) -> u64 {
        self.check(worker);
        0
    }

    /// How often a worker has begun or ended to wait for something to do: never.
    ///
    /// # Panics
    /// If there is no such worker.
    #[track_caller]
    pub fn worker_park_unpark_count(&self, worker: usize) -> u64 {
        self.check(worker);
        0
    }

    #[track_caller]
    fn check(&self, worker: usize) {
        let workers = self.num_workers();
        assert!(
            worker < workers,
            "there is no worker {worker}: the runtime has {workers}"
        );
    }
}

/// Which worker of its runtime runs this code: 0 in a task, and `None` where no worker does, as in blocking
/// closures, in the `block_on` of a runtime of several threads, and outside of a world.
pub fn worker_index() -> Option<usize> {
    WORLD.with(|world| {
        let scheduled = world.is_running() && !world.running.get().unscheduled;
        (scheduled && world.current().is_some()).then_some(0)
    })
}
