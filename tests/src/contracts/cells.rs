//! OnceCell and SetOnce.

use super::rt::{spawn, sync, sync::OnceCell, sync::SetOnce, task as tasks};
use cct_tests::{Log, note};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio_test::task;

pub(crate) async fn once_cell_runs_one_initialiser(_: Log) {
    let cell = Arc::new(OnceCell::new());
    let runs = Arc::new(AtomicUsize::new(0));
    let workers: Vec<_> = (0..4)
        .map(|worker| {
            let (cell, runs) = (cell.clone(), runs.clone());
            spawn(async move {
                let init = || async {
                    runs.fetch_add(1, Ordering::SeqCst);
                    tasks::yield_now().await;
                    worker
                };
                *cell.get_or_init(init).await
            })
        })
        .collect();
    let mut seen = Vec::new();
    for worker in workers {
        seen.push(worker.await.unwrap());
    }
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    assert!(seen.iter().all(|value| *value == seen[0]));
}

pub(crate) async fn once_cell_set_says_why_not(log: Log) {
    let cell = OnceCell::new();
    note!(log, "{} {:?} {cell:?}", cell.initialized(), cell.get());
    let mut init = task::spawn(cell.get_or_init(std::future::pending::<u8>));
    note!(log, "{:?}", init.poll());
    let error = cell.set(1).unwrap_err();
    note!(log, "{error} / {error:?} / {}", error.is_initializing_err());
    drop(init);
    note!(log, "{:?}", cell.set(2));
    let error = cell.set(3).unwrap_err();
    note!(log, "{error} / {error:?} / {}", error.is_already_init_err());
    note!(log, "{:?} {cell:?}", cell.get());
}

pub(crate) async fn once_cell_failure_lets_the_next_try(log: Log) {
    let cell = OnceCell::new();
    note!(
        log,
        "{:?}",
        cell.get_or_try_init(|| async { Err::<u8, _>("no") }).await
    );
    note!(
        log,
        "{:?}",
        cell.get_or_try_init(|| async { Ok::<_, &str>(5) }).await
    );
    note!(
        log,
        "{:?}",
        cell.get_or_try_init(|| async { Err("never run") }).await
    );
}

pub(crate) async fn once_cell_panic_lets_the_next_try(log: Log) {
    let cell = Arc::new(OnceCell::new());
    let clone = cell.clone();
    let failed = spawn(async move { *clone.get_or_init(|| async { panic!("init") }).await });
    note!(log, "{}", failed.await.is_err());
    note!(log, "{}", cell.get_or_init(|| async { 6 }).await);
}

pub(crate) async fn once_cell_cancelled_initialiser_hands_over(log: Log) {
    let cell = OnceCell::new();
    let mut first = task::spawn(cell.get_or_init(std::future::pending));
    let mut second = task::spawn(cell.get_or_init(|| async { 2 }));
    let mut third = task::spawn(cell.get_or_init(|| async { 3 }));
    note!(
        log,
        "{:?} {:?} {:?}",
        first.poll(),
        second.poll(),
        third.poll()
    );
    drop(first);
    note!(log, "woken {} {}", second.is_woken(), third.is_woken());
    note!(log, "{:?} woken {}", second.poll(), third.is_woken());
    note!(log, "{:?}", third.poll());
}

pub(crate) async fn once_cell_values_move_in_and_out(log: Log) {
    static FIXED: OnceCell<u8> = OnceCell::const_new_with(4);
    note!(log, "{:?}", FIXED.get());
    let mut cell = OnceCell::from(1);
    *cell.get_mut().unwrap() = 2;
    note!(
        log,
        "{:?} {:?}",
        cell.clone().into_inner(),
        cell == OnceCell::new_with(Some(2))
    );
    note!(log, "{:?} {:?}", cell.take(), cell.take());
    note!(log, "{:?} {:?}", cell.set(9), cell.into_inner());
}

pub(crate) async fn set_once_wakes_everybody(log: Log) {
    let cell = SetOnce::new();
    let mut one = task::spawn(cell.wait());
    let mut two = task::spawn(cell.wait());
    note!(log, "{:?} {:?} {:?}", one.poll(), two.poll(), cell.get());
    note!(log, "{:?} {}", cell.set(1), cell.initialized());
    note!(log, "woken {} {}", one.is_woken(), two.is_woken());
    note!(
        log,
        "{:?} {:?} {}",
        one.poll(),
        two.poll(),
        cell.wait().await
    );
    let error = cell.set(2).unwrap_err();
    note!(log, "{error} / {error:?} / {}", error.0);
    drop((one, two));
    note!(log, "{:?}", cell.into_inner());
}

pub(crate) async fn set_once_dropped_waiter_does_not_matter(log: Log) {
    let cell = SetOnce::new();
    let mut gone = task::spawn(cell.wait());
    let mut stays = task::spawn(cell.wait());
    note!(log, "{:?} {:?}", gone.poll(), stays.poll());
    drop(gone);
    cell.set(1).unwrap();
    note!(log, "woken {} {:?}", stays.is_woken(), stays.poll());
}

pub(crate) async fn set_once_one_setter_wins(_: Log) {
    let cell = Arc::new(SetOnce::new());
    let setters: Vec<_> = (0..3)
        .map(|value| {
            let cell = cell.clone();
            spawn(async move { cell.set(value).map(|()| value) })
        })
        .collect();
    let seen = *cell.wait().await;
    let mut won = Vec::new();
    for setter in setters {
        match setter.await.unwrap() {
            Ok(value) => won.push(value),
            Err(sync::SetOnceError(value)) => assert_ne!(value, seen),
        }
    }
    assert_eq!(won, [seen]);
}

pub(crate) async fn set_once_constructors(log: Log) {
    static LATER: SetOnce<u8> = SetOnce::const_new();
    note!(log, "{:?}", LATER.get());
    let cell = SetOnce::new_with(Some(1));
    note!(log, "{cell:?} {}", cell == SetOnce::from(1));
    note!(
        log,
        "{:?} {}",
        SetOnce::<u8>::default().get(),
        cell.clone() == cell
    );
}
