//! What the ends of a channel share.

use super::state::{Found, State};
use crate::waiters::Wakes;
use cct_executor::shim::{Access, OpKind, Resource, ResourceKind, Shared};
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

pub(super) struct Chan<T> {
    pub(super) resource: Resource,
    /// Where the channel was made; stands for the place of a drop, which has none.
    pub(super) site: &'static Location<'static>,
    pub(super) state: Shared<State<T>>,
}

impl<T> UnwindSafe for Chan<T> {}
impl<T> RefUnwindSafe for Chan<T> {}

/// What a receiver gets, once it need not wait.
pub(super) enum Received<T> {
    Message(T),
    Lagged(u64),
    Closed,
    /// The message is being cloned by somebody else at this moment.
    Busy,
}

impl<T> Chan<T> {
    #[track_caller]
    pub(super) fn new(capacity: usize, receivers: usize) -> Arc<Self> {
        assert!(capacity > 0, "broadcast channel capacity cannot be zero");
        assert!(
            capacity <= usize::MAX >> 1,
            "broadcast channel capacity exceeded `usize::MAX / 2`"
        );
        Arc::new(Chan {
            resource: Resource::new(ResourceKind::Broadcast),
            site: Location::caller(),
            state: Shared::new(State::new(capacity.next_power_of_two(), receivers)),
        })
    }

    /// Says how many senders are left, for reports.
    pub(super) fn remark(&self) {
        self.resource.remark(|| {
            let senders = self.state.with(|state| state.senders());
            format!("{senders} sender(s)")
        });
    }

    /// A look at the state by a method that is a scheduling point.
    #[inline]
    #[track_caller]
    pub(super) fn get<R>(&self, look: impl FnOnce(&State<T>) -> R) -> R {
        self.resource
            .sync_point(OpKind::Get, Access::Read, Location::caller());
        self.state.with(|state| look(state))
    }

    /// Publishes the digest and wakes.
    #[inline]
    pub(super) fn settle(&self, digest: u64, wakes: &mut Wakes) {
        self.resource.set_state(digest);
        if let Some(spare) = wakes.wake() {
            self.state.with(|state| state.receiving.keep(spare));
        }
    }
}

impl<T: Clone> Chan<T> {
    /// Clones the message and gives it back. A clone even of the last, as in tokio.
    #[inline]
    pub(super) fn receive(&self, found: Found<T>, digest: u64) -> Received<T> {
        self.resource.set_state(digest);
        match found {
            Found::Last(message) => Received::Message(message.clone()),
            Found::Lent(message, position) => {
                let loan = Loan {
                    chan: self,
                    position,
                    message: Some(message),
                };
                match &loan.message {
                    Some(message) => Received::Message(message.clone()),
                    None => Received::Busy,
                }
            }
            Found::Busy => {
                // Let whoever clones it go on: another thread, or a task that was suspended in it.
                self.resource
                    .sync_point(OpKind::Get, Access::Read, self.site);
                std::thread::yield_now();
                Received::Busy
            }
            Found::Lagged(missed) => Received::Lagged(missed),
            Found::Closed => Received::Closed,
        }
    }
}

/// A message that is given back when this is dropped, also when its `clone` panics.
struct Loan<'a, T> {
    chan: &'a Chan<T>,
    position: u64,
    message: Option<T>,
}

impl<T> Drop for Loan<'_, T> {
    fn drop(&mut self) {
        let Some(message) = self.message.take() else {
            return;
        };
        let (dropped, digest) = self
            .chan
            .state
            .with(|state| (state.give_back(message, self.position), state.digest()));
        self.chan.resource.set_state(digest);
        drop(dropped);
    }
}
