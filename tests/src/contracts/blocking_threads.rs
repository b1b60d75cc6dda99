//! Runtimes with few threads for closures that may block.

use super::rt::{runtime, sync::oneshot, task as tasks};
use cct_tests::{Log, note};
use runtime::{Builder, Handle, Runtime};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

fn one_thread(limit: usize) -> Runtime {
    let mut builder = Builder::new_current_thread();
    builder.max_blocking_threads(limit).build().unwrap()
}

fn threads(limit: usize) -> Runtime {
    let mut builder = Builder::new_multi_thread();
    let builder = builder.worker_threads(1).max_blocking_threads(limit);
    builder.build().unwrap()
}

/// Runs the body on a thread that may block, once for each flavor.
async fn on_a_thread(body: impl Fn(fn(usize) -> Runtime) + Send + Sync + Clone + 'static) {
    for build in [one_thread, threads] {
        let body = body.clone();
        let done = tasks::spawn_blocking(move || body(build)).await;
        done.expect("the body does not panic");
    }
}

pub(crate) async fn one_runs_after_the_other(log: Log) {
    on_a_thread(move |build| {
        let (runtime, outer) = (build(1), Handle::current());
        let running = Arc::new(AtomicU32::new(0));
        let closures = [0, 1, 2, 3].map(|number| {
            let (log, running, outer) = (log.clone(), running.clone(), outer.clone());
            runtime.spawn_blocking(move || {
                let others = running.fetch_add(1, SeqCst);
                outer.block_on(tasks::yield_now());
                note!(log, "{number} beside {others}");
                running.fetch_sub(1, SeqCst);
            })
        });
        for closure in closures {
            outer.block_on(closure).unwrap();
        }
    })
    .await;
}

/// How many are in their middle, and how many ever were.
#[derive(Clone, Default)]
struct Running(Arc<[AtomicU32; 2]>);

impl Running {
    fn during(&self, act: impl FnOnce()) {
        let [now, most] = &*self.0;
        most.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
        act();
        now.fetch_sub(1, SeqCst);
    }
}

/// Two run at the same time, as they wait for each other, and two others when they have ended.
pub(crate) async fn as_many_run_as_there_are_threads(log: Log) {
    on_a_thread(move |build| {
        let (runtime, outer) = (build(2), Handle::current());
        let running = Running::default();
        let mut closures = Vec::new();
        for _ in 0..2 {
            let (ask, asked) = oneshot::channel();
            let (answer, answered) = oneshot::channel();
            let [one, other] = [running.clone(), running.clone()];
            closures.push(runtime.spawn_blocking(move || {
                one.during(|| {
                    ask.send(()).unwrap();
                    answered.blocking_recv().unwrap();
                });
            }));
            closures.push(runtime.spawn_blocking(move || {
                other.during(|| {
                    asked.blocking_recv().unwrap();
                    answer.send(()).unwrap();
                });
            }));
        }
        for closure in closures {
            outer.block_on(closure).unwrap();
        }
        note!(log, "{}", running.0[1].load(SeqCst));
    })
    .await;
}

pub(crate) async fn those_that_wait_can_be_aborted(log: Log) {
    on_a_thread(move |build| {
        let (runtime, outer) = (build(1), Handle::current());
        let (go_on, goes_on) = oneshot::channel::<()>();
        let first = runtime.spawn_blocking(move || goes_on.blocking_recv().is_ok());
        let second = runtime.spawn_blocking(|| 2);
        let third = runtime.spawn_blocking(|| 3);
        second.abort();
        note!(log, "{} {}", second.is_finished(), third.is_finished());
        go_on.send(()).unwrap();
        note!(log, "{}", outer.block_on(first).unwrap());
        note!(log, "{}", outer.block_on(second).unwrap_err().is_cancelled());
        note!(log, "{}", outer.block_on(third).unwrap());
    })
    .await;
}

pub(crate) async fn those_that_wait_outlive_the_runtime(log: Log) {
    on_a_thread(move |build| {
        let (runtime, outer) = (build(1), Handle::current());
        let (begun, has_begun) = oneshot::channel();
        let (go_on, goes_on) = oneshot::channel::<()>();
        let first = runtime.spawn_blocking(move || {
            begun.send(()).unwrap();
            goes_on.blocking_recv().is_ok()
        });
        let second = runtime.spawn_blocking(|| 2);
        has_begun.blocking_recv().unwrap();
        runtime.shutdown_background();
        go_on.send(()).unwrap();
        note!(log, "{}", outer.block_on(first).unwrap());
        note!(log, "{}", outer.block_on(second).unwrap());
    })
    .await;
}

pub(crate) async fn a_panic_makes_room(log: Log) {
    on_a_thread(move |build| {
        let (runtime, outer) = (build(1), Handle::current());
        let first = runtime.spawn_blocking(|| std::panic::resume_unwind(Box::new(1)));
        let second = runtime.spawn_blocking(|| 2);
        note!(log, "{}", outer.block_on(second).unwrap());
        let first: Result<(), _> = outer.block_on(first);
        note!(log, "{}", first.unwrap_err().is_panic());
    })
    .await;
}
