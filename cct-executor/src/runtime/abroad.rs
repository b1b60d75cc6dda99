//! Threads that are no world's, and have entered a runtime of one that is open to them, or have one of another test.
//!
//! What they spawn goes there. Theirs is not a world's state: no world knows of them.

use super::handle::Handle;
use crate::explore::lone::{self, Instead};
use std::cell::RefCell;

thread_local! {
    /// The handles that this thread has entered, the last one last.
    static ENTERED: RefCell<Vec<Handle>> = const { RefCell::new(Vec::new()) };
}

/// The handle that this thread has entered last, where it has no world of its own.
pub(crate) fn entered() -> Option<Handle> {
    let last = ENTERED.try_with(|entered| entered.borrow().last().cloned());
    last.ok().flatten()
}

pub(super) fn enter(handle: Handle) {
    ENTERED.with_borrow_mut(|entered| entered.push(handle));
}

/// The last one was left. (The thread's end may come first.)
pub(super) fn leave() {
    let _ = ENTERED.try_with(|entered| entered.borrow_mut().pop());
}

/// The handle that a test has in the place of one to the world of another test, as that of a runtime in a static: to a
/// world around itself.
#[track_caller]
pub(super) fn own(serial: u64) -> Option<Handle> {
    match lone::instead_of(serial)? {
        Instead::There(world) => Some(Handle::of_another_world(world)),
        Instead::Here => {
            lone::fail_if_found();
            Handle::of_world().ok()
        }
    }
}
