//! Tasks that share a thread: `LocalSet`.

use super::early::Early;
use super::handle::JoinHandle;
use super::large::{LocalBoxed, is_large};
use super::spawn::{Options, spawn_local_with};
use crate::execution::core::NONE;
use crate::execution::panics;
use crate::execution::world::{Phase, WORLD, World, expect_world};
use crate::runtime::{Id, Runtime};
use pin_project_lite::pin_project;
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

thread_local! {
    /// The set entered on this thread: serial of the world and group.
    static ENTERED: Cell<(u64, u32)> = const { Cell::new((0, NONE)) };
}

/// A set of tasks that run on one thread and so never interleave inside a poll.
///
/// Its tasks run only while the set is awaited or inside [`run_until`](Self::run_until).
///
/// # Differences from tokio
/// Which of the tasks runs next is decided by the strategy, among all tasks of the world. What is spawned onto it where there is
/// no runtime yet cannot be aborted by its handle, nor is its id the handle's.
#[derive(Debug, Default)]
pub struct LocalSet {
    /// Serial of the world and group, once there is a group.
    group: Cell<(u64, u32)>,
    /// What was spawned before there was a world.
    early: RefCell<Vec<Early>>,
    /// Not `Send`, as in tokio.
    _not_send: PhantomData<Rc<()>>,
}

/// While it lives, `spawn_local` spawns onto the set. From [`LocalSet::enter`].
#[derive(Debug)]
pub struct LocalEnterGuard {
    before: (u64, u32),
    _not_send: PhantomData<Rc<()>>,
}

impl Drop for LocalEnterGuard {
    fn drop(&mut self) {
        ENTERED.set(self.before);
    }
}

/// The group that `spawn_local` spawns onto.
#[track_caller]
pub(super) fn current_group() -> u32 {
    let group = WORLD.with(|world| {
        if let Some(group) = local_runtime_group(world) {
            return group;
        }
        let entered = ENTERED.get();
        if entered.0 != 0 && entered.0 == world.serial.get() {
            return entered.1;
        }
        world
            .current()
            .map_or(NONE, |key| world.with(|core, _| core.local_set_of(key)))
    });
    let closing = WORLD.with(|world| world.phase.get() == Phase::Closing);
    assert!(
        group != NONE || closing,
        "`spawn_local` called from outside of a `task::LocalSet` or `runtime::LocalRuntime`"
    );
    group
}

/// The group of the [`LocalRuntime`](crate::runtime::LocalRuntime) that the running task is in. As in
/// tokio it comes before a set.
#[track_caller]
fn local_runtime_group(world: &World) -> Option<u32> {
    let key = world.current()?;
    let group = world.with(|core, _| core.local_runtime_group(key))?;
    Some(group.unwrap_or_else(|()| {
        panic!(
            "Local tasks can only be spawned on a LocalRuntime from the thread the runtime was \
             created on"
        )
    }))
}

/// Spawns a task that need not be `Send` onto the current [`LocalRuntime`](crate::runtime::LocalRuntime)
/// or [`LocalSet`].
///
/// # Scheduling points
/// One after the task exists, at granularity `spawn` and finer.
///
/// # Panics
/// Outside both.
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    if is_large::<F>() {
        return spawn_local(Box::pin(future) as LocalBoxed<F::Output>);
    }
    spawn_local_with(
        future,
        Options {
            group: current_group(),
            ..Options::at(Location::caller())
        },
    )
}

impl LocalSet {
    /// An empty set.
    pub fn new() -> LocalSet {
        LocalSet {
            group: Cell::new((0, NONE)),
            early: RefCell::default(),
            _not_send: PhantomData,
        }
    }

    /// Its group in this world, in which what was spawned before begins now.
    #[track_caller]
    fn group(&self) -> u32 {
        let group = self.group_here();
        for early in self.early.take() {
            early.begin(group);
        }
        group
    }

    #[track_caller]
    fn group_here(&self) -> u32 {
        expect_world(format_args!("a LocalSet works inside a scenario only"));
        WORLD.with(|world| {
            let (serial, group) = self.group.get();
            if serial == world.serial.get() {
                return group;
            }
            let group = world.with(|core, _| core.new_group());
            self.group.set((world.serial.get(), group));
            group
        })
    }

