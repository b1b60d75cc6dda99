//! The state that the ends of a channel share.
//!
//! 1. `version` changes only while the value is locked for writing, so that who has locked it for
//!    reading knows the version of what is seen.
//! 2. `closed` says that the last sender is gone; there can be no new one then.

use super::error::RecvError;
use super::value::{Call, Value};
use crate::queue::Queue;
use crate::waiters::Wakes;
use cct_executor::shim::{Access, OpKind, Resource, ResourceKind, Shared, choose};
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

/// Counts the values that were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version(u64);

impl Version {
    pub(super) const INITIAL: Version = Version(0);

    /// Another version, which makes the current one look new.
    pub(super) fn before(self) -> Version {
        Version(self.0.wrapping_sub(1))
    }
}

pub(super) struct Chan<T> {
    pub(super) resource: Resource,
    /// Where the channel was made; stands for the place of a drop, which has none.
    pub(super) site: &'static Location<'static>,
    pub(super) value: Value<T>,
    pub(super) state: Shared<State>,
}

impl<T> UnwindSafe for Chan<T> {}
impl<T> RefUnwindSafe for Chan<T> {}

pub(super) struct State {
    pub(super) version: Version,
    closed: bool,
    pub(super) receivers: usize,
    pub(super) senders: usize,
    /// Receivers that wait for a new value.
    pub(super) watching: Queue,
    /// Senders that wait for the last receiver to go.
    pub(super) closing: Queue,
}

impl State {
    /// Whether there is something new, given the version seen; `None` when it is not known yet.
    #[inline]
    pub(super) fn news(&self, seen: &mut Version) -> Option<Result<(), RecvError>> {
        if *seen != self.version {
            *seen = self.version;
            return Some(Ok(()));
        }
        self.closed.then_some(Err(RecvError(())))
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// What the fingerprint sees.
    #[inline]
    fn digest(&self) -> u64 {
        (self.version.0 << 2) ^ u64::from(self.closed) ^ (u64::from(self.receivers == 0) << 1)
    }
}

impl<T> Chan<T> {
    #[track_caller]
    pub(super) fn new(init: T, receivers: usize) -> Arc<Self> {
        Arc::new(Chan {
            resource: Resource::new(ResourceKind::Watch),
            site: Location::caller(),
            value: Value::new(init),
            state: Shared::new(State {
                version: Version::INITIAL,
                closed: false,
                receivers,
                senders: 1,
                watching: Queue::new(),
                closing: Queue::new(),
            }),
        })
    }

    /// A look at the state by a method that is a scheduling point.
    #[inline]
    #[track_caller]
    pub(super) fn get<R>(&self, look: impl FnOnce(&State) -> R) -> R {
        self.resource
            .sync_point(OpKind::Get, Access::Read, Location::caller());
        self.state.with(|state| look(state))
    }

    #[inline]
    pub(super) fn call(&self, kind: OpKind, site: &'static Location<'static>) -> Call<'_> {
        Call {
            resource: &self.resource,
            kind,
            site,
        }
    }

    /// Lets `change` have the value; if it says so, that is a new version.
    pub(super) fn modify(
        &self,
        change: impl FnOnce(&mut T) -> bool,
        site: &'static Location<'static>,
    ) -> bool {
        let mut wakes = Wakes::none();
        let mut locked = self.value.write(self.call(OpKind::Set, site));
        if !change(&mut locked.guard) {
            return false;
        }
        let digest = self.state.with(|state| {
            state.version = Version(state.version.0.wrapping_add(1));
            state.watching.let_go(&mut wakes);
            state.digest()
        });
        drop(locked);
        self.resource.set_state(digest);
        if self.wake_receivers(wakes) {
            self.resource.resume_point(site);
        }
        true
    }

    /// tokio spreads waiting receivers over several lists at random. Returns whether there were any.
    fn wake_receivers(&self, mut wakes: Wakes) -> bool {
        let any = wakes.len() > 0;
        if let Ok(count @ 2..) = u32::try_from(wakes.len()) {
            wakes.rotate(choose(count, "watch: first receiver woken") as usize);
        }
        if let Some(spare) = wakes.wake() {
            self.state.with(|state| state.watching.keep(spare));
        }
        any
    }

    pub(super) fn add_sender(&self) {
        self.state.with(|state| state.senders += 1);
        self.remark();
    }

    /// Says how many senders are left, for reports.
    pub(super) fn remark(&self) {
        self.resource.remark(|| {
            let senders = self.state.with(|state| state.senders);
            format!("{senders} sender(s)")
        });
    }

    pub(super) fn remove_sender(&self) {
        self.resource
            .sync_point(OpKind::Drop, Access::Write, self.site);
        let mut wakes = Wakes::none();
        let digest = self.state.with(|state| {
            state.senders -= 1;
            if state.senders == 0 {
                state.closed = true;
                state.watching.let_go(&mut wakes);
            }
            state.digest()
        });
        self.resource.set_state(digest);
        self.remark();
        if self.wake_receivers(wakes) {
            self.resource.resume_point(self.site);
        }
    }

    /// Counts a new receiver; returns the current version.
    pub(super) fn add_receiver(&self) -> Version {
        let (version, digest) = self.state.with(|state| {
            state.receivers += 1;
            (state.version, state.digest())
        });
        self.resource.set_state(digest);
        version
    }

    pub(super) fn remove_receiver(&self) {
        self.resource
            .sync_point(OpKind::Drop, Access::Write, self.site);
        let mut wakes = Wakes::none();
        let digest = self.state.with(|state| {
            state.receivers -= 1;
            if state.receivers == 0 {
                state.closing.let_go(&mut wakes);
            }
            state.digest()
        });
        self.resource.set_state(digest);
        let any = wakes.len() > 0;
        if let Some(spare) = wakes.wake() {
            self.state.with(|state| state.closing.keep(spare));
        }
        if any {
            self.resource.resume_point(self.site);
        }
    }
}
