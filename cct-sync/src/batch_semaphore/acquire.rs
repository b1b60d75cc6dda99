//! Waiting for permits.

use super::{BatchSemaphore, Call, Node, State};
use crate::semaphore::{AcquireError, TryAcquireError};
use crate::waiters::{Key, Wakes};
use cct_executor::shim::{Access, Looks, OpKind, Waiter, went_on};
use cct_executor::task::coop;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The future of [`BatchSemaphore::acquire`].
#[must_use = "futures do nothing unless awaited"]
pub(crate) struct Acquire<'a> {
    semaphore: &'a BatchSemaphore,
    site: &'static Location<'static>,
    stage: Stage,
    count: u32,
    // The parts of a `Call`, which would be larger as one: this future is moved often.
    kind: OpKind,
    access: Access,
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
    /// Completed; the permits belong to the caller.
    Done,
}

enum Step {
    Granted,
    Closed(Option<u64>),
    Blocked(Option<u64>),
    NeedsWaiter,
}

/// Notes that all permits are here, should the poll end before it completes: without budget, or as a
/// waker panics.
struct Holds<'a>(&'a mut Stage);

impl Drop for Holds<'_> {
    #[inline]
    fn drop(&mut self) {
        *self.0 = Stage::Held;
    }
}

impl Future for Acquire<'_> {
    type Output = Result<(), AcquireError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let semaphore = this.semaphore;
        if let Stage::New = this.stage {
            let Call { kind, access, site } = this.call();
            if !semaphore.plain {
                ready!(semaphore.resource.point(kind, access, site));
            } else if ready!(
                semaphore
                    .resource
                    .point_and_acquire(kind, access, site, || {
                        semaphore
                            .state
                            .with(|state| state.take_unseen(this.count as usize))
                    })
            ) {
                this.stage = Stage::Done;
                return Poll::Ready(Ok(()));
            }
        }
        // The stage is left behind as it is until it matters: most often everything is done at once.
        let first = matches!(this.stage, Stage::New | Stage::Started);
        if !(first && semaphore.try_acquire(this.count as usize).is_ok()) {
            if let Err(error) = ready!(this.poll_queue(cx)) {
                return Poll::Ready(Err(error));
            }
        }
        let holds = Holds(&mut this.stage);
        ready!(coop::poll_proceed(cx)).made_progress();
        std::mem::forget(holds);
        this.stage = Stage::Done;
        if this.count > 0 {
            semaphore.resource.acquired(this.site);
        }
        Poll::Ready(Ok(()))
    }
}

impl<'a> Acquire<'a> {
    #[inline]
    pub(crate) fn call(&self) -> Call {
        Call {
            site: self.site,
            kind: self.kind,
            access: self.access,
        }
    }

    #[inline]
    pub(super) fn new(semaphore: &'a BatchSemaphore, count: u32, call: Call) -> Self {
        Acquire {
            semaphore,
            site: call.site,
            stage: Stage::New,
            count,
            kind: call.kind,
            access: call.access,
        }
    }

    #[inline]
    pub(super) fn past_point(semaphore: &'a BatchSemaphore, count: u32, call: Call) -> Self {
        let mut acquire = Self::new(semaphore, count, call);
        acquire.stage = Stage::Started;
        acquire
    }

    /// Everything but the case that the permits are free at once.
    #[cold]
    fn poll_queue(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), AcquireError>> {
        let semaphore = self.semaphore;
        if let Stage::Waiting(key) = self.stage {
            let looks = semaphore.state.with(|state| state.queue.node(key).looks);
            if looks.are_again() {
                let point = semaphore.resource.point(self.kind, self.access, self.site);
                ready!(point);
            }
        }
        // Made, and dropped when it replaced another, outside of the cell.
        let mut waiter = match self.stage {
            Stage::Started => Some(Waiter::from_context(cx)),
            _ => None,
        };
        loop {
            match semaphore
                .state
                .with(|state| self.step(state, &mut waiter, cx))
            {
                Step::Granted => {
                    self.stage = Stage::Held;
                    semaphore.remark();
                    return Poll::Ready(Ok(()));
                }
                Step::Closed(news) => {
                    self.stage = Stage::Done;
                    went_on();
                    semaphore.show(news);
                    return Poll::Ready(Err(AcquireError(())));
                }
                Step::Blocked(news) => {
                    semaphore.show(news);
                    semaphore.resource.blocked(self.kind, self.site);
                    semaphore.remark();
                    return Poll::Pending;
                }
                Step::NeedsWaiter => waiter = Some(Waiter::from_context(cx)),
            }
        }
    }

    fn step(&mut self, state: &mut State, waiter: &mut Option<Waiter>, cx: &Context<'_>) -> Step {
        let semaphore = self.semaphore;
        match self.stage {
            Stage::New | Stage::Started => match state.take(self.count as usize) {
                Ok(()) => Step::Granted,
                Err(TryAcquireError::Closed) => Step::Closed(state.news(semaphore)),
                Err(TryAcquireError::NoPermits) => {
                    if !Waiter::fill(waiter, cx) {
                        return Step::NeedsWaiter;
                    }
                    // Less than `count`, so it fits.
                    let missing = self.count - state.permits as u32;
                    state.permits = 0;
                    let node = Node {
                        missing,
                        waiter: waiter.take(),
                        looks: Looks::begun(),
                        site: self.site,
                    };
                    self.stage = Stage::Waiting(state.queue.push(node));
                    Step::Blocked(state.news(semaphore))
                }
            },
            Stage::Waiting(key) => {
                let missing = state.queue.node(key).missing;
                if state.closed || missing == 0 {
                    *waiter = state.queue.remove(key).waiter;
                    if state.closed {
                        state.permits += (self.count - missing) as usize;
                        return Step::Closed(state.news(semaphore));
                    }
                    return Step::Granted;
                }
                let node = state.queue.node(key);
                node.looks.note();
                let current = &mut node.waiter;
                if !current
                    .as_ref()
                    .is_some_and(|current| current.will_wake(cx))
                {
                    if !Waiter::fill(waiter, cx) {
                        return Step::NeedsWaiter;
                    }
                    std::mem::swap(current, waiter);
                }
                Step::Blocked(state.news(semaphore))
            }
            Stage::Held if state.closed => {
                state.permits += self.count as usize;
                Step::Closed(state.news(semaphore))
            }
            Stage::Held => Step::Granted,
            Stage::Done => panic!("an acquisition was polled after it had completed"),
        }
    }

    #[cold]
    fn cancel(&mut self) {
        let semaphore = self.semaphore;
        semaphore
            .resource
            .sync_point(OpKind::Drop, Access::Write, self.site);
        let mut wakes = Wakes::none();
        let (waiter, news) = semaphore.state.with(|state| {
            let (assigned, waiter) = match self.stage {
                Stage::Waiting(key) => {
                    let node = state.queue.remove(key);
                    (self.count - node.missing, node.waiter)
                }
                _ => (self.count, None),
            };
            if assigned > 0 {
                state.add(assigned as usize, &mut wakes);
            }
            (waiter, state.news(semaphore))
        });
        self.stage = Stage::Done;
        semaphore.resource.gave_up(self.kind, self.site);
        semaphore.remark();
        drop(waiter);
        semaphore.settle(news, &mut wakes, self.site);
    }
}

impl Drop for Acquire<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Stage::Waiting(_) | Stage::Held = self.stage {
            self.cancel();
        }
    }
}
