//! The only room with `unsafe`: values that belong to whoever holds permits.
//!
//! `Mutex` and `RwLock` are a [`Guarded`](guarded::Guarded) value and a set of guards. A guard is
//! an access from [`access`], made only here and only from permits that were granted, so that the
//! rest of the crate is safe code. `OnceCell` and `SetOnce` keep their value in a
//! [`OnceSlot`](once::OnceSlot). Each block argues its case in a SAFETY comment. Run under Miri.
//!
//! 1. Exclusive access holds all permits of its lock, shared access holds one.
//! 2. An access gives its permits back when it is dropped, and its pointer is not used after that.
//! 3. The semaphore of a lock never has more permits than it was made with, and is never closed.
#![expect(
    unsafe_code,
    reason = "the one room where it is allowed; see the module's documentation"
)]

pub(crate) mod access;
pub(crate) mod guarded;
pub(crate) mod once;
mod send_sync;
