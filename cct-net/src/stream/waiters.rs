//! Who waits for a socket.

use crate::io::{Interest, Ready};
use cct_executor::shim::{OpKind, Resource, Shared, WaitNote, Waiter};
use cct_executor::task::coop::{RestoreOnPending, poll_proceed};
use std::future::poll_fn;
use std::panic::Location;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

/// Who waits for a socket: of those that polled the last one for each direction, as tokio has it for
/// `poll_*` methods, and all whose futures wait, each for something of its own.
#[derive(Default)]
pub(crate) struct Waiters {
    reader: Option<Waiter>,
    writer: Option<Waiter>,
    futures: Vec<(Interest, Arc<Spot>)>,
}

/// Whom to wake, once nothing is borrowed.
#[derive(Default)]
pub(crate) struct Wakes {
    first: Option<Waiter>,
    /// Mostly there are none, and nothing to drop.
    others: Option<Vec<Waiter>>,
}

/// Where a future waits.
#[derive(Default)]
struct Spot(Shared<Waiting>);

#[derive(Default)]
struct Waiting {
    /// Whom to wake, unless that was done or the future is gone.
    waiter: Option<Waiter>,
    /// What it waited for was so.
    over: bool,
}

/// A future's own hold on the spot at which it waits, if it ever did. Whoever gives up is not woken.
#[derive(Default)]
pub(crate) struct Seat {
    spot: OnceLock<Arc<Spot>>,
    /// What reports have of the wait.
    note: WaitNote,
}

impl Drop for Seat {
    fn drop(&mut self) {
        if let Some(spot) = self.spot.get() {
            drop(spot.0.with(|waiting| waiting.waiter.take()));
        }
    }
}

/// How an operation waits.
#[derive(Clone, Copy)]
pub(crate) enum Wait<'a> {
    /// A `poll_*` method: it takes the place of whoever polled before.
    Poll,
    /// A future of an `async` method: there may be many.
    Future(&'a Seat),
}

impl Wait<'_> {
    /// Spends budget for a look at what a socket is ready for. As in tokio, `poll_*` methods do,
    /// and futures do not.
    pub(crate) fn spend(self, cx: &mut Context<'_>) -> Poll<Option<RestoreOnPending>> {
        match self {
            Wait::Poll => poll_proceed(cx).map(Some),
            Wait::Future(_) => Poll::Ready(None),
        }
    }

    /// As [`Resource::blocked`], for as long as the future lives, if it is one.
    pub(crate) fn blocked(
        self,
        resource: &Resource,
        kind: OpKind,
        site: &'static Location<'static>,
    ) {
        match self {
            Wait::Poll => resource.blocked(kind, site),
            Wait::Future(seat) => resource.blocked_while(&seat.note, kind, site),
        }
    }

    /// Whether it was woken. As in tokio whoever waits for readiness is then told what is left of it,
    /// which may be nothing.
    pub(crate) fn was_woken(self) -> bool {
        matches!(self, Wait::Future(seat) if seat.is_over())
    }
}

impl Seat {
    /// Whether what the future waited for was so, be it over by now.
    fn is_over(&self) -> bool {
        let spot = self.spot.get();
        spot.is_some_and(|spot| spot.0.with(|waiting| waiting.over))
    }
}

/// A future that waits by itself, and for its last poller only.
pub(crate) fn waiting<R>(
    mut poll: impl FnMut(&mut Context<'_>, Wait<'_>) -> Poll<R>,
) -> impl Future<Output = R> {
    let seat = Seat::default();
    poll_fn(move |cx| poll(cx, Wait::Future(&seat)))
}

impl Waiters {
    pub(crate) fn register(&mut self, cx: &Context<'_>, interest: Interest, wait: Wait<'_>) {
        let seat = match wait {
            Wait::Poll if interest.is_writable() => return renew(&mut self.writer, cx),
            Wait::Poll => return renew(&mut self.reader, cx),
            Wait::Future(seat) => seat,
        };
        let spot = seat.spot.get_or_init(Arc::default);
        spot.0.with(|waiting| renew(&mut waiting.waiter, cx));
        // Nobody else has the spots of futures that are gone.
        self.futures.retain(|(_, spot)| Arc::strong_count(spot) > 1);
        if !self.futures.iter().any(|(_, one)| Arc::ptr_eq(one, spot)) {
            self.futures.push((interest, spot.clone()));
        }
    }

    /// Those that waited for some of this wait no longer.
    pub(crate) fn move_to(&mut self, ready: Ready, to: &mut Wakes) {
        let reader = self.reader.take_if(|_| ready.is_readable());
        let writer = self.writer.take_if(|_| ready.is_writable());
        reader
            .into_iter()
            .chain(writer)
            .for_each(|waiter| to.add(waiter));
        self.futures.retain(|(interest, spot)| {
            let stays = (ready & Ready::mask(*interest)).is_empty();
            if !stays {
                let waiter = spot.0.with(|waiting| {
                    waiting.over = true;
                    waiting.waiter.take()
                });
                waiter.into_iter().for_each(|waiter| to.add(waiter));
            }
            stays
        });
    }
}

fn renew(waiter: &mut Option<Waiter>, cx: &Context<'_>) {
    if !waiter.as_ref().is_some_and(|waiter| waiter.will_wake(cx)) {
        *waiter = Some(Waiter::from_context(cx));
    }
}

impl Wakes {
    fn add(&mut self, waiter: Waiter) {
        match self.first {
            None => self.first = Some(waiter),
            Some(_) => self.others.get_or_insert_default().push(waiter),
        }
    }

    /// Wakes all, in the order in which they came.
    #[inline]
    pub(crate) fn wake(self) {
        if let Some(waiter) = self.first {
            waiter.wake();
        }
        if let Some(others) = self.others {
            others.into_iter().for_each(Waiter::wake);
        }
    }
}
