//! spawn_blocking and block_in_place.

use super::rt::{runtime::Builder, spawn, sync, sync::oneshot, task as tasks, time};
use cct_tests::tools::{Tombstone, payload_text};
use cct_tests::{Log, note};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

pub(crate) async fn the_closure_returns_to_its_joiner(log: Log) {
    note!(log, "{:?}", tasks::spawn_blocking(|| 1).await.unwrap());
    let panicked = tasks::spawn_blocking(|| panic!("on a thread"))
        .await
        .unwrap_err();
    note!(log, "{}", payload_text(panicked.into_panic().as_ref()));
}

pub(crate) async fn it_has_an_id(log: Log) {
    let join = tasks::spawn_blocking(|| (tasks::id(), tasks::try_id()));
    let id = join.id();
    note!(log, "{}", join.await.unwrap() == (id, Some(id)));
}

pub(crate) async fn it_may_spawn_tasks(log: Log) {
    let join = tasks::spawn_blocking(|| spawn(async { 2 }));
    note!(log, "{:?}", join.await.unwrap().await.unwrap());
}

pub(crate) async fn abort_cannot_stop_it_once_it_runs(log: Log) {
    let (started, has_started) = oneshot::channel();
    let (tx, rx) = oneshot::channel();
    let join = tasks::spawn_blocking(move || {
        started.send(()).unwrap();
        rx.blocking_recv().unwrap()
    });
    has_started.await.unwrap();
    join.abort();
    tx.send(3).unwrap();
    note!(log, "{:?}", join.await.unwrap());
}

pub(crate) async fn a_dropped_handle_lets_it_finish(log: Log) {
    let (tx, rx) = oneshot::channel();
    let value = Tombstone::new(&log, "captured");
    drop(tasks::spawn_blocking(move || {
        drop(value);
        tx.send(1).unwrap();
    }));
    note!(log, "{:?}", rx.await);
}

pub(crate) async fn blocked_threads_do_not_stop_tasks(log: Log) {
    let (tx, rx) = oneshot::channel();
    let thread = tasks::spawn_blocking(move || rx.blocking_recv());
    for _ in 0..3 {
        tasks::yield_now().await;
    }
    spawn(async move { tx.send(5).unwrap() }).await.unwrap();
    note!(log, "{:?}", thread.await.unwrap());
}

pub(crate) async fn sleeping_tasks_wake_a_blocked_thread(log: Log) {
    let (tx, rx) = oneshot::channel();
    let start = time::Instant::now();
    let thread = tasks::spawn_blocking(move || rx.blocking_recv());
    tx.send(1).unwrap();
    note!(log, "{:?}", thread.await.unwrap());
    time::sleep(Duration::from_secs(1)).await;
    note!(log, "{:?}", start.elapsed());
}

pub(crate) async fn block_in_place_runs_where_it_is(log: Log) {
    let join = spawn(async {
        let outer = tasks::id();
        tasks::block_in_place(|| tasks::id() == outer)
    });
    note!(log, "{}", join.await.unwrap());
    note!(log, "{}", tasks::block_in_place(|| 1));
}

pub(crate) async fn block_in_place_may_block(log: Log) {
    let (tx, rx) = oneshot::channel();
    let blocked = spawn(async move { tasks::block_in_place(|| rx.blocking_recv()) });
    let sender = spawn(async move { tx.send(7) });
    note!(
        log,
        "{:?} {:?}",
        blocked.await.unwrap(),
        sender.await.unwrap()
    );
}

/// Where the thread of a runtime of one thread cannot be handed over, and where it need not be.
pub(crate) async fn block_in_place_on_one_thread(log: Log) {
    let one_thread = || Builder::new_current_thread().enable_all().build().unwrap();
    let root = tasks::spawn_blocking(move || {
        one_thread().block_on(async { tasks::block_in_place(|| 1) });
    });
    let task = tasks::spawn_blocking(move || {
        one_thread().block_on(async {
            let inner = spawn(async { tasks::block_in_place(|| 1) }).await;
            std::panic::resume_unwind(inner.unwrap_err().into_panic());
        });
    });
    for thread in [root, task] {
        let panic = thread.await.unwrap_err().into_panic();
        note!(log, "{}", payload_text(panic.as_ref()));
    }
    let around = tasks::spawn_blocking(move || {
        let runtime = one_thread();
        tasks::block_in_place(|| runtime.block_on(async { 2 }))
    });
    note!(log, "{}", around.await.unwrap());
}

/// Who gave way in a poll need not wait until what blocks in it is done.
pub(crate) async fn block_in_place_wakes_who_gave_way(log: Log) {
    let (ready, is_ready) = oneshot::channel();
    let (tx, rx) = oneshot::channel();
    let blocked = spawn(async move {
        let mut gives_way = Box::pin(tasks::yield_now());
        let wakes = Arc::new(Wakes::default());
        let waker = Waker::from(wakes.clone());
        assert!(gives_way.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        tasks::block_in_place(|| {
            ready.send(wakes.0.load(SeqCst)).unwrap();
            rx.blocking_recv().unwrap();
        });
    });
    note!(log, "{:?}", is_ready.await.unwrap());
    tx.send(()).unwrap();
    blocked.await.unwrap();
}

#[derive(Default)]
struct Wakes(AtomicU32);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

pub(crate) async fn block_in_place_passes_panics_on(log: Log) {
    let join = spawn(async { tasks::block_in_place(|| panic!("in place")) });
    let error = join.await.unwrap_err();
    note!(log, "{}", payload_text(error.into_panic().as_ref()));
}

/// The message of the panic that ends a task.
async fn how_it_panics<R: Send + 'static>(
    task: impl Future<Output = R> + Send + 'static,
) -> String {
    match spawn(task).await {
        Ok(_) => "no panic".to_owned(),
        Err(error) => payload_text(error.into_panic().as_ref()),
    }
}

pub(crate) async fn a_task_must_not_block(log: Log) {
    let (tx, mut rx) = sync::mpsc::channel::<u8>(1);
    note!(
        log,
        "{}",
        how_it_panics(async move { rx.blocking_recv() }).await
    );
    note!(log, "closed {}", tx.is_closed());
    note!(
        log,
        "{}",
        how_it_panics(async move { tx.blocking_send(1) }).await
    );
    let (_tx, mut rx) = sync::mpsc::unbounded_channel::<u8>();
    note!(
        log,
        "{}",
        how_it_panics(async move { rx.blocking_recv() }).await
    );
    let (_tx, rx) = oneshot::channel::<u8>();
    note!(
        log,
        "{}",
        how_it_panics(async move { rx.blocking_recv() }).await
    );
    let (_tx, mut rx) = sync::broadcast::channel::<u8>(1);
    note!(
        log,
        "{}",
        how_it_panics(async move { rx.blocking_recv() }).await
    );
    let free = async { *sync::Mutex::new(1).blocking_lock() };
    note!(log, "{}", how_it_panics(free).await);
    let free = async { *sync::RwLock::new(1).blocking_read() };
    note!(log, "{}", how_it_panics(free).await);
    let free = async { *sync::RwLock::new(1).blocking_write() };
    note!(log, "{}", how_it_panics(free).await);
}
