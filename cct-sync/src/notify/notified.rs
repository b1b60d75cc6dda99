//! The futures of `Notify`.

use super::{Node, Notify, State, Told};
use crate::waiters::Key;
use cct_executor::shim::{Access, Looks, OpKind, Waiter, went_on};
use pin_project_lite::pin_project;
use std::fmt;
use std::marker::PhantomPinned;
use std::ops::Deref;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

pin_project! {
    /// The future of [`Notify::notified`].
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct Notified<'a> {
        listener: Listener<&'a Notify>,
        #[pin]
        pinned: PhantomPinned,
    }
}

pin_project! {
    /// The future of [`Notify::notified_owned`].
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct OwnedNotified {
        listener: Listener<Arc<Notify>>,
        #[pin]
        pinned: PhantomPinned,
    }
}

macro_rules! notified {
    (impl[$($lt:lifetime)?] $notified:ident, $handle:ty) => {
        impl $(<$lt>)? $notified $(<$lt>)? {
            pub(super) fn new(notify: $handle, site: &'static Location<'static>) -> Self {
                Self { listener: Listener::new(notify, site), pinned: PhantomPinned }
            }

            /// Queues up without polling, so that later notifications count. Returns whether the
            /// future is ready.
            ///
            /// # Scheduling points
            /// One, before it looks, at granularity `sync`.
            pub fn enable(self: Pin<&mut Self>) -> bool {
                self.project().listener.enable()
            }
        }

        impl $(<$lt>)? Future for $notified $(<$lt>)? {
            type Output = ();

            fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
                self.project().listener.poll(cx)
            }
        }

        impl $(<$lt>)? fmt::Debug for $notified $(<$lt>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($notified))
                    .field("notify", &*self.listener.notify)
                    .field("stage", &self.listener.stage)
                    .finish()
            }
        }
    };
}

notified!(impl['a] Notified, &'a Notify);
notified!(impl[] OwnedNotified, Arc<Notify>);

/// What both futures are inside.
struct Listener<N: Deref<Target = Notify>> {
    notify: N,
    site: &'static Location<'static>,
    /// Calls of `notify_waiters` before this existed.
    broadcasts: usize,
    stage: Stage,
    looks: Looks,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    New,
    Waiting(Key),
    Done,
}

enum Step {
    Done(u64),
    Blocked(u64),
    NeedsWaiter,
}

impl<N: Deref<Target = Notify>> Listener<N> {
    fn new(notify: N, site: &'static Location<'static>) -> Self {
        notify
            .resource
            .listen_point(OpKind::Notified, Access::Read, site);
        let broadcasts = notify.state.with(|state| state.broadcasts);
        Listener {
            notify,
            site,
            broadcasts,
            stage: Stage::New,
            looks: Looks::new(),
        }
    }

    fn enable(&mut self) -> bool {
        self.notify
            .resource
            .sync_point(OpKind::Notified, Access::Write, self.site);
        self.attempt(None).is_ready()
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let look = (OpKind::Notified, Access::Write);
        let resource = &self.notify.resource;
        ready!(resource.look_point(&mut self.looks, look, self.site));
        let poll = self.attempt(Some(cx));
        if poll.is_pending() {
            self.notify.resource.blocked(OpKind::Notified, self.site);
        }
        poll
    }

    fn attempt(&mut self, cx: Option<&mut Context<'_>>) -> Poll<()> {
        let cx = cx.as_deref();
        // Made, and dropped when it replaced another, outside of the cell.
        let mut waiter = None;
        loop {
            let notify = &*self.notify;
            let (stage, broadcasts) = (&mut self.stage, self.broadcasts);
            match notify
                .state
                .with(|state| step(state, stage, broadcasts, &mut waiter, cx))
            {
                Step::Done(digest) => {
                    if let Stage::Waiting(_) = std::mem::replace(&mut self.stage, Stage::Done) {
                        went_on();
                    }
                    notify.resource.set_state(digest);
                    return Poll::Ready(());
                }
                Step::Blocked(digest) => {
                    notify.resource.set_state(digest);
                    return Poll::Pending;
                }
                Step::NeedsWaiter => waiter = cx.map(Waiter::from_context),
            }
        }
    }
}

fn step(
    state: &mut State,
    stage: &mut Stage,
    broadcasts: usize,
    waiter: &mut Option<Waiter>,
    cx: Option<&Context<'_>>,
) -> Step {
    match *stage {
        Stage::New => {
            if state.broadcasts != broadcasts {
                // The permit, if there is one, is left for others.
                return Step::Done(state.digest());
            }
            if state.permit {
                state.permit = false;
                return Step::Done(state.digest());
            }
            if cx.is_some() && waiter.is_none() {
                return Step::NeedsWaiter;
            }
            *stage = Stage::Waiting(state.queue.push(Node {
                waiter: waiter.take(),
                told: None,
            }));
            Step::Blocked(state.digest())
        }
        Stage::Waiting(key) => {
            let node = state.queue.node(key);
            if node.told.is_some() {
                *waiter = state.queue.remove(key).waiter;
                return Step::Done(state.digest());
            }
            if let Some(cx) = cx {
                if !node
                    .waiter
                    .as_ref()
                    .is_some_and(|current| current.will_wake(cx))
                {
                    if waiter.is_none() {
                        return Step::NeedsWaiter;
                    }
                    std::mem::swap(&mut node.waiter, waiter);
                }
            }
            Step::Blocked(state.digest())
        }
        Stage::Done => Step::Done(state.digest()),
    }
}

impl<N: Deref<Target = Notify>> Drop for Listener<N> {
    fn drop(&mut self) {
        let Stage::Waiting(key) = self.stage else {
            return;
        };
        let notify = &*self.notify;
        notify
            .resource
            .sync_point(OpKind::Drop, Access::Write, self.site);
        let (node, next, digest) = notify.state.with(|state| {
            let node = state.queue.remove(key);
            let next = match node.told {
                Some(Told::One(end)) => state.tell(end),
                Some(Told::All) | None => None,
            };
            (node, next, state.digest())
        });
        notify.resource.set_state(digest);
        notify.resource.gave_up(OpKind::Notified, self.site);
        drop(node);
        if let Some(next) = next {
            next.wake();
        }
    }
}
