//! The cooperative budget: how much a task may do in one poll.

use super::rt::{spawn, sync, task as tasks, task::coop, time};
use cct_tests::{Log, note};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

/// More than any budget.
const MANY: usize = 300;

/// In a task of its own, in one poll: how often in a row `operation` is ready.
async fn ready_in_a_row<F, Fut>(mut operation: F) -> usize
where
    F: FnMut() -> Fut + Send + 'static,
    Fut: Future + Send,
{
    let counting = async move {
        tasks::yield_now().await;
        poll_fn(|cx| {
            let ready = (0..MANY)
                .take_while(|_| pin!(operation()).poll(cx).is_ready())
                .count();
            Poll::Ready(ready)
        })
        .await
    };
    spawn(counting).await.unwrap()
}

pub(crate) async fn channels_spend_budget(log: Log) {
    let (tx, rx) = sync::mpsc::channel(2 * MANY);
    note!(
        log,
        "send {}",
        ready_in_a_row(move || send(tx.clone())).await
    );
    let rx = Arc::new(sync::Mutex::new(rx));
    note!(
        log,
        "recv {}",
        ready_in_a_row(move || recv(rx.clone())).await
    );
    let one = ready_in_a_row(|| {
        let (tx, rx) = sync::oneshot::channel();
        tx.send(1).unwrap();
        rx
    });
    note!(log, "oneshot {}", one.await);
}

async fn send(tx: sync::mpsc::Sender<u8>) {
    tx.send(1).await.unwrap();
}

async fn recv(rx: Arc<sync::Mutex<sync::mpsc::Receiver<u8>>>) -> Option<u8> {
    rx.try_lock().unwrap().recv().await
}

pub(crate) async fn locks_spend_budget(log: Log) {
    let mutex = Arc::new(sync::Mutex::new(()));
    note!(
        log,
        "mutex {}",
        ready_in_a_row(move || mutex.clone().lock_owned()).await
    );
    let lock = Arc::new(sync::RwLock::new(()));
    let clone = lock.clone();
    note!(
        log,
        "read {}",
        ready_in_a_row(move || clone.clone().read_owned()).await
    );
    note!(
        log,
        "write {}",
        ready_in_a_row(move || lock.clone().write_owned()).await
    );
    let semaphore = Arc::new(sync::Semaphore::new(1));
    note!(
        log,
        "acquire {}",
        ready_in_a_row(move || semaphore.clone().acquire_owned()).await
    );
}

pub(crate) async fn announcements_spend_budget(log: Log) {
    let tx = sync::watch::Sender::new(0);
    let changed = ready_in_a_row(move || {
        let mut rx = tx.subscribe();
        rx.mark_changed();
        async move { rx.changed().await }
    });
    note!(log, "changed {}", changed.await);
    let tx = sync::broadcast::Sender::new(1);
    let heard = ready_in_a_row(move || {
        let mut rx = tx.subscribe();
        tx.send(1).unwrap();
        async move { rx.recv().await }
    });
    note!(log, "broadcast {}", heard.await);
    let notify = Arc::new(sync::Notify::new());
    let notified = ready_in_a_row(move || {
        notify.notify_one();
        notify.clone().notified_owned()
    });
    note!(log, "notified {}", notified.await);
    let barrier = Arc::new(sync::Barrier::new(1));
    let arrived = ready_in_a_row(move || {
        let barrier = barrier.clone();
        async move { barrier.wait().await }
    });
    note!(log, "barrier {}", arrived.await);
}

pub(crate) async fn tasks_and_timers_spend_budget(log: Log) {
    note!(
        log,
        "consume {}",
        ready_in_a_row(coop::consume_budget).await
    );
    note!(
        log,
        "consume {}",
        ready_in_a_row(tasks::consume_budget).await
    );
    let zero = std::time::Duration::ZERO;
    note!(
        log,
        "sleep {}",
        ready_in_a_row(move || time::sleep(zero)).await
    );
    note!(
        log,
        "timeout {}",
        ready_in_a_row(move || time::timeout(zero, async {})).await
    );
    note!(log, "async block {}", ready_in_a_row(|| async {}).await);
    note!(log, "yield {}", ready_in_a_row(tasks::yield_now).await);
}

pub(crate) async fn joins_spend_budget(log: Log) {
    let mut finished = Vec::new();
    for _ in 0..MANY {
        let join = spawn(async {});
        while !join.is_finished() {
            tasks::yield_now().await;
        }
        finished.push(join);
    }
    let mut finished = finished.into_iter();
    note!(
        log,
        "join {}",
        ready_in_a_row(move || finished.next().unwrap()).await
    );
}