    /// Its id, which no other set and no runtime of the world has.
    ///
    /// # Panics
    /// Outside of a scenario.
    #[track_caller]
    pub fn id(&self) -> Id {
        Id::of_local_set(self.group())
    }

    /// Makes `spawn_local` spawn onto this set until the guard is dropped.
    #[must_use]
    pub fn enter(&self) -> LocalEnterGuard {
        let group = self.group();
        let serial = WORLD.with(|world| world.serial.get());
        LocalEnterGuard {
            before: ENTERED.replace((serial, group)),
            _not_send: PhantomData,
        }
    }

    /// Spawns a task onto this set.
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let options = Options::at(Location::caller());
        match is_large::<F>() {
            true => self.spawn_with(Box::pin(future) as LocalBoxed<F::Output>, options),
            false => self.spawn_with(future, options),
        }
    }

    #[track_caller]
    pub(super) fn spawn_with<F>(&self, future: F, options: Options) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        if is_large::<F>() {
            return self.spawn_with(Box::pin(future) as LocalBoxed<F::Output>, options);
        }
        if WORLD.with(|world| world.phase.get() == Phase::Idle) {
            let (early, handle) = Early::new(future, options);
            self.early.borrow_mut().push(early);
            return handle;
        }
        spawn_local_with(
            future,
            Options {
                group: self.group(),
                ..options
            },
        )
    }

    /// Runs a future on a runtime, together with the set's tasks, until the future is done.
    ///
    /// # Panics
    /// Inside an asynchronous task.
    #[track_caller]
    pub fn block_on<F: Future>(&self, rt: &Runtime, future: F) -> F::Output {
        rt.block_on(self.run_until(future))
    }

    /// Runs a future together with the set's tasks, until the future is done.
    ///
    /// # Scheduling points
    /// Those of the future.
    ///
    /// # Cancel safety
    /// That of the future; the set's tasks stay.
    pub async fn run_until<F: Future>(&self, future: F) -> F::Output {
        RunUntil {
            future,
            driving: Driving::new(self.group()),
        }
        .await
    }
}

impl Future for LocalSet {
    type Output = ();

    /// Done when all of the set's tasks are.
    fn poll(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<()> {
        let group = self.group();
        WORLD.with(|world| {
            let running = world.running.get();
            if world.with(|core, _| core.group_is_empty(group, running.key)) {
                world.with(|core, _| core.drive_group(group, NONE));
                return Poll::Ready(());
            }
            world.with(|core, _| {
                core.drive_set(group, running);
                core.wake_driver_when_empty(group);
            });
            Poll::Pending
        })
    }
}

impl Drop for LocalSet {
    fn drop(&mut self) {
        let (serial, group) = self.group.get();
        WORLD.with(|world| {
            if serial != 0 && world.serial.get() == serial {
                drop_group(world, group);
            }
        });
    }
}

/// Drops the futures of a set, or of a `LocalRuntime`, that is dropped itself.
pub(crate) fn drop_group(world: &World, group: u32) {
    world.with(|core, _| core.drive_group(group, NONE));
    while let Some((key, mut body)) = world.with(|core, _| core.take_group_member(group)) {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| body.cancel())) {
            let kind = panics::failure_of(Some(&*payload));
            let told = catch_unwind(AssertUnwindSafe(|| body.panicked(payload)));
            world.with(|core, _| core.panicked(key, kind, told.unwrap_or(false)));
        }
        let locals = world.with(|core, decider| core.exit(key, decider));
        drop(body);
        drop(locals);
    }
}

/// Drives a group until dropped.
struct Driving {
    serial: u64,
    group: u32,
}

impl Driving {
    fn new(group: u32) -> Driving {
        Driving {
            serial: WORLD.with(|world| world.serial.get()),
            group,
        }
    }
}

impl Drop for Driving {
    fn drop(&mut self) {
        WORLD.with(|world| {
            if world.serial.get() == self.serial && world.is_running() {
                world.with(|core, _| core.drive_group(self.group, NONE));
            }
        });
    }
}

pin_project! {
    struct RunUntil<F> {
        #[pin]
        future: F,
        driving: Driving,
    }
}

impl<F: Future> Future for RunUntil<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        WORLD.with(|world| {
            if world.is_running() && world.current().is_some() {
                let running = world.running.get();
                world.with(|core, _| core.drive_set(this.driving.group, running));
            }
        });
        this.future.poll(cx)
    }
}
