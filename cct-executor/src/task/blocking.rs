//! The blocking world: closures that may block, and waiting for futures in them.
//!
//! A blocking closure is a task whose one poll is the closure. Where it waits, the poll is
//! suspended on its stack; every wait is a scheduling point, so nesting cannot deadlock by itself.

use super::handle::JoinHandle;
use super::large::{BoxedClosure, is_large};
use super::last_waits;
use super::spawn::{Options, abroad, local, spawn_body};
use crate::execution::core::NONE;
use crate::execution::strangers::as_on_a_thread;
use crate::execution::waker::TaskWaker;
use crate::execution::world::{Phase, Running, WORLD, World, expect_runtime};
use crate::raw::shared::Home;
use crate::runtime::hooks::on_a_thread;
use std::future::poll_fn;
use std::panic::Location;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

/// Runs a closure that may block, as a task of its own.
///
/// # Scheduling points
/// One wherever the closure waits, and, at granularity `spawn` and finer, one after it was spawned.
///
/// # Panics
/// Outside a world.
///
/// # Differences from tokio
/// The closure runs on the world's only thread. Waiting by means the world does not know stops the world. Locks and condition
/// variables of `std`, and its `thread::sleep`, are known on Linux. Channels of `std` pass over who waits on the thread that sends:
/// a test with the attribute that hangs on that is run once, with a thread for each closure, where tests without it are run at all.
#[track_caller]
pub fn spawn_blocking<F, R>(f: F) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    if is_large::<F>() {
        return spawn_blocking(Box::new(f) as BoxedClosure<R>);
    }
    if let Some(handle) = abroad() {
        return handle.spawn_blocking(f);
    }
    expect_runtime("spawn_blocking");
    spawn_blocking_with(f, Options::at(Location::caller()))
}

/// As [`spawn_blocking`](crate::task::spawn_blocking()), on behalf of user code at `site`: for shims that
/// hand work to tokio's pool. Awaiting it is told as done there, too. Reports call the task by this name.
///
/// # Panics
/// Outside a world.
#[track_caller]
pub fn spawn_blocking_at<F, R>(
    site: &'static Location<'static>,
    name: &'static str,
    f: F,
) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    // Where nobody will read it, it would only take time.
    let name = WORLD.with(|world| world.recording.get().then(|| name.into()));
    let options = Options {
        name,
        ..Options::at(site)
    };
    spawn_blocking_with(f, options).on_behalf_of(site)
}

/// Runs a closure that may block, as a task of a runtime.
#[track_caller]
pub(crate) fn spawn_blocking_on_runtime<F, R>(runtime: u16, f: F) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    let options = Options::at(Location::caller()).on_runtime(runtime);
    spawn_blocking_with(f, options)
}

/// A future whose one poll is the closure, which may block.
pub(crate) fn blocking_body<R>(f: impl FnOnce() -> R) -> impl Future<Output = R> {
    let mut closure = Some(f);
    poll_fn(move |_| {
        let closure = closure.take().expect("cct bug: a closure runs twice");
        Poll::Ready(allow_blocking(closure))
    })
}

#[track_caller]
pub(super) fn spawn_blocking_with<F, R>(f: F, options: Options) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    if is_large::<F>() {
        return spawn_blocking_with(Box::new(f) as BoxedClosure<R>, options);
    }
    // It waits with wakers of its own.
    let body = blocking_body(|| as_on_a_thread(|| on_a_thread(f)));
    spawn_body(body, local, options, true)
}

/// Runs a closure that may block in the middle of an asynchronous task. Who gave way in the same poll is
/// woken first.
///
/// # Panics
/// In a task of a `LocalSet` or of a runtime of one thread, and in the `block_on` of such a runtime: they
/// cannot hand their thread over.
#[track_caller]
pub fn block_in_place<F, R>(f: F) -> R
where
    F: FnOnce() -> R,
{
    let keeps_its_thread = WORLD.with(|world| {
        let key = world.current()?;
        let (grouped, alone) =
            world.with(|core, _| (core.group_of(key) != NONE, core.is_on_the_only_thread(key)));
        Some(grouped || alone && !may_block())
    });
    assert!(
        keeps_its_thread != Some(true),
        "can call blocking only when running on the multi-threaded runtime"
    );
    WORLD.with(World::wake_deferred);
    allow_blocking(f)
}

