//! Cancellation as a choice.

use crate::execution::cancel::CancelId;
use crate::execution::core::NONE;
use crate::execution::waker::Waiter;
use crate::execution::world::{Phase, WORLD};
use pin_project_lite::pin_project;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

pin_project! {
    /// The future of [`cancellable`].
    #[must_use = "futures do nothing unless polled"]
    pub struct Cancellable<F> {
        #[pin]
        inner: Option<F>,
        guard: Guard,
    }
}

/// Its own type so that dropping needs no pinned drop.
struct Guard {
    serial: u64,
    id: CancelId,
    started: bool,
    site: &'static Location<'static>,
}

/// Lets the strategy cancel a future: at any moment at which it waits, and before its first poll.
///
/// Resolves to `None` when it was cancelled, after the future has been dropped. While the future
/// waits, cancelling it is an action like any other; nothing is cancelled outside a world. Where nothing
/// else is ready, time may pass instead. If none ever will, the future is cancelled: a future that waits
/// for ever is no deadlock here.
///
/// # Scheduling points
/// None of its own. Cancelling before the first poll is a data choice, taken one time in eight by
/// strategies that follow weights. So is cancelling before time moves, and less often the longer it was
/// not taken.
///
/// # Cancel safety
/// That of the inner future.
#[track_caller]
pub fn cancellable<F: Future>(future: F) -> Cancellable<F> {
    let guard = Guard {
        serial: 0,
        id: 0,
        started: false,
        site: Location::caller(),
    };
    Cancellable {
        inner: Some(future),
        guard,
    }
}

impl Guard {
    /// At the first poll: whether to cancel before anything has happened.
    fn start(&mut self) -> bool {
        self.started = true;
        WORLD.with(|world| {
            if world.phase.get() != Phase::Running || world.running.get().key == NONE {
                return false;
            }
            let site = self.site;
            self.serial = world.serial.get();
            self.id = world.with(|core, _| core.add_cancel(world.running.get().key, site));
            let label = ("cancel before the first poll", Some(site));
            world.choose(2, &[7, 1], label) == 1
        })
    }

    fn in_world<R>(&self, f: impl FnOnce(&crate::execution::world::World) -> R) -> Option<R> {
        WORLD.with(|world| {
            let here = self.serial != 0 && world.serial.get() == self.serial && world.is_live();
            here.then(|| f(world))
        })
    }

    fn disarm(&self) -> bool {
        self.in_world(|world| world.with(|core, _| core.disarm_cancel(self.id)))
            .unwrap_or(false)
    }

    fn arm(&self, cx: &Context<'_>) {
        let waiter = Waiter::from_context(cx);
        let old = self.in_world(|world| world.with(|core, _| core.arm_cancel(self.id, waiter)));
        drop(old);
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let waiter = self.in_world(|world| world.with(|core, _| core.drop_cancel(self.id)));
        drop(waiter);
    }
}

impl<F: Future> Future for Cancellable<F> {
    type Output = Option<F::Output>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let cancelled = if this.guard.started {
            this.guard.disarm()
        } else {
            this.guard.start()
        };
        if cancelled {
            this.inner.set(None);
            return Poll::Ready(None);
        }
        let inner = this
            .inner
            .as_mut()
            .as_pin_mut()
            .expect("`Cancellable` polled after completion");
        match inner.poll(cx) {
            Poll::Ready(output) => {
                this.inner.set(None);
                Poll::Ready(Some(output))
            }
            Poll::Pending => {
                this.guard.arm(cx);
                Poll::Pending
            }
        }
    }
}
