//! Waiting for room, on the senders' side.
//!
//! 1. A future that does not complete gives back what it was assigned, and wakes the receiver if
//!    that makes a closed channel idle.
//! 2. A future that was assigned its permits but has not completed when the channel closes fails.

use super::chan::{Chan, Node, State};
use crate::waiters::{Key, Wakes};
use cct_executor::shim::{Access, Looks, OpKind, Waiter, decides_seams};
use cct_executor::task::coop;
use std::future::poll_fn;
use std::panic::Location;
use std::task::{Context, Poll, ready};

/// The channel is closed, or never has so much room.
pub(super) struct Refused;

/// Waits for permits.
pub(super) struct Reserve<'a, T> {
    chan: &'a Chan<T>,
    site: &'static Location<'static>,
    count: usize,
    kind: OpKind,
    stage: Stage,
}

#[derive(Clone, Copy)]
enum Stage {
    /// The scheduling point is ahead.
    New,
    /// Nothing was taken yet.
    Started,
    /// The node says how much is missing.
    Waiting(Key),
    /// All permits are here, but the task's budget did not allow to complete.
    Held,
    /// Completed; the permits belong to the caller or to the message.
    Done,
}

enum Step {
    Granted {
        receiver: Option<Waiter>,
    },
    Refused {
        receiver: Option<Waiter>,
    },
    /// Granted, but without budget to go on.
    Held,
    Blocked,
    NeedsWaiter,
}

/// Waits for room for `count` messages.
pub(super) async fn reserve<T>(
    chan: &Chan<T>,
    count: usize,
    site: &'static Location<'static>,
) -> Result<(), Refused> {
    let mut reserve = Reserve {
        chan,
        site,
        count,
        kind: OpKind::Reserve,
        stage: Stage::New,
    };
    poll_fn(|cx| reserve.poll(cx, &mut None)).await
}

/// Waits for room and sends; `Err` gives the value back.
///
/// At granularity `spawn` these are two steps, as on threads: a receiver that is dropped between them has
/// taken out what was there, and the message stays in the channel until the last sender is gone.
#[inline]
pub(super) async fn send<T>(
    chan: &Chan<T>,
    value: T,
    site: &'static Location<'static>,
) -> Result<(), T> {
    let mut value = Some(value);
    let mut reserve = Reserve {
        chan,
        site,
        count: 1,
        kind: OpKind::Send,
        stage: Stage::New,
    };
    let mut later = if decides_seams() { value.take() } else { None };
    let result = poll_fn(|cx| reserve.poll(cx, &mut value)).await;
    match (result, later.take().or(value)) {
        (Err(Refused), Some(value)) => return Err(value),
        (Ok(()), Some(value)) => chan.push_late(value, site),
        (_, None) => {}
    }
    Ok(())
}

