//! What a program wants called when threads of a runtime start and end: who they are.
//!
//! A world has no such threads. A blocking closure is said to have one, which it shares with those that come
//! after it ([`runtimes`](super::runtimes) finds it one), and a runtime of several threads is said to have its
//! workers. Counted are those that were told to have started, and where there are hooks only.

use super::core::Core;
use std::fmt;
use std::sync::Arc;

pub(crate) type Hook = Arc<dyn Fn() + Send + Sync>;
/// What says how a thread is named.
pub(crate) type Namer = Arc<dyn Fn() -> String + Send + Sync>;

/// Called by threads of a runtime, when they start and before they end.
#[derive(Clone, Default)]
pub(crate) struct Hooks {
    pub(crate) started: Option<Hook>,
    pub(crate) stops: Option<Hook>,
    /// For the threads of blocking closures, where these have some.
    pub(crate) named: Option<Namer>,
}

impl Hooks {
    pub(super) fn are_none(&self) -> bool {
        self.started.is_none() && self.stops.is_none()
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks").finish_non_exhaustive()
    }
}

/// The hooks of a runtime, and the threads that they are told of.
#[derive(Default)]
pub(super) struct Hooked {
    pub(super) hooks: Hooks,
    /// Those that have started and not ended.
    threads: u32,
    /// Those of them that are in the middle of a closure.
    busy: u32,
}

impl Hooked {
    pub(super) fn new(hooks: Hooks, workers: u32) -> Hooked {
        Hooked {
            hooks,
            threads: workers,
            busy: 0,
        }
    }
}

impl Core {
    /// What names the thread of a task's closure, if the program does.
    pub(super) fn namer(&self, key: u32) -> Option<Namer> {
        self.runtimes.namer(self.runtime_of(key))
    }

    /// A blocking closure begins: what is to be called, if anything, and whether its thread is a new one.
    pub(crate) fn closure_begins(&mut self, key: u32) -> Option<(Hooks, bool)> {
        if self.runtimes.is_empty() {
            return None;
        }
        let runtime = self.task(key).runtime;
        let has_new_thread = self.has_new_thread(runtime, key);
        let hooked = self.hooked(runtime)?;
        let is_new = has_new_thread || hooked.threads == hooked.busy;
        hooked.threads += u32::from(is_new);
        hooked.busy += 1;
        Some((hooked.hooks.clone(), is_new))
    }

    /// It has ended. Returns whether its thread does, too.
    pub(crate) fn closure_ends(&mut self, key: u32) -> bool {
        let runtime = self.task(key).runtime;
        let down = self.group_on(runtime).is_err();
        self.hooked(runtime).is_some_and(|hooked| {
            hooked.busy -= 1;
            hooked.threads -= u32::from(down);
            down
        })
    }

    /// The threads of a runtime that are not in the middle of a closure: how many there are.
    pub(crate) fn idle_threads(&mut self, runtime: u16) -> Option<(Hooks, u32)> {
        let hooked = self.hooked(runtime)?;
        Some((hooked.hooks.clone(), hooked.threads - hooked.busy))
    }

    /// They end.
    pub(crate) fn idle_threads_end(&mut self, runtime: u16) -> Option<(Hooks, u32)> {
        let idle = self.idle_threads(runtime);
        let hooked = self.hooked(runtime)?;
        hooked.threads = hooked.busy;
        idle
    }
}
