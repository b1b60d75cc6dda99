//! Threads, locks and shared words whose scheduling points lie where the published programs have
//! them.
//!
//! 1. P# has a point after a task was created, after a lock was taken (while it is held), after it
//!    was given back, and at each explicit switch. Ours are at the same places, so that figures of
//!    the same program compare.
//! 2. Who waits for a lock goes on inside the critical section when it is picked, with no point of
//!    its own, and the lock counts as free meanwhile, as in P#: a third task may slip in. No
//!    critical section of ours has a point inside, so that this breaks none; it does change the
//!    odds, by a factor of two in `fib-bench-longest-2`.
//! 3. All tasks of a [`Crew`] are spawned at one place, so that the abstract state does not tell
//!    them apart: it is the multiset of their pending operations, as P#'s default one is for tasks.
//! 4. PCT and CHESS have a point *before* each access to shared memory; [`Word`] does.

use cct_executor::shim::{Access, OpKind, Resource, ResourceKind, Shared, Waiter};
use cct_executor::spawn;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::panic::Location;
use std::sync::Arc;
use std::task::Poll;

#[track_caller]
fn point(resource: &Resource, kind: OpKind) -> impl Future<Output = ()> + use<'_> {
    let site = Location::caller();
    poll_fn(move |_| resource.point(kind, Access::Write, site))
}

/// The tasks of a program, and what the main task waits for.
#[derive(Clone)]
pub(crate) struct Crew(Arc<Members>);

struct Members {
    resource: Resource,
    state: Shared<Roll>,
}

#[derive(Default)]
struct Roll {
    at_work: u32,
    main: Option<Waiter>,
}

impl Crew {
    pub(crate) fn new() -> Crew {
        Crew(Arc::new(Members {
            resource: Resource::new(ResourceKind::Barrier),
            state: Shared::default(),
        }))
    }

    /// Starts a task; one point after it was created.
    pub(crate) async fn start(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.0.state.with(|roll| roll.at_work += 1);
        let crew = self.clone();
        drop(spawn(async move {
            work.await;
            crew.leave();
        }));
        self.switch(OpKind::Spawn).await;
    }

    fn leave(&self) {
        let waiter = self.0.state.with(|roll| {
            roll.at_work -= 1;
            if roll.at_work == 0 {
                roll.main.take()
            } else {
                None
            }
        });
        if let Some(waiter) = waiter {
            waiter.wake();
        }
    }

    /// Waits for all tasks.
    pub(crate) async fn join(&self) {
        self.switch(OpKind::Join).await;
        poll_fn(|cx| {
            self.0.state.with(|roll| {
                if roll.at_work == 0 {
                    return Poll::Ready(());
                }
                roll.main = Some(Waiter::from_context(cx));
                Poll::Pending
            })
        })
        .await;
    }

    async fn switch(&self, kind: OpKind) {
        point(&self.0.resource, kind).await;
    }
}

/// A lock with P#'s points and P#'s way of handing over.
pub(crate) struct Lock {
    resource: Resource,
    state: Shared<Queue>,
}

#[derive(Default)]
struct Queue {
    held: bool,
    waiters: VecDeque<Arc<Turn>>,
}

impl Lock {
    // Not the caller's place: locks of one program do not differ in the abstract state.
    pub(crate) fn new() -> Lock {
        Lock {
            resource: Resource::new(ResourceKind::Mutex),
            state: Shared::default(),
        }
    }

    /// An explicit switch, with nothing else to it.
    #[track_caller]
    pub(crate) fn switch(&self) -> impl Future<Output = ()> + use<'_> {
        point(&self.resource, OpKind::Yield)
    }

    /// Takes the lock; one point, while it is held.
    #[track_caller]
    pub(crate) fn acquire(&self) -> impl Future<Output = ()> + use<'_> {
        let site = Location::caller();
        let point = point(&self.resource, OpKind::Lock);
        async move {
            if self.try_take() {
                point.await;
            } else {
                self.wait(site).await;
            }
        }
    }

    /// Gives the lock back; one point, after it.
    #[track_caller]
    pub(crate) fn release(&self) -> impl Future<Output = ()> + use<'_> {
        let point = point(&self.resource, OpKind::Unlock);
        async move {
            self.give_back();
            point.await;
        }
    }

    fn try_take(&self) -> bool {
        self.state
            .with(|queue| !std::mem::replace(&mut queue.held, true))
    }

    /// Gives the lock back without a point.
    fn give_back(&self) {
        let next = self.state.with(|queue| {
            queue.held = false;
            queue.waiters.pop_front()
        });
        if let Some(turn) = next {
            turn.come();
        }
    }

    async fn wait(&self, site: &'static Location<'static>) {
        let turn = Arc::new(Turn::default());
        self.state
            .with(|queue| queue.waiters.push_back(turn.clone()));
        turn.wait(&self.resource, OpKind::Lock, site).await;
    }
}

