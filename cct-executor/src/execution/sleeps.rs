//! Threads that sleep, where several tasks are on one: they sleep one after the other.
//!
//! In the middle of a poll that sleeps others go on, as on threads of their own. On a runtime of one worker, or of one
//! thread, what took them an hour each takes two of them two hours all the same, and code may look at that.

use super::core::Core;
use std::collections::BTreeMap;
use std::time::Duration;

/// Until when the one thread of a runtime sleeps, in virtual time; in nanoseconds.
#[derive(Default)]
pub(super) struct Sleeps(BTreeMap<u16, u64>);

impl Sleeps {
    pub(super) fn reset(&mut self) {
        self.0.clear();
    }
}

impl Core {
    /// How long a task sleeps that is to sleep for so long: it waits for others on its thread.
    pub(super) fn sleeps_for(&mut self, key: u32, time: Duration) -> Duration {
        let Some(runtime) = self.of_one_worker(key) else {
            return time;
        };
        let now = self.point.time_ns;
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let until = self.sleeps.0.entry(runtime).or_default();
        *until = now.max(*until).saturating_add(nanos);
        Duration::from_nanos(*until - now)
    }

    /// The runtime of a task, if all its tasks are on one thread. Those of a built one that has no other thread than
    /// that of `block_on` are a group, of which one is polled at a time.
    fn of_one_worker(&self, key: u32) -> Option<u16> {
        let task = &self.tasks[self.actions[key as usize].subject as usize];
        let is_one = match self.runtimes.entry(task.runtime) {
            Some(entry) => entry.workers == 1,
            None => self.runtimes.world_has_one_thread(),
        };
        (is_one && !task.blocking).then_some(task.runtime)
    }
}
