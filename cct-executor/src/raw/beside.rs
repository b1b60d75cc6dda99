//! A stack beside the thread's own, whose code leaves the thread to the caller for a while.
//!
//! 1. `PAUSES` leads to the yielder of the thread's one coroutine of this kind, from the moment at which that
//!    begins until it ends.
//! 2. While the code beside is in the middle of something, the caller runs in its place: on the caller's own
//!    stack, though for a worker that the code beside runs on it is that worker's. So the worker can be frozen
//!    there, and go on there: its place on its own stack is kept by the coroutine.
//! 3. A coroutine that has not ended is never dropped.

use super::room;
use corosensei::stack::{DefaultStack, Stack as _};
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
        let stack = DefaultStack::new(room::bytes())?;
        let base = stack.base().get();
        let coroutine = Coroutine::with_stack(stack, move |pauses: &Pauses, ()| {
            PAUSES.set(pauses);
            body();
            PAUSES.set(ptr::null());
        });
        let mut beside = Beside(ManuallyDrop::new(coroutine));
        beside.0.resume(());
        cut_link(base);
        Ok(beside)
    }

    /// Lets the code go on, which ends or pauses again.
    pub(crate) fn go_on(&mut self) {
        self.0.resume(());
    }
}

/// Ends the stack that has this base for whoever walks it, as backtraces do: near the base is where the caller stood,
/// but that goes on, and something else will be there. It is noted anew when the code is to go on.
#[inline(never)]
fn cut_link(base: usize) {
    /// What is restored of a caller where there is none.
    static NOWHERE: [usize; 8] = [0; 8];
    /// Where corosensei keeps it on these processors.
    const LINK_BYTES: usize = 16;
    /// More than the frames between here and there.
    const FRAMES_BYTES: usize = 4096;
    if cfg!(all(
        unix,
        any(target_arch = "x86_64", target_arch = "aarch64")
    )) {
        let here = (&raw const base).addr();
        let link = ptr::with_exposed_provenance_mut::<usize>(base - LINK_BYTES);
        // SAFETY: on the stack, in the part above what is used of it, which belongs to no frame.
        let stood = unsafe { link.read() };
        // Should it be kept elsewhere in another version, nothing is changed.
        if stood.abs_diff(here) < FRAMES_BYTES {
            // SAFETY: as above.
            unsafe { link.write((&raw const NOWHERE).expose_provenance()) };
        }
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
