//! LocalSet and spawn_local.

use super::rt::{
    runtime::Handle, spawn, sync::oneshot, task as tasks, task::LocalSet, task::spawn_local, time,
};
use cct_tests::tools::{Tombstone, panic_text, payload_text};
use cct_tests::{Log, note};
use std::cell::{Cell, RefCell};
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

pub(crate) async fn run_until_returns_the_output(log: Log) {
    let local = LocalSet::new();
    let output = local
        .run_until(async {
            let shared = Rc::new(Cell::new(1));
            let clone = shared.clone();
            spawn_local(async move { clone.set(2) }).await.unwrap();
            shared.get()
        })
        .await;
    note!(log, "{output}");
}

pub(crate) async fn awaiting_the_set_runs_every_task(log: Log) {
    let local = LocalSet::new();
    let done = Rc::new(Cell::new(0));
    for _ in 0..3 {
        let done = done.clone();
        local.spawn_local(async move {
            tasks::yield_now().await;
            done.set(done.get() + 1);
        });
    }
    let outer = done.clone();
    local.spawn_local(async move {
        spawn_local(async move { outer.set(outer.get() + 10) });
    });
    local.await;
    note!(log, "{}", done.get());
}

pub(crate) async fn tasks_rest_while_nobody_drives_the_set(log: Log) {
    let local = LocalSet::new();
    let ran = Rc::new(Cell::new(false));
    let clone = ran.clone();
    let join = local.spawn_local(async move { clone.set(true) });
    for _ in 0..3 {
        tasks::yield_now().await;
    }
    note!(log, "{} {}", ran.get(), join.is_finished());
    local.await;
    note!(log, "{} {:?}", ran.get(), join.await.is_ok());
}

pub(crate) async fn spawn_local_needs_a_set(log: Log) {
    note!(log, "{}", panic_text(|| drop(spawn_local(async {}))));
    let payload = spawn(async { drop(spawn_local(async {})) })
        .await
        .unwrap_err()
        .into_panic();
    note!(log, "{}", payload_text(payload.as_ref()));
}

pub(crate) async fn enter_makes_the_set_current(log: Log) {
    let local = LocalSet::new();
    let guard = local.enter();
    let join = spawn_local(async { 3 });
    drop(guard);
    note!(log, "{}", panic_text(|| drop(spawn_local(async {}))));
    note!(log, "{:?}", local.run_until(join).await.unwrap());
}

pub(crate) async fn a_dropped_set_drops_its_tasks(log: Log) {
    let local = LocalSet::new();
    let (started, has_started) = oneshot::channel();
    let value = Tombstone::new(&log, "waiting");
    let waiting = local.spawn_local(async move {
        let _value = value;
        started.send(()).unwrap();
        pending::<()>().await;
    });
    local.run_until(has_started).await.unwrap();
    let value = Tombstone::new(&log, "unpolled");
    let unpolled = local.spawn_local(async move { drop(value) });
    note!(log, "driven");
    drop(local);
    note!(log, "dropped the set");
    note!(log, "{}", unpolled.await.unwrap_err().is_cancelled());
    note!(log, "{}", waiting.await.unwrap_err().is_cancelled());
}

pub(crate) async fn a_pending_run_until_gives_every_task_a_turn(log: Log) {
    let local = LocalSet::new();
    let ran = Rc::new(Cell::new(0));
    for _ in 0..3 {
        let ran = ran.clone();
        local.spawn_local(async move { ran.set(ran.get() + 1) });
    }
    let mut polled = false;
    local
        .run_until(poll_fn(|cx| {
            if std::mem::replace(&mut polled, true) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        }))
        .await;
    note!(log, "{}", ran.get());
}

pub(crate) async fn panics_and_aborts_are_results(log: Log) {
    let local = LocalSet::new();
    let bad = local.spawn_local(async { panic!("local") });
    let gone = local.spawn_local(pending::<()>());
    gone.abort();
    local
        .run_until(async {
            note!(log, "{}", bad.await.unwrap_err().is_panic());
            note!(log, "{}", gone.await.unwrap_err().is_cancelled());
        })
        .await;
}

pub(crate) async fn local_tasks_reach_the_world_outside(log: Log) {
    let local = LocalSet::new();
    let (tx, rx) = oneshot::channel();
    let (back, answer) = oneshot::channel();
    let echo = spawn(async move { back.send(rx.await.unwrap() + 1).unwrap() });
    let join = local.spawn_local(async move {
        tx.send(1).unwrap();
        answer.await.unwrap()
    });
    note!(log, "{:?}", local.run_until(join).await.unwrap());
    echo.await.unwrap();
}