impl<T> Reserve<'_, T> {
    /// Takes the permits if they are here. `waiter` is put into the queue, or comes out of it.
    #[inline]
    fn step(
        &mut self,
        state: &mut State<T>,
        value: &mut Option<T>,
        waiter: &mut Option<Waiter>,
        wakes: &mut Wakes,
        cx: &mut Context<'_>,
    ) -> Step {
        if state.closed {
            return self.refuse(state, waiter, wakes);
        }
        match self.stage {
            Stage::New | Stage::Started => {
                if state.permits < self.count {
                    if !Waiter::fill(waiter, cx) {
                        return Step::NeedsWaiter;
                    }
                    let missing = self.count - std::mem::take(&mut state.permits);
                    let node = Node {
                        missing,
                        waiter: waiter.take(),
                        looks: Looks::begun(),
                    };
                    self.stage = Stage::Waiting(state.reserving.push(node));
                    return Step::Blocked;
                }
                state.permits -= self.count;
            }
            Stage::Waiting(key) => {
                let node = state.reserving.node(key);
                if node.missing > 0 {
                    node.looks.note();
                    if node
                        .waiter
                        .as_ref()
                        .is_some_and(|current| current.will_wake(cx))
                    {
                        return Step::Blocked;
                    }
                    if !Waiter::fill(waiter, cx) {
                        return Step::NeedsWaiter;
                    }
                    std::mem::swap(&mut node.waiter, waiter);
                    return Step::Blocked;
                }
                *waiter = state.reserving.remove(key).waiter;
            }
            Stage::Held => {}
            Stage::Done => panic!("a reservation was polled after it had completed"),
        }
        self.stage = Stage::Held;
        // Budget is spent after the permits were taken, as in tokio. This wakes nobody: it is
        // unlimited outside a world, and inside the waker is put off until the poll returns.
        let Poll::Ready(coop) = coop::poll_proceed(cx) else {
            return Step::Held;
        };
        coop.made_progress();
        self.stage = Stage::Done;
        Step::Granted {
            receiver: state.receive(value.take()),
        }
    }

    /// Gives back what was assigned.
    #[cold]
    fn refuse(
        &mut self,
        state: &mut State<T>,
        waiter: &mut Option<Waiter>,
        wakes: &mut Wakes,
    ) -> Step {
        let assigned = match self.stage {
            Stage::Waiting(key) => {
                let node = state.reserving.remove(key);
                *waiter = node.waiter;
                self.count - node.missing
            }
            Stage::Held => self.count,
            _ => 0,
        };
        self.stage = Stage::Done;
        state.add_permits(assigned, wakes);
        let idle = state.closed && state.permits == self.chan.bound;
        Step::Refused {
            receiver: if idle { state.receiver.take() } else { None },
        }
    }

    /// Passes the point, and sends the value or reserves if there is room. Returns whether it did.
    #[inline]
    fn poll_at_once(&mut self, value: &mut Option<T>) -> Poll<bool> {
        let chan = self.chan;
        let act = || {
            chan.state.with(|state| {
                if state.closed || state.permits < self.count {
                    return None;
                }
                state.permits -= self.count;
                let receiver = state.receive(value.take());
                Some((receiver, state.digest(chan.bound)))
            })
        };
        let done = ready!(
            chan.resource
                .point_and_set(self.kind, Access::Write, self.site, act)
        );
        let Some(receiver) = done else {
            return Poll::Ready(false);
        };
        self.stage = Stage::Done;
        chan.remark();
        if let Some(receiver) = receiver {
            receiver.wake();
            chan.resource.resume_point(self.site);
        }
        Poll::Ready(true)
    }

    /// Sends the value, if there is one, when the permits are here.
    #[inline]
    fn poll(&mut self, cx: &mut Context<'_>, value: &mut Option<T>) -> Poll<Result<(), Refused>> {
        let chan = self.chan;
        if let Stage::New = self.stage {
            if ready!(self.poll_at_once(value)) {
                return Poll::Ready(Ok(()));
            }
            self.stage = Stage::Started;
        }
        if let Stage::Waiting(key) = self.stage {
            let looks = chan.state.with(|state| state.reserving.node(key).looks);
            if looks.are_again() {
                let point = chan.resource.point(self.kind, Access::Write, self.site);
                ready!(point);
            }
        }
        if self.count > chan.bound {
            self.stage = Stage::Done;
            return Poll::Ready(Err(Refused));
        }
        let mut wakes = Wakes::none();
        // Made, and dropped when it replaced another, outside of the cell.
        let mut waiter = None;
        loop {
            let (step, digest) = chan.state.with(|state| {
                let step = self.step(state, value, &mut waiter, &mut wakes, cx);
                (step, state.digest(chan.bound))
            });
            let (receiver, poll) = match step {
                Step::NeedsWaiter => {
                    waiter = Some(Waiter::from_context(cx));
                    continue;
                }
                Step::Granted { receiver } => (receiver, Poll::Ready(Ok(()))),
                Step::Refused { receiver } => {
                    chan.refused(true);
                    (receiver, Poll::Ready(Err(Refused)))
                }
                Step::Held => (None, Poll::Pending),
                Step::Blocked => {
                    chan.resource.blocked(self.kind, self.site);
                    (None, Poll::Pending)
                }
            };
            chan.settle(digest, &mut wakes);
            if let Some(receiver) = receiver {
                receiver.wake();
                chan.resource.resume_point(self.site);
            }
            return poll;
        }
    }

    #[cold]
    fn cancel(&mut self) {
        let chan = self.chan;
        chan.resource
            .sync_point(OpKind::Drop, Access::Write, chan.site);
        let (mut waiter, mut wakes) = (None, Wakes::none());
        let (step, digest) = chan.state.with(|state| {
            let step = self.refuse(state, &mut waiter, &mut wakes);
            (step, state.digest(chan.bound))
        });
        chan.resource.gave_up(self.kind, self.site);
        chan.settle(digest, &mut wakes);
        if let Step::Refused {
            receiver: Some(receiver),
        } = step
        {
            receiver.wake();
        }
    }
}

impl<T> Drop for Reserve<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if let Stage::Waiting(_) | Stage::Held = self.stage {
            self.cancel();
        }
    }
}
