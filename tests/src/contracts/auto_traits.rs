//! What may cross threads, what may move after it was polled, what a panic may pass through.

use super::rt::{spawn, sync, task as tasks, time};
use cct_tests::{Log, note};
use std::cell::Cell;
use std::marker::{PhantomData, PhantomPinned};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Answers for `T`: an inherent constant is preferred, and exists only where the bound holds.
struct Is<T>(PhantomData<T>);

trait IsNot {
    const SEND: bool = false;
    const SYNC: bool = false;
    const UNPIN: bool = false;
    const UNWIND_SAFE: bool = false;
}

impl<T> IsNot for Is<T> {}

impl<T: Send> Is<T> {
    const SEND: bool = true;
}

impl<T: Sync> Is<T> {
    const SYNC: bool = true;
}

impl<T: Unpin> Is<T> {
    const UNPIN: bool = true;
}

impl<T: UnwindSafe + RefUnwindSafe> Is<T> {
    const UNWIND_SAFE: bool = true;
}

macro_rules! note_threads {
    ($log:expr, $($type:ty),* $(,)?) => {
        $(note!($log, "{} Send {} Sync {}", stringify!($type), Is::<$type>::SEND, Is::<$type>::SYNC);)*
    };
}

macro_rules! note_movable {
    ($log:expr, $($type:ty),* $(,)?) => {
        $(note!($log, "{} Unpin {}", stringify!($type), Is::<$type>::UNPIN);)*
    };
}

macro_rules! note_unwind_safe {
    ($log:expr, $($type:ty),* $(,)?) => {
        $(note!($log, "{} unwind safe {}", stringify!($type), Is::<$type>::UNWIND_SAFE);)*
    };
}

pub(crate) async fn channels_between_threads(log: Log) {
    note_threads!(
        log,
        sync::mpsc::Sender<u8>,
        sync::mpsc::Sender<Cell<u8>>,
        sync::mpsc::Sender<Rc<u8>>,
        sync::mpsc::Receiver<u8>,
        sync::mpsc::Receiver<Cell<u8>>,
        sync::mpsc::Receiver<Rc<u8>>,
        sync::mpsc::WeakSender<u8>,
        sync::mpsc::Permit<'static, u8>,
        sync::mpsc::OwnedPermit<u8>,
        sync::mpsc::UnboundedSender<Cell<u8>>,
        sync::mpsc::UnboundedReceiver<Cell<u8>>,
        sync::mpsc::UnboundedSender<Rc<u8>>,
    );
    note_threads!(
        log,
        sync::oneshot::Sender<Cell<u8>>,
        sync::oneshot::Receiver<Cell<u8>>,
        sync::oneshot::Receiver<Rc<u8>>,
        sync::watch::Sender<u8>,
        sync::watch::Sender<Cell<u8>>,
        sync::watch::Receiver<Cell<u8>>,
        sync::watch::Receiver<Rc<u8>>,
        sync::watch::Ref<'static, u8>,
        sync::broadcast::Sender<Cell<u8>>,
        sync::broadcast::Receiver<Cell<u8>>,
        sync::broadcast::Receiver<Rc<u8>>,
    );
}

pub(crate) async fn locks_between_threads(log: Log) {
    note_threads!(
        log,
        sync::Mutex<Cell<u8>>,
        sync::Mutex<Rc<u8>>,
        sync::MutexGuard<'static, u8>,
        sync::MutexGuard<'static, Cell<u8>>,
        sync::MutexGuard<'static, Rc<u8>>,
        sync::OwnedMutexGuard<Cell<u8>>,
        sync::MappedMutexGuard<'static, Cell<u8>>,
        sync::OwnedMappedMutexGuard<u8, Cell<u8>>,
    );
    note_threads!(
        log,
        sync::RwLock<u8>,
        sync::RwLock<Cell<u8>>,
        sync::RwLock<Rc<u8>>,
        sync::RwLockReadGuard<'static, u8>,
        sync::RwLockReadGuard<'static, Cell<u8>>,
        sync::RwLockWriteGuard<'static, Cell<u8>>,
        sync::RwLockMappedWriteGuard<'static, u8>,
        sync::OwnedRwLockReadGuard<u8>,
        sync::OwnedRwLockReadGuard<Cell<u8>>,
        sync::OwnedRwLockWriteGuard<Cell<u8>>,
        sync::OwnedRwLockMappedWriteGuard<u8>,
    );
    note_threads!(
        log,
        sync::Semaphore,
        sync::SemaphorePermit<'static>,
        sync::OwnedSemaphorePermit,
        sync::Notify,
        sync::Barrier,
        sync::OnceCell<u8>,
        sync::OnceCell<Cell<u8>>,
        sync::OnceCell<Rc<u8>>,
        sync::SetOnce<Cell<u8>>,
        sync::SetOnce<Rc<u8>>,
    );
}

pub(crate) async fn tasks_and_time_between_threads(log: Log) {
    note_threads!(
        log,
        tasks::coop::RestoreOnPending,
        tasks::JoinHandle<u8>,
        tasks::JoinHandle<Cell<u8>>,
        tasks::JoinHandle<Rc<u8>>,
        tasks::AbortHandle,
        tasks::JoinError,
        tasks::JoinSet<u8>,
        tasks::JoinSet<Rc<u8>>,
        tasks::LocalSet,
        tasks::Id,
        time::Instant,
        time::Interval,
        time::Sleep,
        time::Timeout<Rc<u8>>,
        time::error::Elapsed,
    );
}

pub(crate) async fn what_may_move(log: Log) {
    note_movable!(
        log,
        sync::mpsc::Receiver<PhantomPinned>,
        sync::oneshot::Receiver<PhantomPinned>,
        sync::watch::Receiver<PhantomPinned>,
        sync::MutexGuard<'static, PhantomPinned>,
        sync::futures::Notified<'static>,
        tasks::JoinHandle<PhantomPinned>,
        tasks::JoinSet<PhantomPinned>,
        time::Sleep,
        time::Interval,
        time::Timeout<std::future::Ready<u8>>,
    );
}

/// Those for which tokio says so in as many words.
pub(crate) async fn what_panics_may_pass(log: Log) {
    note_unwind_safe!(
        log,
        Cell<u8>,
        tasks::JoinHandle<Cell<u8>>,
        tasks::AbortHandle,
        sync::Notify,
        sync::mpsc::Sender<Cell<u8>>,
        sync::mpsc::Receiver<Cell<u8>>,
        sync::mpsc::UnboundedSender<Cell<u8>>,
        sync::mpsc::UnboundedReceiver<Cell<u8>>,
    );
}

fn sent_value<T: Send>(_: &T) {}
fn shared_value<T: Send + Sync>(_: &T) {}

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
