//! More waiters and values than any batch, block or list holds at once.

use super::rt::{spawn, sync, task as tasks};
use cct_tests::{Log, note};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};

/// More than the 32 of most batches, more than two of them.
const CROWD: usize = 70;

/// A waker that rings with its number.
struct Bell(usize, Arc<Mutex<Vec<usize>>>);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.1.lock().unwrap().push(self.0);
    }
}

/// Polls each future once, with bells; then acts, and notes who was woken, and in which order.
fn who_is_woken<F: Future>(log: &Log, futures: Vec<F>, act: impl FnOnce()) -> Vec<Pin<Box<F>>> {
    let rung = Arc::new(Mutex::new(Vec::new()));
    let mut pinned: Vec<_> = futures.into_iter().map(Box::pin).collect();
    for (number, future) in pinned.iter_mut().enumerate() {
        let bell = Waker::from(Arc::new(Bell(number, rung.clone())));
        assert!(
            future
                .as_mut()
                .poll(&mut Context::from_waker(&bell))
                .is_pending()
        );
    }
    act();
    let rung = rung.lock().unwrap();
    let (first, last) = (rung.first(), rung.last());
    note!(
        log,
        "{} woken, {first:?} to {last:?}, in order {}",
        rung.len(),
        rung.is_sorted()
    );
    pinned
}

fn times<F>(make: impl Fn() -> F) -> Vec<F> {
    (0..CROWD).map(|_| make()).collect()
}

pub(crate) async fn semaphores_wake_a_crowd_in_order(log: Log) {
    let semaphore = sync::Semaphore::new(0);
    let waiting = times(|| semaphore.acquire());
    let waiting = who_is_woken(&log, waiting, || semaphore.add_permits(CROWD - 5));
    drop(waiting);
    note!(log, "{} free", semaphore.available_permits());
    let waiting = times(|| semaphore.acquire_many(CROWD as u32));
    drop(who_is_woken(&log, waiting, || semaphore.close()));
}

pub(crate) async fn notify_waiters_wakes_a_crowd_in_order(log: Log) {
    let notify = sync::Notify::new();
    let waiting = times(|| notify.notified());
    drop(who_is_woken(&log, waiting, || notify.notify_waiters()));
    let waiting = times(|| notify.notified());
    drop(who_is_woken(&log, waiting, || {
        (0..CROWD / 2).for_each(|_| notify.notify_one())
    }));
}

pub(crate) async fn broadcast_wakes_a_crowd(log: Log) {
    let (tx, _) = sync::broadcast::channel(2);
    let mut receivers = times(|| tx.subscribe());
    let waiting = receivers.iter_mut().map(|rx| rx.recv()).collect();
    drop(who_is_woken(&log, waiting, || {
        assert_eq!(tx.send(1).unwrap(), CROWD)
    }));
    for rx in &mut receivers {
        assert_eq!(rx.try_recv(), Ok(1));
    }
}

pub(crate) async fn watch_wakes_a_crowd(log: Log) {
    let tx = sync::watch::Sender::new(0);
    let mut receivers = times(|| tx.subscribe());
    let rung = Arc::new(Mutex::new(Vec::new()));
    let mut waiting: Vec<_> = receivers
        .iter_mut()
        .map(|rx| Box::pin(rx.changed()))
        .collect();
    for (number, changed) in waiting.iter_mut().enumerate() {
        let bell = Waker::from(Arc::new(Bell(number, rung.clone())));
        assert!(
            changed
                .as_mut()
                .poll(&mut Context::from_waker(&bell))
                .is_pending()
        );
    }
    tx.send(1).unwrap();
    let mut rung = rung.lock().unwrap().clone();
    rung.sort_unstable();
    note!(log, "everybody {}", rung.into_iter().eq(0..CROWD));
}

pub(crate) async fn set_once_wakes_a_crowd(log: Log) {
    let cell = sync::SetOnce::new();
    let waiting = times(|| cell.wait());
    drop(who_is_woken(&log, waiting, || cell.set(1).unwrap()));
}

pub(crate) async fn readers_are_woken_as_a_crowd(log: Log) {
    let lock = sync::RwLock::new(());
    let guard = lock.try_write().unwrap();
    let waiting = times(|| lock.read());
    drop(who_is_woken(&log, waiting, || drop(guard)));
    note!(log, "{}", lock.try_write().is_ok());
}

pub(crate) async fn a_closed_channel_wakes_a_crowd_of_senders(log: Log) {
    let (tx, rx) = sync::mpsc::channel(1);
    tx.try_send(0).unwrap();
    let waiting = (1..CROWD).map(|value| tx.send(value)).collect();
    drop(who_is_woken(&log, waiting, || drop(rx)));
}

pub(crate) async fn long_queues_keep_their_order(log: Log) {
    let (tx, mut rx) = sync::mpsc::unbounded_channel();
    for round in 0..3 {
        for value in 0..3 * CROWD {
            tx.send((round, value)).unwrap();
        }
        for value in 0..2 * CROWD {
            assert_eq!(rx.recv().await, Some((round, value)));
        }
        for value in 2 * CROWD..3 * CROWD {
            assert_eq!(rx.try_recv(), Ok((round, value)));
        }
    }
    note!(log, "{:?}", rx.try_recv());
}

pub(crate) async fn every_sender_of_a_crowd_gets_its_turn(_: Log) {
    let (tx, mut rx) = sync::mpsc::channel(3);
    let senders: Vec<_> = (0..CROWD)
        .map(|value| {
            let tx = tx.clone();
            spawn(async move { tx.send(value).await })
        })
        .collect();
    drop(tx);
    let mut received = Vec::new();
    while let Some(value) = rx.recv().await {
        received.push(value);
    }
    received.sort_unstable();
    assert!(received.into_iter().eq(0..CROWD));
    for sender in senders {
        sender.await.unwrap().unwrap();
    }
}

pub(crate) async fn a_set_of_many_tasks_is_joined(_: Log) {
    let mut set: tasks::JoinSet<_> = (0..3 * CROWD).map(|value| async move { value }).collect();
    let mut sum = 0;
    while let Some(value) = set.join_next().await {
        sum += value.unwrap();
    }
    assert_eq!(sum, 3 * CROWD * (3 * CROWD - 1) / 2);
}