pub(crate) async fn try_operations_are_free(log: Log) {
    let (tx, mut rx) = sync::mpsc::unbounded_channel();
    let join = spawn(async move {
        let mut taken = 0;
        for _ in 0..MANY {
            tx.send(1).unwrap();
            taken += rx.try_recv().unwrap();
        }
        (taken, coop::has_budget_remaining())
    });
    note!(log, "{:?}", join.await.unwrap());
}

pub(crate) async fn unconstrained_lifts_the_limit(log: Log) {
    let semaphore = Arc::new(sync::Semaphore::new(1));
    let inner = semaphore.clone();
    let free = ready_in_a_row(move || coop::unconstrained(inner.clone().acquire_owned()));
    note!(log, "{}", free.await);
    note!(
        log,
        "{}",
        ready_in_a_row(move || semaphore.clone().acquire_owned()).await
    );
    note!(
        log,
        "{}",
        tasks::unconstrained(async { coop::has_budget_remaining() }).await
    );
}

pub(crate) async fn the_budget_comes_back_with_the_next_poll(log: Log) {
    let join = spawn(async {
        let mut yields = 0;
        for _ in 0..MANY {
            coop::consume_budget().await;
        }
        while coop::has_budget_remaining() {
            coop::consume_budget().await;
            yields += 1;
        }
        tasks::yield_now().await;
        (yields, coop::has_budget_remaining())
    });
    note!(log, "{:?}", join.await.unwrap());
}

pub(crate) async fn a_spent_budget_holds_for_everything(log: Log) {
    let join = spawn(async {
        tasks::yield_now().await;
        while coop::has_budget_remaining() {
            coop::consume_budget().await;
        }
        let (tx, mut rx) = sync::mpsc::channel(1);
        tx.try_send(1).unwrap();
        poll_fn(|cx| {
            let starved = pin!(rx.recv()).poll(cx).is_pending();
            let sleep = pin!(time::sleep(std::time::Duration::ZERO))
                .poll(cx)
                .is_pending();
            let lifted = pin!(coop::unconstrained(rx.recv())).poll(cx).is_ready();
            Poll::Ready((starved, sleep, lifted))
        })
        .await
    });
    note!(log, "{:?}", join.await.unwrap());
}

pub(crate) async fn pending_operations_cost_nothing(log: Log) {
    let join = spawn(async {
        tasks::yield_now().await;
        let (_tx, mut rx) = sync::mpsc::channel::<u8>(1);
        poll_fn(|cx| {
            let pending = (0..MANY).all(|_| pin!(rx.recv()).poll(cx).is_pending());
            Poll::Ready((pending, coop::has_budget_remaining()))
        })
        .await
    });
    note!(log, "{:?}", join.await.unwrap());
}

/// Ready at every poll, at the price of one unit if it says that it made progress.
struct Paid(bool);

impl Future for Paid {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let restore = std::task::ready!(coop::poll_proceed(cx));
        if self.0 {
            restore.made_progress();
        }
        Poll::Ready(())
    }
}

pub(crate) async fn own_futures_can_take_part(log: Log) {
    note!(log, "{}", ready_in_a_row(|| Paid(true)).await);
    note!(log, "{}", ready_in_a_row(|| Paid(false)).await);
    note!(
        log,
        "{}",
        ready_in_a_row(|| coop::cooperative(async {})).await
    );
}

pub(crate) async fn a_starved_future_is_woken_again(log: Log) {
    let join = spawn(async {
        for _ in 0..3 * MANY {
            Paid(true).await;
        }
        "done"
    });
    note!(log, "{}", join.await.unwrap());
}

pub(crate) async fn a_long_read_is_cut_into_polls(log: Log) {
    let (tx, mut rx) = sync::mpsc::unbounded_channel();
    for value in 0..MANY {
        tx.send(value).unwrap();
    }
    drop(tx);
    let mut reading = Box::pin(async move {
        let mut count = 0;
        while rx.recv().await.is_some() {
            count += 1;
        }
        count
    });
    let mut polls = 0;
    let join = spawn(poll_fn(move |cx| {
        polls += 1;
        reading.as_mut().poll(cx).map(|count| (count, polls))
    }));
    note!(log, "{:?}", join.await.unwrap());
}
