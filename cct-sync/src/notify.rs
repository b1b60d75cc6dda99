//! Waking without a value.
//!
//! 1. While somebody queues, there is no permit.
//! 2. A future that was created before a call of `notify_waiters` is notified by it, polled or
//!    not: it remembers how many such calls there were.
//! 3. A notification of `notify_one` or `notify_last` whose receiver is dropped goes to the next.

mod notified;

pub use notified::{Notified, OwnedNotified};

use crate::waiters::{Key, WaitList, Wakes};
use cct_executor::shim::{Access, OpKind, Resource, ResourceKind, Shared, Waiter};
use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

/// Notifies one task, or all that wait.
///
/// # Differences from tokio
/// None.
pub struct Notify {
    resource: Resource,
    state: Shared<State>,
}

impl UnwindSafe for Notify {}
impl RefUnwindSafe for Notify {}

struct State {
    /// A notification that nobody has received yet.
    permit: bool,
    /// Calls of `notify_waiters` so far.
    broadcasts: usize,
    queue: WaitList<Node>,
}

struct Node {
    /// `None` as long as the future was only enabled.
    waiter: Option<Waiter>,
    told: Option<Told>,
}

/// How a future in the queue was notified.
#[derive(Clone, Copy)]
enum Told {
    /// Alone, as the one at this end of the queue.
    One(End),
    /// With all others.
    All,
}

/// An end of the queue.
#[derive(Clone, Copy)]
enum End {
    First,
    Last,
}

impl State {
    const fn new() -> Self {
        State {
            permit: false,
            broadcasts: 0,
            queue: WaitList::new(),
        }
    }

    fn tell(&mut self, end: End) -> Option<Waiter> {
        let key = match end {
            End::First => self.queue.first(),
            End::Last => self.queue.last(),
        };
        match key {
            Some(key) => self.tell_node(key, Told::One(end)),
            None => {
                self.permit = true;
                None
            }
        }
    }

    fn tell_all(&mut self, wakes: &mut Wakes) {
        self.broadcasts = self.broadcasts.wrapping_add(1);
        while let Some(key) = self.queue.first() {
            let waiter = self.tell_node(key, Told::All);
            self.queue.owe(wakes, waiter);
        }
    }

    fn tell_node(&mut self, key: Key, told: Told) -> Option<Waiter> {
        self.queue.unlink(key);
        let node = self.queue.node(key);
        node.told = Some(told);
        node.waiter.take()
    }

    /// What the fingerprint sees.
    fn digest(&self) -> u64 {
        u64::from(self.permit) | (u64::from(self.queue.queued()) << 1)
    }
}

impl Notify {
    /// A `Notify` without a permit.
    #[track_caller]
    pub fn new() -> Notify {
        Notify {
            resource: Resource::new(ResourceKind::Notify),
            state: Shared::new(State::new()),
        }
    }

    /// A `Notify` without a permit, for statics.
    #[track_caller]
    pub const fn const_new() -> Notify {
        Notify {
            resource: Resource::const_new(ResourceKind::Notify),
            state: Shared::const_new(State::new()),
        }
    }

    /// Waits for a notification. The future receives calls of
    /// [`notify_waiters`](Self::notify_waiters) from now on, those of
    /// [`notify_one`](Self::notify_one) from its first poll or [`enable`](Notified::enable) on.
    ///
    /// # Scheduling points
    /// One now; one in the first poll.
    ///
    /// # Cancel safety
    /// Dropping the future gives up its place in the queue; a notification that was meant for it
    /// alone goes to the next.
    #[track_caller]
    pub fn notified(&self) -> Notified<'_> {
        Notified::new(self, Location::caller())
    }

    /// As [`notified`](Self::notified); the future keeps the `Notify` alive.
    ///
    /// # Scheduling points
    /// One now; one in the first poll.
    ///
    /// # Cancel safety
    /// As for [`notified`](Self::notified).
    #[track_caller]
    pub fn notified_owned(self: Arc<Self>) -> OwnedNotified {
        OwnedNotified::new(self, Location::caller())
    }

    /// Notifies the task that has waited for longest. If none waits, the next one to wait goes on
    /// at once; such a permit does not add up.
    ///
    /// # Scheduling points
    /// One, before it notifies, at granularity `sync`, and one after it at `spawn` if somebody was woken.
    #[track_caller]
    pub fn notify_one(&self) {
        self.notify(End::First, Location::caller());
    }

    /// Notifies the task that came last. If none waits, the next one to wait goes on at once.
    ///
    /// # Scheduling points
    /// One, before it notifies, at granularity `sync`, and one after it at `spawn` if somebody was woken.
    #[track_caller]
    pub fn notify_last(&self) {
        self.notify(End::Last, Location::caller());
    }

    /// Notifies all that wait, and all futures that exist and have not been polled. Leaves no
    /// permit behind.
    ///
    /// # Scheduling points
    /// One, before it notifies, at granularity `sync`, and one after it at `spawn` if somebody was woken.
    #[track_caller]
    pub fn notify_waiters(&self) {
        self.resource
            .sync_point(OpKind::NotifyWaiters, Access::Write, Location::caller());
        let mut wakes = Wakes::none();
        let digest = self.state.with(|state| {
            state.tell_all(&mut wakes);
            state.digest()
        });
        self.resource.set_state(digest);
        let any = wakes.len() > 0;
        if let Some(spare) = wakes.wake() {
            self.state.with(|state| state.queue.keep(spare));
        }
        if any {
            self.resource.resume_point(Location::caller());
        } else {
            self.resource.outcome(|| "wakes nobody".to_owned());
        }
    }

    fn notify(&self, end: End, site: &'static Location<'static>) {
        let kind = match end {
            End::First => OpKind::NotifyOne,
            End::Last => OpKind::NotifyLast,
        };
        self.resource.sync_point(kind, Access::Write, site);
        let (before, waiter, after, digest) = self.state.with(|state| {
            let before = state.permit;
            (before, state.tell(end), state.permit, state.digest())
        });
        self.resource.set_state(digest);
        if let Some(waiter) = waiter {
            waiter.wake();
            self.resource.resume_point(site);
        } else if after {
            self.resource.outcome(|| match before {
                true => "nobody waits, and its permit was there already".to_owned(),
                false => "nobody waits, so its permit stays".to_owned(),
            });
        }
    }
}

impl Default for Notify {
    #[track_caller]
    fn default() -> Notify {
        Notify::new()
    }
}

impl fmt::Debug for Notify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (permit, waiting) = self
            .state
            .with(|state| (state.permit, state.queue.queued()));
        f.debug_struct("Notify")
            .field("permit", &permit)
            .field("waiting", &waiting)
            .finish()
    }
}
