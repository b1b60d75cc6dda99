//! Sets of tasks that are joined in the order in which they end.
//!
//! 1. Every task of the set has a waker of its own, registered when the task is inserted. Woken,
//!    it puts the task's number at the end of a queue and wakes whoever waits for the set.
//! 2. A number is in the queue or idle, never both; its handle stays until it is joined.

mod builder;
mod ended;
mod spawning;

pub use builder::Builder;

use self::ended::Ended;
use super::error::JoinError;
use super::handle::JoinHandle;
use super::id::Id;
use super::unconstrained;
use crate::execution::world::WORLD;
use crate::shim::Looks;
use crate::words::{Access, Op, OpKind};
use std::collections::BTreeMap;
use std::fmt;
use std::future::poll_fn;
use std::panic::{Location, resume_unwind};
use std::pin::pin;
use std::task::{Context, Poll, ready};

/// A set of tasks that all return a `T`. Dropping it aborts them.
///
/// # Differences from tokio
/// As with [`JoinHandle`]: dropping the set when one of its tasks has panicked unasked fails the
/// iteration.
pub struct JoinSet<T> {
    handles: BTreeMap<u64, JoinHandle<T>>,
    ended: Ended,
    /// Tasks inserted so far.
    inserted: u64,
    /// The scheduling point of the poll that waits now has been passed.
    looks: Looks,
    site: &'static Location<'static>,
}

impl<T> JoinSet<T> {
    /// An empty set.
    #[track_caller]
    pub fn new() -> Self {
        JoinSet {
            handles: BTreeMap::new(),
            ended: Ended::default(),
            inserted: 0,
            looks: Looks::new(),
            site: Location::caller(),
        }
    }

    /// How many tasks have not been joined yet.
    pub fn len(&self) -> usize {
        self.handles.len()
    }

    /// Whether all tasks have been joined.
    pub fn is_empty(&self) -> bool {
        self.handles.is_empty()
    }

    fn remove(&mut self, number: u64) -> JoinHandle<T> {
        self.ended.remove(number);
        self.handles
            .remove(&number)
            .expect("cct bug: a task is twice in its set")
    }

    /// Empties the set.
    fn drain(&mut self) -> BTreeMap<u64, JoinHandle<T>> {
        self.ended.clear();
        std::mem::take(&mut self.handles)
    }

    fn point(site: &'static Location<'static>) -> Poll<()> {
        let op = Op {
            kind: OpKind::Join,
            access: Access::Read,
            resource: 0,
            site,
        };
        WORLD.with(|world| world.point(op.kind, op.access, op.resource, op.site))
    }

    /// Aborts all tasks. They stay in the set until they are joined.
    ///
    /// # Scheduling points
    /// One before each, at granularity `sync`.
    #[track_caller]
    pub fn abort_all(&mut self) {
        let site = Location::caller();
        self.handles
            .values()
            .for_each(|handle| handle.abort_at(site));
    }

    /// Removes all tasks without aborting them.
    pub fn detach_all(&mut self) {
        drop(self.drain());
    }
}

