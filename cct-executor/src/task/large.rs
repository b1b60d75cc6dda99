//! What is large is put on the heap before all else, as in tokio: where nothing is optimised each function that a future is
//! given on to may keep a copy of it on the stack.

use std::pin::Pin;

/// In bytes, as in tokio.
const LARGE: usize = if cfg!(debug_assertions) {
    2_048
} else {
    16_384
};

/// A future on the heap.
pub(crate) type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// One that need not be `Send`.
pub(super) type LocalBoxed<T> = Pin<Box<dyn Future<Output = T>>>;

/// A closure on the heap.
pub(crate) type BoxedClosure<R> = Box<dyn FnOnce() -> R + Send>;

/// Whether a future or closure of this type belongs on the heap.
#[inline]
pub(crate) const fn is_large<T>() -> bool {
    size_of::<T>() > LARGE
}
