//! What shims are built from: resources, scheduling points, waiting.
//!
//! For authors of shims (`cct-sync`, `cct-net`, your own). A shim operation
//!
//! 1. calls [`Resource::point`] before its first attempt, and returns `Pending` when the point does (the world is
//!    closing); and, if it waits, once more before each further attempt in the same poll ([`Looks`],
//!    [`Resource::look_point`]);
//! 2. spends budget with [`coop`](crate::task::coop) exactly where tokio does;
//! 3. acts on its state inside [`Shared::with`], and wakes only after leaving it;
//! 4. calls [`Resource::blocked`] right before it returns `Pending`, and [`Resource::gave_up`] when it is
//!    dropped while it waits; [`Resource::waits`] does both.
//!
//! Outside a world points are passed at once and everything works as an ordinary, thread-safe
//! primitive.

mod belongs;
mod fair;
mod looks;
mod machine;
mod relatives;
mod resource;
mod source;
mod told;

pub use crate::execution::waker::Waiter;
pub use crate::raw::shared::Shared;
pub use crate::task::blocking::{block_on, spawn_blocking_at};
pub use crate::words::{Access, OpKind, ResourceKind};
pub use belongs::Belongs;
pub use cct_interpose::{Peer, Toward, accepts_itself, accepts_no_longer, on_connect};
pub use fair::{Fair, values_decided};
pub use looks::Looks;
pub use machine::{
    MachineWait, machine_is_open, machine_is_refused, see_to_machine, wait_for_machine,
    watch_machine,
};
pub use relatives::{Relative, number_among_relatives, oneself, relatives};
pub use resource::{Resource, StateShare};
pub use source::{
    ActionSource, Alarm, CrashCause, Moved, NodeState, Offer, OnFile, OnSocket, Sending,
    SocketFile, Source, SourceAction, crash_cause, kill_process, node_state, pause_node, source,
    wall_clock, world_time_ns,
};
pub use told::{WaitNote, Waits};

use crate::execution::world::{Phase, WORLD, World};
use crate::raw::shared::unseen;
use crate::task::{JoinHandle, spawn_on_runtime};
use crate::words::{FailureKind, Granularity, Observations};
use std::panic::Location;
use std::task::{Context, Waker};

/// Spawns a task that belongs to no runtime of the test's: it ends with the world, as what the system does goes on when a
/// runtime is gone.
#[track_caller]
pub fn spawn_on_world<F>(future: F) -> JoinHandle<()>
where
    F: Future<Output = ()> + Send + 'static,
{
    spawn_on_runtime(0, future)
}

/// A choice without meaning in the program: where tokio promises no order. Returns a number below
/// `count`; 0 outside a world. Reports do not list choices whose label begins with `~`: for those that
/// say only when something is tried.
#[inline]
pub fn choose(count: u32, label: &'static str) -> u32 {
    WORLD.with(|world| world.choose(count, &[], (label, None)))
}

/// Whether errors of sockets are to be the machine's, known by their numbers. Not so outside a world.
#[must_use]
pub fn has_numbered_errors() -> bool {
    WORLD.with(|world| {
        let is_there = world.phase.get() != Phase::Idle;
        is_there && world.with(|core, _| core.config.numbered_errors)
    })
}

/// Says in reports what [`choose`] has just chosen among two or more: of which file, of whose packets.
#[inline]
pub fn tell_choice(text: impl FnOnce() -> String) {
    if is_recorded() {
        let text = unseen(text);
        WORLD.with(|world| world.with(|core, _| core.note_choice(text)));
    }
}

/// As [`choose`], in proportion to these weights where the strategy draws at random.
#[inline]
pub fn choose_weighted(weights: &[u32], label: &'static str) -> u32 {
    WORLD.with(|world| world.choose(weights.len() as u32, weights, (label, None)))
}

/// What the running task was picked for is done, where that passes no point when it goes on: a wait whose point was
/// passed when it began. What the task does next is another operation, even if it is the same again.
///
/// [`made_progress`](crate::task::coop::RestoreOnPending::made_progress) and a [`Waits`] that is dropped say so, too.
#[inline]
pub fn went_on() {
    WORLD.with(|world| world.running.untouched.set(false));
}

