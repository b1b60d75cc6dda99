//! Asks whether types and futures are `Send`, `Sync`, `Unpin` and unwind safe, on both sides.

use std::cell::Cell;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::rc::Rc;

/// Neither `Send` nor `Sync`.
pub(crate) type Nn = Rc<u8>;
/// `Send`, not `Sync`.
pub(crate) type Yn = Cell<u8>;
/// `Sync`, not `Send`.
pub(crate) type Ny = std::sync::MutexGuard<'static, u8>;
/// Both.
pub(crate) type Yy = u8;

pub(crate) type Boxed<T> = Pin<Box<dyn Future<Output = T>>>;
pub(crate) type BoxedSend<T> = Pin<Box<dyn Future<Output = T> + Send>>;
pub(crate) type BoxedSync<T> = Pin<Box<dyn Future<Output = T> + Send + Sync>>;

pub(crate) struct Probe<T: ?Sized>(pub(crate) PhantomData<T>);

impl<T> Probe<T> {
    /// The type of a value that is never made.
    pub(crate) fn of(_: impl FnOnce() -> T) -> Self {
        Probe(PhantomData)
    }
}

/// A method of the type wins over the one of the trait, where its bound holds.
macro_rules! probe {
    ($bound:ident, $method:ident, $fallback:ident) => {
        pub(crate) trait $fallback {
            fn $method(&self) -> bool {
                false
            }
        }
        impl<T: ?Sized> $fallback for Probe<T> {}
        impl<T: ?Sized + $bound> Probe<T> {
            pub(crate) fn $method(&self) -> bool {
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

pub(crate) fn any<T>() -> T {
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
                [$((stringify!($ty), traits!(Probe::<$ty>(std::marker::PhantomData)))),*]
            };
            let ours = {
                use cct_sync as sync;
                [$((stringify!($ty), traits!(Probe::<$ty>(std::marker::PhantomData)))),*]
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

pub(crate) use {futures, traits, types};
