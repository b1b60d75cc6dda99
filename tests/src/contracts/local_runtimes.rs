//! Runtimes whose tasks need not be `Send`.

use super::rt::{runtime, spawn, task as tasks, task::spawn_local};
use cct_tests::tools::{Tombstone, panic_text};
use cct_tests::{Log, note};
use runtime::{Builder, Handle, LocalOptions, LocalRuntime, RuntimeFlavor};
use std::cell::{Cell, RefCell};
use std::future::pending;
use std::rc::Rc;
use std::time::Duration;

/// Runs the body on a thread that may block.
async fn on_a_thread(body: impl FnOnce() + Send + 'static) {
    tasks::spawn_blocking(body)
        .await
        .expect("the body does not panic");
}

pub(crate) async fn tasks_share_what_is_not_sent(log: Log) {
    on_a_thread(move || {
        let runtime = LocalRuntime::new().unwrap();
        let sum = Rc::new(Cell::new(0));
        let add = |number: i32| {
            let sum = sum.clone();
            async move { sum.set(sum.get() + number) }
        };
        let before = runtime.spawn_local(add(1));
        runtime.block_on(async {
            before.await.unwrap();
            spawn_local(add(2)).await.unwrap();
            let nested = add(4);
            let outer = spawn_local(async move { spawn_local(nested).await.unwrap() });
            outer.await.unwrap();
            let mut set = tasks::JoinSet::new();
            set.spawn_local(add(8));
            set.join_next().await.unwrap().unwrap();
            spawn(async { tasks::yield_now().await }).await.unwrap();
        });
        note!(log, "{}", sum.get());
        note!(log, "{:?}", runtime.handle().runtime_flavor());
        assert_eq!(
            runtime.handle().runtime_flavor(),
            RuntimeFlavor::CurrentThread
        );
    })
    .await;
}

pub(crate) async fn tasks_run_in_block_on_only(log: Log) {
    on_a_thread(move || {
        let runtime = LocalRuntime::new().unwrap();
        let ran = Rc::new(Cell::new(false));
        let inner = ran.clone();
        let task = runtime.spawn_local(async move { inner.set(true) });
        note!(log, "{} {}", ran.get(), task.is_finished());
        runtime.block_on(task).unwrap();
        note!(log, "{}", ran.get());
    })
    .await;
}

pub(crate) async fn local_tasks_never_overlap(_: Log) {
    on_a_thread(move || {
        let runtime = LocalRuntime::new().unwrap();
        let cell = Rc::new(RefCell::new(0));
        let tasks: Vec<_> = (0..3)
            .map(|_| {
                let cell = cell.clone();
                runtime.spawn_local(async move {
                    for _ in 0..3 {
                        *cell.borrow_mut() += 1;
                        tasks::yield_now().await;
                    }
                })
            })
            .collect();
        runtime.block_on(async {
            for task in tasks {
                task.await.unwrap();
            }
        });
        assert_eq!(*cell.borrow(), 9);
    })
    .await;
}

pub(crate) async fn its_tasks_end_with_it_on_the_spot(log: Log) {
    on_a_thread(move || {
        let ways: [fn(LocalRuntime); 3] = [drop, LocalRuntime::shutdown_background, |runtime| {
            runtime.shutdown_timeout(Duration::from_secs(1));
        }];
        for shut_down in ways {
            let runtime = LocalRuntime::new().unwrap();
            let value = Tombstone::new(&log, "waiting");
            let waiting = runtime.spawn_local(async move {
                let _value = value;
                pending::<()>().await;
            });
            runtime.block_on(tasks::yield_now());
            let handle = runtime.handle().clone();
            shut_down(runtime);
            note!(log, "over");
            note!(log, "{}", waiting.is_finished());
            let late = handle.spawn(async {});
            note!(log, "{}", late.is_finished());
        }
    })
    .await;
}

pub(crate) async fn destructors_see_the_runtime(log: Log) {
    struct Spawns(Log);
    impl Drop for Spawns {
        fn drop(&mut self) {
            note!(self.0, "{:?}", Handle::current().runtime_flavor());
            let late = spawn_local(async {});
            note!(self.0, "{}", late.is_finished());
        }
    }
    on_a_thread(move || {
        let runtime = LocalRuntime::new().unwrap();
        let spawns = Spawns(log.clone());
        runtime.spawn_local(async move {
            let _spawns = spawns;
            pending::<()>().await;
        });
        runtime.block_on(tasks::yield_now());
    })
    .await;
}

pub(crate) async fn it_is_entered_on_its_own_thread_only(log: Log) {
    on_a_thread(move || {
        let runtime = LocalRuntime::new().unwrap();
        note!(log, "{}", panic_text(|| drop(spawn_local(async {}))));
        let guard = runtime.enter();
        let inside = spawn_local(async { 3 });
        drop(guard);
        note!(log, "{}", runtime.block_on(inside).unwrap());
        let elsewhere = runtime.spawn_blocking({
            let log = log.clone();
            move || note!(log, "{}", panic_text(|| drop(spawn_local(async {}))))
        });
        runtime.block_on(elsewhere).unwrap();
    })
    .await;
}

pub(crate) async fn it_comes_before_a_set(log: Log) {
    on_a_thread(move || {
        let runtime = LocalRuntime::new().unwrap();
        let set = tasks::LocalSet::new();
        let guard = set.enter();
        // The set is never driven: the task runs, so it is the runtime's.
        note!(
            log,
            "{}",
            runtime.block_on(async { spawn_local(async { 5 }).await.unwrap() })
        );
        drop(guard);
    })
    .await;
}

pub(crate) async fn it_has_one_thread_and_no_more(log: Log) {
    on_a_thread(move || {
        let build = || Builder::new_multi_thread().build_local(LocalOptions::default());
        note!(log, "{}", panic_text(|| drop(build())));
    })
    .await;
}
