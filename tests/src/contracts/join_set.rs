//! JoinSet.

use super::rt::{spawn, sync::oneshot, task as tasks, task::JoinSet, time};
use cct_tests::tools::{Tombstone, WakeCount, panic_text, payload_text};
use cct_tests::{Log, note};
use std::collections::BTreeMap;
use std::future::pending;
use std::task::Context;
use std::time::Duration;

fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

pub(crate) async fn joins_everything_once(_: Log) {
    let mut set = JoinSet::new();
    for value in 0..6 {
        set.spawn(async move { value });
    }
    assert_eq!(set.len(), 6);
    let mut seen = Vec::new();
    while let Some(result) = set.join_next().await {
        seen.push(result.unwrap());
        assert_eq!(set.len() + seen.len(), 6);
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..6).collect::<Vec<_>>());
    assert!(set.is_empty());
}

pub(crate) async fn an_empty_set_has_nothing_to_join(log: Log) {
    let mut set = JoinSet::<u8>::new();
    note!(log, "{} {} {set:?}", set.len(), set.is_empty());
    note!(log, "{}", set.join_next().await.is_none());
    note!(
        log,
        "{} {}",
        set.try_join_next().is_none(),
        set.join_next_with_id().await.is_none()
    );
    set.shutdown().await;
    note!(log, "{:?}", set.join_all().await);
}

pub(crate) async fn joins_in_the_order_of_completion(log: Log) {
    let mut set = JoinSet::new();
    for pause in [30, 10, 20] {
        set.spawn(async move {
            time::sleep(millis(pause)).await;
            pause
        });
    }
    time::sleep(millis(100)).await;
    while let Some(result) = set.try_join_next() {
        note!(log, "{}", result.unwrap());
    }
    note!(log, "{}", set.len());
}

pub(crate) async fn join_all_keeps_the_order_of_completion(log: Log) {
    let mut set = JoinSet::new();
    for pause in [30, 10, 20] {
        set.spawn(async move {
            time::sleep(millis(pause)).await;
            pause
        });
    }
    note!(log, "{:?}", set.join_all().await);
}

pub(crate) async fn join_all_panics_with_its_task(log: Log) {
    let mut set = JoinSet::new();
    set.spawn(async { panic!("inside") });
    set.spawn(pending());
    let failed = spawn(async move { drop(set.join_all().await) })
        .await
        .unwrap_err();
    note!(log, "{}", payload_text(failed.into_panic().as_ref()));
}

pub(crate) async fn try_join_next_does_not_wait(log: Log) {
    let mut set = JoinSet::new();
    let (tx, rx) = oneshot::channel();
    let handle = set.spawn(async move { rx.await.unwrap() });
    note!(log, "{} {}", set.try_join_next().is_none(), set.len());
    tx.send(4).unwrap();
    while !handle.is_finished() {
        tasks::yield_now().await;
    }
    note!(log, "{:?}", set.join_next().await.unwrap().unwrap());
    note!(log, "{}", set.try_join_next_with_id().is_none());
}

pub(crate) async fn ids_tell_who_it_was(log: Log) {
    let mut set = JoinSet::new();
    let mut names = BTreeMap::new();
    names.insert(set.spawn(async { 1 }).id().to_string(), 1);
    names.insert(set.spawn(async { 2 }).id().to_string(), 2);
    let aborted = set.spawn(pending());
    aborted.abort();
    let (mut right, mut cancelled) = (0, 0);
    while let Some(result) = set.join_next_with_id().await {
        match result {
            Ok((id, value)) => right += usize::from(names[&id.to_string()] == value),
            Err(error) => cancelled += usize::from(error.id() == aborted.id()),
        }
    }
    note!(log, "{right} {cancelled}");
}

pub(crate) async fn panics_and_aborts_are_results(_: Log) {
    let mut set = JoinSet::new();
    set.spawn(async { panic!("inside") });
    set.spawn(pending()).abort();
    set.spawn(async { 1 });
    let mut counts = [0; 3];
    while let Some(result) = set.join_next().await {
        match result {
            Ok(value) => counts[0] += value,
            Err(error) if error.is_panic() => counts[1] += 1,
            Err(_) => counts[2] += 1,
        }
    }
    assert_eq!(counts, [1, 1, 1]);
}

