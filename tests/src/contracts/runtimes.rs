//! Runtimes that a test builds itself, where it may block.

use super::rt::{runtime, spawn, sync::mpsc, sync::oneshot, task as tasks, time};
use cct_tests::tools::{Tombstone, panic_text};
use cct_tests::{Log, note};
use runtime::{Builder, Handle, Runtime, RuntimeFlavor};
use std::future::pending;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn threads() -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().build().unwrap()
}

/// Runs the body on a thread that may block, once for each flavor.
async fn on_a_thread(body: impl Fn(fn() -> Runtime) + Send + Sync + Clone + 'static) {
    for build in [one_thread, threads] {
        let body = body.clone();
        let done = tasks::spawn_blocking(move || body(build)).await;
        done.expect("the body does not panic");
    }
}

pub(crate) async fn it_runs_its_root_and_its_tasks(log: Log) {
    on_a_thread(move |build| {
        let runtime = build();
        let task = runtime.spawn(async { 1 });
        let closure = runtime.spawn_blocking(|| 2);
        let sum = runtime.block_on(async {
            let inner = spawn(async {
                tasks::yield_now().await;
                4
            });
            task.await.unwrap() + closure.await.unwrap() + inner.await.unwrap()
        });
        note!(log, "{sum} {}", runtime.block_on(async { 8 }));
    })
    .await;
}

pub(crate) async fn one_thread_runs_tasks_in_block_on_only(log: Log) {
    let thread = tasks::spawn_blocking(move || {
        let (runtime, outer) = (one_thread(), Handle::current());
        let ran = Arc::new(AtomicBool::new(false));
        let task = runtime.spawn({
            let ran = ran.clone();
            async move { ran.store(true, SeqCst) }
        });
        outer.block_on(async {
            for _ in 0..3 {
                tasks::yield_now().await;
            }
        });
        note!(log, "{}", ran.load(SeqCst));
        runtime.block_on(task).unwrap();
        note!(log, "{}", ran.load(SeqCst));
    });
    thread.await.unwrap();
}

pub(crate) async fn one_thread_runs_one_thing_at_a_time(log: Log) {
    let thread = tasks::spawn_blocking(move || {
        let runtime = one_thread();
        let (tx, mut rx) = mpsc::channel(8);
        let busy = Arc::new(AtomicBool::new(false));
        let step = |tx: mpsc::Sender<u32>, busy: Arc<AtomicBool>| async move {
            for _ in 0..3 {
                assert!(!busy.swap(true, SeqCst), "two things at the same time");
                tx.send(1).await.unwrap(); // there is room
                busy.store(false, SeqCst);
                tasks::yield_now().await;
            }
        };
        let other = runtime.spawn(step(tx.clone(), busy.clone()));
        let sum = runtime.block_on(async {
            step(tx, busy).await;
            other.await.unwrap();
            let mut sum = 0;
            while let Some(one) = rx.recv().await {
                sum += one;
            }
            sum
        });
        note!(log, "{sum}");
    });
    thread.await.unwrap();
}

pub(crate) async fn its_tasks_end_with_it(log: Log) {
    on_a_thread(move |build| {
        let runtime = build();
        let outer = Handle::current();
        let value = Tombstone::new(&log, "captured");
        let (started, has_started) = oneshot::channel();
        let task = runtime.spawn(async move {
            let _value = value;
            started.send(()).unwrap();
            pending::<()>().await;
        });
        runtime.block_on(has_started).unwrap();
        let handle = runtime.handle().clone();
        drop(runtime);
        note!(log, "{}", outer.block_on(task).unwrap_err().is_cancelled());
        let late = Tombstone::new(&log, "late");
        let task = handle.spawn(async move { drop(late) });
        note!(log, "{}", outer.block_on(task).unwrap_err().is_cancelled());
        let task = handle.spawn_blocking(|| ());
        note!(log, "{}", outer.block_on(task).unwrap_err().is_cancelled());
    })
    .await;
}

