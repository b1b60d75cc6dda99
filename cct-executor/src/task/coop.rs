//! tokio's cooperative budget.
use std::task::{Context, Poll};

/// Gives back the unit of budget unless progress was made.
#[derive(Debug)]
#[must_use]
pub struct RestoreOnPending(bool);

impl RestoreOnPending {
    /// Keeps the unit spent.
    #[inline]
    pub fn made_progress(&self) {}
}

/// Spends one unit of the current task's budget, or returns `Pending` (and wakes) at its end.
#[inline]
pub fn poll_proceed(cx: &mut Context<'_>) -> Poll<RestoreOnPending> {
    let _ = cx;
    Poll::Ready(RestoreOnPending(false))
}