pub(crate) async fn abort_all_cancels_what_is_left(log: Log) {
    let mut set = JoinSet::new();
    for _ in 0..3 {
        set.spawn(pending::<()>());
    }
    set.abort_all();
    note!(log, "{}", set.len());
    while let Some(result) = set.join_next().await {
        note!(log, "{}", result.unwrap_err().is_cancelled());
    }
}

pub(crate) async fn shutdown_waits_until_they_are_gone(log: Log) {
    let mut set = JoinSet::new();
    for _ in 0..2 {
        let value = Tombstone::new(&log, "task");
        set.spawn(async move {
            let _value = value;
            pending::<()>().await;
        });
    }
    set.shutdown().await;
    note!(log, "{}", set.is_empty());
}

pub(crate) async fn a_dropped_set_aborts(log: Log) {
    let mut set = JoinSet::new();
    let (tx, rx) = oneshot::channel::<u8>();
    set.spawn(async move {
        let _tx = tx;
        pending::<()>().await;
    });
    drop(set);
    note!(log, "{:?}", rx.await);
}

pub(crate) async fn detached_tasks_go_on(log: Log) {
    let mut set = JoinSet::new();
    let (tx, rx) = oneshot::channel();
    let (go, gone) = oneshot::channel();
    set.spawn(async move {
        gone.await.unwrap();
        tx.send(1).unwrap();
    });
    set.detach_all();
    note!(log, "{}", set.len());
    drop(set);
    go.send(()).unwrap();
    note!(log, "{:?}", rx.await);
}

pub(crate) async fn an_aborted_task_may_still_be_joined(log: Log) {
    let mut set = JoinSet::new();
    let handle = set.spawn(pending::<()>());
    handle.abort();
    note!(
        log,
        "{}",
        set.join_next().await.unwrap().unwrap_err().is_cancelled()
    );
    note!(log, "{} {}", handle.is_finished(), set.is_empty());
}

pub(crate) async fn polling_by_hand(log: Log) {
    let mut set = JoinSet::new();
    let (count, waker) = WakeCount::new();
    let mut cx = Context::from_waker(&waker);
    note!(log, "{}", set.poll_join_next(&mut cx).is_ready());
    let (tx, rx) = oneshot::channel();
    set.spawn(async move { rx.await.unwrap() });
    note!(log, "{}", set.poll_join_next(&mut cx).is_pending());
    tx.send(2).unwrap();
    while count.get() == 0 {
        tasks::yield_now().await;
    }
    note!(
        log,
        "{:?}",
        set.poll_join_next(&mut cx)
            .map(|result| result.unwrap().unwrap())
    );
    note!(log, "{}", set.poll_join_next_with_id(&mut cx).is_ready());
}

pub(crate) async fn collects_from_an_iterator(log: Log) {
    let set: JoinSet<_> = (0..4).map(|value| async move { value * 2 }).collect();
    let mut all = set.join_all().await;
    all.sort_unstable();
    note!(log, "{all:?}");
}

pub(crate) async fn blocking_tasks_join_too(log: Log) {
    let mut set = JoinSet::new();
    set.spawn_blocking(|| 1);
    set.spawn_blocking(|| panic!("on a thread"));
    let mut seen = Vec::new();
    while let Some(result) = set.join_next().await {
        seen.push(match result {
            Ok(value) => value.to_string(),
            Err(error) => payload_text(error.into_panic().as_ref()),
        });
    }
    seen.sort_unstable();
    note!(log, "{seen:?}");
}

pub(crate) async fn spawning_outside_a_local_set_panics(log: Log) {
    let mut set = JoinSet::new();
    let text = panic_text(|| set.spawn_local(async {}));
    note!(log, "{text}");
}

pub(crate) async fn dropped_join_next_loses_nothing(log: Log) {
    let mut set = JoinSet::new();
    let (tx, rx) = oneshot::channel();
    set.spawn(async move { rx.await.unwrap() });
    note!(
        log,
        "{}",
        futures::FutureExt::now_or_never(set.join_next()).is_none()
    );
    tx.send(3).unwrap();
    note!(log, "{:?}", set.join_next().await.unwrap().unwrap());
}
