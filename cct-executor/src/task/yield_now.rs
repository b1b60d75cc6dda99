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

/// The part of the poll that does something. Apart, so that the other, which ends every yield, costs its
/// caller a comparison.
fn give_way(cx: &Context<'_>, site: &'static Location<'static>) {
    WORLD.with(|world| world.yield_now(cx, site));
}

impl Future for YieldNow {
    type Output = ();

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.yielded {
            return Poll::Ready(());
        }
        self.yielded = true;
        give_way(cx, self.site);
        Poll::Pending
    }
}
