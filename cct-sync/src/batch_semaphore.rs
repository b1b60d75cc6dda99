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

mod acquire;

pub(crate) use acquire::Acquire;

use crate::semaphore::TryAcquireError;
use crate::waiters::{WaitList, Wakes};
use cct_executor::shim::{Access, Looks, OpKind, Resource, ResourceKind, Shared, Waiter};
use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};

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
    /// A lock for one: nothing of it shows but who holds it and who queues.
    plain: bool,
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
    looks: Looks,
    /// Where user code waits, for reports.
    site: &'static Location<'static>,
}

impl State {
    const fn new(permits: usize, closed: bool) -> Self {
        State {
            permits,
            closed,
            queue: WaitList::new(),
            shown: 0,
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

    /// Takes permits of a plain lock that the fingerprint has seen nothing of.
    #[inline]
    fn take_unseen(&mut self, count: usize) -> bool {
        let free = self.permits >= count && self.shown == 0 && !self.closed;
        if free {
            self.permits -= count;
        }
        free
    }

    /// Gives back what [`take_unseen`](Self::take_unseen) took, if the fingerprint still has seen
    /// nothing and nobody queues.
    #[inline]
    fn give_unseen(&mut self, count: usize) -> bool {
        let alone = self.queue.first().is_none() && self.shown == 0 && !self.closed;
        if alone {
            self.permits += count;
        }
        alone
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
        self.free(count);
    }

    /// Permits become free; nobody queues.
    #[inline]
    fn free(&mut self, count: usize) {
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
        if of.plain && self.shown == 0 && self.queue.first().is_none() && !self.closed {
            return None; // who holds it is all there is to see
        }
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
            plain: matches!(kind, ResourceKind::Mutex),
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
            plain: matches!(kind, ResourceKind::Mutex),
            state: Shared::const_new(State::new(permits, false)),
        }
    }

    #[track_caller]
    pub(crate) const fn const_new_closed(kind: ResourceKind) -> Self {
        BatchSemaphore {
            resource: Resource::const_new(kind),
            initial: 0,
            counted: false,
            plain: false,
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
        let (result, news) = self
            .state
            .with(|state| (state.take(count), state.news(self)));
        self.show(news);
        result
    }

    /// Adds permits, which are released at this place. A scheduling point at granularity `spawn` if somebody is woken.
    #[inline]
    #[track_caller]
    pub(crate) fn release(&self, count: usize, site: &'static Location<'static>) {
        if count == 0 || (self.plain && self.state.with(|state| state.give_unseen(count))) {
            return;
        }
        self.release_visibly(count, site);
    }

    #[inline(never)]
    #[track_caller]
    fn release_visibly(&self, count: usize, site: &'static Location<'static>) {
        let released = self.state.with(|state| {
            let alone = state.queue.first().is_none();
            alone.then(|| {
                state.free(count);
                state.news(self)
            })
        });
        match released {
            Some(news) => self.show(news),
            None => self.release_to_queue(count, site),
        }
    }

    fn release_to_queue(&self, count: usize, site: &'static Location<'static>) {
        let mut wakes = Wakes::none();
        let news = self.state.with(|state| {
            state.add(count, &mut wakes);
            state.news(self)
        });
        self.settle(news, &mut wakes, site);
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

    /// A scheduling point at granularity `spawn` if somebody is woken.
    pub(crate) fn close(&self, site: &'static Location<'static>) {
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
        self.settle(news, &mut wakes, site);
    }

    #[inline]
    fn show(&self, news: Option<u64>) {
        if let Some(state) = news {
            self.resource.set_state(state);
            self.remark();
        }
    }

    /// Says who is in the way, for reports: the first in the queue, which others may not overtake.
    fn remark(&self) {
        self.resource.remark(|| {
            self.state.with(|state| {
                let queued = state.queue.queued();
                let first = state.queue.first();
                let missing = first.map_or(0, |key| state.queue.node(key).missing);
                let is_served = state.queue.served().next().is_some();
                let queue = match missing {
                    0 if self.counted => format!("{} permit(s) free", state.permits),
                    0 if state.permits > 0 || is_served => "free, or about to be".to_owned(),
                    0 => "held, and nobody in the queue".to_owned(),
                    _ if self.counted => {
                        format!("{queued} in the queue, the first lacks {missing} permit(s)")
                    }
                    _ => format!("{queued} in the queue, where nobody overtakes"),
                };
                // The task may be awake, and busy with something else than this future.
                match state.queue.served().next() {
                    Some(Node { site, .. }) if missing > 0 => format!(
                        "{queue}; given to what waits at {}:{}, which was not polled since",
                        site.file(),
                        site.line()
                    ),
                    _ => queue,
                }
            })
        });
    }

    #[inline]
    fn settle(&self, news: Option<u64>, wakes: &mut Wakes, site: &'static Location<'static>) {
        self.show(news);
        let any = wakes.len() > 0;
        if let Some(spare) = wakes.wake() {
            self.state.with(|state| state.queue.keep(spare));
        }
        if any {
            self.resource.resume_point(site);
        }
    }

    /// Waits for permits; the first poll is a scheduling point.
    #[inline]
    pub(crate) fn acquire(&self, count: u32, call: Call) -> Acquire<'_> {
        check(count as usize);
        Acquire::new(self, count, call)
    }

    /// Waits for permits, for callers that have passed their scheduling point already.
    #[inline]
    pub(crate) fn acquire_past_point(&self, count: u32, call: Call) -> Acquire<'_> {
        check(count as usize);
        Acquire::past_point(self, count, call)
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
