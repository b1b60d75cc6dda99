//! Calls what a program wants called when threads of a runtime start and end.
//!
//! Owns when that is. Does not own which threads there are said to be: [`hooks`](crate::execution::hooks)
//! counts them.
//!
//! 1. What is called may block, and finds itself inside the runtime.
//! 2. Each thread that is told to end was told to have started.

use super::handle::Handle;
use crate::execution::hooks::{Hook, Hooks};
use crate::execution::world::{Phase, WORLD};
use crate::task::allow_blocking;

fn call(hook: Option<&Hook>, times: u32) {
    for _ in 0..times {
        if let Some(hook) = hook {
            allow_blocking(|| hook());
        }
    }
}

/// The threads of a new runtime start: its workers, if it has several threads.
pub(super) fn workers_start(handle: &Handle) {
    let runtime = handle.runtime();
    let started = WORLD.with(|world| world.with(|core, _| core.idle_threads(runtime)));
    if let Some((hooks, threads)) = started {
        let _inside = handle.enter();
        call(hooks.started.as_ref(), threads);
    }
}

/// The threads of a runtime that is shut down end. Those in the middle of a closure end with that.
pub(super) fn idle_threads_stop(handle: &Handle) {
    let runtime = handle.runtime();
    let ended = WORLD.with(|world| world.with(|core, _| core.idle_threads_end(runtime)));
    if let Some((hooks, threads)) = ended {
        let _inside = handle.enter();
        call(hooks.stops.as_ref(), threads);
    }
}

/// Runs a blocking closure on a thread of its runtime.
pub(crate) fn on_a_thread<R>(closure: impl FnOnce() -> R) -> R {
    let begun = WORLD.with(|world| {
        let key = world.current()?;
        let (hooks, is_new) = world.with(|core, _| core.closure_begins(key))?;
        Some((key, hooks, is_new))
    });
    let Some((key, hooks, is_new)) = begun else {
        return closure();
    };
    call(hooks.started.as_ref(), u32::from(is_new));
    let _on_thread = OnThread { key, hooks };
    closure()
}

/// A closure is running, until this is dropped.
struct OnThread {
    key: u32,
    hooks: Hooks,
}

impl Drop for OnThread {
    fn drop(&mut self) {
        let thread_ends = WORLD.with(|world| {
            world.phase.get() == Phase::Running && world.with(|core, _| core.closure_ends(self.key))
        });
        call(self.hooks.stops.as_ref(), u32::from(thread_ends));
    }
}
