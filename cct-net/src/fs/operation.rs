//! One operation on a disk, and results that come later.

use super::disks::{Drive, Fate};
use cct_executor::shim::{self, Access, OpKind, Resource, Shared, Waiter};
use cct_executor::task::coop;
use std::io;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// What a poll is about to do.
#[derive(Clone)]
pub(super) struct Intent {
    pub(super) resource: Arc<Resource>,
    pub(super) kind: OpKind,
    pub(super) access: Access,
    pub(super) site: &'static Location<'static>,
}

impl Intent {
    /// The operation of a poll that goes to the thread pool with it: the first poll returns
    /// `Pending` and is the scheduling point, the second one acts.
    pub(super) fn poll(&self, submitted: &mut bool, cx: &mut Context<'_>) -> Poll<()> {
        if !*submitted && !shim::gives_up() {
            *submitted = true;
            self.wait();
            shim::defer(cx);
            return Poll::Pending;
        }
        ready!(self.point());
        ready!(coop::poll_proceed(cx)).made_progress();
        *submitted = false;
        Poll::Ready(())
    }

    /// The scheduling point of an operation that acts at once. Whoever gives up passes, and hears of the disk what has
    /// become of it.
    pub(super) fn point(&self) -> Poll<()> {
        if shim::gives_up() {
            return Poll::Ready(());
        }
        self.resource.point(self.kind, self.access, self.site)
    }

    /// The poll is about to return `Pending`.
    pub(super) fn wait(&self) {
        self.resource.pending(self.kind, self.access, self.site);
        self.resource.blocked(self.kind, self.site);
    }
}

/// An operation that a thread of tokio's pool would do.
///
/// Once it was polled it happens, even if the future is dropped: then at any time later.
pub(super) struct Operation<F, T>
where
    F: FnOnce(&Drive) -> io::Result<T> + Send + 'static,
{
    act: Option<F>,
    drive: Option<Drive>,
    intent: Intent,
    submitted: bool,
    /// Is complete when that is done which the future was dropped for.
    left_behind: Option<Arc<Completion<()>>>,
}

impl<F, T> Unpin for Operation<F, T> where F: FnOnce(&Drive) -> io::Result<T> + Send + 'static {}

impl<F, T> Operation<F, T>
where
    F: FnOnce(&Drive) -> io::Result<T> + Send + 'static,
{
    pub(super) fn new(drive: Drive, intent: Intent, act: F) -> Self {
        Operation {
            act: Some(act),
            drive: Some(drive),
            intent,
            submitted: false,
            left_behind: None,
        }
    }

    /// If the future is dropped, `completion` says when it is done nevertheless.
    pub(super) fn leaving_behind(mut self, completion: Arc<Completion<()>>) -> Self {
        self.left_behind = Some(completion);
        self
    }
}

impl<F, T> Future for Operation<F, T>
where
    F: FnOnce(&Drive) -> io::Result<T> + Send + 'static,
{
    type Output = io::Result<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        let this = &mut *self;
        ready!(this.intent.poll(&mut this.submitted, cx));
        let act = this.act.take().expect("an operation polled after its end");
        let drive = this
            .drive
            .take()
            .expect("an operation polled after its end");
        let done = act(&drive);
        if this.intent.access == Access::Write {
            drive.has_worked();
        }
        Poll::Ready(done)
    }
}

impl<F, T> Drop for Operation<F, T>
where
    F: FnOnce(&Drive) -> io::Result<T> + Send + 'static,
{
    fn drop(&mut self) {
        if !self.submitted || self.intent.access == Access::Read {
            return;
        }
        let (Some(act), Some(drive)) = (self.act.take(), self.drive.take()) else {
            return;
        };
        let done = self.left_behind.take();
        if drive.with(|_| ()).is_err() {
            if let Some(done) = done {
                done.complete(lost(&drive));
            }
            return;
        }
        let doer = drive.clone();
        let Intent { resource, site, .. } = &self.intent;
        drive.start(LATE, resource, site, move |fate| {
            let result = match fate {
                Fate::Due => act(&doer).map(drop),
                Fate::Lost => lost(&doer),
            };
            if let Some(done) = done {
                done.complete(result);
            }
        });
    }
}

/// Identity of what operations do whose futures were dropped.
const LATE: u64 = 0x6c61_7465;

/// A result that comes later.
pub(super) struct Completion<T>(Shared<Awaited<T>>);

struct Awaited<T> {
    result: Option<io::Result<T>>,
    waiter: Option<Waiter>,
}

impl<T> Completion<T> {
    pub(super) fn new() -> Arc<Completion<T>> {
        Arc::new(Completion(Shared::new(Awaited {
            result: None,
            waiter: None,
        })))
    }

    pub(super) fn complete(&self, result: io::Result<T>) {
        let waiter = self.0.with(|awaited| {
            awaited.result = Some(result);
            awaited.waiter.take()
        });
        if let Some(waiter) = waiter {
            waiter.wake();
        }
    }

    /// Whether there is nothing to wait for.
    pub(super) fn is_complete(&self) -> bool {
        self.0.with(|awaited| awaited.result.is_some())
    }

    pub(super) fn poll(&self, cx: &mut Context<'_>, intent: &Intent) -> Poll<io::Result<T>> {
        let waiter = Waiter::from_context(cx);
        let (result, old) = self.0.with(|awaited| match awaited.result.take() {
            Some(result) => (Some(result), None),
            None => (None, awaited.waiter.replace(waiter)),
        });
        drop(old);
        match result {
            Some(result) => Poll::Ready(result),
            None if shim::gives_up() => Poll::Ready(Err(io::Error::other(
                "the node has crashed, or the test has ended, before this was done",
            ))),
            None => {
                intent.wait();
                Poll::Pending
            }
        }
    }
}

/// What somebody is told whose work a crash undid.
pub(super) fn lost<T>(drive: &Drive) -> io::Result<T> {
    Err(io::Error::other(format!(
        "node {} crashed before this was done",
        drive.node()
    )))
}
