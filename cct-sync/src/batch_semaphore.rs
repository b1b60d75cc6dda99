//! The counting semaphore under `Semaphore`, `Mutex`, `RwLock` and `OnceCell`.
//!
//! Strictly first come, first served. A future that asks for more permits than there are takes
//! what there is and queues; permits that come back go to the front of the queue, a part at a
//! time, until its wish is fulfilled.
//!
//! 1. While somebody queues, no permit is free.
//! 2. A future that does not complete gives back what it was assigned.
//! 3. After `close` nobody queues; a future that was assigned its permits but has not completed by
//!    then fails and gives them back.
//!
//! Does not: know what the permits protect.

use crate::semaphore::{AcquireError, TryAcquireError};
use crate::waiters::{Key, WaitList, Wakes};
use cct_executor::shim::{Access, OpKind, Resource, ResourceKind, Shared, Waiter};
use cct_executor::task::coop;
use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// How an operation presents itself at its scheduling point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) site: &'static Location<'static>,
    pub(crate) kind: OpKind,
    pub(crate) access: Access,
}

impl Call {
    #[inline]
    pub(crate) const fn write(kind: OpKind, site: &'static Location<'static>) -> Self {
        Call {
            site,
            kind,
            access: Access::Write,
        }
    }
}

pub(crate) struct BatchSemaphore {
    resource: Resource,
    /// Permits at the beginning.
    initial: usize,
    /// Whether the fingerprint sees how many permits are free. For locks it sees who holds them.
    counted: bool,
    state: Shared<State>,
}

// As for `std::sync::Mutex`: nothing half done is left behind by a panic.
impl UnwindSafe for BatchSemaphore {}
impl RefUnwindSafe for BatchSemaphore {}

struct State {
    /// Permits that are free.
    permits: usize,
    closed: bool,
    queue: WaitList<Node>,
    /// What the fingerprint has seen last.
    shown: u64,
}

struct Node {
    /// Permits not yet assigned; the node leaves the queue when it gets to 0.
    missing: u32,
    waiter: Option<Waiter>,
}

impl State {
    const fn new(permits: usize, closed: bool) -> Self {
        State {
            permits,
            closed,
            queue: WaitList::new(),
        }
    }

    #[inline]
    fn take(&mut self, count: usize) -> Result<(), TryAcquireError> {
        if self.closed {
            return Err(TryAcquireError::Closed);
        }
        if self.permits < count {
            return Err(TryAcquireError::NoPermits);
        }
        self.permits -= count;
        Ok(())
    }

    /// Serves the queue from the front; what is left becomes free.
    #[inline]
    fn add(&mut self, mut count: usize, wakes: &mut Wakes) {
        while let Some(key) = self.queue.first() {
            let node = self.queue.node(key);
            let assigned = count.min(node.missing as usize);
            node.missing -= assigned as u32;
            count -= assigned;
            if node.missing > 0 {
                return;
            }
            let waiter = node.waiter.take();
            self.queue.unlink(key);
            self.queue.owe(wakes, waiter);
        }
        assert!(
            count <= BatchSemaphore::MAX_PERMITS - self.permits,
            "number of added permits ({count}) would overflow MAX_PERMITS ({})",
            BatchSemaphore::MAX_PERMITS
        );
        self.permits += count;
    }

    /// What the fingerprint is to see, if that has changed.
    #[inline]
    fn news(&mut self, of: &BatchSemaphore) -> Option<u64> {
        // 0 for a semaphore as it was made, so that one that was used and given back looks like
        // one that never was.
        let low = match self.queue.first() {
            Some(key) => u64::from(self.queue.node(key).missing),
            None if of.counted => of.initial.wrapping_sub(self.permits) as u64,
            // A writer looks other than a reader.
            None => u64::from(self.permits == 0 && of.initial > 1),
        };
        let now = low ^ (u64::from(self.queue.queued()) << 32) ^ (u64::from(self.closed) << 63);
        if now == self.shown {
            return None;
        }
        self.shown = now;
        Some(now)
    }
}

impl BatchSemaphore {
    pub(crate) const MAX_PERMITS: usize = usize::MAX >> 3;

    #[track_caller]
    pub(crate) fn new(kind: ResourceKind, permits: usize) -> Self {
        check(permits);
        BatchSemaphore {
            resource: Resource::new(kind),
            initial: permits,
            counted: matches!(kind, ResourceKind::Semaphore),
            state: Shared::new(State::new(permits, false)),
        }
    }

    #[track_caller]
    pub(crate) const fn const_new(kind: ResourceKind, permits: usize) -> Self {
        assert!(
            permits <= Self::MAX_PERMITS,
            "a semaphore may not have more than MAX_PERMITS permits"
        );
        BatchSemaphore {
            resource: Resource::const_new(kind),
            initial: permits,
            counted: matches!(kind, ResourceKind::Semaphore),
            state: Shared::const_new(State::new(permits, false)),
        }
    }

    #[track_caller]
    pub(crate) const fn const_new_closed(kind: ResourceKind) -> Self {
        BatchSemaphore {
            resource: Resource::const_new(kind),
            initial: 0,
            counted: false,
            state: Shared::const_new(State::new(0, true)),
        }
    }

    #[inline]
    pub(crate) fn resource(&self) -> &Resource {
        &self.resource
    }

    /// Permits at the beginning.
    #[inline]
    pub(crate) fn initial(&self) -> usize {
        self.initial
    }

