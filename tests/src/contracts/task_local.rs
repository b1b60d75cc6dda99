//! task_local! and its scopes.

use super::rt::{spawn, task as tasks, task_local};
use cct_tests::tools::panic_text;
use cct_tests::{Log, note};
use std::cell::Cell;
use std::future::Future;
use std::task::Context;

task_local! {
    static NUMBER: u32;
    static CELL: Cell<u32>;
}

pub(crate) async fn a_scope_sets_the_value(log: Log) {
    note!(log, "{:?}", NUMBER.try_get());
    let inner = NUMBER.scope(1, async {
        (NUMBER.get(), NUMBER.with(|number| number + 1))
    });
    note!(log, "{:?}", inner.await);
    note!(log, "{:?}", NUMBER.try_with(|number| *number));
}

pub(crate) async fn scopes_nest(log: Log) {
    NUMBER
        .scope(1, async {
            note!(log, "{}", NUMBER.get());
            NUMBER
                .scope(2, async { note!(log, "{}", NUMBER.get()) })
                .await;
            note!(log, "{}", NUMBER.get());
            NUMBER.sync_scope(3, || note!(log, "{}", NUMBER.get()));
            note!(log, "{}", NUMBER.get());
        })
        .await;
}

pub(crate) async fn the_value_survives_suspension(log: Log) {
    CELL.scope(Cell::new(1), async {
        tasks::yield_now().await;
        CELL.with(|cell| cell.set(cell.get() + 1));
        tasks::yield_now().await;
        note!(log, "{}", CELL.with(Cell::get));
    })
    .await;
}

pub(crate) async fn each_task_has_its_own(_: Log) {
    let workers: Vec<_> = (0..4)
        .map(|worker| {
            spawn(NUMBER.scope(worker, async move {
                for _ in 0..4 {
                    assert_eq!(NUMBER.get(), worker);
                    tasks::yield_now().await;
                }
            }))
        })
        .collect();
    for worker in workers {
        worker.await.unwrap();
    }
}

pub(crate) async fn children_do_not_inherit(log: Log) {
    let seen = NUMBER.scope(1, async {
        spawn(async { NUMBER.try_get() }).await.unwrap()
    });
    note!(log, "{:?}", seen.await);
}

pub(crate) async fn errors_in_words(log: Log) {
    let error = NUMBER.try_get().unwrap_err();
    note!(log, "{error} / {error:?}");
    note!(log, "{}", panic_text(|| NUMBER.get()));
    note!(log, "{}", panic_text(|| NUMBER.with(|number| *number)));
}

pub(crate) async fn the_value_can_be_taken_back(log: Log) {
    let mut scope = Box::pin(NUMBER.scope(5, async { NUMBER.get() }));
    note!(log, "{}", scope.as_mut().await);
    note!(
        log,
        "{:?} {:?}",
        scope.as_mut().take_value(),
        scope.as_mut().take_value()
    );
}

pub(crate) async fn it_is_there_while_the_future_is_dropped(log: Log) {
    struct Reader(Log);
    impl Drop for Reader {
        fn drop(&mut self) {
            note!(self.0, "at drop {:?}", NUMBER.try_get());
        }
    }
    let reader = Reader(log.clone());
    let mut scope = Box::pin(NUMBER.scope(6, async move {
        let _reader = reader;
        std::future::pending::<()>().await;
    }));
    let mut cx = Context::from_waker(std::task::Waker::noop());
    note!(log, "{:?}", scope.as_mut().poll(&mut cx));
    drop(scope);
}
