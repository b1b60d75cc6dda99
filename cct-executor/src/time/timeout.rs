//! Waiting for a future, but not for ever.

use super::Instant;
use super::error::Elapsed;
use super::sleep::{Sleep, current_world};
use crate::execution::world::WORLD;
use crate::task::coop;
use crate::words::{Access, Op, OpKind};
use pin_project_lite::pin_project;
use std::panic::Location;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

/// Waits for a future until the duration has passed. The future is polled first, so one that is
/// ready at once succeeds with any duration.
///
/// # Scheduling points
/// Those of the future, and one if the time is over when the timer is first looked at.
///
/// # Cancel safety
/// That of the future.
///
/// # Panics
/// Outside a world, unless the thread has entered a runtime of one.
#[track_caller]
pub fn timeout<F: IntoFuture>(duration: Duration, future: F) -> Timeout<F::IntoFuture> {
    let serial = current_world();
    let site = Location::caller();
    let deadline = Instant::present().checked_add(duration);
    Timeout {
        value: future.into_future(),
        delay: deadline.map(|deadline| Sleep::at(deadline, serial, site)),
    }
}

/// Waits for a future until the deadline. The future is polled first, so one that is ready at
/// once succeeds with any deadline.
///
/// # Scheduling points
/// Those of the future, and one if the time is over when the timer is first looked at.
///
/// # Cancel safety
/// That of the future.
///
/// # Panics
/// Outside a world, unless the thread has entered a runtime of one.
#[track_caller]
pub fn timeout_at<F: IntoFuture>(deadline: Instant, future: F) -> Timeout<F::IntoFuture> {
    let delay = Sleep::at(deadline, current_world(), Location::caller());
    Timeout {
        value: future.into_future(),
        delay: Some(delay),
    }
}

pin_project! {
    /// The future of [`timeout`] and [`timeout_at`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct Timeout<T> {
        #[pin]
        value: T,
        // Absent when the deadline is beyond all instants.
        #[pin]
        delay: Option<Sleep>,
    }
}

impl<T> Timeout<T> {
    /// The future waited for.
    pub fn get_ref(&self) -> &T {
        &self.value
    }

    /// The future waited for.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// The future, without its deadline.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T: Future> Future for Timeout<T> {
    type Output = Result<T::Output, Elapsed>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let had_budget = coop::has_budget_remaining();
        if let Poll::Ready(value) = this.value.poll(cx) {
            if let Some(delay) = this.delay.as_pin_mut() {
                delay.note_in_time();
            }
            return Poll::Ready(Ok(value));
        }
        let Some(delay) = this.delay.as_pin_mut() else {
            return Poll::Pending;
        };
        let site = delay.site();
        let elapsed = if had_budget && !coop::has_budget_remaining() {
            // A future that uses up the budget in every poll must not starve its deadline.
            pin!(coop::unconstrained(delay)).poll(cx)
        } else {
            delay.poll(cx)
        };
        if elapsed.is_pending() {
            note_limited();
        }
        elapsed.map(|()| {
            note_elapsed(site);
            Err(Elapsed::new())
        })
    }
}

/// Notes that the running task waits for something within a time limit: it may be what only another crate knows.
fn note_limited() {
    WORLD.with(|world| {
        if let (true, Some(key)) = (world.recording.get(), world.current()) {
            world.with(|core, _| core.note_limited(key));
        }
    });
}

/// Notes that a time limit strikes. A report shows it, where the task was last seen to wait for something within.
fn note_elapsed(site: &'static Location<'static>) {
    WORLD.with(|world| {
        if !world.is_live() {
            return; // on a thread that is no world's
        }
        world.with(|core, _| core.note_time_limit(site, None));
        if world.recording.get() {
            world.record_undecided(Op {
                kind: OpKind::Elapsed,
                access: Access::Read,
                resource: 0,
                site,
            });
        }
    });
}
