//! `spawn` of each side, for contracts.
//!
//! What a runtime does with a task is compiled for each type of future. Here that type is one for all that come to
//! the same output: hundreds of contracts take a third less to compile.

use std::pin::Pin;

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// [`tokio::spawn`].
#[track_caller]
pub fn on_tokio<T: Send + 'static>(
    future: impl Future<Output = T> + Send + 'static,
) -> tokio::task::JoinHandle<T> {
    let future: Boxed<T> = Box::pin(future);
    tokio::spawn(future)
}

/// [`cct_executor::spawn`].
#[track_caller]
pub fn on_cct<T: Send + 'static>(
    future: impl Future<Output = T> + Send + 'static,
) -> cct_executor::task::JoinHandle<T> {
    let future: Boxed<T> = Box::pin(future);
    cct_executor::spawn(future)
}