impl<T: 'static> JoinSet<T> {
    /// Waits until a task ends and takes it out of the set; `None` when the set is empty. Tasks
    /// come in the order in which they ended.
    ///
    /// # Scheduling points
    /// One in the first poll, and one before each further look in the same poll.
    ///
    /// # Cancel safety
    /// Safe: no task is lost.
    ///
    /// # Errors
    /// When the task was aborted or panicked.
    #[track_caller]
    pub fn join_next(&mut self) -> impl Future<Output = Option<Result<T, JoinError>>> + use<'_, T> {
        let joined = self.join_next_with_id();
        async { Some(joined.await?.map(|(_, output)| output)) }
    }

    /// As [`join_next`](Self::join_next), together with the task's id.
    ///
    /// # Scheduling points
    /// One in the first poll, and one before each further look in the same poll.
    ///
    /// # Cancel safety
    /// Safe: no task is lost.
    ///
    /// # Errors
    /// When the task was aborted or panicked.
    #[track_caller]
    pub fn join_next_with_id(
        &mut self,
    ) -> impl Future<Output = Option<Result<(Id, T), JoinError>>> + use<'_, T> {
        self.next_at(Location::caller())
    }

    fn next_at(
        &mut self,
        site: &'static Location<'static>,
    ) -> impl Future<Output = Option<Result<(Id, T), JoinError>>> + use<'_, T> {
        let mut begun = false;
        poll_fn(move |cx| {
            if !std::mem::replace(&mut begun, true) {
                self.looks = Looks::new();
            }
            self.poll_next(cx, site)
        })
    }

    /// Takes a task that has ended out of the set, if there is one.
    ///
    /// # Scheduling points
    /// One before it acts, at granularity `sync`.
    ///
    /// # Errors
    /// When the task was aborted or panicked.
    #[track_caller]
    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        Some(self.try_join_next_with_id()?.map(|(_, output)| output))
    }

    /// As [`try_join_next`](Self::try_join_next), together with the task's id.
    ///
    /// # Scheduling points
    /// One before it acts, at granularity `sync`.
    ///
    /// # Errors
    /// When the task was aborted or panicked.
    #[track_caller]
    pub fn try_join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        let site = Location::caller();
        let op = Op {
            kind: OpKind::Join,
            access: Access::Read,
            resource: 0,
            site,
        };
        WORLD.with(|world| world.sync_point(op));
        while let Some(number) = self.ended.pop() {
            let waker = self.ended.waker(number);
            let handle = &self.handles[&number];
            // A synchronous call cannot be made to yield, so the budget does not count.
            let polled = pin!(unconstrained(poll_fn(|cx| handle.poll_result(cx))))
                .poll(&mut Context::from_waker(&waker));
            if let Poll::Ready(result) = polled {
                let id = self.remove(number).id();
                return Some(result.map(|output| (id, output)));
            }
        }
        None
    }

    /// Aborts all tasks and waits until they have ended.
    ///
    /// # Scheduling points
    /// One for each task.
    ///
    /// # Cancel safety
    /// Safe: tasks that have not been joined stay in the set.
    #[track_caller]
    pub fn shutdown(&mut self) -> impl Future<Output = ()> + use<'_, T> {
        let site = Location::caller();
        async move {
            self.handles
                .values()
                .for_each(|handle| handle.abort_at(site));
            while self.next_at(site).await.is_some() {}
        }
    }

    /// Waits for all tasks; their outputs come in the order in which they ended.
    ///
    /// # Scheduling points
    /// One for each task.
    ///
    /// # Panics
    /// When a task panicked, with what it panicked with, or was aborted. The other tasks are
    /// aborted then.
    ///
    /// # Cancel safety
    /// The tasks that have not ended are aborted, and the outputs of the others are lost.
    #[track_caller]
    pub fn join_all(mut self) -> impl Future<Output = Vec<T>> + use<T> {
        let site = Location::caller();
        async move {
            let mut outputs = Vec::with_capacity(self.len());
            while let Some(result) = self.next_at(site).await {
                match result {
                    Ok((_, output)) => outputs.push(output),
                    Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
                    Err(error) => panic!("{error}"),
                }
            }
            outputs
        }
    }

    /// The poll of [`join_next`](Self::join_next).
    ///
    /// # Scheduling points
    /// One, at the first poll after a task was taken out, and one before each further look in the same poll.
    ///
    /// # Errors
    /// When the task was aborted or panicked.
    #[track_caller]
    pub fn poll_join_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, JoinError>>> {
        let joined = ready!(self.poll_join_next_with_id(cx));
        Poll::Ready(joined.map(|result| result.map(|(_, output)| output)))
    }

    /// The poll of [`join_next_with_id`](Self::join_next_with_id).
    ///
    /// # Scheduling points
    /// One, at the first poll after a task was taken out, and one before each further look in the same poll.
    ///
    /// # Errors
    /// When the task was aborted or panicked.
    #[track_caller]
    pub fn poll_join_next_with_id(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<(Id, T), JoinError>>> {
        self.poll_next(cx, Location::caller())
    }

    fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
        site: &'static Location<'static>,
    ) -> Poll<Option<Result<(Id, T), JoinError>>> {
        ready!(self.looks.pass(|| Self::point(site)));
        let joined = ready!(self.poll_ended(cx, site));
        self.looks = Looks::new();
        Poll::Ready(joined)
    }

    fn poll_ended(
        &mut self,
        cx: &mut Context<'_>,
        site: &'static Location<'static>,
    ) -> Poll<Option<Result<(Id, T), JoinError>>> {
        if self.is_empty() {
            return Poll::Ready(None);
        }
        let Some(number) = self.ended.pop_or_wait(cx) else {
            self.handles
                .values()
                .for_each(|handle| handle.note_blocked(site));
            return Poll::Pending;
        };
        let waker = self.ended.waker(number);
        match self.handles[&number].poll_result(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => {
                let id = self.remove(number).id();
                Poll::Ready(Some(result.map(|output| (id, output))))
            }
            Poll::Pending => {
                // It has ended, so the budget is used up: its waker is woken after this poll.
                cx.waker().wake_by_ref();
                Poll::Pending
            }
        }
    }
}

impl<T> Drop for JoinSet<T> {
    fn drop(&mut self) {
        for handle in self.drain().into_values() {
            handle.abort_at(self.site);
        }
    }
}

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinSet").field("len", &self.len()).finish()
    }
}

impl<T> Default for JoinSet<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}
