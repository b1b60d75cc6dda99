//! Yielding.

use crate::execution::world::WORLD;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The future of [`yield_now`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
struct YieldNow {
    yielded: bool,
    site: &'static Location<'static>,
}

/// Lets other tasks run.
///
/// # Scheduling points
/// The poll returns `Pending` once; the task is enabled again as soon as it has returned.
///
/// # Cancel safety
/// Nothing is lost.
#[track_caller]
pub fn yield_now() -> impl Future<Output = ()> + Send + Sync + Unpin {
    YieldNow {
        yielded: false,
        site: Location::caller(),
    }
}

impl Future for YieldNow {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.yielded {
            return Poll::Ready(());
        }
        self.yielded = true;
        WORLD.with(|world| world.yield_now(cx, self.site));
        Poll::Pending
    }
}
