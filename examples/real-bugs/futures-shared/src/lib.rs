//! A page that is loaded once for all visitors who wait for it.
//!
//! The page needs two rows of a table, which it asks for at once. Several visitors share the load;
//! one of them goes away before the page is there.
//!
//! The bug, in `Shared` of futures 0.3.34 and before: while one visitor polls the shared load, a row
//! may arrive. That wakes those who are registered, which is the one who polls. Another visitor who
//! looks meanwhile is told to wait, and is not woken: it counts on the first to poll again. If the
//! first goes away instead, nobody polls, and the others wait for ever. Known to the crate and not
//! fixed yet (<https://github.com/rust-lang/futures-rs/issues/2706>,
//! <https://github.com/rust-lang/futures-rs/pull/2899>). The `control` package runs the same scenario
//! on `Lazy` of async-once-cell, whose load is shared as well and goes on with whoever is left.

use cct_executor::task::yield_now;
use cct_executor::{join, spawn};
use cct_sync::{mpsc, oneshot};

#[cfg(feature = "control")]
mod shared {
    use async_once_cell::Lazy;
    use std::pin::Pin;
    use std::sync::Arc;

    type Load = Pin<Box<dyn Future<Output = u32> + Send>>;

    #[derive(Clone)]
    pub struct Shared(Pin<Arc<Lazy<u32, Load>>>);

    pub fn share(load: impl Future<Output = u32> + Send + 'static) -> Shared {
        Shared(Arc::pin(Lazy::new(Box::pin(load))))
    }

    pub async fn wait(shared: Shared) -> u32 {
        *shared.0.as_ref().get().await
    }
}

#[cfg(not(feature = "control"))]
mod shared {
    use futures_util::future::{BoxFuture, FutureExt, Shared};

    pub fn share(
        load: impl Future<Output = u32> + Send + 'static,
    ) -> Shared<BoxFuture<'static, u32>> {
        load.boxed().shared()
    }

    pub async fn wait(shared: Shared<BoxFuture<'static, u32>>) -> u32 {
        shared.await
    }
}

/// Which row, and where the answer goes.
type Query = (u32, oneshot::Sender<u32>);

async fn answer(mut queries: mpsc::Receiver<Query>) {
    while let Some((row, answer)) = queries.recv().await {
        // Stands for the disk.
        yield_now().await;
        let _ = answer.send(row * 10);
    }
}

async fn row(row: u32, table: mpsc::Sender<Query>) -> u32 {
    let (sender, answer) = oneshot::channel();
    table.send((row, sender)).await.expect("a table");
    answer.await.expect("an answer")
}

async fn load(table: mpsc::Sender<Query>) -> u32 {
    let (title, text) = join!(row(1, table.clone()), row(2, table));
    title + text
}

/// Whoever waits for the page gets it, whoever else goes away.
pub async fn scenario() {
    let (table, queries) = mpsc::channel(4);
    spawn(answer(queries));
    let page = shared::share(load(table));
    let impatient = spawn(shared::wait(page.clone()));
    let patient = [spawn(shared::wait(page.clone())), spawn(shared::wait(page))];
    yield_now().await;
    impatient.abort();
    for visitor in patient {
        assert_eq!(visitor.await.expect("a visitor does not panic"), 30);
    }
}
