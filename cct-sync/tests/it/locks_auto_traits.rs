//! Which types and futures are `Send`, `Sync`, `Unpin` and unwind safe: as tokio's.

use std::cell::Cell;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::rc::Rc;

/// Neither `Send` nor `Sync`.
type Nn = Rc<u8>;
/// `Send`, not `Sync`.
type Yn = Cell<u8>;
/// `Sync`, not `Send`.
type Ny = std::sync::MutexGuard<'static, u8>;
/// Both.
type Yy = u8;

type Boxed<T> = Pin<Box<dyn Future<Output = T>>>;
type BoxedSend<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type BoxedSync<T> = Pin<Box<dyn Future<Output = T> + Send + Sync>>;

struct Probe<T: ?Sized>(PhantomData<T>);

impl<T> Probe<T> {
    /// The type of a value that is never made.
    fn of(_: impl FnOnce() -> T) -> Self {
        Probe(PhantomData)
    }
}

/// A method of the type wins over the one of the trait, where its bound holds.
macro_rules! probe {
    ($bound:ident, $method:ident, $fallback:ident) => {
        trait $fallback {
            fn $method(&self) -> bool {
                false
            }
        }
        impl<T: ?Sized> $fallback for Probe<T> {}
        impl<T: ?Sized + $bound> Probe<T> {
            fn $method(&self) -> bool {
                true
            }
        }
    };
}

probe!(Send, is_send, NotSend);
probe!(Sync, is_sync, NotSync);
probe!(Unpin, is_unpin, NotUnpin);
probe!(UnwindSafe, is_unwind_safe, NotUnwindSafe);
probe!(RefUnwindSafe, is_ref_unwind_safe, NotRefUnwindSafe);

fn any<T>() -> T {
    unreachable!("only its type is of interest")
}

macro_rules! traits {
    ($probe:expr) => {{
        let probe = $probe;
        let bits = [probe.is_send(), probe.is_sync(), probe.is_unpin()];
        (bits, [probe.is_unwind_safe(), probe.is_ref_unwind_safe()])
    }};
}

/// Types: the same list for both crates.
macro_rules! types {
    ($($ty:ty),* $(,)?) => {
        #[test]
        fn types() {
            let theirs = {
                use tokio::sync;
                [$((stringify!($ty), traits!(Probe::<$ty>(PhantomData)))),*]
            };
            let ours = {
                use cct_sync as sync;
                [$((stringify!($ty), traits!(Probe::<$ty>(PhantomData)))),*]
            };
            for ((name, theirs), (_, ours)) in theirs.into_iter().zip(ours) {
                assert_eq!(theirs.0, ours.0, "Send, Sync, Unpin of {name}");
                // With parking_lot tokio's are less safe than without; ours always are.
                assert!(theirs.1[0] <= ours.1[0], "UnwindSafe of {name}");
                assert!(theirs.1[1] <= ours.1[1], "RefUnwindSafe of {name}");
            }
        }
    };
}

macro_rules! futures {
    ($($future:expr),* $(,)?) => {
        #[test]
        fn futures() {
            let theirs = {
                use tokio::sync;
                [$((stringify!($future), traits!(Probe::of(|| $future)).0)),*]
            };
            let ours = {
                use cct_sync as sync;
                [$((stringify!($future), traits!(Probe::of(|| $future)).0)),*]
            };
            assert_eq!(theirs, ours);
        }
    };
}

