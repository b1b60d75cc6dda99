//! tokio's cooperative budget: 128 operations a poll, then the task has to let others run.

use crate::execution::world::{Running, WORLD};
use pin_project_lite::pin_project;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Gives the unit of budget back when dropped, unless progress was made.
#[derive(Debug)]
#[must_use = "the unit of budget is given back at once"]
pub struct RestoreOnPending {
    /// Not `Send`, as in tokio: the budget is that of the poll which is going on.
    _not_send: PhantomData<*mut ()>,
    /// The budget before, or [`Running::UNLIMITED`] when there is nothing to restore.
    before: std::cell::Cell<u8>,
}

impl RestoreOnPending {
    /// Keeps the unit spent. What the task does next is no more what it was picked for.
    #[inline]
    pub fn made_progress(&self) {
        self.before.set(Running::UNLIMITED);
        crate::shim::went_on();
    }
}

impl Drop for RestoreOnPending {
    #[inline]
    fn drop(&mut self) {
        let before = self.before.get();
        if before != Running::UNLIMITED {
            set_budget(before);
        }
    }
}

#[inline]
fn set_budget(budget: u8) {
    WORLD.with(|world| world.running.budget.set(budget));
}

#[inline]
fn budget() -> u8 {
    WORLD.with(|world| world.running.budget.get())
}

/// Spends one unit of the running task's budget. At its end the task is woken and `Pending`
/// returned. Unlimited outside a world.
///
/// Where spurious polls were asked for, it now and then does so although there is budget left.
///
/// # Scheduling points
/// None but that: who gets `Pending` returns it.
#[inline]
pub fn poll_proceed(cx: &mut Context<'_>) -> Poll<RestoreOnPending> {
    let before = budget();
    if WORLD.with(|world| world.spurious_pending()) {
        crate::shim::defer(cx);
        return Poll::Pending;
    }
    match before {
        0 => {
            WORLD.with(|world| {
                let key = world.running.key.get();
                world.with(|core, _| core.budget_is_spent(key));
            });
            crate::shim::defer(cx);
            return Poll::Pending;
        }
        Running::UNLIMITED => {}
        _ => set_budget(before - 1),
    }
    Poll::Ready(RestoreOnPending {
        _not_send: PhantomData,
        before: std::cell::Cell::new(before),
    })
}

/// Whether the running task has budget left.
pub fn has_budget_remaining() -> bool {
    budget() != 0
}

/// Spends one unit of budget, letting others run when it is used up.
///
/// # Scheduling points
/// Where the budget is used up: the poll returns `Pending`.
///
/// # Cancel safety
/// Nothing is lost.
pub async fn consume_budget() {
    poll_fn(|cx| {
        ready!(poll_proceed(cx)).made_progress();
        Poll::Ready(())
    })
    .await;
}

pin_project! {
    /// A future without budget. See [`unconstrained`].
    #[derive(Debug)]
    #[must_use = "Unconstrained does nothing unless polled"]
    pub struct Unconstrained<F> {
        #[pin]
        inner: F,
    }
}

/// Exempts a future from the budget.
pub fn unconstrained<F>(inner: F) -> Unconstrained<F> {
    Unconstrained { inner }
}

impl<F: Future> Future for Unconstrained<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let inner = self.project().inner;
        WORLD.with(|world| {
            world.with_running(
                |running| running.budget = Running::UNLIMITED,
                |now, before| now.budget = before.budget,
                || inner.poll(cx),
            )
        })
    }
}

pin_project! {
    /// A future that takes part in the budget. See [`cooperative`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Coop<F> {
        #[pin]
        inner: F,
    }
}

/// Makes a future spend a unit of budget whenever it makes progress.
pub fn cooperative<F: Future>(inner: F) -> Coop<F> {
    Coop { inner }
}

impl<F: Future> Future for Coop<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let budget = ready!(poll_proceed(cx));
        let polled = self.project().inner.poll(cx);
        if polled.is_ready() {
            budget.made_progress();
        }
        polled
    }
}
