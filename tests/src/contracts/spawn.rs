//! Tasks: spawning, joining, aborting, identity.

use super::rt::{spawn, sync::oneshot, task as tasks};
use cct_tests::tools::{Tombstone, panic_text, payload_text};
use cct_tests::{Log, note};
use std::future::pending;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio_test::task;

/// An error's texts, without the id in them.
fn show(error: &tasks::JoinError) -> String {
    let id = error.id().to_string();
    format!("{error} / {error:?}").replace(&id, "ID")
}

pub(crate) async fn join_returns_the_output(log: Log) {
    note!(log, "{:?}", spawn(async { 1 }).await.unwrap());
    let outer = spawn(async { spawn(async { 2 }).await.unwrap() + 1 });
    note!(log, "{:?}", outer.await.unwrap());
    note!(
        log,
        "{:?}",
        tasks::spawn(async { tasks::yield_now().await })
            .await
            .unwrap()
    );
}

pub(crate) async fn a_panic_becomes_an_error(log: Log) {
    let error = spawn(async { panic!("boom") }).await.unwrap_err();
    note!(
        log,
        "{} {} {}",
        show(&error),
        error.is_panic(),
        error.is_cancelled()
    );
    note!(log, "{}", payload_text(error.into_panic().as_ref()));
    let number = 5;
    let error = spawn(async move { panic!("boom {number}") })
        .await
        .unwrap_err();
    note!(
        log,
        "{}",
        payload_text(error.try_into_panic().unwrap().as_ref())
    );
    let error = spawn(async { std::panic::panic_any(7_u8) })
        .await
        .unwrap_err();
    note!(log, "{}", show(&error));
    note!(log, "{:?}", error.into_panic().downcast_ref::<u8>());
}

/// Notes whether it is dropped while its own poll unwinds.
struct Bomb(Log);

impl Future for Bomb {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        panic!("boom");
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        note!(self.0, "unwinds: {}", std::thread::panicking());
    }
}

pub(crate) async fn a_future_that_panics_is_dropped_as_it_unwinds(log: Log) {
    let error = spawn(Bomb(log.clone())).await.unwrap_err();
    note!(log, "{}", error.is_panic());
    let bomb = Bomb(log.clone());
    let never_polled = spawn(async move {
        let _bomb = bomb;
        pending::<()>().await;
    });
    tasks::yield_now().await;
    never_polled.abort();
    note!(log, "{}", never_polled.await.unwrap_err().is_cancelled());
}

pub(crate) async fn a_panic_after_an_await_does_too(log: Log) {
    let value = Tombstone::new(&log, "value");
    let join = spawn(async move {
        let _value = value;
        tasks::yield_now().await;
        panic!("late");
    });
    note!(log, "{}", show(&join.await.unwrap_err()));
}

pub(crate) async fn a_panicking_task_disturbs_no_other(log: Log) {
    let (tx, rx) = oneshot::channel();
    let good = spawn(rx);
    let bad = spawn(async { panic!("bad") });
    note!(log, "{}", bad.await.is_err());
    tx.send(1).unwrap();
    note!(log, "{:?}", good.await.unwrap());
}

pub(crate) async fn abort_cancels_and_drops(log: Log) {
    let value = Tombstone::new(&log, "future");
    let join = spawn(async move {
        let _value = value;
        pending::<()>().await;
    });
    join.abort();
    let error = join.await.unwrap_err();
    note!(
        log,
        "{} {} {}",
        show(&error),
        error.is_cancelled(),
        error.is_panic()
    );
    note!(log, "{}", error.try_into_panic().is_err());
}

pub(crate) async fn into_panic_of_a_cancelled_task_panics(log: Log) {
    let join = spawn(pending::<()>());
    join.abort();
    let error = join.await.unwrap_err();
    let text = panic_text(|| error.into_panic());
    note!(log, "{}", text.split(':').next().unwrap_or_default());
}

pub(crate) async fn abort_after_the_end_changes_nothing(log: Log) {
    let (tx, rx) = oneshot::channel();
    let join = spawn(async move {
        tx.send(()).unwrap();
        5
    });
    rx.await.unwrap();
    let handle = join.abort_handle();
    while !handle.is_finished() {
        tasks::yield_now().await;
    }
    join.abort();
    handle.abort();
    note!(log, "{:?} {}", join.await.unwrap(), handle.is_finished());
}

pub(crate) async fn abort_handles_act_from_afar(log: Log) {
    let join = spawn(pending::<()>());
    let handle = join.abort_handle();
    let clone = handle.clone();
    note!(log, "{} {}", handle.id() == join.id(), clone.is_finished());
    spawn(async move { clone.abort() }).await.unwrap();
    note!(
        log,
        "{} {}",
        join.await.unwrap_err().is_cancelled(),
        handle.is_finished()
    );
    handle.abort();
}

pub(crate) async fn a_dropped_handle_detaches(log: Log) {
    let (tx, rx) = oneshot::channel();
    drop(spawn(async move {
        tasks::yield_now().await;
        tx.send(1).unwrap();
    }));
    note!(log, "{:?}", rx.await);
}

pub(crate) async fn abort_handles_do_not_keep_the_output(log: Log) {
    let value = Tombstone::new(&log, "output");
    let join = spawn(async move { value });
    let handle = join.abort_handle();
    while !join.is_finished() {
        tasks::yield_now().await;
    }
    note!(log, "finished");
    drop(join);
    note!(log, "join handle dropped, {}", handle.is_finished());
}