types![
    sync::Barrier,
    sync::BarrierWaitResult,
    sync::Notify,
    sync::Semaphore,
    sync::SemaphorePermit<'static>,
    sync::OwnedSemaphorePermit,
    sync::AcquireError,
    sync::TryAcquireError,
    sync::TryLockError,
    sync::SetError<Nn>,
    sync::SetError<Yy>,
    sync::futures::Notified<'static>,
    sync::futures::OwnedNotified,
    sync::Mutex<Nn>,
    sync::Mutex<Yn>,
    sync::Mutex<Ny>,
    sync::Mutex<Yy>,
    sync::MutexGuard<'static, Nn>,
    sync::MutexGuard<'static, Yn>,
    sync::MutexGuard<'static, Ny>,
    sync::MutexGuard<'static, Yy>,
    sync::OwnedMutexGuard<Nn>,
    sync::OwnedMutexGuard<Yn>,
    sync::OwnedMutexGuard<Ny>,
    sync::OwnedMutexGuard<Yy>,
    sync::MappedMutexGuard<'static, Nn>,
    sync::MappedMutexGuard<'static, Yn>,
    sync::MappedMutexGuard<'static, Ny>,
    sync::MappedMutexGuard<'static, Yy>,
    sync::OwnedMappedMutexGuard<Nn, Yy>,
    sync::OwnedMappedMutexGuard<Yn, Yy>,
    sync::OwnedMappedMutexGuard<Ny, Yy>,
    sync::OwnedMappedMutexGuard<Yy, Nn>,
    sync::OwnedMappedMutexGuard<Yy, Yn>,
    sync::OwnedMappedMutexGuard<Yy, Ny>,
    sync::OwnedMappedMutexGuard<Yy, Yy>,
    sync::RwLock<Nn>,
    sync::RwLock<Yn>,
    sync::RwLock<Ny>,
    sync::RwLock<Yy>,
    sync::RwLockReadGuard<'static, Nn>,
    sync::RwLockReadGuard<'static, Yn>,
    sync::RwLockReadGuard<'static, Ny>,
    sync::RwLockReadGuard<'static, Yy>,
    sync::OwnedRwLockReadGuard<Nn, Yy>,
    sync::OwnedRwLockReadGuard<Yn, Yy>,
    sync::OwnedRwLockReadGuard<Ny, Yy>,
    sync::OwnedRwLockReadGuard<Yy, Nn>,
    sync::OwnedRwLockReadGuard<Yy, Yn>,
    sync::OwnedRwLockReadGuard<Yy, Ny>,
    sync::OwnedRwLockReadGuard<Yy, Yy>,
    sync::RwLockWriteGuard<'static, Nn>,
    sync::RwLockWriteGuard<'static, Yn>,
    sync::RwLockWriteGuard<'static, Ny>,
    sync::RwLockWriteGuard<'static, Yy>,
    sync::OwnedRwLockWriteGuard<Nn>,
    sync::OwnedRwLockWriteGuard<Yn>,
    sync::OwnedRwLockWriteGuard<Ny>,
    sync::OwnedRwLockWriteGuard<Yy>,
    sync::RwLockMappedWriteGuard<'static, Nn>,
    sync::RwLockMappedWriteGuard<'static, Yn>,
    sync::RwLockMappedWriteGuard<'static, Ny>,
    sync::RwLockMappedWriteGuard<'static, Yy>,
    sync::OwnedRwLockMappedWriteGuard<Nn, Yy>,
    sync::OwnedRwLockMappedWriteGuard<Yn, Yy>,
    sync::OwnedRwLockMappedWriteGuard<Ny, Yy>,
    sync::OwnedRwLockMappedWriteGuard<Yy, Nn>,
    sync::OwnedRwLockMappedWriteGuard<Yy, Yn>,
    sync::OwnedRwLockMappedWriteGuard<Yy, Ny>,
    sync::OwnedRwLockMappedWriteGuard<Yy, Yy>,
    sync::OnceCell<Nn>,
    sync::OnceCell<Yn>,
    sync::OnceCell<Ny>,
    sync::OnceCell<Yy>,
    sync::SetOnce<Nn>,
    sync::SetOnce<Yn>,
    sync::SetOnce<Ny>,
    sync::SetOnce<Yy>,
];

futures![
    any::<&'static sync::Barrier>().wait(),
    any::<&'static sync::Notify>().notified(),
    any::<&'static sync::Semaphore>().acquire(),
    any::<&'static sync::Semaphore>().acquire_many(1),
    any::<std::sync::Arc<sync::Semaphore>>().acquire_owned(),
    any::<std::sync::Arc<sync::Semaphore>>().acquire_many_owned(1),
    any::<&'static sync::Mutex<Nn>>().lock(),
    any::<&'static sync::Mutex<Yn>>().lock(),
    any::<&'static sync::Mutex<Ny>>().lock(),
    any::<&'static sync::Mutex<Yy>>().lock(),
    any::<std::sync::Arc<sync::Mutex<Nn>>>().lock_owned(),
    any::<std::sync::Arc<sync::Mutex<Yn>>>().lock_owned(),
    any::<std::sync::Arc<sync::Mutex<Yy>>>().lock_owned(),
    any::<&'static sync::RwLock<Nn>>().read(),
    any::<&'static sync::RwLock<Yn>>().read(),
    any::<&'static sync::RwLock<Ny>>().read(),
    any::<&'static sync::RwLock<Yy>>().read(),
    any::<&'static sync::RwLock<Yn>>().write(),
    any::<&'static sync::RwLock<Yy>>().write(),
    any::<std::sync::Arc<sync::RwLock<Yn>>>().read_owned(),
    any::<std::sync::Arc<sync::RwLock<Yy>>>().read_owned(),
    any::<std::sync::Arc<sync::RwLock<Yn>>>().write_owned(),
    any::<std::sync::Arc<sync::RwLock<Yy>>>().write_owned(),
    any::<&'static sync::SetOnce<Nn>>().wait(),
    any::<&'static sync::SetOnce<Yn>>().wait(),
    any::<&'static sync::SetOnce<Yy>>().wait(),
    any::<&'static sync::OnceCell<Nn>>().get_or_init(any::<fn() -> BoxedSync<Nn>>()),
    any::<&'static sync::OnceCell<Yn>>().get_or_init(any::<fn() -> BoxedSync<Yn>>()),
    any::<&'static sync::OnceCell<Yy>>().get_or_init(any::<fn() -> Boxed<Yy>>()),
    any::<&'static sync::OnceCell<Yy>>().get_or_init(any::<fn() -> BoxedSend<Yy>>()),
    any::<&'static sync::OnceCell<Yy>>().get_or_init(any::<fn() -> BoxedSync<Yy>>()),
    any::<&'static sync::OnceCell<Yn>>()
        .get_or_try_init(any::<fn() -> BoxedSync<Result<Yn, u8>>>()),
    any::<&'static sync::OnceCell<Yy>>()
        .get_or_try_init(any::<fn() -> BoxedSend<Result<Yy, u8>>>()),
    any::<&'static sync::OnceCell<Yy>>()
        .get_or_try_init(any::<fn() -> BoxedSync<Result<Yy, u8>>>()),
];
