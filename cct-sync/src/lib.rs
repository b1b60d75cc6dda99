//! tokio channels and locks.
//!
//! A point that a method has before it looks, or in a future's first poll, comes once more before each further look in the
//! same poll, should that find nothing: others may come in between. It does not in a later poll, for which the task was
//! picked.
//!
//! A scheduling point that a method has at granularity `sync` is one at `spawn`, too, where the method changes something
//! and the poll has looked at something, or changed something else, since its last point. And at both of them there is one at the end of a method, or of
//! what a destructor does, if it has woken somebody (see [`Granularity`](cct_executor::Granularity)); but not where the last
//! `broadcast::Receiver` is dropped, nor where a dropped future of `mpsc` or `Notify` passes on what it was given.

mod barrier;
mod batch_semaphore;
mod crowd;
mod guard_traits;
mod mutex;
mod notify;
mod once_cell;
mod queue;
mod raw;
mod rwlock;
mod semaphore;
mod set_once;
mod waiters;

pub mod broadcast;
pub mod mpsc;
pub mod oneshot;
pub mod watch;

pub use barrier::{Barrier, BarrierWaitResult};
pub use mutex::{
    MappedMutexGuard, Mutex, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard, TryLockError,
};
pub use notify::Notify;
pub use once_cell::{OnceCell, SetError};
pub use rwlock::{
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock,
    RwLockMappedWriteGuard, RwLockReadGuard, RwLockWriteGuard,
};
pub use semaphore::{
    AcquireError, OwnedSemaphorePermit, Semaphore, SemaphorePermit, TryAcquireError,
};
pub use set_once::{SetOnce, SetOnceError};

/// Futures with names.
pub mod futures {
    pub use crate::notify::{Notified, OwnedNotified};
}
