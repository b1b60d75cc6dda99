//! The state that the two ends of a channel share.
//!
//! Room is counted in permits: a message in the buffer occupies one, a reservation one more. An
//! unbounded channel is one with more permits than can ever be used.
//!
//! 1. While a sender waits for permits, none is free.
//! 2. `permits == bound` exactly when no message and no reservation exists ("idle").
//! 3. After `close` no sender waits and no permit is granted; those granted before stay valid.
//! 4. The receiver is told the end when the buffer is empty and there is no sender, or the channel
//!    is closed and idle. Whoever brings that about wakes it.
//!
//! Does not: poll. See `reserve` for the senders' side of waiting and `receive` for the receiver's.

use super::inbox::Inbox;
use crate::queue::{Place, Queue};
use crate::waiters::{WaitList, Wakes};
use cct_executor::shim::{
    Access, Looks, OpKind, Resource, ResourceKind, Shared, Waiter, decides_seams,
};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::task::{Context, ready};

/// The bound of a channel that has none.
pub(super) const UNBOUNDED: usize = usize::MAX >> 3;

pub(super) struct Chan<T> {
    pub(super) resource: Resource,
    /// Where the channel was made; stands for the place of a drop, which has none.
    pub(super) site: &'static Location<'static>,
    pub(super) bound: usize,
    pub(super) state: Shared<State<T>>,
}

// As in tokio: a panic leaves nothing half done behind, as no user code runs inside the cell.
impl<T> UnwindSafe for Chan<T> {}
impl<T> RefUnwindSafe for Chan<T> {}

pub(super) struct State<T> {
    pub(super) buffer: Inbox<T>,
    /// Permits that are free.
    pub(super) permits: usize,
    /// The receiver wants no more messages.
    pub(super) closed: bool,
    /// The receiver was dropped.
    gone: bool,
    senders: usize,
    weak_senders: usize,
    /// The receiver, if it waits. A wait that was given up leaves its waiter here, as in tokio.
    pub(super) receiver: Option<Waiter>,
    pub(super) reserving: WaitList<Node>,
    /// Those who wait for the receiver to close.
    watching: Queue,
}

/// A sender that waits for permits.
pub(super) struct Node {
    /// Permits not yet assigned; the node leaves the queue when it gets to 0.
    pub(super) missing: usize,
    pub(super) waiter: Option<Waiter>,
    pub(super) looks: Looks,
}

impl<T> State<T> {
    /// Gives permits to those who wait, from the front; what is left becomes free.
    #[inline]
    pub(super) fn add_permits(&mut self, mut count: usize, wakes: &mut Wakes) {
        while let Some(key) = self.reserving.first() {
            let node = self.reserving.node(key);
            let assigned = count.min(node.missing);
            node.missing -= assigned;
            count -= assigned;
            if node.missing > 0 {
                return;
            }
            let waiter = node.waiter.take();
            self.reserving.unlink(key);
            self.reserving.owe(wakes, waiter);
        }
        self.permits += count;
    }

    /// Puts a message in, if there is one. Returns the receiver, for it to be woken.
    #[inline]
    pub(super) fn receive(&mut self, value: Option<T>) -> Option<Waiter> {
        self.buffer.push_back(value?);
        self.receiver.take()
    }

    /// Takes the first message and gives its room back.
    #[inline]
    pub(super) fn take(&mut self, wakes: &mut Wakes) -> Option<T> {
        let value = self.buffer.pop_front()?;
        self.add_permits(1, wakes);
        Some(value)
    }

    #[inline]
    pub(super) fn has_senders(&self) -> bool {
        self.senders > 0
    }

    /// Whether a waiting receiver is the task of this poll.
    #[inline]
    pub(super) fn will_wake(&self, cx: &Context<'_>) -> bool {
        self.receiver
            .as_ref()
            .is_some_and(|current| current.will_wake(cx))
    }

    /// Whether the receiver has nothing to wait for.
    #[inline]
    pub(super) fn has_ended(&self, bound: usize) -> bool {
        self.buffer.is_empty() && (self.senders == 0 || (self.closed && self.permits == bound))
    }

    /// What the fingerprint sees; 0 for a channel as it was made.
    #[inline]
    pub(super) fn digest(&self, bound: usize) -> u64 {
        let len = self.buffer.len() as u64;
        let used = (bound - self.permits) as u64;
        let queued = u64::from(self.reserving.queued());
        self.buffer.hash()
            ^ len
            ^ ((used - len.min(used)) << 20)
            ^ (queued << 40)
            ^ (u64::from(self.senders == 0) << 62)
            ^ (u64::from(self.closed) << 63)
    }
}

