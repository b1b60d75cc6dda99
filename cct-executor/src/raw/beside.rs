//! A stack beside the thread's own, whose code leaves the thread to the caller for a while.
//!
//! 1. `PAUSES` leads to the yielder of the thread's one coroutine of this kind, from the moment at which that
//!    begins until it ends.
//! 2. While the code beside is in the middle of something, the caller runs in its place: on the caller's own
//!    stack, though for a worker that the code beside runs on it is that worker's. So the worker can be frozen
//!    there, and go on there: its place on its own stack is kept by the coroutine.
//! 3. A coroutine that has not ended is never dropped.

use super::stack::STACK_BYTES;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, Yielder};
use std::cell::Cell;
use std::io;
use std::mem::ManuallyDrop;
use std::ptr;

type Pauses = Yielder<(), ()>;

thread_local! {
    static PAUSES: Cell<*const Pauses> = const { Cell::new(ptr::null()) };
}

/// Code beside the thread's own that pauses.
pub(crate) struct Beside(ManuallyDrop<Coroutine<(), (), ()>>);

impl Beside {
    /// Runs `body` until it [pauses](pause).
    ///
    /// # Errors
    /// When the operating system has no memory for another stack.
    ///
    /// # Panics
    /// If there is code beside this thread's already.
    pub(crate) fn begin(body: impl FnOnce() + 'static) -> io::Result<Beside> {
        assert!(
            PAUSES.get().is_null(),
            "cct bug: two worlds beside a thread"
        );
        let stack = DefaultStack::new(STACK_BYTES)?;
        let coroutine = Coroutine::with_stack(stack, move |pauses: &Pauses, ()| {
            PAUSES.set(pauses);
            body();
            PAUSES.set(ptr::null());
        });
        let mut beside = Beside(ManuallyDrop::new(coroutine));
        beside.0.resume(());
        Ok(beside)
    }

    /// Lets the code go on, which ends or pauses again.
    pub(crate) fn go_on(&mut self) {
        self.0.resume(());
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if self.0.done() {
            // SAFETY: dropped once, here, and not used any more.
            unsafe { ManuallyDrop::drop(&mut self.0) };
        }
    }
}

/// Leaves the thread to who began the code beside it, until that lets it go on.
///
/// # Panics
/// Where no such code runs.
pub(crate) fn pause() {
    let pauses = PAUSES.get();
    assert!(!pauses.is_null(), "cct bug: nobody to leave the thread to");
    // SAFETY: by invariant 1.
    unsafe { (*pauses).suspend(()) };
}
