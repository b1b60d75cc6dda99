//! Calls that have no answer yet.

use cct_executor::shim::{Access, OpKind, Resource, ResourceKind, Shared, WaitNote, Waiter};
use cct_executor::task::coop;
use std::collections::BTreeMap;
use std::panic::Location;
use std::task::{Context, Poll, ready};

/// What tells a call from others of its node: which binding made it, and the how manieth it is.
pub(super) type Number = (u64, u64);

/// The calls of a node that wait.
pub(super) struct Waiting<A> {
    resource: Resource,
    state: Shared<State<A>>,
}

struct State<A> {
    made: u64,
    calls: BTreeMap<u64, Entry<A>>,
}

/// A call that waits.
enum Entry<A> {
    Unanswered(Option<Waiter>),
    Answered(A),
}

/// A call; it waits no more when this is dropped.
pub(super) struct Ticket<'a, A> {
    waiting: &'a Waiting<A>,
    pub(super) number: u64,
    note: WaitNote,
}

impl<A> Waiting<A> {
    pub(super) fn new(site: &'static Location<'static>) -> Waiting<A> {
        Waiting {
            resource: Resource::at(ResourceKind::Socket, site),
            state: Shared::new(State {
                made: 0,
                calls: BTreeMap::new(),
            }),
        }
    }

    pub(super) fn point(&self, site: &'static Location<'static>) -> Poll<()> {
        self.resource.point(OpKind::Send, Access::Write, site)
    }

    /// A new call.
    pub(super) fn begin(&self) -> Ticket<'_, A> {
        let number = self.change(|state| {
            state.made += 1;
            state.calls.insert(state.made, Entry::Unanswered(None));
            state.made
        });
        Ticket {
            waiting: self,
            number,
            note: WaitNote::default(),
        }
    }

    /// The answer to a call; dropped if nobody waits for it any more.
    pub(super) fn answer(&self, number: u64, answer: A) {
        let (waiter, unused) = self.change(|state| match state.calls.get_mut(&number) {
            Some(entry @ Entry::Unanswered(_)) => {
                match std::mem::replace(entry, Entry::Answered(answer)) {
                    Entry::Unanswered(waiter) => (waiter, None),
                    Entry::Answered(_) => (None, None),
                }
            }
            // A copy of an answer.
            Some(Entry::Answered(_)) | None => (None, Some(answer)),
        });
        drop(unused);
        if let Some(waiter) = waiter {
            waiter.wake();
        }
    }

    /// The abstract state is how many wait.
    fn change<R>(&self, change: impl FnOnce(&mut State<A>) -> R) -> R {
        self.state.with(|state| {
            let result = change(state);
            self.resource.set_state(state.calls.len() as u64);
            result
        })
    }
}

impl<A> Ticket<'_, A> {
    pub(super) fn poll(&self, cx: &mut Context<'_>, site: &'static Location<'static>) -> Poll<A> {
        let coop = ready!(coop::poll_proceed(cx));
        let mut waiter = Some(Waiter::from_context(cx));
        let found = self.waiting.change(|state| {
            let calls = &mut state.calls;
            if let Some(Entry::Unanswered(known)) = calls.get_mut(&self.number) {
                std::mem::swap(known, &mut waiter);
                return None;
            }
            calls.remove(&self.number)
        });
        drop(waiter);
        if let Some(Entry::Answered(answer)) = found {
            coop.made_progress();
            return Poll::Ready(answer);
        }
        let resource = &self.waiting.resource;
        resource.blocked_while(&self.note, OpKind::Recv, site);
        Poll::Pending
    }
}

impl<A> Drop for Ticket<'_, A> {
    fn drop(&mut self) {
        let left = self
            .waiting
            .change(|state| state.calls.remove(&self.number));
        drop(left);
    }
}
