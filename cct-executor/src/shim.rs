//! What shims are built from: resources, scheduling points, waiting.
//!
//! For authors of shims (`cct-sync`, `cct-net`, your own). A shim operation
//!
//! 1. calls [`Resource::point`] once, before its first attempt, and returns `Pending` when the
//!    point does (the world is closing);
//! 2. spends budget with [`coop`](crate::task::coop) exactly where tokio does;
//! 3. acts on its state inside [`Shared::with`], and wakes only after leaving it;
//! 4. calls [`Resource::blocked`] right before it returns `Pending`.
//!
//! Outside a world points are passed at once and everything works as an ordinary, thread-safe
//! primitive.

pub use crate::raw::shared::Shared;
pub use crate::words::{Access, OpKind, ResourceKind};

use std::panic::Location;
use std::sync::atomic::AtomicU64;
use std::task::{Context, Poll, Waker};

/// Identity of a shim object inside a world, for scheduling points and reports.
#[derive(Debug)]
pub struct Resource {
    site: &'static Location<'static>,
    /// World serial and index in that world's table, packed; only a cache.
    slot: AtomicU64,
    kind: ResourceKind,
}

impl Resource {
    /// A resource made at the caller's place.
    #[track_caller]
    pub fn new(kind: ResourceKind) -> Self {
        Self::const_new(kind)
    }

    /// For statics: enters the world's table when it is first used.
    #[track_caller]
    pub const fn const_new(kind: ResourceKind) -> Self {
        Resource { site: Location::caller(), slot: AtomicU64::new(0), kind }
    }

    /// The scheduling point of an asynchronous operation, passed before it acts.
    ///
    /// The strategy may let other tasks run first: the poll is then suspended where it stands, and
    /// goes on when the task is picked. `Pending` means that the world is closing and the
    /// operation must return `Pending` without acting.
    #[inline]
    pub fn point(&self, kind: OpKind, access: Access, site: &'static Location<'static>) -> Poll<()> {
        let _ = (kind, access, site, self.kind, self.site, &self.slot);
        Poll::Ready(())
    }

    /// The scheduling point of a synchronous operation; a decision only at granularity `sync`.
    #[inline]
    pub fn sync_point(&self, kind: OpKind, access: Access, site: &'static Location<'static>) {
        let _ = (kind, access, site);
    }

    /// Notes that the current poll is about to return `Pending` because of this resource.
    #[inline]
    pub fn blocked(&self, kind: OpKind, site: &'static Location<'static>) {
        let _ = (kind, site);
    }

    /// Notes that the current task now holds the resource (a lock, permits).
    #[inline]
    pub fn acquired(&self, site: &'static Location<'static>) {
        let _ = site;
    }

    /// Notes that the resource was given back by whoever held it.
    #[inline]
    pub fn released(&self) {}

    /// Sets the resource's share of the fingerprint, typically its length or its flags.
    #[inline]
    pub fn set_state(&self, state: u64) {
        let _ = state;
    }
}

/// Whom to wake. Like a [`Waker`], but free of reference counts for the running task itself.
#[derive(Debug, Clone)]
pub struct Waiter(Waker);

impl Waiter {
    /// The waiter of this poll.
    #[inline]
    pub fn from_context(cx: &Context<'_>) -> Waiter {
        Waiter(cx.waker().clone())
    }

    /// Whether waking it would wake the waker of this poll.
    #[inline]
    pub fn will_wake(&self, cx: &Context<'_>) -> bool {
        self.0.will_wake(cx.waker())
    }

    /// Wakes.
    #[inline]
    pub fn wake(self) {
        self.0.wake();
    }
}

/// A choice without meaning in the program: where tokio promises no order. Returns a number below
/// `count`; 0 outside a world.
pub fn choose(count: u32, label: &'static str) -> u32 {
    let _ = (count, label);
    0
}

/// Waits for a future on a thread, or in a task, that may block, as `blocking_*` methods do.
///
/// Inside a world the blocking task is suspended until the future is ready. Outside, the thread
/// is parked.
///
/// # Panics
/// Inside an asynchronous task, as tokio does: `Cannot block the current thread from within a
/// runtime`.
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.unpark();
        }
    }
    #[expect(clippy::disallowed_methods, reason = "outside a world, where nothing is decided")]
    let waker = Waker::from(std::sync::Arc::new(Unpark(std::thread::current())));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        std::thread::park();
    }
}