    pub(crate) fn available_permits(&self) -> usize {
        self.state.with(|state| state.permits)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state.with(|state| state.closed)
    }

    /// Takes permits if they are free. Not a scheduling point.
    #[inline]
    pub(crate) fn try_acquire(&self, count: usize) -> Result<(), TryAcquireError> {
        check(count);
        let (result, news) = self.state.with(|state| (state.take(count), state.news(self)));
        self.show(news);
        result
    }

    /// Adds permits. Not a scheduling point.
    #[inline]
    #[track_caller]
    pub(crate) fn release(&self, count: usize) {
        if count == 0 {
            return;
        }
        let mut wakes = Wakes::none();
        let news = self.state.with(|state| {
            state.add(count, &mut wakes);
            state.news(self)
        });
        self.settle(news, wakes);
    }

    /// Takes free permits away for good; returns how many there were to take.
    pub(crate) fn forget_permits(&self, count: usize) -> usize {
        let (forgotten, news) = self.state.with(|state| {
            let forgotten = count.min(state.permits);
            state.permits -= forgotten;
            (forgotten, state.news(self))
        });
        self.show(news);
        forgotten
    }

    pub(crate) fn close(&self) {
        let mut wakes = Wakes::none();
        let news = self.state.with(|state| {
            state.closed = true;
            while let Some(key) = state.queue.first() {
                let waiter = state.queue.node(key).waiter.take();
                state.queue.unlink(key);
                state.queue.owe(&mut wakes, waiter);
            }
            state.news(self)
        });
        self.settle(news, wakes);
    }

    #[inline]
    fn show(&self, news: Option<u64>) {
        if let Some(state) = news {
            self.resource.set_state(state);
        }
    }

    #[inline]
    fn settle(&self, news: Option<u64>, wakes: Wakes) {
        self.show(news);
        if let Some(spare) = wakes.wake() {
            self.state.with(|state| state.queue.keep(spare));
        }
    }

    /// Waits for permits; the first poll is a scheduling point.
    #[inline]
    pub(crate) fn acquire(&self, count: u32, call: Call) -> Acquire<'_> {
        check(count as usize);
        Acquire {
            semaphore: self,
            call,
            count,
            stage: Stage::New,
        }
    }

    /// Waits for permits, for callers that have passed their scheduling point already.
    #[inline]
    pub(crate) fn acquire_past_point(&self, count: u32, call: Call) -> Acquire<'_> {
        check(count as usize);
        Acquire {
            semaphore: self,
            call,
            count,
            stage: Stage::Started,
        }
    }
}

#[inline]
#[track_caller]
fn check(permits: usize) {
    assert!(
        permits <= BatchSemaphore::MAX_PERMITS,
        "a semaphore may not have more than MAX_PERMITS permits ({})",
        BatchSemaphore::MAX_PERMITS
    );
}

impl fmt::Debug for BatchSemaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore")
            .field("permits", &self.available_permits())
            .finish()
    }
}

/// The future of [`BatchSemaphore::acquire`].
#[must_use = "futures do nothing unless awaited"]
pub(crate) struct Acquire<'a> {
    semaphore: &'a BatchSemaphore,
    call: Call,
    count: u32,
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
    /// Completed; the permits belong to the caller.
    Done,
}

enum Step {
    Granted,
    Closed(Option<u64>),
    Blocked(Option<u64>),
    NeedsWaiter,
}

impl Future for Acquire<'_> {
    type Output = Result<(), AcquireError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let semaphore = this.semaphore;
        if let Stage::New = this.stage {
            ready!(
                semaphore
                    .resource
                    .point(this.call.kind, this.call.access, this.call.site)
            );
            this.stage = Stage::Started;
        }
        let free = match this.stage {
            Stage::Started => semaphore.try_acquire(this.count as usize).is_ok(),
            _ => false,
        };
        if free {
            this.stage = Stage::Held;
        } else if let Err(error) = ready!(this.poll_queue(cx)) {
            return Poll::Ready(Err(error));
        }
        ready!(coop::poll_proceed(cx)).made_progress();
        this.stage = Stage::Done;
        if this.count > 0 {
            semaphore.resource.acquired(this.call.site);
        }
        Poll::Ready(Ok(()))
    }
}

impl Acquire<'_> {
    /// Everything but the case that the permits are free at once.
    #[cold]
    fn poll_queue(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), AcquireError>> {
        let semaphore = self.semaphore;
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
                    return Poll::Ready(Ok(()));
                }
                Step::Closed(news) => {
                    self.stage = Stage::Done;
                    semaphore.show(news);
                    return Poll::Ready(Err(AcquireError(())));
                }
                Step::Blocked(news) => {
                    semaphore.show(news);
                    semaphore.resource.blocked(self.call.kind, self.call.site);
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
                    if waiter.is_none() {
                        return Step::NeedsWaiter;
                    }
                    // Less than `count`, so it fits.
                    let missing = self.count - state.permits as u32;
                    state.permits = 0;
                    let node = Node {
                        missing,
                        waiter: waiter.take(),
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
                let current = &mut state.queue.node(key).waiter;
                if !current
                    .as_ref()
                    .is_some_and(|current| current.will_wake(cx))
                {
                    if waiter.is_none() {
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
            .sync_point(OpKind::Drop, Access::Write, self.call.site);
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
        semaphore.settle(news, wakes);
        drop(waiter);
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
