//! Join handles and abort handles.

use super::body::JoinCell;
use super::early;
use super::error::JoinError;
use super::id::Id;
use crate::execution::close::Closing;
use crate::execution::core::NONE;
use crate::execution::panics;
use crate::execution::point::task_resource;
use crate::execution::strangers;
use crate::execution::world::{Phase, WORLD};
use crate::raw::shared::Home;
use crate::raw::task::Share;
use crate::shim::Looks;
use crate::task::coop;
use crate::words::{Access, Op, OpKind};
use std::fmt;
use std::panic::{
    AssertUnwindSafe, Location, RefUnwindSafe, UnwindSafe, catch_unwind, resume_unwind,
};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Owns the right to wait for a task. Dropping it detaches the task.
///
/// # Scheduling points
/// One before the first poll looks at the task.
///
/// # Cancel safety
/// Safe: the output stays until it is taken.
///
/// # Differences from tokio
/// When a task has panicked, dropping its handle without having awaited it fails the iteration:
/// nobody would ever learn of the panic.
pub struct JoinHandle<T> {
    cell: Share<JoinCell<T>>,
    /// Where it is awaited, once it is; or for whom, if that is known before.
    site: Option<&'static Location<'static>>,
    /// At whether the task has ended.
    looks: Looks,
    /// The result is gone.
    taken: bool,
    /// There is no such task: it was cancelled instead of spawned.
    refused: bool,
}

impl<T> JoinHandle<T> {
    pub(crate) fn new(cell: Share<JoinCell<T>>) -> Self {
        JoinHandle {
            cell,
            site: None,
            looks: Looks::new(),
            taken: false,
            refused: false,
        }
    }

    /// The handle of a task that was cancelled instead of spawned. Its key is another's, or will be.
    pub(super) fn refused(cell: Share<JoinCell<T>>) -> Self {
        let mut handle = JoinHandle::new(cell);
        handle.refused = true;
        handle
    }

    /// Which task it is.
    #[inline]
    fn task(&self) -> AbortHandle {
        let task = self.cell.handle();
        match self.refused {
            false => task,
            true => AbortHandle {
                serial: 0,
                key: NONE,
                ..task
            },
        }
    }

    /// Whoever awaits it does so on behalf of user code there.
    pub(super) fn on_behalf_of(mut self, site: &'static Location<'static>) -> Self {
        self.site = Some(site);
        self
    }

    /// Cancels the task: at its next turn its future is dropped instead of polled.
    ///
    /// # Scheduling points
    /// One before it acts, at granularity `sync`.
    #[track_caller]
    pub fn abort(&self) {
        self.abort_at(Location::caller());
    }

    #[track_caller]
    pub(super) fn abort_at(&self, site: &'static Location<'static>) {
        let task = self.task();
        if task.serial != early::SERIAL || !self.cell.is_done() {
            task.abort_at(site);
        }
    }

    /// Whether the task has ended.
    ///
    /// # Scheduling points
    /// One before it looks, at granularity `sync`.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.task().look(Location::caller());
        self.cell.is_done()
    }

    /// A handle that can abort but not join.
    pub fn abort_handle(&self) -> AbortHandle {
        self.task()
    }

    /// The task's id.
    pub fn id(&self) -> Id {
        self.task().id
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // Not in a closure, which would be its own caller.
        let caller = Location::caller();
        let site = *self.site.get_or_insert(caller);
        let AbortHandle { serial, key, .. } = self.task();
        ready!(self.looks.pass(|| {
            WORLD.with(|world| {
                if world.serial.get() == serial {
                    world.point(OpKind::Join, Access::Read, task_resource(key), site)
                } else {
                    Poll::Ready(())
                }
            })
        }));
        let result = self.poll_result(cx);
        match result {
            Poll::Ready(_) => self.taken = true,
            Poll::Pending => self.note_blocked(site),
        }
        result
    }
}

impl<T> JoinHandle<T> {
    /// What polling does after the scheduling point.
    pub(super) fn poll_result(&self, cx: &mut Context<'_>) -> Poll<Result<T, JoinError>> {
        let budget = ready!(coop::poll_proceed(cx));
        let result = ready!(self.cell.poll(cx));
        budget.made_progress();
        if result.as_ref().is_err_and(JoinError::is_panic) {
            let key = self.task().key;
            self.task()
                .in_world(|world| world.with(|core, _| core.panic_observed(key)));
        }
        Poll::Ready(result)
    }

    /// Wakes once the task has ended; now if it has. Takes no result.
    pub(super) fn wake_when_done(&self, cx: &Context<'_>) {
        if self.cell.is_done() {
            cx.waker().wake_by_ref();
        } else {
            let polled = self.cell.poll(cx);
            assert!(
                polled.is_pending(),
                "cct bug: a task ended while its set was asked"
            );
        }
    }