pub(crate) async fn it_waits_for_its_blocking_closures(log: Log) {
    on_a_thread(move |build| {
        let runtime = build();
        let outer = Handle::current();
        let (started, has_started) = oneshot::channel();
        let (tx, rx) = oneshot::channel::<()>();
        let ended = Arc::new(AtomicBool::new(false));
        drop(runtime.spawn_blocking({
            let ended = ended.clone();
            move || {
                started.send(()).unwrap();
                rx.blocking_recv().unwrap();
                ended.store(true, SeqCst);
            }
        }));
        has_started.blocking_recv().unwrap();
        drop(outer.spawn(async move { tx.send(()).unwrap() }));
        drop(runtime);
        note!(log, "{}", ended.load(SeqCst));
    })
    .await;
}

pub(crate) async fn closures_that_have_not_begun_run_all_the_same(log: Log) {
    on_a_thread(move |build| {
        let outer = Handle::current();
        for end in [drop as fn(Runtime), Runtime::shutdown_background] {
            let runtime = build();
            let closure = runtime.spawn_blocking(|| 42);
            end(runtime);
            note!(log, "{:?}", outer.block_on(closure).unwrap());
        }
    })
    .await;
}

pub(crate) async fn a_limit_to_waiting(log: Log) {
    on_a_thread(move |build| {
        let runtime = build();
        let (started, has_started) = oneshot::channel();
        let (tx, rx) = oneshot::channel::<()>();
        let closure = runtime.spawn_blocking(move || {
            started.send(()).unwrap();
            rx.blocking_recv().is_ok()
        });
        has_started.blocking_recv().unwrap();
        runtime.shutdown_timeout(Duration::from_millis(5));
        tx.send(()).unwrap();
        note!(log, "{:?}", Handle::current().block_on(closure).unwrap());
        build().shutdown_background();
    })
    .await;
}

pub(crate) async fn what_is_spawned_belongs_to_its_spawners(log: Log) {
    on_a_thread(move |build| {
        let (runtime, outer) = (build(), Handle::current());
        let (mine, theirs) = (runtime.handle().id(), outer.id());
        let ids = runtime.block_on(async {
            let task = spawn(async { Handle::current().id() }).await.unwrap();
            let closure = tasks::spawn_blocking(|| Handle::current().id());
            [Handle::current().id(), task, closure.await.unwrap()]
        });
        note!(log, "{} {}", ids.iter().all(|id| *id == mine), mine == theirs);
        note!(log, "{}", Handle::current().id() == theirs);
        let foreign = runtime.block_on(outer.spawn(async { Handle::current().id() }));
        note!(log, "{}", foreign.unwrap() == theirs);
        let one = runtime.handle().runtime_flavor() == RuntimeFlavor::CurrentThread;
        note!(log, "{one}");
    })
    .await;
}

pub(crate) async fn it_is_entered_and_left(log: Log) {
    on_a_thread(move |build| {
        let (one, two) = (build(), build());
        let outer = Handle::current().id();
        let here = || match Handle::current().id() {
            id if id == one.handle().id() => "one",
            id if id == two.handle().id() => "two",
            id if id == outer => "outer",
            _ => "elsewhere",
        };
        let in_one = one.enter();
        note!(log, "{}", here());
        {
            let _in_two = two.handle().enter();
            note!(log, "{}", here());
        }
        note!(log, "{}", here());
        drop(in_one);
        note!(log, "{}", here());
        let guard = one.enter();
        let task = spawn(pending::<()>());
        drop(guard);
        drop(one);
        let ended = two.block_on(task).unwrap_err().is_cancelled();
        note!(log, "{ended}");
    })
    .await;
}

pub(crate) async fn guards_go_in_reverse_order(log: Log) {
    let thread = tasks::spawn_blocking(move || {
        let (one, two) = (one_thread(), one_thread());
        let (first, second) = (one.enter(), two.enter());
        note!(log, "{}", panic_text(|| drop(first)));
        drop(second);
    });
    // tokio's thread is left in the runtime of the guard that went too early.
    thread.await.unwrap();
}

pub(crate) async fn a_task_may_not_wait_for_it(log: Log) {
    for build in [one_thread, threads] {
        let runtime = build();
        for text in [
            panic_text(|| runtime.block_on(async {})),
            panic_text(|| runtime.handle().block_on(async {})),
        ] {
            note!(log, "{}", &text[..48]);
        }
        note!(log, "{}", panic_text(|| drop(runtime)));
        build().shutdown_background();
        let given_away = build();
        tasks::spawn_blocking(move || drop(given_away)).await.unwrap();
    }
}

