//! Tasks: spawning, joining, aborting, yielding, blocking. tokio's names and semantics.
//!
//! Differences from tokio, all of them about what a test may see: which task runs next is decided
//! by the strategy; a task that panics while nobody can learn of it through its `JoinHandle` fails
//! the iteration; task ids count from 1 in each world.

pub(crate) mod blocking;
pub(crate) mod body;
mod builder;
mod cancellable;
pub mod coop;
mod early;
mod error;
mod handle;
mod id;
pub mod join_set;
mod large;
mod last_waits;
mod local;
mod local_set;
mod spawn;
mod yield_now;

pub(crate) use blocking::{
    allow_blocking, blocking_body, may_block, one_thread_from_now_on, spawn_blocking_on_runtime,
    unscheduled,
};
pub use blocking::{block_in_place, spawn_blocking};
pub use builder::Builder;
pub use cancellable::{Cancellable, cancellable};
pub use coop::{Unconstrained, consume_budget, unconstrained};
pub use error::JoinError;
pub use handle::{AbortHandle, JoinHandle};
pub use id::{Id, id, try_id};
pub use join_set::JoinSet;
pub(crate) use large::{Boxed, BoxedClosure, is_large};
pub use local::LocalKey;
pub(crate) use local_set::drop_group;
pub use local_set::{LocalEnterGuard, LocalSet, spawn_local};
pub use spawn::spawn;
pub(crate) use spawn::{
    cancelled_after_the_end, entered_world, spawn_local_on_runtime, spawn_on, spawn_on_runtime,
};
pub use yield_now::yield_now;

/// Futures and errors of this module that tokio keeps in modules of their own.
pub mod futures {
    pub use super::local::TaskLocalFuture;
}
