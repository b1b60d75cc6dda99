//! When a waker is called that is not the task's own, as that of a combinator, after who it belongs to has
//! given way: once the poll has returned where a scheduler runs it, else at once.

use super::rt::{runtime, spawn, sync::mpsc, task as tasks};
use cct_tests::tools::WakeCount;
use cct_tests::{Log, note};
use futures::stream::{FuturesUnordered, StreamExt};
use runtime::{Builder, Handle, Runtime};
use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};

fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn threads() -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().build().unwrap()
}

/// How often a waker has been called when the poll that gave way with it goes on.
fn woken_by_a_yield() -> usize {
    let (count, waker) = WakeCount::new();
    let mut yields = pin!(tasks::yield_now());
    assert!(yields.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    count.get()
}

/// The same for who gives way since its budget is spent.
async fn woken_by_an_empty_budget() -> usize {
    let (tx, mut rx) = mpsc::unbounded_channel();
    (0..200).for_each(|i| tx.send(i).unwrap());
    poll_fn(move |_| {
        let (count, waker) = WakeCount::new();
        let mut cx = Context::from_waker(&waker);
        while rx.poll_recv(&mut cx).is_ready() {}
        Poll::Ready(count.get())
    })
    .await
}

async fn woken() -> (usize, usize) {
    (woken_by_a_yield(), woken_by_an_empty_budget().await)
}

pub(crate) async fn in_the_root_of_a_runtime(log: Log) {
    let thread = tasks::spawn_blocking(move || {
        note!(log, "one thread: {:?}", one_thread().block_on(woken()));
        note!(log, "threads: {:?}", threads().block_on(woken()));
    });
    thread.await.unwrap();
}

pub(crate) async fn in_tasks(log: Log) {
    note!(log, "a task: {:?}", spawn(woken()).await.unwrap());
    let in_a_closure = tasks::spawn_blocking(move || {
        for runtime in [one_thread(), threads()] {
            let task = runtime.block_on(async { spawn(woken()).await.unwrap() });
            let set = tasks::LocalSet::new();
            let local = set.block_on(&runtime, async {
                tasks::spawn_local(woken()).await.unwrap()
            });
            note!(log, "a task: {task:?}, of a set: {local:?}");
        }
    });
    in_a_closure.await.unwrap();
}

pub(crate) async fn where_blocking_is_allowed(log: Log) {
    let thread = tasks::spawn_blocking(move || {
        note!(log, "a closure: {}", woken_by_a_yield());
        note!(log, "its handle: {:?}", Handle::current().block_on(woken()));
        let runtime = one_thread();
        note!(log, "another's: {:?}", runtime.handle().block_on(woken()));
    });
    thread.await.unwrap();
}

pub(crate) async fn in_block_in_place(log: Log) {
    let task = spawn(async move {
        note!(log, "before: {:?}", woken().await);
        tasks::block_in_place(|| {
            note!(log, "a closure: {}", woken_by_a_yield());
            note!(log, "its handle: {:?}", Handle::current().block_on(woken()));
        });
    });
    task.await.unwrap();
}

/// The one place beside another `block_on` of the same runtime, whose task runs the tasks.
pub(crate) async fn in_a_second_root(log: Log) {
    let runtime = Arc::new(one_thread());
    let (ready, mut is_ready) = mpsc::unbounded_channel();
    let (over, mut is_over) = mpsc::unbounded_channel::<()>();
    let first = {
        let runtime = runtime.clone();
        tasks::spawn_blocking(move || {
            runtime.block_on(async {
                ready.send(()).unwrap();
                is_over.recv().await;
                woken().await
            })
        })
    };
    is_ready.recv().await.unwrap();
    let second = tasks::spawn_blocking(move || runtime.block_on(woken()));
    note!(log, "the second: {:?}", second.await.unwrap());
    over.send(()).unwrap();
    note!(log, "the first: {:?}", first.await.unwrap());
}

/// How often the root of a runtime is polled until a set of futures that yield is through.
fn polls_of_a_set(runtime: &Runtime) -> usize {
    let polls = Cell::new(0);
    let mut set: FuturesUnordered<_> = (0..4).map(|_| tasks::yield_now()).collect();
    runtime.block_on(async {
        let mut all = pin!(async { while set.next().await.is_some() {} });
        poll_fn(|cx| {
            polls.set(polls.get() + 1);
            all.as_mut().poll(cx)
        })
        .await;
    });
    polls.get()
}

pub(crate) async fn a_set_of_futures_sees_it(log: Log) {
    let thread = tasks::spawn_blocking(move || {
        note!(log, "one thread: {} polls", polls_of_a_set(&one_thread()));
        note!(log, "threads: {} polls", polls_of_a_set(&threads()));
    });
    thread.await.unwrap();
}
