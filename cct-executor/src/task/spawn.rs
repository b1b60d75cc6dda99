//! Spawning futures.

use super::body::JoinCell;
use super::handle::JoinHandle;
use super::id::Id;
use super::large::{Boxed, LocalBoxed, is_large};
use crate::execution::core::NONE;
use crate::execution::point::task_resource;
use crate::execution::spawn::Spawn;
use crate::execution::waker::TaskWaker;
use crate::execution::world::{Phase, WORLD, expect_runtime, expect_world};
use crate::raw::shared::{Home, unseen};
use crate::raw::task::{Body, Share};
use crate::runtime::Handle;
use crate::runtime::abroad::entered;
use crate::words::{Access, NodeId, Op, OpKind};
use std::future::pending;
use std::panic::Location;
use std::rc::Rc;

/// How a task is to be spawned.
pub(super) struct Options {
    pub(super) site: &'static Location<'static>,
    pub(super) name: Option<Rc<str>>,
    pub(super) group: u32,
    /// Where it lives; where its spawner does, if `None`.
    pub(super) node: Option<NodeId>,
    /// The runtime it belongs to; where its spawner is, if `None`.
    pub(super) runtime: Option<u16>,
}

impl Options {
    pub(super) fn at(site: &'static Location<'static>) -> Options {
        Options {
            site,
            name: None,
            group: NONE,
            node: None,
            runtime: None,
        }
    }
}

impl Options {
    pub(super) fn on_runtime(self, runtime: u16) -> Options {
        Options {
            runtime: Some(runtime),
            ..self
        }
    }
}

/// Spawns a task.
///
/// # Scheduling points
/// One after the task exists, at granularity `spawn` and finer.
///
/// # Panics
/// Outside a world.
///
/// # Differences from tokio
/// A task whose panic nobody can learn of fails the iteration. Spawned while the world closes, as
/// from a destructor, the future is dropped at once.
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    match is_large::<F>() {
        true => spawn_small(Box::pin(future) as Boxed<F::Output>),
        false => spawn_small(future),
    }
}

#[track_caller]
fn spawn_small<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    if let Some(handle) = abroad() {
        return handle.spawn(future);
    }
    expect_runtime("spawn");
    spawn_with(future, Options::at(Location::caller()))
}

/// The runtime that a thread without a world has entered.
#[inline]
pub(super) fn abroad() -> Option<Handle> {
    let here = WORLD.with(|world| world.phase.get() != Phase::Idle);
    if here { None } else { entered() }
}

/// The serial of the world whose runtime a thread without a world has entered.
#[inline]
pub(crate) fn entered_world() -> Option<u64> {
    abroad().map(|handle| handle.serial())
}

/// Spawns a future.
#[track_caller]
pub(super) fn spawn_with<F>(future: F, options: Options) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    if is_large::<F>() {
        return spawn_with(Box::pin(future) as Boxed<F::Output>, options);
    }
    spawn_body(future, Body::new, options, false)
}

/// Spawns a future that need not be `Send`.
#[track_caller]
pub(super) fn spawn_local_with<F>(future: F, options: Options) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    if is_large::<F>() {
        return spawn_local_with(Box::pin(future) as LocalBoxed<F::Output>, options);
    }
    spawn_body(future, local, options, false)
}

/// Spawns onto a node.
#[track_caller]
pub(crate) fn spawn_on<F>(
    node: NodeId,
    name: Option<&str>,
    site: &'static Location<'static>,
    future: F,
) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let options = Options {
        name: name.map(Into::into),
        node: Some(node),
        ..Options::at(site)
    };
    spawn_with(future, options)
}

/// Spawns onto a runtime.
#[track_caller]
pub(crate) fn spawn_on_runtime<F>(runtime: u16, future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let options = Options::at(Location::caller()).on_runtime(runtime);
    spawn_with(future, options)
}

/// Spawns a future that need not be `Send` onto a runtime of the running task's thread.
#[track_caller]
pub(crate) fn spawn_local_on_runtime<F>(runtime: u16, future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let options = Options::at(Location::caller()).on_runtime(runtime);
    spawn_local_with(future, options)
}

type Made<T> = (Body, Share<JoinCell<T>>);

/// The body of a future that need not be `Send`.
pub(super) fn local<F>(future: F, cell: JoinCell<F::Output>) -> Made<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let waker = cell.separate_waker();
    Body::local(future, cell, waker)
}

/// What is spawned where nothing runs any more.
fn cancelled<F: Future>(
    future: F,
    make: impl FnOnce(F, JoinCell<F::Output>) -> Made<F::Output>,
    home: &'static Home,
) -> JoinHandle<F::Output> {
    let (serial, key, id) = (0, NONE, Id(0));
    let (mut body, cell) = make(future, JoinCell::new(TaskWaker { home, serial, key }, id));
    body.cancel();
    JoinHandle::refused(cell)
}

/// The handle of what was spawned when its world was over.
pub(crate) fn cancelled_after_the_end<T: Send + 'static>() -> JoinHandle<T> {
    cancelled(pending(), Body::new, Home::nobodys())
}

/// Puts a body into the running world's task table.
#[track_caller]
pub(super) fn spawn_body<F: Future>(
    future: F,
    make: impl FnOnce(F, JoinCell<F::Output>) -> Made<F::Output>,
    options: Options,
    blocking: bool,
) -> JoinHandle<F::Output> {
    expect_world(format_args!(
        "spawn must be called inside a scenario, as in a test with #[cct_executor::test] or a \
         closure given to Checker::run"
    ));
    WORLD.with(|world| {
        let home = Home::here().expect("cct bug: a world without a home");
        let serial = world.serial.get();
        if world.phase.get() == Phase::Closing {
            world.count_inert();
            return cancelled(future, make, home);
        }
        let (key, id) = world.with(|core, _| (core.next_key(), Id(core.tasks.len() as u64)));
        let task = TaskWaker { home, serial, key };
        // Nobody else may have the key meanwhile.
        let (body, cell) = unseen(|| make(future, JoinCell::new(task, id)));
        let Options {
            site,
            name,
            group,
            node,
            runtime,
        } = options;
        // A scenario sets its nodes up, and nobody expects one to run before the others are there.
        let of_scenario = node.is_some();
        let spawned = world.with(|core, decider| {
            let parent = world.running.get().key;
            core.spawn(
                parent,
                Spawn {
                    site,
                    name,
                    group,
                    blocking,
                    node,
                    runtime,
                },
                body,
                decider,
            )
        });
        match spawned {
            Ok(spawned) => {
                debug_assert_eq!(
                    spawned, key,
                    "cct bug: a task with the key of another action"
                );
                let resource = task_resource(key);
                let op = Op {
                    kind: OpKind::Spawn,
                    access: Access::Write,
                    resource,
                    site,
                };
                if of_scenario {
                    world.sync_point(op);
                } else {
                    world.spawn_point(op);
                }
            }
            Err(mut body) => {
                // Too many tasks, or a node or a runtime that is down.
                body.cancel();
                drop(body);
                if world.with(|core, _| core.end.is_some()) {
                    world.stop_here();
                }
                return JoinHandle::refused(cell);
            }
        }
        JoinHandle::new(cell)
    })
}
