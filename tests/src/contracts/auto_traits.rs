//! What may cross threads, and what may move after it was polled: settled when this compiles.

use super::rt::{spawn, sync, task as tasks, time};
use cct_tests::Log;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::time::Duration;

fn shared<T: Send + Sync>() {}
fn sent<T: Send>() {}
fn movable<T: Unpin>() {}
fn unwind_safe<T: UnwindSafe + RefUnwindSafe>() {}
fn sent_value<T: Send>(_: &T) {}
fn shared_value<T: Send + Sync>(_: &T) {}

pub(crate) async fn channels(_: Log) {
    shared::<sync::mpsc::Sender<u8>>();
    shared::<sync::mpsc::Receiver<u8>>();
    shared::<sync::mpsc::WeakSender<u8>>();
    shared::<sync::mpsc::Permit<'_, u8>>();
    shared::<sync::mpsc::OwnedPermit<u8>>();
    shared::<sync::mpsc::UnboundedSender<u8>>();
    shared::<sync::mpsc::UnboundedReceiver<u8>>();
    shared::<sync::oneshot::Sender<u8>>();
    shared::<sync::oneshot::Receiver<u8>>();
    shared::<sync::watch::Sender<u8>>();
    shared::<sync::watch::Receiver<u8>>();
    shared::<sync::broadcast::Sender<u8>>();
    shared::<sync::broadcast::Receiver<u8>>();
    movable::<sync::mpsc::Receiver<std::marker::PhantomPinned>>();
    movable::<sync::oneshot::Receiver<std::marker::PhantomPinned>>();
    unwind_safe::<sync::mpsc::Sender<u8>>();
    unwind_safe::<sync::mpsc::Receiver<u8>>();
}

pub(crate) async fn locks(_: Log) {
    shared::<sync::Mutex<u8>>();
    shared::<sync::MutexGuard<'_, u8>>();
    shared::<sync::OwnedMutexGuard<u8>>();
    shared::<sync::RwLock<u8>>();
    shared::<sync::RwLockReadGuard<'_, u8>>();
    shared::<sync::RwLockWriteGuard<'_, u8>>();
    shared::<sync::OwnedRwLockReadGuard<u8>>();
    shared::<sync::OwnedRwLockWriteGuard<u8>>();
    shared::<sync::Semaphore>();
    shared::<sync::SemaphorePermit<'_>>();
    shared::<sync::OwnedSemaphorePermit>();
    shared::<sync::Notify>();
    shared::<sync::Barrier>();
    shared::<sync::OnceCell<u8>>();
    shared::<sync::SetOnce<u8>>();
    sent::<sync::Mutex<std::cell::Cell<u8>>>();
    shared::<sync::Mutex<std::cell::Cell<u8>>>();
    sent::<sync::RwLock<std::cell::Cell<u8>>>();
    unwind_safe::<sync::Notify>();
}

pub(crate) async fn tasks_and_time(_: Log) {
    shared::<tasks::JoinHandle<u8>>();
    shared::<tasks::AbortHandle>();
    shared::<tasks::JoinError>();
    shared::<tasks::JoinSet<u8>>();
    shared::<tasks::Id>();
    movable::<tasks::JoinHandle<std::marker::PhantomPinned>>();
    unwind_safe::<tasks::JoinHandle<u8>>();
    shared::<time::Instant>();
    shared::<time::Interval>();
    shared::<time::Sleep>();
    shared::<time::Timeout<std::future::Ready<u8>>>();
    shared::<time::error::Elapsed>();
    movable::<time::Interval>();
    movable::<time::Instant>();
}

pub(crate) async fn futures_of_channels(_: Log) {
    let (tx, mut rx) = sync::mpsc::channel::<u8>(1);
    shared_value(&tx.send(1));
    shared_value(&tx.reserve());
    shared_value(&tx.closed());
    sent_value(&tx.send_timeout(1, Duration::ZERO));
    shared_value(&rx.recv());
    shared_value(&rx.recv_many(&mut Vec::new(), 1));
    shared_value(&tx.reserve_owned());
    let (mut tx, _rx) = sync::oneshot::channel::<u8>();
    shared_value(&tx.closed());
    let (tx, mut rx) = sync::watch::channel(1);
    shared_value(&tx.closed());
    shared_value(&rx.changed());
    let (tx, mut rx) = sync::broadcast::channel::<u8>(1);
    shared_value(&tx.closed());
    shared_value(&rx.recv());
}

pub(crate) async fn futures_of_locks(_: Log) {
    let mutex = Arc::new(sync::Mutex::new(1));
    shared_value(&mutex.lock());
    shared_value(&mutex.clone().lock_owned());
    let lock = Arc::new(sync::RwLock::new(1));
    shared_value(&lock.read());
    shared_value(&lock.write());
    shared_value(&lock.clone().read_owned());
    shared_value(&lock.clone().write_owned());
    let semaphore = Arc::new(sync::Semaphore::new(1));
    shared_value(&semaphore.acquire());
    shared_value(&semaphore.clone().acquire_many_owned(1));
    let notify = Arc::new(sync::Notify::new());
    shared_value(&notify.notified());
    shared_value(&notify.clone().notified_owned());
    shared_value(&sync::Barrier::new(1).wait());
    shared_value(&sync::SetOnce::<u8>::new().wait());
    sent_value(&sync::OnceCell::new().get_or_init(|| async { 1 }));
}

pub(crate) async fn futures_of_tasks_and_time(_: Log) {
    let mut set = tasks::JoinSet::<u8>::new();
    shared_value(&set.join_next());
    shared_value(&set.shutdown());
    shared_value(&tasks::yield_now());
    shared_value(&tasks::consume_budget());
    shared_value(&time::sleep(Duration::ZERO));
    shared_value(&time::timeout(Duration::ZERO, async {}));
    shared_value(&time::interval(Duration::from_secs(1)).tick());
    sent_value(&time::advance(Duration::ZERO));
    let join = spawn(async {});
    shared_value(&join);
    join.await.unwrap();
}
