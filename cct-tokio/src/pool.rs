//! tokio's pool of threads for work that blocks: each piece of it is a blocking task of the world, so that
//! when it happens is a choice of the strategy.
//!
//! 1. Work begins after the poll that asked for it, and nothing happens in the middle of it.
//! 2. Work that must be done ([`spawn_mandatory`]) is done even when the world or its runtime ends first,
//!    and not when its node crashes.

use cct_executor::node::{self, NodeId};
use cct_executor::shim::{self, CrashCause, NodeState};
use cct_executor::task::JoinHandle;
use std::io;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The place in user code that something is done for.
pub(crate) type Site = &'static Location<'static>;

/// Hands work to the pool, which reports call by this name.
#[track_caller]
pub(crate) fn spawn<T: Send + 'static>(
    site: Site,
    name: &'static str,
    work: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    shim::spawn_blocking_at(site, name, work)
}

/// Has the pool do some work, and waits for it.
pub(crate) async fn run<T: Send + 'static>(
    site: Site,
    name: &'static str,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    match spawn(site, name, work).await {
        Ok(result) => result,
        Err(_) => Err(failed()),
    }
}

/// Hands work to the pool that is done although nobody may wait for it; `None` when the runtime takes no
/// more work.
#[track_caller]
pub(crate) fn spawn_mandatory<T: Send + 'static>(
    site: Site,
    name: &'static str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<JoinHandle<T>> {
    let promise = Arc::new(Promise::default());
    let errand = Errand {
        work: Some(work),
        promise: promise.clone(),
        node: node::current(),
    };
    let handle = spawn(site, name, move || errand.run());
    if handle.is_finished() && !promise.begun.load(Relaxed) {
        return None;
    }
    promise.given.store(true, Relaxed);
    Some(handle)
}

/// What a file says when its work was not done.
pub(crate) fn failed() -> io::Error {
    io::Error::other("background task failed")
}

/// What is known of work that must be done.
#[derive(Default)]
struct Promise {
    /// Who asked for it was told that it will be done.
    given: AtomicBool,
    begun: AtomicBool,
}

/// Work that must be done.
struct Errand<T, F: FnOnce() -> T> {
    work: Option<F>,
    promise: Arc<Promise>,
    node: NodeId,
}

impl<T, F: FnOnce() -> T> Errand<T, F> {
    fn run(mut self) -> T {
        self.promise.begun.store(true, Relaxed);
        let work = self.work.take().expect("cct bug: an errand is run twice");
        work()
    }

    /// Whether the process that should have done it ended before it could.
    fn is_lost(&self) -> bool {
        shim::node_state(self.node) == NodeState::Down
            && shim::crash_cause(self.node) != CrashCause::Returned
    }
}

impl<T, F: FnOnce() -> T> Drop for Errand<T, F> {
    fn drop(&mut self) {
        if let Some(work) = self.work.take() {
            if self.promise.given.load(Relaxed) && !self.is_lost() {
                work();
            }
        }
    }
}
