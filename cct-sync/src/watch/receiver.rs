//! The receivers' side.

use super::chan::{Chan, Version};
use super::error::RecvError;
use super::value::{Locked, Ref};
use crate::queue::Place;
use cct_executor::shim::{Access, Looks, OpKind};
use cct_executor::task::coop;
use std::fmt;
use std::future::poll_fn;
use std::panic::Location;
use std::sync::{Arc, RwLockReadGuard};
use std::task::{Poll, ready};

/// Sees the newest value. Made by [`channel`](super::channel), by cloning, or by
/// [`Sender::subscribe`](super::Sender::subscribe).
pub struct Receiver<T> {
    chan: Arc<Chan<T>>,
    /// The version seen last.
    seen: Version,
}

impl<T> Receiver<T> {
    /// For the receiver that the channel counts already.
    pub(super) fn new(chan: Arc<Chan<T>>, seen: Version) -> Self {
        Receiver { chan, seen }
    }

    /// Looks at the newest value.
    ///
    /// # Scheduling points
    /// One before looking, at granularity `sync`.
    #[track_caller]
    pub fn borrow(&self) -> Ref<'_, T> {
        let site = Location::caller();
        self.chan
            .resource
            .sync_point(OpKind::Get, Access::Read, site);
        let (value, version) = locked(&self.chan, OpKind::Get, site);
        Ref::new(value, self.seen != version)
    }

    /// Looks at the newest value and marks it as seen.
    ///
    /// # Scheduling points
    /// One before looking, at granularity `sync`.
    #[track_caller]
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        let site = Location::caller();
        self.marks(site);
        let (value, version) = locked(&self.chan, OpKind::Get, site);
        let has_changed = std::mem::replace(&mut self.seen, version) != version;
        Ref::new(value, has_changed)
    }

    /// Whether there is a value that was not seen.
    ///
    /// # Errors
    /// When all senders are gone, also if there is such a value.
    #[track_caller]
    pub fn has_changed(&self) -> Result<bool, RecvError> {
        self.chan.get(|state| match state.is_closed() {
            true => Err(RecvError(())),
            false => Ok(self.seen != state.version),
        })
    }

    /// Whether all senders are gone.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.chan.get(|state| state.is_closed())
    }

    /// Makes the current value look new.
    pub fn mark_changed(&mut self) {
        self.seen = self.seen.before();
    }

    /// Marks the current value as seen.
    ///
    /// # Scheduling points
    /// One before looking, at granularity `sync`.
    #[track_caller]
    pub fn mark_unchanged(&mut self) {
        self.marks(Location::caller());
        self.seen = self.chan.state.with(|state| state.version);
    }

    /// What is marked as seen may be newer than what the caller has looked at: so it counts as a change.
    fn marks(&self, site: &'static Location<'static>) {
        self.chan
            .resource
            .sync_point(OpKind::Changed, Access::Write, site);
    }

    /// Waits for a value that was not seen and marks it as seen.
    ///
    /// # Scheduling points
    /// One before looking.
    ///
    /// # Cancel safety
    /// Safe: a value is marked as seen only when the future completes.
    ///
    /// # Errors
    /// When all senders are gone and the newest value was seen.
    #[track_caller]
    pub fn changed(&mut self) -> impl Future<Output = Result<(), RecvError>> + use<'_, T> {
        let site = Location::caller();
        async move {
            let chan = &*self.chan;
            let seen = &mut self.seen;
            let mut place = Place::new(&chan.state, |state| &mut state.watching);
            let mut waits = chan.resource.waits(OpKind::Changed, site);
            let mut looks = Looks::new();
            poll_fn(|cx| {
                let look = (OpKind::Changed, Access::Read);
                ready!(chan.resource.look_point(&mut looks, look, site));
                let coop = ready!(coop::poll_proceed(cx));
                let poll = place.poll(cx, |state| state.news(seen));
                match poll.is_ready() {
                    true => coop.made_progress(),
                    false => {
                        waits.blocked();
                        chan.remark();
                    }
                }
                poll
            })
            .await
        }
    }

    /// Waits for a value that `f` accepts, beginning with the current one. Every value that `f`
    /// was shown is marked as seen.
    ///
    /// # Scheduling points
    /// One before looking.
    ///
    /// # Cancel safety
    /// Safe: the value stays.
    ///
    /// # Errors
    /// When all senders are gone and the newest value was refused.
    #[track_caller]
    pub fn wait_for<F>(
        &mut self,
        f: F,
    ) -> impl Future<Output = Result<Ref<'_, T>, RecvError>> + use<'_, T, F>
    where
        F: FnMut(&T) -> bool,
    {
        self.wait_for_at(f, Location::caller())
    }

    async fn wait_for_at<F: FnMut(&T) -> bool>(
        &mut self,
        mut accepts: F,
        site: &'static Location<'static>,
    ) -> Result<Ref<'_, T>, RecvError> {
        let chan = &*self.chan;
        let seen = &mut self.seen;
        let mut place = Place::new(&chan.state, |state| &mut state.watching);
        let mut waits = chan.resource.waits(OpKind::Changed, site);
        let mut looks = Looks::new();
        // A value to show to `accepts`: the current one, then those that come.
        let mut shows = true;
        let mut closed = false;
        poll_fn(|cx| {
            let look = (OpKind::Changed, Access::Read);
            ready!(chan.resource.look_point(&mut looks, look, site));
            let coop = ready!(coop::poll_proceed(cx));
            loop {
                if shows {
                    let (value, version) = locked(chan, OpKind::Changed, site);
                    let has_changed = std::mem::replace(seen, version) != version;
                    if (!closed || has_changed) && accepts(&value.guard) {
                        coop.made_progress();
                        return Poll::Ready(Ok(Ref::new(value, has_changed)));
                    }
                }
                if closed {
                    chan.resource.outcome(|| "closed".to_owned());
                    coop.made_progress();
                    return Poll::Ready(Err(RecvError(())));
                }
                shows = false;
                let news = place.poll(cx, |state| state.news(seen));
                if news.is_pending() {
                    waits.blocked();
                    chan.remark();
                }
                closed = ready!(news).is_err();
                shows = true;
            }
        })
        .await
    }

    /// Whether the two receivers are of one channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.chan, &other.chan)
    }
}

/// Locks the value for reading, which keeps the version.
fn locked<'a, T>(
    chan: &'a Chan<T>,
    kind: OpKind,
    site: &'static Location<'static>,
) -> (Locked<'a, RwLockReadGuard<'a, T>>, Version) {
    let locked = chan.value.read(chan.call(kind, site));
    let version = chan.state.with(|state| state.version);
    (locked, version)
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.chan.add_receiver();
        Receiver {
            chan: self.chan.clone(),
            seen: self.seen,
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.chan.remove_receiver();
    }
}

impl<T: fmt::Debug> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("value", &self.chan.value)
            .field("seen", &self.seen)
            .finish_non_exhaustive()
    }
}
