//! Threads that stay when their bodies have ended.
//!
//! 1. Whoever joins one gets what its body has returned before it has ended, as nothing that it still does is the
//!    program's.
//! 2. A thread is noted from the end of its body until it stays no more, or was joined.

use super::threads;
use crate::system::Stay;
use libc::{c_int, c_void, pthread_t};
use std::collections::BTreeMap;
use std::ptr;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

static STAY: OnceLock<Stay> = OnceLock::new();

/// Those that stay, and where what their bodies have returned is.
static STAYING: Mutex<BTreeMap<pthread_t, usize>> = Mutex::new(BTreeMap::new());

fn staying() -> MutexGuard<'static, BTreeMap<pthread_t, usize>> {
    STAYING.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn on_thread_end(stay: Stay) {
    let _ = STAY.set(stay);
}

/// Whether threads may stay in this process.
pub(super) fn may_be() -> bool {
    STAY.get().is_some()
}

/// The body of this thread has ended, and returned this.
pub(super) fn after_body(returned: *mut c_void) {
    let Some(stay) = STAY.get().filter(|stay| (stay.needed)()) else {
        return;
    };
    // SAFETY: it takes nothing.
    let thread = unsafe { libc::pthread_self() };
    staying().insert(thread, returned.expose_provenance());
    (stay.stay)();
    staying().remove(&thread);
}

/// The body of this thread has ended, which is one of the harness's. While it stays it may act on what others wait for.
pub(super) fn after_test(returned: *mut c_void) {
    let Some(stay) = STAY.get() else {
        return;
    };
    (stay.ended)();
    if (stay.needed)() {
        let _counted = threads::Controlled::begin();
        after_body(returned);
    }
}

/// Joins a thread that stays, if it does.
///
/// # Safety
/// As `pthread_join`.
pub(super) unsafe fn join(thread: pthread_t, value: *mut *mut c_void) -> Option<c_int> {
    let returned = staying().remove(&thread)?;
    if !value.is_null() {
        // SAFETY: the caller's promise.
        unsafe { *value = ptr::with_exposed_provenance_mut(returned) };
    }
    // SAFETY: nobody has joined it, who alone may.
    Some(unsafe { libc::pthread_detach(thread) })
}