pub(crate) async fn joining_is_woken_once_done(log: Log) {
    let (tx, rx) = oneshot::channel::<u8>();
    let mut join = task::spawn(spawn(rx));
    note!(log, "{}", join.poll().is_pending());
    tx.send(1).unwrap();
    while !join.is_woken() {
        tasks::yield_now().await;
    }
    note!(log, "{}", join.is_finished());
    note!(log, "{:?}", join.poll().map(|result| result.unwrap()));
    note!(log, "{}", panic_text(|| drop(join.poll())));
}

pub(crate) async fn a_task_knows_its_id(log: Log) {
    let join = spawn(async {
        let before = tasks::id();
        tasks::yield_now().await;
        (before, tasks::id(), tasks::try_id())
    });
    let id = join.id();
    let (before, after, tried) = join.await.unwrap();
    note!(
        log,
        "{} {} {}",
        before == id,
        after == id,
        tried == Some(id)
    );
    note!(log, "{}", id.to_string().parse::<u64>().is_ok());
}

pub(crate) async fn the_root_has_no_id(log: Log) {
    note!(log, "{:?}", tasks::try_id());
    note!(log, "{}", panic_text(tasks::id));
}

pub(crate) async fn ids_are_unique_and_errors_carry_them(log: Log) {
    let joins: Vec<_> = (0..6).map(|_| spawn(pending::<()>())).collect();
    let ids: Vec<_> = joins.iter().map(|join| join.id()).collect();
    let distinct = ids
        .iter()
        .all(|one| ids.iter().filter(|two| one == *two).count() == 1);
    note!(log, "{distinct}");
    for (join, id) in joins.into_iter().zip(ids) {
        join.abort();
        note!(log, "{}", join.await.unwrap_err().id() == id);
    }
}

/// Tells whether its task's id was current when it was dropped.
struct IdAtDrop(Option<oneshot::Sender<Option<tasks::Id>>>);

impl Drop for IdAtDrop {
    fn drop(&mut self) {
        if let Some(tx) = self.0.take() {
            let _ = tx.send(tasks::try_id());
        }
    }
}

/// Tells which task its destructor runs for.
struct Owned(Log, Option<tasks::Id>);

impl Drop for Owned {
    fn drop(&mut self) {
        note!(self.0, "the task's own {}", tasks::try_id() == self.1);
    }
}

pub(crate) async fn an_output_that_nobody_takes_is_dropped_in_its_tasks_name(log: Log) {
    let owned = |log: &Log| {
        let log = log.clone();
        spawn(async move { Owned(log, tasks::try_id()) })
    };
    let ended = owned(&log);
    while !ended.is_finished() {
        tasks::yield_now().await;
    }
    drop(ended);
    note!(log, "{:?}", tasks::try_id());
    let taken = owned(&log).await.unwrap();
    note!(log, "taken");
    drop(taken);
    let inside = owned(&log);
    let outer = spawn(async move {
        while !inside.is_finished() {
            tasks::yield_now().await;
        }
        let before = tasks::try_id();
        drop(inside);
        before == tasks::try_id()
    });
    note!(log, "{:?}", outer.await.unwrap());
}

pub(crate) async fn the_id_is_current_while_a_task_is_dropped(log: Log) {
    for abort in [false, true] {
        let (tx, rx) = oneshot::channel();
        let guard = IdAtDrop(Some(tx));
        let join = spawn(async move {
            let _guard = guard;
            if abort {
                pending::<()>().await;
            }
        });
        let id = join.id();
        if abort {
            join.abort();
        }
        note!(log, "{:?}", rx.await.unwrap() == Some(id));
        drop(join.await);
    }
}

/// Panics when it is dropped.
struct Grenade;

impl Drop for Grenade {
    fn drop(&mut self) {
        panic!("while dropping");
    }
}

pub(crate) async fn a_panic_while_aborting_is_the_result(log: Log) {
    let grenade = Grenade;
    let join = spawn(async move {
        let _grenade = grenade;
        pending::<()>().await;
    });
    join.abort();
    let error = join.await.unwrap_err();
    note!(log, "panic {} {}", error.is_panic(), show(&error));
}

pub(crate) async fn aborting_oneself_takes_effect_at_the_next_await(log: Log) {
    for wait in [false, true] {
        let (tx, rx) = oneshot::channel::<tasks::AbortHandle>();
        let join = spawn(async move {
            rx.await.unwrap().abort();
            if wait {
                pending::<()>().await;
            }
            6
        });
        tx.send(join.abort_handle()).unwrap();
        note!(
            log,
            "{:?}",
            join.await.map_err(|error| error.is_cancelled())
        );
    }
}

pub(crate) async fn errors_turn_into_io_errors(log: Log) {
    let join = spawn(pending::<()>());
    join.abort();
    let error = io::Error::from(join.await.unwrap_err());
    note!(log, "{error} {:?}", error.kind());
    let error = spawn(async { panic!("boom") }).await.unwrap_err();
    let error = io::Error::from(error);
    note!(log, "{error} {:?}", error.kind());
}

pub(crate) async fn a_destructor_may_spawn(log: Log) {
    struct SpawnAtDrop(Option<oneshot::Sender<u8>>);
    impl Drop for SpawnAtDrop {
        fn drop(&mut self) {
            let tx = self.0.take().unwrap();
            spawn(async move { tx.send(1).unwrap() });
        }
    }
    let (tx, rx) = oneshot::channel();
    let guard = SpawnAtDrop(Some(tx));
    let join = spawn(async move {
        let _guard = guard;
        pending::<()>().await;
    });
    join.abort();
    note!(log, "{:?} {}", rx.await, join.await.is_err());
}