impl<T> Chan<T> {
    #[track_caller]
    pub(super) fn new(bound: usize) -> Arc<Self> {
        Arc::new(Chan {
            resource: Resource::new(ResourceKind::Mpsc),
            site: Location::caller(),
            bound,
            state: Shared::new(State {
                buffer: Inbox::new(),
                permits: bound,
                closed: false,
                gone: false,
                senders: 1,
                weak_senders: 0,
                receiver: None,
                reserving: WaitList::new(),
                watching: Queue::new(),
            }),
        })
    }

    /// Publishes the digest, and what the channel looks like now.
    #[inline]
    fn changed(&self, digest: u64) {
        self.resource.set_state(digest);
        self.remark();
    }

    /// Publishes the digest and wakes.
    #[inline]
    pub(super) fn settle(&self, digest: u64, wakes: &mut Wakes) {
        self.changed(digest);
        self.wake(wakes);
    }

    /// The same for who goes on at once: a scheduling point at granularity `spawn` if somebody is woken, `receiver`
    /// included.
    #[inline]
    pub(super) fn settle_and_resume(
        &self,
        digest: u64,
        wakes: &mut Wakes,
        receiver: Option<Waiter>,
        site: &'static Location<'static>,
    ) {
        let any = wakes.len() > 0 || receiver.is_some();
        self.settle(digest, wakes);
        if let Some(receiver) = receiver {
            receiver.wake();
        }
        if any {
            self.resource.resume_point(site);
        }
    }

    /// Wakes.
    #[inline]
    pub(super) fn wake(&self, wakes: &mut Wakes) {
        if let Some(spare) = wakes.wake() {
            self.state.with(|state| state.reserving.keep(spare));
        }
    }

    /// Sends with a permit that the caller holds.
    #[inline]
    pub(super) fn push(&self, value: T, site: &'static Location<'static>) {
        let (receiver, gone, digest) = self.state.with(|state| {
            let receiver = state.receive(Some(value));
            (receiver, state.gone, state.digest(self.bound))
        });
        self.changed(digest);
        match receiver {
            Some(receiver) => {
                receiver.wake();
                self.resource.resume_point(site);
            }
            None => {
                if gone {
                    self.resource
                        .outcome(|| "accepted, but nobody receives".to_owned());
                }
                self.tell_of_left();
            }
        }
    }

    /// Says, for reports, how many messages came too late for the receiver, and lie here while there are senders.
    #[inline]
    fn tell_of_left(&self) {
        self.resource.left(|| {
            self.state
                .with(|state| match state.gone && state.senders > 0 {
                    true => state.buffer.len(),
                    false => 0,
                })
        });
    }

    /// [`push`](Self::push), after a point at granularity `spawn`: for those who took the permit in
    /// the same call.
    #[inline]
    pub(super) fn push_late(&self, value: T, site: &'static Location<'static>) {
        self.resource.seam_point(OpKind::Put, Access::Write, site);
        self.push(value, site);
    }

    /// Sends if a permit is free; `Err` tells whether the channel is closed.
    #[inline]
    pub(super) fn try_push(
        &self,
        value: T,
        site: &'static Location<'static>,
    ) -> Result<(), (T, bool)> {
        if decides_seams() {
            return match self.try_take_permits(1) {
                Ok(()) => {
                    self.push_late(value, site);
                    Ok(())
                }
                Err(closed) => Err((value, closed)),
            };
        }
        let pushed = self.state.with(|state| {
            if state.closed || state.permits == 0 {
                return Err((value, state.closed));
            }
            state.permits -= 1;
            Ok((state.receive(Some(value)), state.digest(self.bound)))
        });
        let (receiver, digest) = pushed.inspect_err(|(_, closed)| self.refused(*closed))?;
        self.changed(digest);
        if let Some(receiver) = receiver {
            receiver.wake();
            self.resource.resume_point(site);
        }
        Ok(())
    }

    /// Takes permits if they are free; `Err` tells whether the channel is closed.
    #[inline]
    pub(super) fn try_take_permits(&self, count: usize) -> Result<(), bool> {
        let taken = self.state.with(|state| {
            if state.closed || state.permits < count {
                return Err(state.closed);
            }
            state.permits -= count;
            Ok(state.digest(self.bound))
        });
        self.changed(taken.inspect_err(|closed| self.refused(*closed))?);
        Ok(())
    }

    /// Takes back permits that were not used.
    pub(super) fn give_back(&self, count: usize) {
        let mut wakes = Wakes::none();
        let (receiver, digest) = self.state.with(|state| {
            state.add_permits(count, &mut wakes);
            let ended = state.closed && state.permits == self.bound;
            (
                if ended { state.receiver.take() } else { None },
                state.digest(self.bound),
            )
        });
        self.settle_and_resume(digest, &mut wakes, receiver, self.site);
    }

