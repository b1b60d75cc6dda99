//! A barrier: tasks wait for each other, a fixed number at a time.

use crate::crowd::{Crowd, Place};
use cct_executor::shim::{Access, Looks, OpKind, Resource, ResourceKind, Shared, Waits, choose};
use cct_executor::task::coop;
use std::fmt;
use std::future::poll_fn;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::task::{Context, Poll, ready};

/// A point that tasks pass together.
///
/// # Differences from tokio
/// The order in which the waiting tasks are woken is open in tokio. Here one of them is chosen to
/// be the first, and the others follow in the order of their arrival, round to the one before it.
pub struct Barrier {
    resource: Resource,
    size: usize,
    count: Shared<Count>,
    waiting: Crowd,
}

struct Count {
    /// Arrivals of the current generation.
    arrived: usize,
    /// Generations that have passed.
    passed: usize,
}

// As for `std::sync::Mutex`: nothing half done is left behind by a panic.
impl UnwindSafe for Barrier {}
impl RefUnwindSafe for Barrier {}

/// What [`Barrier::wait`] returns.
#[derive(Debug, Clone)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Whether this task was the last to arrive, and let the others go.
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// A barrier for `n` tasks; 0 means the same as 1.
    #[track_caller]
    pub fn new(n: usize) -> Barrier {
        Barrier {
            resource: Resource::new(ResourceKind::Barrier),
            size: n.max(1),
            count: Shared::new(Count {
                arrived: 0,
                passed: 0,
            }),
            waiting: Crowd::new(),
        }
    }

    /// Waits until as many tasks as the barrier is for have called this.
    ///
    /// # Scheduling points
    /// One, in the first poll; for the last to come one more, after it has woken the others, at granularity `spawn`.
    ///
    /// # Cancel safety
    /// Not safe: a task that was polled has arrived, and counts even if it stops waiting.
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = BarrierWaitResult> {
        let site = Location::caller();
        async move {
            poll_fn(|_| self.resource.point(OpKind::Wait, Access::Write, site)).await;
            let Some(before) = self.arrive(site) else {
                return BarrierWaitResult(true);
            };
            let mut place = self.waiting.place();
            let mut waits = self.resource.waits(OpKind::Wait, site);
            let mut seen = 0;
            let mut looks = Looks::new();
            poll_fn(|cx| {
                // To come was the first.
                if looks.are_again() {
                    ready!(self.resource.point(OpKind::Wait, Access::Read, site));
                }
                looks.note();
                let poll = self.poll_passed(before, &mut seen, (&mut place, &mut waits), cx);
                ready!(poll);
                Poll::Ready(BarrierWaitResult(false))
            })
            .await
        }
    }

    /// Counts the task in. `None` for the last one, which lets all go; otherwise the number of
    /// generations that passed before.
    fn arrive(&self, site: &'static Location<'static>) -> Option<usize> {
        let (before, arrived) = self.count.with(|count| {
            let before = count.passed;
            count.arrived += 1;
            if count.arrived == self.size {
                count.arrived = 0;
                count.passed += 1;
            }
            (before, count.arrived)
        });
        self.resource.set_state(arrived as u64);
        if arrived > 0 {
            return Some(before);
        }
        let ((), mut wakes) = self.waiting.release(|| Ok(()));
        if let Ok(others @ 2..) = u32::try_from(wakes.len()) {
            wakes.rotate(choose(others, "first to leave the barrier") as usize);
        }
        let any = wakes.len() > 0;
        self.waiting.wake(wakes);
        if any {
            self.resource.resume_point(site);
        }
        None
    }

    /// Waits for the generation that follows the first `before` ones.
    fn poll_passed(
        &self,
        before: usize,
        seen: &mut usize,
        (place, waits): (&mut Place<'_>, &mut Waits<'_>),
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        loop {
            let budget = ready!(coop::poll_proceed(cx));
            let passed = || self.count.with(|count| count.passed);
            let now = passed();
            // tokio counts generations in a watch channel: a task first finds that of the
            // generation before, if there was one, and spends budget on it.
            if now != *seen {
                *seen = now;
                budget.made_progress();
                if now > before {
                    return Poll::Ready(());
                }
                continue;
            }
            let poll = place.poll(cx, || passed() > before);
            if poll.is_pending() {
                waits.blocked();
                self.resource.remark(|| {
                    let arrived = self.count.with(|count| count.arrived);
                    format!("{arrived} of {} have come", self.size)
                });
            } else {
                budget.made_progress();
            }
            return poll;
        }
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arrived = self.count.with(|count| count.arrived);
        f.debug_struct("Barrier")
            .field("n", &self.size)
            .field("arrived", &arrived)
            .finish()
    }
}