/// One place in a queue.
#[derive(Default)]
struct Turn(Shared<(bool, Option<Waiter>)>);

impl Turn {
    /// It is this one's turn.
    fn come(&self) {
        let waiter = self.0.with(|(has_come, waiter)| {
            *has_come = true;
            waiter.take()
        });
        if let Some(waiter) = waiter {
            waiter.wake();
        }
    }

    async fn wait(&self, resource: &Resource, kind: OpKind, site: &'static Location<'static>) {
        poll_fn(|cx| {
            self.0.with(|(has_come, waiter)| {
                if *has_come {
                    return Poll::Ready(());
                }
                *waiter = Some(Waiter::from_context(cx));
                resource.pending(kind, Access::Write, site);
                resource.blocked(kind, site);
                Poll::Pending
            })
        })
        .await;
    }
}

/// A condition variable of a [`Lock`]; who waits longest is notified first.
pub(crate) struct Condition {
    resource: Resource,
    waiters: Shared<VecDeque<Arc<Turn>>>,
}

impl Condition {
    pub(crate) fn new() -> Condition {
        Condition {
            resource: Resource::new(ResourceKind::Notify),
            waiters: Shared::default(),
        }
    }

    /// Gives the lock back, waits to be notified, and takes the lock again. Points: after giving
    /// it back (notifications count from before that), and those of taking it.
    pub(crate) async fn wait(&self, lock: &Lock) {
        let turn = Arc::new(Turn::default());
        self.waiters.with(|waiters| waiters.push_back(turn.clone()));
        lock.release().await;
        let site = Location::caller();
        turn.wait(&self.resource, OpKind::Wait, site).await;
        lock.acquire().await;
    }

    /// Wakes the one that waits longest, if any. No point: the lock is held.
    pub(crate) fn notify_one(&self) {
        if let Some(turn) = self.waiters.with(VecDeque::pop_front) {
            turn.come();
        }
    }

    /// Wakes all.
    pub(crate) fn notify_all(&self) {
        for turn in self.waiters.with(std::mem::take) {
            turn.come();
        }
    }
}

/// A shared number; one point before each access.
pub(crate) struct Word {
    resource: Resource,
    value: Shared<i64>,
}

impl Word {
    #[track_caller]
    pub(crate) fn new(value: i64) -> Word {
        Word {
            resource: Resource::new(ResourceKind::Mutex),
            value: Shared::new(value),
        }
    }

    #[track_caller]
    pub(crate) fn get(&self) -> impl Future<Output = i64> + use<'_> {
        self.access(OpKind::Get, |value| *value)
    }

    #[track_caller]
    pub(crate) fn set(&self, new: i64) -> impl Future<Output = ()> + use<'_> {
        self.access(OpKind::Set, move |value| *value = new)
    }

    /// Adds; returns the value before.
    #[track_caller]
    pub(crate) fn add(&self, change: i64) -> impl Future<Output = i64> + use<'_> {
        self.access(OpKind::Set, move |value| {
            std::mem::replace(value, *value + change)
        })
    }

    /// Replaces the value if it is `expected`; the value found, otherwise.
    #[track_caller]
    pub(crate) fn compare_exchange(
        &self,
        expected: i64,
        new: i64,
    ) -> impl Future<Output = Result<(), i64>> + use<'_> {
        self.access(OpKind::Set, move |value| {
            if *value == expected {
                *value = new;
                Ok(())
            } else {
                Err(*value)
            }
        })
    }

    #[track_caller]
    fn access<R, F>(&self, kind: OpKind, f: F) -> impl Future<Output = R> + use<'_, R, F>
    where
        F: FnOnce(&mut i64) -> R,
    {
        let point = point(&self.resource, kind);
        async move {
            point.await;
            self.value.with(f)
        }
    }
}