pub(crate) async fn a_local_set_runs_on_it(log: Log) {
    on_a_thread(move |build| {
        let (runtime, local) = (build(), tasks::LocalSet::new());
        let before = local.spawn_local(async { 1 });
        let sum = local.block_on(&runtime, async {
            let inside = tasks::spawn_local(async {
                tasks::yield_now().await;
                2
            });
            before.await.unwrap() + inside.await.unwrap()
        });
        note!(log, "{sum}");
        let outside = panic_text(|| runtime.block_on(async { drop(tasks::spawn_local(async {})) }));
        note!(log, "{outside}");
    })
    .await;
}

pub(crate) async fn a_local_set_shares_the_one_thread(log: Log) {
    let thread = tasks::spawn_blocking(move || {
        let (runtime, local) = (one_thread(), tasks::LocalSet::new());
        let (tx, mut rx) = mpsc::channel(20);
        let busy = Arc::new(AtomicBool::new(false));
        let step = || {
            let (tx, busy) = (tx.clone(), busy.clone());
            async move {
                for _ in 0..3 {
                    assert!(!busy.swap(true, SeqCst), "two things at the same time");
                    tx.send(1).await.unwrap(); // there is room
                    drop(spawn(async {}));
                    busy.store(false, SeqCst);
                    tasks::yield_now().await;
                }
            }
        };
        let (before, locally) = (runtime.spawn(step()), local.spawn_local(step()));
        let (after, nested, root) = (step(), step(), step());
        local.block_on(&runtime, async {
            let inner = tasks::spawn_local(async { tasks::spawn_local(nested).await.unwrap() });
            let after = spawn(after);
            root.await;
            for task in [before, locally, inner, after] {
                task.await.unwrap();
            }
        });
        drop(tx);
        let mut sum = 0;
        while let Ok(one) = rx.try_recv() {
            sum += one;
        }
        note!(log, "{sum}");
    });
    thread.await.unwrap();
}

pub(crate) async fn two_threads_drive_one(log: Log) {
    let thread = tasks::spawn_blocking(move || {
        let runtime = Arc::new(one_thread());
        let (tx, rx) = oneshot::channel();
        let (go_on, may_go_on) = oneshot::channel::<()>();
        let task = runtime.spawn(async move {
            may_go_on.await.unwrap();
            tx.send(5).unwrap();
        });
        let theirs = runtime.clone();
        let other = Handle::current().spawn_blocking(move || theirs.block_on(rx).unwrap());
        runtime.block_on(async {
            tasks::yield_now().await;
            go_on.send(()).unwrap();
        });
        // The other thread runs the task, whoever began.
        note!(log, "{}", Handle::current().block_on(other).unwrap());
        runtime.block_on(task).unwrap();
    });
    thread.await.unwrap();
}

pub(crate) async fn its_root_has_a_budget(log: Log) {
    on_a_thread(move |build| {
        let runtime = build();
        let (tx, mut rx) = mpsc::unbounded_channel();
        (0..300).for_each(|i| tx.send(i).unwrap());
        drop(tx);
        let mut polls = 0;
        let mut root = Box::pin(async {
            let mut count = 0;
            while rx.recv().await.is_some() {
                count += 1;
            }
            count
        });
        let count = runtime.block_on(std::future::poll_fn(|cx| {
            polls += 1;
            root.as_mut().poll(cx)
        }));
        note!(log, "{count} in {polls} polls");
    })
    .await;
}

pub(crate) async fn wakers_of_others_work_in_it(log: Log) {
    on_a_thread(move |build| {
        use futures::stream::{FuturesUnordered, StreamExt};
        let runtime = build();
        let all: FuturesUnordered<_> = (0..3)
            .map(|i| async move {
                tasks::yield_now().await;
                i
            })
            .collect();
        let sum = runtime.block_on(all.fold(0, |sum, i| async move { sum + i }));
        note!(log, "{sum}");
    })
    .await;
}

/// Runs its runtime when it is dropped, until the task there has told.
struct RunsAtItsEnd(Runtime, Option<oneshot::Receiver<()>>);

impl Wake for RunsAtItsEnd {
    fn wake(self: Arc<Self>) {}
}

