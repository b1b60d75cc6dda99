//! What is called when threads of a runtime start and end.

use super::rt::{runtime, spawn, sync::oneshot, task as tasks};
use cct_tests::{Log, note};
use runtime::{Builder, Handle, Runtime};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

#[derive(Clone, Default)]
struct Counts {
    started: Arc<AtomicU32>,
    ended: Arc<AtomicU32>,
}

fn count(one: &AtomicU32) {
    one.fetch_add(1, SeqCst);
}

impl Counts {
    fn hook(&self, builder: &mut Builder) {
        let (started, ended) = (self.started.clone(), self.ended.clone());
        builder
            .on_thread_start(move || count(&started))
            .on_thread_stop(move || count(&ended));
    }

    fn note(&self, log: &Log, when: &str) {
        let (started, ended) = (self.started.load(SeqCst), self.ended.load(SeqCst));
        note!(log, "{when}: {started} started, {ended} ended");
    }
}

/// Runs the body on a thread that may block, once for each flavor.
async fn on_a_thread(body: impl Fn(Builder) + Send + Sync + Clone + 'static) {
    for new in [Builder::new_current_thread, Builder::new_multi_thread] {
        let body = body.clone();
        let mut builder = new();
        builder.worker_threads(3);
        let done = tasks::spawn_blocking(move || body(builder)).await;
        done.expect("the body does not panic");
    }
}

pub(crate) async fn threads_are_told_to_start_and_end(log: Log) {
    on_a_thread(move |mut builder| {
        let counts = Counts::default();
        counts.hook(&mut builder);
        drop(builder.build().unwrap());
        counts.note(&log, "nothing done");
        let again = builder.build().unwrap();
        again.block_on(async { spawn(async {}).await.unwrap() });
        drop(again);
        counts.note(&log, "a task");
        let again = builder.build().unwrap();
        again.block_on(again.spawn_blocking(|| ())).unwrap();
        drop(again);
        counts.note(&log, "a closure");
    })
    .await;
}

pub(crate) async fn a_thread_is_told_before_it_does_anything(log: Log) {
    on_a_thread(move |mut builder| {
        let counts = Counts::default();
        counts.hook(&mut builder);
        let runtime = builder.worker_threads(1).build().unwrap();
        let started = counts.started.clone();
        let seen = runtime.block_on(runtime.spawn(async move { started.load(SeqCst) > 0 }));
        note!(log, "a task: {}", seen.unwrap() || counts.started.load(SeqCst) == 0);
        let started = counts.started.clone();
        let seen = runtime.block_on(runtime.spawn_blocking(move || started.load(SeqCst)));
        note!(log, "a closure: {}", seen.unwrap());
    })
    .await;
}

pub(crate) async fn closures_at_the_same_time_have_a_thread_each(log: Log) {
    on_a_thread(move |mut builder| {
        let counts = Counts::default();
        counts.hook(&mut builder);
        let runtime = builder.build().unwrap();
        let mut others = Vec::new();
        for _ in 0..3 {
            let (go, may_go) = oneshot::channel::<()>();
            let closure = runtime.spawn_blocking(|| may_go.blocking_recv().unwrap());
            others.push((go, closure));
        }
        for (go, closure) in others {
            go.send(()).unwrap();
            runtime.block_on(closure).unwrap();
        }
        drop(runtime);
        counts.note(&log, "three");
    })
    .await;
}

pub(crate) async fn closures_that_share_a_thread(log: Log) {
    on_a_thread(move |mut builder| {
        let counts = Counts::default();
        counts.hook(&mut builder);
        let runtime = builder.max_blocking_threads(1).build().unwrap();
        let (go, may_go) = oneshot::channel::<()>();
        let first = runtime.spawn_blocking(|| may_go.blocking_recv().unwrap());
        let others = [(); 2].map(|()| runtime.spawn_blocking(|| ()));
        go.send(()).unwrap();
        for closure in others.into_iter().chain([first]) {
            runtime.block_on(closure).unwrap();
        }
        drop(runtime);
        counts.note(&log, "one");
    })
    .await;
}

pub(crate) async fn they_are_inside_the_runtime_and_may_block(log: Log) {
    on_a_thread(move |mut builder| {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let here = |seen: &Arc<Mutex<Vec<_>>>| {
            let seen = seen.clone();
            move || {
                let handle = Handle::current();
                let answer = handle.block_on(async { 7 });
                seen.lock().unwrap().push((handle.id(), answer));
            }
        };
        builder.worker_threads(1).on_thread_start(here(&seen)).on_thread_stop(here(&seen));
        let runtime = builder.build().unwrap();
        let id = runtime.handle().id();
        runtime.block_on(runtime.spawn_blocking(|| ())).unwrap();
        drop(runtime);
        let seen = seen.lock().unwrap();
        note!(log, "{} {}", seen.len(), seen.iter().all(|one| *one == (id, 7)));
    })
    .await;
}

pub(crate) async fn a_thread_ends_with_its_closure_after_the_runtime(log: Log) {
    let body = tasks::spawn_blocking(move || {
        let (tx, rx) = oneshot::channel();
        let tx = Mutex::new(Some(tx));
        let mut builder = Builder::new_current_thread();
        builder.on_thread_stop(move || {
            let tx = tx.lock().unwrap().take();
            tx.expect("one thread").send("told").unwrap();
        });
        let runtime: Runtime = builder.build().unwrap();
        let (go, may_go) = oneshot::channel::<()>();
        let (begun, has_begun) = oneshot::channel();
        let closure = runtime.spawn_blocking(move || {
            begun.send(()).unwrap();
            may_go.blocking_recv().unwrap();
        });
        has_begun.blocking_recv().unwrap();
        runtime.shutdown_background();
        let mut rx = rx;
        note!(log, "{:?}", rx.try_recv().is_ok());
        go.send(()).unwrap();
        Handle::current().block_on(closure).unwrap();
        note!(log, "{:?}", rx.blocking_recv());
    });
    body.await.unwrap();
}

pub(crate) async fn the_last_ones_given_are_called(log: Log) {
    on_a_thread(move |mut builder| {
        let (first, second) = (Counts::default(), Counts::default());
        first.hook(&mut builder);
        second.hook(&mut builder);
        let runtime = builder.build().unwrap();
        runtime.block_on(runtime.spawn_blocking(|| ())).unwrap();
        drop(runtime);
        first.note(&log, "first");
        second.note(&log, "second");
    })
    .await;
}