    /// The receiver wants no more messages. `drain` also takes those that are there, and the
    /// receiver's waiter. Returns whether somebody was woken, too.
    pub(super) fn close(&self, drain: bool) -> (VecDeque<T>, Option<Waiter>, bool) {
        let mut wakes = Wakes::none();
        let (drained, digest) = self.state.with(|state| {
            if !state.closed {
                state.closed = true;
                while let Some(key) = state.reserving.first() {
                    let waiter = state.reserving.node(key).waiter.take();
                    state.reserving.unlink(key);
                    state.reserving.owe(&mut wakes, waiter);
                }
                state.watching.let_go(&mut wakes);
            }
            state.gone |= drain;
            let drained = if drain {
                let buffer = state.buffer.take();
                state.add_permits(buffer.len(), &mut wakes);
                (buffer, state.receiver.take())
            } else {
                (VecDeque::new(), None)
            };
            (drained, state.digest(self.bound))
        });
        if !drained.0.is_empty() {
            self.resource
                .outcome(|| format!("{} message(s) unread", drained.0.len()));
        }
        let any = wakes.len() > 0;
        self.settle(digest, &mut wakes);
        (drained.0, drained.1, any)
    }

    /// Says, for reports, that a message was refused.
    #[cold]
    pub(super) fn refused(&self, closed: bool) {
        self.resource
            .outcome(|| if closed { "closed" } else { "full" }.to_owned());
    }

    /// Says what the channel looks like, for reports.
    #[inline]
    pub(super) fn remark(&self) {
        self.resource.remark(|| {
            self.state.with(|state| {
                let (len, senders) = (state.buffer.len(), state.senders);
                match self.bound {
                    UNBOUNDED => format!("{len} message(s), {senders} sender(s)"),
                    bound => format!(
                        "{len} message(s), {} of {bound} places free, {senders} sender(s)",
                        state.permits
                    ),
                }
            })
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

    #[track_caller]
    pub(super) fn strong_count(&self) -> usize {
        self.get(|state| state.senders)
    }

    #[track_caller]
    pub(super) fn weak_count(&self) -> usize {
        self.get(|state| state.weak_senders)
    }

    pub(super) fn add_weak(&self) {
        self.state.with(|state| state.weak_senders += 1);
    }

    pub(super) fn remove_weak(&self) {
        self.resource
            .sync_point(OpKind::Drop, Access::Write, self.site);
        self.state.with(|state| state.weak_senders -= 1);
    }

    /// A sender more, unless there is none.
    #[track_caller]
    pub(super) fn upgrade(self: &Arc<Self>) -> Option<Tx<T>> {
        self.resource
            .sync_point(OpKind::Get, Access::Write, Location::caller());
        let alive = self.state.with(|state| {
            let alive = state.senders > 0;
            state.senders += usize::from(alive);
            alive
        });
        self.remark();
        alive.then(|| Tx(self.clone()))
    }
}

/// A sender's share of the channel.
pub(super) struct Tx<T>(Arc<Chan<T>>);

impl<T> Tx<T> {
    /// For the sender that [`Chan::new`] counts already.
    pub(super) fn first(chan: Arc<Chan<T>>) -> Self {
        Tx(chan)
    }

    #[inline]
    pub(super) fn chan(&self) -> &Arc<Chan<T>> {
        &self.0
    }

    #[inline]
    pub(super) fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    #[track_caller]
    pub(super) fn is_closed(&self) -> bool {
        self.0.get(|state| state.closed)
    }

    /// Waits for the receiver to close.
    pub(super) async fn closed(&self, site: &'static Location<'static>) {
        let chan = &*self.0;
        let mut place = Place::new(&chan.state, |state| &mut state.watching);
        let mut waits = chan.resource.waits(OpKind::Closed, site);
        let mut looks = Looks::new();
        poll_fn(|cx| {
            let look = (OpKind::Closed, Access::Read);
            ready!(chan.resource.look_point(&mut looks, look, site));
            let poll = place.poll(cx, |state| state.closed.then_some(()));
            if poll.is_pending() {
                waits.blocked();
            }
            poll
        })
        .await;
    }
}

impl<T> Clone for Tx<T> {
    fn clone(&self) -> Self {
        self.0.state.with(|state| state.senders += 1);
        self.0.remark();
        Tx(self.0.clone())
    }
}

impl<T> Drop for Tx<T> {
    fn drop(&mut self) {
        let chan = &*self.0;
        chan.resource
            .sync_point(OpKind::Drop, Access::Write, chan.site);
        let (receiver, digest) = chan.state.with(|state| {
            state.senders -= 1;
            let receiver = if state.senders == 0 {
                state.receiver.take()
            } else {
                None
            };
            (receiver, state.digest(chan.bound))
        });
        chan.changed(digest);
        chan.tell_of_left();
        if let Some(receiver) = receiver {
            receiver.wake();
            chan.resource.resume_point(chan.site);
        }
    }
}
