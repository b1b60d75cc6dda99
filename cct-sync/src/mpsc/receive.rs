//! The receiver's share of the channel, and its side of waiting.

use super::chan::{Chan, State};
use super::error::TryRecvError;
use crate::waiters::Wakes;
use cct_executor::shim::{Access, Looks, OpKind, Waiter};
use cct_executor::task::coop;
use std::future::poll_fn;
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

pub(super) struct Rx<T> {
    chan: Arc<Chan<T>>,
    /// Of the operation that waits, and with which a direct poll goes on.
    looks: Looks,
}

/// What a look into the state yields.
enum Step<R> {
    Ready(R),
    Ended,
    Blocked,
    NeedsWaiter,
}

/// A call that may be given up while it waits.
struct ReceiveCall<'a, T> {
    rx: &'a mut Rx<T>,
    site: &'static Location<'static>,
    /// The scheduling point was passed.
    started: bool,
}

impl<T> Drop for ReceiveCall<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if self.rx.looks.have_begun() {
            self.rx.chan.resource.gave_up(OpKind::Recv, self.site);
        }
    }
}

impl<T> Rx<T> {
    pub(super) fn new(chan: Arc<Chan<T>>) -> Self {
        Rx {
            chan,
            looks: Looks::new(),
        }
    }

    #[inline]
    pub(super) fn chan(&self) -> &Chan<T> {
        &self.chan
    }

    #[inline]
    fn point(&mut self, site: &'static Location<'static>) -> Poll<()> {
        self.looks = Looks::new();
        self.chan.resource.point(OpKind::Recv, Access::Write, site)
    }

    /// Passes the point, and takes the message if there is one.
    #[inline]
    fn poll_at_once(&mut self, site: &'static Location<'static>) -> Poll<Option<T>> {
        self.looks = Looks::new();
        let chan = &*self.chan;
        let mut wakes = Wakes::none();
        let act = || {
            chan.state.with(|state| {
                let value = state.take(&mut wakes)?;
                Some((value, state.digest(chan.bound)))
            })
        };
        let taken = ready!(
            chan.resource
                .point_and_set(OpKind::Recv, Access::Write, site, act)
        );
        if taken.is_some() {
            chan.remark();
        }
        chan.wake(&mut wakes);
        Poll::Ready(taken)
    }

    #[inline]
    pub(super) async fn recv(&mut self, site: &'static Location<'static>) -> Option<T> {
        let mut call = ReceiveCall {
            rx: self,
            site,
            started: false,
        };
        poll_fn(|cx| {
            if !call.started {
                if let Some(value) = ready!(call.rx.poll_at_once(site)) {
                    return Poll::Ready(Some(value));
                }
                call.started = true;
            }
            call.rx.poll_next(cx, site)
        })
        .await
    }

    pub(super) async fn recv_many(
        &mut self,
        buffer: &mut Vec<T>,
        limit: usize,
        site: &'static Location<'static>,
    ) -> usize {
        let mut call = ReceiveCall {
            rx: self,
            site,
            started: false,
        };
        poll_fn(|cx| {
            if !call.started {
                ready!(call.rx.point(site));
                call.started = true;
            }
            call.rx.poll_many(cx, buffer, limit, site)
        })
        .await
    }

    pub(super) fn poll_recv(
        &mut self,
        cx: &mut Context<'_>,
        site: &'static Location<'static>,
    ) -> Poll<Option<T>> {
        if !self.looks.have_begun() {
            ready!(self.point(site));
        }
        self.poll_next(cx, site)
    }

    pub(super) fn poll_recv_many(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut Vec<T>,
        limit: usize,
        site: &'static Location<'static>,
    ) -> Poll<usize> {
        if !self.looks.have_begun() {
            ready!(self.point(site));
        }
        self.poll_many(cx, buffer, limit, site)
    }

