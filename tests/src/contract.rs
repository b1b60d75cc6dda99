//! A contract without its type: what runs one is compiled once, and not for each.

use crate::Log;
use std::pin::Pin;
use std::sync::Arc;

/// A contract of whatever type.
pub(crate) type Contract = Arc<dyn Fn(Log) -> Running + Send + Sync>;

type Running = Pin<Box<dyn Future<Output = ()>>>;

pub(crate) fn erased<F: Future<Output = ()> + 'static>(
    contract: impl Fn(Log) -> F + Send + Sync + 'static,
) -> Contract {
    Arc::new(move |log| Box::pin(contract(log)))
}
