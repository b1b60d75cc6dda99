//! Threads that are no world's, and have entered a runtime of one that is open to them.
//!
//! What they spawn goes there. Theirs is not a world's state: no world knows of them.

use super::handle::Handle;
use std::cell::RefCell;

thread_local! {
    /// The handles that this thread has entered, the last one last.
    static ENTERED: RefCell<Vec<Handle>> = const { RefCell::new(Vec::new()) };
}

/// The handle that this thread has entered last, where it has no world of its own.
pub(crate) fn entered() -> Option<Handle> {
    ENTERED.with_borrow(|entered| entered.last().cloned())
}

pub(super) fn enter(handle: Handle) {
    ENTERED.with_borrow_mut(|entered| entered.push(handle));
}

/// The last one was left. (The thread's end may come first.)
pub(super) fn leave() {
    let _ = ENTERED.try_with(|entered| entered.borrow_mut().pop());
}