    /// Drops an output that nobody took. Its destructor sees the id of the task that made it, and should it panic, whoever
    /// drops the handle goes on, as in tokio: it is the task's panic.
    fn drop_in_its_name(&self, output: Option<Result<T, JoinError>>) {
        let id = u32::try_from(self.task().id.0).expect("cct bug: ids are counted in 32 bits");
        let drop_it = || {
            WORLD.with(|world| {
                world.with_running(
                    |running| running.heir_of = id,
                    |now, before| now.heir_of = before.heir_of,
                    || drop(output),
                );
            });
        };
        let was_panicking = std::thread::panicking();
        let Err(payload) = catch_unwind(AssertUnwindSafe(drop_it)) else {
            return;
        };
        if payload.is::<Closing>() {
            resume_unwind(payload);
        }
        let kind = panics::failure_of(Some(&*payload));
        let key = self.task().key;
        self.task().in_world(|world| {
            // As of a panic that a handle would have told of.
            if !was_panicking && !world.lone.get() {
                world.with(|core, _| core.panicked(key, kind, false));
            }
        });
    }

    /// Notes that the running task no longer waits for this one.
    fn note_gave_up(&self, site: &'static Location<'static>) {
        let resource = task_resource(self.task().key);
        self.task().in_world(|world| {
            if let (true, Some(current)) = (world.recording.get(), world.current()) {
                world.with(|core, _| core.note_gave_up(current, OpKind::Join, resource, site));
            }
        });
    }

    /// Notes that the running task waits for this one.
    pub(super) fn note_blocked(&self, site: &'static Location<'static>) {
        let resource = task_resource(self.task().key);
        self.task().in_world(|world| {
            if let (true, Some(current)) = (world.recording.get(), world.current()) {
                world.with(|core, _| core.note_blocked(current, OpKind::Join, resource, site));
            }
        });
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        if self.taken {
            return;
        }
        if let Some(site) = self.site.filter(|_| self.looks.have_begun()) {
            self.note_gave_up(site);
        }
        let unseen = self.cell.detach();
        if unseen
            .as_ref()
            .is_some_and(|result| result.as_ref().is_err_and(JoinError::is_panic))
        {
            let key = self.task().key;
            // Around the code of a test nobody has to ask, as on tokio, whichever came first.
            self.task().in_world(|world| {
                if !world.lone.get() {
                    world.with(|core, _| core.panic_ignored(key));
                }
            });
        }
        if std::mem::needs_drop::<T>() && matches!(unseen, Some(Ok(_))) {
            self.drop_in_its_name(unseen);
        }
    }
}

// As in tokio: a panic leaves nothing half done behind a handle.
impl<T> UnwindSafe for JoinHandle<T> {}
impl<T> RefUnwindSafe for JoinHandle<T> {}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle")
            .field("id", &self.task().id)
            .finish()
    }
}

/// Can abort a task, without being able to wait for it.
#[derive(Clone)]
pub struct AbortHandle {
    pub(super) home: &'static Home,
    pub(super) serial: u64,
    pub(super) key: u32,
    pub(super) id: Id,
}

impl AbortHandle {
    /// Cancels the task: at its next turn its future is dropped instead of polled. A blocking
    /// closure that has begun is not affected.
    ///
    /// # Scheduling points
    /// One before it acts, at granularity `sync`.
    #[track_caller]
    pub fn abort(&self) {
        self.abort_at(Location::caller());
    }

    #[track_caller]
    pub(super) fn abort_at(&self, site: &'static Location<'static>) {
        let key = self.key;
        assert!(
            self.serial != early::SERIAL,
            "a task cannot be aborted by its handle that was spawned onto a LocalSet where there was no runtime yet: \
             spawn it when there is one"
        );
        if !self.home.is_here() {
            // Nothing controls when a foreign thread does this: the world reports it.
            self.home.post(self.serial, key, Some(self.id.0));
        }
        self.in_world(|world| {
            let resource = task_resource(key);
            world.sync_point(Op {
                kind: OpKind::Abort,
                access: Access::Write,
                resource,
                site,
            });
            world.with(|core, decider| core.abort(key, decider));
        });
    }

    /// Whether the task has ended.
    ///
    /// # Scheduling points
    /// One before it looks, at granularity `sync`.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        if !self.home.is_here() && strangers::is_open(self.serial) {
            return self.home.has_ended(self.serial, self.id.0);
        }
        self.look(Location::caller());
        let mut alive = false;
        self.in_world(|world| alive = world.with(|core, _| core.is_alive(self.key)));
        !alive
    }

    /// The point before somebody looks whether the task has ended.
    fn look(&self, site: &'static Location<'static>) {
        let resource = task_resource(self.key);
        self.in_world(|world| {
            world.sync_point(Op {
                kind: OpKind::Get,
                access: Access::Read,
                resource,
                site,
            });
        });
    }

    /// The task's id.
    pub fn id(&self) -> Id {
        self.id
    }

    /// Runs `f` if the task's world still runs on this thread.
    fn in_world(&self, f: impl FnOnce(&crate::execution::world::World)) {
        WORLD.with(|world| {
            if world.serial.get() == self.serial && world.phase.get() == Phase::Running {
                f(world);
            }
        });
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHandle").field("id", &self.id).finish()
    }
}