/// Runs `look`, as no task, on what user code observed so far; `None` outside a world.
pub fn observations<R>(look: impl FnOnce(&Observations) -> R) -> Option<R> {
    WORLD.with(|world| world.is_running().then(|| world.look_at_observations(look)))
}

/// Fails the iteration as a false [`always!`](crate::always) at `site` does: for checks whose place is
/// that of their caller.
///
/// # Panics
/// Outside of a world.
#[cold]
pub fn broken(message: String, site: &'static Location<'static>) {
    let inside = WORLD.with(|world| {
        // In a closing world operations are inert, and what they leave behind proves nothing.
        let inside = world.phase.get() != Phase::Idle;
        if world.is_running() {
            let (message, location) = (message.clone(), site.to_string());
            world.with(|core, _| core.fail(FailureKind::Broken { message, location }));
            world.stop_here();
        }
        inside
    });
    assert!(inside, "broken invariant at {site}: {message}");
}

/// Whether the points of synchronous operations are decisions: at granularity `sync`, and finer.
#[inline]
pub fn decides_sync_points() -> bool {
    WORLD.with(|world| world.granularity.get() >= Granularity::Sync)
}

/// Whether [`Resource::seam_point`] may be a decision: at granularity `spawn`, and finer.
#[inline]
pub fn decides_seams() -> bool {
    WORLD.with(|world| world.granularity.get() >= Granularity::Spawn)
}

/// Whether [`Resource::sync_point`] does anything here: synchronous operations may be decisions, or are
/// recorded for a report.
#[inline]
pub fn has_sync_points() -> bool {
    WORLD.with(World::has_sync_points)
}

/// Whether what happens is recorded for a report.
#[inline]
pub fn is_recorded() -> bool {
    WORLD.with(|world| world.recording.get())
}

/// Whether streams are to read and write less than they could now and then, by the strategy's choice.
pub fn has_partial_io() -> bool {
    WORLD.with(|world| world.is_running() && world.with(|core, _| core.config.partial_io))
}

/// Whether this code runs inside a task of a world that is not closing.
pub fn in_task() -> bool {
    WORLD.with(|world| world.is_running() && world.current().is_some())
}

/// Whether what is dropped here is cut off and has not come to its end: its task was aborted, its node went down, a
/// panic unwinds it, or the world is closing.
pub fn is_cut_off() -> bool {
    let ends = |world: &World| world.running.cancelled.get() || world.phase.get() == Phase::Closing;
    std::thread::panicking() || WORLD.with(ends)
}

/// Whether what runs here is left over from a node that goes down: a poll that was interrupted comes to its end, and what
/// it had is dropped, though nothing of that happens any more. Others must not see what it does.
pub fn is_down() -> bool {
    WORLD.with(|world| world.dying.get())
}

/// Whether a blocking closure waits whose node goes down, or whose world closes. Nothing comes any more: an operation that
/// can fail does so, and the closure comes to its end in its own way. One that stays `Pending` has the closure unwound,
/// and the locks of `std` that it holds poisoned.
pub fn gives_up() -> bool {
    WORLD.with(|world| world.gives_up.get())
}

/// Suspends the running poll, in the middle of a synchronous operation, until a future is ready:
/// what takes the place of blocking on a lock whose holder is suspended on this very thread.
///
/// To be called [`in_task`] only; elsewhere it blocks the thread.
#[track_caller]
pub fn suspend_until<F: Future>(future: F) -> F::Output {
    crate::task::blocking::allow_blocking(|| block_on(future))
}

/// Wakes the poll's waker once the poll that is going on has returned, as tokio's own deferred
/// wake-ups do; at once outside a world, and for wakers of others where no scheduler runs the poll (the root
/// of a runtime of several threads, blocking closures).
#[inline]
pub fn defer(cx: &Context<'_>) {
    WORLD.with(|world| world.defer(cx));
}

/// Wakes a waker of the shim's own once the poll that is going on has returned: as tokio's driver does,
/// which looks at its sockets and timers between polls. At once where no poll is going on.
pub fn after_poll(waker: &Waker) {
    WORLD.with(|world| world.after_poll(waker));
}