/// From now on the world's thread cannot be handed over: its runtime is said to have no other.
pub(crate) fn one_thread_from_now_on() {
    WORLD.with(|world| world.with(|core, _| core.runtimes.give_the_world_one_thread()));
}

/// Runs `f` where blocking calls are allowed.
pub(crate) fn allow_blocking<R>(f: impl FnOnce() -> R) -> R {
    WORLD.with(|world| {
        world.with_running(
            |running| {
                running.may_block = true;
                running.unscheduled = true;
                running.budget = Running::UNLIMITED;
            },
            |now, before| {
                now.may_block = before.may_block;
                now.unscheduled = before.unscheduled;
                now.budget = before.budget;
            },
            f,
        )
    })
}

/// The root of a runtime of several threads: none of them runs it, its `block_on` polls it.
pub(crate) async fn unscheduled<F: Future>(root: F) -> F::Output {
    let mut root = pin!(root);
    poll_fn(|cx| {
        WORLD.with(|world| {
            world.with_running(
                |running| running.unscheduled = true,
                |now, before| now.unscheduled = before.unscheduled,
                || root.as_mut().poll(cx),
            )
        })
    })
    .await
}

/// Whether the running code may wait by blocking: it is no asynchronous task, or nothing waits any
/// more.
pub(crate) fn may_block() -> bool {
    WORLD.with(|world| {
        let running = world.running.get();
        world.phase.get() != Phase::Running || running.key == NONE || running.may_block
    })
}

/// Waits for a future where blocking is allowed, as `blocking_*` methods do.
///
/// Inside a world the blocking task is suspended until the future is ready. Outside, the thread
/// is parked.
///
/// # Scheduling points
/// Those of the future, and one wherever it waits.
///
/// # Panics
/// Inside an asynchronous task, as tokio does.
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    let site = Location::caller();
    let future = pin!(future);
    // Not in the closure, which would be the place of the panic.
    assert!(
        may_block(),
        "Cannot block the current thread from within a runtime. This happens because a function \
         attempted to block the current thread while the thread is being used to drive \
         asynchronous tasks."
    );
    WORLD.with(|world| match world.phase.get() {
        Phase::Closing => last_waits::wait(world, future, site),
        Phase::Running if world.running.get().key != NONE => in_world(world, future, site),
        _ => on_thread(future),
    })
}

fn in_world<F: Future>(
    world: &World,
    mut future: Pin<&mut F>,
    site: &'static Location<'static>,
) -> F::Output {
    let key = world.running.get().key;
    let home = Home::here().expect("cct bug: a world without home");
    let serial = world.serial.get();
    let waker = TaskWaker { home, serial, key }.apart();
    let mut cx = Context::from_waker(&waker);
    let budget = world.with(|core, _| core.budget_of_a_poll());
    loop {
        let drives = world.with(|core, _| core.drives_its_runtime(key));
        let polled = world.with_running(
            |running| {
                running.waker = waker.data();
                running.budget = budget;
                running.may_block = false;
                running.unscheduled = !drives;
                running.untouched = false;
                running.poll = world.next_poll();
            },
            |now, before| {
                now.waker = before.waker;
                now.budget = before.budget;
                now.may_block = before.may_block;
                now.unscheduled = before.unscheduled;
                now.poll = before.poll;
            },
            || future.as_mut().poll(&mut cx),
        );
        match polled {
            Poll::Ready(output) => return output,
            Poll::Pending if world.is_running() => {
                world.fire_advanced(key);
                world.wake_deferred();
                world.park(site);
            }
            Poll::Pending => {}
        }
        if !world.is_running() {
            return last_waits::wait(world, future, site);
        }
    }
}

struct Unpark(std::thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn on_thread<F: Future>(mut future: Pin<&mut F>) -> F::Output {
    #[expect(
        clippy::disallowed_methods,
        reason = "outside a world, where nothing is decided"
    )]
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        std::thread::park();
    }
}