pub(crate) async fn local_tasks_never_overlap_inside_a_poll(_: Log) {
    let local = LocalSet::new();
    let shared = Rc::new(RefCell::new(0));
    for _ in 0..4 {
        let shared = shared.clone();
        local.spawn_local(async move {
            for _ in 0..3 {
                {
                    let mut guard = shared.borrow_mut();
                    let (tx, mut rx) = oneshot::channel();
                    tx.send(1).unwrap();
                    *guard += rx.try_recv().unwrap();
                }
                tasks::yield_now().await;
            }
        });
    }
    local.await;
    assert_eq!(*shared.borrow(), 12);
}

pub(crate) async fn local_sleeps_follow_the_clock(log: Log) {
    let local = LocalSet::new();
    let order = Rc::new(RefCell::new(Vec::new()));
    let start = time::Instant::now();
    for pause in [3, 1, 2] {
        let order = order.clone();
        local.spawn_local(async move {
            time::sleep(Duration::from_millis(pause)).await;
            order.borrow_mut().push(pause);
        });
    }
    local.await;
    note!(log, "{:?} {:?}", order.borrow(), start.elapsed());
}

pub(crate) async fn join_sets_hold_local_tasks(log: Log) {
    let local = LocalSet::new();
    let mut set = tasks::JoinSet::new();
    let shared = Rc::new(Cell::new(0));
    for _ in 0..3 {
        let shared = shared.clone();
        set.spawn_local_on(async move { shared.set(shared.get() + 1) }, &local);
    }
    local
        .run_until(async {
            let shared = shared.clone();
            set.spawn_local(async move { shared.set(shared.get() + 10) });
            while let Some(result) = set.join_next().await {
                result.unwrap();
            }
        })
        .await;
    note!(log, "{}", shared.get());
}

pub(crate) async fn sets_can_nest(log: Log) {
    let outer = LocalSet::new();
    let value = outer
        .run_until(async {
            let inner = LocalSet::new();
            let join = inner.spawn_local(async { Rc::new(4) });
            inner.run_until(async { *join.await.unwrap() }).await
        })
        .await;
    note!(log, "{value}");
}

pub(crate) async fn local_tasks_start_in_order(log: Log) {
    let local = LocalSet::new();
    for name in ["a", "b", "c"] {
        let log = log.clone();
        local.spawn_local(async move {
            note!(log, "{name}");
            let later = log.clone();
            spawn_local(async move { note!(later, "after {name}") });
        });
    }
    local.await;
}

pub(crate) async fn a_cancelled_run_until_leaves_tasks_where_they_were(log: Log) {
    let local = LocalSet::new();
    let steps = Rc::new(Cell::new(0));
    let counter = steps.clone();
    let join = local.spawn_local(async move {
        for _ in 0..5 {
            counter.set(counter.get() + 1);
            tasks::yield_now().await;
        }
    });
    assert!(futures::FutureExt::now_or_never(local.run_until(pending::<()>())).is_none());
    let driven = steps.get();
    for _ in 0..5 {
        tasks::yield_now().await;
    }
    note!(log, "{}", steps.get() == driven);
    local.run_until(join).await.unwrap();
    note!(log, "{}", steps.get());
}

pub(crate) async fn local_tasks_can_be_aborted_from_elsewhere(log: Log) {
    let local = LocalSet::new();
    let value = Rc::new(Tombstone::new(&log, "local value"));
    let join = local.spawn_local(async move {
        let _value = value;
        pending::<()>().await;
    });
    let handle = join.abort_handle();
    local.run_until(tasks::yield_now()).await;
    spawn(async move { handle.abort() }).await.unwrap();
    note!(log, "aborted");
    note!(
        log,
        "{}",
        local.run_until(join).await.unwrap_err().is_cancelled()
    );
}

pub(crate) async fn local_tasks_have_ids(log: Log) {
    let local = LocalSet::new();
    let join = local.spawn_local(async { tasks::try_id() });
    let id = join.id();
    note!(log, "{}", local.run_until(join).await.unwrap() == Some(id));
}

pub(crate) async fn sets_have_ids(log: Log) {
    let (one, two) = (LocalSet::new(), LocalSet::new());
    let runtime = Handle::current().id();
    note!(log, "{} {}", one.id() == one.id(), one.id() == two.id());
    note!(log, "{} {}", one.id() == runtime, two.id() == runtime);
}