    #[inline]
    fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
        site: &'static Location<'static>,
    ) -> Poll<Option<T>> {
        self.poll_with(cx, site, State::take)
    }

    fn poll_many(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut Vec<T>,
        limit: usize,
        site: &'static Location<'static>,
    ) -> Poll<usize> {
        let received = ready!(self.poll_with(cx, site, |state, wakes| {
            let count = limit.min(state.buffer.len());
            if count == 0 && limit > 0 {
                return None;
            }
            buffer.extend((0..count).map_while(|_| state.buffer.pop_front()));
            state.add_permits(count, wakes);
            Some(count)
        }));
        Poll::Ready(received.unwrap_or(0))
    }

    /// Waits until `take` gets something, or nothing will come any more.
    #[inline]
    fn poll_with<R>(
        &mut self,
        cx: &mut Context<'_>,
        site: &'static Location<'static>,
        mut take: impl FnMut(&mut State<T>, &mut Wakes) -> Option<R>,
    ) -> Poll<Option<R>> {
        if self.looks.are_again() {
            ready!(self.point(site));
        }
        self.looks.note();
        let coop = ready!(coop::poll_proceed(cx));
        let chan = &*self.chan;
        let mut wakes = Wakes::none();
        // Made, and dropped when it replaced another, outside of the cell.
        let mut waiter = None;
        loop {
            let (step, digest) = chan.state.with(|state| {
                let step = if let Some(taken) = take(state, &mut wakes) {
                    Step::Ready(taken)
                } else if !state.has_senders() {
                    Step::Ended
                } else if !state.will_wake(cx) && !Waiter::fill(&mut waiter, cx) {
                    Step::NeedsWaiter
                } else {
                    // Also when the end is known by now, which tokio looks for last.
                    if waiter.is_some() {
                        std::mem::swap(&mut state.receiver, &mut waiter);
                    }
                    if state.has_ended(chan.bound) {
                        Step::Ended
                    } else {
                        Step::Blocked
                    }
                };
                (step, state.digest(chan.bound))
            });
            let received = match step {
                Step::NeedsWaiter => {
                    waiter = Some(Waiter::from_context(cx));
                    continue;
                }
                Step::Blocked => {
                    chan.resource.blocked(OpKind::Recv, site);
                    chan.remark();
                    return Poll::Pending;
                }
                Step::Ready(received) => Some(received),
                Step::Ended => {
                    chan.resource.outcome(|| "closed".to_owned());
                    None
                }
            };
            coop.made_progress();
            self.looks = Looks::new();
            chan.settle_and_resume(digest, &mut wakes, None, site);
            return Poll::Ready(received);
        }
    }

    #[track_caller]
    pub(super) fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let chan = &*self.chan;
        chan.resource
            .sync_point(OpKind::TryRecv, Access::Write, Location::caller());
        let mut wakes = Wakes::none();
        let (value, digest) = chan.state.with(|state| match state.take(&mut wakes) {
            Some(value) => Ok((value, state.digest(chan.bound))),
            None if state.has_ended(chan.bound) => Err(TryRecvError::Disconnected),
            None => Err(TryRecvError::Empty),
        })?;
        chan.settle_and_resume(digest, &mut wakes, None, Location::caller());
        Ok(value)
    }

    #[track_caller]
    pub(super) fn close(&mut self) {
        self.chan
            .resource
            .sync_point(OpKind::Close, Access::Write, Location::caller());
        let (.., any) = self.chan.close(false);
        if any {
            self.chan.resource.resume_point(Location::caller());
        }
    }

    #[track_caller]
    pub(super) fn is_closed(&self) -> bool {
        self.chan.get(|state| state.closed || !state.has_senders())
    }

    #[track_caller]
    pub(super) fn len(&self) -> usize {
        self.chan.get(|state| state.buffer.len())
    }
}

impl<T> Drop for Rx<T> {
    fn drop(&mut self) {
        self.chan
            .resource
            .sync_point(OpKind::Drop, Access::Write, self.chan.site);
        // The messages' destructors may use the channel, so they run outside of the cell.
        let (messages, waiter, any) = self.chan.close(true);
        drop(waiter);
        drop(messages);
        if any {
            self.chan.resource.resume_point(self.chan.site);
        }
    }
}