impl Drop for RunsAtItsEnd {
    fn drop(&mut self) {
        let told = self.1.take().unwrap();
        self.0.block_on(told).unwrap();
    }
}

pub(crate) async fn a_replaced_waker_may_run_it(log: Log) {
    let thread = tasks::spawn_blocking(move || {
        let runtime = one_thread();
        let mut set = tasks::JoinSet::new();
        let (tx, rx) = oneshot::channel();
        let task = async move {
            tx.send(()).unwrap();
            7
        };
        set.spawn_on(task, runtime.handle());
        let waker = Waker::from(Arc::new(RunsAtItsEnd(runtime, Some(rx))));
        let mut poll = |waker: &Waker| {
            let polled = set.poll_join_next(&mut Context::from_waker(waker));
            polled.map(|joined| joined.unwrap().unwrap())
        };
        note!(log, "{:?}", poll(&waker));
        drop(waker); // the set has a clone, which it drops in the next poll
        note!(log, "{:?}", poll(Waker::noop()));
        note!(log, "{:?}", poll(Waker::noop()));
    });
    thread.await.unwrap();
}

pub(crate) async fn its_clock_is_the_tests(log: Log) {
    let start = time::Instant::now();
    let thread = tasks::spawn_blocking(move || {
        let runtime = one_thread();
        runtime.block_on(async {
            let early = time::timeout(Duration::from_millis(1), pending::<()>()).await;
            early.is_err()
        })
    });
    note!(log, "{}", thread.await.unwrap());
    note!(log, "{}", start.elapsed() < Duration::from_secs(60));
}

pub(crate) async fn errors_of_its_end_are_known_by_their_words(log: Log) {
    let words = "A Tokio 1.x context was found, but it is being shutdown.";
    let errors = [
        io::Error::other(words),
        io::Error::other(io::Error::other(words)),
        io::Error::other(format!("{words} ")),
        io::Error::new(io::ErrorKind::InvalidInput, words),
        io::Error::from_raw_os_error(5),
        io::ErrorKind::Other.into(),
    ];
    for error in &errors {
        note!(log, "{}", runtime::is_rt_shutdown_err(error));
    }
}

/// What is counted of tasks. That a task has ended is counted some time after others learn of it.
pub(crate) async fn tasks_are_counted(log: Log) {
    on_a_thread(move |build| {
        let runtime = build();
        let metrics = runtime.metrics();
        note!(log, "{} workers", metrics.num_workers());
        note!(log, "{} at first", metrics.num_alive_tasks());
        let (stop, stopped) = oneshot::channel::<()>();
        let task = runtime.spawn(async move {
            let inner = spawn(pending::<()>());
            let here = Handle::current().metrics().num_alive_tasks();
            let _ = stopped.await;
            inner.abort();
            assert!(inner.await.unwrap_err().is_cancelled());
            here
        });
        let closure = runtime.spawn_blocking(|| 1);
        let set = tasks::LocalSet::new();
        set.spawn_local(pending::<()>());
        runtime.block_on(async {
            while metrics.num_alive_tasks() < 2 {
                tasks::yield_now().await;
            }
            assert_eq!(closure.await.unwrap(), 1);
        });
        note!(log, "{} meanwhile", metrics.num_alive_tasks());
        stop.send(()).unwrap();
        note!(log, "{} inside", runtime.block_on(task).unwrap());
        runtime.block_on(async {
            while metrics.num_alive_tasks() > 0 {
                tasks::yield_now().await;
            }
        });
        drop(set);
        note!(log, "{} at the end", metrics.num_alive_tasks());
    })
    .await;
}

pub(crate) async fn workers_have_numbers(log: Log) {
    let blocking = tasks::spawn_blocking(runtime::worker_index);
    note!(log, "closure: {:?}", blocking.await.unwrap());
    on_a_thread(move |build| {
        let runtime = build();
        let kind = runtime.handle().runtime_flavor();
        note!(log, "{kind:?}, outside: {:?}", runtime::worker_index());
        let root = runtime.block_on(async { runtime::worker_index() });
        note!(log, "root: {root:?}");
        let task = runtime.spawn(async { runtime::worker_index() });
        let task = runtime.block_on(task).unwrap();
        note!(log, "task: {}", task.is_some_and(|index| index < 2));
    })
    .await;
}
